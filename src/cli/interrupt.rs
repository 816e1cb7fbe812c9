//! Ctrl-C while Lua code runs: the error "interrupted!" at the next instruction that is interpreted. A second Ctrl-C ends the
//! process, also where the first one is not noticed (in a compiled loop that is never left).

use core::sync::atomic::{AtomicPtr, Ordering};
use perilune_vm::Vm;

unsafe extern "C" {
    fn signal(number: i32, handler: usize) -> usize;
}
const SIGINT: i32 = 2;
const SIGPIPE: i32 = 13;
const SIG_DFL: usize = 0;

/// The state that is running.
static RUNNING: AtomicPtr<Vm> = AtomicPtr::new(core::ptr::null_mut());

/// Undoes what Rust's start-up did: a program whose output nobody reads ends, as with any other interpreter.
pub fn die_of_broken_pipes() {
    // SAFETY: sets a default action; no handler is involved.
    unsafe { signal(SIGPIPE, SIG_DFL) };
}

/// Runs `f` so that Ctrl-C interrupts it.
pub fn interruptible<T>(vm: &mut Vm, f: impl FnOnce(&mut Vm) -> T) -> T {
    RUNNING.store(vm, Ordering::SeqCst);
    // SAFETY: the handler only uses what is safe in one.
    unsafe { signal(SIGINT, on_interrupt as extern "C" fn(i32) as usize) };
    let result = f(vm);
    // SAFETY: sets a default action.
    unsafe { signal(SIGINT, SIG_DFL) };
    RUNNING.store(core::ptr::null_mut(), Ordering::SeqCst);
    vm.forget_interrupt();
    result
}

extern "C" fn on_interrupt(_: i32) {
    // SAFETY: `signal` may be called in a handler.
    unsafe { signal(SIGINT, SIG_DFL) };
    let vm = RUNNING.load(Ordering::SeqCst);
    if !vm.is_null() {
        // SAFETY: the state is running on this thread.
        unsafe { Vm::interrupt(vm) };
    }
}
