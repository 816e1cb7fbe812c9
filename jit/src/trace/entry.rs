//! A finished trace, and its exits.

use super::code::Code;
use crate::policy::cost;
use crate::policy::cost::Size;
use crate::policy::replacement::Replacement;
use perilune_backend::CodeMap;
use perilune_recorder::ir::{Link, SnapId, Trace};
use perilune_recorder::opt::Pass;
use perilune_recorder::rec::Path;
use perilune_vm::bc::Ins;
use perilune_vm::hooks::Unboxed;
use perilune_vm::object::{BcAddr, BcPos, Gc, InsPtr, Proto, StitchStub, WatchedField};
use perilune_vm::{ExitId, TraceId};
use std::rc::Rc;
use std::time::Duration;

/// An exit.
#[derive(Copy, Clone, Default, Debug)]
pub struct Exit {
    /// How often it was taken to the interpreter.
    pub taken: u32,
    /// Hot exit counter: how often it was taken to the interpreter while a side trace could have been recorded; [`Exit::DONE`] when no
    /// (further) side trace will be recorded.
    pub hot_count: u32,
    /// The hot count at which the threshold is computed again.
    pub next_check: u32,
    /// Recordings of a side trace that were started.
    pub tries: u32,
    /// The size of the last recording, if it ended because it was too long, or made a trace that was too expensive.
    pub size: Option<Size>,
    /// Did the last recording make a trace that was too expensive?
    pub too_expensive: bool,
    /// The side trace that starts there.
    pub side: Option<TraceId>,
    /// How many recordings failed that started over from here (see `Jit::restart_position`), up to [`Exit::MAX_RESTARTS`]: then only an
    /// ordinary side trace is recorded.
    pub failed_restarts: u8,
    /// How many recordings were aborted for another loop to be recorded first, up to [`Exit::MAX_RESTARTS`].
    pub waits: u8,
    /// How many variants that started there were recorded again, because they followed a side of a branch that was rarely taken.
    pub replaced: u32,
    /// The next recording is such a one.
    pub replaces: Option<Replacement>,
}

impl Exit {
    /// No (further) side trace is recorded: LuaJIT's `SNAPCOUNT_DONE`.
    pub const DONE: u32 = u32::MAX;
    /// One try less than `tryside`.
    pub const MAX_RESTARTS: u8 = 3;

    /// A recording from here was aborted for another loop to be recorded first. Is it tried again as soon as that has happened? Not if it
    /// came to one loop after the other, as what follows the return of a function that is called from everywhere.
    pub fn waits_for_loop(&mut self) -> bool {
        let waits = self.waits < Exit::MAX_RESTARTS;
        self.waits += u8::from(waits);
        waits
    }
}

/// Where a root trace starts.
#[derive(Copy, Clone, Debug)]
pub struct TraceStart {
    /// The position.
    pub pos: BcPos,
    /// The instruction there before it was patched to enter the trace.
    pub original: Ins,
}

/// A finished trace.
#[derive(Debug)]
pub struct Entry {
    /// The trace, optimised.
    pub trace: Rc<Trace>,
    /// Root trace: its own number for a root trace.
    pub root: TraceId,
    /// The root trace that took its place after it was taken out of use.
    pub replaced_by: Option<TraceId>,
    /// Does the trace return below the frame that it starts in?
    pub returns: bool,
    /// For a root trace that a loop or a function header enters: where it starts.
    pub start: Option<TraceStart>,
    /// For a trace after a call that another trace ended in front of: the position of the call. Its stitch stub enters the trace.
    pub stitch: Option<BcPos>,
    /// The prototypes whose code the trace is made from. The first is the owner: the one that the root trace starts in.
    pub(super) protos: Vec<Gc<Proto>>,
    /// The fields that the trace takes for constants.
    pub watched: Box<[WatchedField]>,
    /// The bytecode instructions that it was recorded from.
    pub path: Path,
    /// One of them was stored to: the trace is not entered any more.
    pub is_invalid: bool,
    /// For a side trace: exits lead to it no longer, and it does not count among the side traces of its root trace.
    pub is_unlinked: bool,
    /// Is it a side trace that starts where its root trace does?
    pub is_variant: bool,
    /// Whether entering it pays.
    pub account: Account,
    /// Id of the first exit.
    pub exit_base: ExitId,
    /// The exits.
    pub exits: Vec<Exit>,
    /// Side traces (of a root trace).
    pub sides: u32,
    /// The machine code.
    pub code: Code,
    /// What each part of the machine code does.
    pub map: CodeMap,
    /// For a root trace: the function of its tree, which is entered in place of this trace's own code.
    pub tree: Option<TreeCode>,
    /// For a side trace: how often it has run in its own code.
    pub runs: Runs,
    /// Time that making it took.
    pub cost: Cost,
}

impl Entry {
    /// Is it a root trace that leaves at once when it is entered, since it is invalid or is to be recorded again?
    pub fn leads_out(&self) -> bool {
        self.tree.as_ref().is_some_and(|t| t.members.is_empty())
    }
}

