//! Sampling under way: what the signal handler notes, and how it is delivered.
#![allow(
    unsafe_code,
    reason = "a signal handler on the thread of the VM reads and writes single words of it, with volatile accesses on both sides"
)]

use super::interrupt::Interrupt;
use super::timer::Timer;
use super::walk::Walked;
use super::{CodePosition, Consumer, InCode, Part, Sample};
use crate::Vm;
use crate::gc::Marker;
use crate::hooks::Observer;
use crate::interp::frame;
use crate::object::{Gc, Proto};
use crate::state::{Activity, CodeNeeds};
use crate::value::Value;
use core::any::Any;
use core::cell::RefCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use std::rc::Rc;

/// Kinds of samples that can be pending at once. A short loop, which is not left for samples, may have as many instructions.
const KINDS: usize = 128;

/// Pending samples of one kind.
#[derive(Default)]
struct Waiting {
    count: AtomicU32,
    /// The letter of the activity, and above it the id of the builtin.
    kind: AtomicU32,
    /// A place in compiled code, or 0.
    place: AtomicU64,
}

/// Sampling of a VM, whose observer it is.
pub(super) struct Session {
    /// Pending samples.
    waiting: [Waiting; KINDS],
    in_code: InCode,
    /// Samples in compiled code with their stacks.
    walked: Option<Box<Walked>>,
    interrupt: RefCell<Option<Interrupt>>,
    /// The timer, until sampling ends.
    timer: RefCell<Option<Timer>>,
    consumer: Rc<dyn Consumer>,
}

impl Session {
    fn new(in_code: InCode, consumer: Rc<dyn Consumer>) -> Session {
        Session {
            waiting: core::array::from_fn(|_| Waiting::default()),
            in_code,
            walked: (in_code == InCode::Walked).then(|| Box::new(Walked::new())),
            interrupt: RefCell::new(None),
            timer: RefCell::new(None),
            consumer,
        }
    }
    fn needs(&self) -> CodeNeeds {
        CodeNeeds {
            notes_entry: true,
            notes_helpers: self.in_code != InCode::Late,
            checks_in_loops: self.in_code == InCode::Located,
            walked: self.in_code == InCode::Walked,
        }
    }
    /// Adds to the pending samples; if there is no room for another kind, to those of the first kind.
    fn wait(&self, count: u32, kind: u32, place: u64) {
        let is_same = |w: &Waiting| w.kind.load(Relaxed) == kind && w.place.load(Relaxed) == place;
        let found = self.waiting.iter().find(|w| w.count.load(Relaxed) == 0 || is_same(w)).unwrap_or(&self.waiting[0]);
        if found.count.fetch_add(count, Relaxed) == 0 {
            found.kind.store(kind, Relaxed);
            found.place.store(place, Relaxed);
        }
    }
    /// Takes the pending samples. There are none after the first empty entry.
    fn take(&self) -> Vec<Part> {
        let parts = self.waiting.iter().map(|w| {
            let kind = w.kind.load(Relaxed);
            let place = CodePosition::from_bits(w.place.load(Relaxed));
            Part { count: w.count.swap(0, Relaxed), activity: kind as u8, builtin: kind >> 8, place }
        });
        parts.take_while(|p| p.count != 0).collect()
    }
    /// Delivers the samples in compiled code whose stacks were walked.
    fn deliver_walked(&self, vm: &Vm) {
        if let Some(walked) = self.walked.as_ref().filter(|w| !w.is_empty()) {
            walked.take(|part, stack| self.consumer.compiled(vm, part, stack));
        }
    }
    /// Delivers the samples in compiled code that can be delivered now, and forgets the positions of the others.
    fn forget_places(&self, vm: &Vm) {
        self.deliver_walked(vm);
        for w in &self.waiting {
            w.place.store(0, Relaxed);
        }
    }
    /// `count` intervals have passed; the processor is at `pc`.
    ///
    /// # Safety
    /// `vm` is alive and sampled by this, and its thread is the one that runs this: a signal handler may call it at any time.
    pub unsafe fn tick(&self, vm: *mut Vm, count: u32, pc: usize) {
        // SAFETY: what is written here is only read in ways that keep any code between the accesses right.
        unsafe {
            let activity = (&raw const (*vm).running.activity).read_volatile();
            let place = self.position_in_code(vm, pc);
            let builtin = if activity == Activity::Builtin && place == 0 { running_builtin(vm) } else { 0 };
            if place != 0 && self.tick_in_code(vm, count, activity, place) {
                return;
            }
            self.wait(count, builtin << 8 | activity as u32, place);
            Vm::deliver_soon(vm);
        }
    }
    /// The same in compiled code, for a consumer that has stacks walked there. Returns false if that was not possible.
    ///
    /// # Safety
    /// As for [`Session::tick`].
    unsafe fn tick_in_code(&self, vm: *mut Vm, count: u32, activity: Activity, place: u64) -> bool {
        let Some(walked) = &self.walked else { return false };
        // SAFETY: as there.
        unsafe {
            let Some(level) = Vm::level_of_code(vm) else { return false };
            let part = Part { count, activity: activity as u8, builtin: 0, place: CodePosition::from_bits(place) };
            let added = walked.add(part, level.thread, Some(level));
            if added == Some(true) {
                Vm::deliver_soon(vm);
            }
            added.is_some()
        }
    }
    /// The position in compiled code; 0 if other code runs, or if no consumer needs it.
    ///
    /// # Safety
    /// As for [`Session::tick`].
    unsafe fn position_in_code(&self, vm: *mut Vm, pc: usize) -> u64 {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            if !Vm::is_on_trace(vm) || !self.needs().notes_helpers {
                return 0;
            }
            if (*vm).compiled.code.contains(&pc) {
                return CodePosition::Address(pc).to_bits();
            }
            CodePosition::Site((&raw const (*vm).compiled.site).read_volatile()).to_bits()
        }
    }
}

