//! Protected calls: the headers of `pcall` and `xpcall`. They call the function in a frame above their own, as their builtins in [`super::co`]
//! do; `vm/src/interp/returns.rs` has the way back.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`; as many arguments as the header says are at the base")]

use super::call::call_at;
use super::fast::by_builtin;
use super::stack::NATIVE_MIN;
use super::{Driver, R, frame};
use crate::value::{TAG_FUNC, Value};

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn pcall<D: Driver>(r: R) -> u32 {
    if r.nargs() == 0 || !has_room(r) {
        return by_builtin::<D>(r);
    }
    call_under::<D>(r, 0, frame::PCALL)
}

/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn xpcall<D: Driver>(r: R) -> u32 {
    let (f, handler) = (r.base, r.base.add(1));
    if r.nargs() < 2 || (*handler).tag() != TAG_FUNC || !has_room(r) {
        return by_builtin::<D>(r);
    }
    // The handler is the first argument of this frame.
    core::ptr::swap(f, handler);
    call_under::<D>(r, 1, frame::XPCALL)
}

/// Is there the room that a builtin finds above its arguments? They will lie one slot higher.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn has_room(r: R) -> bool {
    r.base.add(r.nargs() + NATIVE_MIN) <= (*r.vm).stack_limit
}

/// Calls argument number `first` with those that follow it, between which and the function a slot for the link is made.
///
/// # Safety
/// The registers are those of a running handler, see [`R`]; there is such an argument, and room.
#[inline(always)]
unsafe fn call_under<D: Driver>(r: R, first: usize, kind: u64) -> u32 {
    let func = r.base.add(first);
    let link = func.add(1);
    let mut p: *mut Value = r.base.add(r.nargs());
    while p > link {
        // Volatile for the reason given at `frame::fill_nil`.
        p.write_volatile(*p.sub(1));
        p = p.sub(1);
    }
    *link = frame::link(first + 2, kind);
    call_at::<D>(r, func, r.nargs() - first - 1)
}
