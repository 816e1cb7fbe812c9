//! Forwarding of loads from raw memory, and elimination of stores to it: XLOAD, XSTORE (LuaJIT's `lj_opt_fwd_xload`, `lj_opt_dse_xstore`).
//!
//! Two accesses are told apart by their addresses, where these are the same base with constant offsets; by the object that the trace has
//! made and that one of them is in; and by the types of the accesses, as C's strict aliasing has it: memory is accessed as one type, as its
//! signed or unsigned form, or as bytes. (LuaJIT tells bytes from other types, so that its compiled code misses stores that its interpreter sees.)

use super::eliminate;
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op, Ty, conv, xload};
use crate::opt::alias::{self, Alias};
use crate::opt::cse;
use perilune_vm::layout::ofs;

/// An address: a base, and a constant offset in bytes. The base of a constant address is [`IrRef::NONE`].
fn split(b: &IrBuffer, address: IrRef) -> (IrRef, i64) {
    if let Some(k) = b.as_word(address) {
        return (IrRef::NONE, k as i64);
    }
    let (mut base, mut offset) = (address, 0i64);
    while let Some(sum) = b.is_op(base, Op::ADD).filter(|i| i.ty == Ty::P64)
        && let Some(k) = b.as_word(sum.b)
    {
        (base, offset) = (sum.a, offset.wrapping_add(k as i64));
    }
    (base, offset)
}

/// The object or the pointer that an address was computed from by additions.
pub(crate) fn root(b: &IrBuffer, address: IrRef) -> IrRef {
    let mut r = address;
    while let Some(sum) = b.is_op(r, Op::ADD).filter(|i| i.ty == Ty::P64) {
        let is_pointer = |r: IrRef| matches!(b.ty(r), Ty::P64 | Ty::LightUd) || b.ty(r).is_gc();
        r = match (is_pointer(sum.a), is_pointer(sum.b)) {
            (true, false) => sum.a,
            (false, true) => sum.b,
            // A constant offset of an object.
            (true, true) if b.ty(sum.a).is_gc() => sum.a,
            _ => return r,
        };
    }
    r
}

/// Is the reference a cdata that the trace makes?
fn is_new(b: &IrBuffer, r: IrRef) -> bool {
    b.def(r).is_some_and(|i| matches!(i.op, Op::CNEW | Op::CNEWI))
}

/// May something else than the trace's own addresses point into a new cdata, from the allocation to `stop`, which may be an address that is
/// computed in another way than by additions?
fn escapes(b: &IrBuffer, new: IrRef, stop: IrRef) -> bool {
    let points = |r: IrRef| root(b, r) == new;
    (new.ins_index() + 1..(stop.ins_index() + 1).min(b.trace.ins.len())).any(|i| {
        let ins = b.trace.ins[i];
        match ins.op {
            Op::NATIVE | Op::COSAVE => true,
            Op::XLOAD | Op::FLOAD | Op::FREF => false,
            Op::ADD if ins.ty == Ty::P64 => false,
            Op::XSTORE => points(ins.b),
            op if op.is_comparison() => false,
            _ => ins.operands().any(points),
        }
    })
}

/// May two addresses that differ be in one object?
fn objects(b: &IrBuffer, x: IrRef, y: IrRef) -> Alias {
    let (x, y) = (root(b, x), root(b, y));
    match (is_new(b, x), is_new(b, y)) {
        (true, true) if x != y => Alias::No,
        // An older pointer points to something else. A newer one may have been loaded from where the address was stored.
        (true, false) if y < x || !escapes(b, x, y) => Alias::No,
        (false, true) if x < y || !escapes(b, y, x) => Alias::No,
        _ => Alias::May,
    }
}

/// May two accesses touch the same memory? They must if they access the same bytes, as numbers of the same kind. `untyped` says that the
/// type of one of them says nothing about the memory ([`xload::UNTYPED`]).
fn accesses(b: &IrBuffer, (x, tx): (IrRef, Ty), (y, ty): (IrRef, Ty), untyped: bool) -> Alias {
    if x == y && tx == ty {
        return Alias::Must;
    }
    let ((bx, ox), (by, oy)) = (split(b, x), split(b, y));
    if bx == by {
        if ox == oy {
            let same = tx.size() == ty.size() && tx.is_float() == ty.is_float();
            return if same { Alias::Must } else { Alias::May };
        }
        let apart = ox.wrapping_add(tx.size()) <= oy || oy.wrapping_add(ty.size()) <= ox;
        return if apart { Alias::No } else { Alias::May };
    }
    let is_any = untyped || tx.size() == 1 || ty.size() == 1;
    if accessed_as(tx) != accessed_as(ty) && !is_any { Alias::No } else { objects(b, x, y) }
}

