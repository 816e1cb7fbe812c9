//! Exit arguments: slots that an exit passes to its side trace in registers.
//!
//! An exit stores the slots of its snapshot, and the side trace would begin by loading them again. So a few of them are also passed as
//! arguments, after the arguments that every trace has. While there is no side trace the runtime handles the exit, and ignores them. Only
//! loads that rely on the parent ([`sload::PARENT`]) may use them: a trace with such loads is entered from its exit and from nowhere else.

use perilune_recorder::ir::{Effect, Ins, IrRef, Op, SlotIdx, SnapId, Trace, Transfer, Ty, sload};

/// The exits of a trace with more exits than this end in shared code, which passes nothing.
const MAX_DIRECT: usize = 16;
/// An exit that stores more slots than this passes nothing.
const MOST_SLOTS: usize = 6;
/// The most arguments in registers: words and nums. The calling convention of traces has no more.
const MOST: [usize; 2] = [3, 4];

/// A slot whose value an exit passes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ExitArg {
    /// The slot, from the base of the frame that the side trace is entered in.
    pub slot: i32,
    /// The type of the value.
    pub ty: Ty,
}

/// Does each exit of a trace leave by itself, and not through shared code? Where helpers are called, leaving by itself would make the
/// register allocator move the VM and the base between registers.
pub(crate) fn is_direct(trace: &Trace) -> bool {
    trace.snaps.len() <= MAX_DIRECT && !trace.ins.iter().any(|i| !i.is_sunk() && calls_helper(i.op))
}
fn calls_helper(op: Op) -> bool {
    let is_call = matches!(op, Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS | Op::NATIVE | Op::POW | Op::LDEXP);
    let is_lookup = matches!(op, Op::HREF | Op::NEWREF | Op::ALEN);
    let is_string =
        matches!(op, Op::SNEW | Op::TOSTR | Op::STRTO | Op::BUFHDR | Op::BUFPUT | Op::BUFNUM | Op::BUFFMT | Op::BUFSTR);
    is_call || is_lookup || is_string || op.effect() == Effect::Alloc
}

/// What exit `k` of a trace passes, with the references of the values.
pub(crate) fn values(trace: &Trace, k: SnapId) -> Vec<(ExitArg, IrRef)> {
    let Some(snap) = trace.snaps.get(k.index()).filter(|_| is_direct(trace)) else { return Vec::new() };
    // The exit of a return that compiled code may execute is taken by the thunk that executes returns.
    let is_return = k == trace.last_exit() && matches!(trace.transfer, Some(Transfer::Return { .. }));
    if is_return || snap.restored().count() > MOST_SLOTS {
        return Vec::new();
    }
    let (mut args, mut used) = (Vec::new(), [0, 0]);
    for s in snap.restored() {
        let (Some(ins), Some(slot)) = (trace.def(s.value), snap.slot_in_side_trace(s.slot, SlotIdx::BASE)) else { continue };
        let ty = if ins.ty.is_int() { Ty::Int } else { ins.ty };
        let count = &mut used[usize::from(ty == Ty::Num)];
        if ty.is_pri() || ins.is_sunk() || ins.op == Op::CARG || *count == MOST[usize::from(ty == Ty::Num)] {
            continue;
        }
        *count += 1;
        args.push((ExitArg { slot: slot.from_base(), ty }, s.value));
    }
    args
}

/// What exit `k` of `parent` passes to a side trace that was recorded there.
pub fn exit_args(parent: &Trace, k: SnapId, side: &Trace) -> Vec<ExitArg> {
    let relies = |i: &Ins| i.op == Op::SLOAD && i.b.0 & sload::PARENT != 0;
    if !side.ins.iter().any(relies) {
        return Vec::new();
    }
    values(parent, k).into_iter().map(|p| p.0).collect()
}

/// Does exit `k` of a trace pass what a side trace takes?
pub fn can_pass(trace: &Trace, k: SnapId, taken: &[ExitArg]) -> bool {
    taken.is_empty() || values(trace, k).iter().map(|p| p.0).eq(taken.iter().copied())
}
