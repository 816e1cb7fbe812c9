//! FWD and DSE: forwarding of loads and elimination of dead stores (LuaJIT's `lj_opt_mem`).
//!
//! A load uses the value of the newest store to the same location, or of an equal load, if no instruction in between may have changed it
//! ([`super::alias`]). A store replaces an older one to the same location unless the older one may have been read: by a load, or by the
//! interpreter at a guard in between.

pub mod field;
pub mod raw;
pub mod refs;
pub mod table;
pub mod upvalue;

use crate::ir::buffer::{Emit, GUARD_FAILS, IrBuffer};
use crate::ir::{Effect, Ins, IrRef, Op, Ty, conv};

/// Uses the value `r` in place of a load that expects a type, if it has that type.
///
/// Otherwise the load is kept (`None`); if it checks the type and would always find another one, the recording is aborted.
fn forward(b: &mut IrBuffer, load: Ins, r: IrRef, exact: bool) -> Option<Emit> {
    let ty = b.ty(r);
    if ty == load.ty || ty.is_int() && load.ty.is_int() {
        return Some(Ok(r));
    }
    if load.ty == Ty::Num && ty.is_int() {
        return Some(b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT)));
    }
    if ty == Ty::Num && load.ty == Ty::Int && load.is_guard() && exact && b.newest(Op::LOOP) == IrRef::NONE {
        // The num is integral now, and the load expects an int.
        return Some(b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK)));
    }
    // The value of an earlier load as num may be an int in memory.
    let unknown = ty == Ty::U64 || load.ty == Ty::U64 || !load.is_guard() || ty == Ty::Num && load.ty.is_int() && !exact;
    if unknown { None } else { Some(GUARD_FAILS) }
}

/// May an instruction after the store `r`, or the interpreter at a guard after it, have read the stored value?
fn observed(b: &IrBuffer, r: IrRef) -> bool {
    b.trace.ins[r.ins_index() + 1..].iter().any(|i| {
        i.is_guard()
            || match i.op {
                Op::ASTORE | Op::HSTORE | Op::USTORE | Op::FSTORE | Op::XSTORE | Op::TBAR | Op::OBAR => false,
                Op::FLOAD | Op::LREF | Op::SREF | Op::UREFO | Op::UREFC | Op::HREF => false,
                // XSNEW reads raw memory, and helpers that allocate read any.
                Op::CALLA | Op::XSNEW => true,
                op => matches!(op.effect(), Effect::Store | Effect::Load),
            }
    })
}

/// Removes the store `r` if its value cannot have been read.
fn eliminate(b: &mut IrBuffer, r: IrRef) {
    if b.flags.dse && r > b.newest(Op::LOOP) && !observed(b, r) {
        b.remove(r);
    }
}

/// An older store, as a newer one sees it.
enum Older {
    /// A store to the same location.
    Same(IrRef),
    /// No such store.
    Nothing,
}

/// Searches a chain of stores, newest first and down to `lim`, for one to the same location as `store`. A store that may be to the same
/// location ends the search, unless it stores the same value.
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

/// Emits a store. Omits it if the location has the value already; removes the older store if its value was not read.
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
