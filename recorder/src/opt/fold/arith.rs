//! FOLD: arithmetic.

use super::{Fold, Rule, convert, holds, is, like, range};
use crate::ir::buffer::IrBuffer;
use crate::ir::{FpMath, Ins, IrRef, Op, Ty, conv};
use perilune_vm::meta;

/// The operation on two num constants.
fn num_const(op: Op, x: f64, y: f64) -> Option<f64> {
    Some(match op {
        Op::ADD => x + y,
        Op::SUB => x - y,
        Op::MUL => x * y,
        Op::DIV => x / y,
        Op::MOD => meta::lua_mod(x, y),
        Op::POW => meta::lua_pow(x, y),
        Op::MIN => {
            if y < x {
                y
            } else {
                x
            }
        }
        Op::MAX => {
            if y > x {
                y
            } else {
                x
            }
        }
        _ => return None,
    })
}

/// Is it a NaN that none of the operands is? The processor decides about its sign, which the FFI shows.
fn is_new_nan(v: f64, of_nan: bool) -> bool {
    v.is_nan() && !of_nan
}

/// ADD to MAX on nums.
pub(super) fn num(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if matches!(ins.op, Op::NEG | Op::ABS) {
        return num_unary(b, ins);
    }
    if let (Some(k), Some(m)) = (b.as_num(x), b.as_num(y))
        && let Some(v) = num_const(ins.op, k, m)
        && !is_new_nan(v, k.is_nan() || m.is_nan())
    {
        return is(b.knum(v));
    }
    if let Some(k) = b.as_num(y) {
        let r = num_by_const(b, ins, k)?;
        if r != Fold::Keep {
            return Ok(r);
        }
    }
    if ins.op == Op::LDEXP
        && let (Some(k), Some(n)) = (b.as_num(x), b.as_int(y))
    {
        return is(b.knum(perilune_vm::text::ldexp::ldexp(k, n)));
    }
    match ins.op {
        // min(x, x) = x, max(x, x) = x
        Op::MIN | Op::MAX if x == y => is(x),
        // ldexp(x, 0) = x
        Op::LDEXP if b.as_int(y) == Some(0) => is(x),
        // x + -y  =>  x - y
        Op::ADD if let Some(n) = b.is_op(y, Op::NEG) => like(Op::SUB, Ty::Num, x, n.a),
        // -x + y  =>  y - x
        Op::ADD if let Some(n) = b.is_op(x, Op::NEG) => like(Op::SUB, Ty::Num, y, n.a),
        // x - -y  =>  x + y
        Op::SUB if let Some(n) = b.is_op(y, Op::NEG) => like(Op::ADD, Ty::Num, x, n.a),
        // -x * -y  =>  x * y,  -x / -y  =>  x / y
        Op::MUL | Op::DIV => match (b.is_op(x, Op::NEG), b.is_op(y, Op::NEG)) {
            (Some(n), Some(m)) => like(ins.op, Ty::Num, n.a, m.a),
            _ => Ok(Fold::Keep),
        },
        _ => Ok(Fold::Keep),
    }
}

fn num_unary(b: &mut IrBuffer, ins: Ins) -> Rule {
    if let Some(k) = b.as_num(ins.a) {
        let v = if ins.op == Op::NEG { -k } else { k.abs() };
        return is(b.knum(v));
    }
    match (ins.op, b.def(ins.a)) {
        // --x = x
        (Op::NEG, Some(Ins { op: Op::NEG, a, .. })) => is(a),
        // ||x|| = |x|
        (Op::ABS, Some(Ins { op: Op::ABS, .. })) => is(ins.a),
        // |-x| = |x|
        (Op::ABS, Some(Ins { op: Op::NEG, a, .. })) => like(Op::ABS, Ty::Num, a, IrRef::NONE),
        _ => Ok(Fold::Keep),
    }
}