/// Whether entering a trace pays, in bytecode instructions: see [`Entry::saving`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Instructions that have run in the traces above when this one begins.
    pub above: u32,
    /// First snapshot of the loop; the one after the last if there is no loop.
    pub loop_snap: SnapId,
    /// For a root trace: may a trace of its tree jump back to a loop, so that more instructions have run when the tree is left than lie on
    /// the straight path there?
    pub goes_round: bool,
    /// For a root trace: instructions that entering its tree has saved, less those that it has lost.
    pub saved: i64,
    /// For a root trace: instructions of its tree; first those of traces that agree with what the root trace assumes, then those of side
    /// traces that found that it assumes too much.
    pub instructions: [u32; 2],
}

impl Account {
    /// How many instructions a side trace may have that finds that the root trace assumes too much, such as only integers: see
    /// [`cost::OUTDATED`].
    pub fn tolerated(&self) -> u32 {
        let [others, outdated] = self.instructions;
        (others / cost::OUTDATED).saturating_sub(outdated)
    }
}

/// Time that making a trace took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Time for recording.
    pub record: Duration,
    /// Time for the passes.
    pub optimise: Duration,
    /// Time for machine code.
    pub lower: Duration,
    /// What each pass did.
    pub passes: Vec<Pass>,
}

/// The function that a root trace and some of its side traces were compiled to.
#[derive(Debug)]
pub struct TreeCode {
    /// Address and size.
    pub code: Code,
    /// The side traces in it, parents before their children.
    pub members: Vec<TraceId>,
}

/// How often a side trace has run, as far as that is counted.
#[derive(Copy, Clone, Default, Debug)]
pub struct Runs {
    /// Until the countdown was last set.
    pub(super) before: u64,
    /// What it was set to.
    pub(super) set: i32,
}

impl Entry {
    /// The prototype that the trace lives as long as: the one that its root trace starts in.
    pub fn owner(&self) -> Gc<Proto> {
        self.protos[0]
    }
    /// The position of the instruction at an address.
    pub fn position_of(&self, address: BcAddr) -> Option<BcPos> {
        self.protos.iter().find_map(|p| BcPos::of_address(*p, address))
    }
    /// The instruction at an address from one of the trace's snapshots.
    pub(crate) fn ins_ptr(&self, address: BcAddr) -> InsPtr {
        let found = self.protos.iter().find_map(|p| p.ins_ptr(address));
        debug_assert!(found.is_some(), "a trace keeps the prototypes that its snapshots resume in");
        found.unwrap_or_else(|| BcPos { proto: self.owner(), index: 0 }.ptr())
    }
    /// The functions that the trace is made from.
    pub fn protos(&self) -> &[Gc<Proto>] {
        &self.protos
    }
    /// Does leaving by this exit mean that the trace has ended, and not that a guard failed? Not for a side trace that ends within a chain
    /// of returns: another side trace may follow the chain.
    pub fn is_end(&self, exit: SnapId) -> bool {
        exit == self.trace.last_exit()
            && match self.trace.link {
                Link::Interp | Link::Stitch => true,
                Link::Return => !self.returns,
                _ => false,
            }
    }
    /// Makes its start, or its stitch stub, enter trace `n` no longer.
    pub(super) fn disarm(&self, n: TraceId) {
        if let Some(start) = &self.start {
            super::patch::disarm(start, n);
        }
        if let Some(stub) = self.stitch_stub().filter(|stub| stub.trace() == Some(n)) {
            stub.set_trace(None);
        }
    }
    /// The stitch stub that enters the trace, if one does.
    pub fn stitch_stub(&self) -> Option<&StitchStub> {
        self.stitch.as_ref()?.stitch_stub()
    }
    /// The slots that exit `k` leaves unboxed.
    pub fn unboxed(&self, k: SnapId) -> Vec<Unboxed> {
        perilune_backend::unboxed::unboxed(&self.trace, k)
    }
    /// The prototype in which a trace is entered from the interpreter; `None` for side traces.
    pub fn entered_in(&self) -> Option<Gc<Proto>> {
        self.start.map(|s| s.pos.proto).or(self.stitch.map(|s| s.proto))
    }
    /// Bytecode instructions saved when the trace is left by `exit`: at least those up to there. A loop that reached its second iteration
    /// makes up for all losses, since the number of its iterations is not known.
    pub fn saving(&self, exit: SnapId) -> i64 {
        let done = self.trace.snaps.get(exit.index()).map_or(0, |s| s.done);
        let saving = i64::from(self.account.above) + i64::from(done) - cost::ENTRY_COST;
        if exit >= self.account.loop_snap { 2 * cost::MAX_LOSS } else { saving }
    }
    /// Bytecode instructions up to the end of the trace, where it links to another.
    pub fn length(&self) -> i64 {
        i64::from(self.account.above) + self.trace.snaps.get(self.trace.last_exit().index()).map_or(0, |s| i64::from(s.done))
    }
}
