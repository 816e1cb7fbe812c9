//! FOLD: conversions between numbers.

use super::{Fold, Rule, holds, is};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty, conv};

/// CONV.
pub(super) fn conv(b: &mut IrBuffer, ins: Ins) -> Rule {
    let mode = ins.b.0;
    match mode {
        // num(k)
        conv::NUM_INT if let Some(k) = b.as_int(ins.a) => is(b.knum(f64::from(k))),
        // num(int(x)) = x where int() was exact and x not -0
        conv::NUM_INT
            if let Some(i) = b.is_op(ins.a, Op::CONV)
                && i.b.0 == conv::INT_NUM_CHECK =>
        {
            is(i.a)
        }
        conv::INT_NUM_INDEX | conv::INT_NUM_CHECK => {
            if let Some(k) = b.as_num(ins.a) {
                let i = k as i32;
                let exact = f64::from(i) == k && (mode == conv::INT_NUM_INDEX || k.to_bits() != (-0.0f64).to_bits());
                return if exact { is(b.kint(i)) } else { holds(false) };
            }
            // int(num(x)) = x
            match b.int_source(ins.a) {
                Some(i) => is(i),
                None => Ok(Fold::Keep),
            }
        }
        _ => wide(b, ins),
    }
}

/// Conversions between 32 and 64 bits.
fn wide(b: &mut IrBuffer, ins: Ins) -> Rule {
    let src = ins.b.0 & 31;
    let dst = ins.b.0 >> 5 & 31;
    let is64 = |t: u16| t == Ty::I64 as u16 || t == Ty::U64 as u16 || t == Ty::P64 as u16;
    if src == dst {
        // x as its own type
        return is(ins.a);
    }
    match b.is_op(ins.a, Op::CONV) {
        // int(i64(x)) = x
        Some(i) if dst == Ty::Int as u16 && is64(src) && i.b.0 & 31 == Ty::Int as u16 => is(i.a),
        _ => Ok(Fold::Keep),
    }
}

/// Sums of ints up to here are exact, and so is their TOBIT, which adds 1.5 * 2^52.
const EXACT: f64 = (1u64 << 50) as f64;
/// The most terms of a sum that are analysed.
const TERMS: u32 = 300;

/// An upper bound of the magnitude of an integral num, if its computation was exact. `left` counts down the terms that may still be
/// analysed.
fn magnitude(b: &IrBuffer, r: IrRef, left: &mut u32) -> Option<f64> {
    if let Some(k) = b.as_num(r) {
        return (k == k.trunc() && k.abs() <= EXACT).then(|| k.abs());
    }
    if b.int_source(r).is_some() {
        return Some(2_147_483_648.0);
    }
    *left = left.checked_sub(1)?;
    let i = b.def(r).filter(|i| i.ty == Ty::Num && matches!(i.op, Op::ADD | Op::SUB | Op::MUL))?;
    let (x, y) = (magnitude(b, i.a, left)?, magnitude(b, i.b, left)?);
    let bound = if i.op == Op::MUL { x * y } else { x + y };
    (bound <= EXACT).then_some(bound)
}

/// TOBIT.
pub(super) fn tobit(b: &mut IrBuffer, ins: Ins) -> Rule {
    let bias = ins.b;
    if let Some(k) = b.as_num(ins.a) {
        return is(b.kint(perilune_vm::meta::tobit(k)));
    }
    // tobit(num(x)) = x
    if let Some(i) = b.int_source(ins.a) {
        return is(i);
    }
    if let Some(sum) = b.low_bits(ins.a) {
        return is(sum);
    }
    // tobit(x + y)  =>  tobit(x) + tobit(y) modulo 2^32, where the sum is exact
    match b.inner(ins.a) {
        Some(Ins { op: op @ (Op::ADD | Op::SUB | Op::MUL), ty: Ty::Num, a, b: c, .. })
            if magnitude(b, ins.a, &mut TERMS.clone()).is_some() =>
        {
            let x = b.emit(Op::TOBIT, Ty::Int, a, bias)?;
            let y = b.emit(Op::TOBIT, Ty::Int, c, bias)?;
            let sum = b.emit(op, Ty::Int, x, y)?;
            b.set_low_bits(ins.a, sum);
            is(sum)
        }
        _ => Ok(Fold::Keep),
    }
}
