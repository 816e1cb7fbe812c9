//! Frames on the Lua stack.
//!
//! A frame's base has the function at `base[-2]` and its link at `base[-1]`. A link is a raw word: the low bits are its kind. For
//! a Lua call (`LUA`) it is the return address, 4-aligned, and the caller's base follows from the A operand of the call before it.
//! All others hold the distance to the frame below in slots, shifted by 3:
//!
//! * `C`: a builtin (or the host) has called the VM; `base[-3]` keeps the caller's pc. The upper half of the link says what becomes of an
//!   error ([`Catch`]).
//! * `CONT`: a metamethod; `base[-4]` says how to continue ([`super::cont`]), `base[-3]` is the pc to continue at.
//! * `VARG`: the moved frame of a vararg function; the real link is in the frame below.
//! * `COR`: the first frame of a coroutine.
//! * `PCALL`, `XPCALL`: a protected call made by the builtin whose frame is below; for `XPCALL` the handler is that builtin's
//!   first argument.
#![allow(unsafe_code, reason = "the two slots below the base of a frame are its function and its link")]

pub use crate::words::move_words as move_values;

use crate::bc::Ins;
use crate::object::{Func, Gc};
use crate::value::Value;

/// Kind of a link: return address of a Lua call.
pub const LUA: u64 = 0;
/// Entry from a builtin or the host.
pub const C: u64 = 1;
/// Metamethod call.
pub const CONT: u64 = 2;
/// Moved frame of a vararg function.
pub const VARG: u64 = 3;
/// First frame of a coroutine.
pub const COR: u64 = 5;
/// Protected call.
pub const PCALL: u64 = 6;
/// Protected call with a handler.
pub const XPCALL: u64 = 7;

/// Kind of a link.
#[inline(always)]
pub const fn kind(link: u64) -> u64 {
    if link & 3 == 0 { LUA } else { link & 7 }
}
/// A link of kind `kind` to the frame `delta` slots below.
#[inline(always)]
pub const fn link(delta: usize, kind: u64) -> Value {
    Value::link((delta as u64) << 3 | kind)
}
/// The slots between the frame of a link that is not a Lua call's and the frame below.
#[inline(always)]
pub const fn distance(link: u64) -> usize {
    (link as u32 >> 3) as usize
}

/// What becomes of an error in a call from native code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Catch {
    /// It is raised in the native code.
    Nothing,
    /// It is a result of the call: `pcall` of the C API.
    Error,
    /// As [`Catch::Error`]; first the handler in the slot so many slots below the frame's base is called.
    Handler(usize),
    /// As [`Catch::Nothing`], in a resumption by native code. What the coroutine yields is left on its own stack.
    Resumption,
}

impl Catch {
    /// Bits of the link.
    const SHIFT: u32 = 32;

    /// The link of a C frame `delta` slots above the frame below.
    pub(super) fn link(self, delta: usize) -> Value {
        let code = match self {
            Catch::Nothing => 0,
            Catch::Error => 1,
            Catch::Resumption => 2,
            Catch::Handler(below) => 2 + below as u64,
        };
        Value::link(code << Catch::SHIFT | link(delta, C).bits())
    }
    /// What the link of a C frame says.
    pub(super) fn of(link: u64) -> Catch {
        match link >> Catch::SHIFT {
            0 => Catch::Nothing,
            1 => Catch::Error,
            2 => Catch::Resumption,
            code => Catch::Handler(code as usize - 2),
        }
    }
}

/// The link of the frame at `base`.
///
/// # Safety
/// `base` is a frame base on a live stack.
#[inline(always)]
pub unsafe fn link_of(base: *mut Value) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { (*base.sub(1)).bits() }
}
/// The function of the frame at `base`.
///
/// # Safety
/// `base` is a frame base on a live stack.
#[inline(always)]
pub unsafe fn func_of(base: *mut Value) -> Gc<Func> {
    // SAFETY: the caller's promise; the slot holds a function.
    unsafe { Gc::from_addr((*base.sub(2)).payload()) }
}
/// The frame below the one at `base`.
///
/// # Safety
/// `base` is a frame base on a live stack and not the lowest.
#[inline(always)]
pub unsafe fn below(base: *mut Value) -> *mut Value {
    // SAFETY: links are written by calls only; a return address follows the call instruction.
    unsafe {
        let l = link_of(base);
        if kind(l) == LUA {
            let call = *(core::ptr::with_exposed_provenance::<Ins>(l as usize)).sub(1);
            base.sub(2 + call.a())
        } else {
            base.sub(distance(l))
        }
    }
}

/// Stores nil from `p` up to `end`, mostly few slots. The stores are volatile because the Rust compiler would otherwise turn the loop into
/// a call of `memset`, and a handler with such a call saves its registers on the native stack.
///
/// # Safety
/// All of them are slots of a live stack.
#[inline(always)]
pub unsafe fn fill_nil(mut p: *mut Value, end: *mut Value) {
    while p < end {
        // SAFETY: the caller's promise.
        unsafe {
            p.write_volatile(Value::NIL);
            p = p.add(1);
        }
    }
}
