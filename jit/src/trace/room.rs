//! The native stack that compiling takes. A program in C may run a state on a thread with a small stack, or on a stack of its own.
#![allow(unsafe_code, reason = "the thread that compiles is waited for")]

use perilune_backend::STACK;
use perilune_vm::interp::native_stack;
use perilune_vm::interrupt::with_signals_blocked;

/// Bytes that compiling takes: frames of Cranelift have up to 12 KB each, and 64 KB did not suffice for a trace of ten instructions.
const NEEDED: usize = 256 << 10;

/// What another thread gets, or returns.
struct Lent<T>(T);

// SAFETY: only `with_room` makes one, and the thread that owns the value does nothing before the one that uses it has ended. What is shared
// beyond the value is not used by any other thread either: it belongs to a VM that this thread runs.
unsafe impl<T> Send for Lent<T> {}

/// Calls a function of the compiler where the native stack has room for it: on a thread that is made for the call, if the rest of this stack
/// is too small, or not known. Fails if there can be no such thread.
pub(super) fn with_room<R>(f: impl FnOnce() -> R) -> std::io::Result<R> {
    if native_stack::has_room(NEEDED) {
        return Ok(f());
    }
    let f = Lent(f);
    std::thread::scope(|scope| {
        let call = move || {
            let f = f;
            Lent((f.0)())
        };
        let builder = std::thread::Builder::new().stack_size(STACK);
        match with_signals_blocked(|| builder.spawn_scoped(scope, call))?.join() {
            Ok(result) => Ok(result.0),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
