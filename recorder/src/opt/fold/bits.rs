//! FOLD: bit operations on ints.

use super::{Fold, Rule, is, like, range};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};

/// BNOT, BSWAP, BAND, BOR, BXOR.
pub(super) fn logic(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if ins.ty != Ty::Int {
        return Ok(Fold::Keep);
    }
    match ins.op {
        Op::BNOT => {
            if let Some(k) = b.as_int(x) {
                return is(b.kint(!k));
            }
            return match b.def(x) {
                // ~~x = x
                Some(Ins { op: Op::BNOT, a, .. }) => is(a),
                // ~(x ^ k)  =>  x ^ ~k
                Some(Ins { op: Op::BXOR, a, b: c, .. }) if let Some(k) = b.as_int(c) => {
                    let k = b.kint(!k);
                    like(Op::BXOR, Ty::Int, a, k)
                }
                _ => Ok(Fold::Keep),
            };
        }
        Op::BSWAP => {
            if let Some(k) = b.as_int(x) {
                return is(b.kint(k.swap_bytes()));
            }
            return match b.def(x) {
                // bswap(bswap(x)) = x
                Some(Ins { op: Op::BSWAP, a, .. }) => is(a),
                _ => Ok(Fold::Keep),
            };
        }
        _ => {}
    }
    if let Some(k) = b.as_int(y) {
        if let Some(m) = b.as_int(x) {
            return is(b.kint(match ins.op {
                Op::BAND => m & k,
                Op::BOR => m | k,
                _ => m ^ k,
            }));
        }
        return logic_by_const(b, ins, k);
    }
    match ins.op {
        // x & x = x, x | x = x, x ^ x = 0
        Op::BAND | Op::BOR if x == y => is(x),
        Op::BXOR if x == y => is(b.kint(0)),
        // (x ^ y) ^ y = x
        Op::BXOR
            if let Some(Ins { op: Op::BXOR, a, b: c, .. }) = b.inner(x)
                && (y == a || y == c) =>
        {
            is(if y == a { c } else { a })
        }
        _ => Ok(Fold::Keep),
    }
}

fn logic_by_const(b: &mut IrBuffer, ins: Ins, k: i32) -> Rule {
    let x = ins.a;
    match (ins.op, k) {
        // x & 0 = 0, x | -1 = -1
        (Op::BAND, 0) | (Op::BOR, -1) => return is(ins.b),
        // x & -1 = x, x | 0 = x, x ^ 0 = x
        (Op::BAND, -1) | (Op::BOR | Op::BXOR, 0) => return is(x),
        // x ^ -1  =>  ~x
        (Op::BXOR, -1) => return like(Op::BNOT, Ty::Int, x, IrRef::NONE),
        // x & k = x where 0 <= x <= k and k is 2^n - 1
        (Op::BAND, k) if k > 0 && k & k.wrapping_add(1) == 0 && range::of(b, x).within(0, k) => {
            range::rely(b, x)?;
            return is(x);
        }
        _ => {}
    }
    let Some(i) = b.inner(x) else { return Ok(Fold::Keep) };
    let Some(k1) = b.as_int(i.b) else { return Ok(Fold::Keep) };
    match (ins.op, i.op) {
        // (x op k1) op k  =>  x op (k1 op k)
        (Op::BAND, Op::BAND) => {
            let m = b.kint(k1 & k);
            like(Op::BAND, Ty::Int, i.a, m)
        }
        (Op::BOR, Op::BOR) => {
            let m = b.kint(k1 | k);
            like(Op::BOR, Ty::Int, i.a, m)
        }
        (Op::BXOR, Op::BXOR) => {
            let m = b.kint(k1 ^ k);
            like(Op::BXOR, Ty::Int, i.a, m)
        }
        // (x | k1) & k  =>  x & k where k1 & k = 0
        (Op::BAND, Op::BOR | Op::BXOR) if k1 & k == 0 => like(Op::BAND, Ty::Int, i.a, ins.b),
        // (x & k1) | k  =>  x | k where k1 | k = -1
        (Op::BOR, Op::BAND) if k1 | k == -1 => like(Op::BOR, Ty::Int, i.a, ins.b),
        // (x >>> k1) & k  =>  x >>> k1 where k keeps all bits that may be set
        (Op::BAND, Op::BSHR) if !k & (u32::MAX >> (k1 & 31)) as i32 == 0 => is(x),
        // (x << k1) & k  =>  x << k1, under the same condition
        (Op::BAND, Op::BSHL) if !k & (u32::MAX << (k1 & 31)) as i32 == 0 => is(x),
        // (x >> k1) & k  =>  (x >>> k1) & k where k drops the copies of the sign
        (Op::BAND, Op::BSAR) if k & !((u32::MAX >> (k1 & 31)) as i32) == 0 => {
            let r = b.emit(Op::BSHR, Ty::Int, i.a, i.b)?;
            like(Op::BAND, Ty::Int, r, ins.b)
        }
        _ => Ok(Fold::Keep),
    }
}

