//! The C API for code in Rust: its functions, and what the headers have besides, under the same names.
//!
//! A function that raises an error leaves the frames of its callers up to the innermost protected call, as `longjmp` would: no value with a
//! destructor may live in one of them.
#![allow(unsafe_code, reason = "callers keep the contract of the crate")]
#![allow(non_camel_case_types, reason = "types have the names of C")]

use crate::call::status;
use std::ffi::{c_char, c_int};

pub use crate::exports::functions::*;
/// A coroutine, which leads to its state.
pub type lua_State = perilune_vm::object::Thread;
/// A function in C.
pub type lua_CFunction = crate::state::CFunction;
/// Numbers.
pub type lua_Number = f64;
/// Integers.
pub type lua_Integer = isize;

macro_rules! constants {
    ($($name:ident = $value:expr, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub const $name: c_int = $value;
    )*};
}
constants! {
    LUA_MULTRET = -1, "All results of a call.";
    LUA_REGISTRYINDEX = crate::index::REGISTRY, "Pseudo-index of the registry.";
    LUA_ENVIRONINDEX = crate::index::ENVIRONMENT, "Pseudo-index of the environment of the running function.";
    LUA_GLOBALSINDEX = crate::index::GLOBALS, "Pseudo-index of the globals.";
    LUA_OK = status::OK, "Status: no error.";
    LUA_YIELD = status::YIELD, "Status: the coroutine has yielded.";
    LUA_ERRRUN = status::RUN, "Status: an error while code ran.";
    LUA_ERRSYNTAX = status::SYNTAX, "Status: an error of syntax.";
    LUA_ERRMEM = status::MEMORY, "Status: no memory.";
    LUA_ERRERR = status::HANDLER, "Status: an error while an error was handled.";
    LUA_TNONE = crate::access::NONE, "Type: there is no value.";
    LUA_TNIL = 0, "Type: nil.";
    LUA_TBOOLEAN = 1, "Type: boolean.";
    LUA_TLIGHTUSERDATA = 2, "Type: light userdata.";
    LUA_TNUMBER = 3, "Type: number.";
    LUA_TSTRING = 4, "Type: string.";
    LUA_TTABLE = 5, "Type: table.";
    LUA_TFUNCTION = 6, "Type: function.";
    LUA_TUSERDATA = 7, "Type: userdata.";
    LUA_TTHREAD = 8, "Type: coroutine.";
    LUA_MINSTACK = 20, "Slots that a function in C has without asking for them.";
    LUA_NOREF = -2, "No reference.";
    LUA_REFNIL = crate::reference::NIL, "The reference of nil.";
}

/// Pseudo-index of an upvalue of the running function.
pub const fn lua_upvalueindex(i: c_int) -> c_int {
    LUA_GLOBALSINDEX - i
}

/// What the headers define by other functions.
macro_rules! macros {
    ($(fn $name:ident($l:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)? { $body:expr })*) => {$(
        #[doc = concat!("`", stringify!($name), "`, a macro in C.")]
        ///
        /// # Safety
        /// The contract of the crate.
        #[inline]
        pub unsafe fn $name($l: *mut lua_State $(, $arg: $ty)*) $(-> $ret)? {
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    )*};
}
macros! {
    fn lua_pop(l, n: c_int) { lua_settop(l, -n - 1) }
    fn lua_newtable(l) { lua_createtable(l, 0, 0) }
    fn lua_pushcfunction(l, f: lua_CFunction) { lua_pushcclosure(l, f, 0) }
    fn lua_setglobal(l, name: *const c_char) { lua_setfield(l, LUA_GLOBALSINDEX, name) }
    fn lua_getglobal(l, name: *const c_char) { lua_getfield(l, LUA_GLOBALSINDEX, name) }
    fn lua_tostring(l, i: c_int) -> *const c_char { lua_tolstring(l, i, core::ptr::null_mut()) }
    fn lua_strlen(l, i: c_int) -> usize { lua_objlen(l, i) }
    fn lua_isfunction(l, i: c_int) -> c_int { has_type(l, i, LUA_TFUNCTION) }
    fn lua_istable(l, i: c_int) -> c_int { has_type(l, i, LUA_TTABLE) }
    fn lua_islightuserdata(l, i: c_int) -> c_int { has_type(l, i, LUA_TLIGHTUSERDATA) }
    fn lua_isnil(l, i: c_int) -> c_int { has_type(l, i, LUA_TNIL) }
    fn lua_isboolean(l, i: c_int) -> c_int { has_type(l, i, LUA_TBOOLEAN) }
    fn lua_isthread(l, i: c_int) -> c_int { has_type(l, i, LUA_TTHREAD) }
    fn lua_isnone(l, i: c_int) -> c_int { has_type(l, i, LUA_TNONE) }
    fn lua_isnoneornil(l, i: c_int) -> c_int { c_int::from(lua_type(l, i) <= LUA_TNIL) }
    fn luaL_checkstring(l, i: c_int) -> *const c_char { luaL_checklstring(l, i, core::ptr::null_mut()) }
    fn luaL_typename(l, i: c_int) -> *const c_char { lua_typename(l, lua_type(l, i)) }
    fn luaL_getmetatable(l, name: *const c_char) { lua_getfield(l, LUA_REGISTRYINDEX, name) }
}

/// # Safety
/// The contract of the crate.
unsafe fn has_type(l: *mut lua_State, i: c_int, which: c_int) -> c_int {
    // SAFETY: the caller's promise.
    c_int::from(unsafe { lua_type(l, i) } == which)
}
