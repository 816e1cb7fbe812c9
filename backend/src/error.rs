//! Reasons why a trace was not compiled.

use perilune_recorder::ir::Op;
use perilune_vm::helper::Helper;

/// A thunk that is compiled when a trace first needs it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Thunk {
    /// It calls a helper and preserves all registers.
    Cold(Helper),
    /// It executes returns.
    IndirectReturn,
}

/// Why a trace was not compiled. None of them affects correctness: the trace is dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackendError {
    /// The target is not supported by Cranelift.
    Target(String),
    /// The operating system provides no executable memory.
    Memory(String),
    /// The code arena is full: flush all traces, then [`Backend::reset`](crate::Backend::reset).
    ArenaFull,
    /// An instruction that is never compiled.
    Unsupported(Op),
    /// A thunk has to be compiled first.
    NoThunk(Thunk),
    /// The trace is malformed at this instruction: a bug in the recorder or the optimiser.
    Malformed(usize, &'static str),
    /// Cranelift refused the function (a bug here, or a limit of Cranelift's).
    Codegen(String),
    /// The program was interrupted ([`CompileRequest::interrupt`](crate::CompileRequest::interrupt)).
    Interrupted,
}

impl core::fmt::Display for BackendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            BackendError::Target(e) => write!(f, "unsupported target: {e}"),
            BackendError::Memory(e) => write!(f, "no executable memory: {e}"),
            BackendError::ArenaFull => write!(f, "machine code area is full"),
            BackendError::Unsupported(op) => write!(f, "{} cannot be compiled", op.name()),
            BackendError::NoThunk(thunk) => write!(f, "no thunk for {thunk:?}"),
            BackendError::Malformed(at, what) => write!(f, "malformed trace at {at:04}: {what}"),
            BackendError::Codegen(e) => write!(f, "code generation: {e}"),
            BackendError::Interrupted => write!(f, "interrupted"),
        }
    }
}

impl std::error::Error for BackendError {}
