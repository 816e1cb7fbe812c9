//! The request to leave compiled code.
//!
//! Compiled code is asked to leave for whatever only the interpreter delivers: samples, interrupts, limits, hooks. It leaves at its next exit,
//! even if that has a side trace ([`super::CompiledState::exits_leaving`]), and at the next guard PROF of a loop.
#![allow(
    unsafe_code,
    reason = "signal handlers on the thread of the VM read and write single words of it, with volatile accesses on both sides"
)]

use super::Activity;
use crate::Vm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

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
        self.interrupts.end_loops || self.compiled.needs.checks_in_loops
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
    /// Delivers what waits for an observer, with `vm.base` and `vm.pc` those of a Lua function, and `vm.top` after all values that its
    /// instruction may read.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_waiting(&mut self) {
        self.withdraw_exit_request();
        if let Some(observer) = self.observer.clone() {
            observer.deliver(self);
        }
    }
}