/// The right operand is a constant.
fn num_by_const(b: &mut IrBuffer, ins: Ins, k: f64) -> Rule {
    let x = ins.a;
    let bits = k.to_bits();
    match ins.op {
        // x + -0 = x, x - +0 = x (but -0 + 0 is 0)
        Op::ADD if bits == (-0.0f64).to_bits() => is(x),
        Op::SUB if bits == 0 => is(x),
        // x * 1 = x, x / 1 = x, x ^ 1 = x
        Op::MUL | Op::DIV | Op::POW if k == 1.0 => is(x),
        // x * -1 = -x, x / -1 = -x
        Op::MUL | Op::DIV if k == -1.0 => like(Op::NEG, Ty::Num, x, IrRef::NONE),
        // x * 2 = x + x
        Op::MUL if k == 2.0 => like(Op::ADD, Ty::Num, x, x),
        // x / 2^n = x * 2^-n
        Op::DIV if is_power_of_2(k) && is_power_of_2(1.0 / k) => {
            let r = b.knum(1.0 / k);
            like(Op::MUL, Ty::Num, x, r)
        }
        Op::MOD if is_power_of_2(k) && (1.0..=U32_SIZE).contains(&k) => num_low_bits(b, x, k),
        // x ^ 2 = x * x
        Op::POW if k == 2.0 => like(Op::MUL, Ty::Num, x, x),
        // x ^ 0 = 1
        Op::POW if k == 0.0 => is(b.knum(1.0)),
        _ => Ok(Fold::Keep),
    }
}

/// The number of values of a u32.
const U32_SIZE: f64 = 4_294_967_296.0;

/// An integer that was computed as num, modulo a power of two: its low bits.
fn num_low_bits(b: &mut IrBuffer, x: IrRef, k: f64) -> Rule {
    let Some(bits) = convert::exact_bits(b, x)? else { return Ok(Fold::Keep) };
    if k == U32_SIZE {
        // x % 2^32  =>  num(u32(x))
        return like(Op::CONV, Ty::Num, bits, IrRef(conv::pack(Ty::Num, Ty::U32, 0)));
    }
    // x % 2^n  =>  num(x & (2^n - 1))
    let mask = b.kint((k - 1.0) as i32);
    let low = b.emit(Op::BAND, Ty::Int, bits, mask)?;
    like(Op::CONV, Ty::Num, low, IrRef(conv::NUM_INT))
}

/// A normal power of two.
fn is_power_of_2(k: f64) -> bool {
    k.is_normal() && k.to_bits() << 12 == 0
}

/// The operation on two int constants, modulo 2^32.
pub(super) fn int_const(op: Op, x: i32, y: i32) -> Option<i32> {
    Some(match op {
        Op::ADD => x.wrapping_add(y),
        Op::SUB => x.wrapping_sub(y),
        Op::MUL => x.wrapping_mul(y),
        Op::MOD if y != 0 => {
            let r = x.wrapping_rem(y);
            if r != 0 && (r ^ y) < 0 { r + y } else { r }
        }
        Op::DIV if y > 0 => x.div_euclid(y),
        Op::MIN => x.min(y),
        Op::MAX => x.max(y),
        _ => return None,
    })
}

/// ADD to MAX on ints, modulo 2^32.
pub(super) fn int(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if ins.op == Op::NEG {
        return int_neg(b, x);
    }
    if let Some(k) = b.as_int(y) {
        if let Some(m) = b.as_int(x)
            && let Some(v) = int_const(ins.op, m, k)
        {
            return is(b.kint(v));
        }
        return int_by_const(b, ins, k);
    }
    let (dx, dy) = (b.inner(x), b.inner(y));
    match ins.op {
        // x - x = 0
        Op::SUB if x == y => is(b.kint(0)),
        // 0 - x  =>  -x
        Op::SUB if b.as_int(x) == Some(0) => like(Op::NEG, Ty::Int, y, IrRef::NONE),
        Op::MIN | Op::MAX if x == y => is(x),
        Op::MOD => by_quotient(b, x, y),
        // x + -y  =>  x - y
        Op::ADD if let Some(Ins { op: Op::NEG, a, .. }) = dy => like(Op::SUB, Ty::Int, x, a),
        // -x + y  =>  y - x
        Op::ADD if let Some(Ins { op: Op::NEG, a, .. }) = dx => like(Op::SUB, Ty::Int, y, a),
        // x - -y  =>  x + y
        Op::SUB if let Some(Ins { op: Op::NEG, a, .. }) = dy => like(Op::ADD, Ty::Int, x, a),
        // (x + y) - y = x, (x + y) - x = y
        Op::SUB
            if let Some(Ins { op: Op::ADD | Op::ADDOV, a, b: c, .. }) = dx
                && (y == a || y == c) =>
        {
            is(if y == a { c } else { a })
        }
        // (y - z) - y  =>  -z
        Op::SUB
            if let Some(Ins { op: Op::SUB | Op::SUBOV, a, b: z, .. }) = dx
                && y == a =>
        {
            like(Op::NEG, Ty::Int, z, IrRef::NONE)
        }
        // x - (x + z)  =>  -z
        Op::SUB
            if let Some(Ins { op: Op::ADD | Op::ADDOV, a, b: c, .. }) = dy
                && (x == a || x == c) =>
        {
            like(Op::NEG, Ty::Int, if x == a { c } else { a }, IrRef::NONE)
        }
        // (z - y) + y = z
        Op::ADD
            if let Some(Ins { op: Op::SUB | Op::SUBOV, a: z, b: c, .. }) = dx
                && y == c =>
        {
            is(z)
        }
        _ => Ok(Fold::Keep),
    }
}

