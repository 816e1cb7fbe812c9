//! The state of the compiler, and its side of the seam to the interpreter.
//!
//! Next on the way of a hot loop: `jit/src/record/start.rs`.

use crate::feedback::number_profile::NumberProfile;
use crate::params::Options;
use crate::policy::Policy;
use crate::policy::hotcount;
use crate::policy::proto_table::ProtoTable;
use crate::record::Recording;
use crate::trace::Registry;
use crate::trace::machine::Machine;
use crate::view::aborts;
use crate::view::counters::{Counters, Published};
use crate::view::events::Event;
use crate::view::watch::Watcher;
use core::any::Any;
use core::cell::{Cell, RefCell};
use perilune_recorder::ir::Trace;
use perilune_vm::bc::Ins;
use perilune_vm::gc::Marker;
use perilune_vm::hooks::{Compiler, Mode, Resume};
use perilune_vm::object::{BcPos, Gc, Proto};
use perilune_vm::{ExitId, TraceId, Value, Vm};
use std::rc::Rc;

/// The tracing compiler of one VM.
///
/// Handlers of events run Lua code that may come back here: no cell is borrowed while one runs.
#[derive(Default)]
pub struct Jit {
    pub(crate) enabled: Cell<bool>,
    pub(crate) options: Cell<Options>,
    pub(crate) registry: RefCell<Registry>,
    pub(crate) recording: RefCell<Option<Recording>>,
    pub(crate) machine: RefCell<Machine>,
    pub(crate) counters: Cell<Counters>,
    pub(crate) published: Published,
    /// Is a handler running?
    pub(crate) in_event: Cell<bool>,
    /// Was the recording given up by somebody whom its own handler called?
    pub(crate) cancelled: Cell<bool>,
    /// The trace that was just aborted, while its event is reported.
    pub(crate) given_up: RefCell<Option<(TraceId, Rc<Trace>)>>,
    /// What is known about prototypes and their bytecode.
    pub(crate) protos: RefCell<ProtoTable>,
    /// Fields whose loads are expected to find both forms of numbers.
    pub(crate) number_profile: RefCell<NumberProfile>,
    /// What came to nothing.
    pub(crate) aborts: RefCell<aborts::Places>,
    /// What the program has run, and what was spent on compiling.
    pub(crate) policy: RefCell<Policy>,
    /// Guards numbered so far by exit stress.
    pub(crate) guards: Cell<u32>,
    /// Who watches.
    pub(crate) watcher: RefCell<Option<Box<dyn Watcher>>>,
}

impl Jit {
    /// The compiler of a VM, if it has this one.
    pub fn of(vm: &Vm) -> Option<Rc<Jit>> {
        let compiler: Rc<dyn Any> = vm.compiler.clone();
        compiler.downcast().ok()
    }
    /// Attaches a new compiler to a VM. It is on.
    pub fn install(vm: &mut Vm) -> Rc<Jit> {
        let jit = Rc::new(Jit::default());
        jit.enabled.set(true);
        jit.registry.borrow_mut().connect(vm);
        vm.compiler = jit.clone();
        jit.reset_counters(vm);
        jit
    }
    /// Is it on?
    pub fn is_on(&self) -> bool {
        self.enabled.get()
    }
    /// Switches it. Off, nothing new is compiled; what has been compiled stays in use.
    pub fn switch(&self, vm: &mut Vm, on: bool) {
        self.cancel(vm);
        self.enabled.set(on);
        self.reset_counters(vm);
    }
    /// What it did so far.
    pub fn counts(&self) -> Counters {
        self.settle_exits();
        self.counts_so_far()
    }
    /// The same without the exits that have not been counted yet.
    fn counts_so_far(&self) -> Counters {
        let ticks = self.policy.borrow().ticks();
        let registry = self.registry.borrow();
        let counted = self.counters.get();
        let deopt = counted.deopt + registry.taken_before;
        Counters { entered: registry.entered(), ticks, alive: registry.alive() as u64, deopt, ..counted }
    }
    /// Lets the process see what it did so far.
    pub(crate) fn publish(&self) {
        self.published.publish(&self.counts_so_far());
    }
    pub(crate) fn reset_counters(&self, vm: &mut Vm) {
        let hotloop = self.enabled.get().then(|| self.thresholds(vm).hotloop);
        hotcount::reset_counters(vm, &mut self.policy.borrow_mut(), hotloop);
    }
    /// Sets the hot counter of the instruction at a position.
    pub(crate) fn set_counter(&self, vm: &mut Vm, pos: BcPos, n: u32) {
        hotcount::set_counter(vm, &mut self.policy.borrow_mut(), pos.hot_counter(), n);
    }
    pub(crate) fn count(&self, f: impl FnOnce(&mut Counters)) {
        let mut c = self.counters.get();
        f(&mut c);
        self.counters.set(c);
    }
    /// May recording start?
    pub(crate) fn may_record(&self, vm: &Vm) -> bool {
        self.enabled.get() && vm.callback.no_record == 0 && vm.interp.mode == Mode::Interpret && !self.is_recording()
    }
    /// Is it recording?
    pub fn is_recording(&self) -> bool {
        self.recording.borrow().is_some()
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        self.publish();
    }
}

impl Compiler for Jit {
    fn hot(&self, vm: &mut Vm, pc: *const Ins) {
        self.hot_counter_underflowed(vm, pc);
    }
    fn record(&self, vm: &mut Vm, pc: *const Ins) {
        self.record_instruction(vm, pc);
    }
    fn exit(&self, vm: &mut Vm, exit: ExitId) -> Resume {
        self.take_exit(vm, exit, self.may_record(vm))
    }
    fn abort(&self, vm: &mut Vm) {
        self.abort_by_error(vm);
    }
    fn constant_changed(&self, vm: &mut Vm) {
        self.flush_if_any(vm);
    }
    fn new_proto(&self, vm: &mut Vm, proto: Gc<Proto>) {
        self.tell(|w| w.proto_made(proto));
        if self.listens(vm, Event::Bc) {
            self.send(vm, Event::Bc, &[Value::proto(proto)]);
        }
    }
    fn free_proto(&self, proto: Gc<Proto>, waiting: bool) {
        self.collect_traces(proto, waiting);
        self.tell(|w| w.proto_freed(proto));
        self.protos.borrow_mut().remove(proto);
    }
    fn original_ins(&self, patched: Ins) -> Ins {
        self.registry.borrow().original_ins(patched)
    }
    fn mark(&self, marker: &mut Marker) {
        let registry = self.registry.borrow();
        registry.mark(marker);
        if let Some(r) = &*self.recording.borrow() {
            r.mark(marker);
            // The traces that a side trace is to belong to.
            if let Some(e) = registry.get(r.root()) {
                marker.mark(e.owner());
            }
        }
        if let Some((_, trace)) = &*self.given_up.borrow() {
            trace.mark(marker);
        }
    }
    fn mark_traces(&self, proto: Gc<Proto>, waiting: bool, marker: &mut Marker) {
        if !waiting && !self.is_recording() {
            self.end_unreachable(proto);
        }
        self.registry.borrow().mark_traces(proto, marker);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
