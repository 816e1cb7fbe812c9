//! Tables: the sizes of their parts, and growth. See `table` for the layout and the contract.
#![allow(
    unsafe_code,
    reason = "parts of a table are copied or freed with the size that they were allocated with, before the table refers to the new ones"
)]

use super::table::{Node, Table};
use super::{Gc, ShapeId};
use crate::Vm;
use crate::gc::Heap;
use crate::value::Value;
use core::cell::Cell;
use core::mem::size_of;

/// Number of size classes of the array part, by powers of two.
const ABITS: usize = 28;
/// The largest integer key that counts for the size of the array part.
const MAX_ASIZE: u32 = (1 << (ABITS - 1)) + 1;

/// Hash bits for `n` entries.
pub fn hbits_for(n: u32) -> u32 {
    match n {
        0 => 0,
        1 => 1,
        n => 32 - (n - 1).leading_zeros(),
    }
}

/// Counts integer keys by powers of two, to size the array part.
#[derive(Default)]
pub(crate) struct Bins([u32; ABITS]);

impl Bins {
    /// Counts `key` if it may go to the array part.
    pub(crate) fn count(&mut self, key: Value) -> u32 {
        match key.as_int() {
            Some(i) if (i as u32) < MAX_ASIZE => {
                self.0[if i > 2 { (i - 1).ilog2() as usize } else { 0 }] += 1;
                1
            }
            _ => 0,
        }
    }
    /// Counts an array part; returns how many entries it has.
    fn count_array(&mut self, a: &[Cell<Value>]) -> u32 {
        let mut all = 0;
        let mut i = 0;
        for b in 0..ABITS {
            let end = ((2usize << b) + 1).min(a.len());
            if i >= end {
                break;
            }
            let n = a[i..end].iter().filter(|v| !v.get().is_nil()).count() as u32;
            i = end;
            self.0[b] += n;
            all += n;
        }
        all
    }
    /// The size of an array part that is more than half full, given the number of integer keys; and how many keys it holds.
    pub(crate) fn best(&self, keys: u32) -> (u32, u32) {
        let (mut sum, mut size, mut held) = (0, 0, 0);
        for b in 0..ABITS {
            if 2 * u64::from(keys) <= 1 << b || sum == keys {
                break;
            }
            if self.0[b] > 0 {
                sum += self.0[b];
                if 2 * u64::from(sum) > 1 << b {
                    size = (2 << b) + 1;
                    held = sum;
                }
            }
        }
        (size, held)
    }
}

impl Table {
    /// The size of an array part that has each key of this one and one more: the result of [`Bins`] if there are no other integer keys.
    fn asize_for_next(&self, key: Value) -> Option<u32> {
        let (i, asize) = (key.as_int()? as u32, self.asize());
        if asize == 0 {
            return (i == 1).then_some(3);
        }
        let last = asize - 1;
        let follows = i == asize && last.is_power_of_two() && i < MAX_ASIZE;
        (follows && self.array_part()[1..].iter().all(|v| !v.get().is_nil())).then_some(2 * last + 1)
    }
}

