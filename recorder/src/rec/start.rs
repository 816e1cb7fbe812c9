//! The start of a trace. Root traces begin at a hot loop or function.

use super::path::BranchSide;
use super::{Rec, Recorder, loops, view};
use crate::abort::Abort;
use crate::ir::{SlotIdx, TraceExit};
use crate::opt::abc::Induction;
use crate::params::RecParams;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::{Gc, InsPtr, Proto, Thread};
use perilune_vm::{TraceId, Vm};

/// The most instructions that are awaited before the first one.
const MAX_WAIT: u32 = 500;

/// The position of a new trace in a tree of traces.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TreePosition {
    /// The trace.
    pub id: TraceId,
    /// The root trace of the tree: the trace itself for a root trace.
    pub root: TraceId,
    /// For a side trace: the exit that it continues at.
    pub parent: Option<TraceExit>,
    /// For a side trace: how many instructions it may have if the root trace assumes less than it finds. If it is longer, the root trace is
    /// recorded again instead.
    pub tolerated: u32,
    /// For a side trace: does its parent check what may differ once for all iterations of its loop?
    pub checked_once: bool,
    /// For a variant of a loop: does it loop even if the next iteration fails what it checks (`recorder/src/rec/variant.rs`)?
    pub loops_anyway: bool,
}

impl TreePosition {
    /// A root trace.
    pub fn root(id: TraceId) -> TreePosition {
        TreePosition { id, root: id, parent: None, tolerated: 0, checked_once: false, loops_anyway: false }
    }
    /// A side trace in the tree of `root`.
    pub fn side(id: TraceId, root: TraceId, parent: TraceExit, tolerated: u32) -> TreePosition {
        TreePosition { id, root, parent: Some(parent), tolerated, checked_once: false, loops_anyway: false }
    }
}

/// Where a trace starts.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) place: TreePosition,
    /// The instruction that the trace is for: the one to patch, or the one that the exit of the parent resumes at.
    pub(super) pc: InsPtr,
    /// The first instruction to record.
    pub(super) first_pc: InsPtr,
    /// Does the trace start where a root trace does: at a loop or function?
    pub(super) is_root: bool,
    /// The loop of a root trace; `None` for a function.
    pub(super) body: Option<loops::Body>,
    /// The counter of the numeric loop that a root trace is made of.
    pub(super) induction: Option<Induction>,
    /// The trace starts at a return, and may reach it again in a frame further down.
    pub(super) returning: bool,
    /// The coroutine and the frame that the trace starts in, see [`super::native::frame_at`].
    pub(super) frame: (Gc<Thread>, usize),
    /// Slots that hold an int now, and held nums when traces with the same start were recorded: they are loaded as nums, which takes both.
    pub(super) nums: Vec<SlotIdx>,
    /// No instruction has been recorded yet.
    pub(super) pending: bool,
    /// Instructions that have passed while the first one is awaited.
    waited: u32,
}

impl Start {
    pub(super) fn new(vm: &Vm, pc: InsPtr, place: TreePosition) -> Start {
        Start {
            place,
            pc,
            first_pc: pc,
            is_root: false,
            body: None,
            induction: None,
            returning: false,
            frame: (vm.cur, super::native::frame_at(vm)),
            nums: Vec::new(),
            pending: true,
            waited: 0,
        }
    }
    /// Is the first instruction of a root trace still to come? An ITERN that became hot has been executed already: the next one is awaited.
    ///
    /// # Errors
    /// It does not come, because the loop was left.
    pub(super) fn waits(&mut self, pc: InsPtr) -> Rec<bool> {
        if !self.pending || !self.is_root || pc == self.first_pc {
            return Ok(false);
        }
        self.waited += 1;
        if self.waited > MAX_WAIT { Err(Abort::LeavingLoop) } else { Ok(true) }
    }
}

impl Recorder {
    /// Starts a root trace at the hot instruction `start_pc` of the frame at `vm.base`.
    pub fn new_root(vm: &Vm, params: &RecParams, proto: Gc<Proto>, start_pc: InsPtr, id: TraceId) -> Result<Recorder, Abort> {
        Recorder::at_start(vm, params, proto, (start_pc, start_pc.ins()), TreePosition::root(id))
    }
    /// Starts a side trace at the first exit of a root trace: the same start (where `ins` was before it was patched) with values
    /// of other types. It may loop to its own start.
    pub fn new_restart(
        vm: &Vm,
        params: &RecParams,
        proto: Gc<Proto>,
        start: (InsPtr, Ins),
        place: TreePosition,
    ) -> Result<Recorder, Abort> {
        Recorder::at_start(vm, params, proto, start, place)
    }
    /// Loads these slots as nums where they hold ints: traces with the same start have met both. The counter of the loop that the trace is
    /// made of stays what it is.
    #[must_use]
    pub fn expecting_nums(mut self, mut slots: Vec<SlotIdx>) -> Recorder {
        if let Some(counter) = self.start.body.and_then(loops::Body::counter) {
            let first = self.base + counter;
            slots.retain(|&at| at < first || at > first + 2);
        }
        self.start.nums = slots;
        self
    }
    /// The recording is aborted, to be repeated, if it does not follow this side of a branch.
    #[must_use]
    pub fn following(mut self, side: Option<BranchSide>) -> Recorder {
        self.following.side = side;
        self
    }
    fn at_start(
        vm: &Vm,
        params: &RecParams,
        proto: Gc<Proto>,
        (start_pc, ins): (InsPtr, Ins),
        place: TreePosition,
    ) -> Result<Recorder, Abort> {
        let mut r = Recorder::new(vm, params, proto, place);
        r.start.is_root = true;
        r.start.pc = start_pc;
        r.start.first_pc = match ins.op() {
            Bc::FORL | Bc::IFORL | Bc::ITERL | Bc::IITERL => view::target(start_pc, ins),
            Bc::LOOP | Bc::ILOOP | Bc::FUNCF | Bc::IFUNCF | Bc::FUNCV | Bc::IFUNCV => view::at(start_pc, 1),
            Bc::ITERN => start_pc,
            op => {
                let _ = op;
                return Err(Abort::NyiBytecode);
            }
        };
        r.start.body = loops::body(start_pc, ins);
        r.enter_frame(proto);
        r.b.origin.pc = start_pc.addr();
        r.snap(r.start.first_pc)?;
        r.take_fuel()?;
        if matches!(ins.op(), Bc::FORL | Bc::IFORL) {
            // The index and its visible copy are the same here.
            let idx = r.get(vm, ins.a())?;
            r.slots[r.base + ins.a() + 3] = idx;
            r.for_constants(vm, start_pc, ins)?;
            r.for_induction(vm, start_pc, ins)?;
        }
        Ok(r)
    }
}
