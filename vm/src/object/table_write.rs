//! Tables: creation, stores, growth. See `table` for the layout and the contract.

use super::table::{Node, Table, hash_key, normalize};
use super::{Gc, Kind, ShapeId, Str};
use crate::Vm;
use crate::error::LuaResult;
use crate::gc::{BLOCK_SIZE, Heap};
use crate::value::Value;
use core::cell::Cell;
use core::mem::size_of;

/// Array parts up to this size are put into the table's cell.
const INLINE_SLOTS: u32 = 17;
/// Hash parts up to this many bits are put into the table's cell.
const INLINE_HBITS: u32 = 3;
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

impl Table {
    /// Is this part in the table's own cell? Parts made apart are never in a block of objects.
    #[inline(always)]
    fn is_inline<T>(&self, part: *mut T) -> bool {
        (part as usize ^ core::ptr::from_ref(self) as usize) < BLOCK_SIZE
    }
    /// Frees the parts. Only the table's own cell may be left to free after this.
    pub(crate) fn free_parts(&self, heap: &mut Heap) {
        self.free_array(heap);
        self.free_nodes(heap);
    }
    /// Bytes of the parts that are not in the table's own cell.
    pub(crate) fn owned_bytes(&self) -> usize {
        let array = if self.asize() == 0 || self.is_inline(self.array.get()) { 0 } else { self.asize() as usize * 8 };
        let nodes = if self.hmask.get() == 0 || self.is_inline(self.node.get()) {
            0
        } else {
            self.num_nodes() as usize * size_of::<Node>()
        };
        [array, nodes].into_iter().filter(|n| *n != 0).map(crate::gc::raw::real_size).sum()
    }
    fn free_array(&self, heap: &mut Heap) {
        if self.asize() != 0 && !self.is_inline(self.array.get()) {
            // SAFETY: an array part apart has exactly this size; nobody keeps slots.
            unsafe { heap.free_raw(self.array.get().cast(), self.asize() as usize * 8) }
        }
    }
    fn free_nodes(&self, heap: &mut Heap) {
        if self.hmask.get() != 0 && !self.is_inline(self.node.get()) {
            // SAFETY: a hash part apart has exactly this size; nobody keeps nodes.
            unsafe { heap.free_raw(self.node.get().cast(), self.num_nodes() as usize * size_of::<Node>()) }
        }
    }
    /// Installs `1 << hbits` nodes at `node` as an empty hash part.
    ///
    /// # Safety
    /// The memory is the table's.
    #[inline]
    unsafe fn install_nodes(&self, node: *mut Node, hbits: u32) {
        let n = 1usize << hbits;
        for i in 0..n {
            // SAFETY: by the contract.
            unsafe { node.add(i).write(Node::empty()) };
        }
        self.node.set(node);
        self.hmask.set(n as u32 - 1);
        self.free.set(n as u32);
        self.shape.set(ShapeId::of_empty(hbits));
    }
    /// Removes all entries, keeping the memory.
    pub fn clear(&self) {
        for slot in self.array_part() {
            slot.set(Value::NIL);
        }
        for n in self.nodes() {
            n.val.set(Value::NIL);
            n.key.set(Value::NIL);
            n.next.set(core::ptr::null_mut());
        }
        let n = self.num_nodes();
        self.free.set(n);
        self.shape.set(ShapeId::of_empty(if n == 0 { 0 } else { n.ilog2() }));
    }
    /// Inserts a key that the table lacks into the hash part; `None` when it is full.
    fn insert(&self, key: Value) -> Option<*mut Value> {
        if self.hmask.get() == 0 {
            return None;
        }
        let main = self.main_node(hash_key(key));
        if main.val.get().is_nil() {
            // Free, or a removed entry (of any chain, which goes on through this node).
            main.key.set(key);
            return Some(main.val.as_ptr());
        }
        let free = self.take_free()?;
        let collide = self.main_node(hash_key(main.key.get()));
        if core::ptr::eq(collide, main) {
            // The main node is at home: the new key goes behind it.
            free.next.set(main.next.get());
            main.next.set(core::ptr::from_ref(free).cast_mut());
            free.key.set(key);
            return Some(free.val.as_ptr());
        }
        // The occupant belongs to another chain: it moves.
        let mut pred = collide;
        while !core::ptr::eq(pred.next.get(), main) {
            // SAFETY: the chain of the occupant's main position leads to it.
            pred = unsafe { &*pred.next.get() };
        }
        pred.next.set(core::ptr::from_ref(free).cast_mut());
        free.val.set(main.val.get());
        free.key.set(main.key.get());
        free.next.set(main.next.get());
        main.next.set(core::ptr::null_mut());
        main.val.set(Value::NIL);
        main.key.set(key);
        Some(main.val.as_ptr())
    }
    fn take_free(&self) -> Option<&Node> {
        let nodes = &self.nodes()[..self.free.get() as usize];
        let found = nodes.iter().rposition(|n| n.key.get().is_nil());
        self.free.set(found.unwrap_or(0) as u32);
        found.map(|i| &nodes[i])
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

impl Heap {
    /// A new table with room for keys `0 .. asize` in the array part and `1 << hbits` nodes (none if `hbits` is 0).
    #[inline]
    pub fn new_table(&mut self, asize: u32, hbits: u32) -> Gc<Table> {
        if asize == 0 && hbits == 0 {
            return self.new_table_cell(size_of::<Table>());
        }
        self.new_table_sized(asize, hbits)
    }
    #[inline(always)]
    fn new_table_cell(&mut self, size: usize) -> Gc<Table> {
        let hdr = self.header(Kind::Table, 0, 0, 0);
        self.counts.tables += 1;
        let t = self.alloc_cell(size).cast::<Table>();
        // SAFETY: a new cell of at least this size.
        unsafe {
            t.write(Table {
                hdr,
                array: Cell::new(core::ptr::null_mut()),
                meta: Cell::new(None),
                node: Cell::new(self.empty_node),
                hmask: Cell::new(0),
                border: Cell::new(0),
                free: Cell::new(0),
                shape: Cell::new(ShapeId::of_empty(0)),
            });
        }
        Gc::from_ptr(t)
    }
    fn new_table_sized(&mut self, asize: u32, hbits: u32) -> Gc<Table> {
        let (t, node, array) = self.new_table_with_room(asize, if hbits == 0 { 0 } else { 1 << hbits });
        if hbits != 0 {
            // SAFETY: there is room for so many nodes.
            unsafe { t.install_nodes(node, hbits) };
        }
        for i in 0..asize as usize {
            // SAFETY: there is room for `asize` values.
            unsafe { array.add(i).write(Value::NIL) };
        }
        t
    }
    /// A new table without a hash part; and room for `nodes` nodes, and for `asize` values, which are its array part already. The caller
    /// initialises them; a part of size 0 has no room.
    #[inline]
    fn new_table_with_room(&mut self, asize: u32, nodes: u32) -> (Gc<Table>, *mut Node, *mut Value) {
        let (inline_array, inline_nodes) = (asize <= INLINE_SLOTS, nodes <= 1 << INLINE_HBITS);
        let (array_bytes, node_bytes) = (asize as usize * 8, nodes as usize * size_of::<Node>());
        let nodes_inside = if inline_nodes { node_bytes } else { 0 };
        let array_inside = if inline_array { array_bytes } else { 0 };
        let t = self.new_table_cell(size_of::<Table>() + nodes_inside + array_inside);
        let end = t.as_ptr().wrapping_add(1).cast::<u8>();
        let node = if inline_nodes { end } else { self.alloc_raw(node_bytes) };
        let array = if inline_array { end.wrapping_add(nodes_inside) } else { self.alloc_raw(array_bytes) };
        if asize != 0 {
            t.array.set(array.cast());
            t.hdr.word.set(asize);
        }
        (t, node.cast(), array.cast())
    }
    /// A copy of a template table: no metatable.
    pub fn dup_table(&mut self, template: Gc<Table>) -> Gc<Table> {
        let (asize, n) = (template.asize(), template.num_nodes());
        let (t, node, array) = self.new_table_with_room(asize, n);
        if n != 0 {
            // SAFETY: there is room for `n` nodes, which the template has.
            unsafe { node.copy_from_nonoverlapping(template.node.get(), n as usize) };
            t.node.set(node);
            t.hmask.set(template.hmask.get());
            t.free.set(template.free.get());
            t.shape.set(template.shape.get());
            let distance = (node as usize).wrapping_sub(template.node.get() as usize);
            for n in t.nodes() {
                let next = n.next.get();
                if !next.is_null() {
                    n.next.set(node.with_addr(next.addr().wrapping_add(distance)));
                }
            }
        }
        if asize != 0 {
            // SAFETY: there is room for `asize` values, which the template has.
            unsafe { array.copy_from_nonoverlapping(template.array.get(), asize as usize) };
        }
        t
    }
    /// Changes the sizes of both parts. Entries that the array part has no room for go to the hash part, which grows if need be.
    /// Not a store: the entries stay what they are.
    pub fn table_resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32) {
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
                self.table_put(t, n.key.get(), n.val.get());
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
        // SAFETY: an array part apart has exactly the old size; an inline one is copied. The new part has `asize` slots, of which
        // those behind the old ones are initialised here.
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
                self.table_put(t, Value::int(i as i32), v);
            }
        }
        if !inside {
            // SAFETY: no longer the table's; it has the old size.
            unsafe { self.free_raw(old.cast(), old_size * 8) }
        }
    }
    /// Stores under a key, neither nil nor NaN, without a barrier.
    pub(crate) fn table_put(&mut self, t: Gc<Table>, key: Value, v: Value) {
        let slot = match t.find(key) {
            Some(slot) => slot,
            None => self.table_insert(t, normalize(key)),
        };
        // SAFETY: a slot just found.
        unsafe { *slot = v }
    }
    /// Inserts a normalised key that the table lacks, growing it if it is full.
    fn table_insert(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        match t.insert(key) {
            Some(slot) => {
                t.shape.set(self.shapes.after(&t, t.shape.get(), key, slot));
                slot
            }
            None => self.rehash_for(t, key),
        }
    }
    /// Resizes a full table for one more key, and inserts it.
    #[cold]
    #[inline(never)]
    fn rehash_for(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        let mut bins = Bins::default();
        let mut ints = bins.count_array(t.array_part());
        let mut total = 1 + ints;
        for n in t.nodes() {
            if !n.val.get().is_nil() {
                ints += bins.count(n.key.get());
                total += 1;
            }
        }
        ints += bins.count(key);
        let (asize, held) = bins.best(ints);
        let hbits = hbits_for(total - held);
        // Two nodes are skipped: a record that is made key by key, of three keys or more, is then rehashed once or twice less, at the cost of 48 bytes
        // for a table that keeps one key or two.
        self.table_resize(t, asize, if hbits == 1 { 2 } else { hbits });
        match t.find(key) {
            Some(slot) => slot,
            None => self.table_insert(t, key),
        }
    }
}

