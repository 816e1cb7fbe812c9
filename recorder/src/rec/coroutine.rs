//! Switches between coroutines: a trace continues in the coroutine that is resumed, and in the resumer of the one that yields.
//!
//! At a switch, memory has everything that the interpreter would have there, the frame of the builtin included. From then on the trace
//! counts slots from a frame of the other coroutine, and only the values that are passed are known. The trace guards which code continues
//! there as for a return below its start: by the return address of the builtin that the coroutine waits in. Which coroutine it is does not
//! matter.

use super::native::frame_at;
use super::{Flow, FrameKind, Rec, Recorder, Site, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, SlotIdx, StackCheck, Ty, VmRef, xload};
use perilune_vm::bc::Op as Bc;
use perilune_vm::interp::co::MAX_NESTING;
use perilune_vm::interp::frame;
use perilune_vm::layout::Field;
use perilune_vm::object::{BcPos, Func, Gc, InsPtr, Proto, ProtoFlags, StitchStub, Thread, ThreadStatus};
use perilune_vm::stdlib::Builtin;
use perilune_vm::{Value, Vm};

/// Slots of a builtin's frame below its first argument: the function and the link.
const HEAD: usize = 2;

/// A switch that the interpreter is about to make.
#[derive(Copy, Clone, Debug)]
pub(super) struct Switch {
    co: Gc<Thread>,
    /// Where it continues: the instruction, and the distance of the frame from the start of its stack.
    pc: InsPtr,
    frame: usize,
}

/// A call of a builtin that switches.
#[derive(Copy, Clone)]
pub(super) struct Call {
    pub pc: InsPtr,
    /// The builtin, with its reference.
    pub f: (IrRef, Gc<Func>),
    pub a: usize,
    pub nargs: usize,
    /// Is it a tail call, whose frame replaces the running one?
    pub tail: bool,
}

/// Where a coroutine continues when it is switched to.
struct SwitchTarget {
    /// Has it not started?
    fresh: bool,
    /// The return address of the builtin that it waits in; the link of its first frame if it has not started.
    link: u64,
    /// Slots from the frame that continues up to that of the builtin.
    delta: usize,
    proto: Gc<Proto>,
    /// How many results the call of the builtin takes, plus 1; 0 for all.
    want: usize,
    next: Switch,
    /// The builtin that it waits in, or the function to call if the coroutine has not started.
    waits_in: Gc<Func>,
}

impl SwitchTarget {
    /// `None` if the coroutine continues neither after the call of a Lua function nor by calling one.
    fn of(co: Gc<Thread>) -> Option<SwitchTarget> {
        let fresh = match co.status.get() {
            ThreadStatus::Fresh => true,
            ThreadStatus::Suspended | ThreadStatus::Normal => false,
            ThreadStatus::Running | ThreadStatus::Dead => return None,
        };
        let base = co.base.get();
        let at = |i: isize| view::on_stack(co, i);
        let compiled = |p: &Gc<Proto>| p.flags.get() & ProtoFlags::NOJIT == 0;
        let (waits_in, link) = (at(-2).as_func()?, at(-1).bits());
        let frame = base as usize - co.stack.get() as usize;
        if fresh {
            let proto = waits_in.proto().filter(compiled)?;
            let next = Switch { co, pc: BcPos { proto, index: 0 }.ptr(), frame };
            return Some(SwitchTarget { fresh, link, delta: 0, proto, want: 0, next, waits_in });
        }
        if frame::kind(link) != frame::LUA {
            return None;
        }
        let pc = view::pc_of_link(link);
        let call = view::at(pc, -1).ins();
        if !matches!(call.op(), Bc::CALL | Bc::CALLM | Bc::ITERC) {
            return None;
        }
        let delta = HEAD + call.a();
        let proto = at(-2 - delta as isize).as_func()?.proto().filter(compiled)?;
        // A return to a stitch stub continues after the call.
        let behind = |stub: &StitchStub| BcPos { proto, index: stub.call_index() }.next().ptr();
        let pc = proto.stitch_stub_at(pc).map_or(pc, behind);
        let next = Switch { co, pc, frame: frame - delta * size_of::<Value>() };
        Some(SwitchTarget { fresh, link, delta, proto, want: call.b(), next, waits_in })
    }
    /// The resumer of the running coroutine, and the value that it receives in front of the results.
    fn resumer(vm: &Vm) -> Option<(SwitchTarget, Option<IrRef>)> {
        let to = SwitchTarget::of(vm.cur.resumer.get()?)?;
        match Builtin::from_id(to.waits_in.ffid()) {
            Some(Builtin::CoroutineResume) => Some((to, Some(IrRef::TRUE))),
            Some(Builtin::CoroutineWrapAux) => Some((to, None)),
            _ => None,
        }
    }
}

