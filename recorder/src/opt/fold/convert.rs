//! FOLD: conversions between numbers.

use super::{Fold, Rule, holds, is, like, range};
use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty, conv};
use perilune_vm::ffi::int64;

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
        conv::INT_NUM_BITS => {
            if let Some(k) = b.as_num(ins.a) {
                let exact = k == k.trunc() && k.abs() <= conv::MOST;
                return if exact { is(b.kint(perilune_vm::meta::tobit(k))) } else { holds(false) };
            }
            match (b.int_source(ins.a), u32_source(b, ins.a)) {
                (Some(i), _) => is(i),
                (None, Some(i)) => int_of_u32(i),
                (None, None) => Ok(Fold::Keep),
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
    if src == dst || is64(src) && is64(dst) {
        // x as its own type, or as another one of the same bits
        return is(ins.a);
    }
    let (Some(&from), Some(&to)) = (Ty::ALL.get(usize::from(src)), Ty::ALL.get(usize::from(dst))) else { return Ok(Fold::Keep) };
    if !ins.is_guard()
        && let Some(k) = constant(b, ins, from, to)
    {
        // A constant has no type that says how it becomes wider: one with the sign bit of an int stays a conversion.
        let forgets_type = to == Ty::U32 && b.as_int(k).is_some_and(i32::is_negative);
        return if forgets_type { Ok(Fold::Keep) } else { is(k) };
    }
    if from.is_int() && to.is_int() && b.ty(ins.a) == to {
        // x as the narrow type that it was loaded as
        return is(ins.a);
    }
    if from == Ty::Num
        && to.is_int()
        && to != Ty::Int
        && !ins.is_guard()
        && b.is_op(ins.a, Op::CONV).is_none()
        && let Some(bits) = exact_bits(b, ins.a)?
    {
        // The low bits of a sum that is exact are the sum of the low bits. (What does not fit an int is not
        // reduced modulo 2^32.)
        return like(Op::CONV, to, bits, IrRef(conv::pack(to, Ty::Int, 0)));
    }
    if from.is_int() && is64(dst) && ins.b.0 & conv::SEXT != 0 {
        return match extended(b, ins, to)? {
            // i64(x), extended by zeros, which costs nothing after most operations
            Fold::Keep if range::is_never_negative(b, ins.a) => like(Op::CONV, to, ins.a, IrRef(conv::pack(to, Ty::U32, 0))),
            done => Ok(done),
        };
    }
    match b.is_op(ins.a, Op::CONV) {
        // int(i64(x)) = x
        Some(i) if dst == Ty::Int as u16 && is64(src) && i.b.0 & 31 == Ty::Int as u16 => is(i.a),
        // i64(num(x)) = i64(x), extended by its sign
        Some(i) if is64(dst) && i.b.0 == conv::NUM_INT => like(Op::CONV, to, i.a, IrRef(conv::pack(to, Ty::Int, conv::SEXT))),
        // num(i64(x)) = num(x)
        Some(i) if to == Ty::Num && from == Ty::I64 && i.b.0 & 31 == Ty::Int as u16 && i.b.0 & conv::SEXT != 0 => {
            like(Op::CONV, Ty::Num, i.a, IrRef(conv::NUM_INT))
        }
        // int(num(x)) = x for a u32 x, and as a narrower type
        Some(i) if to.is_int() && to != Ty::Int && i.b.0 == conv::pack(Ty::Num, Ty::U32, 0) => {
            like(Op::CONV, to, i.a, IrRef(conv::pack(to, Ty::Int, 0)))
        }
        // i64(num(x)) = i64(x) for a u32 x, extended by zeros
        Some(i) if is64(dst) && i.b.0 == conv::pack(Ty::Num, Ty::U32, 0) => {
            like(Op::CONV, to, i.a, IrRef(conv::pack(to, Ty::U32, 0)))
        }
        // int(num(x)) = x, and as a narrower type
        Some(i) if to.is_int() && i.b.0 == conv::NUM_INT => like(Op::CONV, to, i.a, IrRef(conv::pack(to, Ty::Int, 0))),
        _ => Ok(Fold::Keep),
    }
}

/// A conversion of a constant.
fn constant(b: &mut IrBuffer, ins: Ins, from: Ty, to: Ty) -> Option<IrRef> {
    if let Some(n) = b.as_num(ins.a).filter(|_| from == Ty::Num) {
        return match to {
            Ty::I64 if ins.b.0 & conv::MODE == conv::INDEX => Some(b.kword(int64::index_from_num(n) as u64, to)),
            Ty::U64 => Some(b.kword(int64::unsigned_from_num(n), to)),
            Ty::I64 | Ty::P64 => Some(b.kword(int64::from_num(n) as u64, to)),
            Ty::Int => Some(b.kint(n as i32)),
            _ if to.is_int() => Some(b.kint(narrow(int64::from_num(n) as i32, to))),
            _ => None,
        };
    }
    if let Some(k) = b.as_int(ins.a).filter(|_| from.is_int()) {
        return match to {
            Ty::Num if from == Ty::U32 => Some(b.knum(f64::from(k as u32))),
            Ty::Num => Some(b.knum(f64::from(k))),
            _ if to.is_word() && ins.b.0 & conv::SEXT != 0 => Some(b.kword(i64::from(k) as u64, to)),
            _ if to.is_word() => Some(b.kword(u64::from(k as u32), to)),
            _ if to.is_int() => Some(b.kint(narrow(k, to))),
            _ => None,
        };
    }
    let k = b.as_word(ins.a).filter(|_| from.is_word())?;
    match to {
        Ty::Num if from == Ty::I64 => Some(b.knum(k as i64 as f64)),
        Ty::Num => Some(b.knum(k as f64)),
        _ if to.is_int() => Some(b.kint(narrow(k as i32, to))),
        _ => None,
    }
}

/// The low bits of an int as a narrow type.
fn narrow(k: i32, ty: Ty) -> i32 {
    match ty {
        Ty::I8 => i32::from(k as i8),
        Ty::U8 => i32::from(k as u8),
        Ty::I16 => i32::from(k as i16),
        Ty::U16 => i32::from(k as u16),
        _ => k,
    }
}

/// An int extended by its sign: constants move out of sums that do not overflow.
fn extended(b: &mut IrBuffer, ins: Ins, ty: Ty) -> Rule {
    let Some(i) = b.inner(ins.a).filter(|i| matches!(i.op, Op::ADD | Op::ADDOV)) else { return Ok(Fold::Keep) };
    let exact = i.op == Op::ADDOV || range::of(b, i.a).add(range::of(b, i.b)).is_int();
    match b.as_int(i.b).filter(|_| exact) {
        // i64(x + k)  =>  i64(x) + k
        Some(k) => {
            let x = b.emit(Op::CONV, ty, i.a, ins.b)?;
            let k = b.kword(i64::from(k) as u64, ty);
            like(Op::ADD, ty, x, k)
        }
        None => Ok(Fold::Keep),
    }
}

/// Sums of ints up to here are exact, and so is their TOBIT, which adds 1.5 * 2^52.
const EXACT: f64 = (1u64 << 50) as f64;
/// The most terms of a sum that are analysed.
const TERMS: u32 = 300;

/// The u32 that a num is converted from.
pub(in crate::opt) fn u32_source(b: &IrBuffer, r: IrRef) -> Option<IrRef> {
    b.is_op(r, Op::CONV).filter(|i| i.b.0 == conv::pack(Ty::Num, Ty::U32, 0)).map(|i| i.a)
}

/// A u32 as an int of the same bits. It is not the u32 itself, which would become wider without a sign.
fn int_of_u32(r: IrRef) -> Rule {
    like(Op::CONV, Ty::Int, r, IrRef(conv::pack(Ty::Int, Ty::U32, 0)))
}

/// An upper bound of the magnitude of an integral num, if its computation was exact. `left` counts down the terms that may still be
/// analysed.
fn magnitude(b: &IrBuffer, r: IrRef, left: &mut u32) -> Option<f64> {
    if let Some(k) = b.as_num(r) {
        return (k == k.trunc() && k.abs() <= EXACT).then(|| k.abs());
    }
    if b.int_source(r).is_some() {
        return Some(2_147_483_648.0);
    }
    if u32_source(b, r).is_some() {
        return Some(f64::from(u32::MAX));
    }
    *left = left.checked_sub(1)?;
    let i = b.def(r).filter(|i| i.ty == Ty::Num && matches!(i.op, Op::ADD | Op::SUB | Op::MUL))?;
    let (x, y) = (magnitude(b, i.a, left)?, magnitude(b, i.b, left)?);
    let bound = if i.op == Op::MUL { x * y } else { x + y };
    (bound <= EXACT).then_some(bound)
}

/// The low 32 bits of a num that is known to be an integer and to have been computed exactly.
pub(super) fn exact_bits(b: &mut IrBuffer, r: IrRef) -> Result<Option<IrRef>, Abort> {
    let mut left = TERMS;
    if b.as_num(r).is_some() || magnitude(b, r, &mut left).is_none() {
        return Ok(None);
    }
    b.emit(Op::TOBIT, Ty::Int, r, IrRef::NONE).map(Some)
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
    // tobit(num(x)) = int(x) for a u32 x
    if let Some(i) = u32_source(b, ins.a) {
        return int_of_u32(i);
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
