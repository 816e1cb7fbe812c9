//! Snapshots: the state of the interpreter to restore if the trace leaves at a guard (LuaJIT's `lj_snap`).

use super::index::SlotIdx;
use super::ins::IrRef;
use perilune_vm::object::BcAddr;

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
    /// With [`SnapSlot::NORESTORE`]: memory has the value because NATIVE or SYNC has stored the slots since the trace began.
    pub const STORED: u8 = 8;
    /// A variable that is not read any more: it only keeps its object from being collected.
    pub const HELD: u8 = 16;
    /// Does an exit store the value?
    pub const fn is_restored(&self) -> bool {
        self.flags & SnapSlot::NORESTORE == 0
    }
}

/// The state of the interpreter to restore if the trace leaves at a guard at or after `at` (up to the next snapshot).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The first instruction whose guard leaves through this snapshot.
    pub at: IrRef,
    /// The first local of the frame to resume, [`SlotIdx::BASE`] for the start frame: the new base.
    pub base_slot: SlotIdx,
    /// Slots up to here (exclusive) may be live.
    pub nslots: SlotIdx,
    /// Address of the instruction to resume at.
    pub pc: BcAddr,
    /// Count for an instruction taking an open list, see `perilune_vm::hooks::Resume`.
    pub multres: u32,
    /// Its guard decides a branch: `pc` is the target that the trace does not follow, and not the instruction that branches. Or it decides which
    /// boolean a C function has returned: a slot has the other one.
    pub decides: bool,
    /// Number of bytecode instructions recorded before it, operations of the FFI counted by what they cost the interpreter.
    pub done: u16,
    /// Number of instructions that the trace has executed when the interpreter resumes here, as fuel counts them.
    pub fuel: u32,
    /// The modified slots, ascending.
    pub slots: Vec<SnapSlot>,
}

impl Snapshot {
    /// [`Snapshot::multres`] where the count is in the VM, left by a builtin.
    pub const OPEN: u32 = u32::MAX;
    /// Slots of the frame to resume that may be live.
    pub fn live_slots(&self) -> usize {
        self.nslots.index().saturating_sub(self.base_slot.index())
    }
    /// The slots that an exit stores.
    pub fn restored(&self) -> impl Iterator<Item = &SnapSlot> {
        self.slots.iter().filter(|s| s.is_restored())
    }
    /// The slot as a side trace at this exit counts it, in which the frame to resume is at `entry` ([`super::Trace::entry`]); `None` if it is in
    /// a frame that the side trace does not keep.
    pub fn slot_in_side_trace(&self, slot: SlotIdx, entry: SlotIdx) -> Option<SlotIdx> {
        (slot + entry.index()).index().checked_sub(self.base_slot.index()).map(SlotIdx::new)
    }
}
