//! Forwarding of upvalues: UREFO, UREFC, ULOAD, USTORE.

use super::{emit_store, forward, older_store};
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::uref;
use crate::ir::{Ins, IrRef, Op};
use crate::opt::alias::{self, Alias};
use crate::opt::cse;
use perilune_vm::fault::{Fault, is_injected};

/// UREFO, UREFC: valid until upvalues are closed.
pub fn reference(b: &mut IrBuffer, ins: Ins) -> Emit {
    let lim = alias::called(b, ins.newest_operand(), |c| c.upvalues);
    cse::reuse_or_append(b, ins, lim)
}

/// May two addresses be those of one upvalue?
fn aliases(b: &IrBuffer, x: IrRef, y: IrRef) -> Alias {
    if x == y {
        return Alias::Must;
    }
    let (Some(x), Some(y)) = (b.def(x), b.def(y)) else { return Alias::May };
    let is_ref = |i: Ins| matches!(i.op, Op::UREFO | Op::UREFC);
    if !is_ref(x) || !is_ref(y) {
        return Alias::May;
    }
    if x.op != y.op {
        // One is open and the other is closed.
        return if x.a == y.a && x.b == y.b { Alias::May } else { Alias::No };
    }
    match (x.a == y.a, x.b == y.b) {
        (true, true) => Alias::Must,
        // Two upvalues of one function are told apart by their indices.
        (true, false) if (x.b.0 | y.b.0) & uref::JOINED == 0 => Alias::No,
        _ => Alias::May,
    }
}

/// ULOAD.
pub fn load(b: &mut IrBuffer, ins: Ins) -> Emit {
    if !b.flags.fwd {
        return b.append(ins);
    }
    let address = ins.a;
    let mut lim = address.max(alias::called(b, address, |_| false));
    let mut r = b.newest(Op::USTORE);
    while r > lim {
        let store = b.trace.ins[r.ins_index()];
        match aliases(b, address, store.a) {
            Alias::No => {}
            Alias::May => {
                lim = r;
                break;
            }
            Alias::Must => {
                if let Some(emit) = forward(b, ins, store.b, true) {
                    return emit;
                }
                lim = r;
                break;
            }
        }
        r = b.older(r);
    }
    let mut r = b.newest(Op::ULOAD);
    while r > lim {
        let other = b.trace.ins[r.ins_index()];
        if other.a == address
            && (other.is_guard() || !ins.is_guard())
            && let Some(emit) = forward(b, ins, r, false)
        {
            return emit;
        }
        r = b.older(r);
    }
    b.append(ins)
}

/// USTORE.
pub fn store(b: &mut IrBuffer, ins: Ins) -> Emit {
    let address = ins.a;
    // NATIVE and SYNC store slots, which an open upvalue may be, and are not in this chain.
    if !b.flags.fwd && !b.flags.dse || b.is_op(address, Op::SREF).is_some() && !is_injected(Fault::CapturedSlots) {
        return b.append(ins);
    }
    let lim = address.max(alias::called(b, address, |_| false));
    let older = older_store(b, ins, lim, |other| aliases(b, address, other));
    emit_store(b, ins, &older)
}
