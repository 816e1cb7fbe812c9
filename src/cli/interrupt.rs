//! Ctrl-C while Lua code runs: the error "interrupted!" at the next instruction that is interpreted. Compiled code is left for it
//! ([`Vm::set_interruptible`]), and a read that waits ends. A second Ctrl-C ends the process, which helps where a library function
//! takes long.
#![allow(unsafe_code, reason = "the signal handler does only what is safe in one, with a state that lives while the guard does")]

use core::sync::atomic::{AtomicPtr, Ordering};
use perilune_vm::Vm;
use perilune_vm::interrupt::SignalHandler;

/// The state that is running.
static RUNNING: AtomicPtr<Vm> = AtomicPtr::new(core::ptr::null_mut());

/// Undoes what Rust's start-up did: a program whose output nobody reads ends, as with any other interpreter.
pub fn die_of_broken_pipes() {
    // SAFETY: sets a default action; no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Runs `f` so that Ctrl-C interrupts it.
pub fn interruptible<T>(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> T) -> T {
    // SAFETY: the state lives, on this thread, while the guard does.
    let guard = unsafe { Guard::new(vm) };
    let result = f(vm);
    drop(guard);
    vm.forget_interrupt();
    result
}

/// Ctrl-C interrupts a state while this lives.
pub struct Guard {
    _handler: SignalHandler,
}

impl Guard {
    /// # Safety
    /// The state lives longer than the guard, and runs on the thread that signals come to.
    pub unsafe fn new(vm: *mut Vm) -> Guard {
        RUNNING.store(vm, Ordering::SeqCst);
        // SAFETY: the handler only uses what is safe in one. Without flags, so that a system call that waits ends.
        Guard { _handler: unsafe { SignalHandler::install(libc::SIGINT, on_interrupt, 0) } }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A signal that comes before the handler is gone finds no state, and does nothing but restore the default action.
        RUNNING.store(core::ptr::null_mut(), Ordering::SeqCst);
    }
}

extern "C" fn on_interrupt(_: libc::c_int) {
    // SAFETY: `signal` may be called in a handler.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let vm = RUNNING.load(Ordering::SeqCst);
    if !vm.is_null() {
        // SAFETY: the state is running on this thread.
        unsafe { Vm::interrupt(vm) };
    }
}
