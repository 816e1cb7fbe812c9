//! The call stack of a trace: the frames that it has entered since its start.

use crate::ir::{Origin, SlotIdx, Trace};
use perilune_vm::object::{BcAddr, Gc, InsPtr, Proto};

/// The continuation that handles the result of a metamethod.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Cont {
    /// The interpreter's number of the continuation.
    pub(super) id: u64,
    /// The instruction that called it.
    pub(super) pc: InsPtr,
}

/// How a frame is left.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum FrameKind {
    /// A return to the call instruction.
    Call,
    /// The moved frame of a vararg function.
    Vararg,
    /// The continuation of a metamethod.
    Cont(Cont),
    /// A function under `pcall` or `xpcall`, whose frame is the one below.
    Protected,
}

/// A frame that was entered on the trace, or by its parent.
#[derive(Copy, Clone, Debug)]
pub(super) struct Frame {
    /// Base of the frame below.
    pub(super) base: SlotIdx,
    /// Prototype of the frame below. (Under a builtin that of the frame below that.)
    pub(super) proto: Gc<Proto>,
    /// How it is left.
    pub(super) kind: FrameKind,
}

/// The frames above the lowest one that the trace counts slots from, up to the current one.
#[derive(Debug, Default)]
pub(super) struct CallStack {
    pub(super) frames: Vec<Frame>,
    /// By frame: the call that led to it, see [`Origin::call`].
    calls: Vec<u16>,
    /// Frames below the start frame that the trace has returned to.
    pub(super) returned: u32,
}

impl CallStack {
    /// The number of the call that led to the current frame, see [`Origin::call`]. Frames that are new since the last call of this function
    /// were entered by the bytecode instruction `caller`.
    pub(super) fn called_from(&mut self, trace: &mut Trace, caller: Origin) -> u16 {
        self.calls.truncate(self.frames.len());
        for f in &self.frames[self.calls.len()..] {
            let below = self.calls.last().copied().unwrap_or(0);
            self.calls.push(if f.kind == FrameKind::Vararg { below } else { number_of_call(trace, caller) });
        }
        self.calls.last().copied().unwrap_or(0)
    }
    /// Adds a frame that the parent of the trace has entered, with the bytecode instruction that called it if it is not part of another call.
    pub(super) fn keep(&mut self, trace: &mut Trace, frame: Frame, caller: Option<BcAddr>) {
        let below = self.calls.last().copied().unwrap_or(0);
        self.frames.push(frame);
        self.calls.push(caller.map_or(below, |pc| number_of_call(trace, Origin { pc, call: below })));
    }
    /// Would a return from the current frame leave the frame that the trace started in?
    pub(super) fn leaves_start(&self) -> bool {
        !self.frames.iter().any(|f| matches!(f.kind, FrameKind::Call | FrameKind::Cont(_)))
    }
    /// How many frames of a function are below the current one.
    pub(super) fn activations(&self, proto: Gc<Proto>) -> u32 {
        let calls = self.frames.iter().filter(|f| !matches!(f.kind, FrameKind::Vararg | FrameKind::Protected));
        calls.filter(|f| f.proto == proto).count() as u32
    }
}

/// The number of a call among those that the trace has followed.
fn number_of_call(trace: &mut Trace, call: Origin) -> u16 {
    let at = trace.calls.iter().rposition(|c| *c == call).unwrap_or_else(|| {
        trace.calls.push(call);
        trace.calls.len() - 1
    });
    at as u16 + 1
}
