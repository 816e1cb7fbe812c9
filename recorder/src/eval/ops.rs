//! Evaluates arithmetic, comparisons and conversions.

use super::{Eval, Step, guard};
use crate::ir::word::operate;
use crate::ir::{FpMath, Ins, IrRef, Op, Ty, conv as mode};
use core::cmp::Ordering;
use perilune_vm::ffi::int64;
use perilune_vm::helper::Helper;
use perilune_vm::meta;

/// LT to NE, ABC.
pub(super) fn compare(e: &Eval<'_>, ins: Ins) -> Step {
    let (x, y) = (e.val(ins.a), e.val(ins.b));
    let ok = match ins.op {
        Op::ABC => (y as u32) < x as u32,
        op if ins.ty.is_pri() => (e.t.ty(ins.a) == e.t.ty(ins.b)) == (op == Op::EQ),
        op if ins.ty == Ty::Num => holds(op, f64::from_bits(x).partial_cmp(&f64::from_bits(y))),
        op => {
            let unsigned = matches!(op, Op::ULT | Op::UGE | Op::ULE | Op::UGT);
            let order = match ins.ty {
                Ty::Int | Ty::I8 | Ty::I16 if !unsigned => (x as i32).cmp(&(y as i32)),
                Ty::I64 if !unsigned => (x as i64).cmp(&(y as i64)),
                _ => x.cmp(&y),
            };
            holds(op, Some(order))
        }
    };
    guard(ok)?;
    Ok(0)
}

/// Does a comparison accept this order? The U forms accept unordered nums.
fn holds(op: Op, order: Option<Ordering>) -> bool {
    let Some(o) = order else { return matches!(op, Op::ULT | Op::UGE | Op::ULE | Op::UGT | Op::NE) };
    match op {
        Op::LT | Op::ULT => o.is_lt(),
        Op::GE | Op::UGE => o.is_ge(),
        Op::LE | Op::ULE => o.is_le(),
        Op::GT | Op::UGT => o.is_gt(),
        Op::EQ => o.is_eq(),
        _ => o.is_ne(),
    }
}

/// BNOT to MULOV.
pub(super) fn arith(e: &mut Eval<'_>, ins: Ins) -> Step {
    match ins.ty {
        Ty::Num => num(e, ins),
        ty if ty.is_word() => Ok(word(e, ins)),
        _ => int(e, ins).map(|v| u64::from(v as u32)),
    }
}

fn word(e: &Eval<'_>, ins: Ins) -> u64 {
    let wide = |r: IrRef| if e.t.ty(r).is_int() { i64::from(e.int(r)) as u64 } else { e.val(r) };
    let unary = matches!(ins.op, Op::NEG | Op::BNOT | Op::BSWAP);
    let (x, y) = (wide(ins.a), if unary { 0 } else { wide(ins.b) });
    operate(ins, x, y).unwrap_or_else(|| unreachable!("{} on words", ins.op.name()))
}

fn num(e: &mut Eval<'_>, ins: Ins) -> Step {
    let x = e.num(ins.a);
    let y = if ins.op == Op::FPMATH { 0.0 } else { e.num(ins.b) };
    let value = match ins.op {
        Op::ADD => x + y,
        Op::SUB => x - y,
        Op::MUL => x * y,
        Op::DIV => x / y,
        Op::MOD => meta::lua_mod(x, y),
        Op::NEG => -x,
        Op::ABS => x.abs(),
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
        Op::POW => return Ok(e.call(Helper::Pow, &[e.val(ins.a), e.val(ins.b)])),
        Op::LDEXP => return Ok(e.call(Helper::Ldexp, &[e.val(ins.a), e.val(ins.b)])),
        Op::FPMATH => return math(e, ins),
        op => unreachable!("{} on nums", op.name()),
    };
    Ok(value.to_bits())
}

fn math(e: &mut Eval<'_>, ins: Ins) -> Step {
    let (x, word) = (e.num(ins.a), e.val(ins.a));
    let is = |f: FpMath| ins.b.0 == f as u16;
    Ok(if is(FpMath::Floor) {
        x.floor().to_bits()
    } else if is(FpMath::Ceil) {
        x.ceil().to_bits()
    } else if is(FpMath::Trunc) {
        x.trunc().to_bits()
    } else if is(FpMath::Sqrt) {
        x.sqrt().to_bits()
    } else if is(FpMath::Log) {
        e.call(Helper::Log, &[word])
    } else if is(FpMath::Log2) {
        e.call(Helper::Log2, &[word])
    } else {
        e.call(Helper::Exp, &[word])
    })
}

