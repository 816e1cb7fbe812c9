//! Sampling: at regular intervals of processor time, the VM records what runs.
//!
//! A timer (`timer`) interrupts the thread of the VM. The signal handler only counts, notes the VM's [`Activity`], and makes the
//! interpreter dispatch through the table of hooks. There, before the next instruction of a Lua function, the sample is delivered to the
//! [`Consumer`], which may inspect the whole VM. Further samples until then are added to the pending one.
//!
//! While a sample is pending, compiled code is left by the next exit that it takes, even if that has a side trace
//! (`CompiledState::exits_leaving`). A consumer that needs the position in compiled code ([`InCode::Located`]) gets the address where the
//! processor was, or, if a helper ran, the site that the code stored before the call (`CompiledState::site`). Code that is compiled while
//! samples are taken stores sites, and has a guard (PROF) in loops that may run for long without an exit. Apart from these guards, compiled
//! code has no cost until a sample comes.
//!
//! With [`InCode::Walked`] compiled code is not left: the signal handler walks the stack (`walk`), and the consumer gets many samples at
//! once.
#![allow(
    unsafe_code,
    reason = "a signal handler on the thread of the VM reads and writes single words of it, with volatile accesses on both sides"
)]

mod clock;
mod divert;
mod interrupt;
mod stack;
#[cfg(test)]
mod tests;
mod timer;
mod walk;

pub use walk::Stack;

pub use stack::{Callee, StackFrame, dump as dump_stack, dump_frames, frames};

use crate::Vm;
use crate::gc::Marker;
use crate::interp::frame;
use crate::object::{Gc, Proto};
use crate::state::Activity;
use crate::value::Value;
use core::any::Any;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use interrupt::Interrupt;
use std::rc::Rc;
use timer::Timer;
use walk::Walked;

/// Exit status of a process that Ctrl-C has ended, as in shells.
pub const INTERRUPTED: i32 = 130;

/// How samples in compiled code are delivered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum InCode {
    /// When compiled code is left.
    Late,
    /// When compiled code is left, with the position in the code; loops are left for a sample as well.
    Located,
    /// Later, with the position in the code and the stack at the sample; compiled code is not left ([`Consumer::compiled`]). Traces that
    /// were compiled before must have been flushed.
    Walked,
}

/// A position in compiled code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CodePosition {
    /// The address of a machine instruction.
    Address(usize),
    /// A helper or a builtin runs; compiled code has stored this number before the call ([`crate::gc::watch::Site`]).
    Site(u32),
}

/// Marks a position that is a site.
const SITE: u64 = 1 << 63;

impl CodePosition {
    fn to_bits(self) -> u64 {
        match self {
            CodePosition::Address(a) => a as u64,
            CodePosition::Site(n) => SITE | u64::from(n),
        }
    }
    fn from_bits(bits: u64) -> Option<CodePosition> {
        match bits {
            0 => None,
            n if n & SITE != 0 => Some(CodePosition::Site(n as u32)),
            a => Some(CodePosition::Address(a as usize)),
        }
    }
}

/// Samples of one kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Intervals that have passed: 1 or more.
    pub count: u32,
    /// The VM's activity: a letter of [`Activity`].
    pub activity: u8,
    /// Id of the builtin that ran, see [`crate::stdlib::Builtin`]; 0 if none did, 1 for one without an id.
    pub builtin: u32,
    /// The position in compiled code, if the sample was taken there and the position is still known.
    pub place: Option<CodePosition>,
}

/// The samples since the last call of the consumer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// By kind, the first one first. Empty if there is only an interrupt to deliver.
    pub parts: Vec<Part>,
}

impl Sample {
    /// Intervals that have passed.
    pub fn count(&self) -> u32 {
        self.parts.iter().fold(0, |n, p| n.saturating_add(p.count))
    }
    /// The VM's activity at the first of them: a letter of [`Activity`].
    pub fn activity(&self) -> u8 {
        self.parts.first().map_or(Activity::Interpreter as u8, |p| p.activity)
    }
}