impl Recorder {
    /// Records a call of a builtin that switches to another coroutine. False for other builtins, and where the switch cannot be recorded.
    pub(super) fn switch(&mut self, vm: &Vm, call: Call) -> Rec<bool> {
        let (r, f) = call.f;
        let moved = call.tail && self.stack.frames.is_empty() && self.proto.is_vararg();
        if self.feedback.site.leaves || call.nargs > 100 || moved {
            return Ok(false);
        }
        match Builtin::from_id(f.ffid()) {
            Some(Builtin::CoroutineResume) if call.nargs > 0 => {
                let at = call.a + HEAD;
                // The interpreter copies the arguments of an iterator only when it executes the call.
                let v = view::slot(vm, if self.native.iterating { at as isize - 4 } else { at as isize });
                let Some(co) = v.as_thread() else { return Ok(false) };
                let thread = self.slots[self.base + at];
                self.resume(call, (thread, co), 1)
            }
            Some(Builtin::CoroutineWrapAux) => {
                let Some(v) = f.native_upvalues().first().map(core::cell::Cell::get) else { return Ok(false) };
                let Some(co) = v.as_thread() else { return Ok(false) };
                let thread = if r.is_const() { self.b.kgc(v) } else { IrRef::NONE };
                self.resume(call, (thread, co), 0)
            }
            Some(Builtin::CoroutineYield) => self.yields(vm, call),
            _ => Ok(false),
        }
    }

    /// Resumes a coroutine with the arguments from number `first` on. If there is no reference `thread`, the coroutine is in the state of
    /// the builtin.
    fn resume(&mut self, call: Call, (thread, co): (IrRef, Gc<Thread>), first: usize) -> Rec<bool> {
        if !co.status.get().is_resumable() {
            return Ok(false);
        }
        let Some(to) = SwitchTarget::of(co) else { return Ok(false) };
        if self.meets_many(&to) {
            return Ok(false);
        }
        let (r, f) = call.f;
        let thread = if thread != IrRef::NONE {
            self.guard_is(r, Value::func(f))?;
            thread
        } else {
            // Any function that `coroutine.wrap` has made is accepted.
            let id = self.field(r, Field::FuncFfid)?;
            self.guard_int(id, f.ffid() as i32)?;
            let state = self.b.emit(Op::FREF, Ty::P64, r, IrRef(Field::FuncState as u16))?;
            self.b.guard(Op::VLOAD, Ty::Thread, state, IrRef(0))?
        };
        let status = self.field(thread, Field::ThreadStatus)?;
        self.guard_int(status, co.status.get() as i32)?;
        let running = self.running()?;
        let nesting = self.field(running, Field::ThreadNesting)?;
        let most = self.b.kint(MAX_NESTING as i32);
        self.b.emit(Op::LT, Ty::Int, nesting, most)?;
        let waits_in = self.guard_waiting(thread, &to)?;
        let args: Vec<IrRef> = (first..call.nargs).map(|i| self.slots[self.base + call.a + HEAD + i]).collect();
        let room = self.room_for(thread, &args)?;
        self.leave(call, call.nargs)?;
        self.go_on(Op::RESUME, thread, &to, room)?;
        if to.fresh {
            self.set_abs(SlotIdx::FUNC, waits_in);
            for (i, r) in args.into_iter().enumerate() {
                self.set(i, r);
            }
            self.enter_callee(to.proto);
        } else {
            self.place_list(to.want, SlotIdx::FUNC + to.delta, &args);
        }
        Ok(true)
    }

