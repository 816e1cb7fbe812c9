//! Narrowing: keeps integers as ints where the recorder needs them (LuaJIT's `lj_opt_narrow`).
//!
//! Numbers are dual, so most of what LuaJIT narrows is an int from the start. Two cases remain: operands that must be ints although the
//! program has a num, and the counter of a numeric loop, which cannot overflow.

use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op, Ty, conv};

/// A number as a num.
pub fn to_num(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.ty(r).is_int() { b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT)) } else { Ok(r) }
}

/// A number as an index: an int, or a num that must be integral.
pub fn to_index(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.ty(r).is_int() { Ok(r) } else { b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_INDEX)) }
}

/// A number as the bit library sees it.
pub fn to_bit(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.ty(r).is_int() { Ok(r) } else { b.emit(Op::TOBIT, Ty::Int, r, IrRef::NIL) }
}

/// The counter of a numeric loop in the next iteration: `idx + step`.
///
/// `idx` is not beyond `stop`, or this iteration would not run. So the sum fits if `stop + step` does. That is checked once, outside the
/// loop, unless the check would fail for the current values of both, `stop_now` and `step_now`.
pub fn next_index(b: &mut IrBuffer, idx: IrRef, (step, step_now): (IrRef, i32), (stop, stop_now): (IrRef, i32)) -> Emit {
    if !b.flags.narrow || stop_now.checked_add(step_now).is_none() {
        return b.emit(Op::ADDOV, Ty::Int, idx, step);
    }
    // The check vanishes where the range of `stop` is known, as that of a constant is.
    if !step.is_const() {
        b.emit(Op::ADDOV, Ty::Int, stop, step)?;
    } else if step_now >= 0 {
        let most = b.kint(i32::MAX - step_now);
        b.emit(Op::LE, Ty::Int, stop, most)?;
    } else {
        let least = b.kint(i32::MIN - step_now);
        b.emit(Op::GE, Ty::Int, stop, least)?;
    }
    b.emit_ins(Ins { flags: 0, ..Ins::new(Op::ADDOV, Ty::Int, idx, step) })
}
