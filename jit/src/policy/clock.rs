//! The processor time of this thread, read often: the system is asked for it once a millisecond.
//!
//! Only the system knows the processor time of a thread: asking for it is a system call, 0.6 us. The monotonic clock takes 25 ns, since it
//! is a counter of the processor, and stands in for it in between. While the thread waits, this clock is ahead by a millisecond at most.

use core::cell::Cell;
use std::time::{Duration, Instant};

/// The processor time of this thread: neither waiting nor other processes count.
pub(crate) fn now() -> Duration {
    Duration::from_nanos(perilune_vm::clock::processor_time())
}

/// How long the monotonic clock stands in for processor time. The two differ by no more when the thread waits, and asking takes less than a
/// thousandth of it.
const STANDS_IN: Duration = Duration::from_millis(1);

/// A clock of processor time.
#[derive(Debug)]
pub(super) struct Clock {
    /// When the system was asked last, and what it said.
    asked: Cell<(Instant, Duration)>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { asked: Cell::new((Instant::now(), now())) }
    }
}

impl Clock {
    /// The processor time of this thread.
    pub(super) fn now(&self) -> Duration {
        let at = Instant::now();
        let (asked, said) = self.asked.get();
        let passed = at.duration_since(asked);
        if passed < STANDS_IN {
            return said + passed;
        }
        let said = now();
        self.asked.set((at, said));
        said
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, STANDS_IN, now};

    #[test]
    fn waiting_is_not_counted_for_long() {
        let clock = Clock::default();
        let before = now();
        std::thread::sleep(20 * STANDS_IN);
        let waited = clock.now();
        assert!(waited >= before && waited <= now(), "asked after the wait: {waited:?}");
        let soon = clock.now();
        assert!(soon >= waited && soon <= now() + STANDS_IN, "{soon:?} after {waited:?}");
    }
}