    /// Yields to the resumer.
    fn yields(&mut self, vm: &Vm, call: Call) -> Rec<bool> {
        let Some((to, status)) = SwitchTarget::resumer(vm).filter(|_| vm.cur.native_depth.get() == vm.interp.native_depth) else {
            return Ok(false);
        };
        if self.meets_many(&to) {
            return Ok(false);
        }
        self.guard_is(call.f.0, Value::func(call.f.1))?;
        let running = self.running()?;
        let (mine, now) = (self.field(running, Field::ThreadDepth)?, self.b.kvm(VmRef::Depth));
        let now = self.b.emit(Op::XLOAD, Ty::Int, now, IrRef(xload::VOLATILE))?;
        self.b.emit(Op::EQ, Ty::Int, mine, now)?;
        let thread = self.guard_resumer(&to)?;
        let args = (0..call.nargs).map(|i| self.slots[self.base + call.a + HEAD + i]);
        let results: Vec<IrRef> = status.into_iter().chain(args).collect();
        let room = self.room_for(thread, &results)?;
        self.leave(call, 0)?;
        self.go_on(Op::YIELD, thread, &to, room)?;
        self.place_list(to.want, SlotIdx::FUNC + to.delta, &results);
        Ok(true)
    }

    /// May the trace follow a return by which the coroutine ends?
    pub(super) fn may_end(&self, vm: &Vm) -> bool {
        let follows = (!self.start.is_root || self.has_switched()) && !self.feedback.site.leaves;
        follows && self.stack.leaves_start() && self.links_to_end(vm).is_some() && SwitchTarget::resumer(vm).is_some()
    }
    /// The links from the start frame down to the first frame of the coroutine, as in [`Recorder::check_links`]; `None` unless all frames
    /// in between are vararg frames.
    fn links_to_end(&self, vm: &Vm) -> Option<Vec<(isize, u64)>> {
        let start = -self.base.from_base() as isize;
        let (mut at, mut links) = (0, Vec::new());
        loop {
            let link = view::slot(vm, start + at - 1).bits();
            links.push((at, link));
            match frame::kind(link) {
                frame::COR => return Some(links),
                frame::VARG => at -= (link >> 3) as isize,
                _ => return None,
            }
        }
    }
    /// The running coroutine ends with these results, see [`Recorder::may_end`].
    pub(super) fn end_coroutine(&mut self, vm: &Vm, pc: InsPtr, results: Vec<IrRef>) -> Rec<Flow> {
        let (Some(links), Some((to, status))) = (self.links_to_end(vm), SwitchTarget::resumer(vm)) else {
            return Err(Abort::NyiReturn);
        };
        if self.meets_many(&to) {
            return if self.start.pending { Err(Abort::NyiReturn) } else { Ok(Flow::Stop(Link::Return, pc)) };
        }
        let start = -self.base.from_base() as isize;
        self.check_links(vm, start, &links, 0)?;
        let protected = self.stack.frames.iter().filter(|f| f.kind == FrameKind::Protected).count();
        let thread = self.guard_resumer(&to)?;
        let results: Vec<IrRef> = status.into_iter().chain((0..protected).map(|_| IrRef::TRUE)).chain(results).collect();
        let room = self.room_for(thread, &results)?;
        self.go_on(Op::COEND, thread, &to, room)?;
        // A coroutine ends by a return, so no header of a builtin is dispatched.
        self.native.headers = 0;
        self.place_list(to.want, SlotIdx::FUNC + to.delta, &results);
        Ok(Flow::Next)
    }

