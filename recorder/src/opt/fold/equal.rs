//! FOLD: EQ and NE.

use super::{Fold, Rule, compare, holds, like, range};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Const, Ins, IrRef, Op, Ty, VmRef};
use crate::opt::mem::refs;
use core::cmp::Ordering;

/// EQ, NE.
pub(super) fn equal(b: &mut IrBuffer, ins: Ins) -> Rule {
    let (x, y) = (ins.a, ins.b);
    let eq = ins.op == Op::EQ;
    if ins.ty.is_pri() {
        // The types decide, since each has one value.
        return holds((b.ty(x) == b.ty(y)) == eq);
    }
    if ins.ty == Ty::Num {
        return equal_num(b, ins);
    }
    // x == x
    if x == y {
        return holds(eq);
    }
    match (b.trace.konst(x), b.trace.konst(y)) {
        // Constants are interned: two are different, unless one is an address that is only known at run time.
        (Some(Const::Vm(_)), Some(Const::Null(_))) | (Some(Const::Null(_)), Some(Const::Vm(_))) => holds(!eq),
        (Some(Const::Vm(_)), Some(k)) | (Some(k), Some(Const::Vm(_))) if !matches!(k, Const::Vm(_)) => Ok(Fold::Keep),
        (Some(_), Some(_)) => holds(!eq),
        _ => match ins.ty {
            Ty::Int => equal_int(b, ins),
            Ty::Str => equal_str(b, ins),
            Ty::P64 => equal_address(b, ins),
            // An object that the trace has just made differs from all older ones.
            Ty::Tab if is_new(b, x) && (y < x || is_new(b, y)) || is_new(b, y) && y > x => holds(!eq),
            _ => Ok(Fold::Keep),
        },
    }
}

fn is_new(b: &IrBuffer, r: IrRef) -> bool {
    b.def(r).is_some_and(|i| matches!(i.op, Op::TNEW | Op::TDUP))
}

fn equal_num(b: &mut IrBuffer, ins: Ins) -> Rule {
    let eq = ins.op == Op::EQ;
    if let (Some(k), Some(m)) = (b.as_num(ins.a), b.as_num(ins.b)) {
        return holds((k == m) == eq);
    }
    let Some(i) = b.int_source(ins.a) else { return Ok(Fold::Keep) };
    if let Some(j) = b.int_source(ins.b) {
        // num(i) == num(j)  =>  i == j
        return like(ins.op, Ty::Int, i, j);
    }
    match b.as_num(ins.b) {
        // num(i) == k  =>  i == k
        Some(k) if f64::from(k as i32) == k => {
            let k = b.kint(k as i32);
            like(ins.op, Ty::Int, i, k)
        }
        Some(_) => {
            range::rely(b, i)?;
            holds(!eq)
        }
        None => Ok(Fold::Keep),
    }
}

fn equal_int(b: &mut IrBuffer, ins: Ins) -> Rule {
    let eq = ins.op == Op::EQ;
    let (rx, ry) = (range::of(b, ins.a), range::of(b, ins.b));
    // The ranges are disjoint.
    if rx.hi < ry.lo || rx.lo > ry.hi {
        range::rely(b, ins.a)?;
        range::rely(b, ins.b)?;
        return holds(!eq);
    }
    let Some(k) = b.as_int(ins.b) else { return Ok(Fold::Keep) };
    match b.inner(ins.a) {
        // x + k1 == k  =>  x == k - k1
        Some(Ins { op: Op::ADD, a, b: c, ty: Ty::Int, .. }) if let Some(k1) = b.as_int(c) => {
            let k = b.kint(k.wrapping_sub(k1));
            like(ins.op, Ty::Int, a, k)
        }
        // x - y == 0  =>  x == y
        Some(Ins { op: Op::SUB | Op::BXOR, a, b: c, ty: Ty::Int, .. }) if k == 0 && b.as_int(a).is_none() => {
            like(ins.op, Ty::Int, a, c)
        }
        _ => Ok(Fold::Keep),
    }
}

/// A short substring against a constant: bytes are compared, no string is made.
fn equal_str(b: &mut IrBuffer, ins: Ins) -> Rule {
    let Some(Ins { op: Op::SNEW, a: addr, b: len, .. }) = b.def(ins.a) else { return Ok(Fold::Keep) };
    let Some(s) = b.as_gc(ins.b).and_then(|v| v.as_str()) else { return Ok(Fold::Keep) };
    let klen = b.kint(s.len() as i32);
    if s.len() > 1 || b.is_op(addr, Op::STRREF).is_none() {
        return match b.as_int(len) {
            // sub(s, ..) == k never holds when the lengths differ
            Some(n) if n as usize != s.len() => holds(ins.op == Op::NE),
            _ => Ok(Fold::Keep),
        };
    }
    match (ins.op, s.bytes().first()) {
        // sub(s, ..) == ""  =>  len == 0
        (op, None) => like(op, Ty::Int, len, klen),
        // sub(s, i, i) == "c"  =>  len == 1 and byte(s, i) == 'c'
        (Op::EQ, Some(&c)) => {
            b.emit(Op::EQ, Ty::Int, len, klen)?;
            let byte = b.emit(Op::XLOAD, Ty::U8, addr, IrRef(crate::ir::xload::READONLY))?;
            let c = b.kint(i32::from(c));
            like(Op::EQ, Ty::Int, byte, c)
        }
        // There is no guard for "len ~= 1 or byte ~= c".
        (_, Some(&c)) => match b.as_int(len) {
            Some(1) => {
                let byte = b.emit(Op::XLOAD, Ty::U8, addr, IrRef(crate::ir::xload::READONLY))?;
                let c = b.kint(i32::from(c));
                like(Op::NE, Ty::Int, byte, c)
            }
            Some(_) => holds(true),
            None => Ok(Fold::Keep),
        },
    }
}

/// Is the address that of a slot that exists (and not the nil slot)?
fn equal_address(b: &mut IrBuffer, ins: Ins) -> Rule {
    let nil_slot = Some(Const::Vm(VmRef::NilSlot));
    let is_slot = |r: IrRef| b.def(r).is_some_and(|i| matches!(i.op, Op::AREF | Op::HREFK | Op::NEWREF | Op::UREFC | Op::UREFO));
    if b.trace.konst(ins.b) == nil_slot && (is_slot(ins.a) || b.flags.fwd && refs::is_present(b, ins.a)) {
        return holds(compare::accepts(ins.op, Some(Ordering::Less)));
    }
    Ok(Fold::Keep)
}
