//! Checks of arguments, and errors about them.
#![allow(unsafe_code, reason = "texts of C end with a NUL")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::access::{self, NONE, give_string, string_at, type_name, type_of};
use crate::index;
use crate::push::text;
use perilune_vm::object::{Gc, Str};
use perilune_vm::{LuaError, LuaResult, Value, Vm};
use std::ffi::{c_char, c_int};

/// "bad argument #i to 'f' (message)"
pub fn argument_error(vm: &mut Vm, i: c_int, message: &[u8]) -> LuaError {
    let i = if i < 0 && i > index::REGISTRY { index::absolute(vm, i) } else { i };
    vm.numbered_arg_error(i64::from(i), message)
}

/// "type expected, got another"
pub fn type_error(vm: &mut Vm, i: c_int, expected: &[u8]) -> LuaError {
    let got = index::get(vm, i).map_or("no value", |v| v.type_name());
    argument_error(vm, i, &[expected, b" expected, got ", got.as_bytes()].concat())
}

/// The error of an argument of another type.
#[cold]
#[inline(never)]
fn wrong_type(vm: &mut Vm, i: c_int, expected: c_int) -> LuaError {
    type_error(vm, i, type_name(expected).to_bytes())
}

/// Is there no value, or nil?
#[inline]
fn is_absent(vm: &Vm, i: c_int) -> bool {
    index::value(vm, i).is_nil()
}

/// Numbers in slots of the stack are the common case.
#[inline]
fn check_number(vm: &mut Vm, i: c_int) -> LuaResult<f64> {
    if let Some(n) = index::in_frame(vm, i).and_then(Value::as_number) { Ok(n) } else { check_converted_number(vm, i) }
}
#[inline(never)]
fn check_converted_number(vm: &mut Vm, i: c_int) -> LuaResult<f64> {
    access::number(index::value(vm, i)).ok_or_else(|| wrong_type(vm, i, 3))
}

#[inline]
fn check_integer(vm: &mut Vm, i: c_int) -> LuaResult<isize> {
    if let Some(n) = index::in_frame(vm, i).and_then(Value::as_int) { Ok(n as isize) } else { check_converted_integer(vm, i) }
}
#[inline(never)]
fn check_converted_integer(vm: &mut Vm, i: c_int) -> LuaResult<isize> {
    access::integer(index::value(vm, i)).ok_or_else(|| wrong_type(vm, i, 3))
}

#[inline]
fn check_string(vm: &mut Vm, i: c_int) -> LuaResult<Gc<Str>> {
    match string_at(vm, i) {
        Some(s) => Ok(s),
        None => Err(wrong_type(vm, i, 4)),
    }
}

/// The position of a string in a list of texts that ends with null.
///
/// # Safety
/// The list is one.
unsafe fn position(s: &[u8], list: *const *const c_char) -> Option<c_int> {
    let mut i = 0;
    loop {
        // SAFETY: the end of the list was not reached.
        let item = unsafe { *list.add(i) };
        if item.is_null() {
            return None;
        }
        // SAFETY: a text of the list.
        if unsafe { text(item) } == s {
            return Some(i as c_int);
        }
        i += 1;
    }
}

raising! {
    /// `luaL_argerror`
    fn luaL_argerror(l => vm, i: c_int, message: *const c_char) -> c_int { Err(argument_error(vm, i, text(message))) }
    /// `luaL_typerror`
    fn luaL_typerror(l => vm, i: c_int, expected: *const c_char) -> c_int { Err(type_error(vm, i, text(expected))) }
    /// `luaL_checkany`
    fn luaL_checkany(l => vm, i: c_int) -> () {
        match index::get(vm, i) {
            Some(_) => Ok(()),
            None => Err(argument_error(vm, i, b"value expected")),
        }
    }
    /// `luaL_checktype`
    fn luaL_checktype(l => vm, i: c_int, t: c_int) -> () {
        let found = type_of(index::get(vm, i));
        if found == t && found != NONE { Ok(()) } else { Err(wrong_type(vm, i, t)) }
    }
    /// `luaL_checkinteger`
    fn luaL_checkinteger(l => vm, i: c_int) -> isize { check_integer(vm, i) }
    /// `luaL_optinteger`
    fn luaL_optinteger(l => vm, i: c_int, default: isize) -> isize {
        if is_absent(vm, i) { Ok(default) } else { check_integer(vm, i) }
    }
    /// `luaL_checklstring`
    fn luaL_checklstring(l => vm, i: c_int, len: *mut usize) -> *const c_char {
        let s = check_string(vm, i)?;
        Ok(give_string(Some(s), len))
    }
    /// `luaL_optlstring`
    fn luaL_optlstring(l => vm, i: c_int, default: *const c_char, len: *mut usize) -> *const c_char {
        if is_absent(vm, i) {
            if !len.is_null() {
                *len = if default.is_null() { 0 } else { text(default).len() };
            }
            return Ok(default);
        }
        let s = check_string(vm, i)?;
        Ok(give_string(Some(s), len))
    }
    /// `luaL_checkoption`
    fn luaL_checkoption(l => vm, i: c_int, default: *const c_char, list: *const *const c_char) -> c_int {
        let s = match string_at(vm, i) {
            Some(s) => s.bytes().to_vec(),
            None if default.is_null() => return Err(wrong_type(vm, i, 4)),
            // Other values are as good as none.
            None => text(default).to_vec(),
        };
        match position(&s, list) {
            Some(n) => Ok(n),
            None => Err(argument_error(vm, i, &[b"invalid option '", &s[..], b"'"].concat())),
        }
    }
}

raising_double! {
    /// `luaL_checknumber`
    fn luaL_checknumber(l => vm, i: c_int) { check_number(vm, i) }
    /// `luaL_optnumber`
    fn luaL_optnumber(l => vm, i: c_int, default: f64) {
        if is_absent(vm, i) { Ok(default) } else { check_number(vm, i) }
    }
}
