//! Sampling: what runs, asked at regular intervals of processor time.
//!
//! A timer ([`timer`]) interrupts the thread of the VM. All that its signal handler does is to count, to note what the VM is doing
//! ([`Activity`]) and to make the interpreter dispatch through the table of hooks; the [`Consumer`] is called there, before the next
//! instruction of a Lua function, where everything may be looked at. Samples that come meanwhile are added to the one that waits.
//!
//! What becomes of samples in compiled code is for the consumer to choose ([`InCode`]): they wait until it is left, or the handler
//! notes where they are ([`capture`]). To be told of those soon, the handler also makes compiled code leave by the next exit that it
//! takes ([`Vm::exits_leaving`]); loops, which may take none, have a guard for it (PROF).

mod capture;
mod clock;
mod interrupt;
mod stack;
#[cfg(test)]
mod tests;
mod timer;

pub use capture::{Captured, CapturedFrame, CodePlace, MAX_FRAMES};
pub use stack::{Callee, StackFrame, dump as dump_stack, dump_frames};

use crate::Vm;
use crate::gc::Marker;
use crate::hooks::Mode;
use crate::interp::frame;
use crate::object::{Gc, Proto};
use crate::value::Value;
use capture::Capture;
use core::any::Any;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use interrupt::Interrupt;
use std::rc::Rc;
use timer::Timer;

/// What a VM is doing.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Activity {
    /// Compiled code runs, or a builtin called by it.
    Compiled = b'N',
    /// The interpreter runs.
    Interpreter = b'I',
    /// A builtin called by the interpreter runs.
    Builtin = b'C',
    /// The collector runs.
    Collector = b'G',
    /// The compiler records, compiles, or handles an exit.
    Compiler = b'J',
}

/// What becomes of samples in compiled code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum InCode {
    /// They are told of when it is left.
    Late,
    /// They are noted by address ([`Captured`]), and told of when there are many.
    Noted,
    /// They are noted by address, and told of soon.
    Told,
}

/// Samples of one kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Intervals that have passed: 1 or more.
    pub count: u32,
    /// What the VM was doing: a letter of [`Activity`].
    pub activity: u8,
    /// Id of the builtin that ran, see [`crate::lib::Builtin`]; 0 if none did, 1 for one without an id.
    pub builtin: u32,
}

/// Samples since the consumer was called last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// By kind, the first one first. Empty if there were only samples in compiled code.
    pub parts: Vec<Part>,
}

impl Sample {
    /// Intervals that have passed.
    pub fn count(&self) -> u32 {
        self.parts.iter().fold(0, |n, p| n.saturating_add(p.count))
    }
    /// What the VM was doing when the first of them had: a letter of [`Activity`].
    pub fn activity(&self) -> u8 {
        self.parts.first().map_or(Activity::Interpreter as u8, |p| p.activity)
    }
}

/// Who is told of samples.
pub trait Consumer: Any {
    /// A sample, while `vm.base` and `vm.pc` are those of a Lua function. Hooks, events and recording are suspended meanwhile.
    /// Samples in compiled code since the last time have been told before, by [`Consumer::captured`].
    fn sample(&self, vm: &mut Vm, sample: Sample);
    /// Samples taken in compiled code, unless they are [`InCode::Late`]. Must not run Lua code or change the heap: traces or
    /// functions that they name may be about to go.
    fn captured(&self, vm: &Vm, samples: Vec<Captured>) {
        let _ = (vm, samples);
    }
    /// The code of a function was loaded.
    fn loaded(&self, proto: Gc<Proto>) {
        let _ = proto;
    }
    /// The collector is about to free functions: whatever is known by address must be forgotten.
    fn forget(&self) {}
    /// Marks the objects that it keeps.
    fn mark(&self, marker: &mut Marker) {
        let _ = marker;
    }
    /// Ctrl-C was pressed, see [`Vm::catch_interrupts`]; otherwise as for [`Consumer::sample`].
    fn interrupted(&self, vm: &mut Vm) {
        let _ = vm;
    }
    /// That is over: the process ends, the state is closed, or samples are taken for somebody else.
    fn end(&self, vm: &mut Vm) {
        let _ = vm;
    }
}

/// Kinds of samples that can wait at once.
const KINDS: usize = 8;

/// Samples of one kind that wait to be told of.
#[derive(Default)]
struct Waiting {
    count: AtomicU32,
    /// The letter of the activity, and above it the id of the builtin.
    kind: AtomicU32,
}

