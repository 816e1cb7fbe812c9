//! Tables: the sizes of their parts, and growth. See `table` for the layout and the contract.
#![allow(
    unsafe_code,
    reason = "parts of a table are copied or freed with the size that they were allocated with, before the table refers to the new ones"
)]

use super::table::{Node, Table};
use super::{Gc, ShapeId};
use crate::Vm;
use crate::gc::Heap;
use crate::interrupt::{Interrupted, Poll};
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
    #[inline(always)]
    fn count_array(&mut self, a: &[Cell<Value>], poll: Poll<'_>) -> Result<u32, Interrupted> {
        let mut all = 0;
        let mut i = 0;
        for b in 0..ABITS {
            let end = ((2usize << b) + 1).min(a.len());
            if i >= end {
                break;
            }
            let slots = &a[i..end];
            poll.in_parts(slots.len(), Poll::SLOTS, |part| {
                let n = slots[part].iter().filter(|v| !v.get().is_nil()).count() as u32;
                self.0[b] += n;
                all += n;
            })?;
            i = end;
        }
        Ok(all)
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

/// Where array and hash part of a table are, with their sizes.
#[derive(Copy, Clone)]
struct Parts {
    array: *mut Value,
    asize: u32,
    node: *mut Node,
    hmask: u32,
    free: u32,
    shape: ShapeId,
}

impl Table {
    fn parts(&self) -> Parts {
        Parts {
            array: self.array.get(),
            asize: self.asize(),
            node: self.node.get(),
            hmask: self.hmask.get(),
            free: self.free.get(),
            shape: self.shape.get(),
        }
    }
    /// Is it so large that it is resized in parts?
    fn is_resized_in_parts(&self) -> bool {
        (self.asize() + self.num_nodes()) as usize > Poll::ENTRIES
    }
    /// The size of an array part that has each key of this one and one more: the result of [`Bins`] if there are no other integer keys.
    #[inline(always)]
    fn asize_for_next(&self, key: Value, poll: Poll<'_>) -> Result<Option<u32>, Interrupted> {
        let Some(i) = key.as_int() else { return Ok(None) };
        let (i, asize) = (i as u32, self.asize());
        if asize == 0 {
            return Ok((i == 1).then_some(3));
        }
        let last = asize - 1;
        if i != asize || !last.is_power_of_two() || i >= MAX_ASIZE {
            return Ok(None);
        }
        let (slots, mut full) = (&self.array_part()[1..], true);
        poll.in_parts(slots.len(), Poll::SLOTS, |part| {
            full &= slots[part].iter().fold(true, |full, v| full & !v.get().is_nil())
        })?;
        Ok(full.then_some(2 * last + 1))
    }
}

impl Heap {
    /// Changes the sizes of both parts. Entries for which the array part has no room move to the hash part, which grows if needed. This is
    /// not a store: the entries stay the same.
    pub fn table_resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32) {
        let done = self.resize(t, asize, hbits, Poll::Never);
        debug_assert!(done.is_ok());
    }
    /// The same; where it is interrupted, the table has its old parts.
    #[inline(always)]
    fn resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32, poll: Poll<'_>) -> Result<(), Interrupted> {
        self.entries_moved(t);
        let old = t.parts();
        if self.move_to_new_parts(t, asize, hbits, old, poll).is_err() {
            self.take_old_parts(t, old);
            return Err(Interrupted);
        }
        if asize < old.asize && !t.is_inline(old.array) {
            // SAFETY: no longer the table's; it has the old size.
            unsafe { self.free_raw(old.array.cast(), old.asize as usize * 8) }
        }
        if old.hmask != 0 && !t.is_inline(old.node) {
            // SAFETY: as above.
            unsafe { self.free_raw(old.node.cast(), (old.hmask as usize + 1) * size_of::<Node>()) }
        }
        Ok(())
    }
    /// Gives a table parts of these sizes, with its entries. Where it is interrupted, they have only some of the entries. The old hash part
    /// stays as it is, and the old array part is either the beginning of the new one, or longer and stays as it is.
    #[inline(always)]
    fn move_to_new_parts(&mut self, t: Gc<Table>, asize: u32, hbits: u32, old: Parts, poll: Poll<'_>) -> Result<(), Interrupted> {
        if asize > old.asize {
            self.grow_array(t, asize, poll)?;
        }
        if hbits == 0 {
            self.install_no_nodes(t);
        } else {
            let node = self.alloc_raw(size_of::<Node>() << hbits).cast();
            // SAFETY: just allocated.
            unsafe { t.install_nodes(node, hbits, poll)? };
        }
        if asize < old.asize {
            self.shrink_array(t, asize, poll)?;
        }
        // SAFETY: the old hash part, which the table does not refer to any more.
        let nodes = unsafe { core::slice::from_raw_parts(old.node, if old.hmask == 0 { 0 } else { old.hmask as usize + 1 }) };
        poll.in_parts(nodes.len(), Poll::ENTRIES, |part| {
            for n in &nodes[part] {
                if !n.val.get().is_nil() {
                    self.table_move(t, n.key.get(), n.val.get());
                }
            }
        })
    }
    /// Undoes an interrupted [`Heap::move_to_new_parts`].
    #[cold]
    fn take_old_parts(&mut self, t: Gc<Table>, old: Parts) {
        let new = t.parts();
        if new.node != old.node && new.hmask != 0 {
            // SAFETY: allocated for the table with this size; nobody else knows it.
            unsafe { self.free_raw(new.node.cast(), (new.hmask as usize + 1) * size_of::<Node>()) }
        }
        t.node.set(old.node);
        t.hmask.set(old.hmask);
        t.free.set(old.free);
        t.shape.set(old.shape);
        if new.asize == old.asize {
            return;
        }
        let (new_bytes, old_bytes) = (new.asize as usize * 8, old.asize as usize * 8);
        t.array.set(old.array);
        t.hdr.word.set(old.asize);
        // SAFETY: a new array part apart was allocated for the table with its size. One that has grown, and did not lie in the table's cell,
        // is what has become of the old one.
        unsafe {
            if new.asize > old.asize && old.asize != 0 && !t.is_inline(old.array) {
                t.array.set(self.realloc_raw(new.array.cast(), new_bytes, old_bytes).cast());
            } else if new.asize != 0 && !t.is_inline(new.array) {
                self.free_raw(new.array.cast(), new_bytes);
            }
        }
    }
    /// Makes the array part larger. Where it is interrupted, some of the new slots are not initialised.
    #[inline(always)]
    fn grow_array(&mut self, t: Gc<Table>, asize: u32, poll: Poll<'_>) -> Result<(), Interrupted> {
        let (old, old_size) = (t.array.get(), t.asize() as usize);
        let bytes = asize as usize * 8;
        // SAFETY: a separate array part has exactly the old size; an inline one is copied.
        let new = unsafe {
            if old_size != 0 && t.is_inline(old) {
                let new = self.alloc_raw(bytes).cast::<Value>();
                new.copy_from_nonoverlapping(old, old_size);
                new
            } else {
                self.realloc_raw(old.cast(), old_size * 8, bytes).cast()
            }
        };
        t.array.set(new);
        t.hdr.word.set(asize);
        // SAFETY: the new part has `asize` slots.
        unsafe { fill_with_nil(new.add(old_size), asize as usize - old_size, poll) }
    }
    /// Makes the array part smaller; the old one is not freed.
    fn shrink_array(&mut self, t: Gc<Table>, asize: u32, poll: Poll<'_>) -> Result<(), Interrupted> {
        let (old, old_size) = (t.array.get(), t.asize() as usize);
        if !t.is_inline(old) {
            let kept = asize as usize;
            let new = if kept == 0 { core::ptr::null_mut() } else { self.alloc_raw(kept * 8).cast::<Value>() };
            t.array.set(new);
            t.hdr.word.set(asize);
            // SAFETY: both parts have at least `kept` slots.
            poll.in_parts(kept, Poll::SLOTS, |part| unsafe {
                new.add(part.start).copy_from_nonoverlapping(old.add(part.start), part.len());
            })?;
        }
        t.hdr.word.set(asize);
        let first = asize as usize;
        poll.in_parts(old_size - first, Poll::ENTRIES, |part| {
            for i in first + part.start..first + part.end {
                // SAFETY: a slot of the old array part, whose memory is still there.
                let v = unsafe { *old.add(i) };
                if !v.is_nil() {
                    self.table_move(t, Value::int(i as i32), v);
                }
            }
        })
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
    /// Resizes a full table for one more key, and inserts it. Where it is interrupted, nothing has changed.
    #[cold]
    #[inline(never)]
    pub(super) fn rehash_for(&mut self, t: Gc<Table>, key: Value, poll: Poll<'_>) -> Result<*mut Value, Interrupted> {
        // The resizing of a smaller table is not interrupted, and its code does not look for that.
        if t.is_resized_in_parts() { self.rehash_in_parts(t, key, poll) } else { self.rehash(t, key, Poll::Never) }
    }
    #[cold]
    #[inline(never)]
    fn rehash_in_parts(&mut self, t: Gc<Table>, key: Value, poll: Poll<'_>) -> Result<*mut Value, Interrupted> {
        self.rehash(t, key, poll)
    }
    #[inline(always)]
    fn rehash(&mut self, t: Gc<Table>, key: Value, poll: Poll<'_>) -> Result<*mut Value, Interrupted> {
        // Are all keys of the hash part strings?
        let strings = t.shape.get().is_some();
        if strings && let Some(asize) = t.asize_for_next(key, poll)? {
            self.entries_moved(t);
            let old = t.parts();
            if self.grow_array(t, asize, poll).is_err() {
                self.take_old_parts(t, old);
                return Err(Interrupted);
            }
            return Ok(self.slot_of_new(t, key));
        }
        let only_strings = strings && key.is_str() && t.asize() == 0;
        let (asize, others) = if only_strings { (0, 1 + t.count_nodes()) } else { t.sizes_for(key, poll)? };
        let hbits = hbits_for(others);
        // The size of two nodes is skipped: a record that is built key by key, with three keys or more, is then rehashed once or twice
        // less, at the cost of 48 bytes for a table that keeps one key or two.
        self.resize(t, asize, if hbits == 1 { 2 } else { hbits }, poll)?;
        Ok(self.slot_of_new(t, key))
    }
}

