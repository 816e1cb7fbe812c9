//! FWD and DSE: forwarding of loads and elimination of dead stores (LuaJIT's `lj_opt_mem`).
//!
//! A load takes the value of the newest store to the same location, or of an equal load, if no instruction in between may have changed it
//! ([`super::alias`]). A store replaces an older one to the same location unless the older one may have been seen: by a load, or by the
//! interpreter behind a guard in between.

pub mod field;
pub mod refs;
pub mod table;
pub mod upvalue;

use crate::ir::buffer::{Emit, GUARD_FAILS, IrBuffer};
use crate::ir::{Effect, Ins, IrRef, Op, Ty, conv};

/// The value `r` for a load that expects a type, if it can stand in for it.
///
/// Otherwise the load stays (`None`), or, where it checks the type and would always find another one, the trace is given up.
fn forward(b: &mut IrBuffer, load: Ins, r: IrRef, exact: bool) -> Option<Emit> {
    let ty = b.ty(r);
    if ty == load.ty || ty.is_int() && load.ty.is_int() {
        return Some(Ok(r));
    }
    if load.ty == Ty::Num && ty.is_int() {
        return Some(b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT)));
    }
    if ty == Ty::Num && load.ty == Ty::Int && load.is_guard() && exact && b.newest(Op::LOOP) == IrRef::NONE {
        // The num is integral now, and is asked for as such.
        return Some(b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK)));
    }
    // A num that is forwarded from a load may be an int in memory.
    let unknown = ty == Ty::U64 || load.ty == Ty::U64 || !load.is_guard() || ty == Ty::Num && load.ty.is_int() && !exact;
    if unknown { None } else { Some(GUARD_FAILS) }
}

/// Might someone between the store `r` and now have seen what it stored?
fn observed(b: &IrBuffer, r: IrRef) -> bool {
    b.trace.ins[r.ins_index() + 1..].iter().any(|i| {
        i.is_guard()
            || match i.op {
                Op::ASTORE | Op::HSTORE | Op::USTORE | Op::FSTORE | Op::TBAR | Op::OBAR => false,
                Op::FLOAD | Op::LREF | Op::SREF | Op::UREFO | Op::UREFC | Op::HREF => false,
                Op::CALLA => true,
                op => matches!(op.effect(), Effect::Store | Effect::Load),
            }
    })
}

/// Removes the store `r` if nobody can have seen it.
fn eliminate(b: &mut IrBuffer, r: IrRef) {
    if b.flags.dse && r > b.newest(Op::LOOP) && !observed(b, r) {
        b.remove(r);
    }
}

/// What a store meets on the way back.
enum Older {
    /// A store to the same place.
    Same(IrRef),
    /// Nothing that matters.
    Nothing,
}

/// Searches a chain of stores, newest first and down to `lim`, for one to the same place as `store`. Stores that may be to the
/// same place end the search, unless they store the same value.
fn older_store(b: &IrBuffer, store: Ins, lim: IrRef, alias: impl Fn(IrRef) -> super::alias::Alias) -> Older {
    use super::alias::Alias;
    let mut r = b.newest(store.op);
    while r > lim {
        let other = b.trace.ins[r.ins_index()];
        match alias(other.a) {
            Alias::No => {}
            Alias::May if other.b == store.b => {}
            Alias::May => return Older::Nothing,
            Alias::Must => return Older::Same(r),
        }
        r = b.older(r);
    }
    Older::Nothing
}

/// Emits a store: drops it when the place has the value already, and the older store when nobody saw that.
fn emit_store(b: &mut IrBuffer, store: Ins, older: &Older) -> Emit {
    if let Older::Same(r) = *older {
        let other = b.trace.ins[r.ins_index()];
        if other.b == store.b && other.ty == store.ty {
            return Ok(IrRef::NONE);
        }
        eliminate(b, r);
    }
    b.append(store)
}