fn int_neg(b: &mut IrBuffer, x: IrRef) -> Rule {
    if let Some(k) = b.as_int(x) {
        return is(b.kint(k.wrapping_neg()));
    }
    match b.def(x) {
        // --x = x
        Some(Ins { op: Op::NEG, a, .. }) => is(a),
        // -(x - y)  =>  y - x
        Some(Ins { op: Op::SUB, a, b: c, .. }) => like(Op::SUB, Ty::Int, c, a),
        _ => Ok(Fold::Keep),
    }
}

/// The x of x + k1, if k cancels k1.
fn cancelled(b: &IrBuffer, sum: IrRef, k: i32, ops: &[Op]) -> Option<IrRef> {
    let i = b.def(sum).filter(|i| ops.contains(&i.op) && i.ty == Ty::Int)?;
    (b.as_int(i.b)?.checked_neg() == Some(k)).then_some(i.a)
}

fn int_by_const(b: &mut IrBuffer, ins: Ins, k: i32) -> Rule {
    let x = ins.a;
    match ins.op {
        // x + 0 = x
        Op::ADD if k == 0 => is(x),
        // (x + k1) - k1 = x, also where rearranging does not pay: x is the value of an earlier iteration
        Op::ADD if let Some(x) = cancelled(b, x, k, &[Op::ADD, Op::ADDOV]) => is(x),
        // (x + k1) + k  =>  x + (k1 + k)
        Op::ADD
            if let Some(Ins { op: Op::ADD | Op::ADDOV, a, b: c, .. }) = b.inner(x)
                && let Some(k1) = b.as_int(c) =>
        {
            let sum = b.kint(k1.wrapping_add(k));
            like(Op::ADD, Ty::Int, a, sum)
        }
        // x - k  =>  x + -k
        Op::SUB => {
            let neg = b.kint(k.wrapping_neg());
            like(Op::ADD, Ty::Int, x, neg)
        }
        // x * 0 = 0
        Op::MUL if k == 0 => is(ins.b),
        // x * 1 = x
        Op::MUL if k == 1 => is(x),
        // x * -1  =>  -x
        Op::MUL if k == -1 => like(Op::NEG, Ty::Int, x, IrRef::NONE),
        // x * 2  =>  x + x
        Op::MUL if k == 2 => like(Op::ADD, Ty::Int, x, x),
        // x * 2^n  =>  x << n
        Op::MUL if (k as u32).is_power_of_two() => {
            let n = b.kint(k.trailing_zeros() as i32);
            like(Op::BSHL, Ty::Int, x, n)
        }
        // x mod 1 = 0, x mod -1 = 0
        Op::MOD if k == 1 || k == -1 => is(b.kint(0)),
        // x mod 2^n  =>  x & (2^n - 1)
        Op::MOD if k > 0 && (k as u32).is_power_of_two() => {
            let mask = b.kint(k - 1);
            like(Op::BAND, Ty::Int, x, mask)
        }
        // x mod k = x where 0 <= x < k
        Op::MOD if k > 0 && range::of(b, x).within(0, k - 1) => {
            range::rely(b, x)?;
            is(x)
        }
        // min(min(x, k1), k)  =>  min(x, min(k1, k))
        Op::MIN | Op::MAX
            if let Some(i) = b.inner(x).filter(|i| i.op == ins.op)
                && let Some(k1) = b.as_int(i.b) =>
        {
            let m = b.kint(if ins.op == Op::MIN { k1.min(k) } else { k1.max(k) });
            like(ins.op, Ty::Int, i.a, m)
        }
        _ => Ok(Fold::Keep),
    }
}