/// Receives samples.
pub trait Consumer: Any {
    /// A sample, while `vm.base` and `vm.pc` are those of a Lua function. Hooks, events and recording are suspended meanwhile.
    fn sample(&self, vm: &mut Vm, sample: Sample);
    /// A sample in compiled code that was taken earlier ([`InCode::Walked`]), with its stack. The innermost function there is the one whose
    /// frame the trace counts slots from, without an instruction. The collector may be about to free functions, or the compiler may be
    /// about to free traces.
    fn compiled(&self, vm: &Vm, part: Part, stack: Stack) {
        let _ = (vm, part, stack);
    }
    /// The code of a function was loaded.
    fn loaded(&self, proto: Gc<Proto>) {
        let _ = proto;
    }
    /// The collector is about to free functions: facts that are stored by address must be forgotten.
    fn forget(&self) {}
    /// Marks the objects that it keeps.
    fn mark(&self, marker: &mut Marker) {
        let _ = marker;
    }
    /// Ctrl-C was pressed, see [`Vm::catch_interrupts`]; otherwise as for [`Consumer::sample`].
    fn interrupted(&self, vm: &mut Vm) {
        let _ = vm;
    }
    /// The state is about to be closed; finalizers have not run.
    fn closing(&self, vm: &mut Vm) {
        let _ = vm;
    }
    /// No more samples come: the process ends, the state is closed, or another consumer replaces this one.
    fn end(&self, vm: &mut Vm) {
        let _ = vm;
    }
}

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

/// The state of sampling; a part of the VM.
pub struct Sampling {
    /// Pending samples.
    waiting: [Waiting; KINDS],
    /// Is the consumer running?
    running: bool,
    in_code: Option<InCode>,
    /// Samples in compiled code with their stacks.
    walked: Option<Box<Walked>>,
    /// Address range of compiled code.
    code: Range<usize>,
    interrupt: Option<Interrupt>,
    active: Option<(Timer, Rc<dyn Consumer>)>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            waiting: core::array::from_fn(|_| Waiting::default()),
            running: false,
            in_code: None,
            walked: None,
            code: 0..0,
            interrupt: None,
            active: None,
        }
    }
}

