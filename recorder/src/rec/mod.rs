//! The recorder: follows the interpreter and emits IR for what each instruction does to its current operands.
//!
//! [`Recorder::record`] is called before each instruction (LuaJIT's `lj_record_ins`). It emits IR for the operands as they are now, with
//! guards for all that may differ when the trace runs. A guard leaves through the newest snapshot. The instructions between that snapshot
//! and the guard have no effect, so that the interpreter can execute them again. After an effect or a branch, the next instruction takes a
//! snapshot.
//!
//! Slots are numbered as [`SlotIdx`] says. Where a slot has no reference yet, its value is in memory.
//!
//! Each part of the state has a file: `start` the start of the trace, `stack` the frames entered, `window` the slots, `slots` the
//! snapshots, `native` calls of builtins, `coroutine` switches, `feedback` the feedback of each bytecode instruction.
//!
//! Next on the way of a hot loop: `recorder/src/opt/mod.rs`.
#![allow(clippy::wrong_self_convention, reason = "what converts is not the recorder, but a reference that it emits code for")]

mod arith;
mod call;
mod check;
mod closure;
mod compare;
mod concat;
mod coroutine;
mod dispatch;
mod exit_checks;
mod feedback;
mod ffi;
mod finish;
mod fuel;
mod guard;
mod index;
mod iter;
mod iterations;
mod kept_frames;
mod loops;
mod meta;
mod native;
mod on_trace;
mod outcome;
mod path;
mod protect;
mod ret;
mod side;
mod slots;
mod stack;
mod start;
mod stdlib;
mod trace_db;
mod upval;
mod varargs;
pub mod variant;
mod view;
mod watchpoint;
mod window;

pub use crate::params::RecParams;
pub use feedback::{Distinct, Site, TableFeedback};
pub use iterations::few_iterations;
pub use outcome::{AbortInfo, FinishedTrace, Step};
pub use path::{BranchSide, Path};
pub use side::{Inherited, inherited};
pub use start::TreePosition;
pub use trace_db::{TraceDb, find_liveness};

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{IrRef, Link, Op, Origin, SlotIdx, Ty, sload};
use crate::opt;
use coroutine::Switches;
use feedback::Feedback;
use native::NativeCalls;
use on_trace::on_trace;
use perilune_vm::bc::Op as Bc;
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::gc::Marker;
use perilune_vm::object::{BcPos, Gc, InsPtr, Proto, WatchedField};
use perilune_vm::state::Activity;
use perilune_vm::stdlib::{Library, OnTrace};
use perilune_vm::{TraceId, Value, Vm};
use slots::Snapshots;
use stack::{CallStack, Frame, FrameKind};
use start::Start;
use window::Window;

/// Most slots of the frames of a trace, as in LuaJIT (`LJ_MAX_JSLOTS`).
const MAX_SLOTS: usize = 250;
/// An operation of the FFI takes the interpreter as long as so many bytecode instructions besides the one that it belongs to: 20 ns, measured.
pub const FFI_BYTECODES: u16 = 12;
type Rec<T> = Result<T, Abort>;

/// How the recording continues after an instruction.
enum Flow {
    /// With the next instruction.
    Next,
    /// The trace ends, and the interpreter continues at this instruction.
    Stop(Link, InsPtr),
}

/// What remains of the limits of unrolling.
#[derive(Debug)]
struct Unroll {
    /// Iterations of inner loops that may still be unrolled.
    loops: i32,
    /// Further iterations of the trace's own loop that may be recorded while types are not stable.
    iterations: u32,
    /// Number of instructions at the last inner loop.
    last_loop: usize,
    /// Tail calls followed.
    tail_calls: u32,
    /// Outer loops whose traces lead back to the root trace, and which the side trace has followed.
    led_back: Vec<InsPtr>,
}

/// A list of values whose length is known at run time only: the results of a call, or the arguments of a vararg function.
#[derive(Copy, Clone, Debug)]
struct OpenList {
    /// Number of values.
    count: u32,
    /// The first slot above them; [`SlotIdx::FUNC`] if there is no such list.
    top: SlotIdx,
}