impl Observer for Session {
    fn deliver(&self, vm: &mut Vm) {
        self.deliver_walked(vm);
        if vm.callback.no_record != 0 {
            return;
        }
        let sample = Sample { parts: self.take() };
        let interrupted = self.interrupt.borrow().is_some() && Interrupt::was_pressed();
        if sample.parts.is_empty() && !interrupted {
            return;
        }
        vm.callback.observing = true;
        vm.run_callback(|vm| {
            self.consumer.sample(vm, sample);
            if interrupted {
                self.consumer.interrupted(vm);
            }
        });
        vm.callback.observing = false;
    }
    fn loaded(&self, proto: Gc<Proto>) {
        self.consumer.loaded(proto);
    }
    fn functions_go(&self, vm: &Vm) {
        self.forget_places(vm);
        self.consumer.forget();
    }
    fn mark(&self, marker: &mut Marker) {
        self.consumer.mark(marker);
    }
    fn enter_thread(&self, vm: &mut Vm) {
        if let Some(timer) = &*self.timer.borrow() {
            timer.enter_thread(vm, self);
        }
    }
    fn leave_thread(&self) {
        if let Some(timer) = &*self.timer.borrow() {
            timer.leave_thread();
        }
    }
    fn closing(&self, vm: &mut Vm) {
        self.consumer.closing(vm);
    }
    fn end(&self, vm: &mut Vm) {
        vm.stop_sampling();
        self.consumer.end(vm);
    }
}

