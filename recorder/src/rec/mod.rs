//! The recorder: follows the interpreter and emits what its instructions do to the values they meet.
//!
//! [`Recorder::record`] is called before each instruction. It emits IR for the operands as they are now: what a later run may find
//! different is guarded. A guard leaves through the newest snapshot; everything between that snapshot and the guard is without
//! effect, so that the interpreter can execute it again. After an effect, or a decision, the next instruction takes a snapshot.
//!
//! Slots are numbered as in [`crate::ir::Op::SLOAD`]. A slot that has no reference yet is what memory holds.
#![allow(clippy::wrong_self_convention, reason = "what converts is not the recorder, but a reference that it emits code for")]

mod arith;
mod call;
mod check;
mod closure;
mod compare;
mod concat;
mod coroutine;
mod dispatch;
mod guard;
mod index;
mod iter;
mod loops;
mod meta;
mod native;
mod profile;
mod protect;
mod ret;
mod side;
mod stdlib;
pub use side::{Inherited, inherited};
mod slots;
mod upval;
mod view;
mod watched;
mod window;

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::history::History;
use crate::ir::{IrRef, Link, Op, Origin, SlotIdx, Trace, TraceExit, Ty, sload};
use crate::opt::abc::Induction;
use crate::opt::{self, Pass};
use crate::params::{Limits, OptFlags};
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::gc::Marker;
use perilune_vm::object::{Func, Gc, Proto, ShapeId, Table, Thread, WatchedField};
use perilune_vm::{TraceId, Value, Vm};
use std::rc::Rc;
use std::time::{Duration, Instant};
use window::Window;

/// Parameters of recording.
#[derive(Copy, Clone, Debug)]
pub struct RecParams {
    /// Passes that run.
    pub flags: OptFlags,
    /// Limits of a trace.
    pub limits: Limits,
    /// Unrolled calls of one function that is not the start.
    pub callunroll: u32,
    /// Unrolled recursive calls of the start.
    pub recunroll: u32,
    /// Unrolled inner loops.
    pub loopunroll: u32,
    /// Iterations recorded more when types are not stable.
    pub instunroll: u32,
    /// Instructions that a trace must have to end in front of a call, and another to go on after it.
    pub minstitch: u32,
    /// Is it to be kept how the trace comes into being, see [`FinishedTrace::history`]?
    pub history: bool,
}

impl Default for RecParams {
    fn default() -> RecParams {
        let (flags, limits) = (OptFlags::default(), Limits::default());
        RecParams { flags, limits, callunroll: 3, recunroll: 2, loopunroll: 15, instunroll: 4, minstitch: 0, history: false }
    }
}

/// What the recorder asks about finished traces.
pub trait TraceDb {
    /// How a trace ends.
    fn link_of(&self, trace: TraceId) -> Option<Link>;
    /// The instruction that `patched`, which enters a trace, has replaced.
    fn original_ins(&self, patched: Ins) -> Ins;
    /// What earlier recordings found at the instruction at `pc`.
    fn site(&self, pc: *const Ins) -> Site {
        let _ = pc;
        Site::default()
    }
    /// Which slots of a function's frame matter where, if that is known.
    fn liveness(&self, proto: Gc<Proto>) -> Option<Rc<Liveness>> {
        find_liveness(self, proto)
    }
    /// Did the loop at `pc` turn out to be left soon, so that unrolling it is the better choice?
    fn loop_left(&self, pc: *const Ins) -> bool {
        let _ = pc;
        false
    }
}

/// Analyses a function, some of whose instructions are the starts of traces.
pub fn find_liveness(db: &(impl TraceDb + ?Sized), proto: Gc<Proto>) -> Option<Rc<Liveness>> {
    let original = |pc| {
        let ins = proto.ins(pc).unwrap_or(Ins(0));
        if matches!(ins.op(), Bc::JFORL | Bc::JITERL | Bc::JLOOP) { db.original_ins(ins) } else { ins }
    };
    Liveness::new(&proto, original).map(Rc::new)
}

