//! Aborts of recordings, and the penalty for the position where the recording started.

use super::Origin;
use crate::Jit;
use crate::policy::cost::Size;
use crate::trace::Exit;
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::{SnapId, Trace};
use perilune_recorder::rec::AbortInfo;
use perilune_vm::bc::Op;
use perilune_vm::object::BcPos;
use perilune_vm::{TraceId, Value, Vm};
use std::rc::Rc;

/// How a recording ended without a trace.
pub struct Failure {
    pub reason: Abort,
    pub info: AbortInfo,
    /// The value that was thrown as an error, if there was one.
    pub error: Option<Value>,
}

impl From<Abort> for Failure {
    fn from(reason: Abort) -> Failure {
        Failure { reason, info: AbortInfo::None, error: None }
    }
}

/// Was a recording aborted because it came to a limit of its length? The next one from the same position mostly comes there again, and takes
/// a hundred times as long as one that is aborted soon. So it waits as for a trace of this length.
fn is_too_long(reason: Abort) -> bool {
    matches!(reason, Abort::TooLong | Abort::TooManySnapshots)
}

/// Did the recording of a loop come round the loop that it is in? Then the loop has ended, as where one iteration has a `break`, or
/// `repeat ... until true` stands for a block that is left early.
fn leaves_its_loop(origin: Origin, at: (Value, usize), reason: Abort) -> bool {
    let Origin::Root(start) = origin else { return false };
    let proto = at.0.as_func().and_then(|f| f.proto());
    reason == Abort::InnerLoop
        && proto == Some(start.proto)
        && BcPos { proto: start.proto, index: at.1 as u32 }.loop_range().is_some_and(|range| range.contains(&start.index))
}

/// A recording of so many instructions that started at an exit was aborted.
fn note_failure(x: &mut Exit, is_first: bool, reason: Abort, recorded: u32) {
    // A loop that was about to end may run longer the next time. The next exit is a try as good as this one was, while a count that is
    // twice as high comes at the end again if it is a multiple of the number of iterations.
    let was_near_end = is_first && reason == Abort::LeavingLoop && x.failed_restarts < Exit::MAX_RESTARTS;
    if was_near_end {
        x.failed_restarts += 1;
    } else if is_first && reason != Abort::Retry {
        x.failed_restarts = Exit::MAX_RESTARTS;
    }
    if was_near_end || reason == Abort::Retry {
        // The attempt does not count: the next one knows what this one has found.
        x.tries = x.tries.saturating_sub(1);
    } else {
        // What unrolls loops and calls up to the limit is long, and comes to the same loop again.
        let is_long = is_too_long(reason) || matches!(reason, Abort::LoopUnroll | Abort::CallUnroll);
        x.size = is_long.then(|| Size::of_instructions(recorded));
        x.too_expensive = false;
    }
}

