//! The state of the compiler, and its side of the seam to the interpreter.
//!
//! Next on the way of a hot loop: `jit/src/record/start.rs`.

use crate::params::Settings;
use crate::policy::Policy;
use crate::policy::ffi_operations::FfiOperations;
use crate::policy::hotcount;
use crate::policy::proto_table::ProtoTable;
use crate::record::RecordState;
use crate::trace::Registry;
use crate::trace::machine::Machine;
use crate::view::counters::{Counters, Stats};
use crate::view::events::Event;
use crate::view::watch::Observers;
use core::any::Any;
use core::cell::RefCell;
use perilune_vm::bc::Ins;
use perilune_vm::gc::Marker;
use perilune_vm::hooks::{Compiler, Mode, Resume};
use perilune_vm::object::{BcPos, ChangedFields, Gc, InsPtr, Proto};
use perilune_vm::{ExitId, Value, Vm};
use std::rc::Rc;

/// The tracing compiler of one VM.
///
/// Its parts are cells, because the interpreter calls the compiler through a shared reference. Two rules keep their borrows from clashing:
///
/// - No part is borrowed while Lua code runs: handlers of events (`send`) and the collector's finalizers may call the compiler again.
/// - Where several are borrowed at once, the recording is borrowed first, then the registry, then what is known about prototypes, then the
///   rest.
#[derive(Default)]
pub struct Jit {
    /// Whether it is on, and its parameters.
    pub(crate) settings: Settings,
    /// When to compile: how long the program has run, and how much of that compiling has taken.
    pub(crate) policy: RefCell<Policy>,
    /// What is known about prototypes and their bytecode.
    pub(crate) protos: RefCell<ProtoTable>,
    /// The recording under way.
    pub(crate) recording: RecordState,
    /// The finished traces.
    pub(crate) registry: RefCell<Registry>,
    /// What runs traces.
    pub(crate) machine: RefCell<Machine>,
    /// Counts of what was done, and of what was aborted.
    pub(crate) stats: Stats,
    /// The watcher, and the handlers of events.
    pub(crate) observers: Observers,
}

impl Jit {
    /// The compiler of a VM, if it has this one.
    pub fn of(vm: &Vm) -> Option<Rc<Jit>> {
        let compiler: Rc<dyn Any> = vm.compiler.clone();
        compiler.downcast().ok()
    }
    /// Attaches a new compiler to a VM. The compiler is on.
    pub fn install(vm: &mut Vm) -> Rc<Jit> {
        let jit = Rc::new(Jit::default());
        jit.settings.enabled.set(true);
        jit.registry.borrow_mut().connect(vm);
        vm.compiler = jit.clone();
        jit.reset_counters(vm);
        vm.count_hotness(true);
        jit
    }
    /// Is it on?
    pub fn is_on(&self) -> bool {
        self.settings.enabled.get()
    }
    /// Switches the compiler on or off. While it is off nothing new is compiled, and existing traces are still used.
    pub fn switch(&self, vm: &mut Vm, on: bool) {
        self.cancel(vm);
        self.settings.enabled.set(on);
        self.reset_counters(vm);
        vm.count_hotness(on);
    }
    /// The counts of what the compiler has done.
    pub fn counts(&self) -> Counters {
        self.settle_exits();
        self.counts_so_far()
    }
    /// The same without the exits that the interpreter has taken by itself since they were last counted.
    fn counts_so_far(&self) -> Counters {
        let ticks = self.policy.borrow().ticks();
        let registry = self.registry.borrow();
        let counted = self.stats.counters.get();
        let deopt = counted.deopt + registry.exits.taken_before;
        Counters { entered: registry.entered(), ticks, alive: registry.alive() as u64, deopt, ..counted }
    }
    /// Publishes the counts, so that the process sees them.
    pub(crate) fn publish(&self) {
        self.stats.published.publish(&self.counts_so_far());
    }
    pub(crate) fn reset_counters(&self, vm: &mut Vm) {
        let thresholds = self.thresholds(vm);
        let hotloop = self.settings.enabled.get().then_some(thresholds.hotloop);
        let mut policy = self.policy.borrow_mut();
        let counts_ffi = hotloop.is_some() && vm.ffi_operations() != 0 && !thresholds.literal;
        policy.ffi = counts_ffi.then(FfiOperations::default);
        hotcount::reset_counters(vm, &mut policy, hotloop);
    }
    /// Sets the hot counter of the instruction at a position.
    pub(crate) fn set_counter(&self, vm: &mut Vm, pos: BcPos, n: u32) {
        hotcount::set_counter(vm, &mut self.policy.borrow_mut(), pos.hot_counter(), n);
    }
    pub(crate) fn count(&self, f: impl FnOnce(&mut Counters)) {
        let mut c = self.stats.counters.get();
        f(&mut c);
        self.stats.counters.set(c);
    }
    /// May recording start?
    pub(crate) fn may_record(&self, vm: &Vm) -> bool {
        self.settings.enabled.get() && vm.callback.no_record == 0 && vm.interp.mode == Mode::Interpret && !self.is_recording()
    }
    /// Is it recording?
    pub fn is_recording(&self) -> bool {
        self.recording.current.borrow().is_some()
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        self.publish();
    }
}

impl Compiler for Jit {
    fn hot(&self, vm: &mut Vm, pc: InsPtr) {
        self.hot_counter_underflowed(vm, pc);
    }
    fn record(&self, vm: &mut Vm, pc: InsPtr) {
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
    fn fields_changed(&self, vm: &mut Vm, changed: ChangedFields) {
        self.invalidate(vm, changed);
    }
    fn ffi_used(&self, vm: &mut Vm) {
        self.reset_counters(vm);
    }
    fn new_proto(&self, vm: &mut Vm, proto: Gc<Proto>) {
        self.notify(|w| w.proto_made(proto));
        if self.listens(vm, Event::Bc) {
            self.send(vm, Event::Bc, &[Value::proto(proto)]);
        }
    }
    fn free_proto(&self, proto: Gc<Proto>, waiting: bool) {
        self.collect_traces(proto, waiting);
        self.notify(|w| w.proto_freed(proto));
        self.protos.borrow_mut().remove(proto);
    }
    fn original_ins(&self, patched: Ins) -> Ins {
        self.registry.borrow().original_ins(patched)
    }
    fn mark(&self, marker: &mut Marker) {
        let registry = self.registry.borrow();
        self.protos.borrow_mut().mark_new(marker);
        if let Some(r) = &*self.recording.current.borrow() {
            r.mark(marker);
            // The root trace's owner, which the traces of its tree live as long as.
            if let Some(e) = registry.get(r.root()) {
                marker.mark(e.owner());
            }
        }
        if let Some((_, trace)) = &*self.recording.aborted.borrow() {
            trace.mark(marker);
        }
    }
    fn mark_traces(&self, proto: Gc<Proto>, waiting: bool, marker: &mut Marker) {
        if !waiting && !self.is_recording() && !self.recording.announcing.get() {
            self.end_unreachable(proto);
        }
        self.protos.borrow().mark_traces(proto, marker);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