/// What recordings found at an instruction: which form its numbers have.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Site {
    /// Integers overflowed there.
    pub overflows: bool,
    /// Integers were loaded.
    pub ints: bool,
    /// Other numbers were loaded.
    pub nums: bool,
    /// The builtin called there does not simply return: it calls Lua, say.
    pub leaves: bool,
    /// Addresses of the function called there last, and of its prototype.
    pub callee: (usize, usize),
    /// Several functions of one prototype were called.
    pub closures: bool,
    /// The prototypes for which an exit there was taken, since another function was called.
    pub callees: Distinct<8>,
    /// The tables that keys were looked up in last.
    pub tables: TablesMet,
    /// The shapes for which an exit there was taken.
    pub shapes: Distinct<4>,
    /// Tables of several shapes were met.
    pub by_node: bool,
    /// Address of the class (the `__index` of the object's metatable) that a key was looked up in last; 0 if none was.
    pub class: usize,
    /// Several classes were met.
    pub classes: bool,
}

impl Site {
    /// Are keys looked up in general there, wherever they are? Each shape takes a side trace otherwise.
    fn has_many_shapes(&self) -> bool {
        self.shapes.is_full()
    }
    /// Are calls there left to the functions' own traces? Each function takes a side trace otherwise.
    fn has_many_callees(&self) -> bool {
        self.callees.is_full()
    }
}

/// What is known of the tables that an instruction looked up constant keys in; 0 where it did not. What can stand in one word stands for all that
/// it has met, in order.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct TablesMet {
    /// The shape of the first one.
    first: ShapeId,
    /// Their shapes.
    shapes: u32,
    /// The sizes of their hash parts, and the nodes that the keys were found in.
    nodes: u32,
}

impl TablesMet {
    /// One more table, with the node that the key was found in.
    fn add(&mut self, t: &Table, node: Option<u32>) {
        let mix = |before: u32, x: u32| before.wrapping_mul(0x9e37_79b1).wrapping_add(x).max(1);
        let place = t.hmask.get().wrapping_mul(0x0101).wrapping_add(node.map_or(1, |n| n.wrapping_add(2)));
        if self.nodes == 0 {
            self.first = t.shape.get();
        }
        self.nodes = mix(self.nodes, place);
        self.shapes = mix(self.shapes, t.shape.get().number());
    }
}

/// Up to `N` different values that a site has met; none of them is 0.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Distinct<const N: usize>([u32; N]);

impl<const N: usize> Default for Distinct<N> {
    fn default() -> Distinct<N> {
        Distinct([0; N])
    }
}

impl<const N: usize> Distinct<N> {
    /// One more, if it is new and there is room.
    fn add(&mut self, value: u32) {
        if let Some(x) = self.0.iter_mut().find(|x| **x == 0 || **x == value) {
            *x = value;
        }
    }
    /// Were `N` different ones met?
    fn is_full(&self) -> bool {
        self.0.iter().all(|x| *x != 0)
    }
}

/// The place of a new trace in a tree of traces.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TreePlace {
    /// The trace.
    pub id: TraceId,
    /// The root trace of the tree: the trace itself for a root trace.
    pub root: TraceId,
    /// For a side trace: the exit that it continues at.
    pub parent: Option<TraceExit>,
}

impl TreePlace {
    /// A root trace.
    pub fn root(id: TraceId) -> TreePlace {
        TreePlace { id, root: id, parent: None }
    }
    /// A side trace in the tree of `root`.
    pub fn side(id: TraceId, root: TraceId, parent: TraceExit) -> TreePlace {
        TreePlace { id, root, parent: Some(parent) }
    }
}

