//! Code that the host has handed over: writers, and functions called at an end. It runs in the middle of the VM's work, where it cannot use
//! the state: a try panics. No panic passes the VM.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the host; a panic becomes an error.
pub fn attempt<R>(code: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|_| Err(io::Error::other("a function of the host has panicked")))
}

/// Runs code of the host that has no result. A panic has been reported by its hook, and goes no further.
pub fn run(code: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(code));
}

/// Drops something of the host's.
pub fn discard<T>(value: T) {
    run(|| drop(value));
}
