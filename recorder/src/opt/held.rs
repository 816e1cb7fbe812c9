//! Variables that are not read any more ([`SnapSlot::HELD`]), whose objects nothing else can see.
//!
//! Such a variable keeps its object from being collected, which only shows if something else refers to the object: a weak table, a finalizer, a
//! C pointer. A new object that could be sunk but for these variables has no other reference, and the snapshots forget it. Then no exit needs
//! to make it. Where another variable of the snapshot leads to the object, the exit makes it in any case, and both keep it: the program may
//! overwrite that other variable.

use super::sink::Sink;
use crate::ir::buffer::IrBuffer;
use crate::ir::{IrRef, SnapSlot};

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
    for k in 0..b.trace.snaps.len() {
        let slots = &b.trace.snaps[k].slots;
        if slots.iter().any(|s| is_held(s) && sink.is_sunk_table(s.value)) {
            let named = named(b, &sink, slots);
            b.trace.snaps[k].slots.retain(|s| !is_held(s) || !sink.is_sunk_table(s.value) || named.contains(&s.value));
        }
        // Below a call of a metamethod every variable counts as read, so that a variable may be held first and read afterwards. The builtin
        // between the two snapshots, which would have stored the variable, no longer does.
        for s in b.trace.snaps[k].slots.iter_mut().filter(|s| !is_held(s) && sink.is_sunk_table(s.value)) {
            s.flags &= !SnapSlot::NORESTORE;
        }
    }
}

/// The new objects that the other variables of a snapshot lead to.
fn named(b: &IrBuffer, sink: &Sink, slots: &[SnapSlot]) -> Vec<IrRef> {
    let mut named: Vec<IrRef> = slots.iter().filter(|s| !is_held(s)).map(|s| s.value).collect();
    named.retain(|&r| sink.is_sunk_table(r));
    let mut next = 0;
    while let Some(&r) = named.get(next) {
        next += 1;
        let stored = sink.stored_to(b, r.ins_index()).filter(|&r| sink.is_sunk_table(r));
        let new: Vec<IrRef> = stored.filter(|r| !named.contains(r)).collect();
        named.extend(new);
    }
    named
}