/// What the trace relies on, besides its guards.
#[derive(Debug)]
struct Dependencies {
    /// Prototypes seen while recording that nothing else may keep alive.
    protos: Vec<Gc<Proto>>,
    /// Fields that are taken for constants.
    watched: Vec<WatchedField>,
}

/// A recording.
#[derive(Debug)]
pub struct Recorder {
    /// The trace under construction.
    pub b: IrBuffer,
    params: RecParams,
    start: Start,
    /// Bytecode instructions recorded so far.
    bytecodes: u16,
    /// Which they were, and which are to come.
    following: path::Following,
    /// What of it takes fuel.
    fuel: fuel::Fuel,
    /// Prototype of the current frame.
    proto: Gc<Proto>,
    /// First local of the current frame.
    base: SlotIdx,
    /// What is known about the slots.
    slots: Window,
    /// The highest slot (exclusive) that the frames need, since the trace switched to the current coroutine.
    top_slot: SlotIdx,
    open: OpenList,
    stack: CallStack,
    snaps: Snapshots,
    /// The functions that the trace makes.
    closures: Vec<closure::Closure>,
    unroll: Unroll,
    native: NativeCalls,
    switches: Switches,
    feedback: Feedback,
    deps: Dependencies,
    /// Details of the abort, or the builtin that the trace ends in front of.
    info: AbortInfo,
}

impl Recorder {
    fn new(vm: &Vm, params: &RecParams, proto: Gc<Proto>, place: TreePosition) -> Recorder {
        let mut b = opt::buffer(params.flags, params.limits);
        b.history = params.history.then(Box::default);
        if let Some(parent) = place.parent {
            b.set_parent(parent);
        }
        // Replaced when the start of the trace is known.
        let head = BcPos { proto, index: 0 }.ptr();
        let unroll = Unroll {
            loops: params.loopunroll as i32,
            iterations: params.instunroll,
            last_loop: 0,
            tail_calls: 0,
            led_back: Vec::new(),
        };
        Recorder {
            b,
            params: *params,
            start: Start::new(vm, head, place),
            bytecodes: 0,
            following: path::Following::default(),
            fuel: fuel::Fuel::new(vm),
            proto,
            base: SlotIdx::BASE,
            slots: Window::default(),
            top_slot: SlotIdx::FUNC,
            open: OpenList { count: 0, top: SlotIdx::FUNC },
            stack: CallStack::default(),
            snaps: Snapshots::new(),
            closures: Vec::new(),
            unroll,
            native: NativeCalls::default(),
            switches: Switches::default(),
            feedback: Feedback::new(head, place.parent.is_some()),
            deps: Dependencies { protos: vec![proto], watched: Vec::new() },
            info: AbortInfo::None,
        }
    }
    /// The feedback of the instruction just recorded, for [`TraceDb::site`].
    pub fn site(&self) -> Option<(BcPos, Site)> {
        Some((self.bc_pos(self.feedback.pc)?, self.feedback.site))
    }
    /// The position of an instruction of the functions that the trace is made from.
    fn bc_pos(&self, pc: InsPtr) -> Option<BcPos> {
        core::iter::once(&self.proto).chain(&self.deps.protos).find_map(|p| BcPos::of_address(*p, pc))
    }
    /// Was feedback found that the recording itself, or traces above it, may contradict?
    pub fn has_learned(&self) -> bool {
        self.feedback.learned
    }
    /// Must the root trace be recorded again, because it or a trace between them expects less than what is known now?
    pub fn is_root_stale(&self) -> bool {
        self.feedback.is_above_stale
    }
    /// The number of the trace.
    pub fn id(&self) -> TraceId {
        self.start.place.id
    }
    /// Root trace of its tree: itself for a root trace.
    pub fn root(&self) -> TraceId {
        self.start.place.root
    }
    /// The bytecode instructions recorded so far.
    pub fn path(&self) -> &Path {
        &self.following.path
    }
    /// Instruction that the trace starts at.
    pub fn start_pc(&self) -> InsPtr {
        self.start.pc
    }
    /// First instruction that is recorded.
    pub fn first_pc(&self) -> InsPtr {
        self.start.first_pc
    }
    /// Frames entered and not left since the start.
    pub fn frame_depth(&self) -> usize {
        self.stack.frames.len()
    }
    /// Prototype of the function being recorded.
    pub fn proto(&self) -> Gc<Proto> {
        self.proto
    }

