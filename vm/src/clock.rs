//! Clocks of the system.
#![allow(unsafe_code, reason = "system calls get structures of the form that they document, alive during the call")]

/// A clock of the system, in nanoseconds.
pub(crate) fn read_clock(which: libc::clockid_t) -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the address is valid during the call, which a signal handler may do.
    unsafe { libc::clock_gettime(which, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Processor time of this thread, in nanoseconds.
pub fn processor_time() -> u64 {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}
