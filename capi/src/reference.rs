//! References: values in a table by numbers that are given out and taken back. Free numbers are a list through the table, which begins at
//! field 0.
#![allow(unsafe_code, reason = "functions are exported")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::stack::pop;
use perilune_vm::Value;
use std::ffi::c_int;

/// Field with the first free number.
const FREE: c_int = 0;
/// The reference of nil.
pub const NIL: c_int = -1;

plain! {
    /// `luaL_ref`
    fn luaL_ref(l => vm, i: c_int) -> c_int {
        let Some(t) = index::table(vm, i) else { return NIL };
        let v = index::value(vm, -1);
        pop(vm, 1);
        if v.is_nil() {
            return NIL;
        }
        let free = t.get_int(FREE).as_index().unwrap_or(0);
        let number = if free != 0 {
            let next = t.get_int(free);
            vm.table_set_int(t, FREE, next);
            free
        } else {
            t.len() as c_int + 1
        };
        vm.table_set_int(t, number, v);
        number
    }
    /// `luaL_unref`
    fn luaL_unref(l => vm, i: c_int, number: c_int) {
        let Some(t) = index::table(vm, i).filter(|_| number >= 0) else { return };
        let next = t.get_int(FREE);
        vm.table_set_int(t, number, next);
        vm.table_set_int(t, FREE, Value::int(number));
    }
}