impl Heap {
    /// Changes the sizes of both parts. Entries for which the array part has no room move to the hash part, which grows if needed. This is
    /// not a store: the entries stay the same.
    pub fn table_resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32) {
        self.entries_moved(t);
        let (old_asize, old_node, old_nodes) = (t.asize(), t.node.get(), t.num_nodes());
        if asize > old_asize {
            self.grow_array(t, asize);
        }
        if hbits == 0 {
            t.node.set(self.empty_node);
            t.hmask.set(0);
            t.free.set(0);
            t.shape.set(ShapeId::of_empty(0));
        } else {
            let node = self.alloc_raw(size_of::<Node>() << hbits).cast();
            // SAFETY: just allocated.
            unsafe { t.install_nodes(node, hbits) };
        }
        if asize < old_asize {
            self.shrink_array(t, asize);
        }
        // SAFETY: the old hash part, which the table does not refer to any more.
        let nodes = unsafe { core::slice::from_raw_parts(old_node, old_nodes as usize) };
        for n in nodes {
            if !n.val.get().is_nil() {
                self.table_move(t, n.key.get(), n.val.get());
            }
        }
        if old_nodes != 0 && !t.is_inline(old_node) {
            // SAFETY: as above; it has exactly this size.
            unsafe { self.free_raw(old_node.cast(), old_nodes as usize * size_of::<Node>()) }
        }
    }
    fn grow_array(&mut self, t: Gc<Table>, asize: u32) {
        let (old, old_size) = (t.array.get(), t.asize() as usize);
        let bytes = asize as usize * 8;
        // SAFETY: a separate array part has exactly the old size; an inline one is copied. The new part has `asize` slots, of which those
        // after the old ones are initialised here.
        unsafe {
            let new = if old_size != 0 && t.is_inline(old) {
                let new = self.alloc_raw(bytes).cast::<Value>();
                new.copy_from_nonoverlapping(old, old_size);
                new
            } else {
                self.realloc_raw(old.cast(), old_size * 8, bytes).cast()
            };
            for i in old_size..asize as usize {
                new.add(i).write(Value::NIL);
            }
            t.array.set(new);
        }
        t.hdr.word.set(asize);
    }
    fn shrink_array(&mut self, t: Gc<Table>, asize: u32) {
        let (old, old_size) = (t.array.get(), t.asize() as usize);
        let inside = t.is_inline(old);
        if !inside {
            let kept = asize as usize;
            let new = if kept == 0 { core::ptr::null_mut() } else { self.alloc_raw(kept * 8).cast::<Value>() };
            // SAFETY: both parts have at least `kept` slots.
            unsafe { new.copy_from_nonoverlapping(old, kept) };
            t.array.set(new);
        }
        t.hdr.word.set(asize);
        for i in asize as usize..old_size {
            // SAFETY: a slot of the old array part, whose memory is still there.
            let v = unsafe { *old.add(i) };
            if !v.is_nil() {
                self.table_move(t, Value::int(i as i32), v);
            }
        }
        if !inside {
            // SAFETY: no longer the table's; it has the old size.
            unsafe { self.free_raw(old.cast(), old_size * 8) }
        }
    }
    /// The slot of a normalised key that the table lacks.
    #[inline]
    fn slot_of_new(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        match key.as_int() {
            Some(i) if (i as u32) < t.asize() => t.array.get().wrapping_add(i as u32 as usize),
            _ => self.table_insert(t, key),
        }
    }
    /// Stores an entry that was in another part of the table: the key is normalised, and the table lacks it.
    #[inline]
    fn table_move(&mut self, t: Gc<Table>, key: Value, v: Value) {
        debug_assert!(t.get(key).is_nil());
        let slot = self.slot_of_new(t, key);
        // SAFETY: a slot just found or made.
        unsafe { *slot = v }
    }
    /// Resizes a full table for one more key, and inserts it.
    #[cold]
    #[inline(never)]
    pub(super) fn rehash_for(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        let used = |n: &&Node| !n.val.get().is_nil();
        // Are all keys of the hash part strings?
        let strings = t.shape.get().is_some();
        if strings && let Some(asize) = t.asize_for_next(key) {
            self.entries_moved(t);
            self.grow_array(t, asize);
            return self.slot_of_new(t, key);
        }
        let (asize, others) = if strings && key.is_str() && t.asize() == 0 {
            (0, 1 + t.nodes().iter().filter(used).count() as u32)
        } else {
            let mut bins = Bins::default();
            let mut ints = bins.count_array(t.array_part());
            let mut total = 1 + ints;
            for n in t.nodes().iter().filter(used) {
                ints += bins.count(n.key.get());
                total += 1;
            }
            ints += bins.count(key);
            let (asize, held) = bins.best(ints);
            (asize, total - held)
        };
        let hbits = hbits_for(others);
        // The size of two nodes is skipped: a record that is built key by key, with three keys or more, is then rehashed once or twice
        // less, at the cost of 48 bytes for a table that keeps one key or two.
        self.table_resize(t, asize, if hbits == 1 { 2 } else { hbits });
        self.slot_of_new(t, key)
    }
}

impl Vm {
    /// Changes the sizes of both parts.
    pub fn table_resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32) {
        self.heap.table_resize(t, asize, hbits);
    }
    /// Makes the array part hold at least the keys `0 .. asize`; entries of the hash part with such keys move.
    pub fn table_reserve_array(&mut self, t: Gc<Table>, asize: u32) {
        if asize > t.asize() {
            let n = t.num_nodes();
            self.heap.table_resize(t, asize, if n == 0 { 0 } else { n.ilog2() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bins;
    use crate::gc::tests::{Rng, scale, vm};
    use crate::value::Value;

    #[test]
    fn appending_gives_the_same_array_size_as_counting() {
        let mut rng = Rng(0x5eed);
        let mut vm = vm();
        let mut grown = 0;
        for _ in 0..scale(4000) {
            let t = vm.new_table(rng.below(36), rng.below(3));
            for i in rng.below(2)..t.asize() {
                if rng.below(200) != 0 {
                    vm.table_set_int(t, i as i32, Value::TRUE);
                }
            }
            let key = Value::int(if t.asize() == 0 { 1 } else { t.asize() } as i32);
            let Some(asize) = t.asize_for_next(key) else { continue };
            let mut bins = Bins::default();
            let ints = bins.count_array(t.array_part()) + bins.count(key);
            assert_eq!(bins.best(ints), (asize, ints));
            grown += 1;
        }
        assert!(grown > 0);
    }
}
