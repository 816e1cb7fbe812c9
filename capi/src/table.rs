//! Tables, metatables, environments.
#![allow(unsafe_code, reason = "keys are texts of C that end with a NUL")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::memory::collect;
use crate::push;
use crate::stack::pop;
use perilune_vm::object::{Gc, Table, hbits_for};
use perilune_vm::stdlib::set_function_env;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int};

/// Pushes the value of a field, by metamethods.
pub fn get_field(vm: &mut Vm, t: Value, key: &[u8]) -> LuaResult<()> {
    let key = vm.new_str(key);
    let own = t.as_table().map_or(Value::NIL, |t| t.get_str(key));
    let v = if own.is_nil() { vm.index(t, Value::str(key))? } else { own };
    push::value(vm, v);
    Ok(())
}

/// Sets a field to the topmost value, which is removed, by metamethods.
pub fn set_field(vm: &mut Vm, t: Value, key: &[u8]) -> LuaResult<()> {
    let key = Value::str(vm.new_str(key));
    let v = index::value(vm, -1);
    vm.set_index(t, key, v)?;
    pop(vm, 1);
    Ok(())
}

/// Sets a field without metamethods.
pub fn raw_set(vm: &mut Vm, t: Gc<Table>, key: Value, v: Value) -> LuaResult<()> {
    vm.check_writable(t)?;
    vm.table_set(t, key, v)?;
    // A metamethod may have been added.
    t.hdr.b0.set(0);
    Ok(())
}

/// The error of an index that has no table.
fn no_table(vm: &mut Vm) -> perilune_vm::LuaError {
    vm.rt_error("table expected")
}

plain! {
    /// `lua_rawget`
    fn lua_rawget(l => vm, i: c_int) {
        let key = index::value(vm, -1);
        let v = index::table(vm, i).map_or(Value::NIL, |t| t.get(key));
        index::set(vm, -1, v);
    }
    /// `lua_rawgeti`
    fn lua_rawgeti(l => vm, i: c_int, n: c_int) {
        let v = index::table(vm, i).map_or(Value::NIL, |t| t.get_int(n));
        push::value(vm, v);
    }
    /// `lua_getmetatable`
    fn lua_getmetatable(l => vm, i: c_int) -> c_int {
        let Some(meta) = vm.metatable_of(index::value(vm, i)) else { return 0 };
        push::value(vm, Value::table(meta));
        1
    }
    /// `lua_getfenv`
    fn lua_getfenv(l => vm, i: c_int) {
        let v = index::value(vm, i);
        let env = match (v.as_func(), v.as_udata(), v.as_thread()) {
            (Some(f), _, _) => Some(f.env.get()),
            (_, Some(u), _) => Some(u.env.get()),
            (_, _, Some(co)) => Some(co.env.get()),
            _ => None,
        };
        push::value(vm, env.map_or(Value::NIL, Value::table));
    }
    /// `lua_setmetatable`
    fn lua_setmetatable(l => vm, i: c_int) -> c_int {
        let (v, meta) = (index::value(vm, i), index::table(vm, -1));
        vm.set_metatable_of(v, meta);
        pop(vm, 1);
        1
    }
    /// `lua_setfenv`
    fn lua_setfenv(l => vm, i: c_int) -> c_int {
        let v = index::value(vm, i);
        let env = index::table(vm, -1);
        pop(vm, 1);
        let Some(env) = env else { return 0 };
        if let Some(f) = v.as_func() {
            set_function_env(vm, f, env);
        } else if let Some(u) = v.as_udata() {
            u.env.set(env);
            vm.barrier_forward(u.header(), Value::table(env));
        } else if let Some(co) = v.as_thread() {
            vm.set_thread_env(co, env);
        } else {
            return 0;
        }
        1
    }
}

raising! {
    /// `lua_createtable`
    fn lua_createtable(l => vm, array: c_int, fields: c_int) -> () {
        let (array, fields) = (array.max(0) as u32, fields.max(0) as u32);
        vm.check_alloc(array as usize * size_of::<Value>())?;
        vm.check_alloc(3 * fields as usize * size_of::<Value>())?;
        // The array part begins at index 0.
        let array = if array == 0 { 0 } else { array + 1 };
        let t = vm.new_table(array, if fields == 0 { 0 } else { hbits_for(fields) });
        push::value(vm, Value::table(t));
        collect(vm);
        Ok(())
    }
    /// `lua_gettable`
    fn lua_gettable(l => vm, i: c_int) -> () {
        let (t, key) = (index::value(vm, i), index::value(vm, -1));
        let v = vm.index(t, key)?;
        index::set(vm, -1, v);
        Ok(())
    }
    /// `lua_getfield`
    fn lua_getfield(l => vm, i: c_int, key: *const c_char) -> () {
        let t = index::value(vm, i);
        get_field(vm, t, push::text(key))
    }
    /// `lua_settable`
    fn lua_settable(l => vm, i: c_int) -> () {
        let t = index::value(vm, i);
        let (key, v) = (index::value(vm, -2), index::value(vm, -1));
        vm.set_index(t, key, v)?;
        pop(vm, 2);
        Ok(())
    }
    /// `lua_setfield`
    fn lua_setfield(l => vm, i: c_int, key: *const c_char) -> () {
        let t = index::value(vm, i);
        set_field(vm, t, push::text(key))
    }
    /// `lua_rawset`
    fn lua_rawset(l => vm, i: c_int) -> () {
        let Some(t) = index::table(vm, i) else { return Err(no_table(vm)) };
        let (key, v) = (index::value(vm, -2), index::value(vm, -1));
        raw_set(vm, t, key, v)?;
        pop(vm, 2);
        Ok(())
    }
    /// `lua_rawseti`
    fn lua_rawseti(l => vm, i: c_int, n: c_int) -> () {
        let Some(t) = index::table(vm, i) else { return Err(no_table(vm)) };
        vm.check_writable(t)?;
        let v = index::value(vm, -1);
        vm.table_set_int(t, n, v);
        pop(vm, 1);
        Ok(())
    }
    /// `lua_next`
    fn lua_next(l => vm, i: c_int) -> c_int {
        let Some(t) = index::table(vm, i) else { return Err(no_table(vm)) };
        let key = index::value(vm, -1);
        match t.next(key) {
            Ok(Some((key, v))) => {
                index::set(vm, -1, key);
                push::value(vm, v);
                Ok(1)
            }
            Ok(None) => {
                pop(vm, 1);
                Ok(0)
            }
            Err(()) => Err(vm.rt_error("invalid key to 'next'")),
        }
    }
}
