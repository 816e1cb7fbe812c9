//! Why a program is interrupted, and the flag of a state that says so.

use core::sync::atomic::{
    AtomicU8,
    Ordering::{Relaxed, SeqCst},
};

/// Why a program is interrupted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// Ctrl-C was pressed: one error.
    Key = 1,
    /// The host has asked for it, by a [`super::Remote`].
    Host = 2,
    /// The time limit has passed.
    Time = 3,
}

impl Cause {
    /// The error message.
    pub const fn message(self) -> &'static str {
        match self {
            Cause::Key | Cause::Host => "interrupted!",
            Cause::Time => "time limit exceeded",
        }
    }
    /// Is the error raised until the host takes it back?
    pub const fn lasts(self) -> bool {
        !matches!(self, Cause::Key)
    }
}

/// An interrupt that waits, or none.
#[derive(Debug, Default)]
pub struct Flag(AtomicU8);

impl Flag {
    /// No interrupt waits.
    pub const fn new() -> Flag {
        Flag(AtomicU8::new(0))
    }
    /// The interrupt that waits.
    #[inline]
    pub fn get(&self) -> Option<Cause> {
        match self.0.load(Relaxed) {
            0 => None,
            1 => Some(Cause::Key),
            2 => Some(Cause::Host),
            _ => Some(Cause::Time),
        }
    }
    /// Asks for an interrupt; one that waits already stays.
    pub fn set(&self, cause: Cause) {
        let _ = self.0.compare_exchange(0, cause as u8, SeqCst, SeqCst);
    }
    /// Takes the interrupt back. The one that waited.
    pub(crate) fn clear(&self) -> Option<Cause> {
        let waited = self.get();
        self.0.store(0, SeqCst);
        waited
    }
}
