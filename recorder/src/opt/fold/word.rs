//! FOLD: 64-bit integers and addresses.
//!
//! Constants move outwards in sums, so that the address of an element is a base with a scaled index, and a constant that the load or store
//! adds. All sums are modulo 2^64, so that this is exact.

use super::{Fold, Rule, is, like};
use crate::ir::buffer::IrBuffer;
use crate::ir::word::operate;
use crate::ir::{Ins, IrRef, Op, Ty};

/// The constant that an operand is: a word, or the int that counts a shift.
fn operand(b: &IrBuffer, r: IrRef) -> Option<u64> {
    b.as_word(r).or_else(|| b.as_int(r).map(|k| i64::from(k) as u64))
}

/// ADD to NEG, BNOT to BROR.
pub(super) fn arith(b: &mut IrBuffer, ins: Ins) -> Rule {
    let unary = matches!(ins.op, Op::NEG | Op::BNOT | Op::BSWAP);
    let (x, y) = (operand(b, ins.a), if unary { Some(0) } else { operand(b, ins.b) });
    if let (Some(x), Some(y)) = (x, y)
        && let Some(k) = operate(ins, x, y)
    {
        return is(b.kword(k, ins.ty));
    }
    if unary {
        return match b.def(ins.a) {
            // --x = x, ~~x = x, bswap(bswap(x)) = x
            Some(i) if i.op == ins.op => is(i.a),
            _ => Ok(Fold::Keep),
        };
    }
    if let Some(k) = y {
        return by_constant(b, ins, k);
    }
    match ins.op {
        // x - x = 0, x ^ x = 0
        Op::SUB | Op::BXOR if ins.a == ins.b => is(b.kword(0, ins.ty)),
        // x & x = x, x | x = x
        Op::BAND | Op::BOR if ins.a == ins.b => is(ins.a),
        Op::ADD | Op::SUB => sum(b, ins),
        _ => Ok(Fold::Keep),
    }
}

/// x + k, as x and k.
fn offset(b: &IrBuffer, r: IrRef) -> Option<(IrRef, u64)> {
    let i = b.inner(r).filter(|i| i.op == Op::ADD && i.ty.is_word())?;
    b.as_word(i.b).map(|k| (i.a, k))
}

/// ADD, SUB of what is no constant. An object is only the operand of an ADD that gives an address inside of it.
fn sum(b: &mut IrBuffer, ins: Ins) -> Rule {
    let may_move = |b: &IrBuffer, r: IrRef| b.ty(r).is_word() || ins.op == Op::ADD && ins.ty == Ty::P64;
    if let Some((x, k)) = offset(b, ins.a)
        && may_move(b, x)
    {
        // (x + k) + y  =>  (x + y) + k,  (x + k) - y  =>  (x - y) + k
        let inner = b.emit(ins.op, ins.ty, x, ins.b)?;
        let k = b.kword(k, constant_ty(ins.ty));
        return like(Op::ADD, ins.ty, inner, k);
    }
    if let Some((y, k)) = offset(b, ins.b)
        && may_move(b, y)
    {
        // x + (y + k)  =>  (x + y) + k,  x - (y + k)  =>  (x - y) - k
        let inner = b.emit(ins.op, ins.ty, ins.a, y)?;
        let k = b.kword(k, constant_ty(ins.ty));
        return like(ins.op, ins.ty, inner, k);
    }
    Ok(Fold::Keep)
}

/// The type of a constant that is added: an offset of an address is an integer.
fn constant_ty(ty: Ty) -> Ty {
    if ty == Ty::P64 { Ty::I64 } else { ty }
}

/// The right operand is a constant.
fn by_constant(b: &mut IrBuffer, ins: Ins, k: u64) -> Rule {
    let x = ins.a;
    let shift = matches!(ins.op, Op::BSHL | Op::BSHR | Op::BSAR | Op::BROL | Op::BROR);
    match (ins.op, k) {
        // x + 0 = x, and so on
        (Op::ADD | Op::SUB | Op::BOR | Op::BXOR, 0) | (Op::MUL | Op::DIV | Op::POW, 1) | (Op::BAND, u64::MAX) => is(x),
        _ if shift && k & 63 == 0 => is(x),
        // x * 0 = 0, x & 0 = 0
        (Op::MUL | Op::BAND, 0) => is(b.kword(0, ins.ty)),
        // x - k  =>  x + -k
        (Op::SUB, _) => {
            let k = b.kword(k.wrapping_neg(), constant_ty(ins.ty));
            like(Op::ADD, ins.ty, x, k)
        }
        // (x + k1) + k  =>  x + (k1 + k)
        (Op::ADD, _) if let Some((x, k1)) = offset(b, x) => {
            let k = b.kword(k.wrapping_add(k1), constant_ty(ins.ty));
            like(Op::ADD, ins.ty, x, k)
        }
        // x * 2^n  =>  x << n
        (Op::MUL, _) if k.is_power_of_two() => {
            let n = b.kint(k.trailing_zeros() as i32);
            like(Op::BSHL, ins.ty, x, n)
        }
        // (x + k1) * k  =>  x * k + k1 * k
        (Op::MUL | Op::BSHL, _) if let Some((x, k1)) = offset(b, x) => {
            let scaled = b.emit(ins.op, ins.ty, x, ins.b)?;
            let k1 = if ins.op == Op::MUL { k1.wrapping_mul(k) } else { k1 << (k & 63) };
            let k = b.kword(k1, ins.ty);
            like(Op::ADD, ins.ty, scaled, k)
        }
        // x / 2^n  =>  x >>> n,  x % 2^n  =>  x & (2^n - 1), unsigned
        (Op::DIV, _) if ins.ty == Ty::U64 && k.is_power_of_two() => {
            let n = b.kint(k.trailing_zeros() as i32);
            like(Op::BSHR, ins.ty, x, n)
        }
        (Op::MOD, _) if ins.ty == Ty::U64 && k.is_power_of_two() => {
            let mask = b.kword(k - 1, ins.ty);
            like(Op::BAND, ins.ty, x, mask)
        }
        // (x & k1) & k  =>  x & (k1 & k)
        (Op::BAND, _)
            if let Some(i) = b.inner(x).filter(|i| i.op == Op::BAND)
                && let Some(k1) = b.as_word(i.b) =>
        {
            let k = b.kword(k & k1, ins.ty);
            like(Op::BAND, ins.ty, i.a, k)
        }
        _ => Ok(Fold::Keep),
    }
}
