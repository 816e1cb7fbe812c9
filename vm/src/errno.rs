//! `errno`: the number of the last error of a C function on this thread, which programs read through the FFI.
//!
//! What runs between two instructions of a program (collector, compiler, hooks, handlers of signals) leaves it as it was.
#![allow(unsafe_code, reason = "the variable of this thread is read and written")]

/// The number.
pub fn get() -> i32 {
    // SAFETY: the address is that of a variable of this thread.
    unsafe { *libc::__errno_location() }
}

/// Sets the number.
pub fn set(number: i32) {
    // SAFETY: as in `get`.
    unsafe { *libc::__errno_location() = number }
}

/// Sets the number back when it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Kept(i32);

/// Keeps the number until the result is dropped.
pub fn keep() -> Kept {
    Kept(get())
}

impl Drop for Kept {
    fn drop(&mut self) {
        set(self.0);
    }
}
