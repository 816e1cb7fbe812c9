//! The machine code of traces, as the registry knows it.

use perilune_backend::CodeMap;
use perilune_vm::ExitId;

/// The machine code of a trace; all zeros for a trace that the evaluator runs.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// The address of its entry.
    pub address: usize,
    /// Its size in bytes.
    pub size: usize,
    /// Offset of the loop; 0 if there is none.
    pub loop_offset: u32,
}

impl Code {
    /// Does an address lie in it?
    pub fn contains(self, address: usize) -> bool {
        (self.address..self.address + self.size).contains(&address)
    }
}

/// A trace that can run.
pub struct Placed {
    /// Its machine code.
    pub code: Code,
    /// What each part of the machine code does.
    pub map: CodeMap,
    /// Id of its first exit.
    pub first_exit: ExitId,
}
