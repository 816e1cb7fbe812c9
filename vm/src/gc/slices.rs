//! Large tables: they are traversed in slices, so that no step takes long because of one of them.
//!
//! Such a table is black as soon as its first slice is due, unless it is weak. What is stored into it is marked at once
//! ([`crate::Vm::barrier_store`]), as another traversal of the whole table would cost too much. Entries that move to where the next slices may
//! not come are taken care of here. Weak tables stay gray, and are traversed again at the end of marking.

use super::{Heap, Marker};
use crate::object::{Gc, Table};

/// Array slots and nodes that are traversed at a time. Each may cost a cache miss, of about 10 to 100 ns, so this is a small part of a millisecond.
const SLICE: usize = if cfg!(miri) { 128 } else { 2048 };

/// The large tables that are being traversed, each with the number of slots and nodes done.
#[derive(Debug, Default)]
pub(super) struct Slices(Vec<(Gc<Table>, usize)>);

impl Slices {
    pub fn clear(&mut self) {
        self.0.clear();
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn contains(&self, t: Gc<Table>) -> bool {
        self.0.iter().any(|(u, _)| *u == t)
    }
}

impl Table {
    /// Is it traversed in slices?
    pub(super) fn is_large(&self) -> bool {
        (self.asize() + self.num_nodes()) as usize > SLICE
    }
}

impl Marker {
    /// Begins to traverse a large table.
    pub(super) fn begin_slices(&mut self, t: Gc<Table>) {
        if let Some(m) = t.meta.get() {
            self.mark(m);
        }
        self.slices.0.push((t, 0));
    }
    /// Traverses a slice of a table; returns a measure of the work, 0 when there is none.
    pub(super) fn traverse_slice(&mut self) -> usize {
        let Some((t, from)) = self.slices.0.pop() else { return 0 };
        let (array, nodes) = (t.array_part(), t.nodes());
        let end = from + SLICE;
        if end < array.len() + nodes.len() {
            self.slices.0.push((t, end));
        }
        let range = |before: usize, len: usize| from.saturating_sub(before).min(len)..end.saturating_sub(before).min(len);
        let mode = self.weak_mode_of(&t);
        self.visit_slots(&array[range(0, array.len())], mode);
        for n in &nodes[range(array.len(), nodes.len())] {
            Table::visit_node(n, !mode.keys, !mode.values, self);
        }
        SLICE * size_of::<crate::Value>()
    }
}

impl Heap {
    /// The parts of a table have changed their sizes: its entries have moved.
    #[inline]
    pub(crate) fn entries_moved(&mut self, t: Gc<Table>) {
        for (_, done) in self.cycle.marker.slices.0.iter_mut().filter(|(u, _)| *u == t) {
            *done = 0;
        }
    }
    /// A key was inserted into the hash part of a table. Another entry may have moved to the node that was taken last.
    #[inline]
    pub(crate) fn entry_moved(&mut self, t: Gc<Table>) {
        if self.cycle.marker.slices.contains(t)
            && let Some(n) = t.nodes().get(t.free.get() as usize)
        {
            let mode = self.cycle.marker.weak_mode_of(&t);
            Table::visit_node(n, !mode.keys, !mode.values, &mut self.cycle.marker);
        }
    }
}