/// A finished recording.
#[derive(Clone, Debug)]
pub struct FinishedTrace {
    /// The trace, optimised.
    pub trace: Trace,
    /// Instruction that the trace starts at (for a root trace the one to patch).
    pub start_pc: *const Ins,
    /// First recorded instruction.
    pub first_pc: *const Ins,
    /// Root trace that it belongs to: itself for a root trace.
    pub root: TraceId,
    /// The functions whose code it is made from: they must live as long as it.
    pub protos: Vec<Gc<Proto>>,
    /// The function that it ends in.
    pub last: Gc<Proto>,
    /// The builtin that it ends in front of, where it is to be stitched.
    pub stitch: Option<Value>,
    /// What each pass did.
    pub passes: Vec<Pass>,
    /// Time that the passes took.
    pub optimised: Duration,
    /// Fields that it takes for constants.
    pub watched: Vec<WatchedField>,
    /// How it came into being, if [`RecParams::history`] asks for that.
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

/// What became of an instruction.
#[derive(Debug)]
pub enum Step {
    /// Recorded.
    Continue,
    /// The trace is complete.
    Done(Box<FinishedTrace>),
    /// The trace is given up.
    Abort {
        /// Why.
        reason: Abort,
        /// Details.
        info: AbortInfo,
    },
}

/// Prototypes with more closures than this are recognised by their code.
const MANY_CLOSURES: u32 = 8;
/// Most slots of the frames of a trace, as in LuaJIT (`LJ_MAX_JSLOTS`).
const MAX_SLOTS: usize = 250;
/// Instructions to wait for the start of the trace.
const MAX_WAIT: u32 = 500;

type Rec<T> = Result<T, Abort>;

/// What an instruction leads to.
enum Flow {
    /// The next one.
    Next,
    /// The end of the trace, with the address to go on at.
    Stop(Link, *const Ins),
}

/// What leads back from a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Way {
    /// A return to the call instruction.
    Call,
    /// The moved frame of a vararg function.
    Vararg,
    /// A metamethod, with what becomes of its result.
    Cont(meta::Cont),
    /// A function under `pcall` or `xpcall`, whose frame is the one below.
    Protected,
}

/// A frame that was entered on the trace.
#[derive(Copy, Clone, Debug)]
struct Frame {
    /// Base of the frame below.
    base: SlotIdx,
    /// Prototype of the frame below. (Under a builtin that of the frame below that.)
    proto: Gc<Proto>,
    /// How it is left.
    way: Way,
}

/// A recording.
#[derive(Debug)]
pub struct Recorder {
    /// The trace under construction.
    pub b: IrBuffer,
    /// Bytecode instructions recorded so far.
    bytecodes: u16,
    params: RecParams,
    id: TraceId,
    root: TraceId,
    start_pc: *const Ins,
    first_pc: *const Ins,
    start_is_root: bool,
    /// Addresses that belong to the loop of a root trace: first, and behind the last. Empty for a function.
    range: (*const Ins, *const Ins),
    /// The counter of the numeric loop that a root trace is made of.
    induction: Option<Induction>,
    /// Prototype of the current frame.
    proto: Gc<Proto>,
    /// First local of the current frame.
    base: SlotIdx,
    /// What is known of the slots.
    slots: Window,
    /// Slots that the exits since they were stored last have to store.
    to_store: usize,
    frames: Vec<Frame>,
    /// The call that led to each of them, by number.
    calls: Vec<u16>,
    /// The functions that the trace makes.
    closures: Vec<closure::Closure>,
    /// Frames left downwards from the start frame.
    retdepth: u32,
    /// The trace starts at a return, and may come back to it further down.
    returning: bool,
    tailcalled: u32,
    /// Must the next instruction take a snapshot?
    needsnap: bool,
    /// Count of an open list of values.
    multres: u32,
    /// Slots in use above the current frame by an open list (absolute, exclusive).
    open_top: SlotIdx,
    top_slot: SlotIdx,
    loopunroll: i32,
    instunroll: u32,
    /// Number of instructions at the last inner loop.
    loopref: usize,
    first: bool,
    /// Instructions seen before the first one.
    waited: u32,
    /// Headers of builtins that come next: those were recorded with the call.
    in_builtin: u32,
    /// The call being recorded is that of an iterator.
    iterating: bool,
    /// A builtin was called whose results are not known yet.
    awaited: Option<native::Awaited>,
    /// The coroutine and the frame that the trace started in, see [`native::frame_at`].
    start_frame: (Gc<Thread>, usize),
    /// Switches to another coroutine.
    switches: u32,
    /// The last one, if the next instruction is the first behind it.
    switching: Option<coroutine::Switch>,
    /// What the trace is in since the last one.
    part: Option<coroutine::Part>,
    /// [`Recorder::top_slot`] before the first one.
    first_top: SlotIdx,
    /// The current instruction.
    pc: *const Ins,
    /// What is known of it.
    site: Site,
    /// Is it one of those whose guards the exit may be of that a side trace starts at?
    at_exit: bool,
    /// The tables that it has looked keys up in.
    tables: TablesMet,
    /// See [`Recorder::is_stale`].
    stale: bool,
    /// Instructions that were recorded for one form of numbers.
    specialized: Vec<*const Ins>,
    /// How many of them were before the current one.
    earlier: usize,
    info: AbortInfo,
    /// The slots from here on are looked at by a builtin, also those that are dead for the function itself.
    looked_at: SlotIdx,
    /// Which slots matter, by function.
    live: Vec<(Gc<Proto>, Option<Rc<Liveness>>)>,
    /// Fields that are taken for constants.
    watched: Vec<WatchedField>,
    /// Objects seen while recording that nothing else may keep alive.
    protos: Vec<Gc<Proto>>,
}

