//! Large tables: they are traversed in slices, so that no step takes long because of one of them.
//!
//! They wait, gray, until they are traversed one after the other. Such a table is black as soon as its first slice is due, unless it is weak. What is
//! stored into it then is marked at once ([`crate::Vm::barrier_store`]), as another traversal of the whole table would cost too much. Entries that
//! move to where the next slices may not come are taken care of here. Weak tables stay gray, and are traversed again at the end of marking.

use super::mark::may_be_leaf;
use super::{Heap, Marker};
use crate::object::{Gc, Table};

/// Array slots and nodes that are traversed at a time. Each may cost a cache miss, of about 10 to 100 ns, so this is a small part of a millisecond.
const SLICE: usize = if cfg!(miri) { 128 } else { 2048 };
/// The same under stress, so that the tables of small programs are traversed in slices as well.
const SLICE_UNDER_STRESS: usize = 4;

/// The large tables that are to be traversed.
#[derive(Debug)]
pub(super) struct Slices {
    /// Those that have not been begun.
    waiting: Vec<Gc<Table>>,
    current: Option<Sliced>,
    /// Slots and nodes of a slice.
    size: usize,
}

/// The table that is being traversed.
#[derive(Copy, Clone, Debug)]
struct Sliced {
    table: Gc<Table>,
    /// Slots and nodes done.
    done: usize,
    /// Was it weak when this began? Then it is traversed again.
    is_weak: bool,
}

impl Default for Slices {
    fn default() -> Slices {
        Slices { waiting: Vec::new(), current: None, size: SLICE }
    }
}

impl Slices {
    pub fn clear(&mut self) {
        self.waiting.clear();
        // Not all of it was looked at.
        if let Some(s) = self.current.take() {
            s.table.hdr.set_leaf(false);
        }
    }
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }
    /// Has a table traversed, which is gray.
    pub fn add(&mut self, t: Gc<Table>) {
        self.waiting.push(t);
    }
    /// How many slots and nodes of a table are done, if it is being traversed.
    pub fn done(&self, t: Gc<Table>) -> Option<usize> {
        self.find(t).map(|s| s.done)
    }
    fn find(&self, t: Gc<Table>) -> Option<&Sliced> {
        self.current.as_ref().filter(|s| s.table == t)
    }
    /// Makes slices small, or usual again.
    pub fn set_stress(&mut self, is_on: bool) {
        self.size = if is_on { SLICE_UNDER_STRESS } else { SLICE };
    }
}

impl Marker {
    /// Is a table traversed in slices?
    pub(super) fn is_large(&self, t: &Table) -> bool {
        (t.asize() + t.num_nodes()) as usize > self.slices.size
    }
    /// Begins to traverse a large table.
    fn begin_slices(&mut self, table: Gc<Table>) -> Sliced {
        let meta = table.meta.get();
        let mode = meta.and_then(|m| self.weak_mode(m));
        match mode {
            Some(mode) => self.weak.push((table, mode)),
            None => table.hdr.gray_to_black(),
        }
        // Until a reference is found, or stored.
        table.hdr.set_leaf(may_be_leaf(&table));
        if let Some(m) = meta {
            self.mark(m);
        }
        Sliced { table, done: 0, is_weak: mode.is_some() }
    }
    /// Traverses a slice of a table; returns a measure of the work, 0 when there is none.
    pub(super) fn traverse_slice(&mut self) -> usize {
        let current = self.slices.current.take();
        let Some(sliced) = current.or_else(|| self.slices.waiting.pop().map(|t| self.begin_slices(t))) else { return 0 };
        let (t, from) = (sliced.table, sliced.done);
        let (array, nodes) = (t.array_part(), t.nodes());
        let end = from + self.slices.size;
        if end < array.len() + nodes.len() {
            self.slices.current = Some(Sliced { done: end, ..sliced });
        }
        let range = |before: usize, len: usize| from.saturating_sub(before).min(len)..end.saturating_sub(before).min(len);
        let mode = self.weak_mode_of(&t);
        let slots = &array[range(0, array.len())];
        if !t.hdr.is_leaf() || slots.iter().any(|slot| slot.get().is_gc()) {
            t.hdr.set_leaf(false);
            self.visit_slots(slots, mode);
        }
        for n in &nodes[range(array.len(), nodes.len())] {
            Table::visit_node(n, !mode.keys, !mode.values, self);
        }
        self.slices.size * size_of::<crate::Value>()
    }
}

impl Heap {
    /// The entries of a table have moved, or are about to: its parts have changed their sizes, or it is sorted.
    #[inline]
    pub(crate) fn entries_moved(&mut self, t: Gc<Table>) {
        for s in self.cycle.marker.slices.current.iter_mut().filter(|s| s.table == t) {
            s.done = 0;
        }
    }
    /// Array slots of a table are about to move down by one, the last of them from slot `end`. (Those that move up come to where the next slices
    /// come.)
    #[inline]
    pub(crate) fn slots_move_down(&mut self, t: Gc<Table>, end: usize) {
        if let Some(next) = self.cycle.marker.slices.done(t).filter(|next| *next <= end)
            && let Some(slot) = t.array_part().get(next)
        {
            self.cycle.marker.mark_value(slot.get());
        }
    }
    /// A key was inserted into the hash part of a table. Another entry may have moved to the node that was taken last. Whether the table is
    /// weak now is not asked: it may be its own metatable, and `__mode` an entry that is not in the new nodes yet.
    #[inline]
    pub(crate) fn entry_moved(&mut self, t: Gc<Table>) {
        if self.cycle.marker.slices.find(t).is_some_and(|s| !s.is_weak)
            && let Some(n) = t.nodes().get(t.free.get() as usize)
        {
            Table::visit_node(n, true, true, &mut self.cycle.marker);
        }
    }
}
