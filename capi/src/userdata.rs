//! Full userdata and their types.
#![allow(unsafe_code, reason = "names of types are texts of C that end with a NUL")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::access::address;
use crate::index;
use crate::memory::collect;
use crate::push::{self, text};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int, c_void};

/// Pushes a new userdata of so many bytes; where they are.
fn new_block(vm: &mut Vm, size: usize) -> LuaResult<*mut c_void> {
    let Ok(size) = u32::try_from(size) else { return Err(vm.rt_error("not enough memory")) };
    let u = vm.new_block_udata(size)?;
    u.env.set(index::environment(vm));
    push::value(vm, Value::udata(u));
    collect(vm);
    Ok(u.block.get().cast())
}

/// The address of the userdata at an index, if it is of this type.
pub fn of_type(vm: &mut Vm, i: c_int, name: &[u8]) -> Option<*mut c_void> {
    let v = index::value(vm, i);
    let is_userdata = v.is_udata() || !address(v).is_null();
    let meta = vm.metatable_of(v).filter(|_| is_userdata)?;
    let registry = vm.realm.registry;
    (vm.field(registry, name).as_table() == Some(meta)).then(|| address(v))
}

raising! {
    /// `lua_newuserdata`
    fn lua_newuserdata(l => vm, size: usize) -> *mut c_void { new_block(vm, size) }
    /// `luaL_newmetatable`
    fn luaL_newmetatable(l => vm, name: *const c_char) -> c_int {
        let (registry, name) = (vm.realm.registry, text(name));
        let old = vm.field(registry, name);
        if !old.is_nil() {
            push::value(vm, old);
            return Ok(0);
        }
        let meta = Value::table(vm.new_table(0, 1));
        push::value(vm, meta);
        vm.set_field(registry, name, meta);
        collect(vm);
        Ok(1)
    }
    /// `luaL_checkudata`
    fn luaL_checkudata(l => vm, i: c_int, name: *const c_char) -> *mut c_void {
        let name = text(name);
        match of_type(vm, i, name) {
            Some(p) => Ok(p),
            None => Err(crate::check::type_error(vm, i, name)),
        }
    }
}

plain! {
    /// `luaL_testudata`
    fn luaL_testudata(l => vm, i: c_int, name: *const c_char) -> *mut c_void {
        of_type(vm, i, text(name)).unwrap_or(core::ptr::null_mut())
    }
    /// `luaL_setmetatable`
    fn luaL_setmetatable(l => vm, name: *const c_char) {
        let registry = vm.realm.registry;
        let meta = vm.field(registry, text(name)).as_table();
        let v = index::value(vm, -1);
        vm.set_metatable_of(v, meta);
    }
}
