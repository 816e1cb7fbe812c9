//! The path of a recording: the bytecode instructions that it has followed. Where two paths part tells which side of a branch a new recording is
//! to follow.

use crate::abort::Abort;
use crate::ir::Snapshot;
use perilune_vm::bc::Op;
use perilune_vm::object::BcAddr;

/// The bytecode instructions that a trace was recorded from. Those of builtins are not among them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path {
    /// In the order of their execution.
    instructions: Vec<BcAddr>,
    /// How many of them are branches.
    branches: u32,
}

/// The side of a branch that a recording is to follow.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BranchSide {
    /// Instructions from the start of the trace up to this side.
    pub done: usize,
    /// The instruction that it begins with.
    pub pc: BcAddr,
}

impl Path {
    /// The instruction at `pc`, an `op`, is executed next.
    pub fn add(&mut self, pc: BcAddr, op: Op) {
        self.instructions.push(pc);
        self.branches += u32::from(op.is_branch());
    }
    /// Is the instruction at `pc` on it?
    pub fn contains(&self, pc: BcAddr) -> bool {
        self.instructions.contains(&pc)
    }
    /// How many instructions it has.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }
    /// Has it no instruction?
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }
    /// How many of its instructions branch ([`Op::is_branch`]).
    pub fn branches(&self) -> u32 {
        self.branches
    }
    /// The side of the branch that a trace with this path does not follow, but `side` does, a side trace at `exit`. The two may part only later:
    /// where a value of another type leaves, before a test of that value. `None` if they do not part.
    pub fn other_side(&self, exit: &Snapshot, side: &Path) -> Option<BranchSide> {
        // Where the exit decides a branch, it resumes at the other side, behind the instruction that branches.
        let done = usize::from(exit.done) + usize::from(exit.decides);
        let is_aligned = exit.decides || self.instructions.get(done) == Some(&exit.pc);
        let parts = self.instructions.get(done..)?.iter().zip(&side.instructions).position(|(a, b)| a != b)?;
        is_aligned.then(|| BranchSide { done: done + parts, pc: side.instructions[parts] })
    }
}

/// The path so far, and what it is to follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Following {
    pub(super) path: Path,
    /// The side of a branch that the recording has not come to yet.
    pub(super) side: Option<BranchSide>,
}

impl Following {
    /// The instruction at `pc`, an `op`, comes next.
    ///
    /// # Errors
    /// It is not the one that begins the side to follow: the recording is to be repeated.
    pub(super) fn next(&mut self, pc: BcAddr, op: Op) -> Result<(), Abort> {
        let is_there = self.side.is_some_and(|side| side.done == self.path.instructions.len());
        if is_there && self.side.take().is_some_and(|side| side.pc != pc) {
            return Err(Abort::Retry);
        }
        self.path.add(pc, op);
        Ok(())
    }
}