    /// The running coroutine.
    fn running(&mut self) -> Rec<IrRef> {
        self.b.emit(Op::LREF, Ty::Thread, IrRef::NONE, IrRef::NONE)
    }
    /// Guards that a coroutine continues where it does now. Returns the function to call if it has not started.
    fn guard_waiting(&mut self, thread: IrRef, to: &SwitchTarget) -> Rec<IrRef> {
        let base = self.field(thread, Field::ThreadBase)?;
        if to.fresh {
            let at = self.b.kptr((-16i64) as u64);
            let at = self.b.emit(Op::ADD, Ty::P64, base, at)?;
            let f = self.b.guard(Op::VLOAD, Ty::Func, at, IrRef(0))?;
            return self.specialize(f, to.waits_in);
        }
        let at = self.b.kptr((-8i64) as u64);
        let at = self.b.emit(Op::ADD, Ty::P64, base, at)?;
        let (found, expected) = (self.b.emit(Op::XLOAD, Ty::P64, at, IrRef(xload::VOLATILE))?, self.b.kptr(to.link));
        self.b.emit(Op::EQ, Ty::P64, found, expected)?;
        Ok(IrRef::NONE)
    }
    /// The resumer of the running coroutine, guarded to continue where it does now, and to be in a call of the same builtin.
    fn guard_resumer(&mut self, to: &SwitchTarget) -> Rec<IrRef> {
        let running = self.running()?;
        let thread = self.field(running, Field::ThreadResumer)?;
        let null = self.b.knull(Ty::Thread);
        self.b.emit(Op::NE, Ty::Thread, thread, null)?;
        self.guard_waiting(thread, to)?;
        let base = self.field(thread, Field::ThreadBase)?;
        let at = self.b.kptr((-16i64) as u64);
        let at = self.b.emit(Op::ADD, Ty::P64, base, at)?;
        let builtin = self.b.guard(Op::VLOAD, Ty::Func, at, IrRef(0))?;
        let id = self.field(builtin, Field::FuncFfid)?;
        self.guard_int(id, to.waits_in.ffid() as i32)?;
        Ok(thread)
    }
    /// Do the coroutines that are switched to here continue at many bytecode positions? Each takes a side trace otherwise.
    fn meets_many(&mut self, to: &SwitchTarget) -> bool {
        if self.feedback.at_exit {
            self.feedback.site.callees.add((to.next.pc.addr().get() >> 2) as u32 | 1);
        }
        self.feedback.site.has_many_callees()
    }
    /// Guards that the stack of a coroutine has room; the number of slots is filled in at the end of the segment. Fails if a value to pass
    /// is not known.
    fn room_for(&mut self, thread: IrRef, values: &[IrRef]) -> Rec<IrRef> {
        if values.contains(&IrRef::NONE) {
            return Err(Abort::NyiReturn);
        }
        self.b.emit(Op::COROOM, Ty::Nil, thread, IrRef(0))
    }