impl Vm {
    /// The sampling that is under way.
    fn session(&self) -> Option<Rc<Session>> {
        let observer: Rc<dyn Any> = self.observer.clone()?;
        observer.downcast().ok()
    }
    /// Begins to take samples of this VM, on the current thread; a previous consumer is ended. `in_code` applies to traces that are
    /// recorded from now on. Returns false, and begins nothing, if another VM of this thread is being sampled, or if the system has no
    /// timer.
    pub fn start_sampling(&mut self, interval: Duration, in_code: InCode, consumer: Rc<dyn Consumer>) -> bool {
        self.end_observer();
        let session = Rc::new(Session::new(in_code, consumer));
        // SAFETY: a VM is boxed, and ends sampling before it is dropped; until then it keeps the session, whose timer is dropped at the end.
        let Some(timer) = (unsafe { Timer::start(self, &*session, interval) }) else { return false };
        session.timer.replace(Some(timer));
        self.compiled.needs = session.needs();
        self.observer = Some(session);
        self.renew_enter();
        true
    }
    /// Ends sampling.
    pub fn stop_sampling(&mut self) {
        let Some(session) = self.session() else { return };
        session.timer.replace(None);
        session.interrupt.replace(None);
        self.observer = None;
        session.deliver_walked(self);
        self.compiled.needs = CodeNeeds::default();
        self.renew_enter();
        self.withdraw_exit_request();
    }
    /// Calls the consumer, once, if Ctrl-C is pressed while samples are taken.
    pub fn catch_interrupts(&mut self) {
        if let Some(session) = self.session() {
            session.interrupt.replace(Some(Interrupt::listen()));
        }
    }
    /// Before traces are freed: delivers the samples in compiled code that can be delivered now, and forgets the positions of the others.
    pub fn forget_places(&self) {
        if let Some(session) = self.session() {
            session.forget_places(self);
        }
    }
    /// Delivers the samples in compiled code whose stacks were walked. Must happen before the memory of that code is used again.
    pub fn deliver_walked(&self) {
        if let Some(session) = self.session() {
            session.deliver_walked(self);
        }
    }
    /// The consumer of samples.
    pub fn sampling_consumer(&self) -> Option<Rc<dyn Consumer>> {
        self.session().map(|session| Rc::clone(&session.consumer))
    }
    /// Are samples being taken?
    pub fn is_sampling(&self) -> bool {
        self.session().is_some()
    }
    /// Has the pending samples delivered as soon as possible.
    ///
    /// # Safety
    /// As for [`Session::tick`].
    pub(super) unsafe fn deliver_soon(vm: *mut Vm) {
        // SAFETY: as there.
        unsafe {
            // In finalizers and handlers of events, samples are not delivered.
            if (&raw const (*vm).callback.no_record).read_volatile() != 0 || (*vm).is_exit_requested() {
                return;
            }
            Vm::request_exit(vm);
            Vm::hook_now(vm);
        }
    }
    /// Does compiled code run, or a function that it has called?
    ///
    /// # Safety
    /// As for [`Session::tick`].
    unsafe fn is_on_trace(vm: *mut Vm) -> bool {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            (&raw const (*vm).compiled.trace_depth).read_volatile() == (&raw const (*vm).interp.native_depth).read_volatile()
        }
    }
    /// Is the processor in compiled code when it is at `pc`?
    ///
    /// # Safety
    /// As for [`Session::tick`].
    pub(super) unsafe fn is_in_code(vm: *mut Vm, pc: usize) -> bool {
        // SAFETY: as above.
        unsafe { Vm::is_on_trace(vm) && (*vm).compiled.code.contains(&pc) }
    }
}

/// Id of the builtin that runs.
///
/// # Safety
/// As for [`Session::tick`]; the VM says that a builtin runs.
unsafe fn running_builtin(vm: *mut Vm) -> u32 {
    // SAFETY: a builtin's frame is at `vm.base`, which is set before the VM says that it runs, and the function there lives.
    unsafe {
        let base = (&raw const (*vm).base).read_volatile();
        if base.is_null() {
            return 0;
        }
        let func: Value = *base.sub(2);
        if func.as_func().is_some() { frame::func_of(base).ffid() } else { 0 }
    }
}
