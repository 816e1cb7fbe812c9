//! What the compiler shows of itself to whoever looks: its traces, and what it is recording.

use crate::Jit;
use perilune_recorder::ir::Const;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::value::Value;

/// A trace.
#[derive(Clone, Debug)]
pub struct TraceView {
    /// Its number.
    pub number: u32,
    /// The function that it lives as long as.
    pub owner: Gc<Proto>,
    /// The functions that it is made from.
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
    pub number: u32,
    /// The function and the index of the instruction that it started at.
    pub head: Option<(Gc<Proto>, usize)>,
    /// Instructions of IR so far.
    pub length: usize,
}

impl Jit {
    /// Calls `f` for each trace. `f` does not reach the compiler.
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
                code: e.code.1,
            });
        }
    }
    /// What is being recorded.
    pub fn recording_view(&self) -> Option<RecordingView> {
        let recording = self.recording.borrow();
        let r = recording.as_ref()?;
        Some(RecordingView { number: r.number(), head: r.head(), length: r.trace().ins.len() })
    }
}