    /// Marks the objects that the recording refers to.
    pub fn mark(&self, marker: &mut Marker) {
        self.b.trace.mark(marker);
        for p in &self.deps.protos {
            marker.mark(*p);
        }
    }

    /// Records the instruction at `pc`, which is about to run in the frame at `vm.base`.
    pub fn record(&mut self, vm: &mut Vm, db: &dyn TraceDb, pc: InsPtr) -> Step {
        let done = self.instruction(vm, db, pc).and_then(|flow| match flow {
            Flow::Next => Ok(None),
            Flow::Stop(..) if self.following.side.is_some() => Err(Abort::Retry),
            Flow::Stop(link, to) => {
                let link = self.continuation(vm, link, pc);
                // Does the trace end in front of the instruction? A FORL without a body is its own target.
                let before = to == pc && !matches!(pc.ins().op(), Bc::FORL | Bc::IFORL | Bc::JFORL);
                self.fuel.executed -= u32::from(before);
                let activity = vm.begin_activity(Activity::Optimizer);
                let done = self.load_carried(vm, link, to).and_then(|()| self.finish(link, to, pc));
                vm.begin_activity(activity);
                let done = done?;
                self.fuel.executed += u32::from(before);
                match done {
                    // A trace from an ITERN closes in front of it, so the ITERN of the further iteration is still to be recorded.
                    None if to == pc && !is_injected(Fault::NextEntry) => self.itern_again(vm, db, pc).map(|()| None),
                    done => Ok(done),
                }
            }
        });
        match done {
            Ok(None) => Step::Continue,
            Ok(Some(trace)) => Step::Done(Box::new(trace)),
            Err(_) if self.feedback.stale && self.start.place.tolerated == 0 => {
                Step::Abort { reason: Abort::Retry, info: AbortInfo::None }
            }
            Err(reason) => {
                self.blame_switch(reason);
                if reason == Abort::NyiBytecode && self.info == AbortInfo::None {
                    self.info = AbortInfo::Bytecode(pc.ins().op());
                }
                Step::Abort { reason, info: self.info }
            }
        }
    }

    fn instruction(&mut self, vm: &mut Vm, db: &dyn TraceDb, pc: InsPtr) -> Rec<Flow> {
        let ins = pc.ins();
        if self.start.waits(pc)? {
            return Ok(Flow::Next);
        }
        if ins.op().is_native_header() {
            // The builtin was recorded with its call.
            if self.native.headers == 0 {
                // A builtin that was called calls another one in its place.
                return match self.native.pending.take() {
                    Some(call) => self.leaves(call),
                    None => self.nyi_func(view::slot(vm, -2)),
                };
            }
            self.native.headers -= 1;
            self.fuel.executed += 1;
            if view::slot(vm, -2).as_func().is_some_and(|f| on_trace(f) == OnTrace::Record(Library::Ffi)) {
                self.bytecodes = self.bytecodes.saturating_add(FFI_BYTECODES);
            }
            return Ok(Flow::Next);
        }
        self.native.headers = 0;
        self.fuel.current = Some(pc);
        if let Some(call) = self.native.pending.take() {
            self.fuel_after_native()?;
            self.after_native(vm, pc, call)?;
        }
        if let Some(returned) = self.native.pending_bool.take() {
            self.after_bool(vm, pc, returned)?;
        }
        if let Some(to) = self.switches.pending.take() {
            self.after_switch(vm, pc, to)?;
        }
        if self.start.is_root && self.in_start_frame(vm) && self.start.body.is_some_and(|body| !body.contains(pc)) {
            return Err(Abort::LeavingLoop);
        }
        self.following.next(pc.addr(), ins.op())?;
        let pos = BcPos::of_address(self.proto, pc).ok_or(Abort::Error)?;
        if self.slots.top() > SlotIdx::BASE + MAX_SLOTS {
            return Err(Abort::TooDeep);
        }
        if self.proto.flags.get() & perilune_vm::object::ProtoFlags::NOJIT != 0 {
            return Err(Abort::JitOff);
        }
        let call = self.stack.called_from(&mut self.b.trace, self.b.origin);
        self.b.origin = Origin { pc: pc.addr(), call };
        self.feedback.begin(pc, db.site(pos));
        self.find_liveness(db);
        if cfg!(debug_assertions)
            && let Err(e) = self.check(vm, pc)
        {
            panic!("before {} of line {}: {e}", ins.op().name(), self.proto.line(self.proto.pc_of(pc).unwrap_or(0)));
        }
        self.feedback.at_exit = self.feedback.is_side && self.b.trace.snaps.len() == 1 && !self.snaps.needed;
        let flow = self.dispatch(vm, db, pc, ins);
        self.feedback.learn_shape(vm);
        if let Some(parent) = self.b.trace.parent {
            self.feedback.ask_above(|pc| db.is_recorded_from(parent.trace, pc));
        }
        self.bytecodes = self.bytecodes.saturating_add(1);
        self.fuel.executed += 1;
        self.fuel.current = None;
        self.start.pending = false;
        flow
    }

