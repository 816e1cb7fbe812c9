//! Pushing values.
#![allow(unsafe_code, reason = "texts of C end with a NUL, or have the length that is given")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::abi::VaList;
use crate::index;
use crate::memory::collect;
use crate::state::CFunction;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Pushes a value. C programs check for room themselves; one that goes on pushing at the limit of the stack, where a push cannot raise an
/// error, is ended before it writes beyond the stack.
#[inline]
pub fn value(vm: &mut Vm, v: Value) {
    if vm.top >= vm.stack_limit {
        return push_at_limit(vm, v);
    }
    vm.push(v);
}

#[cold]
#[inline(never)]
fn push_at_limit(vm: &mut Vm, v: Value) {
    if vm.reserve(1).is_err() {
        let _ = vm.take_error();
        if vm.top >= vm.stack_end() {
            crate::state::say_unprotected("stack overflow");
            std::process::exit(libc::EXIT_FAILURE);
        }
    }
    vm.push(v);
}

/// The bytes of a text.
///
/// # Safety
/// It ends with a NUL and lives as long as the result is used.
pub unsafe fn text<'a>(s: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(s) }.to_bytes()
}

/// The bytes of a text with a length.
///
/// # Safety
/// There are so many bytes, which live as long as the result is used.
pub unsafe fn bytes<'a>(s: *const c_char, len: usize) -> &'a [u8] {
    // SAFETY: the caller's promise; no bytes may be at null.
    if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(s.cast(), len) } }
}

/// Pushes a string; where it lies.
pub fn string(vm: &mut Vm, s: &[u8]) -> LuaResult<*const c_char> {
    let s = vm.checked_str(s)?;
    value(vm, Value::str(s));
    collect(vm);
    Ok(s.bytes_with_nul().as_ptr().cast())
}

/// A light userdata.
pub fn light(vm: &mut Vm, p: *mut c_void) -> LuaResult<Value> {
    vm.new_lightud(p.expose_provenance() as u64)
}

/// A function in C with the topmost `n` values as upvalues, which are removed.
pub fn closure(vm: &mut Vm, f: CFunction, n: usize) -> Value {
    let upvalues: Vec<Value> = vm.args()[vm.nargs() - n..].to_vec();
    let function = crate::state::c_function(vm, f, &upvalues);
    vm.top = vm.top.wrapping_sub(n);
    function
}

plain! {
    /// `lua_pushnil`
    fn lua_pushnil(l => vm) { value(vm, Value::NIL) }
    /// `lua_pushnumber`
    fn lua_pushnumber(l => vm, n: f64) { value(vm, Value::number_by_branch(n)) }
    /// `lua_pushinteger`
    fn lua_pushinteger(l => vm, n: isize) { value(vm, Value::integer(n as i64)) }
    /// `lua_pushboolean`
    fn lua_pushboolean(l => vm, b: c_int) { value(vm, Value::bool(b != 0)) }
    /// `lua_pushvalue`
    fn lua_pushvalue(l => vm, i: c_int) {
        let v = index::value(vm, i);
        value(vm, v);
    }
    /// `lua_pushthread`
    fn lua_pushthread(l => vm) -> c_int {
        let co = vm.cur;
        value(vm, Value::thread(co));
        c_int::from(co == vm.realm.main)
    }
    /// `lua_pushcclosure`
    fn lua_pushcclosure(l => vm, f: CFunction, n: c_int) {
        let f = closure(vm, f, n.max(0) as usize);
        value(vm, f);
        collect(vm);
    }
}

raising! {
    /// `lua_pushlstring`
    fn lua_pushlstring(l => vm, s: *const c_char, len: usize) -> () { string(vm, bytes(s, len)).map(|_| ()) }
    /// `lua_pushstring`
    fn lua_pushstring(l => vm, s: *const c_char) -> () {
        if s.is_null() {
            value(vm, Value::NIL);
            return Ok(());
        }
        string(vm, text(s)).map(|_| ())
    }
    /// `lua_pushlightuserdata`
    fn lua_pushlightuserdata(l => vm, p: *mut c_void) -> () {
        let v = light(vm, p)?;
        value(vm, v);
        Ok(())
    }
    /// `lua_pushvfstring`
    fn lua_pushvfstring(l => vm, format: *const c_char, list: *mut VaList) -> *const c_char {
        let s = crate::format::format(text(format), &mut *list);
        string(vm, &s)
    }
}

raising_variadic! {
    /// `lua_pushfstring`
    fn lua_pushfstring(l => vm, format, list) -> *const c_char {
        let s = crate::format::format(text(format), &mut *list);
        string(vm, &s)
    }
}
