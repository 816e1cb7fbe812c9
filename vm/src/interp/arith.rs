//! Arithmetic, bit and unary instructions.
//!
//! Numbers are dual: two integers give an integer unless it overflows (or would be -0), everything else is done in doubles.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

pub(super) use super::meta_call::CAT;
use super::meta_call::{slow_arith, slow_bit, slow_len, slow_unm};
use super::{Driver, Handler, R, op, slot, way};
use crate::bc::Op;
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
    let product = a.checked_mul(b)?;
    if product == 0 {
        core::hint::cold_path();
        if (a | b) < 0 {
            return None;
        }
    }
    Some(product)
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
#[inline(always)]
fn div_num(a: f64, b: f64) -> f64 {
    a / b
}

/// One arithmetic instruction on `b` and `c`, numbers of either form. Where the result of two integers is none, and for operands that are no
/// numbers, it is another handler, so that this one saves no registers.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn arith<D: Driver>(r: R, b: *const Value, c: *const Value, int: IntOp, num: NumOp, otherwise: Handler) -> u32 {
    if slot::upper(b) == slot::INT {
        if slot::upper(c) == slot::INT {
            if let Some(i) = int(slot::int(b), slot::int(c)) {
                *r.ra() = Value::int(i);
                return r.next::<D>();
            }
        } else if slot::upper(c) < slot::INT {
            *r.ra() = Value::num(num(slot::converted(slot::int(b)), slot::num(c)));
            return r.next_by::<D, { way::FIRST_INT }>();
        }
    } else if slot::upper(b) < slot::INT {
        if slot::upper(c) < slot::INT {
            *r.ra() = Value::num(num(slot::num(b), slot::num(c)));
            return r.next_by::<D, { way::DOUBLE }>();
        }
        if slot::upper(c) == slot::INT {
            *r.ra() = Value::num(num(slot::num(b), slot::converted(slot::int(c))));
            return r.next_by::<D, { way::SECOND_INT }>();
        }
    }
    r.to(otherwise)
}

/// One arithmetic instruction on numbers of any form, in doubles.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn in_doubles<D: Driver>(r: R, b: *const Value, c: *const Value, num: NumOp) -> u32 {
    // One after the other: both at once would take more registers than there are.
    let Some(x) = slot::as_double(b) else { return r.to(slow_arith::<D>) };
    let Some(y) = slot::as_double(c) else { return r.to(slow_arith::<D>) };
    *r.ra() = Value::num(num(x, y));
    r.next_by::<D, { way::DOUBLE }>()
}

/// Are both numbers?
///
/// # Safety
/// `b` and `c` point to values.
#[inline(always)]
pub(super) unsafe fn are_numbers(b: *const Value, c: *const Value) -> bool {
    slot::upper(b) <= slot::INT && slot::upper(c) <= slot::INT
}

/// A number as an integer, if an `i32` holds it.
///
/// # Safety
/// `p` points to a value.
#[inline(always)]
unsafe fn integral(p: *const Value) -> Option<i32> {
    let upper = slot::upper(p);
    if upper == slot::INT {
        return Some(slot::int(p));
    }
    let x = slot::num(p);
    let i = tobit(x);
    (upper < slot::INT && f64::from(i) == x).then_some(i)
}

/// Modulo. For integers in either form, without a division of doubles; the result is an int if both are, as in compiled code.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn modulo<D: Driver>(r: R, b: *const Value, c: *const Value) -> u32 {
    if let Some(x) = integral(b)
        && let Some(y) = integral(c)
        && let Some(m) = mod_int(x, y)
    {
        *r.ra() = Value::int(m);
        return r.next::<D>();
    }
    r.to(modulo_num::<D>)
}

op! {
    /// Modulo of doubles that are not integral; of `b` and `c` whose handler the instruction names.
    #[inline(never)]
    modulo_num<D>(r) {
        let (b, c) = match r.i().op() {
            Op::MODVN => (r.rb().cast_const(), r.kn(r.c())),
            Op::MODNV => (r.kn(r.c()), r.rb().cast_const()),
            _ => (r.rb().cast_const(), r.rc().cast_const()),
        };
        if !are_numbers(b, c) {
            return r.to(slow_arith::<D>);
        }
        *r.ra() = Value::num(lua_mod(slot::number(b), slot::number(c)));
        r.next::<D>()
    }
}