    /// Learns which slots of the current function are live, and at the start of a trace of those that the frames below it belong to.
    fn find_liveness(&mut self, db: &dyn TraceDb) {
        let kept = if self.start.pending { &self.stack.frames[..] } else { &[] };
        for proto in kept.iter().map(|f| f.proto).chain([self.proto]) {
            if !self.snaps.live.iter().any(|l| l.0 == proto) {
                self.snaps.live.push((proto, db.liveness(proto)));
            }
        }
    }
    /// Aborts because of a bytecode.
    fn nyi<T>(&mut self, op: Bc) -> Rec<T> {
        self.info = AbortInfo::Bytecode(op);
        Err(Abort::NyiBytecode)
    }
    /// Aborts because of a builtin.
    fn nyi_func<T>(&mut self, f: Value) -> Rec<T> {
        self.info = AbortInfo::Func(f);
        Err(Abort::NyiFastFunc)
    }
    /// Is the current frame the one that the trace started in?
    fn at_start_depth(&self) -> bool {
        self.stack.frames.is_empty() && self.stack.returned == 0 && !self.has_switched()
    }
    /// The function of the current frame: a load, or a constant if it is the only closure of its prototype so far.
    fn func_ref(&mut self, vm: &Vm) -> Rec<IrRef> {
        let f = view::func(vm, 0);
        let r = self.any_func_ref()?;
        if r.is_const() || self.slots[self.base - 2] != IrRef::NONE {
            return Ok(r);
        }
        let r = if self.proto.hdr.word.get() <= 1 {
            let k = self.b.kgc(Value::func(f));
            self.b.compare(Op::EQ, r, k)?;
            self.feedback.note_closure(f);
            k
        } else {
            self.feedback.note_any_closure(f);
            r
        };
        let at = self.base - 2;
        self.slots[at] = r;
        Ok(r)
    }
    /// The function of the current frame, as far as globals depend on it. Without upvalues, which a constant makes constants, it does not matter
    /// which closure it is.
    fn func_of_globals(&mut self, vm: &Vm) -> Rec<IrRef> {
        if self.proto.upvalues.is_empty() { self.any_func_ref() } else { self.func_ref(vm) }
    }
    /// The function of the current frame, whichever closure of its prototype it is.
    fn any_func_ref(&mut self) -> Rec<IrRef> {
        let at = self.base - 2;
        let known = self.slots[at];
        if known != IrRef::NONE {
            return Ok(known);
        }
        self.b.emit(Op::SLOAD, Ty::Func, IrRef::of_slot(at), IrRef(sload::FRAME | sload::READONLY))
    }
}
