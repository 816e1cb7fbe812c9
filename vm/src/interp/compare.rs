//! Comparisons and tests: each is followed by a JMP, taken when the condition holds.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

use super::meta_call::{slow_compare, slow_equal};
use super::{Driver, Handler, R, op, slot};
use crate::meta::MM;
use crate::object::{Gc, Table};
use crate::value::{TAG_CDATA, TAG_INT, TAG_STR, TAG_UDATA, Value};

type IntCmp = fn(i32, i32) -> bool;
type NumCmp = fn(f64, f64) -> bool;

#[inline(always)]
unsafe fn decide<D: Driver>(r: R, cond: bool) -> u32 {
    if cond { r.branch::<D>() } else { r.skip::<D>() }
}

/// Compares numbers of either form; other values by another handler, so that this one saves no registers.
///
/// # Safety
/// The contract of the handlers.
#[inline(always)]
unsafe fn compare<D: Driver>(r: R, int: IntCmp, num: NumCmp, otherwise: Handler) -> u32 {
    let (a, d) = (r.ra(), r.rd());
    if slot::upper(a) == slot::INT {
        if slot::upper(d) == slot::INT {
            return decide::<D>(r, int(slot::int(a), slot::int(d)));
        }
        if slot::upper(d) < slot::INT {
            return decide::<D>(r, num(slot::converted(slot::int(a)), slot::num(d)));
        }
    } else if slot::upper(a) < slot::INT {
        if slot::upper(d) < slot::INT {
            return decide::<D>(r, num(slot::num(a), slot::num(d)));
        }
        if slot::upper(d) == slot::INT {
            return decide::<D>(r, num(slot::num(a), slot::converted(slot::int(d))));
        }
    }
    r.to(otherwise)
}

/// Handlers of an order.
macro_rules! orders {
    ($($name:ident $int:expr, $num:expr;)*) => {
        op! {
            $($name<D>(r) { compare::<D>(r, $int, $num, slow_compare::<D>) })*
        }
    };
}
orders! {
    ISLT |a, b| a < b, |a, b| a < b;
    ISGE |a, b| a >= b, |a, b| !(a < b);
    ISLE |a, b| a <= b, |a, b| a <= b;
    ISGT |a, b| a > b, |a, b| !(a <= b);
}

/// Decides an equality of values that are the same but neither doubles nor cdata, or both strings or both integers; others by another handler,
/// so that this one saves no registers.
///
/// # Safety
/// The contract of the handlers.
#[inline(always)]
unsafe fn decide_same<D: Driver>(r: R, negated: bool, otherwise: Handler) -> u32 {
    let (a, d) = (*r.ra(), *r.rd());
    if a.bits() == d.bits() {
        if !a.is_num() && !a.is_cdata() {
            return decide::<D>(r, !negated);
        }
    } else if a.tag() == d.tag() && (d.tag() == TAG_STR || d.tag() == TAG_INT) {
        return decide::<D>(r, negated);
    }
    r.to(otherwise)
}

/// Raw equality, or `None` when a metamethod may decide.
#[inline(always)]
fn equal(a: Value, d: Value) -> Option<bool> {
    if let (Some(t), Some(u)) = (a.as_table(), d.as_table()) {
        let lacks_method = |t: Gc<Table>| t.meta.get().is_none_or(|meta| meta.is_known_to_lack(MM::Eq));
        return if t == u {
            Some(true)
        } else if lacks_method(t) || lacks_method(u) {
            Some(false)
        } else {
            None
        };
    }
    if a.is_num() && d.is_num() {
        return Some(a.as_num_unchecked() == d.as_num_unchecked());
    }
    if a == d {
        // A metamethod is asked even whether a cdata is equal to itself.
        return if a.is_cdata() { None } else { Some(true) };
    }
    let tag = a.tag();
    if tag == TAG_CDATA || d.is_cdata() {
        return None;
    }
    if a.is_num() || d.is_num() {
        return Some(a.raw_equals(d));
    }
    if tag == d.tag() && tag == TAG_UDATA { None } else { Some(false) }
}