/// The type of an access without its sign. A pointer may be accessed as an integer.
fn accessed_as(ty: Ty) -> (i64, bool) {
    (ty.size(), ty.is_float())
}

/// The newest instruction after `lim` that may have changed all raw memory.
fn changed(b: &IrBuffer, lim: IrRef) -> IrRef {
    alias::called(b, lim, |_| false).max(alias::foreign(b)).max(lim)
}

/// XLOAD.
pub fn load(b: &mut IrBuffer, ins: Ins) -> Emit {
    if ins.b.0 & xload::READONLY != 0 {
        return cse::reuse_or_append(b, ins, IrRef::BASE);
    }
    if ins.b.0 & xload::VOLATILE != 0 || !b.flags.fwd {
        return b.append(ins);
    }
    let untyped = ins.b.0 & xload::UNTYPED != 0;
    let mut lim = changed(b, IrRef::BASE);
    let mut r = b.newest(Op::XSTORE);
    while r > lim {
        let store = b.trace.ins[r.ins_index()];
        match accesses(b, (ins.a, ins.ty), (store.a, store.ty), untyped) {
            Alias::No => {}
            Alias::May => lim = r,
            Alias::Must => match stored(b, ins, store) {
                Some(value) => return value,
                None => lim = r,
            },
        }
        r = b.older(r);
    }
    if let Some(value) = boxed(b, ins, lim) {
        return value;
    }
    if let Some(zero) = never_stored(b, ins, lim) {
        return Ok(zero);
    }
    cse::reuse_or_append(b, ins, lim)
}

/// The value of a load from a new box of a scalar to which nothing has been stored: its low bytes are those of what it was made of.
fn boxed(b: &mut IrBuffer, load: Ins, lim: IrRef) -> Option<Emit> {
    let (new, offset) = split(b, load.a);
    let value = b.is_op(new, Op::CNEWI)?.b;
    let from = b.ty(value);
    let same_kind = load.ty.is_int() && from.is_int() || load.ty.is_word() && from.is_word() || load.ty == from;
    if lim >= new || offset != ofs::CDATA_DATA as i64 || !same_kind {
        return None;
    }
    stored(b, load, Ins { ty: load.ty, b: value, ..load })
}

/// The value of a load from a new cdata to which nothing has been stored there: its memory is zero. `lim` is the newest instruction that may
/// have changed it.
fn never_stored(b: &mut IrBuffer, load: Ins, lim: IrRef) -> Option<IrRef> {
    let new = root(b, load.a);
    if lim >= new || b.is_op(new, Op::CNEW).is_none() || b.is_op(load.a, Op::ADD).is_none_or(|i| b.as_word(i.b).is_none()) {
        return None;
    }
    match load.ty {
        Ty::Num | Ty::Float => {
            let zero = b.knum(0.0);
            b.emit(Op::CONV, load.ty, zero, IrRef(conv::pack(load.ty, Ty::Num, 0))).ok()
        }
        ty if ty.is_word() => Some(b.kword(0, ty)),
        ty if ty.is_int() => Some(b.kint(0)),
        _ => None,
    }
}

/// The value that a load finds after a store to the same bytes.
fn stored(b: &mut IrBuffer, load: Ins, store: Ins) -> Option<Emit> {
    if load.ty.is_float() {
        return (load.ty == store.ty).then_some(Ok(store.b));
    }
    let from = b.ty(store.b);
    // An int is stored with its low bits only. Whether it is a u32 decides how it is extended.
    let is_other = if load.ty.size() < 4 { from != load.ty } else { (from == Ty::U32) != (load.ty == Ty::U32) };
    Some(if is_other && load.ty.is_int() {
        let from = if from == Ty::U32 { Ty::U32 } else { Ty::Int };
        b.emit(Op::CONV, load.ty, store.b, IrRef(conv::pack(load.ty, from, 0)))
    } else {
        Ok(store.b)
    })
}

/// XSTORE.
pub fn store(b: &mut IrBuffer, ins: Ins) -> Emit {
    let lim = changed(b, IrRef::BASE);
    let mut r = b.newest(Op::XSTORE);
    while b.flags.fwd && r > lim {
        let other = b.trace.ins[r.ins_index()];
        match accesses(b, (ins.a, ins.ty), (other.a, other.ty), false) {
            Alias::No => {}
            Alias::May => break,
            Alias::Must if other.b == ins.b && other.ty == ins.ty => return Ok(IrRef::NONE),
            Alias::Must => {
                if other.ty.size() == ins.ty.size() {
                    eliminate(b, r);
                }
                break;
            }
        }
        r = b.older(r);
    }
    b.append(ins)
}