/// ADDOV, SUBOV, MULOV.
pub(super) fn checked(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    let (rx, ry) = (range::of(b, x), range::of(b, y));
    if let (Some(k), Some(m)) = (b.as_int(x), b.as_int(y)) {
        let v = match ins.op {
            Op::ADDOV => k.checked_add(m),
            Op::SUBOV => k.checked_sub(m),
            _ => k.checked_mul(m).filter(|&v| v != 0 || (k | m) >= 0),
        };
        return v.map_or(holds(false), |v| is(b.kint(v)));
    }
    // An operation that cannot overflow loses its guard.
    let plain = match ins.op {
        Op::ADDOV => rx.add(ry).is_int().then_some(Op::ADD),
        Op::SUBOV => rx.sub(ry).is_int().then_some(Op::SUB),
        _ => (rx.mul(ry).is_int() && rx.product_is_not_minus_zero(ry)).then_some(Op::MUL),
    };
    if let Some(op) = plain {
        range::rely(b, x)?;
        range::rely(b, y)?;
        return like(op, Ty::Int, x, y);
    }
    if let Some(k) = b.as_int(y) {
        return checked_by_const(b, ins, k);
    }
    match ins.op {
        // x - x = 0
        Op::SUBOV if x == y => is(b.kint(0)),
        // (x + y) - y = x, (x + y) - x = y, exactly
        Op::SUBOV
            if let Some(Ins { op: Op::ADDOV, a, b: c, .. }) = b.inner(x)
                && (y == a || y == c) =>
        {
            is(if y == a { c } else { a })
        }
        // (z - y) + y = z, exactly
        Op::ADDOV
            if let Some(Ins { op: Op::SUBOV, a: z, b: c, .. }) = b.inner(x)
                && y == c =>
        {
            is(z)
        }
        _ => Ok(Fold::Keep),
    }
}

fn checked_by_const(b: &mut IrBuffer, ins: Ins, k: i32) -> Rule {
    let x = ins.a;
    match ins.op {
        // (x + k1) + k  =>  x + (k1 + k), exactly
        Op::ADDOV
            if let Some(Ins { op: Op::ADDOV, a, b: c, .. }) = b.inner(x)
                && let Some(sum) = b.as_int(c).and_then(|k1| k1.checked_add(k)) =>
        {
            let sum = b.kint(sum);
            like(Op::ADDOV, Ty::Int, a, sum)
        }
        // x - k  =>  x + -k
        Op::SUBOV if let Some(neg) = k.checked_neg() => {
            let neg = b.kint(neg);
            like(Op::ADDOV, Ty::Int, x, neg)
        }
        // x * 2  =>  x + x
        Op::MULOV if k == 2 => like(Op::ADDOV, Ty::Int, x, x),
        // x * 0 = 0 where x is not negative (else it is -0)
        Op::MULOV if k == 0 => {
            b.emit(Op::GE, Ty::Int, x, ins.b)?;
            is(ins.b)
        }
        _ => Ok(Fold::Keep),
    }
}