/// Raw equality with a number constant.
#[inline(always)]
fn equals_number(a: Value, k: Value) -> bool {
    if a.is_num() {
        let y = if k.is_int() { f64::from(k.as_int_unchecked()) } else { k.as_num_unchecked() };
        return a.as_num_unchecked() == y;
    }
    if k.is_int() {
        return a.bits() == k.bits();
    }
    a.is_int() && f64::from(a.as_int_unchecked()) == k.as_num_unchecked()
}

/// Decides an equality with a number constant where both are integers or both doubles; otherwise by another handler.
///
/// # Safety
/// The contract of the handlers.
#[inline(always)]
unsafe fn decide_number<D: Driver>(r: R, negated: bool, otherwise: Handler) -> u32 {
    let (a, k) = (r.ra(), r.kn(r.d()));
    if slot::upper(a) == slot::INT {
        if slot::upper(k) == slot::INT {
            return decide::<D>(r, (slot::int(a) == slot::int(k)) != negated);
        }
    } else if slot::upper(a) < slot::INT && slot::upper(k) < slot::INT {
        return decide::<D>(r, (slot::num(a) == slot::num(k)) != negated);
    }
    r.to(otherwise)
}

/// Decides an equality with a constant. Where the operand is cdata, its metamethod decides.
///
/// # Safety
/// The contract of the handlers.
#[inline(always)]
unsafe fn decide_equal<D: Driver>(r: R, equal: bool, negated: bool) -> u32 {
    if !equal && (*r.ra()).is_cdata() {
        return r.to(slow_equal::<D>);
    }
    decide::<D>(r, equal != negated)
}

op! {
    ISEQV<D>(r) { decide_same::<D>(r, false, ISEQV_other::<D>) }
    ISNEV<D>(r) { decide_same::<D>(r, true, ISNEV_other::<D>) }
    #[inline(never)]
    ISEQV_other<D>(r) {
        match equal(*r.ra(), *r.rd()) {
            Some(e) => decide::<D>(r, e),
            None => r.to(slow_equal::<D>),
        }
    }
    #[inline(never)]
    ISNEV_other<D>(r) {
        match equal(*r.ra(), *r.rd()) {
            Some(e) => decide::<D>(r, !e),
            None => r.to(slow_equal::<D>),
        }
    }
    ISEQS<D>(r) { decide_equal::<D>(r, *r.ra() == r.kgc(r.d()), false) }
    ISNES<D>(r) { decide_equal::<D>(r, *r.ra() == r.kgc(r.d()), true) }
    ISEQN<D>(r) { decide_number::<D>(r, false, ISEQN_other::<D>) }
    ISNEN<D>(r) { decide_number::<D>(r, true, ISNEN_other::<D>) }
    #[inline(never)]
    ISEQN_other<D>(r) { decide_equal::<D>(r, equals_number(*r.ra(), r.knum(r.d())), false) }
    #[inline(never)]
    ISNEN_other<D>(r) { decide_equal::<D>(r, equals_number(*r.ra(), r.knum(r.d())), true) }
    ISEQP<D>(r) { decide_equal::<D>(r, *r.ra() == pri(r.d()), false) }
    ISNEP<D>(r) { decide_equal::<D>(r, *r.ra() == pri(r.d()), true) }
    ISTC<D>(r) {
        let v = *r.rd();
        if v.truthy() {
            *r.ra() = v;
            return r.branch::<D>();
        }
        r.skip::<D>()
    }
    ISFC<D>(r) {
        let v = *r.rd();
        if !v.truthy() {
            *r.ra() = v;
            return r.branch::<D>();
        }
        r.skip::<D>()
    }
    IST<D>(r) { decide::<D>(r, (*r.rd()).truthy()) }
    ISF<D>(r) { decide::<D>(r, !(*r.rd()).truthy()) }
    ISTYPE<D>(r) { r.next::<D>() }
    ISNUM<D>(r) { r.next::<D>() }
}

/// Primitive value number `d`: nil, false, true.
#[inline(always)]
pub(super) fn pri(d: usize) -> Value {
    Value::primitive(d as u64)
}
