//! Arithmetic, bit and unary instructions.
//!
//! Numbers are dual: two integers give an integer unless it overflows (or would be -0), everything else is done in doubles.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

pub(super) use super::meta_call::CAT;
use super::meta_call::{slow_arith, slow_bit, slow_len, slow_unm};
use super::{Driver, Handler, R, op};
use crate::meta::{lua_mod, lua_pow, tobit};
use crate::value::Value;

type IntOp = fn(i32, i32) -> Option<i32>;
type NumOp = fn(f64, f64) -> f64;

#[inline(always)]
fn add_int(a: i32, b: i32) -> Option<i32> {
    a.checked_add(b)
}
#[inline(always)]
fn sub_int(a: i32, b: i32) -> Option<i32> {
    a.checked_sub(b)
}
#[inline(always)]
fn mul_int(a: i32, b: i32) -> Option<i32> {
    match a.checked_mul(b) {
        Some(0) if (a | b) < 0 => None,
        x => x,
    }
}
#[inline(always)]
fn mod_int(a: i32, b: i32) -> Option<i32> {
    if b > 0 && b & (b - 1) == 0 {
        return Some(a & (b - 1));
    }
    if b == 0 {
        return None;
    }
    let m = a.wrapping_rem(b);
    Some(if m != 0 && (m ^ b) < 0 { m + b } else { m })
}
#[inline(always)]
fn none_int(_: i32, _: i32) -> Option<i32> {
    None
}
#[inline(always)]
fn add_num(a: f64, b: f64) -> f64 {
    a + b
}
#[inline(always)]
fn sub_num(a: f64, b: f64) -> f64 {
    a - b
}
#[inline(always)]
fn mul_num(a: f64, b: f64) -> f64 {
    a * b
}

/// One arithmetic instruction on `b` and `c`.
#[inline(always)]
unsafe fn arith<D: Driver>(r: R, b: Value, c: Value, int: IntOp, num: NumOp, slow: Handler) -> u32 {
    let (x, y);
    if b.is_int() {
        if c.is_int() {
            if let Some(i) = int(b.as_int_unchecked(), c.as_int_unchecked()) {
                *r.ra() = Value::int(i);
                return r.next::<D>();
            }
            return r.to(slow);
        }
        if !c.is_num() {
            return r.to(slow);
        }
        x = f64::from(b.as_int_unchecked());
        y = c.as_num_unchecked();
    } else if b.is_num() {
        x = b.as_num_unchecked();
        if c.is_num() {
            y = c.as_num_unchecked();
        } else if c.is_int() {
            y = f64::from(c.as_int_unchecked());
        } else {
            return r.to(slow);
        }
    } else {
        return r.to(slow);
    }
    *r.ra() = Value::num(num(x, y));
    r.next::<D>()
}

/// Division: always in doubles.
#[inline(always)]
unsafe fn divide<D: Driver>(r: R, b: Value, c: Value) -> u32 {
    if !b.is_number() || !c.is_number() {
        return r.to(slow_arith::<D>);
    }
    let x = if b.is_num() { b.as_num_unchecked() } else { f64::from(b.as_int_unchecked()) };
    let y = if c.is_num() { c.as_num_unchecked() } else { f64::from(c.as_int_unchecked()) };
    *r.ra() = Value::num(x / y);
    r.next::<D>()
}

/// A number as an integer, if an `i32` holds it.
#[inline(always)]
fn integral(v: Value) -> Option<i32> {
    if v.is_int() {
        return Some(v.as_int_unchecked());
    }
    let x = v.as_num_unchecked();
    let i = tobit(x);
    (v.is_num() && f64::from(i) == x).then_some(i)
}

/// Modulo. For integers in either form, without a division of doubles.
#[inline(always)]
unsafe fn modulo<D: Driver>(r: R, b: Value, c: Value) -> u32 {
    if let Some(x) = integral(b)
        && let Some(y) = integral(c)
        && let Some(m) = mod_int(x, y)
    {
        *r.ra() = Value::int(m);
        return r.next::<D>();
    }
    if !b.is_number() || !c.is_number() {
        return r.to(slow_arith::<D>);
    }
    let x = if b.is_num() { b.as_num_unchecked() } else { f64::from(b.as_int_unchecked()) };
    let y = if c.is_num() { c.as_num_unchecked() } else { f64::from(c.as_int_unchecked()) };
    *r.ra() = Value::num(lua_mod(x, y));
    r.next::<D>()
}

