//! The instructions where traces start, which are patched: a counting form, a compiled form, and a blacklisted form.
//!
//! Next on the way of a hot loop: `jit/src/exit/side_exit.rs`.

use super::entry::TraceStart;
use perilune_vm::TraceId;
use perilune_vm::bc::{Ins, Op};
use perilune_vm::object::{BcPos, Gc, Proto, ProtoFlags};

/// The compiled form of a counting instruction.
fn compiled(op: Op) -> Option<Op> {
    Some(match op {
        Op::FORL => Op::JFORL,
        Op::ITERL => Op::JITERL,
        Op::LOOP | Op::ITERN => Op::JLOOP,
        Op::FUNCF => Op::JFUNCF,
        Op::FUNCV => Op::JFUNCV,
        _ => return None,
    })
}

/// The blacklisted form, which neither counts nor enters a trace.
fn plain(op: Op) -> Option<Op> {
    Some(match op {
        Op::FORL => Op::IFORL,
        Op::ITERL => Op::IITERL,
        Op::LOOP => Op::ILOOP,
        Op::FUNCF => Op::IFUNCF,
        Op::FUNCV => Op::IFUNCV,
        _ => return None,
    })
}

/// The counting form of a blacklisted instruction.
fn counting(op: Op) -> Option<Op> {
    Some(match op {
        Op::IFORL => Op::FORL,
        Op::IITERL => Op::ITERL,
        Op::ILOOP => Op::LOOP,
        Op::IFUNCF => Op::FUNCF,
        Op::IFUNCV => Op::FUNCV,
        _ => return None,
    })
}

/// The FORI of a FORL.
fn fori(pos: BcPos, forl: Ins) -> Option<(usize, Ins)> {
    let at = usize::try_from(pos.pc() as isize + forl.j() as isize).ok()?;
    Some((at, pos.proto.ins(at)?))
}

/// Makes the instruction at `pos` enter trace `n`; false if the instruction has no compiled form.
pub fn arm(pos: BcPos, n: TraceId) -> bool {
    let Some(ins) = pos.ins() else { return false };
    let Some(op) = compiled(ins.op()) else { return false };
    if ins.op() == Op::FORL
        && let Some((at, i)) = fori(pos, ins)
    {
        pos.proto.patch(at, i.with_op(Op::JFORI));
    }
    pos.proto.patch(pos.pc(), ins.with_op(op).with_d(n.operand()));
    true
}

/// Does the instruction at its start enter trace `n`?
pub fn is_armed(start: &TraceStart, n: TraceId) -> bool {
    let &TraceStart { pos, original } = start;
    pos.ins().is_some_and(|ins| compiled(original.op()) == Some(ins.op()) && ins.trace() == Some(n))
}

/// Puts back the instruction that trace `n` replaced.
pub fn disarm(start: &TraceStart, n: TraceId) {
    let &TraceStart { pos, original } = start;
    if !is_armed(start, n) {
        return;
    }
    if original.op() == Op::FORL
        && let Some((at, i)) = fori(pos, original)
    {
        pos.proto.patch(at, i.with_op(Op::FORI));
    }
    pos.proto.patch(pos.pc(), original);
}

/// Makes the instruction at `pos` count no longer; false if it has no blacklisted form.
pub fn blacklist(pos: BcPos) -> bool {
    let Some(ins) = pos.ins() else { return false };
    let Some(op) = plain(ins.op()) else { return false };
    let proto = pos.proto;
    proto.patch(pos.pc(), ins.with_op(op));
    proto.flags.set(proto.flags.get() | ProtoFlags::ILOOP);
    true
}

/// Lets all instructions of a function count again.
pub fn unblacklist(proto: Gc<Proto>) {
    if proto.flags.get() & ProtoFlags::ILOOP == 0 {
        return;
    }
    proto.flags.set(proto.flags.get() & !ProtoFlags::ILOOP);
    for pc in 0..proto.code_len() {
        if let Some(ins) = proto.ins(pc)
            && let Some(op) = counting(ins.op())
        {
            proto.patch(pc, ins.with_op(op));
        }
    }
}
