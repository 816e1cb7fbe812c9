//! Sampling: what runs, asked at regular intervals of processor time.
//!
//! A timer ([`timer`]) interrupts the thread of the VM. All that its signal handler does is to count, to note what the VM is doing
//! ([`Activity`]) and to make the interpreter dispatch through the table of hooks; the [`Consumer`] is called there, before the next
//! instruction of a Lua function, where everything may be looked at. Samples that come meanwhile are added to the one that waits.
//!
//! Compiled code notices nothing unless it was recorded with a [`Grain`]: then guards (PROF) leave it where a sample waits.

mod stack;
#[cfg(test)]
mod tests;
mod timer;

pub use stack::dump as dump_stack;

use crate::Vm;
use crate::hooks::Mode;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use core::time::Duration;
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

/// How finely the places in compiled code where a sample may be taken lie.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Where a function calls another or returns, and in each loop.
    Function,
    /// Wherever the line changes.
    Line,
}

/// Samples since the consumer was called last.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Intervals that have passed: 1 or more.
    pub count: u32,
    /// What the VM was doing when the first of them had: a letter of [`Activity`].
    pub activity: u8,
}

/// Who is told of samples.
pub trait Consumer {
    /// A sample, while `vm.base` and `vm.pc` are those of a Lua function. Hooks, events and recording are suspended meanwhile.
    fn sample(&self, vm: &mut Vm, sample: Sample);
}

/// What is known of samples; a part of the VM.
#[derive(Default)]
pub struct Sampling {
    /// Samples not yet told of.
    count: AtomicU32,
    /// See [`Sample::activity`].
    activity: AtomicU8,
    /// Is the consumer running?
    running: bool,
    grain: Option<Grain>,
    active: Option<(Timer, Rc<dyn Consumer>)>,
}

impl Sampling {
    /// Is the consumer running? Whoever sends events does not then.
    pub fn is_running(&self) -> bool {
        self.running
    }
    /// Where compiled code is to have guards.
    pub fn grain(&self) -> Option<Grain> {
        self.grain
    }
}

impl Vm {
    /// Begins to take samples of this VM, on the thread that runs this; what was taken before is at an end. `grain` concerns traces
    /// recorded from now on. False, with nothing begun, if another VM of this thread is being sampled, or the system has no timer.
    pub fn start_sampling(&mut self, interval: Duration, grain: Option<Grain>, consumer: Rc<dyn Consumer>) -> bool {
        self.stop_sampling();
        let Some(timer) = Timer::start(self, interval) else { return false };
        self.sampling.count.store(0, Relaxed);
        self.sampling.grain = grain;
        self.sampling.active = Some((timer, consumer));
        true
    }
    /// Ends that.
    pub fn stop_sampling(&mut self) {
        self.sampling.active = None;
        self.sampling.grain = None;
        self.drop_sample();
    }
    /// Are samples being taken?
    pub fn is_sampling(&self) -> bool {
        self.sampling.active.is_some()
    }
    /// Does a sample wait to be told of?
    #[inline(always)]
    pub fn sample_waits(&self) -> bool {
        // SAFETY: a byte of this VM, which a signal handler writes on this thread.
        unsafe { AtomicBool::from_ptr((&raw const self.sample_waits_flag).cast_mut()) }.load(Relaxed)
    }
    fn set_sample_waits(&mut self, waits: bool) {
        // SAFETY: as above.
        unsafe { AtomicBool::from_ptr(&raw mut self.sample_waits_flag) }.store(waits, Relaxed);
    }
    /// Lets the sample that waits be counted with the next one.
    fn drop_sample(&mut self) {
        if self.sample_waits() {
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
    /// An interval has passed.
    ///
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    unsafe fn tick(vm: *mut Vm) {
        // SAFETY: what is written here is only read in ways that keep any code between the accesses right.
        unsafe {
            (*vm).sampling.count.fetch_add(1, Relaxed);
            let waits = AtomicBool::from_ptr(&raw mut (*vm).sample_waits_flag);
            // Finalizers and handlers of events are not looked at.
            if (&raw const (*vm).no_record).read_volatile() != 0 || waits.load(Relaxed) {
                return;
            }
            let activity = (&raw const (*vm).activity).read_volatile() as u8;
            (*vm).sampling.activity.store(activity, Relaxed);
            waits.store(true, Relaxed);
            Vm::hook_now(vm);
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
        let sample = Sample { count: self.sampling.count.swap(0, Relaxed), activity: self.sampling.activity.load(Relaxed) };
        let Some(consumer) = self.sampling.active.as_ref().map(|a| Rc::clone(&a.1)) else { return };
        let before = (self.mode, self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error);
        self.no_record += 1;
        self.sampling.running = true;
        let hooks = self.suspend_hooks(true);
        self.set_mode(Mode::Interpret);
        consumer.sample(self, sample);
        self.sampling.running = false;
        self.no_record -= 1;
        let mode;
        (mode, self.multres, self.record_nargs, self.error, self.pc, self.error_handled, self.in_error) = before;
        self.set_mode(mode);
        self.suspend_hooks(hooks);
    }
}
