//! Snapshots: what the interpreter must see if the trace leaves at a guard (LuaJIT's `lj_snap`).

use super::ins::IrRef;
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
    /// The slot with a number; [`SlotIdx::END`] for what is above all slots.
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
    /// The slot `n` above; `None` if there are no such numbers.
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

/// A slot of a snapshot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SnapSlot {
    /// Which slot.
    pub slot: SlotIdx,
    /// [`SnapSlot::FRAME`] and the like.
    pub flags: u8,
    /// The value.
    pub value: IrRef,
}

impl SnapSlot {
    /// A frame's function or link.
    pub const FRAME: u8 = 1;
    /// Part of a continuation frame.
    pub const CONT: u8 = 2;
    /// The slot in memory already has this value: nothing to store.
    pub const NORESTORE: u8 = 4;
    /// It has, because the slots were stored (NATIVE, SYNC) since the trace began.
    pub const STORED: u8 = 8;
    /// Does an exit store the value?
    pub const fn is_restored(&self) -> bool {
        self.flags & SnapSlot::NORESTORE == 0
    }
}

/// What the interpreter must see if the trace leaves at a guard at or after `at` (up to the next snapshot).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The first instruction this snapshot is in force for.
    pub at: IrRef,
    /// The first local of the frame to resume, [`SlotIdx::BASE`] for the start frame: the new base.
    pub base_slot: SlotIdx,
    /// Slots up to here (exclusive) may be live.
    pub nslots: SlotIdx,
    /// Address of the instruction to resume at.
    pub pc: u64,
    /// Count for an instruction taking an open list, see `perilune_vm::hooks::Resume`.
    pub multres: u32,
    /// Its guard decides a branch: `pc` is the way that the trace does not go, and not the start of what the guard belongs to.
    pub decides: bool,
    /// Bytecode instructions that have run before, as many as were recorded.
    pub done: u16,
    /// The modified slots, ascending.
    pub slots: Vec<SnapSlot>,
}

impl Snapshot {
    /// [`Snapshot::multres`] where the count is only known by what a builtin has left in the VM.
    pub const OPEN: u32 = u32::MAX;
    /// Slots of the frame to resume that may be live.
    pub fn live_slots(&self) -> usize {
        self.nslots.index().saturating_sub(self.base_slot.index())
    }
    /// The slots that an exit stores.
    pub fn restored(&self) -> impl Iterator<Item = &SnapSlot> {
        self.slots.iter().filter(|s| s.is_restored())
    }
    /// The slot as a side trace counts it that starts at this exit, in the frame to resume; `None` if it is below that frame.
    pub fn slot_in_side_trace(&self, slot: SlotIdx) -> Option<SlotIdx> {
        (slot + SlotIdx::BASE.index()).index().checked_sub(self.base_slot.index()).map(SlotIdx::new)
    }
}