/// What is known of samples; a part of the VM.
#[derive(Default)]
pub struct Sampling {
    /// Samples not yet told of.
    waiting: [Waiting; KINDS],
    /// Is the consumer running?
    running: bool,
    in_code: Option<InCode>,
    /// Samples in compiled code.
    capture: Option<Box<Capture>>,
    /// Is the running stack being moved?
    pub(crate) moving: bool,
    /// Where compiled code is.
    code: Range<usize>,
    interrupt: Option<Interrupt>,
    active: Option<(Timer, Rc<dyn Consumer>)>,
}

impl Sampling {
    /// Is the consumer running? Whoever sends events does not then.
    pub fn is_running(&self) -> bool {
        self.running
    }
    /// Is compiled code to leave word of where it is?
    pub fn by_address(&self) -> bool {
        matches!(self.in_code, Some(InCode::Noted | InCode::Told))
    }
    /// Tells where compiled code is.
    pub fn set_code(&mut self, code: Range<usize>) {
        self.code = code;
    }
    /// Adds to the samples that wait; if there is no place for another kind, to those of the first.
    fn wait(&self, count: u32, kind: u32) {
        let free = |w: &&Waiting| w.count.load(Relaxed) == 0 || w.kind.load(Relaxed) == kind;
        let place = self.waiting.iter().find(free).unwrap_or(&self.waiting[0]);
        if place.count.fetch_add(count, Relaxed) == 0 {
            place.kind.store(kind, Relaxed);
        }
    }
    /// Takes the samples that wait.
    fn take(&self) -> Vec<Part> {
        let parts = self.waiting.iter().map(|w| {
            let kind = w.kind.load(Relaxed);
            Part { count: w.count.swap(0, Relaxed), activity: kind as u8, builtin: kind >> 8 }
        });
        parts.filter(|p| p.count != 0).collect()
    }
}

