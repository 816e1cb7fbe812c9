//! ABC: elimination of array bounds checks (LuaJIT's `rec_idx_abc`).
//!
//! An index that is the counter of a numeric loop runs from the counter's value at the start of the trace to the loop's stop value. If both
//! are inside the array, all are: two checks before the loop replace one in every iteration. They are marked by their type ([`INVARIANT`]),
//! and the loop optimisation leaves them out of the body unless the array's size changes there. The stop value must be inside when the
//! trace is recorded; otherwise the trace would always leave before its loop.

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};

/// The type of a bounds check that holds for all iterations.
pub const INVARIANT: Ty = Ty::U32;

/// The counter of the numeric loop that the trace is made of: its induction variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Induction {
    /// The counter in the recorded iteration (an int SLOAD).
    pub idx: IrRef,
    /// A lower bound of the counter, if the loop counts up from a constant.
    pub start: Option<i32>,
    /// The stop value (an int).
    pub stop: IrRef,
    /// The current stop value.
    pub stop_now: i32,
}

/// Emits the bounds check of `index` in an array part of `asize` slots, `asize_now` at present.
pub fn check(b: &mut IrBuffer, loop_: Option<&Induction>, asize: IrRef, index: IrRef, asize_now: u32) -> Result<(), Abort> {
    if let Some(iv) = loop_
        && b.flags.abc
        && b.flags.loop_
        && let Some(ofs) = offset_from(b, index, iv.idx)
    {
        let last = i64::from(iv.stop_now) + i64::from(ofs);
        if last >= 0 && last < i64::from(asize_now) {
            let k = b.kint(ofs);
            let stop = if ofs == 0 { iv.stop } else { b.emit(Op::ADD, Ty::Int, iv.stop, k)? };
            b.emit(Op::ABC, INVARIANT, asize, stop)?;
            if iv.start.is_none_or(|s| i64::from(s) + i64::from(ofs) < 0) {
                b.emit(Op::ABC, INVARIANT, asize, index)?;
            }
            return Ok(());
        }
    }
    b.emit(Op::ABC, Ty::Int, asize, index).map(|_| ())
}

/// The constant that `index` adds to `idx`.
fn offset_from(b: &IrBuffer, index: IrRef, idx: IrRef) -> Option<i32> {
    if index == idx {
        return Some(0);
    }
    match b.def(index) {
        Some(Ins { op: Op::ADD | Op::ADDOV, a, b: k, .. }) if a == idx => b.as_int(k),
        _ => None,
    }
}
