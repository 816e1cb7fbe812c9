//! Long work in parts: between two of them it looks for an interrupt, and is given up if one waits.

use super::{Cause, Flag};
use core::{fmt, ops::Range};

/// Work was given up because an interrupt waits: the caller raises its error.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl core::error::Error for Interrupted {}

impl From<Interrupted> for std::io::Error {
    fn from(e: Interrupted) -> Self {
        std::io::Error::other(e)
    }
}

/// Whether long work looks for interrupts.
#[derive(Copy, Clone, Debug)]
pub enum Poll<'a> {
    /// It is done in any case.
    Never,
    /// It is given up when an interrupt waits here.
    At(&'a Flag),
    /// It is given up when an interrupt waits here that lasts.
    Lasting(&'a Flag),
    /// It is given up at a look, after so many: in tests.
    #[doc(hidden)]
    After(&'a core::cell::Cell<u32>),
}

/// Are parts small, since tests are to see many of them?
const SMALL: bool = cfg!(any(test, miri));

impl Poll<'_> {
    /// Bytes that are written between two looks. Memory that is new to the process takes the system 0.1 to 0.7 ms for each megabyte.
    pub const BYTES: usize = if SMALL { 4 << 10 } else { 512 << 10 };
    /// Table entries that are moved between two looks: each may cost a cache miss or two, of up to 100 ns.
    pub const ENTRIES: usize = if SMALL { 64 } else { 4096 };
    /// Table slots that are read one after the other between two looks.
    pub const SLOTS: usize = Self::BYTES / 8;

    /// Does work on `0..n` in parts of this size, with a look after each; in one piece where nothing ends it.
    #[inline(always)]
    pub fn in_parts(self, n: usize, size: usize, mut work: impl FnMut(Range<usize>)) -> Result<(), Interrupted> {
        if matches!(self, Poll::Never) {
            work(0..n);
            return Ok(());
        }
        let mut from = 0;
        while from < n {
            let end = n.min(from + size);
            work(from..end);
            from = end;
            self.look()?;
        }
        Ok(())
    }
    /// Fails if an interrupt waits.
    #[inline(always)]
    pub fn look(self) -> Result<(), Interrupted> {
        match self {
            Poll::At(flag) if flag.get().is_some() => Err(Interrupted),
            Poll::Lasting(flag) if flag.get().is_some_and(Cause::lasts) => Err(Interrupted),
            Poll::After(left) => {
                let n = left.get();
                left.set(n.wrapping_sub(1));
                if n == 0 { Err(Interrupted) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }
}
