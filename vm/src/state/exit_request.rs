//! The request to leave compiled code.
//!
//! Compiled code is asked to leave for whatever only the interpreter delivers: samples, interrupts, limits, hooks. It leaves at its next exit,
//! even if that has a side trace ([`super::CompiledState::exits_leaving`]), at the next guard PROF of a loop, and where it looks whether its
//! frames fit the stack ([`super::CompiledState::stack_limit`]): what does that in each round asks for nothing else.
#![allow(
    unsafe_code,
    reason = "signal handlers on the thread of the VM read and write single words of it, with volatile accesses on both sides"
)]

use super::Activity;
use crate::Vm;
use crate::value::Value;
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
            (&raw mut (*vm).compiled.stack_limit).write_volatile(core::ptr::null_mut());
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
            // SAFETY: fields of this VM. Volatile and atomic: a signal handler writes them. What it has written in the middle is written again.
            unsafe {
                AtomicBool::from_ptr(&raw mut self.running.exit_requested).store(false, Relaxed);
                (&raw mut self.compiled.exit_table).write_volatile(linked);
                Vm::end_stack_at(self, self.stack_limit);
                if self.is_exit_requested() {
                    Vm::request_exit(self);
                }
            }
            self.update_dispatch();
        }
    }
    /// Sets the end of the running coroutine's stack.
    ///
    /// # Safety
    /// `vm` is alive, and belongs to this thread. Frames may extend up to `limit`.
    #[inline(always)]
    pub(crate) unsafe fn end_stack_at(vm: *mut Vm, limit: *mut Value) {
        // SAFETY: fields of the VM. Volatile: a signal handler may write one of them before and after each of these accesses.
        unsafe {
            (*vm).stack_limit = limit;
            (&raw mut (*vm).compiled.stack_limit).write_volatile(limit);
            if (*vm).is_exit_requested() {
                (&raw mut (*vm).compiled.stack_limit).write_volatile(core::ptr::null_mut());
            }
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

#[cfg(test)]
mod tests {
    use crate::Vm;
    use crate::value::Value;

    /// Compiled code finds no room from a request on, whatever switches to other stacks or moves them, until it is withdrawn.
    #[test]
    fn a_request_outlives_other_stacks() {
        let mut vm = Vm::new();
        vm.open_libs();
        let text = b"local co = coroutine.wrap(function() while true do coroutine.yield() end end)
            local function deep(n) co() if n > 0 then return 1 + deep(n - 1) end return 0 end return deep(1000)";
        let f = vm.load_chunk(text, b"=t", None).expect("it compiles");
        assert_eq!(vm.compiled.stack_limit, vm.stack_limit);
        let before = vm.stack_limit;
        // SAFETY: the VM lives on this thread.
        unsafe { Vm::request_exit(&raw mut *vm) };
        assert!(vm.pcall_traced(Value::func(f), &[]).is_ok());
        assert_ne!(vm.stack_limit, before, "the stack has grown");
        assert!(vm.compiled.stack_limit.is_null() && vm.is_exit_requested());
        vm.withdraw_exit_request();
        assert_eq!(vm.compiled.stack_limit, vm.stack_limit);
        assert!(!vm.is_exit_requested());
    }
}
