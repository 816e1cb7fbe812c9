//! What is known of an exit before it is taken: all that leaving by it needs, in one place, since exits are taken often.

use crate::trace::Entry;
use perilune_recorder::ir::SnapId;
use perilune_vm::bc::Ins;
use perilune_vm::hooks::{Resume, Unboxed};

/// An exit of a trace.
#[derive(Clone, Debug)]
pub struct ExitDescriptor {
    /// The trace.
    pub trace: u32,
    /// Its exit.
    pub exit: u32,
    /// The root trace of its tree.
    pub root: u32,
    /// See [`Entry::gain`].
    pub gain: i64,
    /// See [`Entry::is_end`].
    pub is_end: bool,
    /// Slots in use in the frame.
    pub live: usize,
    /// Slots that must fit the stack for the trace not to leave here at once; 0 where it does not check that.
    pub stack: usize,
    /// Where the interpreter goes on.
    pub pc: *const Ins,
    /// See [`perilune_recorder::ir::Snapshot::multres`].
    pub multres: u32,
    /// So many times the interpreter was last allowed to take it by itself, see [`perilune_vm::hooks::PlainExit`].
    pub allowed: u32,
    /// What is to be made Lua values.
    pub unboxed: Box<[Unboxed]>,
}

impl ExitDescriptor {
    /// Exit `k` of trace `n`.
    pub fn new(n: u32, e: &Entry, k: SnapId) -> ExitDescriptor {
        let snap = e.trace.snap(k);
        ExitDescriptor {
            trace: n,
            exit: k.number(),
            root: e.root,
            gain: e.gain(k),
            is_end: e.is_end(k),
            live: snap.live_slots(),
            stack: if k == SnapId::FIRST && e.trace.checks_stack() {
                e.trace.top_slot as usize - snap.base_slot.index()
            } else {
                0
            },
            pc: core::ptr::with_exposed_provenance(snap.pc as usize),
            multres: snap.multres,
            allowed: 0,
            unboxed: e.unboxed(k).into(),
        }
    }
    /// Where and how the interpreter goes on.
    pub fn resume(&self) -> Resume {
        Resume::at(self.pc, self.multres)
    }
}
