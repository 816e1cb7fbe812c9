//! Variables that are not read any more ([`SnapSlot::HELD`]), whose objects nothing else can see.
//!
//! Such a variable keeps its object from being collected, which only shows if something else refers to the object: a weak table, a finalizer, a
//! C pointer. A new object that could be sunk but for these variables has no other reference, and the snapshots forget it. Then no exit needs
//! to make it.

use super::sink::Sink;
use crate::ir::SnapSlot;
use crate::ir::buffer::IrBuffer;

fn is_held(s: &SnapSlot) -> bool {
    s.flags & SnapSlot::HELD != 0
}

/// Takes these variables out of all snapshots.
pub fn run(b: &mut IrBuffer) {
    if !b.trace.snaps.iter().flat_map(|snap| &snap.slots).any(is_held) {
        return;
    }
    let mut sink = Sink::with_uses(b, |s| !is_held(s));
    sink.settle(b);
    for snap in &mut b.trace.snaps {
        snap.slots.retain(|s| !is_held(s) || !sink.is_sunk_table(s.value));
    }
}