impl Vm {
    /// A new table with room for keys `0 .. asize` in the array part and `1 << hbits` nodes (none if `hbits` is 0).
    #[inline]
    pub fn new_table(&mut self, asize: u32, hbits: u32) -> Gc<Table> {
        self.heap.new_table(asize, hbits)
    }
    /// A copy of a template table.
    #[inline]
    pub fn dup_table(&mut self, template: Gc<Table>) -> Gc<Table> {
        self.heap.dup_table(template)
    }
    /// Changes the sizes of both parts.
    pub fn table_resize(&mut self, t: Gc<Table>, asize: u32, hbits: u32) {
        self.heap.table_resize(t, asize, hbits);
    }
    /// Makes the array part hold at least the keys `0 .. asize`; what the hash part has of them moves.
    pub fn table_reserve_array(&mut self, t: Gc<Table>, asize: u32) {
        if asize > t.asize() {
            let n = t.num_nodes();
            self.heap.table_resize(t, asize, if n == 0 { 0 } else { n.ilog2() });
        }
    }
    /// Stores `n` values at indices from `first` on, the values being in a row on the stack.
    pub(crate) fn table_set_list(&mut self, t: Gc<Table>, first: i32, values: *const Value, n: i32) {
        if n > 0 && (first + n) as u32 > t.asize() {
            // One slot more than needed: which of several borders `#` finds depends on the size.
            self.table_reserve_array(t, (first + n) as u32 + 1);
        }
        for i in 0..n {
            // SAFETY: the caller's values; the stack does not move meanwhile.
            let v = unsafe { *values.add(i as usize) };
            self.table_set_int(t, first + i, v);
        }
    }
    /// Removes all entries of a table, keeping its memory.
    pub fn table_clear(&mut self, t: Gc<Table>) {
        self.stores_everywhere(t);
        t.clear();
    }
    /// Inserts a key that the table lacks (neither nil nor NaN) and returns its slot. The value is to be stored before anything
    /// else happens to the table; the barrier is done.
    #[inline]
    pub fn table_new_key(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        self.heap.check_live(key);
        self.barrier_back(t);
        t.hdr.b0.set(0);
        self.heap.table_insert(t, normalize(key))
    }
    /// `t[k] = v`, raw. Fails if the key is nil or NaN.
    #[inline]
    pub fn table_set(&mut self, t: Gc<Table>, key: Value, v: Value) -> LuaResult<()> {
        if let Some(s) = key.as_str() {
            self.table_set_str(t, s, v);
        } else if let Some(i) = key.as_index() {
            self.table_set_int(t, i, v);
        } else if key.is_nil() {
            return Err(self.operation_error("table index is nil"));
        } else if key.is_num() && key.as_num_unchecked().is_nan() {
            return Err(self.operation_error("table index is NaN"));
        } else {
            let slot = t.find(key);
            self.store(t, slot, key, v);
        }
        Ok(())
    }
    /// `t[k] = v`, raw, for a string key.
    #[inline]
    pub fn table_set_str(&mut self, t: Gc<Table>, key: Gc<Str>, v: Value) {
        t.hdr.b0.set(0);
        let slot = t.find_str(key);
        self.store(t, slot, Value::str(key), v);
    }
    /// `t[k] = v`, raw, for an integer key.
    #[inline]
    pub fn table_set_int(&mut self, t: Gc<Table>, key: i32, v: Value) {
        let slot = t.find_int(key);
        self.store(t, slot, Value::int(key), v);
    }
    #[inline(always)]
    fn store(&mut self, t: Gc<Table>, slot: Option<*mut Value>, key: Value, v: Value) {
        self.heap.check_live(v);
        self.barrier_back(t);
        let slot = match slot {
            Some(slot) => slot,
            None if v.is_nil() => return,
            None => self.heap.table_insert(t, key),
        };
        // SAFETY: a slot of the table just found or made.
        unsafe { *slot = v }
        if let Some(s) = key.as_str() {
            self.stored_to(t, s);
        }
    }
    /// Sets or removes the metatable of a table.
    pub fn set_table_meta(&mut self, t: Gc<Table>, meta: Option<Gc<Table>>) {
        t.meta.set(meta);
        self.barrier_back(t);
        self.meta_stored_to(t);
    }
}