/// ADDOV, SUBOV of instruction `i`, and a MULOV that is a term of a sum.
pub(super) fn sum(e: &Eval<'_>, i: usize, ins: Ins) -> Step {
    let is_wide = |r: IrRef| !r.is_const() && e.wide[r.ins_index()];
    let term = |r: IrRef| if is_wide(r) { e.val(r) as i64 } else { i64::from(e.int(r)) };
    let (x, y) = (term(ins.a), term(ins.b));
    let sum = match ins.op {
        Op::ADDOV => x + y,
        Op::SUBOV => x - y,
        _ => x * y,
    };
    if e.wide[i] {
        return Ok(sum as u64);
    }
    guard(i32::try_from(sum).is_ok())?;
    Ok(u64::from(sum as u32))
}

fn int(e: &Eval<'_>, ins: Ins) -> Result<i32, super::Leave> {
    let (x, y) = (e.int(ins.a), e.int(ins.b));
    let n = y as u32 & 31;
    Ok(match ins.op {
        Op::BNOT => !x,
        Op::BSWAP => x.swap_bytes(),
        Op::BAND => x & y,
        Op::BOR => x | y,
        Op::BXOR => x ^ y,
        Op::BSHL => x << n,
        Op::BSHR => (x as u32 >> n) as i32,
        Op::BSAR => x >> n,
        Op::BROL => x.rotate_left(n),
        Op::BROR => x.rotate_right(n),
        Op::ADD => x.wrapping_add(y),
        Op::SUB => x.wrapping_sub(y),
        Op::MUL => x.wrapping_mul(y),
        Op::MOD => {
            let r = x.wrapping_rem(y);
            if r != 0 && (r ^ y) < 0 { r + y } else { r }
        }
        Op::DIV => x.div_euclid(y),
        Op::NEG => x.wrapping_neg(),
        Op::ABS => x.wrapping_abs(),
        Op::MIN => x.min(y),
        Op::MAX => x.max(y),
        Op::MULOV => {
            let v = x.checked_mul(y).ok_or(super::Leave)?;
            guard(v != 0 || (x | y) >= 0)?;
            v
        }
        op => unreachable!("{} on ints", op.name()),
    })
}

/// CONV.
pub(super) fn conv(e: &Eval<'_>, ins: Ins) -> Step {
    let ty = |n: u16| Ty::ALL[usize::from(n & 31)];
    let (src, dst) = (ty(ins.b.0), ty(ins.b.0 >> 5));
    let word = e.val(ins.a);
    let real = |ty: Ty| if ty == Ty::Float { f64::from(f32::from_bits(word as u32)) } else { f64::from_bits(word) };
    match (src, dst) {
        (_, Ty::Num) if src.is_float() => return Ok(real(src).to_bits()),
        (_, Ty::Float) if src.is_float() => return Ok(u64::from((real(src) as f32).to_bits())),
        (_, Ty::Num) => {
            let n = match src {
                Ty::I64 => word as i64 as f64,
                Ty::U64 | Ty::P64 => word as f64,
                Ty::U32 => f64::from(word as u32),
                _ => f64::from(word as i32),
            };
            return Ok(n.to_bits());
        }
        (_, Ty::Float) => {
            let n = match src {
                Ty::I64 => word as i64 as f32,
                Ty::U64 | Ty::P64 => word as f32,
                Ty::U32 => word as u32 as f32,
                _ => word as i32 as f32,
            };
            return Ok(u64::from(n.to_bits()));
        }
        _ if src.is_float() => return num_to_int(real(src), ins, dst),
        _ => {}
    }
    let from = match src {
        Ty::I64 | Ty::U64 | Ty::P64 => word,
        _ if ins.b.0 & mode::SEXT != 0 => i64::from(word as i32) as u64,
        _ => u64::from(word as u32),
    };
    Ok(narrow(from, dst))
}

fn num_to_int(n: f64, ins: Ins, dst: Ty) -> Step {
    match dst {
        Ty::Int => {
            let i = n as i32;
            if ins.b.0 & mode::MODE == mode::BITS {
                guard(n == n.trunc() && n.abs() <= mode::MOST)?;
                return Ok(u64::from(perilune_vm::meta::tobit(n) as u32));
            }
            if ins.is_guard() {
                let back = f64::from(i);
                let strict = ins.b.0 & mode::MODE == mode::CHECK;
                guard(if strict { back.to_bits() == n.to_bits() } else { back == n })?;
            }
            Ok(u64::from(i as u32))
        }
        Ty::U64 => Ok(int64::unsigned_from_num(n)),
        Ty::I64 if ins.b.0 & mode::MODE == mode::INDEX => Ok(int64::index_from_num(n) as u64),
        _ => Ok(narrow(int64::from_num(n) as u64, dst)),
    }
}

/// Truncates to a narrow type and extends again to 32 bits.
pub(super) fn narrow(word: u64, dst: Ty) -> u64 {
    match dst {
        Ty::I8 => u64::from(word as i8 as i32 as u32),
        Ty::U8 => u64::from(word as u8),
        Ty::I16 => u64::from(word as i16 as i32 as u32),
        Ty::U16 => u64::from(word as u16),
        Ty::Int | Ty::U32 => u64::from(word as u32),
        _ => word,
    }
}
