//! Numbers with types: indices of snapshots and of stack slots. Their text form is the bare number.

use core::ops::{Add, Sub};

/// The index of a snapshot in its trace, and with that the number of an exit: all guards of a snapshot leave by one exit.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SnapId(u32);

impl SnapId {
    /// The snapshot at the start of a trace.
    pub const FIRST: SnapId = SnapId(0);
    /// The snapshot at an index of [`super::Trace::snaps`].
    pub const fn new(index: usize) -> SnapId {
        SnapId(index as u32)
    }
    /// Index into [`super::Trace::snaps`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// The number as tools print it.
    pub const fn number(self) -> u32 {
        self.0
    }
    /// The snapshot after this one.
    pub const fn next(self) -> SnapId {
        SnapId(self.0 + 1)
    }
}

impl core::fmt::Display for SnapId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// A stack slot as a trace counts them: slots 0 and 1 are the function and the link of the frame that the trace starts in, and slot
/// 2 is its first local.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SlotIdx(u16);

impl SlotIdx {
    /// The function of the start frame.
    pub const FUNC: SlotIdx = SlotIdx(0);
    /// The link of the start frame.
    pub const LINK: SlotIdx = SlotIdx(1);
    /// The first local of the start frame.
    pub const BASE: SlotIdx = SlotIdx(2);
    /// Above all slots.
    pub const END: SlotIdx = SlotIdx(u16::MAX);
    /// The slot of a number; [`SlotIdx::END`] for numbers that are too large.
    pub const fn new(number: usize) -> SlotIdx {
        if number < u16::MAX as usize { SlotIdx(number as u16) } else { SlotIdx::END }
    }
    /// The number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// Slots from the base of the start frame; negative for its function and link.
    pub const fn from_base(self) -> i32 {
        self.0 as i32 - SlotIdx::BASE.0 as i32
    }
    /// The number as the bits of a literal operand.
    pub const fn bits(self) -> u16 {
        self.0
    }
    /// The slot `n` above; `None` if the number would be too large.
    pub fn checked_add(self, n: u16) -> Option<SlotIdx> {
        self.0.checked_add(n).map(SlotIdx)
    }
}

impl Add<usize> for SlotIdx {
    type Output = SlotIdx;
    fn add(self, n: usize) -> SlotIdx {
        SlotIdx::new(self.index() + n)
    }
}
impl Sub<usize> for SlotIdx {
    type Output = SlotIdx;
    fn sub(self, n: usize) -> SlotIdx {
        SlotIdx::new(self.index() - n)
    }
}
/// Distance, in slots.
impl Sub for SlotIdx {
    type Output = usize;
    fn sub(self, lower: SlotIdx) -> usize {
        self.index() - lower.index()
    }
}
impl core::fmt::Display for SlotIdx {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}