fn shift_const(op: Op, x: i32, n: u32) -> i32 {
    match op {
        Op::BSHL => x << n,
        Op::BSHR => (x as u32 >> n) as i32,
        Op::BSAR => x >> n,
        Op::BROL => x.rotate_left(n),
        _ => x.rotate_right(n),
    }
}

/// BSHL, BSHR, BSAR, BROL, BROR.
pub(super) fn shift(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    if ins.ty != Ty::Int {
        return Ok(Fold::Keep);
    }
    if let Some(k) = b.as_int(y) {
        let n = k as u32 & 31;
        return match b.as_int(x) {
            Some(m) => is(b.kint(shift_const(ins.op, m, n))),
            None => shift_by_const(b, ins, k, n),
        };
    }
    match ins.op {
        // 0 << n = 0, and so on; -1 is unchanged by shifts that fill with ones
        _ if b.as_int(x) == Some(0) => return is(x),
        Op::BSAR | Op::BROL | Op::BROR if b.as_int(x) == Some(-1) => return is(x),
        _ => {}
    }
    match b.def(y) {
        // x << (n & 31)  =>  x << n
        Some(Ins { op: Op::BAND, a, b: c, .. }) if b.as_int(c).is_some_and(|m| m & 31 == 31) => like(ins.op, Ty::Int, x, a),
        // x << (n + 32)  =>  x << n
        Some(Ins { op: Op::ADD | Op::ADDOV, a, b: c, .. }) if b.as_int(c).is_some_and(|m| m & 31 == 0) => {
            like(ins.op, Ty::Int, x, a)
        }
        // rol(x, -n)  =>  ror(x, n)
        Some(Ins { op: Op::NEG, a, .. }) if ins.op == Op::BROL => like(Op::BROR, Ty::Int, x, a),
        Some(Ins { op: Op::NEG, a, .. }) if ins.op == Op::BROR => like(Op::BROL, Ty::Int, x, a),
        _ => Ok(Fold::Keep),
    }
}

/// Shifts by a constant; `n` is the constant modulo 32.
fn shift_by_const(b: &mut IrBuffer, ins: Ins, k: i32, n: u32) -> Rule {
    let x = ins.a;
    if n == 0 {
        return is(x);
    }
    if ins.op == Op::BROR {
        // ror(x, n)  =>  rol(x, 32 - n)
        let m = b.kint(32 - n as i32);
        return like(Op::BROL, Ty::Int, x, m);
    }
    if k != n as i32 {
        let m = b.kint(n as i32);
        return like(ins.op, Ty::Int, x, m);
    }
    let Some(i) = b.inner(x) else { return Ok(Fold::Keep) };
    let Some(n1) = b.as_int(i.b).map(|k| k as u32 & 31) else { return Ok(Fold::Keep) };
    match (ins.op, i.op) {
        // (x << n1) << n  =>  x << (n1 + n), 0 from 32 on
        (Op::BSHL, Op::BSHL) | (Op::BSHR, Op::BSHR) if n1 + n > 31 => is(b.kint(0)),
        (Op::BSHL, Op::BSHL) | (Op::BSHR, Op::BSHR) => {
            let m = b.kint((n1 + n) as i32);
            like(ins.op, Ty::Int, i.a, m)
        }
        // (x >> n1) >> n  =>  x >> (n1 + n), at most 31
        (Op::BSAR, Op::BSAR) => {
            let m = b.kint((n1 + n).min(31) as i32);
            like(Op::BSAR, Ty::Int, i.a, m)
        }
        // rol(rol(x, n1), n)  =>  rol(x, n1 + n)
        (Op::BROL, Op::BROL) => {
            let m = b.kint(((n1 + n) & 31) as i32);
            like(Op::BROL, Ty::Int, i.a, m)
        }
        // (x << n) >>> n  =>  x & mask
        (Op::BSHR, Op::BSHL) if n1 == n => {
            let m = b.kint((u32::MAX >> n) as i32);
            like(Op::BAND, Ty::Int, i.a, m)
        }
        // (x >>> n) << n, (x >> n) << n  =>  x & mask
        (Op::BSHL, Op::BSHR | Op::BSAR) if n1 == n => {
            let m = b.kint((u32::MAX << n) as i32);
            like(Op::BAND, Ty::Int, i.a, m)
        }
        _ => Ok(Fold::Keep),
    }
}
