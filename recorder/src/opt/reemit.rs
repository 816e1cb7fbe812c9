//! Emits a finished trace once more: for tests of the pipeline, and for fuzzing.

use super::pipeline;
use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Mode, Op, Snapshot, Trace};
use crate::params::{Limits, OptFlags};

/// Emits the instructions and snapshots of a trace once more, as if it were being recorded.
pub fn reemit(trace: &Trace, flags: OptFlags, limits: Limits) -> Result<IrBuffer, Abort> {
    let mut b = pipeline::buffer(flags, limits);
    for &k in &trace.consts[3..] {
        b.konst(k);
    }
    b.trace.link = trace.link;
    b.trace.parent = trace.parent;
    b.trace.entry = trace.entry;
    b.trace.top_slot = trace.top_slot;
    b.trace.checked_slot = trace.checked_slot;
    let mut subst = vec![IrRef::BASE];
    let mut snaps = trace.snaps.iter().peekable();
    let copy_snap = |b: &mut IrBuffer, subst: &[IrRef], snap: &Snapshot| {
        let mut slots = snap.slots.clone();
        for s in &mut slots {
            if !s.value.is_const() {
                s.value = subst[s.value.ins_index()];
            }
        }
        b.add_snapshot(Snapshot { at: b.trace.next_ref(), slots, decides: false, done: 0, ..*snap })
    };
    for (i, ins) in trace.ins.iter().enumerate().skip(1) {
        while let Some(snap) = snaps.next_if(|s| s.at.ins_index() <= i) {
            copy_snap(&mut b, &subst, snap)?;
        }
        let operand = |mode: Mode, r: IrRef| if mode == Mode::Ref && !r.is_const() { subst[r.ins_index()] } else { r };
        let new = Ins { a: operand(ins.op.mode_a(), ins.a), b: operand(ins.op.mode_b(), ins.b), ..*ins };
        let r = match ins.op {
            Op::NOP => IrRef::NONE,
            Op::LOOP | Op::PHI => b.append(new)?,
            _ => b.emit_ins(Ins { flags: ins.flags & Ins::GUARD, ..new })?,
        };
        subst.push(r);
    }
    for snap in snaps {
        copy_snap(&mut b, &subst, snap)?;
    }
    Ok(b)
}
