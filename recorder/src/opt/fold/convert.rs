//! Conversions between numbers.

use super::{Fold, Rule, holds, is, like};
use crate::build::Builder;
use crate::ir::{Ins, IrRef, Op, Ty, conv};

/// CONV.
pub(super) fn conv(b: &mut Builder, ins: Ins) -> Rule {
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
fn wide(b: &mut Builder, ins: Ins) -> Rule {
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

/// Magnitude of an integral num as a power of two, if its computation was exact.
fn exact_bits(b: &Builder, r: IrRef, depth: u32) -> Option<u32> {
    if let Some(k) = b.as_num(r) {
        let magnitude = k.abs();
        return (k == k.trunc() && magnitude < 1e15).then(|| 64 - (magnitude as u64).leading_zeros());
    }
    if b.int_source(r).is_some() {
        return Some(31);
    }
    let i = b.def(r).filter(|_| depth > 0)?;
    let (x, y) = (exact_bits(b, i.a, depth - 1)?, exact_bits(b, i.b, depth - 1)?);
    let bits = match i.op {
        Op::ADD | Op::SUB if i.ty == Ty::Num => x.max(y) + 1,
        Op::MUL if i.ty == Ty::Num => x + y,
        _ => return None,
    };
    (bits <= 50).then_some(bits)
}

/// TOBIT.
pub(super) fn tobit(b: &mut Builder, ins: Ins) -> Rule {
    let bias = ins.b;
    if let Some(k) = b.as_num(ins.a) {
        return is(b.kint(perilune_vm::meta::tobit(k)));
    }
    // tobit(num(x)) = x
    if let Some(i) = b.int_source(ins.a) {
        return is(i);
    }
    // tobit(x + y)  =>  tobit(x) + tobit(y) modulo 2^32, where the sum is exact
    match b.inner(ins.a) {
        Some(Ins { op: op @ (Op::ADD | Op::SUB | Op::MUL), ty: Ty::Num, a, b: c, .. }) if exact_bits(b, ins.a, 4).is_some() => {
            let x = b.emit(Op::TOBIT, Ty::Int, a, bias)?;
            let y = b.emit(Op::TOBIT, Ty::Int, c, bias)?;
            like(op, Ty::Int, x, y)
        }
        _ => Ok(Fold::Keep),
    }
}