impl Recorder {
    fn new(vm: &Vm, params: &RecParams, proto: Gc<Proto>, place: TreePlace) -> Recorder {
        let mut b = opt::buffer(params.flags, params.limits);
        b.history = params.history.then(Box::default);
        if let Some(parent) = place.parent {
            b.set_parent(parent);
        }
        Recorder {
            b,
            bytecodes: 0,
            params: *params,
            id: place.id,
            root: place.root,
            start_pc: core::ptr::null(),
            first_pc: core::ptr::null(),
            start_is_root: false,
            range: (core::ptr::null(), core::ptr::null()),
            induction: None,
            proto,
            base: SlotIdx::BASE,
            slots: Window::default(),
            to_store: 0,
            frames: Vec::new(),
            calls: Vec::new(),
            closures: Vec::new(),
            retdepth: 0,
            returning: false,
            tailcalled: 0,
            needsnap: false,
            multres: 0,
            open_top: SlotIdx::FUNC,
            top_slot: SlotIdx::FUNC,
            loopunroll: params.loopunroll as i32,
            instunroll: params.instunroll,
            loopref: 0,
            first: true,
            waited: 0,
            in_builtin: 0,
            iterating: false,
            awaited: None,
            start_frame: (vm.cur, native::frame_at(vm)),
            switches: 0,
            switching: None,
            part: None,
            first_top: SlotIdx::FUNC,
            pc: core::ptr::null(),
            site: Site::default(),
            at_exit: false,
            tables: TablesMet::default(),
            specialized: Vec::new(),
            stale: false,
            earlier: 0,
            info: AbortInfo::None,
            looked_at: SlotIdx::END,
            live: Vec::new(),
            watched: Vec::new(),
            protos: vec![proto],
        }
    }

    /// Starts a root trace at the hot instruction `start_pc` of the frame at `vm.base`.
    pub fn new_root(vm: &Vm, params: &RecParams, proto: Gc<Proto>, start_pc: *const Ins, id: TraceId) -> Result<Recorder, Abort> {
        Recorder::at_start(vm, params, proto, (start_pc, view::ins(start_pc)), TreePlace::root(id))
    }
    /// Starts a side trace at the first exit of a root trace: the same start (where `ins` was before it was patched) with values
    /// of other types. It may loop to its own start.
    pub fn new_variant(
        vm: &Vm,
        params: &RecParams,
        proto: Gc<Proto>,
        start: (*const Ins, Ins),
        place: TreePlace,
    ) -> Result<Recorder, Abort> {
        Recorder::at_start(vm, params, proto, start, place)
    }
    fn at_start(
        vm: &Vm,
        params: &RecParams,
        proto: Gc<Proto>,
        (start_pc, ins): (*const Ins, Ins),
        place: TreePlace,
    ) -> Result<Recorder, Abort> {
        let mut r = Recorder::new(vm, params, proto, place);
        r.start_is_root = true;
        r.start_pc = start_pc;
        r.first_pc = match ins.op() {
            Bc::FORL | Bc::IFORL | Bc::ITERL | Bc::IITERL => view::target(start_pc, ins),
            Bc::LOOP | Bc::ILOOP | Bc::FUNCF | Bc::IFUNCF | Bc::FUNCV | Bc::IFUNCV => view::at(start_pc, 1),
            Bc::ITERN => start_pc,
            op => {
                let _ = op;
                return Err(Abort::NyiBytecode);
            }
        };
        r.range = loops::range(start_pc, ins);
        r.enter_frame(proto);
        r.b.origin.pc = start_pc.expose_provenance() as u64;
        r.snap(r.first_pc)?;
        if matches!(ins.op(), Bc::FORL | Bc::IFORL) {
            // The index and its visible copy are the same here.
            let idx = r.get(vm, ins.a())?;
            r.slots[r.base + ins.a() + 3] = idx;
            r.for_constants(vm, start_pc, ins)?;
            r.for_induction(vm, start_pc, ins)?;
        }
        Ok(r)
    }