/// FPMATH.
pub(super) fn math(b: &mut IrBuffer, ins: Ins) -> Rule {
    let rounding = |f: u16| f == FpMath::Floor as u16 || f == FpMath::Ceil as u16 || f == FpMath::Trunc as u16;
    let f = ins.b.0;
    if let Some(k) = b.as_num(ins.a) {
        let v = match f {
            _ if f == FpMath::Floor as u16 => k.floor(),
            _ if f == FpMath::Ceil as u16 => k.ceil(),
            _ if f == FpMath::Trunc as u16 => k.trunc(),
            _ if f == FpMath::Sqrt as u16 => k.sqrt(),
            _ => return Ok(Fold::Keep),
        };
        return is(b.knum(v));
    }
    if !rounding(f) {
        return Ok(Fold::Keep);
    }
    match b.def(ins.a) {
        // floor(x) = x if x is integral
        Some(Ins { op: Op::CONV, ty: Ty::Num, b: how, .. }) if how.0 & 31 != Ty::Float as u16 => is(ins.a),
        Some(Ins { op: Op::FPMATH, b: g, .. }) if rounding(g.0) => is(ins.a),
        Some(Ins { op: Op::MUL, a, b: k, .. }) if f == FpMath::Floor as u16 => match b.as_num(k) {
            Some(k) => num_shifted(b, a, k),
            None => Ok(Fold::Keep),
        },
        Some(Ins { op: Op::DIV, ty: Ty::Num, a, b: k, .. }) if f == FpMath::Floor as u16 => {
            match (b.int_source(a), b.as_num(k), b.int_source(k)) {
                (Some(x), Some(k), _) => quotient(b, x, k),
                (Some(x), None, Some(y)) if has_remainder(b, x, y) => {
                    let quotient = b.emit(Op::DIV, Ty::Int, x, y)?;
                    like(Op::CONV, Ty::Num, quotient, IrRef(conv::NUM_INT))
                }
                _ => Ok(Fold::Keep),
            }
        }
        _ => Ok(Fold::Keep),
    }
}

/// floor(x / k), where both are integers and k is a positive constant: a quotient of integers. The double next to x / k is not rounded to the
/// integer above, since x / k is at least 1 / k below it, which is more than 2^-31 of it.
fn quotient(b: &mut IrBuffer, x: IrRef, k: f64) -> Rule {
    if k != k.trunc() || !(1.0..=f64::from(i32::MAX)).contains(&k) {
        return Ok(Fold::Keep);
    }
    let k = b.kint(k as i32);
    let quotient = b.emit(Op::DIV, Ty::Int, x, k)?;
    like(Op::CONV, Ty::Num, quotient, IrRef(conv::NUM_INT))
}

/// Is there the remainder of two ints? Then the divisor is positive, and the machine's division has the quotient as well.
fn has_remainder(b: &IrBuffer, x: IrRef, y: IrRef) -> bool {
    let mut r = b.newest(Op::MOD);
    while r != IrRef::NONE {
        if b.def(r).is_some_and(|i| i.ty == Ty::Int && (i.a, i.b) == (x, y)) {
            return true;
        }
        r = b.older(r);
    }
    false
}

/// x % y of ints as x - q * y, if there is q = floor(x / y).
fn by_quotient(b: &mut IrBuffer, x: IrRef, y: IrRef) -> Rule {
    let mut r = b.newest(Op::FPMATH);
    while r != IrRef::NONE {
        let floor = b.is_op(r, Op::FPMATH).filter(|i| i.b.0 == FpMath::Floor as u16);
        let quotient = floor.and_then(|i| b.is_op(i.a, Op::DIV)).filter(|i| i.ty == Ty::Num);
        if quotient.is_some_and(|i| b.int_source(i.a) == Some(x) && b.int_source(i.b) == Some(y)) {
            let q = b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK))?;
            let product = b.emit(Op::MUL, Ty::Int, q, y)?;
            return like(Op::SUB, Ty::Int, x, product);
        }
        r = b.older(r);
    }
    Ok(Fold::Keep)
}

/// floor(x * k), where x is an integer and k is 2^-n: a shift.
fn num_shifted(b: &mut IrBuffer, x: IrRef, k: f64) -> Rule {
    let size = 1.0 / k;
    if !(is_power_of_2(size) && size > 1.0 && size < U32_SIZE) {
        return Ok(Fold::Keep);
    }
    // floor(x * 2^-n)  =>  num(x >> n), by the sign for an int
    let (op, source) = match (b.int_source(x), convert::u32_source(b, x)) {
        (Some(int), _) => (Op::BSAR, int),
        (None, Some(word)) => (Op::BSHR, word),
        (None, None) => return Ok(Fold::Keep),
    };
    let n = b.kint(size.log2() as i32);
    let shifted = b.emit(op, Ty::Int, source, n)?;
    like(Op::CONV, Ty::Num, shifted, IrRef(conv::NUM_INT))
}