    /// Leaves the running coroutine: the frame of the builtin keeps its first `kept` arguments.
    fn leave(&mut self, call: Call, kept: usize) -> Rec<()> {
        let first = self.base + call.a + HEAD;
        let at = if call.tail { self.take_frame() } else { first };
        let args: Vec<IrRef> = (0..kept).map(|i| self.slots[first + i]).collect();
        // A tail call may be the last instruction of its function: nothing is after it.
        let back = if call.tail { call.pc } else { view::at(call.pc, 1) };
        if call.tail {
            self.clear_from(at);
            for (i, r) in args.into_iter().enumerate() {
                self.set_abs(at + i, r);
            }
        } else {
            let klink = self.b.kptr(back.addr().get());
            self.set_abs(at - 1, klink);
        }
        self.set_abs(at - HEAD, call.f.0);
        self.open.top = at + kept;
        self.need(at + kept);
        // No guard leaves through this snapshot: COSAVE stores its slots. Slots that the call has consumed are not among them.
        self.snaps.seen_from = at - HEAD;
        self.snap_below(back, at + kept)?;
        self.snaps.seen_from = SlotIdx::END;
        self.b.emit(Op::COSAVE, Ty::Nil, IrRef::of_slot(at), IrRef(kept as u16))?;
        self.native.headers += 1;
        Ok(())
    }
    /// The base of the frame that a tail call replaces; that of a vararg function before its frame was moved.
    fn take_frame(&mut self) -> SlotIdx {
        if let Some(top) = self.stack.frames.last().copied().filter(|f| f.kind == FrameKind::Vararg) {
            self.stack.frames.pop();
            self.base = top.base;
        }
        self.base
    }
    /// Switches to another coroutine, none of whose slots are known.
    fn go_on(&mut self, op: Op, thread: IrRef, to: &SwitchTarget, room: IrRef) -> Rec<()> {
        let klink = self.b.kptr(to.link);
        let switch = self.b.emit(op, Ty::Nil, thread, klink)?;
        self.end_segment();
        self.switches.segment = Some(Segment { room, switch, delta: to.delta, pc: self.feedback.pc, site: self.feedback.site });
        self.switches.count += 1;
        self.stack.frames.clear();
        self.closures.clear();
        self.clear_from(SlotIdx::FUNC);
        self.base = SlotIdx::BASE;
        self.open.top = SlotIdx::FUNC;
        self.open.count = 0;
        self.note_proto(to.proto);
        self.enter_frame(to.proto);
        self.switches.pending = Some(to.next);
        self.snaps.needed = true;
        Ok(())
    }
    /// The current segment is complete: its need of stack is known.
    pub(super) fn end_segment(&mut self) {
        let top = core::mem::take(&mut self.top_slot);
        match self.switches.segment.take() {
            None => self.switches.first_top = top,
            Some(Segment { room, switch, delta, .. }) => {
                self.b.trace.ins[room.ins_index()].b = IrRef(top.index().saturating_sub(2 + delta) as u16);
                self.b.trace.stack_checks.push(StackCheck { switch, top: top.index() as u32 });
            }
        }
    }
    /// The first instruction after a switch: checks that the interpreter has done what was recorded.
    pub(super) fn after_switch(&self, vm: &Vm, pc: InsPtr, to: Switch) -> Rec<()> {
        if vm.cur == to.co && pc == to.pc && frame_at(vm) == to.frame { Ok(()) } else { Err(Abort::Error) }
    }
    /// The recording is aborted after a switch. If the reason will be the same next time, the feedback says that the interpreter should
    /// execute the switch.
    pub(super) fn blame_switch(&mut self, reason: Abort) {
        let lasts = matches!(
            reason,
            Abort::TooLong
                | Abort::TooDeep
                | Abort::TooManySnapshots
                | Abort::CallUnroll
                | Abort::JitOff
                | Abort::NyiBytecode
                | Abort::NyiFastFunc
                | Abort::NyiReturn
        );
        if let Some(segment) = self.switches.segment.filter(|_| lasts) {
            self.feedback.pc = segment.pc;
            self.feedback.site = Site { leaves: true, ..segment.site };
        }
    }
    /// Has the trace left the coroutine that it started in?
    pub(super) fn has_switched(&self) -> bool {
        self.switches.count > 0
    }
    /// Is the running frame the one that the trace started in?
    pub(super) fn in_start_frame(&self, vm: &Vm) -> bool {
        if self.has_switched() { (vm.cur, frame_at(vm)) == self.start.frame } else { self.at_start_depth() }
    }
}

/// The part of a trace that runs in one coroutine, after a switch.
#[derive(Copy, Clone, Debug)]
struct Segment {
    /// The COROOM that makes room for it.
    room: IrRef,
    /// The instruction that switches.
    switch: IrRef,
    /// Slots from its first frame up to the frame of the builtin that the coroutine had been waiting in.
    delta: usize,
    /// The bytecode instruction that switched.
    pc: InsPtr,
    /// The feedback of that instruction.
    site: Site,
}

/// The switches that a trace has made.
#[derive(Debug, Default)]
pub(super) struct Switches {
    count: u32,
    /// The last switch, if the next instruction is the first after it.
    pub(super) pending: Option<Switch>,
    /// The current segment; `None` before the first switch.
    segment: Option<Segment>,
    /// The highest slot (exclusive) that the frames before the first switch need.
    pub(super) first_top: SlotIdx,
}