impl Vm {
    /// Begins to take samples of this VM, on the thread that runs this; a consumer that there was is told the end. `in_code` concerns
    /// traces recorded from now on. False, with nothing begun, if another VM of this thread is being sampled, or the system has no
    /// timer.
    pub fn start_sampling(&mut self, interval: Duration, in_code: InCode, consumer: Rc<dyn Consumer>) -> bool {
        self.end_sampling();
        self.sampling.in_code = Some(in_code);
        if self.sampling.by_address() {
            self.sampling.capture = Some(Box::new(Capture::new()));
        }
        let Some(timer) = Timer::start(self, interval) else {
            self.stop_sampling();
            return false;
        };
        self.sampling.active = Some((timer, consumer));
        self.renew_enter();
        true
    }
    /// Ends that. The consumer is told of the samples in compiled code that wait.
    pub fn stop_sampling(&mut self) {
        self.settle_samples();
        self.sampling.active = None;
        self.sampling.interrupt = None;
        self.sampling.in_code = None;
        if self.sampling.capture.take().is_some() {
            self.renew_enter();
        }
        self.sampling.take();
        self.drop_sample();
    }
    /// The same, with a last word to the consumer.
    pub fn end_sampling(&mut self) {
        if let Some(consumer) = self.sampling_consumer() {
            self.stop_sampling();
            consumer.end(self);
        }
    }
    /// Tells the consumer, once, if Ctrl-C is pressed while samples are taken.
    pub fn catch_interrupts(&mut self) {
        if self.is_sampling() {
            self.sampling.interrupt = Some(Interrupt::listen());
        }
    }
    /// Tells the consumer of the samples in compiled code; were there any? To be done before traces, or functions, that they name may go.
    pub fn settle_samples(&mut self) -> bool {
        let Some(capture) = self.sampling.capture.as_deref_mut() else { return false };
        let capture = core::ptr::from_mut(capture);
        // SAFETY: the box stays where it is, and the handler leaves it alone in between.
        let samples = unsafe {
            Capture::set_reading(capture, true);
            let samples = (*capture).take();
            Capture::set_reading(capture, false);
            samples
        };
        let Some(consumer) = self.sampling_consumer().filter(|_| !samples.is_empty()) else { return false };
        consumer.captured(self, samples);
        true
    }
    /// The same before the collector decides which functions to free.
    pub(crate) fn settle_for_collector(&mut self) {
        if let Some((_, consumer)) = &self.sampling.active {
            let consumer = Rc::clone(consumer);
            self.settle_samples();
            consumer.forget();
        }
    }
    /// Who is told of samples.
    pub fn sampling_consumer(&self) -> Option<Rc<dyn Consumer>> {
        self.sampling.active.as_ref().map(|a| Rc::clone(&a.1))
    }
    /// Are samples being taken?
    pub fn is_sampling(&self) -> bool {
        self.sampling.active.is_some()
    }
    /// Does a sample wait to be told of?
    #[inline(always)]
    pub fn sample_waits(&self) -> bool {
        // SAFETY: a field of this VM. Volatile: a signal handler may have written it, on this thread.
        unsafe { (&raw const self.sample_waits_flag).read_volatile() }
    }
    fn set_sample_waits(&mut self, waits: bool) {
        // SAFETY: as above.
        unsafe { AtomicBool::from_ptr(&raw mut self.sample_waits_flag) }.store(waits, Relaxed);
    }
    /// Lets the sample that waits be counted with the next one.
    fn drop_sample(&mut self) {
        if self.sample_waits() {
            let linked = self.exits_linked;
            // SAFETY: a field of this VM. Volatile: a signal handler writes it.
            unsafe { (&raw mut self.exit_table).write_volatile(linked) };
            self.set_sample_waits(false);
            self.update_dispatch();
        }
    }
    /// Notes what is done from now on; what was done before.
    #[inline(always)]
    pub fn begin_activity(&mut self, activity: Activity) -> Activity {
        let before = self.activity;
        // SAFETY: a field of this VM. Volatile: it is read by a signal handler.
        unsafe { (&raw mut self.activity).write_volatile(activity) };
        before
    }
    /// `count` intervals have passed; the processor is at `pc`.
    ///
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    unsafe fn tick(vm: *mut Vm, count: u32, pc: usize) {
        // SAFETY: what is written here is only read in ways that keep any code between the accesses right.
        unsafe {
            let activity = (&raw const (*vm).activity).read_volatile();
            if Vm::note_in_code(vm, count, pc, activity) {
                let sampling = &(*vm).sampling;
                if sampling.in_code != Some(InCode::Told) && !sampling.capture.as_deref().is_some_and(Capture::is_filling) {
                    return;
                }
            } else {
                let builtin = if activity == Activity::Builtin { running_builtin(vm) } else { 0 };
                (*vm).sampling.wait(count, builtin << 8 | activity as u32);
            }
            Vm::tell_soon(vm);
        }
    }
    /// Has the consumer told as soon as that can be.
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn tell_soon(vm: *mut Vm) {
        // SAFETY: as there.
        unsafe {
            let waits = AtomicBool::from_ptr(&raw mut (*vm).sample_waits_flag);
            // Finalizers and handlers of events are not looked at.
            if (&raw const (*vm).no_record).read_volatile() != 0 || waits.load(Relaxed) {
                return;
            }
            waits.store(true, Relaxed);
            let leaving = (&raw const (*vm).exits_leaving).read_volatile();
            if !leaving.is_null() {
                (&raw mut (*vm).exit_table).write_volatile(leaving);
            }
            Vm::hook_now(vm);
        }
    }
    /// Notes a sample in compiled code; false if it is elsewhere.
    ///
    /// # Safety
    /// As for [`Vm::tick`].
    unsafe fn note_in_code(vm: *mut Vm, count: u32, pc: usize, activity: Activity) -> bool {
        // SAFETY: plain words of the VM, written whole.
        unsafe {
            let on_trace = (&raw const (*vm).trace_depth).read_volatile() == (&raw const (*vm).native_depth).read_volatile();
            let (cur, base) = ((&raw const (*vm).cur).read_volatile(), (&raw const (*vm).sampled_base).read_volatile());
            let known = (&raw const (*vm).sampled_stack).read_volatile() == cur.stack.get();
            let site = (&raw const (*vm).site).read_volatile();
            let sampling = &mut (*vm).sampling;
            let Some(capture) = sampling.capture.as_deref_mut().filter(|_| on_trace && known && !sampling.moving) else {
                return false;
            };
            let place = if sampling.code.contains(&pc) { CodePlace::Address(pc) } else { CodePlace::Site(site) };
            capture.note((cur, base), place, activity as u8, count)
        }
    }
    /// Tells the consumer of the sample that waits, with `vm.base` and `vm.pc` those of a Lua function, and `vm.top` behind all that
    /// its instruction may read.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_sample(&mut self) {
        self.drop_sample();
        if self.no_record != 0 {
            return;
        }
        let captured = self.settle_samples();
        let sample = Sample { parts: self.sampling.take() };
        let interrupted = self.sampling.interrupt.is_some() && Interrupt::was_pressed();
        if sample.parts.is_empty() && !captured && !interrupted {
            return;
        }
        let Some(consumer) = self.sampling_consumer() else { return };
        let before = (self.mode, self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error);
        self.no_record += 1;
        self.sampling.running = true;
        let hooks = self.suspend_hooks(true);
        self.set_mode(Mode::Interpret);
        consumer.sample(self, sample);
        if interrupted {
            consumer.interrupted(self);
        }
        self.sampling.running = false;
        self.no_record -= 1;
        let mode;
        (mode, self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error) = before;
        self.set_mode(mode);
        self.suspend_hooks(hooks);
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
