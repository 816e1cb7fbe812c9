//! Types of values, and values as C sees them.
#![allow(unsafe_code, reason = "a value is read at an index where the VM says that there is one")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::state::{CFunction, L};
use perilune_vm::meta::{self, MM};
use perilune_vm::object::{Gc, Str, Udata};
use perilune_vm::text::number::to_i64;
use perilune_vm::value::{TYPE_NAMES, TYPE_NUMBER};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int, c_void};

/// The type of an index without a value.
pub const NONE: c_int = -1;
/// The types of C by [`Value::type_index`].
const TYPES: [c_int; TYPE_NAMES.len()] = [0, 1, 1, 2, 4, 9, 8, 9, 6, 9, 10, 5, 7, 3];
/// Names by type, from [`NONE`] on.
const NAMES: [&std::ffi::CStr; 12] = [
    c"no value",
    c"nil",
    c"boolean",
    c"userdata",
    c"number",
    c"string",
    c"table",
    c"function",
    c"userdata",
    c"thread",
    c"proto",
    c"cdata",
];

/// The type of a value.
#[inline]
pub fn type_of(v: Option<Value>) -> c_int {
    match v {
        Some(v) if v.is_number() => TYPES[TYPE_NUMBER],
        Some(v) => TYPES[v.type_index()],
        None => NONE,
    }
}

/// The name of a type.
pub fn type_name(t: c_int) -> &'static std::ffi::CStr {
    usize::try_from(t + 1).ok().and_then(|i| NAMES.get(i)).copied().unwrap_or(NAMES[0])
}

/// The number that a value is, or that a string denotes.
#[inline]
pub fn number(v: Value) -> Option<f64> {
    if v.is_number() { v.as_number() } else { meta::to_number(v).and_then(Value::as_number) }
}

/// The same as an integer.
#[inline]
pub fn integer(v: Value) -> Option<isize> {
    if let Some(i) = v.as_int() {
        return Some(i as isize);
    }
    let v = meta::to_number(v)?;
    Some(match v.as_int() {
        Some(i) => i as isize,
        None => to_i64(v.as_number()?) as isize,
    })
}

/// The string at an index; a number there becomes a string.
#[inline]
pub fn string_at(vm: &mut Vm, i: c_int) -> Option<Gc<Str>> {
    let v = index::value(vm, i);
    match v.as_str() {
        Some(s) => Some(s),
        None => number_text(vm, i, v),
    }
}

#[inline(never)]
fn number_text(vm: &mut Vm, i: c_int, v: Value) -> Option<Gc<Str>> {
    if !v.is_number() {
        return None;
    }
    let s = vm.number_str(v);
    index::set(vm, i, Value::str(s));
    Some(s)
}

/// The address and length of a string for C.
///
/// # Safety
/// `len` is null or can be written.
pub unsafe fn give_string(s: Option<Gc<Str>>, len: *mut usize) -> *const c_char {
    if !len.is_null() {
        // SAFETY: the caller's promise.
        unsafe { *len = s.map_or(0, |s| s.len()) };
    }
    s.map_or(core::ptr::null(), |s| s.bytes_with_nul().as_ptr().cast())
}

/// An address for a userdata that Rust code made: of a `FILE *` for a file of the `io` library. At that of others is a null pointer.
#[inline(never)]
fn payload(u: Gc<Udata>) -> *mut c_void {
    perilune_vm::stdlib::io::c_file(u).map_or(u.address().cast(), <*mut _>::cast)
}

/// The address of a userdata's bytes.
pub fn address(v: Value) -> *mut c_void {
    if let Some(u) = v.as_udata() {
        let block = u.block.get();
        return if block.is_null() { payload(u) } else { block.cast() };
    }
    if v.is_lightud() { core::ptr::with_exposed_provenance_mut(v.address() as usize) } else { core::ptr::null_mut() }
}

/// Are there two values, and are they the same?
#[inline]
fn both_equal(a: Option<Value>, b: Option<Value>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.raw_equals(b))
}

/// `lua_rawequal` with a pseudo-index.
#[inline(never)]
fn rawequal_special(vm: &Vm, i: c_int, j: c_int) -> c_int {
    c_int::from(both_equal(index::get(vm, i), index::get(vm, j)))
}

/// Are the values equal, by metamethods?
fn equal(vm: &mut Vm, a: Value, b: Value) -> LuaResult<bool> {
    if a.raw_equals(b) {
        return Ok(true);
    }
    let may_differ = a.is_table() && b.is_table() || a.is_udata() && b.is_udata();
    let mm = if may_differ { vm.shared_method(a, b, MM::Eq) } else { Value::NIL };
    if mm.is_nil() { Ok(false) } else { Ok(vm.call1(mm, &[a, b])?.truthy()) }
}

