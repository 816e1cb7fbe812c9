//! Reading numbers from the slots of a frame by halves.
//!
//! The upper half of a value alone tells an integer, a double and anything else apart, so a handler tests it in memory by one comparison with
//! a constant, without loading the value first, and then loads the number into the register that it computes in.
#![allow(unsafe_code, reason = "a slot holds a value, of whose two halves one is read")]

use crate::value::{INT_BITS, PAYLOAD_BITS, TAG_STR, TAG_UDATA, Value};

/// The upper half of integers. That of doubles is less, that of all other values greater.
pub(super) const INT: u32 = (INT_BITS >> 32) as u32;

const _: () = assert!(cfg!(target_endian = "little") && INT_BITS as u32 == 0);

/// The upper half of a value.
///
/// # Safety
/// `p` points to a value.
#[inline(always)]
pub(super) unsafe fn upper(p: *const Value) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { *p.cast::<u32>().add(1) }
}
/// An integer.
///
/// # Safety
/// `p` points to a value whose upper half is [`INT`].
#[inline(always)]
pub(super) unsafe fn int(p: *const Value) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { *p.cast::<i32>() }
}
/// A double.
///
/// # Safety
/// `p` points to a value whose upper half is less than [`INT`].
#[inline(always)]
pub(super) unsafe fn num(p: *const Value) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { *p.cast::<f64>() }
}
/// Is it a collectable object, as [`Value::is_gc`] says?
///
/// # Safety
/// `p` points to a value.
#[inline(always)]
pub(super) unsafe fn is_gc(p: *const Value) -> bool {
    const FIRST: u32 = (TAG_UDATA << (PAYLOAD_BITS - 32)) as u32;
    const LAST: u32 = (((TAG_STR + 1) << (PAYLOAD_BITS - 32)) - 1) as u32;
    // SAFETY: the caller's promise.
    unsafe { upper(p) }.wrapping_sub(FIRST) <= LAST - FIRST
}
/// An integer as a double.
#[inline(always)]
pub(super) fn converted(i: i32) -> f64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let x: f64;
        // The conversion keeps the upper half of the register, so without the first instruction it would wait for the one that wrote the
        // register last, in an earlier handler. The Rust compiler looks for such an instruction in the handler only.
        // SAFETY: all processors of this architecture have SSE2; nothing but `x` is written.
        unsafe {
            core::arch::asm!(
                "xorps {x}, {x}", "cvtsi2sd {x}, {i:e}",
                x = out(xmm_reg) x, i = in(reg) i, options(pure, nomem, nostack, preserves_flags)
            );
        }
        x
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        f64::from(i)
    }
}
/// A value as a double, if it is a number of either form.
///
/// # Safety
/// `p` points to a value.
#[inline(always)]
pub(super) unsafe fn as_double(p: *const Value) -> Option<f64> {
    // SAFETY: the caller's promise.
    let upper = unsafe { upper(p) };
    // SAFETY: the upper half says what the value is.
    unsafe {
        if upper == INT {
            Some(converted(int(p)))
        } else if upper < INT {
            Some(num(p))
        } else {
            None
        }
    }
}
/// A number of either form as a double.
///
/// # Safety
/// `p` points to a value whose upper half is at most [`INT`].
#[inline(always)]
pub(super) unsafe fn number(p: *const Value) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { if upper(p) == INT { converted(int(p)) } else { num(p) } }
}
