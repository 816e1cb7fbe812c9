//! The window of stack slots that a recording knows (LuaJIT's `J->slot`): what is in each, and whether memory has it as well.

use crate::ir::{IrRef, SlotIdx};
use core::ops::{Index, IndexMut};

/// What is known about a slot.
#[derive(Copy, Clone, Debug)]
pub(super) struct Slot {
    /// Its value; [`IrRef::NONE`] where only memory has it.
    value: IrRef,
    /// Assigned since the start of the trace, so that exits store it.
    modified: bool,
    /// Assigned, but stored since then, for example for a call of a builtin.
    stored: bool,
    /// Written in memory by a builtin.
    fresh: bool,
}

const UNKNOWN: Slot = Slot { value: IrRef::NONE, modified: false, stored: false, fresh: false };

/// The slots from [`SlotIdx::FUNC`] on. Indexing gives the value.
#[derive(Clone, Default, Debug)]
pub(super) struct Window {
    slots: Vec<Slot>,
}

impl Index<SlotIdx> for Window {
    type Output = IrRef;
    fn index(&self, at: SlotIdx) -> &IrRef {
        &self.slots[at.index()].value
    }
}
impl IndexMut<SlotIdx> for Window {
    fn index_mut(&mut self, at: SlotIdx) -> &mut IrRef {
        &mut self.slots[at.index()].value
    }
}

impl Window {
    /// The first slot above the window.
    pub(super) fn top(&self) -> SlotIdx {
        SlotIdx::new(self.slots.len())
    }
    /// Extends the window up to `top` (exclusive).
    pub(super) fn extend_to(&mut self, top: SlotIdx) {
        if self.slots.len() < top.index() {
            self.slots.resize(top.index(), UNKNOWN);
        }
    }
    /// Assigns a slot of the window.
    pub(super) fn assign(&mut self, at: SlotIdx, value: IrRef) {
        self.slots[at.index()] = Slot { value, modified: true, stored: false, fresh: false };
    }
    /// A builtin has written the slot: memory has a value that the trace does not know.
    pub(super) fn write_fresh(&mut self, at: SlotIdx) {
        self.slots[at.index()] = Slot { fresh: true, ..UNKNOWN };
    }
    /// Forgets the slots from `at` on.
    pub(super) fn forget_from(&mut self, at: SlotIdx) {
        if let Some(above) = self.slots.get_mut(at.index()..) {
            above.fill(UNKNOWN);
        }
    }
    /// Notes that the slot is stored, if it was assigned.
    pub(super) fn mark_stored(&mut self, at: SlotIdx) {
        let slot = &mut self.slots[at.index()];
        if core::mem::take(&mut slot.modified) {
            slot.stored = true;
        }
    }
    /// Was the slot assigned, and not stored since?
    pub(super) fn is_modified(&self, at: SlotIdx) -> bool {
        self.slots[at.index()].modified
    }
    /// Did a builtin write the slot in memory?
    pub(super) fn is_fresh(&self, at: SlotIdx) -> bool {
        self.slots.get(at.index()).is_some_and(|s| s.fresh)
    }
    /// Was the slot written in memory since the start of the trace?
    pub(super) fn is_written_in_memory(&self, at: SlotIdx) -> bool {
        let slot = &self.slots[at.index()];
        slot.stored || slot.fresh
    }
    /// Restores an earlier state; the window does not shrink.
    pub(super) fn restore(&mut self, mut earlier: Window) {
        earlier.extend_to(self.top());
        *self = earlier;
    }
}