    /// What is known of the instruction just recorded, for [`TraceDb::site`].
    pub fn site(&self) -> (*const Ins, Site) {
        (self.pc, self.site)
    }
    /// The result of the current instruction is no integer, though the operands are.
    fn note_overflow(&mut self) {
        if !core::mem::replace(&mut self.site.overflows, true) {
            self.learned();
        }
    }
    /// The type to load a value with: where both forms of numbers were seen, everything is converted.
    fn load_type(&mut self, v: Value) -> Ty {
        let ty = Ty::of_value(v);
        if !ty.is_number() {
            return ty;
        }
        let before = self.site;
        self.site.ints |= ty == Ty::Int;
        self.site.nums |= ty == Ty::Num;
        if !(self.site.ints && self.site.nums) {
            self.specialized.push(self.pc);
            return ty;
        }
        if before != self.site {
            self.learned();
        }
        Ty::Num
    }
    /// Is the function called here one of many of its prototype?
    fn one_of_many(&mut self, f: Gc<Func>, proto: Gc<Proto>) -> bool {
        let callee = (f.as_ptr() as usize, proto.as_ptr() as usize);
        let before = core::mem::replace(&mut self.site.callee, callee);
        if self.at_exit && before.1 != 0 && before.1 != callee.1 {
            // Objects are aligned: what differs is in the lower half, but for its last bits.
            self.site.callees.add((callee.1 >> 3) as u32 | 1);
        }
        if !self.site.closures && before.1 == callee.1 && before.0 != callee.0 {
            self.site.closures = true;
            self.learned();
        }
        self.site.closures || proto.hdr.word.get() > MANY_CLOSURES
    }
    /// Keeps what tables the current instruction has met; at an exit other shapes than before may be why it was taken. From then on
    /// present keys are looked for in their nodes: where these are the same nevertheless, such code serves all of those tables.
    fn learn_shape(&mut self, vm: &mut Vm) {
        let met = self.tables;
        if met == TablesMet::default() {
            return;
        }
        let before = core::mem::replace(&mut self.site.tables, met);
        if !self.at_exit || before == TablesMet::default() || before == met {
            return;
        }
        let knew = core::mem::replace(&mut self.site.by_node, true);
        if before.nodes != met.nodes {
            self.site.shapes.add(met.nodes);
        } else if knew {
            self.site.shapes.add(met.shapes);
        } else {
            vm.heap.shape_varies(before.first);
            vm.heap.shape_varies(met.first);
        }
    }
    /// Are there several classes whose objects are met here?
    fn is_one_of_many_classes(&mut self, class: Gc<Table>) -> bool {
        let class = class.as_ptr() as usize;
        let before = core::mem::replace(&mut self.site.class, class);
        self.site.classes |= self.at_exit && before != 0 && before != class;
        self.site.classes
    }
    /// The trace that a side trace leaves with such news is better made again, and so is one that went by the instruction before. It is
    /// recorded to its end nevertheless: what else it finds, the next attempt need not find one by one.
    fn learned(&mut self) {
        self.stale |= self.b.trace.parent.is_some() || self.specialized[..self.earlier].contains(&self.pc);
    }
    /// Is the root trace to be made again, since it was found to expect too much?
    pub fn is_stale(&self) -> bool {
        self.stale
    }
    /// The trace that is to be.
    pub fn id(&self) -> TraceId {
        self.id
    }
    /// Root trace of its tree: itself for a root trace.
    pub fn root(&self) -> TraceId {
        self.root
    }
    /// Instruction that the trace starts at.
    pub fn start_pc(&self) -> *const Ins {
        self.start_pc
    }
    /// First instruction that is recorded.
    pub fn first_pc(&self) -> *const Ins {
        self.first_pc
    }
    /// Frames entered and not left since the start.
    pub fn frame_depth(&self) -> usize {
        self.frames.len()
    }
    /// Prototype of the function being recorded.
    pub fn proto(&self) -> Gc<Proto> {
        self.proto
    }

