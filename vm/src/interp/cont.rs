//! Continuations: what happens with the result of a metamethod. See [`super::frame`] for the frame.
#![allow(unsafe_code, reason = "a continuation frame has four slots below its base, among them where to go on")]

use super::call::call_at;
use super::frame;
use super::{Driver, R, Status};
use crate::value::Value;

/// Store the result in A of the instruction before the saved pc.
pub const TO_A: u64 = 0;
/// Drop the result.
pub const DROP: u64 = 1;
/// Take the jump if the result is true.
pub const JUMP_IF: u64 = 2;
/// Take the jump if the result is false.
pub const JUMP_IF_NOT: u64 = 3;
/// Continue the concatenation; the slot of the result is in the upper bits.
pub const CONCAT: u64 = 4;

/// Pushes a continuation frame above the running Lua frame and calls `f` with `args`.
#[inline(always)]
pub(super) unsafe fn call_with<D: Driver, const N: usize>(r: R, id: u64, f: Value, args: [Value; N]) -> u32 {
    let top = r.base.add(r.framesize());
    *top = Value::link(id);
    *top.add(1) = Value::link(r.pc.expose_provenance() as u64);
    *top.add(2) = f;
    let new = top.add(4);
    *top.add(3) = frame::link(new.offset_from(r.base) as usize, frame::CONT);
    for (i, v) in args.into_iter().enumerate() {
        *new.add(i) = v;
    }
    call_at::<D>(r, top.add(2), N)
}

/// Calls an iterator: function and arguments are in place at A.
#[inline(always)]
pub(super) unsafe fn start_iterator_call<D: Driver>(r: R) -> u32 {
    let func = r.ra();
    *func.add(1) = Value::link(r.pc.expose_provenance() as u64);
    call_at::<D>(r, func, 2)
}

/// Continues after a metamethod: `r` is the frame that needed it, `r.ins` its instruction.
#[inline(always)]
pub(super) unsafe fn resume<D: Driver>(r: R, id: u64, v: Value) -> u32 {
    match id & 7 {
        TO_A => {
            *r.ra() = v;
            r.next::<D>()
        }
        DROP => r.next::<D>(),
        JUMP_IF => {
            if v.truthy() {
                r.branch::<D>()
            } else {
                r.skip::<D>()
            }
        }
        JUMP_IF_NOT => {
            if v.truthy() {
                r.skip::<D>()
            } else {
                r.branch::<D>()
            }
        }
        CONCAT => {
            let slot = (id >> 3) as usize;
            *r.base.add(slot) = v;
            super::meta_call::concat_from::<D>(r, slot)
        }
        _ => Status::ERROR,
    }
}