plain! {
    /// `lua_type`
    fn lua_type(l => vm, i: c_int) -> c_int { type_of(index::get(vm, i)) }
    /// `lua_iscfunction`
    fn lua_iscfunction(l => vm, i: c_int) -> c_int { c_int::from(index::value(vm, i).as_func().is_some_and(|f| !f.is_lua())) }
    /// `lua_isnumber`
    fn lua_isnumber(l => vm, i: c_int) -> c_int { c_int::from(meta::to_number(index::value(vm, i)).is_some()) }
    /// `lua_isstring`
    fn lua_isstring(l => vm, i: c_int) -> c_int {
        let v = index::value(vm, i);
        c_int::from(v.is_str() || v.is_number())
    }
    /// `lua_isuserdata`
    fn lua_isuserdata(l => vm, i: c_int) -> c_int { c_int::from(matches!(type_of(index::get(vm, i)), 2 | 7)) }
    /// `lua_rawequal`
    fn lua_rawequal(l => vm, i: c_int, j: c_int) -> c_int {
        if i > index::REGISTRY && j > index::REGISTRY {
            return c_int::from(both_equal(index::in_frame(vm, i), index::in_frame(vm, j)));
        }
        rawequal_special(vm, i, j)
    }
    /// `lua_tonumber`
    fn lua_tonumber(l => vm, i: c_int) -> f64 { number(index::value(vm, i)).unwrap_or(0.0) }
    /// `lua_tonumberx`
    fn lua_tonumberx(l => vm, i: c_int, is_number: *mut c_int) -> f64 {
        let n = number(index::value(vm, i));
        if !is_number.is_null() {
            *is_number = c_int::from(n.is_some());
        }
        n.unwrap_or(0.0)
    }
    /// `lua_tointeger`
    fn lua_tointeger(l => vm, i: c_int) -> isize { integer(index::value(vm, i)).unwrap_or(0) }
    /// `lua_tointegerx`
    fn lua_tointegerx(l => vm, i: c_int, is_number: *mut c_int) -> isize {
        let n = integer(index::value(vm, i));
        if !is_number.is_null() {
            *is_number = c_int::from(n.is_some());
        }
        n.unwrap_or(0)
    }
    /// `lua_toboolean`
    fn lua_toboolean(l => vm, i: c_int) -> c_int { c_int::from(index::value(vm, i).truthy()) }
    /// `lua_tolstring`
    fn lua_tolstring(l => vm, i: c_int, len: *mut usize) -> *const c_char { give_string(string_at(vm, i), len) }
    /// `lua_objlen`
    fn lua_objlen(l => vm, i: c_int) -> usize {
        let v = index::value(vm, i);
        if let Some(t) = v.as_table() {
            t.len() as usize
        } else if let Some(u) = v.as_udata() {
            u.block_size() as usize
        } else {
            string_at(vm, i).map_or(0, |s| s.len())
        }
    }
    /// `lua_tocfunction`
    fn lua_tocfunction(l => vm, i: c_int) -> Option<CFunction> {
        let f = index::value(vm, i).as_func()?;
        let address = f.c_address().or_else(|| crate::builtins::address(f))?;
        let p: *const () = core::ptr::with_exposed_provenance(address);
        Some(core::mem::transmute::<*const (), CFunction>(p))
    }
    /// `lua_touserdata`
    fn lua_touserdata(l => vm, i: c_int) -> *mut c_void { address(index::value(vm, i)) }
    /// `lua_tothread`
    fn lua_tothread(l => vm, i: c_int) -> L { index::value(vm, i).as_thread().map_or(core::ptr::null_mut(), Gc::as_ptr) }
    /// `lua_topointer`
    fn lua_topointer(l => vm, i: c_int) -> *mut c_void {
        let v = index::value(vm, i);
        if v.is_udata() { address(v) } else { core::ptr::with_exposed_provenance_mut(perilune_vm::stdlib::address(v) as usize) }
    }
}

raising! {
    /// `lua_equal`
    fn lua_equal(l => vm, i: c_int, j: c_int) -> c_int {
        match (index::get(vm, i), index::get(vm, j)) {
            (Some(a), Some(b)) => equal(vm, a, b).map(c_int::from),
            _ => Ok(0),
        }
    }
    /// `lua_lessthan`
    fn lua_lessthan(l => vm, i: c_int, j: c_int) -> c_int {
        match (index::get(vm, i), index::get(vm, j)) {
            (Some(a), Some(b)) => vm.less_than(a, b).map(c_int::from),
            _ => Ok(0),
        }
    }
}

/// `lua_typename`
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub extern "C" fn lua_typename(_: L, t: c_int) -> *const c_char {
    type_name(t).as_ptr()
}
