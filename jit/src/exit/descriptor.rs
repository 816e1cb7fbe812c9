//! Exit descriptors: all that the runtime needs to leave a trace by an exit, computed when the trace is made, since exits are taken often.

use crate::trace::Entry;
use perilune_recorder::ir::{SnapId, TraceExit};
use perilune_vm::TraceId;
use perilune_vm::hooks::Unboxed;
use perilune_vm::object::InsPtr;

/// What the runtime needs at an exit, except for the slots.
#[derive(Copy, Clone, Debug)]
pub struct ExitFacts {
    /// The trace, and the exit of that trace.
    pub exit: TraceExit,
    /// The root trace of its tree.
    pub root: TraceId,
    /// See [`Entry::saving`].
    pub saving: i64,
    /// See [`Entry::is_end`].
    pub is_end: bool,
    /// Slots in use in the frame that is resumed.
    pub live: usize,
    /// Where the exit is that of the stack check: slots that must fit the stack for the trace not to leave there; 0 for other exits.
    pub stack: usize,
    /// The instruction that the interpreter continues at.
    pub pc: InsPtr,
    /// See [`perilune_recorder::ir::Snapshot::multres`].
    pub multres: u32,
}

/// An exit of a trace.
#[derive(Clone, Debug)]
pub struct ExitDescriptor {
    /// All that is fixed when the trace is made.
    pub facts: ExitFacts,
    /// How many times the interpreter was last allowed to take the exit by itself, see [`perilune_vm::hooks::PlainExit`].
    pub allowed: u32,
    /// The slots that the exit has left unboxed.
    pub unboxed: Box<[Unboxed]>,
}

impl ExitDescriptor {
    /// Exit `k` of trace `n`.
    pub fn new(n: TraceId, e: &Entry, k: SnapId) -> ExitDescriptor {
        let snap = e.trace.snap(k);
        let facts = ExitFacts {
            exit: TraceExit { trace: n, exit: k },
            root: e.root,
            saving: e.saving(k),
            is_end: e.is_end(k),
            live: snap.live_slots(),
            stack: if k == SnapId::FIRST && e.trace.checks_stack() {
                e.trace.top_slot as usize - snap.base_slot.index()
            } else {
                0
            },
            pc: e.ins_ptr(snap.pc),
            multres: snap.multres,
        };
        ExitDescriptor { facts, allowed: 0, unboxed: e.unboxed(k).into() }
    }
}