    /// Keeps the constants alive.
    pub fn mark(&self, marker: &mut Marker) {
        self.b.trace.mark(marker);
        for p in &self.protos {
            marker.mark(*p);
        }
    }

    /// Records the instruction at `pc`, which is about to run in the frame at `vm.base`.
    pub fn record(&mut self, vm: &mut Vm, db: &dyn TraceDb, pc: *const Ins) -> Step {
        let done = self.instruction(vm, db, pc).and_then(|flow| match flow {
            Flow::Next => Ok(None),
            Flow::Stop(link, to) => match self.finish(link, to)? {
                // A trace from an ITERN closes in front of it: with one more iteration it is still to be recorded.
                None if to == pc && !is_injected(Fault::NextEntry) => self.itern_again(vm, db, pc).map(|()| None),
                done => Ok(done),
            },
        });
        match done {
            Ok(None) => Step::Continue,
            Ok(Some(trace)) => Step::Done(Box::new(trace)),
            Err(_) if self.stale => Step::Abort { reason: Abort::Retry, info: AbortInfo::None },
            Err(reason) => {
                self.blame_switch(reason);
                if reason == Abort::NyiBytecode && self.info == AbortInfo::None {
                    self.info = AbortInfo::Bytecode(view::ins(pc).op());
                }
                Step::Abort { reason, info: self.info }
            }
        }
    }

    fn instruction(&mut self, vm: &mut Vm, db: &dyn TraceDb, pc: *const Ins) -> Rec<Flow> {
        let ins = view::ins(pc);
        if self.first && self.start_is_root && pc != self.first_pc {
            // An ITERN that became hot has been executed already: wait for the next one.
            self.waited += 1;
            return if self.waited > MAX_WAIT { Err(Abort::LeavingLoop) } else { Ok(Flow::Next) };
        }
        if ins.op().is_native_header() {
            // Recorded with the call.
            if self.in_builtin == 0 {
                return self.nyi_func(view::slot(vm, -2));
            }
            self.in_builtin -= 1;
            return Ok(Flow::Next);
        }
        self.in_builtin = 0;
        if let Some(call) = self.awaited.take() {
            self.after_native(vm, pc, call)?;
        }
        if let Some(to) = self.switching.take() {
            self.after_switch(vm, pc, to)?;
        }
        if self.start_is_root && self.in_start_frame(vm) && !self.range.0.is_null() && !(self.range.0..self.range.1).contains(&pc)
        {
            return Err(Abort::LeavingLoop);
        }
        if self.proto.pc_of(pc).is_none() {
            return Err(Abort::Error);
        }
        if self.slots.top() > SlotIdx::BASE + MAX_SLOTS {
            return Err(Abort::TooDeep);
        }
        if self.proto.flags.get() & perilune_vm::object::ProtoFlags::NOJIT != 0 {
            return Err(Abort::JitOff);
        }
        self.pc = pc;
        self.b.origin = Origin { pc: pc.expose_provenance() as u64, call: self.called_from() };
        self.earlier = self.specialized.len();
        self.site = db.site(pc);
        if !self.live.iter().any(|l| l.0 == self.proto) {
            self.live.push((self.proto, db.liveness(self.proto)));
        }
        if cfg!(debug_assertions)
            && let Err(e) = self.check(vm, pc)
        {
            panic!("before {} of line {}: {e}", ins.op().name(), self.proto.line(self.proto.pc_of(pc).unwrap_or(0)));
        }
        self.at_exit = self.b.trace.parent.is_some() && self.b.trace.snaps.len() == 1 && !self.needsnap;
        self.tables = TablesMet::default();
        let flow = self.dispatch(vm, db, pc, ins);
        self.learn_shape(vm);
        self.bytecodes = self.bytecodes.saturating_add(1);
        self.first = false;
        flow
    }