impl Table {
    /// Number of entries in the hash part.
    fn count_nodes(&self) -> u32 {
        self.nodes().iter().filter(|n| !n.val.get().is_nil()).count() as u32
    }
    /// The size of the array part for the entries of this table and one more key, and how many of them it does not hold.
    #[inline(always)]
    fn sizes_for(&self, key: Value, poll: Poll<'_>) -> Result<(u32, u32), Interrupted> {
        let mut bins = Bins::default();
        let mut ints = bins.count_array(self.array_part(), poll)?;
        let mut total = 1 + ints;
        let nodes = self.nodes();
        poll.in_parts(nodes.len(), Poll::SLOTS / 4, |part| {
            for n in nodes[part].iter().filter(|n| !n.val.get().is_nil()) {
                ints += bins.count(n.key.get());
                total += 1;
            }
        })?;
        ints += bins.count(key);
        let (asize, held) = bins.best(ints);
        Ok((asize, total - held))
    }
}

/// Initialises the slots of an array part, in parts.
///
/// # Safety
/// `slots` is the address of `n` values.
#[inline(always)]
pub(super) unsafe fn fill_with_nil(slots: *mut Value, n: usize, poll: Poll<'_>) -> Result<(), Interrupted> {
    poll.in_parts(n, Poll::SLOTS, |part| {
        for i in part {
            // SAFETY: by the contract.
            unsafe { slots.add(i).write(Value::NIL) };
        }
    })
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
    use super::{Bins, Gc, Table};
    use crate::Vm;
    use crate::gc::tests::{Rng, scale, vm};
    use crate::interrupt::{Interrupted, Poll};
    use crate::value::Value;
    use core::cell::Cell;

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
            let Ok(Some(asize)) = t.asize_for_next(key, Poll::Never) else { continue };
            let mut bins = Bins::default();
            let ints = bins.count_array(t.array_part(), Poll::Never).unwrap() + bins.count(key);
            assert_eq!(bins.best(ints), (asize, ints));
            grown += 1;
        }
        assert!(grown > 0);
    }

    /// All entries in order, the sizes of both parts, and the bytes in use.
    fn contents(vm: &Vm, t: Gc<Table>) -> (Vec<(Value, Value)>, u32, u32, usize) {
        let mut entries = Vec::new();
        let mut next = 0;
        while let Some((i, k, v)) = t.next_index(next) {
            entries.push((k, v));
            next = i;
        }
        (entries, t.asize(), t.num_nodes(), vm.heap.total)
    }
    /// Inserts a key that makes the table grow, interrupted at each look in turn; returns how often.
    fn insert_interrupted(vm: &mut Vm, t: Gc<Table>, key: Value) -> u32 {
        let before = contents(vm, t);
        for n in 0.. {
            let left = Cell::new(n);
            match vm.heap.rehash_for(t, key, Poll::After(&left)) {
                Err(Interrupted) => assert_eq!(contents(vm, t), before, "interrupted at look {n}"),
                Ok(slot) => {
                    // SAFETY: just made.
                    unsafe { *slot = Value::TRUE };
                    let (entries, ..) = contents(vm, t);
                    assert_eq!(entries.len(), before.0.len() + 1);
                    assert!(before.0.iter().all(|(k, v)| t.get(*k) == *v) && t.get(key) == Value::TRUE);
                    return n;
                }
            }
        }
        unreachable!()
    }
    #[test]
    fn an_interrupted_table_is_as_before() {
        let mut vm = vm();
        let size: usize = 1 << if cfg!(miri) { 8 } else { 13 };
        // An array that is appended to, in the table's cell and apart.
        for n in [4, size] {
            let t = vm.new_table(0, 0);
            (1..=n as i32).for_each(|i| vm.table_set_int(t, i, Value::int(i)));
            assert_eq!(t.asize() as usize, n + 1);
            let looks = insert_interrupted(&mut vm, t, Value::int(n as i32 + 1));
            assert!(looks >= n as u32 / 512, "{looks}");
        }
        // A hash part of numbers; the same with integers, which go to the array part.
        for key in [|i| Value::num(f64::from(i) + 0.5), |i| Value::int(i + 1)] {
            let t = vm.new_table(0, size.ilog2());
            (0..size as i32).for_each(|i| {
                let slot = vm.table_new_key(t, key(i));
                // SAFETY: just made.
                unsafe { *slot = Value::int(i) };
            });
            assert_eq!(t.asize(), 0);
            let looks = insert_interrupted(&mut vm, t, key(size as i32));
            assert!(looks >= size as u32 / 128, "{looks}");
        }
        // An array part that has become almost empty, and shrinks.
        let t = vm.new_table(size as u32, 1);
        (1..20).for_each(|i| vm.table_set_int(t, i * size as i32 / 20, Value::TRUE));
        (0..2).for_each(|i| vm.table_set(t, Value::num(f64::from(i) + 0.5), Value::TRUE).unwrap());
        let looks = insert_interrupted(&mut vm, t, Value::num(9.5));
        assert!(looks >= size as u32 / 512 && t.asize() < size as u32, "{looks}");
        vm.verify_heap();
    }
    #[test]
    fn an_interrupted_new_table_is_empty() {
        let mut vm = vm();
        let size = 1_u32 << if cfg!(miri) { 8 } else { 13 };
        for (asize, hbits) in [(size, 0), (0, size.ilog2()), (size, size.ilog2())] {
            let before = vm.heap.total;
            vm.interrupts.flag.set(crate::interrupt::Cause::Host);
            assert!(vm.try_new_table(asize, hbits).is_err());
            vm.forget_interrupt();
            assert!(vm.heap.total - before < 4096);
            let t = vm.try_new_table(asize, hbits).unwrap();
            assert_eq!((t.asize(), t.num_nodes()), (asize, if hbits == 0 { 0 } else { 1 << hbits }));
        }
        vm.verify_heap();
    }
}
