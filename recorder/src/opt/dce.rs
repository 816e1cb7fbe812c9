//! Removal of instructions that nobody uses.
//!
//! Stays: what is a guard, what has an effect, what a snapshot names, and what any of these need. The rest becomes NOP, so that
//! references keep their meaning.

use crate::build::Builder;
use crate::ir::{Ins, IrRef, Op, Ty};

/// Runs the pass on a whole trace.
pub fn run(b: &mut Builder) {
    if !b.flags.dce {
        return;
    }
    let t = &mut b.trace;
    for i in 0..t.snaps.len() {
        for k in 0..t.snaps[i].slots.len() {
            let r = t.snaps[i].slots[k].value;
            if !r.is_const() {
                t.ins[r.ins_index()].flags |= Ins::MARK;
            }
        }
    }
    let mut removed = false;
    // A PHI is found before its operands and keeps both.
    for i in (1..t.ins.len()).rev() {
        let ins = t.ins[i];
        if ins.flags & Ins::MARK == 0 && ins.is_removable() {
            if ins.op != Op::NOP {
                t.ins[i] = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
                removed = true;
            }
            continue;
        }
        t.ins[i].flags &= !Ins::MARK;
        for r in ins.operands() {
            t.ins[r.ins_index()].flags |= Ins::MARK;
        }
    }
    t.ins[0].flags &= !Ins::MARK;
    if removed {
        b.rebuild_chains();
    }
}
