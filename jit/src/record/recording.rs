//! A recording under way, which sees each instruction before it runs.
//!
//! Next on the way of a hot loop: `recorder/src/rec/mod.rs`.

use super::abort::Failure;
use crate::Jit;
use crate::feedback::trace_db::RecorderView;
use crate::frame;
use crate::view::events::Event;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::Trace;
use perilune_recorder::rec::{Recorder, Step};
use perilune_vm::gc::Marker;
use perilune_vm::hooks::Mode;
use perilune_vm::object::{BcPos, InsPtr};
use perilune_vm::{TraceId, Value, Vm};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Where a recording started. An abort is counted there, and the finished trace is entered there.
#[derive(Copy, Clone, Debug)]
pub enum Origin {
    /// At a hot instruction of a function.
    Root(BcPos),
    /// After a call that a trace ends in front of: the position of the call, which has a stitch stub.
    Stitch(BcPos),
    /// At an exit.
    Side,
    /// An abort is not counted.
    Nowhere,
}

/// A recording under way.
#[derive(Debug)]
pub struct Recording {
    pub(crate) recorder: Recorder,
    pub(super) number: TraceId,
    /// The function that it started in.
    pub(super) start: Value,
    /// Where it started.
    pub(crate) origin: Origin,
    /// The last Lua instruction seen: function and index.
    pub(super) at: (Value, usize),
    pub(super) spent: Duration,
}

/// The recording under way, and what concerns its end.
#[derive(Debug, Default)]
pub struct RecordState {
    /// The recording, if there is one.
    pub(crate) current: RefCell<Option<Recording>>,
    /// A handler of the recording's own event has switched the compiler or flushed its traces: the recording is aborted when it returns.
    pub(crate) cancelled: Cell<bool>,
    /// Is the event of a finished trace being sent? The trace stays until its handlers have returned.
    pub(crate) announcing: Cell<bool>,
    /// The trace that was just aborted, while its event is sent.
    pub(crate) aborted: RefCell<Option<(TraceId, Rc<Trace>)>>,
}

impl Recording {
    /// Marks the objects that it refers to.
    pub fn mark(&self, marker: &mut Marker) {
        self.recorder.mark(marker);
        marker.mark_value(self.start);
        marker.mark_value(self.at.0);
        if let Origin::Root(pos) | Origin::Stitch(pos) = self.origin {
            marker.mark(pos.proto);
        }
    }
    /// The trace so far.
    pub fn trace(&self) -> &Trace {
        &self.recorder.b.trace
    }
    /// The root trace that it belongs to: its own number for a root trace.
    pub fn root(&self) -> TraceId {
        self.recorder.root()
    }
    /// The Lua function and instruction that it started at.
    pub fn head(&self) -> Option<BcPos> {
        BcPos::of_address(self.start.as_func()?.proto()?, self.recorder.start_pc())
    }
    /// Its number.
    pub fn number(&self) -> TraceId {
        self.number
    }
}

impl Jit {
    /// Records the instruction that is about to run.
    pub(crate) fn record_instruction(&self, vm: &mut Vm, pc: InsPtr) {
        if !self.is_recording() {
            vm.set_mode(Mode::Interpret);
            return;
        }
        self.report_instruction(vm, pc);
        // The interpreter looks at interrupts only when the recording has ended.
        if self.recording.cancelled.replace(false) || vm.interrupt_waits().is_some() {
            return self.abort_recording(vm, Abort::Error.into());
        }
        let step = {
            let registry = self.registry.borrow();
            let here = frame::proto(vm).and_then(|p| BcPos::of_address(p, pc));
            let current = here.map(|pos| (pos, self.protos.borrow().expected(vm, pos)));
            let db = RecorderView { registry: &registry, protos: &self.protos, current };
            let mut recording = self.recording.current.borrow_mut();
            let Some(r) = recording.as_mut() else { return };
            let begun = Instant::now();
            let step = r.recorder.record(vm, &db, pc);
            r.spent += begun.elapsed();
            if let Some((pos, found)) = r.recorder.site() {
                let mut protos = self.protos.borrow_mut();
                if found != protos.feedback(pos) {
                    protos.at(pos).feedback = found;
                    if r.recorder.has_learned() && found.ints && found.nums {
                        protos.expect_both(vm, pos);
                    }
                }
            }
            step
        };
        match step {
            Step::Continue => self.give_up_if_too_expensive(vm),
            Step::Done(done) => self.finish(vm, *done),
            Step::Abort { reason, info } => {
                if reason == Abort::CallUnroll {
                    self.retry_recursion(vm, pc);
                }
                self.abort_recording(vm, Failure { reason, info, error: None });
            }
        }
    }
    /// Ends the recording if its start is not hot enough for a trace that is at least as long as what was recorded so far.
    fn give_up_if_too_expensive(&self, vm: &mut Vm) {
        let is_too_expensive = self
            .recording
            .current
            .borrow()
            .as_ref()
            .is_some_and(|r| self.grows_too_expensive(vm, r.origin, r.trace(), r.recorder.path()));
        if is_too_expensive && let Some(r) = self.end_recording(vm) {
            self.fail(vm, r.number, r.at, Origin::Nowhere, Abort::CodeTooLong.into(), Some(r.trace()));
        }
    }
    /// Ends the recording under way, whose time is counted.
    pub(super) fn end_recording(&self, vm: &mut Vm) -> Option<Recording> {
        let recording = self.recording.current.borrow_mut().take();
        vm.set_mode(Mode::Interpret);
        let spent = recording.as_ref().map_or(Duration::ZERO, |r| r.spent);
        self.count(|c| c.record_ns += spent.as_nanos() as u64);
        self.policy.borrow_mut().spend(spent);
        recording
    }
    /// Notes the position of the recording, and reports the instruction.
    fn report_instruction(&self, vm: &mut Vm, pc: InsPtr) {
        let (number, depth, index);
        {
            let mut recording = self.recording.current.borrow_mut();
            let Some(r) = recording.as_mut() else { return };
            let native = pc.ins().op().is_native_header();
            index = if native { None } else { frame::proto(vm).and_then(|p| p.pc_of(pc)) };
            if let Some(i) = index {
                r.at = (frame::func(vm), i);
            }
            // A builtin is a frame of its own.
            (number, depth) = (r.number, r.recorder.frame_depth() + usize::from(native));
        }
        self.notify(|w| w.recorded(frame::func(vm), index, depth));
        if !self.listens(vm, Event::Record) {
            return;
        }
        // At a function's header all arguments are in use, also those beyond the parameters.
        let nargs = if frame::is_header(pc) { vm.interp.record_nargs as usize } else { 0 };
        frame::protect(vm, pc, nargs);
        let pc = index.map_or(-1, |i| i as i32);
        self.send(
            vm,
            Event::Record,
            &[Value::int(number.get() as i32), frame::func(vm), Value::int(pc), Value::int(depth as i32)],
        );
    }
}