    /// The number of the call that led to the current frame, see [`Origin::call`]. Calls since the last instruction came from there.
    fn called_from(&mut self) -> u16 {
        self.calls.truncate(self.frames.len());
        for i in self.calls.len()..self.frames.len() {
            let way = self.frames[i].way;
            let below = self.calls.last().copied().unwrap_or(0);
            let call = if way == Way::Vararg { below } else { self.note_call() };
            self.calls.push(call);
        }
        self.calls.last().copied().unwrap_or(0)
    }
    /// The number, for [`Origin::call`], of the bytecode that was recorded last, as a call.
    fn note_call(&mut self) -> u16 {
        let (calls, origin) = (&mut self.b.trace.calls, self.b.origin);
        let at = calls.iter().rposition(|c| *c == origin).unwrap_or_else(|| {
            calls.push(origin);
            calls.len() - 1
        });
        at as u16 + 1
    }
    /// Ends the trace; `None` if another iteration is to be recorded.
    fn finish(&mut self, link: Link, pc: *const Ins) -> Rec<Option<FinishedTrace>> {
        if self.stale {
            return Err(Abort::Retry);
        }
        self.snap(pc)?;
        let looping = link == Link::Loop && self.base == SlotIdx::BASE && self.retdepth == 0 && !self.has_switched();
        if looping && self.carries_fresh() {
            return Err(Abort::TypeInstability);
        }
        let begun = Instant::now();
        let passes = match opt::finish(&mut self.b, looping) {
            Ok(passes) => passes,
            Err(Abort::TypeInstability | Abort::GuardAlwaysFails) if looping && self.instunroll > 0 => {
                self.instunroll -= 1;
                self.needsnap = true;
                return Ok(None);
            }
            Err(e) => return Err(e),
        };
        self.end_part();
        let optimised = begun.elapsed();
        let mut trace = core::mem::take(&mut self.b.trace);
        trace.link = link;
        trace.top_slot = self.first_top.index() as u32;
        if matches!(link, Link::UpRec | Link::DownRec | Link::TailRec) || link == Link::Loop && self.has_switched() {
            // It comes back to its start in other frames.
            trace.checked_slot = 0;
        }
        let (start_pc, first_pc, root) = (self.start_pc, self.first_pc, self.root);
        let protos = core::mem::take(&mut self.protos);
        let stitch = match self.info {
            AbortInfo::Func(f) if link == Link::Stitch => Some(f),
            _ => None,
        };
        let (last, history) = (self.proto, self.b.history.take());
        let watched = core::mem::take(&mut self.watched);
        Ok(Some(FinishedTrace { trace, start_pc, first_pc, root, protos, last, stitch, passes, optimised, watched, history }))
    }

    /// Is there a slot that a builtin has written, read at the start of the iteration and not since then? (Compilers put the results of a
    /// call into slots that are dead when an iteration ends; bytecode from elsewhere need not.)
    fn carries_fresh(&self) -> bool {
        let mut r = self.b.newest(Op::SLOAD);
        while r != IrRef::NONE {
            let at = self.b.trace.ins[r.ins_index()].a.slot();
            if self.slots.is_fresh(at) && self.slots[at] == IrRef::NONE {
                return true;
            }
            r = self.b.older(r);
        }
        false
    }

    /// Gives up because of a bytecode.
    fn nyi<T>(&mut self, op: Bc) -> Rec<T> {
        self.info = AbortInfo::Bytecode(op);
        Err(Abort::NyiBytecode)
    }
    /// Gives up because of a builtin.
    fn nyi_func<T>(&mut self, f: Value) -> Rec<T> {
        self.info = AbortInfo::Func(f);
        Err(Abort::NyiFastFunc)
    }
    /// Are we in the frame where the trace started?
    fn at_start_depth(&self) -> bool {
        self.frames.is_empty() && self.retdepth == 0 && !self.has_switched()
    }
    /// The constant function or load of the current frame's function.
    fn func_ref(&mut self, vm: &Vm) -> Rec<IrRef> {
        let at = self.base - 2;
        let known = self.slots[at];
        if known != IrRef::NONE {
            return Ok(known);
        }
        let f = view::func(vm, 0);
        let r = self.b.emit(Op::SLOAD, Ty::Func, IrRef::of_slot(at), IrRef(sload::FRAME | sload::READONLY))?;
        let r = if self.proto.hdr.word.get() <= 2 {
            let k = self.b.kgc(Value::func(f));
            self.b.compare(Op::EQ, r, k)?;
            k
        } else {
            r
        };
        self.slots[at] = r;
        Ok(r)
    }
}