/// Handlers for numbers, and for those operands that they leave to another handler.
macro_rules! arith_ops {
    ($($vn:ident $vn_mixed:ident $nv:ident $nv_mixed:ident $vv:ident $vv_mixed:ident $int:ident $num:ident;)*) => {
        $(op! {
            $vn<D>(r) { arith::<D>(r, r.rb(), r.kn(r.c()), $int, $num, $vn_mixed::<D>) }
            $nv<D>(r) { arith::<D>(r, r.kn(r.c()), r.rb(), $int, $num, $nv_mixed::<D>) }
            $vv<D>(r) { arith::<D>(r, r.rb(), r.rc(), $int, $num, $vv_mixed::<D>) }
            #[inline(never)]
            $vn_mixed<D>(r) { in_doubles::<D>(r, r.rb(), r.kn(r.c()), $num) }
            #[inline(never)]
            $nv_mixed<D>(r) { in_doubles::<D>(r, r.kn(r.c()), r.rb(), $num) }
            #[inline(never)]
            $vv_mixed<D>(r) { in_doubles::<D>(r, r.rb(), r.rc(), $num) }
        })*
    };
}
arith_ops! {
    ADDVN ADDVN_mixed ADDNV ADDNV_mixed ADDVV ADDVV_mixed add_int add_num;
    SUBVN SUBVN_mixed SUBNV SUBNV_mixed SUBVV SUBVV_mixed sub_int sub_num;
    MULVN MULVN_mixed MULNV MULNV_mixed MULVV MULVV_mixed mul_int mul_num;
}

/// An operand of the bit instructions, a number, normalised to 32 bits.
///
/// # Safety
/// `p` points to a number.
#[inline(always)]
pub(super) unsafe fn bits(p: *const Value) -> i32 {
    if slot::upper(p) == slot::INT { slot::int(p) } else { tobit(slot::num(p)) }
}

/// A bit operation on integers; on other operands by another handler.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn bitop<D: Driver>(r: R, f: fn(i32, i32) -> i32, otherwise: Handler) -> u32 {
    if slot::upper(r.rb()) == slot::INT && slot::upper(r.rc()) == slot::INT {
        *r.ra() = Value::int(f(slot::int(r.rb()), slot::int(r.rc())));
        return r.next::<D>();
    }
    r.to(otherwise)
}

macro_rules! bit_ops {
    ($($name:ident $mixed:ident $f:expr;)*) => {
        $(op! {
            $name<D>(r) { bitop::<D>(r, $f, $mixed::<D>) }
            #[inline(never)]
            $mixed<D>(r) {
                if !are_numbers(r.rb(), r.rc()) {
                    return r.to(slow_bit::<D>);
                }
                let f: fn(i32, i32) -> i32 = $f;
                *r.ra() = Value::int(f(bits(r.rb()), bits(r.rc())));
                r.next::<D>()
            }
        })*
    };
}
bit_ops! {
    BAND BAND_mixed |a, b| a & b;
    BOR BOR_mixed |a, b| a | b;
    BXOR BXOR_mixed |a, b| a ^ b;
    BSHL BSHL_mixed |a, b| a.wrapping_shl(b as u32);
    BSHR BSHR_mixed |a, b| (a as u32).wrapping_shr(b as u32) as i32;
    BSAR BSAR_mixed |a, b| a.wrapping_shr(b as u32);
}

op! {
    MODVN<D>(r) { modulo::<D>(r, r.rb(), r.kn(r.c())) }
    MODNV<D>(r) { modulo::<D>(r, r.kn(r.c()), r.rb()) }
    MODVV<D>(r) { modulo::<D>(r, r.rb(), r.rc()) }
    DIVVN<D>(r) { in_doubles::<D>(r, r.rb(), r.kn(r.c()), div_num) }
    DIVNV<D>(r) { in_doubles::<D>(r, r.kn(r.c()), r.rb(), div_num) }
    DIVVV<D>(r) { in_doubles::<D>(r, r.rb(), r.rc(), div_num) }
    POW<D>(r) { in_doubles::<D>(r, r.rb(), r.rc(), lua_pow) }

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
        if let Some(t) = v.as_table()
            && let Some(border) = t.border_near_last()
        {
            t.border.set(border);
            *r.ra() = Value::int(border as i32);
            return r.next::<D>();
        }
        r.to(len_anywhere::<D>)
    }
    /// The length of a table whose border is not near the last one, and of all else.
    #[inline(never)]
    len_anywhere<D>(r) {
        if let Some(t) = (*r.rd()).as_table() {
            *r.ra() = Value::int(t.border_anywhere() as i32);
            return r.next::<D>();
        }
        r.to(slow_len::<D>)
    }
    BNOT<D>(r) {
        if slot::upper(r.rd()) > slot::INT {
            return r.to(slow_bit::<D>);
        }
        *r.ra() = Value::int(!bits(r.rd()));
        r.next::<D>()
    }
}