macro_rules! arith_ops {
    ($($vn:ident $nv:ident $vv:ident $int:ident $num:ident;)*) => {
        $(op! {
            $vn<D>(r) { arith::<D>(r, *r.rb(), r.knum(r.c()), $int, $num, slow_arith::<D>) }
            $nv<D>(r) { arith::<D>(r, r.knum(r.c()), *r.rb(), $int, $num, slow_arith::<D>) }
            $vv<D>(r) { arith::<D>(r, *r.rb(), *r.rc(), $int, $num, slow_arith::<D>) }
        })*
    };
}
arith_ops! {
    ADDVN ADDNV ADDVV add_int add_num;
    SUBVN SUBNV SUBVV sub_int sub_num;
    MULVN MULNV MULVV mul_int mul_num;
}

/// Operands of the bit instructions: numbers, normalised to 32 bits.
#[inline(always)]
fn bits(v: Value) -> Option<i32> {
    if v.is_int() {
        Some(v.as_int_unchecked())
    } else if v.is_num() {
        Some(tobit(v.as_num_unchecked()))
    } else {
        None
    }
}

#[inline(always)]
unsafe fn bitop<D: Driver>(r: R, f: fn(i32, i32) -> i32) -> u32 {
    match (bits(*r.rb()), bits(*r.rc())) {
        (Some(x), Some(y)) => {
            *r.ra() = Value::int(f(x, y));
            r.next::<D>()
        }
        _ => r.to(slow_bit::<D>),
    }
}

op! {
    DIVVN<D>(r) { divide::<D>(r, *r.rb(), r.knum(r.c())) }
    DIVNV<D>(r) { divide::<D>(r, r.knum(r.c()), *r.rb()) }
    DIVVV<D>(r) { divide::<D>(r, *r.rb(), *r.rc()) }
    MODVN<D>(r) { modulo::<D>(r, *r.rb(), r.knum(r.c())) }
    MODNV<D>(r) { modulo::<D>(r, r.knum(r.c()), *r.rb()) }
    MODVV<D>(r) { modulo::<D>(r, *r.rb(), *r.rc()) }
    POW<D>(r) { arith::<D>(r, *r.rb(), *r.rc(), none_int, lua_pow, slow_arith::<D>) }

    NOT<D>(r) {
        *r.ra() = Value::bool(!(*r.rd()).truthy());
        r.next::<D>()
    }
    UNM<D>(r) {
        let v = *r.rd();
        if v.is_int() {
            let i = v.as_int_unchecked();
            if i != 0 && i != i32::MIN {
                *r.ra() = Value::int(-i);
            } else {
                *r.ra() = Value::num(-f64::from(i));
            }
            return r.next::<D>();
        }
        if v.is_num() {
            *r.ra() = Value::num(-v.as_num_unchecked());
            return r.next::<D>();
        }
        r.to(slow_unm::<D>)
    }
    LEN<D>(r) {
        let v = *r.rd();
        if let Some(s) = v.as_str() {
            *r.ra() = Value::int(s.len() as i32);
            return r.next::<D>();
        }
        if let Some(t) = v.as_table() {
            *r.ra() = Value::int(t.len() as i32);
            return r.next::<D>();
        }
        r.to(slow_len::<D>)
    }
    BNOT<D>(r) {
        match bits(*r.rd()) {
            Some(x) => {
                *r.ra() = Value::int(!x);
                r.next::<D>()
            }
            None => r.to(slow_bit::<D>),
        }
    }
    BAND<D>(r) { bitop::<D>(r, |a, b| a & b) }
    BOR<D>(r) { bitop::<D>(r, |a, b| a | b) }
    BXOR<D>(r) { bitop::<D>(r, |a, b| a ^ b) }
    BSHL<D>(r) { bitop::<D>(r, |a, b| a.wrapping_shl(b as u32)) }
    BSHR<D>(r) { bitop::<D>(r, |a, b| (a as u32).wrapping_shr(b as u32) as i32) }
    BSAR<D>(r) { bitop::<D>(r, |a, b| a.wrapping_shr(b as u32)) }
}