impl Sampling {
    /// Is the consumer running? No events are sent then.
    pub fn is_running(&self) -> bool {
        self.running
    }
    /// Must compiled code store its position?
    pub fn by_address(&self) -> bool {
        self.in_code.is_some_and(|c| c != InCode::Late)
    }
    /// Must compiled loops be left for samples?
    pub(crate) fn leaves_loops(&self) -> bool {
        self.in_code == Some(InCode::Located)
    }
    /// Are stacks walked while compiled code runs?
    pub fn walks_stacks(&self) -> bool {
        self.in_code == Some(InCode::Walked)
    }
    /// The timer, while samples are taken.
    fn timer(&self) -> Option<&Timer> {
        self.active.as_ref().map(|(timer, _)| timer)
    }
    /// Sets the address range of compiled code.
    pub fn set_code(&mut self, code: Range<usize>) {
        self.code = code;
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
    /// Forgets the positions of pending samples in compiled code.
    fn forget_places(&self) {
        for w in &self.waiting {
            w.place.store(0, Relaxed);
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
}

impl Vm {
    /// Begins to take samples of this VM, on the current thread; a previous consumer is ended. `in_code` applies to traces that are
    /// recorded from now on. Returns false, and begins nothing, if another VM of this thread is being sampled, or if the system has no
    /// timer.
    pub fn start_sampling(&mut self, interval: Duration, in_code: InCode, consumer: Rc<dyn Consumer>) -> bool {
        self.end_sampling();
        self.sampling.in_code = Some(in_code);
        self.sampling.walked = (in_code == InCode::Walked).then(|| Box::new(Walked::new()));
        // SAFETY: a VM is boxed, and ends sampling before it is dropped.
        let Some(timer) = (unsafe { Timer::start(self, interval) }) else {
            self.stop_sampling();
            return false;
        };
        self.sampling.active = Some((timer, consumer));
        self.renew_enter();
        true
    }
    /// Ends sampling.
    pub fn stop_sampling(&mut self) {
        if let Some((timer, consumer)) = self.sampling.active.take() {
            drop(timer);
            self.deliver_walked_to(&*consumer);
        }
        self.sampling.walked = None;
        self.sampling.interrupt = None;
        if self.sampling.in_code.take().is_some() {
            self.renew_enter();
        }
        self.sampling.take();
        self.withdraw_exit_request();
    }
    /// Ends sampling, and calls the consumer for the last time.
    pub fn end_sampling(&mut self) {
        if let Some(consumer) = self.sampling_consumer() {
            self.stop_sampling();
            consumer.end(self);
        }
    }
    /// Calls the consumer, once, if Ctrl-C is pressed while samples are taken.
    pub fn catch_interrupts(&mut self) {
        if self.is_sampling() {
            self.sampling.interrupt = Some(Interrupt::listen());
        }
    }
    /// Before traces are freed: delivers the samples in compiled code that can be delivered now, and forgets the positions of the others.
    pub fn forget_places(&self) {
        self.deliver_walked();
        self.sampling.forget_places();
    }
    /// Delivers the samples in compiled code whose stacks were walked. Must happen before the memory of that code is used again.
    pub fn deliver_walked(&self) {
        if let Some((_, consumer)) = &self.sampling.active {
            self.deliver_walked_to(&**consumer);
        }
    }
    fn deliver_walked_to(&self, consumer: &dyn Consumer) {
        if let Some(walked) = self.sampling.walked.as_ref().filter(|w| !w.is_empty()) {
            walked.take(|part, stack| consumer.compiled(self, part, stack));
        }
    }
    /// Called before the collector decides which functions to free.
    pub(crate) fn forget_sampled(&mut self) {
        if let Some(consumer) = self.sampling_consumer() {
            self.forget_places();
            consumer.forget();
        }
    }
    /// The consumer of samples.
    pub fn sampling_consumer(&self) -> Option<Rc<dyn Consumer>> {
        self.sampling.active.as_ref().map(|a| Rc::clone(&a.1))
    }
    /// Are samples being taken?
    pub fn is_sampling(&self) -> bool {
        self.sampling.active.is_some()
    }
    /// `count` intervals have passed; the processor is at `pc`.
    ///
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    unsafe fn tick(vm: *mut Vm, count: u32, pc: usize) {
        // SAFETY: what is written here is only read in ways that keep any code between the accesses right.
        unsafe {
            let activity = (&raw const (*vm).running.activity).read_volatile();
            let place = Vm::position_in_code(vm, pc);
            let builtin = if activity == Activity::Builtin && place == 0 { running_builtin(vm) } else { 0 };
            if place != 0 && Vm::tick_in_code(vm, count, activity, place) {
                return;
            }
            (*vm).sampling.wait(count, builtin << 8 | activity as u32, place);
            Vm::deliver_soon(vm);
        }
    }
    /// The same in compiled code, for a consumer that has stacks walked there. Returns false if that was not possible.
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn tick_in_code(vm: *mut Vm, count: u32, activity: Activity, place: u64) -> bool {
        // SAFETY: as there. The pending stacks are not moved while a timer runs.
        unsafe {
            let Some(walked) = &(*vm).sampling.walked else { return false };
            let Some(level) = Vm::level_of_code(vm) else { return false };
            let part = Part { count, activity: activity as u8, builtin: 0, place: CodePosition::from_bits(place) };
            let added = walked.add(part, level.thread, Some(level));
            if added == Some(true) {
                Vm::deliver_soon(vm);
            }
            added.is_some()
        }
    }
    /// Has the pending samples delivered as soon as possible.
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    pub(crate) unsafe fn deliver_soon(vm: *mut Vm) {
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
    /// The position in compiled code; 0 if other code runs, or if no consumer needs it.
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn position_in_code(vm: *mut Vm, pc: usize) -> u64 {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            if !Vm::is_on_trace(vm) || !(*vm).sampling.by_address() {
                return 0;
            }
            if (*vm).sampling.code.contains(&pc) {
                return CodePosition::Address(pc).to_bits();
            }
            CodePosition::Site((&raw const (*vm).compiled.site).read_volatile()).to_bits()
        }
    }
    /// Does compiled code run, or a function that it has called?
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn is_on_trace(vm: *mut Vm) -> bool {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            (&raw const (*vm).compiled.trace_depth).read_volatile() == (&raw const (*vm).interp.native_depth).read_volatile()
        }
    }
    /// Is the processor in compiled code when it is at `pc`?
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn is_in_code(vm: *mut Vm, pc: usize) -> bool {
        // SAFETY: as above.
        unsafe { Vm::is_on_trace(vm) && (*vm).sampling.code.contains(&pc) }
    }
    /// Calls the consumer with the pending sample, with `vm.base` and `vm.pc` those of a Lua function, and `vm.top` after all values that
    /// its instruction may read.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_sample(&mut self) {
        self.withdraw_exit_request();
        self.deliver_walked();
        if self.callback.no_record != 0 {
            return;
        }
        let sample = Sample { parts: self.sampling.take() };
        let interrupted = self.sampling.interrupt.is_some() && Interrupt::was_pressed();
        if sample.parts.is_empty() && !interrupted {
            return;
        }
        let Some(consumer) = self.sampling_consumer() else { return };
        self.sampling.running = true;
        self.run_callback(|vm| {
            consumer.sample(vm, sample);
            if interrupted {
                consumer.interrupted(vm);
            }
        });
        self.sampling.running = false;
    }
}

/// Id of the builtin that runs.
///
/// # Safety
/// As for [`Vm::tick`]; the VM says that a builtin runs.
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
