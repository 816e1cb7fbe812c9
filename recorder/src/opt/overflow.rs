//! Overflow checks of partial sums.
//!
//! A sum of ints that is used only as a term of another sum is computed in 64 bits, where it cannot overflow, and only the final sum is
//! checked. All of them leave by the same exit, as do the guards in between. If a partial sum does not fit an int but the final sum does,
//! the result is still what the interpreter computes with doubles.

use crate::ir::{Effect, Ins, IrRef, Op, Trace};

/// By instruction: is it an ADDOV or SUBOV that is computed in 64 bits and not checked?
pub fn wide(trace: &Trace) -> Vec<bool> {
    let is_sum = |ins: &Ins| ins.is_guard() && matches!(ins.op, Op::ADDOV | Op::SUBOV);
    let n = trace.ins.len();
    let (mut wide, mut uses, mut region) = (vec![false; n], vec![0u8; n], vec![0u16; n]);
    for r in trace.snaps.iter().flat_map(|snap| &snap.slots).map(|s| s.value).filter(|r| !r.is_const()) {
        uses[r.ins_index()] = u8::MAX;
    }
    for r in trace.ins.iter().flat_map(|ins| ins.operands()) {
        uses[r.ins_index()] = uses[r.ins_index()].saturating_add(1);
    }
    let (mut now, mut snaps) = (0, trace.snaps.iter().skip(1).peekable());
    for (i, ins) in trace.ins.iter().enumerate() {
        while snaps.next_if(|s| s.at.ins_index() <= i).is_some() {
            now += 1;
        }
        if ins.op.effect() == Effect::Store && ins.op != Op::USE {
            now += 1;
        }
        region[i] = now;
        if is_sum(ins) {
            for r in ins.operands().map(IrRef::ins_index) {
                wide[r] = is_sum(&trace.ins[r]) && uses[r] == 1 && region[r] == now;
            }
        }
    }
    wide
}
