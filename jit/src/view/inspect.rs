//! Snapshots of the state of the compiler: its traces, and the recording under way.

use crate::Jit;
use crate::stdlib::{GuardKind, ObjectNames, Words, type_word};
use crate::trace::Entry;
use perilune_recorder::ir::{Const, Op, SnapId};
use perilune_vm::TraceId;
use perilune_vm::object::{BcPos, Gc, Proto};
use perilune_vm::value::Value;

/// A trace.
#[derive(Clone, Debug)]
pub struct TraceView {
    /// Its number.
    pub number: TraceId,
    /// The prototype that it lives as long as.
    pub owner: Gc<Proto>,
    /// The prototypes whose code it is made from.
    pub protos: Vec<Gc<Proto>>,
    /// The objects among its constants.
    pub constants: Vec<Value>,
    /// Bytes of machine code.
    pub code: usize,
}

/// A recording under way.
#[derive(Copy, Clone, Debug)]
pub struct RecordingView {
    /// Number of the trace that is to be.
    pub number: TraceId,
    /// Where it started.
    pub head: Option<BcPos>,
    /// Instructions of IR so far.
    pub length: usize,
}

impl Jit {
    /// Calls `f` for each trace. `f` must not call the compiler.
    pub fn for_each_trace(&self, mut f: impl FnMut(TraceView)) {
        for (number, e) in self.registry.borrow().iter() {
            let constants = e.trace.consts.iter().filter_map(|k| match k {
                Const::Gc(v) => Some(*v),
                _ => None,
            });
            f(TraceView {
                number,
                owner: e.owner(),
                protos: e.protos().to_vec(),
                constants: constants.collect(),
                code: e.code.size,
            });
        }
    }
    /// What is being recorded.
    pub fn recording_view(&self) -> Option<RecordingView> {
        let recording = self.recording.current.borrow();
        let r = recording.as_ref()?;
        Some(RecordingView { number: r.number(), head: r.head(), length: r.trace().ins.len() })
    }
}

/// A guard of a trace.
#[derive(Clone, Debug)]
pub struct GuardView {
    /// Index of the instruction.
    pub index: usize,
    /// The instruction that it was recorded for.
    pub pos: Option<BcPos>,
    /// The condition that it checks, in words.
    pub condition: String,
    /// What it is about.
    pub kind: GuardKind,
    /// The type, if it checks the type of its value.
    pub asks_type: Option<&'static str>,
}

impl Entry {
    /// Where the interpreter continues after an exit.
    pub fn resumes_at(&self, exit: usize) -> Option<BcPos> {
        self.position_of(self.trace.snaps.get(exit)?.pc)
    }
    /// The guards that leave by an exit.
    pub fn guards_at(&self, exit: usize, names: &ObjectNames<'_>) -> Vec<GuardView> {
        self.trace.guarded_by(SnapId::new(exit)).filter(|&i| self.asks(i)).map(|i| self.guard(i, names)).collect()
    }
    /// The guard of an instruction.
    pub fn guard(&self, index: usize, names: &ObjectNames<'_>) -> GuardView {
        let words = Words::of(self, names);
        GuardView {
            index,
            pos: self.position_of(self.trace.origin(index)),
            condition: if index == 0 { "the frames of the trace fit the stack".into() } else { words.condition(index) },
            kind: words.kind(index),
            asks_type: words.asks_type(index).then(|| type_word(self.trace.ins[index].ty)),
        }
    }
    /// Is it a guard with a condition?
    fn asks(&self, i: usize) -> bool {
        let ins = self.trace.ins[i];
        ins.is_guard() && !ins.is_sunk() && !matches!(ins.op, Op::NOP | Op::SYNC | Op::COSAVE)
    }
    /// Is the trace, whose number is `n`, entered from its start? Side traces are entered by exits.
    pub fn is_entered(&self, n: TraceId) -> bool {
        if let Some(start) = &self.start {
            return crate::trace::patch::is_armed(start, n);
        }
        self.stitch_stub().is_some_and(|stub| stub.trace() == Some(n))
    }
}
