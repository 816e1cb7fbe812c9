//! What a VM does at the moment, and the request to leave compiled code.
//!
//! Compiled code is asked to leave for whatever only the interpreter delivers: samples, interrupts, limits, hooks. It leaves at its next exit,
//! even if that has a side trace ([`super::CompiledState::exits_leaving`]), and at the next guard PROF of a loop.
#![allow(
    unsafe_code,
    reason = "signal handlers on the thread of the VM read and write single words of it, with volatile accesses on both sides"
)]

use crate::Vm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The activity of a VM.
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
    /// The compiler records, or decides whether to.
    Compiler = b'J',
    /// The compiler optimises a trace.
    Optimizer = b'O',
    /// The compiler makes machine code.
    Assembler = b'A',
    /// A trace is left: the compiler handles the exit.
    Exit = b'X',
}

/// Fields that each call of a builtin and each exit accesses: they are beside the registers of the VM, in one cache line.
#[derive(Debug)]
pub struct RunState {
    /// Is compiled code to be left? See [`Vm::is_exit_requested`].
    pub(crate) exit_requested: bool,
    /// The current activity. See [`Vm::begin_activity`].
    pub(crate) activity: Activity,
}

impl Default for RunState {
    fn default() -> RunState {
        RunState { exit_requested: false, activity: Activity::Interpreter }
    }
}

impl Vm {
    /// Sets the VM's activity; returns the activity before.
    #[inline(always)]
    pub fn begin_activity(&mut self, activity: Activity) -> Activity {
        let before = self.running.activity;
        // SAFETY: a field of this VM. Volatile: it is read by a signal handler.
        unsafe { (&raw mut self.running.activity).write_volatile(activity) };
        before
    }
    /// Is compiled code to be left, so that the interpreter delivers what waits?
    #[inline(always)]
    pub fn is_exit_requested(&self) -> bool {
        // SAFETY: a field of this VM. Volatile: a signal handler may have written it, on this thread.
        unsafe { (&raw const self.running.exit_requested).read_volatile() }
    }
    /// Must compiled loops that take no exit check whether they are to be left?
    pub fn must_check_in_loops(&self) -> bool {
        self.interrupts.end_loops || self.sampling.leaves_loops()
    }
    /// Has compiled code left at its next exit, or at its next check.
    ///
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    pub(crate) unsafe fn request_exit(vm: *mut Vm) {
        // SAFETY: words of the VM that are only read in ways that keep any code between the accesses right.
        unsafe {
            AtomicBool::from_ptr(&raw mut (*vm).running.exit_requested).store(true, Relaxed);
            let leaving = (&raw const (*vm).compiled.exits_leaving).read_volatile();
            if !leaving.is_null() {
                (&raw mut (*vm).compiled.exit_table).write_volatile(leaving);
            }
        }
    }
    /// Compiled code need not be left any more: what waited is delivered now, or with the next request.
    pub(crate) fn withdraw_exit_request(&mut self) {
        if self.is_exit_requested() {
            let linked = self.compiled.exits_linked;
            // SAFETY: fields of this VM. Volatile and atomic: a signal handler writes them.
            unsafe {
                (&raw mut self.compiled.exit_table).write_volatile(linked);
                AtomicBool::from_ptr(&raw mut self.running.exit_requested).store(false, Relaxed);
            }
            self.update_dispatch();
        }
    }
}
