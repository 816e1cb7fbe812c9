//! The frames that a side trace keeps: those that its parent has entered before the exit (LuaJIT's `J->framedepth` after `lj_snap_replay`).
//!
//! An exit stores the frames that its trace has entered, so a side trace could begin in the innermost one and return to the others as it would
//! return below its start. But the parent has fixed their functions and links, and knows what is in their slots: so these frames are frames
//! of the side trace as well, and a return to them checks nothing and loads nothing.

use super::ret::distance;
use super::stack::{Frame, FrameKind};
use super::{MAX_SLOTS, Recorder, view};
use crate::ir::{Op, SlotIdx, SnapId, Trace};
use perilune_vm::Vm;
use perilune_vm::interp::frame;
use perilune_vm::interp::hook::is_header;
use perilune_vm::object::{Gc, InsPtr, Proto};

/// Slots of kept frames: the other half of what a trace may have is left for those that the side trace enters.
const MOST_SLOTS: usize = MAX_SLOTS / 2;

/// How the frame with the base `at` slots from `vm.base` is left, the distance of the frame below, and the call that led to it.
fn kind_of(vm: &Vm, at: isize) -> Option<(FrameKind, usize, Option<InsPtr>)> {
    let link = view::slot(vm, at - 1).bits();
    let (kind, call) = match frame::kind(link) {
        frame::LUA => (FrameKind::Call, Some(view::at(view::pc_of_link(link), -1))),
        frame::VARG => (FrameKind::Vararg, None),
        frame::PCALL | frame::XPCALL => (FrameKind::Protected, None),
        _ => {
            let cont = Recorder::cont_below(vm, at, link)?;
            (FrameKind::Cont(cont), Some(cont.pc))
        }
    };
    Some((kind, distance(link)?, call))
}

/// The frames from the one at `vm.base` down to the one `depth` slots below, which are at the slots up to `entry`, the highest one first,
/// each with the call that led to it. `None` if a side trace cannot keep them: a function that calls itself returns to itself in ways that vary,
/// and where it does so is a trace of its own.
fn frames(vm: &Vm, entry: SlotIdx, depth: usize) -> Option<Vec<(Frame, Option<InsPtr>)>> {
    let mut functions = vec![view::func(vm, 0).proto()?];
    let (mut frames, mut at) = (Vec::new(), 0);
    while at < depth {
        let (kind, size, call) = kind_of(vm, -(at as isize))?;
        at += size;
        if at > depth {
            return None;
        }
        let below = view::func(vm, -(at as isize)).proto();
        if let Some(proto) = below.filter(|_| kind != FrameKind::Vararg) {
            if functions.contains(&proto) {
                return None;
            }
            functions.push(proto);
        }
        frames.push((kind, entry - at, below, call));
    }
    // Under a builtin it is the function of the frame below that.
    let mut proto: Option<Gc<Proto>> = None;
    let mut kept = Vec::with_capacity(frames.len());
    for (kind, base, below, call) in frames.into_iter().rev() {
        proto = below.or(proto);
        kept.push((Frame { base, proto: proto?, kind }, call));
    }
    kept.reverse();
    Some(kept)
}

impl Recorder {
    /// A side trace begins: keeps the frames that the parent has entered before the exit, if it can.
    pub(super) fn keep_frames(&mut self, vm: &Vm, parent: &Trace, exit: SnapId) {
        let entry = parent.snap(exit).base_slot;
        let depth = entry - SlotIdx::BASE;
        let switches = parent.ins.iter().any(|i| matches!(i.op, Op::RESUME | Op::YIELD | Op::COEND));
        if depth == 0 || depth > MOST_SLOTS || switches || self.starts_at_header() {
            return;
        }
        let Some(frames) = frames(vm, entry, depth) else { return };
        for (frame, call) in frames.into_iter().rev() {
            self.note_proto(frame.proto);
            let caller = call.map(InsPtr::addr);
            self.stack.keep(&mut self.b.trace, frame, caller);
        }
        self.base = entry;
        self.b.trace.entry = entry;
    }
    /// Is the first instruction the header of a function? Then the trace may link to its start from other frames.
    fn starts_at_header(&self) -> bool {
        is_header(self.start.pc.ins().op())
    }
}