impl Jit {
    /// Aborts the recording, if there is one.
    pub(super) fn abort_recording(&self, vm: &mut Vm, failure: Failure) {
        let Some(r) = self.end_recording(vm) else { return };
        let trace = &r.recorder.b.trace;
        let interrupted = failure.reason == Abort::Error && vm.interrupt_waits().is_some();
        let reason = if leaves_its_loop(r.origin, r.at, failure.reason) { Abort::LeavingLoop } else { failure.reason };
        let for_now = self.record_loop_first(vm, r.origin, r.at, reason);
        if let Some(parent) = trace.parent
            && let Some(x) = self.registry.borrow_mut().exit_mut(parent)
        {
            if interrupted || for_now && x.waits_for_loop() {
                x.tries = x.tries.saturating_sub(1);
            } else {
                note_failure(x, parent.exit == SnapId::FIRST, failure.reason, trace.ins.len() as u32);
            }
        }
        if failure.reason == Abort::Retry
            && r.recorder.is_root_stale()
            && let Some(pos) = self.registry.borrow().disarm_root(r.recorder.root())
        {
            self.protos.borrow_mut().at(pos).record_next = true;
            self.set_counter(vm, pos, 1);
        }
        let origin = if interrupted { Origin::Nowhere } else { r.origin };
        self.penalize_origin(vm, origin, reason, Some(trace), for_now);
        self.report_failure(vm, r.number, r.at, failure, Some(trace));
    }
    /// Was the recording aborted because it came to a loop that has no trace yet? LuaJIT waits until that loop becomes hot by itself. Where
    /// traces cover part of its iterations that takes long, and all recordings that come to it meanwhile are aborted. But a loop that is
    /// executed each time that something hot is has been so as often, so it is recorded at once. Returns whether it will be. Thresholds
    /// that are taken literally hold for it as well.
    fn record_loop_first(&self, vm: &mut Vm, origin: Origin, at: (Value, usize), reason: Abort) -> bool {
        let thresholds = self.thresholds(vm);
        if thresholds.literal || !matches!(reason, Abort::InnerLoop | Abort::LoopUnroll) {
            return false;
        }
        let Some(proto) = at.0.as_func().and_then(|f| f.proto()) else { return false };
        let pos = BcPos { proto, index: at.1 as u32 };
        let is_loop = pos.ins().is_some_and(|ins| matches!(ins.op(), Op::FORL | Op::ITERL | Op::LOOP));
        if !is_loop || matches!(origin, Origin::Root(start) if start == pos) {
            return false;
        }
        let first = thresholds.hotloop.saturating_mul(2);
        let will_be = self.protos.borrow_mut().record_loop_first(pos, first);
        if will_be {
            self.set_counter(vm, pos, 1);
        }
        will_be
    }
    /// The recording says nothing about the code (the program was interrupted, or another loop is recorded first): the attempt does not count.
    pub(super) fn forget_attempt(&self, trace: &Trace) {
        if let Some(parent) = trace.parent
            && let Some(x) = self.registry.borrow_mut().exit_mut(parent)
        {
            x.tries = x.tries.saturating_sub(1);
        }
    }
    /// An error is being thrown.
    pub(crate) fn abort_by_error(&self, vm: &mut Vm) {
        let thrown = self.recording.current.borrow_mut().as_mut().and_then(|r| r.recorder.thrown());
        if let Some((call, found)) = thrown {
            self.protos.borrow_mut().at(call).feedback = found;
        }
        let failure =
            Failure { reason: Abort::Error, info: AbortInfo::None, error: Some(vm.errors.value).filter(|e| !e.is_nil()) };
        self.abort_recording(vm, failure);
    }
    /// Aborts the recording because the compiler is switched or its traces are flushed.
    pub(crate) fn cancel(&self, vm: &mut Vm) {
        if self.observers.in_event.get() {
            self.recording.cancelled.set(true);
        } else if self.is_recording() {
            self.abort_recording(vm, Abort::Error.into());
        }
    }

