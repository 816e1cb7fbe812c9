//! Numbers are appended to string buffers without making a string first.
//!
//! A TOSTR of a number whose only use is one BUFPUT is removed, and the BUFPUT becomes a BUFNUM of the number. A string with another use, in a
//! snapshot too, is made once and put into the buffer as a string.

use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};

/// The kind of a TOSTR of a character code, whose operand is an int as well.
const CHAR: IrRef = IrRef(2);

/// Is there anything that the pass may do?
pub fn has_work(b: &IrBuffer) -> bool {
    b.flags.fuse && b.newest(Op::TOSTR) != IrRef::NONE && b.newest(Op::BUFPUT) != IrRef::NONE
}

/// Runs the pass on a whole trace.
pub fn run(b: &mut IrBuffer) {
    if !has_work(b) {
        return;
    }
    let head = b.newest(Op::LOOP);
    let t = &mut b.trace;
    let mut uses = vec![0u32; t.ins.len()];
    let in_snapshots = t.snaps.iter().flat_map(|snap| &snap.slots).map(|s| s.value).filter(|r| !r.is_const());
    for r in in_snapshots.chain(t.ins.iter().flat_map(|ins| ins.operands())) {
        uses[r.ins_index()] += 1;
    }
    let mut fused = false;
    for i in 1..t.ins.len() {
        let Ins { op: Op::BUFPUT, b: string, .. } = t.ins[i] else { continue };
        let Some(Ins { op: Op::TOSTR, a: number, b: kind, .. }) = t.def(string).copied() else { continue };
        // A string that is made in front of the loop is made once for all iterations.
        let invariant = string < head && IrRef::of_ins(i) > head;
        // A narrow integer of C keeps its TOSTR, which extends it.
        let is_number = t.ty(number).is_number();
        if kind != CHAR && is_number && uses[string.ins_index()] == 1 && !(invariant && head != IrRef::NONE) {
            (t.ins[i].op, t.ins[i].b) = (Op::BUFNUM, number);
            t.ins[string.ins_index()] = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
            fused = true;
        }
    }
    if fused {
        b.rebuild_chains();
    }
}
