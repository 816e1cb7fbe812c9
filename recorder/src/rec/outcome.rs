//! The outcome of recording an instruction: the next instruction, a finished trace, or an abort.

use super::path::Path;
use crate::abort::Abort;
use crate::ir::history::History;
use crate::ir::{Op, Trace};
use crate::opt::Pass;
use perilune_vm::bc::Op as Bc;
use perilune_vm::object::{Gc, InsPtr, Proto, WatchedField};
use perilune_vm::{TraceId, Value};
use std::time::Duration;

/// A finished recording.
#[derive(Clone, Debug)]
pub struct FinishedTrace {
    /// The trace, optimised.
    pub trace: Trace,
    /// Instruction that the trace starts at (for a root trace the one to patch).
    pub start_pc: InsPtr,
    /// First recorded instruction.
    pub first_pc: InsPtr,
    /// The instruction that was about to run when the recording ended.
    pub end_pc: InsPtr,
    /// Does it start where its root trace does? So do variants of that, which are side traces; one that continues at the root trace is no variant.
    pub from_start: bool,
    /// Root trace that it belongs to: itself for a root trace.
    pub root: TraceId,
    /// The functions whose code it is made from: they must live as long as it.
    pub protos: Vec<Gc<Proto>>,
    /// The function that it ends in.
    pub last: Gc<Proto>,
    /// The function that it ends in front of, if the call is to be stitched.
    pub stitch: Option<Value>,
    /// Does the root trace assume less than what was found?
    pub stale: bool,
    /// What each pass did.
    pub passes: Vec<Pass>,
    /// Time that the passes took.
    pub optimised: Duration,
    /// Fields that it takes for constants.
    pub watched: Vec<WatchedField>,
    /// The bytecode instructions that it was recorded from.
    pub path: Path,
    /// How it was recorded and optimised, if [`crate::params::RecParams::history`] is set.
    pub history: Option<Box<History>>,
}

/// Details of an abort.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum AbortInfo {
    /// None.
    None,
    /// A bytecode.
    Bytecode(Bc),
    /// A function.
    Func(Value),
    /// An IR instruction.
    Ir(Op),
}

/// The outcome of recording an instruction.
#[derive(Debug)]
pub enum Step {
    /// The instruction was recorded.
    Continue,
    /// The trace is complete.
    Done(Box<FinishedTrace>),
    /// The recording is aborted.
    Abort {
        /// Why.
        reason: Abort,
        /// Details.
        info: AbortInfo,
    },
}
