//! Removal of instructions that nobody uses.
//!
//! Stays: what is a guard, what has an effect, what a snapshot names, and what any of these need. The rest becomes NOP, so that
//! references keep their meaning.

use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Trace, Ty};

/// By instruction: is it needed?
pub fn live(t: &Trace) -> Vec<bool> {
    let mut live = vec![false; t.ins.len()];
    for s in t.snaps.iter().flat_map(|snap| &snap.slots) {
        if !s.value.is_const() {
            live[s.value.ins_index()] = true;
        }
    }
    // Uses come behind definitions; a PHI is found before its operands and keeps both.
    for i in (0..t.ins.len()).rev() {
        let ins = t.ins[i];
        live[i] |= !ins.is_removable();
        if live[i] {
            for r in ins.operands() {
                live[r.ins_index()] = true;
            }
        }
    }
    live
}

/// Runs the pass on a whole trace.
pub fn run(b: &mut IrBuffer) {
    take(b);
}

/// Runs the pass; the instructions that were removed, by index.
pub fn take(b: &mut IrBuffer) -> Vec<(usize, Ins)> {
    let mut removed = Vec::new();
    if !b.flags.dce {
        return removed;
    }
    for (i, live) in live(&b.trace).into_iter().enumerate() {
        if !live && b.trace.ins[i].op != Op::NOP {
            let nop = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
            removed.push((i, core::mem::replace(&mut b.trace.ins[i], nop)));
        }
    }
    if !removed.is_empty() {
        b.rebuild_chains();
    }
    removed
}
