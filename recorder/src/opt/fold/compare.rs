//! FOLD: comparisons for order, and bounds checks. Guards that always or never hold, and cheaper forms.

use super::{Fold, Rule, holds, like, range};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};
use core::cmp::Ordering;

/// Does `op` accept an order? `None` is unordered.
pub(super) fn accepts(op: Op, outcome: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    match (op, outcome) {
        (Op::ULT | Op::UGE | Op::ULE | Op::UGT | Op::NE, None) => true,
        (_, None) => false,
        (Op::LT | Op::ULT, Some(o)) => o == Less,
        (Op::GE | Op::UGE, Some(o)) => o != Less,
        (Op::LE | Op::ULE, Some(o)) => o != Greater,
        (Op::GT | Op::UGT, Some(o)) => o == Greater,
        (Op::EQ, Some(o)) => o == Equal,
        (Op::NE, Some(o)) => o != Equal,
        _ => false,
    }
}

/// The signed form of a comparison: nums converted from ints are never unordered.
fn signed(op: Op) -> Op {
    Op::ALL[op as usize & !4]
}

/// LT to UGT.
pub(super) fn order(b: &mut IrBuffer, ins: Ins) -> Rule {
    match ins.ty {
        Ty::Num => order_num(b, ins),
        Ty::Int => order_int(b, ins),
        // x < x, and so on
        _ if ins.a == ins.b => holds(accepts(ins.op, Some(Ordering::Equal))),
        _ => Ok(Fold::Keep),
    }
}

fn order_num(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if let (Some(k), Some(m)) = (b.as_num(x), b.as_num(y)) {
        return holds(accepts(ins.op, k.partial_cmp(&m)));
    }
    // x < x never holds, !(x < x) always: for equal and unordered alike.
    if x == y && accepts(ins.op, None) == accepts(ins.op, Some(Ordering::Equal)) {
        return holds(accepts(ins.op, None));
    }
    let Some(i) = b.int_source(x) else { return Ok(Fold::Keep) };
    if let Some(j) = b.int_source(y) {
        // num(i) < num(j)  =>  i < j
        return like(signed(ins.op), Ty::Int, i, j);
    }
    match b.as_num(y) {
        Some(k) if k.is_nan() => holds(accepts(ins.op, None)),
        Some(k) => {
            // num(i) < k  =>  i < ceil(k), num(i) <= k  =>  i <= floor(k), and so on
            let op = signed(ins.op);
            let bound = if matches!(op, Op::LT | Op::GE) { k.ceil() } else { k.floor() };
            if bound < f64::from(i32::MIN) || bound > f64::from(i32::MAX) {
                range::rely(b, i)?;
                holds(accepts(op, Some(if bound < 0.0 { Ordering::Greater } else { Ordering::Less })))
            } else {
                let bound = b.kint(bound as i32);
                like(op, Ty::Int, i, bound)
            }
        }
        None => Ok(Fold::Keep),
    }
}

fn order_int(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if x == y {
        return holds(accepts(ins.op, Some(Ordering::Equal)));
    }
    let unsigned = ins.op as u8 & 4 != 0;
    if let (Some(k), Some(m)) = (b.as_int(x), b.as_int(y)) {
        let o = if unsigned { (k as u32).cmp(&(m as u32)) } else { k.cmp(&m) };
        return holds(accepts(ins.op, Some(o)));
    }
    let (rx, ry) = (range::of(b, x), range::of(b, y));
    if unsigned {
        // x <u 0 never holds, x >=u 0 always
        return match (ins.op, b.as_int(y)) {
            (Op::ULT, Some(0)) => holds(false),
            (Op::UGE, Some(0)) => holds(true),
            // x <u y  =>  x < y where neither is negative
            _ if rx.lo >= 0 && ry.lo >= 0 => {
                range::rely(b, x)?;
                range::rely(b, y)?;
                like(signed(ins.op), Ty::Int, x, y)
            }
            _ => Ok(Fold::Keep),
        };
    }
    // Decided by the ranges of both sides.
    let (less, greater) = (rx.hi < ry.lo, rx.lo > ry.hi);
    let (not_greater, not_less) = (rx.hi <= ry.lo, rx.lo >= ry.hi);
    let outcome = match ins.op {
        Op::LT if less => true,
        Op::LT if not_less => false,
        Op::GE if not_less => true,
        Op::GE if less => false,
        Op::LE if not_greater => true,
        Op::LE if greater => false,
        Op::GT if greater => true,
        Op::GT if not_greater => false,
        _ => return strict(b, ins),
    };
    range::rely(b, x)?;
    range::rely(b, y)?;
    holds(outcome)
}

/// A canonical form: x < k  =>  x <= k - 1, x >= k  =>  x > k - 1.
fn strict(b: &mut IrBuffer, ins: Ins) -> Rule {
    match (ins.op, b.as_int(ins.b)) {
        (Op::LT, Some(k)) if k != i32::MIN => {
            let k = b.kint(k - 1);
            like(Op::LE, Ty::Int, ins.a, k)
        }
        (Op::GE, Some(k)) if k != i32::MIN => {
            let k = b.kint(k - 1);
            like(Op::GT, Ty::Int, ins.a, k)
        }
        _ => Ok(Fold::Keep),
    }
}

/// ABC: op2 below op1.
pub(super) fn bounds(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (size, index) = (ins.a, ins.b);
    let Some(k) = b.as_int(index) else { return Ok(Fold::Keep) };
    if let Some(n) = b.as_int(size) {
        return holds((k as u32) < n as u32);
    }
    if k < 0 {
        return Ok(Fold::Keep);
    }
    // One check of the greatest constant index is enough: an earlier check is made stricter.
    let mut r = b.newest(Op::ABC);
    while r > size.max(IrRef::BASE) {
        let other = b.trace.ins[r.ins_index()];
        if other.a == size
            && let Some(m) = b.as_int(other.b)
            && m >= 0
        {
            if m < k {
                b.trace.ins[r.ins_index()].b = index;
            }
            return holds(true);
        }
        r = b.older(r);
    }
    Ok(Fold::Keep)
}
