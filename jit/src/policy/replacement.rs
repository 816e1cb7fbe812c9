//! Recordings that are to replace a trace which follows the rare side of a branch (`jit/src/trace/rare_side.rs`): what they must follow, and how
//! often they are repeated.

use perilune_recorder::rec::BranchSide;

/// Recordings in the place of a trace that are repeated at once, until the old root trace is entered again: because they have not followed the
/// usual side, or have met the end of the loop, or have learned something. Each is one iteration in the interpreter. The chance that none of eight
/// follows a side that half of the iterations take is 1 in 256.
const MOST_TRIES: u32 = 8;

/// A recording that is to replace a root trace or variant.
#[derive(Copy, Clone, Debug)]
pub struct Replacement {
    /// The usual side of the branch, if what the old trace leaves at is one: a recording that does not follow it is repeated.
    side: Option<BranchSide>,
    /// How often it has begun.
    tries: u32,
}

impl Replacement {
    /// A recording that is to follow `side`, if that is known.
    pub(crate) fn new(side: Option<BranchSide>) -> Replacement {
        Replacement { side, tries: 0 }
    }
    /// The recording begins: the side of the branch that it is to follow.
    pub(crate) fn begin(&mut self) -> Option<BranchSide> {
        self.tries += 1;
        self.side
    }
    /// May it be repeated if it is aborted?
    pub(crate) fn may_repeat(self) -> bool {
        self.tries < MOST_TRIES
    }
}