    /// Counts an aborted recording, gives its start a penalty, and reports it.
    pub(super) fn fail(
        &self,
        vm: &mut Vm,
        number: TraceId,
        at: (Value, usize),
        origin: Origin,
        failure: Failure,
        trace: Option<&Trace>,
    ) {
        self.penalize_origin(vm, origin, failure.reason, trace, false);
        self.report_failure(vm, number, at, failure, trace);
    }
    /// The start of an aborted recording gets its penalty; `for_now` if another loop is to be recorded first.
    fn penalize_origin(&self, vm: &mut Vm, origin: Origin, reason: Abort, trace: Option<&Trace>, for_now: bool) {
        match origin {
            Origin::Root(pos) => {
                if let Some(trace) = trace.filter(|_| is_too_long(reason)) {
                    self.protos.borrow_mut().at(pos).size = Some(Size::of_instructions(trace.ins.len() as u32));
                }
                self.penalize(vm, pos, reason, for_now);
            }
            Origin::Stitch(call) => self.penalize_stitch(call),
            Origin::Side | Origin::Nowhere => {}
        }
    }
    /// Counts an aborted recording, and reports it.
    fn report_failure(&self, vm: &mut Vm, number: TraceId, at: (Value, usize), failure: Failure, trace: Option<&Trace>) {
        self.count(|c| c.aborted += 1);
        self.count_abort(at, failure.reason, failure.info, failure.error);
        self.notify(|w| w.aborted(at, &crate::view::aborts::reason_text(failure.reason, failure.info, failure.error)));
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
            *self.recording.aborted.borrow_mut() = trace.map(|t| (number, Rc::new(t.clone())));
            self.send(vm, Event::Trace, &[what, Value::int(number.get() as i32), at.0, Value::int(at.1 as i32), code, info]);
            *self.recording.aborted.borrow_mut() = None;
        }
    }
    fn penalize(&self, vm: &mut Vm, pos: BcPos, reason: Abort, for_now: bool) {
        if self.protos.borrow_mut().is_repeated(pos, reason) {
            self.protos.borrow_mut().at(pos).record_next = true;
            return self.set_counter(vm, pos, 1);
        }
        if self.keeps_old_root(vm, pos) {
            return;
        }
        let thresholds = self.thresholds(vm);
        let first = if thresholds.literal { 0 } else { thresholds.hotloop.saturating_mul(2) };
        let wait = self.protos.borrow_mut().penalize(pos, reason, first, for_now);
        match wait {
            Some(n) => self.set_counter(vm, pos, n),
            None => {
                crate::trace::patch::blacklist(pos);
            }
        }
    }

    fn penalize_stitch(&self, call: BcPos) {
        if let Some(stub) = call.stitch_stub()
            && stub.fail() >= self.settings.options.get().params.tryside
        {
            stub.blacklist();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exit, Origin, note_failure};
    use crate::Jit;
    use crate::policy::cost::Size;
    use perilune_recorder::abort::Abort;
    use perilune_vm::bc::Op;
    use perilune_vm::object::BcPos;
    use perilune_vm::{Value, Vm};

    #[test]
    fn a_recording_that_was_too_long_is_expected_to_be_as_long_again() {
        let mut exit = Exit { tries: 1, size: Some(Size::USUAL), ..Exit::default() };
        note_failure(&mut exit, false, Abort::Retry, 300);
        assert_eq!((exit.size, exit.tries), (Some(Size::USUAL), 0), "what it found counts, not how long it was");
        note_failure(&mut exit, false, Abort::TooLong, 4_000);
        assert_eq!(exit.size, Some(Size::of_instructions(4_000)));
        note_failure(&mut exit, false, Abort::LeavingLoop, 300);
        assert_eq!(exit.size, None);
        note_failure(&mut exit, false, Abort::LoopUnroll, 800);
        assert_eq!(exit.size, Some(Size::of_instructions(800)));
    }

    #[test]
    fn an_exit_that_comes_to_one_loop_after_the_other_does_not_wait_for_them_all() {
        let mut exit = Exit::default();
        let waits = (0..100).take_while(|_| exit.waits_for_loop()).count();
        assert_eq!(waits, usize::from(Exit::MAX_RESTARTS));
    }

    #[test]
    fn a_loop_that_ends_a_recording_is_recorded_before_it_is_hot() {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        let jit = Jit::of(&vm).expect("a compiler");
        let f = vm.load_chunk(b"local s = 0 for i = 1, 9 do s = s + i end return s", b"=test", None).expect("it compiles");
        let proto = f.proto().expect("a Lua function");
        let at = |pc: u32| BcPos { proto, index: pc };
        let pos = (0..).map(at).find(|p| p.ins().expect("a FORL").op() == Op::FORL).expect("a FORL");
        let ask = |vm: &mut Vm, reason, pc| jit.record_loop_first(vm, Origin::Side, (Value::func(f), pc), reason);
        let roots = |jit: &Jit| jit.protos.borrow().get(pos).map_or(0, |record| record.roots.len());

        assert!(!ask(&mut vm, Abort::LeavingLoop, pos.pc()), "not for this reason");
        assert!(!ask(&mut vm, Abort::LoopUnroll, 1), "not a loop");
        assert!(vm.call1(Value::func(f), &[]).is_ok());
        assert_eq!(roots(&jit), 0, "nine iterations are not many");
        assert!(ask(&mut vm, Abort::LoopUnroll, pos.pc()));
        assert!(!ask(&mut vm, Abort::InnerLoop, pos.pc()), "it will be already");
        let sum = vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number);
        assert_eq!((sum, roots(&jit)), (Some(45.0), 1));
        assert!(!ask(&mut vm, Abort::InnerLoop, pos.pc()), "it has a trace");
    }
    #[test]
    fn a_loop_that_cannot_be_recorded_is_asked_for_twice() {
        let mut vm = Vm::new();
        crate::attach(&mut vm);
        let jit = Jit::of(&vm).expect("a compiler");
        let f = vm.load_chunk(b"while true do end", b"=test", None).expect("it compiles");
        let proto = f.proto().expect("a Lua function");
        let [outer, inner] = [0, 1].map(|index| BcPos { proto, index });
        let mut protos = jit.protos.borrow_mut();
        let mut waits = vec![];
        loop {
            let for_now = protos.record_loop_first(inner, 100);
            waits.extend(protos.penalize(outer, Abort::InnerLoop, 100, for_now));
            if !for_now {
                break;
            }
            protos.at(inner).record_next = false;
            protos.penalize(inner, Abort::TooLong, 100, false);
        }
        assert_eq!(waits[..2], [100, 100], "the outer loop waits for the inner one");
        assert!(waits.len() == 3 && waits[2] >= 200, "then for itself: {waits:?}");
    }
    #[test]
    fn loops_that_come_to_each_other_do_not_wait_for_ever() {
        let mut vm = Vm::new();
        crate::attach(&mut vm);
        let jit = Jit::of(&vm).expect("a compiler");
        let f = vm.load_chunk(b"while true do end", b"=test", None).expect("it compiles");
        let proto = f.proto().expect("a Lua function");
        let loops = [0, 1].map(|index| BcPos { proto, index });
        let mut protos = jit.protos.borrow_mut();
        let is_given_up = (0..100).any(|round| {
            let (this, other) = (loops[round % 2], loops[(round + 1) % 2]);
            protos.at(this).record_next = false;
            let for_now = protos.record_loop_first(other, 100);
            protos.penalize(this, Abort::InnerLoop, 100, for_now).is_none()
        });
        assert!(is_given_up);
    }
    #[test]
    fn blocks_that_are_left_by_break_are_unrolled() {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        let source = b"local s = 0
            for t = 1, 3000 do
              for i = 1, 30 do
                repeat if t % 3 == 0 then break end s = (s + i) % 1000003 until true
                while true do if i == t then s = s + 1 end break end
              end
            end
            local c = require 'jit.util'.counters(true)
            return c.closed > 0 and c.aborted";
        let f = vm.load_chunk(source, b"=test", None).expect("it compiles");
        let aborted = vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number).expect("a number: there are traces");
        assert!(aborted < 60.0, "{aborted} aborts");
    }
    #[test]
    fn a_recording_is_given_up_when_it_grows_too_expensive() {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        // A side trace of usual size would pay, but not one of 60 branches, of which few are run through before one is left.
        let long: String = (1..=60).map(|n| format!("if t[{n}] > i then x = x + t[{n}] end ")).collect();
        let source = format!(
            "local x, t = 0, {{}} for n = 1, 60 do t[n] = 28000 * (n % 2) end
             for i = 1, 28000 do if i > 20000 then {long} end end
             local c = require 'jit.util'.counters(true)
             return c.aborted + c.closed / 10"
        );
        let f = vm.load_chunk(source.as_bytes(), b"=test", None).expect("it compiles");
        let jit = Jit::of(&vm).expect("a compiler");
        jit.policy.borrow_mut().spend(std::time::Duration::from_secs(1_000));
        let aborted = vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number);
        assert_eq!(aborted, Some(2.1), "those of loop and side trace are aborted, and only the loop is compiled");
        let registry = jit.registry.borrow();
        let sizes: Vec<Size> = registry.iter().flat_map(|(_, e)| &e.exits).filter_map(|x| x.size).collect();
        assert!(matches!(sizes[..], [Size { is_whole: false, instructions: 100..250, .. }]), "{sizes:?}");
    }
    #[test]
    fn the_length_of_a_recording_that_was_too_long_is_noted_at_its_loop() {
        let mut vm = Vm::new();
        vm.open_libs();
        crate::attach(&mut vm);
        let long = "x = x * 3 + i ".repeat(40);
        let source = format!(
            "require 'jit.opt'.start('hotloop=2', 'maxrecord=50')
             local x = 0.5 for i = 1, 20 do {long} end
             return require 'jit.util'.counters(true).aborted"
        );
        let f = vm.load_chunk(source.as_bytes(), b"=test", None).expect("it compiles");
        let aborted = vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number);
        assert_eq!(aborted, Some(1.0), "the next recording waits");
        let (jit, proto) = (Jit::of(&vm).expect("a compiler"), f.proto().expect("a Lua function"));
        let lengths: Vec<u32> =
            jit.protos.borrow_mut().of_proto(proto).filter_map(|(_, record)| record.size).map(|size| size.instructions).collect();
        assert!(matches!(lengths[..], [50..60]), "{lengths:?}");
    }
}
