//! DCE: dead code elimination (LuaJIT's `lj_opt_dce`).
//!
//! Live are guards, instructions with an effect, values that a snapshot names, and the operands of all of these. Other instructions become
//! NOPs, so that references keep their meaning.

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
    // Uses come after definitions; a PHI is found before its operands and keeps both.
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
