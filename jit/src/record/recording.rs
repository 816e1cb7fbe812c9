//! A recording: from the hot place to the finished trace, or to the abort.

use crate::Jit;
use crate::frame;
use crate::policy::site::RECURSION_TRIES;
use crate::policy::{cost, now};
use crate::trace::machine::{Placed, Refused};
use crate::trace::registry::{Cost, Exit, Known};
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use crate::view::watch::Start;
use perilune_backend::CodeMap;
use perilune_backend::passed::passed;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::Link;
use perilune_recorder::rec::{AbortInfo, FinishedTrace, Recorder, Step};
use perilune_vm::bc::{Ins, Op};
use perilune_vm::gc::Marker;
use perilune_vm::hooks::Mode;
use perilune_vm::object::{Gc, Proto, ProtoFlags};
use perilune_vm::{Value, Vm};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Where a recording started: that is where a failure counts, and where the finished trace is entered.
#[derive(Copy, Clone, Debug)]
pub enum Origin {
    /// At a hot instruction of a function.
    Root(Gc<Proto>, *const Ins),
    /// Behind a call, at the STITCH of a pad of the function.
    Stitch(Gc<Proto>, *const Ins),
    /// At an exit.
    Side,
    /// A failure does not count.
    Nowhere,
}

/// A recording under way.
#[derive(Debug)]
pub struct Recording {
    pub(crate) recorder: Recorder,
    number: u32,
    /// Function that it started in.
    start: Value,
    /// Where it started.
    pub(crate) origin: Origin,
    /// The last Lua instruction seen: function and index.
    at: (Value, usize),
    spent: Duration,
}

