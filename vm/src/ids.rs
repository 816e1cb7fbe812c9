//! Ids of traces and of their exits, as the interpreter, the compiler and the tools name them.

use core::fmt;
use core::num::NonZeroU16;

/// The number of a trace, from 1 on, as LuaJIT's tools show it. It is reused when its trace has been removed.
///
/// Sixteen bits, since operand D of the bytecode instruction that enters the trace holds it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TraceId(NonZeroU16);

impl TraceId {
    /// The trace with a number; `None` for 0, which means no trace, and for numbers that no trace can have.
    #[inline]
    pub const fn new(n: u32) -> Option<TraceId> {
        if n > u16::MAX as u32 {
            return None;
        }
        match NonZeroU16::new(n as u16) {
            Some(n) => Some(TraceId(n)),
            None => None,
        }
    }
    /// The number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0.get() as u32
    }
    /// The number as an instruction's operand.
    #[inline]
    pub const fn operand(self) -> u16 {
        self.0.get()
    }
    /// The index in tables by trace number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0.get() as usize
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// The index of an exit in the VM's exit tables, which the exits of all traces share.
///
/// The exits of one trace are adjacent: exit `k` of a trace has the id of its first exit plus `k`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ExitId(u32);

impl ExitId {
    /// The exit with an index.
    #[inline]
    pub const fn new(index: u32) -> ExitId {
        ExitId(index)
    }
    /// The index, as compiled code returns it.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
    /// The index in the exit tables.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// The id of exit `k` of the trace whose first exit this is.
    #[inline]
    pub const fn exit(self, k: u32) -> ExitId {
        ExitId(self.0 + k)
    }
}

impl fmt::Display for ExitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ExitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_id_is_a_number_from_1_on_that_fits_an_operand() {
        assert_eq!(TraceId::new(0), None);
        assert_eq!(TraceId::new(1 << 16), None);
        let last = TraceId::new(65535).expect("it fits");
        assert_eq!((last.get(), last.operand(), last.index()), (65535, 65535, 65535));
        assert_eq!(format!("{last} {last:?} {:?}", Some(last)), "65535 65535 Some(65535)");
        assert_eq!(size_of::<Option<TraceId>>(), size_of::<TraceId>());
    }

    #[test]
    fn exits_of_a_trace_are_adjacent() {
        let first = ExitId::new(7);
        assert_eq!((first.exit(0), first.exit(2).index()), (first, 9));
        assert_eq!(format!("{first} {first:?}"), "7 7");
    }
}