impl Recording {
    /// Keeps what it refers to.
    pub fn mark(&self, marker: &mut Marker) {
        self.recorder.mark(marker);
        marker.mark_value(self.start);
        marker.mark_value(self.at.0);
        if let Origin::Root(p, _) | Origin::Stitch(p, _) = self.origin {
            marker.mark(p);
        }
    }
    /// The trace so far.
    pub fn trace(&self) -> &perilune_recorder::ir::Trace {
        &self.recorder.b.trace
    }
    /// The root trace that it belongs to: its own number for a root trace.
    pub fn root(&self) -> u32 {
        self.recorder.root_no()
    }
    /// The Lua function and instruction that it started at.
    pub fn head(&self) -> Option<(Gc<Proto>, usize)> {
        let proto = self.start.as_func()?.proto()?;
        Some((proto, proto.pc_of(self.recorder.start_pc())?))
    }
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// How a recording ended without a trace.
struct Failure {
    reason: Abort,
    info: AbortInfo,
    /// The error that was thrown, if one was.
    error: Option<Value>,
}

impl From<Abort> for Failure {
    fn from(reason: Abort) -> Failure {
        Failure { reason, info: AbortInfo::None, error: None }
    }
}

/// A trace that ends in front of a call to be stitched goes on at the call's pad.
fn go_on_at_pad(done: &mut FinishedTrace, number: u32) {
    if done.trace.link != Link::Stitch {
        return;
    }
    if let Some(last) = done.trace.snaps.last_mut()
        && let Some(at) = done.last.pc_of(core::ptr::with_exposed_provenance(last.pc as usize))
        && done.last.ins(at + 1).is_some_and(|back| !ends_loop(back.op()))
        && let Some(pad) = done.last.pad(at, number)
    {
        last.pc = pad.entry().expose_provenance() as u64;
    }
}
/// Is it where traces of a loop are entered? Nothing need be stitched there.
fn ends_loop(op: Op) -> bool {
    matches!(op, Op::FORL | Op::IFORL | Op::JFORL | Op::ITERL | Op::IITERL | Op::JITERL | Op::LOOP | Op::ILOOP | Op::JLOOP)
}
/// Makes the instruction at `pc` enter trace `n`: function, index, and the instruction as it was.
fn armed(proto: Gc<Proto>, pc: *const Ins, n: u32) -> Option<(Gc<Proto>, usize, Ins)> {
    let at = proto.pc_of(pc)?;
    let ins = proto.ins(at)?;
    crate::trace::patch::arm(proto, at, n).then_some((proto, at, ins))
}

impl Jit {
    /// Starts a root trace at the hot instruction `pc`.
    pub(crate) fn start_root(&self, vm: &mut Vm, proto: Gc<Proto>, pc: *const Ins) {
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), proto.pc_of(pc).unwrap_or(0));
        self.tell_start(vm, number, func, at, None);
        let begun = Instant::now();
        let params = self.options.get().recorder(self.is_watched());
        let recorder = Recorder::new_root(vm, &params, proto, pc, number);
        self.begin(vm, number, func, at, Origin::Root(proto, pc), recorder, begun);
    }
    /// A call that a trace ended in front of has come back to the STITCH at `stitch`. Starts a trace behind it where that is hot.
    pub(crate) fn hot_stitch(&self, vm: &mut Vm, stitch: *const Ins) {
        let Some(proto) = frame::proto(vm) else { return };
        let Some(pad) = proto.pad_at(stitch) else { return };
        let back = pad.back();
        if proto.flags.get() & ProtoFlags::NOJIT != 0 {
            return pad.give_up();
        }
        let thresholds = self.thresholds(vm);
        let heat = pad.count();
        if !self.may_record(vm) || heat < thresholds.hotexit {
            return;
        }
        if heat < self.wanted(thresholds.hotexit, pad.failures(), cost::of_trace(None), thresholds.literal) {
            return;
        }
        let parent = pad.parent();
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), proto.pc_of(back).unwrap_or(0));
        self.tell_start(vm, number, func, at, Some((parent, -1)));
        let begun = Instant::now();
        let params = self.options.get().recorder(self.is_watched());
        let recorder = Recorder::new_stitched(vm, &params, proto, back, number);
        self.begin(vm, number, func, at, Origin::Stitch(proto, stitch), recorder, begun);
    }
    /// Starts a side trace at exit `exit` of trace `parent`, whose state is that of the frame at `vm.base`, to go on at `pc`.
    pub(crate) fn start_side(&self, vm: &mut Vm, parent: u32, exit: u32, pc: *const Ins) {
        let Some(proto) = frame::proto(vm) else { return };
        let known = self.registry.borrow().get(parent).map(|e| (Rc::clone(&e.trace), e.root));
        let Some((trace, root)) = known else { return };
        let variant = if exit == 0 { self.variant_start(parent) } else { None };
        let returning = self.ends_in_returns(&trace, exit, pc);
        if variant.is_none() && !returning && self.share_side(vm, parent, exit, (proto, pc)) {
            return;
        }
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), proto.pc_of(pc).unwrap_or(0));
        self.tell_start(vm, number, func, at, Some((parent, exit as i32)));
        let begun = Instant::now();
        let params = self.options.get().recorder(self.is_watched());
        // The handler may have made an end of the parent.
        let gone = !self.registry.borrow().has(parent, &trace);
        let recorder = match variant {
            _ if gone => Err(Abort::Error),
            Some((proto, start)) => Recorder::new_variant(vm, &params, proto, start, (parent, exit), number, root),
            None if returning => Recorder::new_returning(vm, &params, (parent, exit), pc, number, root),
            None => Recorder::new_side(vm, &params, &trace, parent, exit, pc, number, root),
        };
        self.begin(vm, number, func, at, Origin::Side, recorder, begun);
    }
    /// Has a trace followed returns, as many as one may, and stopped at exit `exit` in front of the return at `pc`?
    fn ends_in_returns(&self, trace: &perilune_recorder::ir::Trace, exit: u32, pc: *const Ins) -> bool {
        let last = trace.snaps.last().is_some_and(|s| exit as usize + 1 == trace.snaps.len() && s.multres == 0);
        let returns = trace.ins.iter().filter(|i| i.op == perilune_recorder::ir::Op::RETF).count();
        last && trace.link == Link::Return
            && returns > 1
            && matches!(frame::ins(pc).op(), Op::RET | Op::RET0 | Op::RET1 | Op::CALLT)
    }
    /// Where a trace starts over at the first exit of `parent`, for values of other types: at the start of a loop, if `parent`
    /// starts there as well and not too many others do.
    fn variant_start(&self, parent: u32) -> Option<(Gc<Proto>, (*const Ins, Ins))> {
        const MAX: usize = 6;
        let registry = self.registry.borrow();
        let mut n = parent;
        if registry.get(parent)?.exits.first()?.failed_variants >= Exit::MAX_VARIANTS {
            return None;
        }
        for _ in 0..MAX {
            let e = registry.get(n)?;
            if let Some((proto, at, ins)) = e.start {
                let pc = proto.code_ptr().wrapping_add(at).cast_const();
                return (!matches!(ins.op(), Op::FUNCF | Op::FUNCV)).then_some((proto, (pc, ins)));
            }
            let (above, 0) = e.trace.parent? else { return None };
            n = above;
        }
        None
    }
    /// A number for a new trace; makes room if there is none.
    fn number(&self, vm: &mut Vm) -> Option<u32> {
        let max = self.options.get().params.maxtrace;
        let free = self.registry.borrow_mut().free_number(max);
        if free.is_some() {
            return free;
        }
        self.drop_traces(vm);
        None
    }
    #[allow(clippy::too_many_arguments, reason = "all that a recording consists of")]
    fn begin(
        &self,
        vm: &mut Vm,
        number: u32,
        start: Value,
        at: usize,
        origin: Origin,
        recorder: Result<Recorder, Abort>,
        begun: Instant,
    ) {
        self.count(|c| c.started += 1);
        self.publish();
        if self.cancelled.replace(false) {
            return self.fail(vm, number, (start, at), origin, Abort::Error.into(), None);
        }
        match recorder {
            Ok(recorder) => {
                let recording = Recording { recorder, number, start, origin, at: (start, at), spent: begun.elapsed() };
                *self.recording.borrow_mut() = Some(recording);
                vm.set_mode(Mode::Record);
            }
            Err(reason) => self.fail(vm, number, (start, at), origin, reason.into(), None),
        }
    }

    /// Records the instruction that is about to run.
    pub(crate) fn record_instruction(&self, vm: &mut Vm, pc: *const Ins) {
        if !self.is_recording() {
            vm.set_mode(Mode::Interpret);
            return;
        }
        self.tell_instruction(vm, pc);
        if self.cancelled.replace(false) {
            return self.abort_recording(vm, Abort::Error.into());
        }
        // The root trace that is to be made again.
        let mut again = None;
        let step = {
            let registry = self.registry.borrow();
            let left = |pc: *const Ins| self.sites.borrow().get(pc).is_some_and(|s| s.is_left);
            let noted = |pc: *const Ins| self.sites.borrow().feedback(pc);
            let expected = self.mixed.borrow().site(vm, pc, noted(pc));
            let site = |at: *const Ins| if at == pc { expected } else { noted(at) };
            let known = Known { registry: &registry, left: &left, site: &site, live: &self.live };
            let mut recording = self.recording.borrow_mut();
            let Some(r) = recording.as_mut() else { return };
            let begun = Instant::now();
            let step = r.recorder.record(vm, &known, pc);
            r.spent += begun.elapsed();
            let (pc, found) = r.recorder.site();
            if found != noted(pc) {
                self.sites.borrow_mut().at(pc).feedback = found;
                if matches!(step, Step::Abort { reason: Abort::Retry, .. }) {
                    if found.ints && found.nums {
                        self.mixed.borrow_mut().expect(vm, &mut self.sites.borrow_mut(), pc, r.recorder.proto());
                    }
                    again = registry.disarm_root(r.recorder.root_no());
                }
            }
            step
        };
        if let Some(place) = again {
            self.sites.borrow_mut().at(place.1).granted = true;
            self.set_counter(vm, place, 1);
        }
        match step {
            Step::Continue => {}
            Step::Done(done) => self.finish(vm, *done),
            Step::Abort { reason, info } => {
                if reason == Abort::CallUnroll {
                    self.retry_recursion(vm, pc);
                }
                self.abort_recording(vm, Failure { reason, info, error: None });
            }
        }
    }
    /// A function called itself too often at `pc`. A trace of it that only returns is in the way of one that recurses: out with it,
    /// to be tried again soon.
    fn retry_recursion(&self, vm: &mut Vm, pc: *const Ins) {
        let ins = frame::ins(pc);
        let registry = self.registry.borrow();
        let n = ins.d() as u32;
        if matches!(ins.op(), Op::JFUNCF | Op::JFUNCV)
            && registry.get(n).is_some_and(|e| e.trace.link == Link::Return)
            && let Some(place) = registry.disarm_root(n)
        {
            self.sites.borrow_mut().at(place.1).recurses = RECURSION_TRIES;
            self.soon(vm, place);
        }
    }
    /// It is the turn of a place after some more calls: which of them is recorded then is left to chance.
    fn soon(&self, vm: &mut Vm, place: (Gc<Proto>, *const Ins)) {
        let mut sites = self.sites.borrow_mut();
        sites.at(place.1).granted = true;
        let n = sites.random();
        drop(sites);
        self.set_counter(vm, place, n);
    }
    /// Is the finished trace one that only returns, of a function known to recurse? It is better tried again.
    fn misses_recursion(&self, vm: &mut Vm, origin: Origin, link: Link) -> bool {
        let Origin::Root(proto, pc) = origin else { return false };
        if link != Link::Return || self.sites.borrow().get(pc).is_none_or(|s| s.recurses == 0) {
            return false;
        }
        self.sites.borrow_mut().at(pc).recurses -= 1;
        self.soon(vm, (proto, pc));
        true
    }
    /// The recording under way, which has come to its end; its time is counted.
    fn end_recording(&self, vm: &mut Vm) -> Option<Recording> {
        let recording = self.recording.borrow_mut().take();
        vm.set_mode(Mode::Interpret);
        let spent = recording.as_ref().map_or(Duration::ZERO, |r| r.spent);
        self.count(|c| c.record_ns += spent.as_nanos() as u64);
        self.policy.borrow_mut().spend(spent);
        recording
    }
    /// Compiles a finished trace and puts it in its place.
    fn finish(&self, vm: &mut Vm, mut done: FinishedTrace) {
        let Some(Recording { number, start, origin, at, spent, .. }) = self.end_recording(vm) else { return };
        if self.misses_recursion(vm, origin, done.trace.link) {
            return self.fail(vm, number, at, Origin::Nowhere, Abort::TooShort.into(), Some(&done.trace));
        }
        if self.is_too_expensive(vm, origin, &done.trace) {
            return self.fail(vm, number, at, Origin::Nowhere, Abort::CodeTooLong.into(), Some(&done.trace));
        }
        let begun = now();
        crate::view::sites::tell_trace(vm, &done, number);
        go_on_at_pad(&mut done, number);
        self.stress_exits(vm, &mut done.trace);
        let placed = match self.place(vm, &done, number) {
            Ok(placed) => placed,
            Err(Refused::Abort(reason, info)) => {
                let failure = Failure { reason, info, error: None };
                return self.fail(vm, number, at, origin, failure, Some(&done.trace));
            }
            Err(Refused::Full) => {
                self.drop_traces(vm);
                return self.fail(vm, number, at, Origin::Nowhere, Abort::CodeFull.into(), Some(&done.trace));
            }
        };
        let compile = now().saturating_sub(begun);
        let code = placed.0;
        self.policy.borrow_mut().spend(compile);
        self.count(|c| {
            c.closed += 1;
            c.compiled += u64::from(code.1 != 0);
            c.mcode += code.1 as u64;
            c.compile_ns += compile.as_nanos() as u64;
        });
        if log::on(Topic::Ir) {
            eprintln!("---- TRACE {number} IR\n{}", done.trace);
        }
        if log::on(Topic::Time) {
            let n = done.trace.ins.len();
            let stores = cost::slots(&done.trace);
            eprintln!(
                "---- TRACE {number}: {n} instructions, {stores} slots in snapshots, {} bytes, recorded in {spent:?}, compiled in {compile:?}",
                code.1
            );
        }
        let first = match origin {
            Origin::Root(proto, pc) => armed(proto, pc, number),
            _ => None,
        };
        let (link, stitch) = (done.trace.link, done.stitch);
        let optimise = done.optimised;
        let passes = core::mem::take(&mut done.passes);
        let history = done.history.take();
        let cost = Cost { record: spent.saturating_sub(optimise), optimise, lower: compile, passes };
        let stub = self.machine.borrow().exit_stub();
        self.registry.borrow_mut().insert(number, done, first, placed, stub, cost);
        if let Origin::Stitch(proto, pc) = origin {
            self.registry.borrow_mut().stitch(number, proto, pc);
        }
        self.tell_compiled(number, history);
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {number} stop {link:?}]");
        }
        if self.listens(vm, Event::Trace) {
            let what = Value::str(vm.new_str(b"stop"));
            self.send(vm, Event::Trace, &[what, Value::int(number as i32), stitch.unwrap_or(start)]);
        }
    }
    fn place(&self, vm: &mut Vm, done: &FinishedTrace, number: u32) -> Result<Placed, Refused> {
        let options = self.options.get();
        let base = self.registry.borrow().free_exits(done.trace.snaps.len()).ok_or(Refused::Full)?;
        if options.params.eval != 0 {
            vm.set_enter(crate::trace::machine::evaluate);
            return Ok(((0, 0, 0), CodeMap::default(), base));
        }
        let limit = (options.params.maxmcode as usize).saturating_mul(1024);
        let sites = crate::view::sites::of(vm, done, number);
        let from_exit = done.trace.parent.and_then(|(parent, k)| {
            let registry = self.registry.borrow();
            let parent = registry.get(parent)?;
            Some((parent.unboxed(k), passed(&parent.trace, k as usize, &done.trace)))
        });
        let (unboxed, passed) = from_exit.unwrap_or_default();
        let request = (&done.trace, number, &*sites);
        vm.tell_walked();
        let (code, map) = self.machine.borrow_mut().compile(vm, request, (&unboxed, &passed), self.is_watched(), base, limit)?;
        Ok((code, map, base))
    }

    /// Gives up the recording, if there is one.
    fn abort_recording(&self, vm: &mut Vm, failure: Failure) {
        let Some(r) = self.end_recording(vm) else { return };
        if let Some((parent, 0)) = r.recorder.b.trace.parent
            && failure.reason != Abort::Retry
            && let Some(e) = self.registry.borrow_mut().get_mut(parent)
        {
            // A loop that was about to end may go on the next time.
            let tries = if failure.reason == Abort::LeavingLoop { 1 } else { Exit::MAX_VARIANTS };
            e.exits[0].failed_variants = e.exits[0].failed_variants.saturating_add(tries);
        }
        let trace = &r.recorder.b.trace;
        if let Some((parent, k)) = trace.parent
            && failure.reason == Abort::Retry
            && let Some(e) = self.registry.borrow_mut().get_mut(parent)
        {
            // The next attempt knows what this one has found: it does not count.
            let x = &mut e.exits[k as usize];
            x.tries = x.tries.saturating_sub(1);
        }
        self.fail(vm, r.number, r.at, r.origin, failure, Some(trace));
    }
    /// An error is being thrown.
    pub(crate) fn abort_by_error(&self, vm: &mut Vm) {
        let thrown = self.recording.borrow_mut().as_mut().and_then(|r| r.recorder.thrown());
        if let Some((call, found)) = thrown {
            self.sites.borrow_mut().at(call).feedback = found;
        }
        let failure = Failure { reason: Abort::Error, info: AbortInfo::None, error: Some(vm.error).filter(|e| !e.is_nil()) };
        self.abort_recording(vm, failure);
    }
    /// Gives up the recording because the compiler is switched or its traces are flushed.
    pub(crate) fn cancel(&self, vm: &mut Vm) {
        if self.in_event.get() {
            self.cancelled.set(true);
        } else if self.is_recording() {
            self.abort_recording(vm, Abort::Error.into());
        }
    }

    /// Counts a failure, and tells of it.
    fn fail(
        &self,
        vm: &mut Vm,
        number: u32,
        at: (Value, usize),
        origin: Origin,
        failure: Failure,
        trace: Option<&perilune_recorder::ir::Trace>,
    ) {
        self.count(|c| c.aborted += 1);
        self.note_abort(at, failure.reason, failure.info, failure.error);
        self.tell(|w| w.aborted(at, &crate::view::aborts::reason_text(failure.reason, failure.info, failure.error)));
        match origin {
            Origin::Root(proto, pc) => self.penalize(vm, proto, pc, failure.reason),
            Origin::Stitch(proto, pc) => self.penalize_stitch(proto, pc),
            Origin::Side | Origin::Nowhere => {}
        }
        if log::on(Topic::Trace) {
            let line = at.0.as_func().and_then(|f| f.proto()).map_or(0, |p| p.line(at.1));
            eprintln!("[TRACE {number} abort at line {line}: {} {:?}]", failure.reason, failure.info);
        }
        if log::on(Topic::Aborted)
            && let Some(trace) = trace
        {
            eprintln!("---- TRACE {number} aborted: {}\n{trace}", failure.reason);
        }
        if self.listens(vm, Event::Trace) {
            let what = Value::str(vm.new_str(b"abort"));
            let code = failure.error.unwrap_or(Value::int(failure.reason as i32));
            let info = match failure.info {
                AbortInfo::None => Value::NIL,
                AbortInfo::Bytecode(op) => Value::int(op as i32),
                AbortInfo::Func(f) => f,
                AbortInfo::Ir(op) => Value::int(op as i32),
            };
            *self.given_up.borrow_mut() = trace.map(|t| (number, Rc::new(t.clone())));
            self.send(vm, Event::Trace, &[what, Value::int(number as i32), at.0, Value::int(at.1 as i32), code, info]);
            *self.given_up.borrow_mut() = None;
        }
    }
    fn penalize(&self, vm: &mut Vm, proto: Gc<Proto>, pc: *const Ins, reason: Abort) {
        if reason == Abort::Retry {
            self.sites.borrow_mut().at(pc).granted = true;
            return self.set_counter(vm, (proto, pc), 1);
        }
        let thresholds = self.thresholds(vm);
        let first = if thresholds.literal { 0 } else { thresholds.hotloop.saturating_mul(2) };
        let wait = self.sites.borrow_mut().penalize(pc, reason, first);
        match wait {
            Some(n) => self.set_counter(vm, (proto, pc), n),
            None => {
                if let Some(at) = proto.pc_of(pc) {
                    crate::trace::patch::blacklist(proto, at);
                }
            }
        }
    }

    fn penalize_stitch(&self, proto: Gc<Proto>, stitch: *const Ins) {
        if let Some(pad) = proto.pad_at(stitch)
            && pad.fail() >= self.options.get().params.tryside
        {
            pad.give_up();
        }
    }

    fn tell_start(&self, vm: &mut Vm, number: u32, func: Value, pc: usize, parent: Option<(u32, i32)>) {
        if log::on(Topic::Trace) {
            let line = func.as_func().and_then(|f| f.proto()).map_or(0, |p| p.line(pc));
            eprintln!("[TRACE {number} start at line {line}, parent {parent:?}]");
        }
        let from = parent.map(|(n, exit)| (n, u32::try_from(exit).ok()));
        self.tell(|w| w.started(&Start { number, func, pc, parent: from }));
        if !self.listens(vm, Event::Trace) {
            return;
        }
        let what = Value::str(vm.new_str(b"start"));
        let mut args = vec![what, Value::int(number as i32), func, Value::int(pc as i32)];
        if let Some((parent, exit)) = parent {
            args.extend([Value::int(parent as i32), Value::int(exit)]);
        }
        self.send(vm, Event::Trace, &args);
    }
    /// Notes where the recording is, and tells of the instruction.
    fn tell_instruction(&self, vm: &mut Vm, pc: *const Ins) {
        let (number, depth, index);
        {
            let mut recording = self.recording.borrow_mut();
            let Some(r) = recording.as_mut() else { return };
            let native = matches!(frame::ins(pc).op(), Op::FUNCC | Op::FUNCCW);
            index = if native { None } else { frame::proto(vm).and_then(|p| p.pc_of(pc)) };
            if let Some(i) = index {
                r.at = (frame::func(vm), i);
            }
            // A builtin is a frame of its own.
            (number, depth) = (r.number, r.recorder.frame_depth() + usize::from(native));
        }
        self.tell(|w| w.recorded(frame::func(vm), index, depth));
        if !self.listens(vm, Event::Record) {
            return;
        }
        // At a function's header the arguments are in use, however many there are.
        let nargs = if frame::is_header(pc) { vm.record_nargs as usize } else { 0 };
        frame::protect(vm, pc, nargs);
        let pc = index.map_or(-1, |i| i as i32);
        self.send(vm, Event::Record, &[Value::int(number as i32), frame::func(vm), Value::int(pc), Value::int(depth as i32)]);
    }
}
