//! Tables: creation and stores. See `table` for the layout and the contract.
#![allow(
    unsafe_code,
    reason = "`array` and `node` point to as many slots as `asize` and `hmask` say; a slot is valid until the next insertion"
)]

use super::table::{Node, Table, hash_key, normalize};
use super::{Gc, Kind, ShapeId, Str};
use crate::Vm;
use crate::error::LuaResult;
use crate::gc::{BLOCK_SIZE, Heap};
use crate::interrupt::{Interrupted, Poll};
use crate::value::Value;
use core::cell::Cell;
use core::mem::size_of;
use core::ptr::NonNull;

/// Array parts up to this size are put into the table's cell.
const INLINE_SLOTS: u32 = 17;
/// Hash parts up to this many bits are put into the table's cell.
const INLINE_HBITS: u32 = 3;
impl Table {
    /// Is this part in the table's own cell? Separate parts are never in a block of objects.
    #[inline(always)]
    pub(super) fn is_inline<T>(&self, part: *mut T) -> bool {
        (part as usize ^ core::ptr::from_ref(self) as usize) < BLOCK_SIZE
    }
    /// Frees the parts. Only the table's own cell remains to be freed after this.
    #[inline(always)]
    pub(crate) fn free_parts(&self, heap: &mut Heap) {
        self.free_array(heap);
        self.free_nodes(heap);
    }
    /// Are there parts that are not in the table's own cell?
    #[inline(always)]
    pub(crate) fn owns_parts(&self) -> bool {
        self.owns_array() || self.owns_nodes()
    }
    #[inline(always)]
    fn owns_array(&self) -> bool {
        self.asize() != 0 && !self.is_inline(self.array.get())
    }
    #[inline(always)]
    fn owns_nodes(&self) -> bool {
        self.hmask.get() != 0 && !self.is_inline(self.node.get())
    }
    /// Bytes of the parts that are not in the table's own cell.
    pub(crate) fn owned_bytes(&self) -> usize {
        let array = if self.owns_array() { self.asize() as usize * 8 } else { 0 };
        let nodes = if self.owns_nodes() { self.num_nodes() as usize * size_of::<Node>() } else { 0 };
        [array, nodes].into_iter().filter(|n| *n != 0).map(crate::gc::raw::real_size).sum()
    }
    #[inline(always)]
    fn free_array(&self, heap: &mut Heap) {
        if self.owns_array() {
            // SAFETY: an array part apart has exactly this size; nobody keeps slots.
            unsafe { heap.free_raw(self.array.get().cast(), self.asize() as usize * 8) }
        }
    }
    #[inline(always)]
    fn free_nodes(&self, heap: &mut Heap) {
        if self.owns_nodes() {
            // SAFETY: a hash part apart has exactly this size; nobody keeps nodes.
            unsafe { heap.free_raw(self.node.get().cast(), self.num_nodes() as usize * size_of::<Node>()) }
        }
    }
    /// Installs `1 << hbits` nodes at `node` as an empty hash part. Where it is interrupted, some of them are not initialised.
    ///
    /// # Safety
    /// The memory is the table's.
    #[inline(always)]
    pub(super) unsafe fn install_nodes(&self, node: *mut Node, hbits: u32, poll: Poll<'_>) -> Result<(), Interrupted> {
        let n = 1usize << hbits;
        self.node.set(node);
        self.hmask.set(n as u32 - 1);
        self.free.set(n as u32);
        self.shape.set(ShapeId::of_empty(hbits));
        poll.in_parts(n, Poll::SLOTS / 4, |part| {
            for i in part {
                // SAFETY: by the contract.
                unsafe { node.add(i).write(Node::empty()) };
            }
        })
    }
    /// Removes all entries; the memory is kept.
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
    #[inline(always)]
    fn insert(&self, key: Value) -> Option<NonNull<Value>> {
        if self.hmask.get() == 0 {
            return None;
        }
        let main = self.main_node(hash_key(key));
        if main.val.get().is_nil() {
            // The main node is free, or a removed entry (of any chain, which continues through this node).
            main.key.set(key);
            return Some(NonNull::from(&main.val).cast());
        }
        let free = self.take_free()?;
        let collide = self.main_node(hash_key(main.key.get()));
        if core::ptr::eq(collide, main) {
            // The main node's key is in its main position: the new key is chained after it.
            free.next.set(main.next.get());
            main.next.set(core::ptr::from_ref(free).cast_mut());
            free.key.set(key);
            return Some(NonNull::from(&free.val).cast());
        }
        // The main node's key belongs to another chain: it moves.
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
        Some(NonNull::from(&main.val).cast())
    }
    fn take_free(&self) -> Option<&Node> {
        let nodes = &self.nodes()[..self.free.get() as usize];
        let found = nodes.iter().rposition(|n| n.key.get().is_nil());
        self.free.set(found.unwrap_or(0) as u32);
        found.map(|i| &nodes[i])
    }
}

impl Heap {
    /// A new table with room for keys `0 .. asize` in the array part and `1 << hbits` nodes (none if `hbits` is 0).
    #[inline]
    pub fn new_table(&mut self, asize: u32, hbits: u32) -> Gc<Table> {
        if asize == 0 && hbits == 0 {
            return self.new_table_cell(size_of::<Table>());
        }
        let (t, done) = self.new_table_sized(asize, hbits, Poll::Never);
        debug_assert!(done.is_ok());
        t
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
            Gc::from_ptr(t)
        }
    }
    /// The same; where it is interrupted, the table is empty.
    fn new_table_sized(&mut self, asize: u32, hbits: u32, poll: Poll<'_>) -> (Gc<Table>, Result<(), Interrupted>) {
        let (t, node, array) = self.new_table_with_room(asize, if hbits == 0 { 0 } else { 1 << hbits });
        // SAFETY: there is room for so many nodes and values.
        let done = unsafe {
            let nodes = if hbits == 0 { Ok(()) } else { t.install_nodes(node, hbits, poll) };
            nodes.and_then(|()| super::table_resize::fill_with_nil(array, asize as usize, poll))
        };
        if done.is_err() {
            self.take_parts_away(t);
        }
        (t, done)
    }
    #[cold]
    #[inline(never)]
    fn take_parts_away(&mut self, t: Gc<Table>) {
        t.free_parts(self);
        t.hdr.word.set(0);
        t.array.set(core::ptr::null_mut());
        self.install_no_nodes(t);
    }
    /// Makes the hash part one without nodes of its own.
    #[inline(always)]
    pub(super) fn install_no_nodes(&self, t: Gc<Table>) {
        t.node.set(self.empty_node);
        t.hmask.set(0);
        t.free.set(0);
        t.shape.set(ShapeId::of_empty(0));
    }
    /// A new table without a hash part; with room for `nodes` nodes, and for `asize` values, which are its array part already. The caller
    /// initialises them; a part of size 0 has no room.
    #[inline(always)]
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
            t.node.set(node);
            t.hmask.set(template.hmask.get());
            t.free.set(template.free.get());
            t.shape.set(template.shape.get());
            let distance = (node as usize).wrapping_sub(template.node.get() as usize);
            for (i, from) in template.nodes().iter().enumerate() {
                let next = from.next.get();
                let next = if next.is_null() { next } else { node.with_addr(next.addr().wrapping_add(distance)) };
                let copy = Node { val: from.val.clone(), key: from.key.clone(), next: Cell::new(next) };
                // SAFETY: there is room for `n` nodes.
                unsafe { node.add(i).write(copy) };
            }
        }
        if asize != 0 {
            // SAFETY: there is room for `asize` values, which the template has.
            unsafe { array.copy_from_nonoverlapping(template.array.get(), asize as usize) };
        }
        t
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
    /// Inserts a normalised key that the table lacks; the table grows if it is full.
    #[inline]
    pub(super) fn table_insert(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        match self.insert_in_nodes(t, key) {
            Some(slot) => slot.as_ptr(),
            None => self.rehash_in_any_case(t, key),
        }
    }
    /// The same. Where an interrupt waits while the table grows, nothing is inserted.
    #[inline]
    fn try_table_insert(&mut self, t: Gc<Table>, key: Value, poll: Poll<'_>) -> Result<*mut Value, Interrupted> {
        match self.insert_in_nodes(t, key) {
            Some(slot) => Ok(slot.as_ptr()),
            None => self.rehash_for(t, key, poll),
        }
    }
    /// Inserts a key into the hash part, if that is not full.
    #[inline(never)]
    fn insert_in_nodes(&mut self, t: Gc<Table>, key: Value) -> Option<NonNull<Value>> {
        let slot = t.insert(key)?;
        t.shape.set(self.shapes.after(&t, t.shape.get(), key, slot.as_ptr()));
        self.entry_moved(t);
        Some(slot)
    }
    #[inline(always)]
    fn rehash_in_any_case(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        match self.rehash_for(t, key, Poll::Never) {
            Ok(slot) => slot,
            Err(Interrupted) => unreachable!("it looks for no interrupts"),
        }
    }
}

impl Vm {
    /// A new table with room for keys `0 .. asize` in the array part and `1 << hbits` nodes (none if `hbits` is 0).
    #[inline]
    pub fn new_table(&mut self, asize: u32, hbits: u32) -> Gc<Table> {
        self.heap.new_table(asize, hbits)
    }
    /// A new table that may be large: fails with the error of an interrupt that waits meanwhile.
    pub fn try_new_table(&mut self, asize: u32, hbits: u32) -> LuaResult<Gc<Table>> {
        let (t, done) = self.heap.new_table_sized(asize, hbits, Poll::At(&self.interrupts.flag));
        done.map(|()| t).map_err(|Interrupted| self.interrupted())
    }
    /// A copy of a template table.
    #[inline]
    pub fn dup_table(&mut self, template: Gc<Table>) -> Gc<Table> {
        self.heap.dup_table(template)
    }
    /// Stores `n` values at indices from `first` on.
    ///
    /// # Safety
    /// `values` is the address of `n` values in a row on the stack.
    pub(crate) unsafe fn table_set_list(&mut self, t: Gc<Table>, first: i32, values: *const Value, n: i32) {
        if n > 0 && (first + n) as u32 > t.asize() {
            // One slot more than needed: the border that `#` finds depends on the size.
            self.table_reserve_array(t, (first + n) as u32 + 1);
        }
        // SAFETY: the caller's values; the stack does not move meanwhile.
        let values = unsafe { core::slice::from_raw_parts(values, n.max(0) as usize) };
        let Some(slots) = t.array_part().get(first as usize..first as usize + values.len()) else {
            // The table could not become large enough.
            for (i, v) in (first..).zip(values) {
                self.table_set_int(t, i, *v);
            }
            return;
        };
        for (slot, v) in slots.iter().zip(values) {
            self.heap.check_live(*v);
            slot.set(*v);
            self.barrier_store(t, Value::NIL, *v);
        }
    }
    /// Removes all entries of a table; its memory is kept.
    pub fn table_clear(&mut self, t: Gc<Table>) {
        self.stores_everywhere(t);
        t.clear();
    }
    /// Inserts a key that the table lacks (neither nil nor NaN) and returns its slot. The value must be stored before anything else happens
    /// to the table; the barrier is done for the key.
    #[inline]
    pub fn table_new_key(&mut self, t: Gc<Table>, key: Value) -> *mut Value {
        self.begin_insertion(t, key);
        self.heap.table_insert(t, normalize(key))
    }
    /// The same; none, and nothing is inserted, where an interrupt waits while the table grows.
    #[inline]
    pub fn try_table_new_key(&mut self, t: Gc<Table>, key: Value) -> Option<*mut Value> {
        self.begin_insertion(t, key);
        self.heap.try_table_insert(t, normalize(key), Poll::At(&self.interrupts.flag)).ok()
    }
    #[inline(always)]
    fn begin_insertion(&mut self, t: Gc<Table>, key: Value) {
        self.heap.check_live(key);
        self.barrier_store(t, key, Value::NIL);
        t.hdr.b0.set(0);
    }
    /// `t[k] = v`, raw. Fails if the key is nil or NaN.
    #[inline]
    pub fn table_set(&mut self, t: Gc<Table>, key: Value, v: Value) -> LuaResult<()> {
        self.store_anywhere::<false>(t, key, v)
    }
    /// `t[k] = v`, raw, for a string key.
    #[inline]
    pub fn table_set_str(&mut self, t: Gc<Table>, key: Gc<Str>, v: Value) {
        let _done = self.store_at_str::<false>(t, key, v);
    }
    /// `t[k] = v`, raw, for an integer key.
    #[inline]
    pub fn table_set_int(&mut self, t: Gc<Table>, key: i32, v: Value) {
        let _done = self.store_at_int::<false>(t, key, v);
    }
    /// As [`Vm::table_set`], but where an interrupt waits while the table grows, this fails with its error, and nothing is stored.
    #[inline]
    pub fn try_table_set(&mut self, t: Gc<Table>, key: Value, v: Value) -> LuaResult<()> {
        self.store_anywhere::<true>(t, key, v)
    }
    /// As [`Vm::table_set_int`], but where an interrupt waits while the table grows, this fails with its error, and nothing is stored.
    #[inline]
    pub fn try_table_set_int(&mut self, t: Gc<Table>, key: i32, v: Value) -> LuaResult<()> {
        self.store_at_int::<true>(t, key, v).map_err(|Interrupted| self.interrupted())
    }
    #[inline(always)]
    fn store_anywhere<const POLLS: bool>(&mut self, t: Gc<Table>, key: Value, v: Value) -> LuaResult<()> {
        let done = if let Some(s) = key.as_str() {
            self.store_at_str::<POLLS>(t, s, v)
        } else if let Some(i) = key.as_index() {
            self.store_at_int::<POLLS>(t, i, v)
        } else if key.is_nil() {
            return Err(self.operation_error("table index is nil"));
        } else if key.is_num() && key.as_num_unchecked().is_nan() {
            return Err(self.operation_error("table index is NaN"));
        } else {
            let slot = t.find(key);
            // SAFETY: just found.
            unsafe { self.store::<POLLS>(t, slot, key, v) }
        };
        done.map_err(|Interrupted| self.interrupted())
    }
    #[inline(always)]
    fn store_at_str<const POLLS: bool>(&mut self, t: Gc<Table>, key: Gc<Str>, v: Value) -> Result<(), Interrupted> {
        t.hdr.b0.set(0);
        let slot = t.find_str(key);
        // SAFETY: just found.
        unsafe { self.store::<POLLS>(t, slot, Value::str(key), v) }
    }
    #[inline(always)]
    fn store_at_int<const POLLS: bool>(&mut self, t: Gc<Table>, key: i32, v: Value) -> Result<(), Interrupted> {
        let slot = t.find_int(key);
        // SAFETY: just found.
        unsafe { self.store::<POLLS>(t, slot, Value::int(key), v) }
    }
    /// Stores to the slot of a key, or inserts the key; `POLLS` says whether an interrupt ends that.
    ///
    /// # Safety
    /// `slot` was found in `t` by `key`, and nothing was inserted since.
    #[inline(always)]
    unsafe fn store<const POLLS: bool>(
        &mut self,
        t: Gc<Table>,
        slot: Option<*mut Value>,
        key: Value,
        v: Value,
    ) -> Result<(), Interrupted> {
        self.heap.check_live(v);
        self.barrier_store(t, key, v);
        let slot = match slot {
            Some(slot) => slot,
            None if v.is_nil() => return Ok(()),
            None => match self.heap.insert_in_nodes(t, key) {
                Some(slot) => slot.as_ptr(),
                None => return self.store_in_grown::<POLLS>(t, key, v),
            },
        };
        // SAFETY: a slot of the table just found or made.
        unsafe { self.store_to_slot(t, slot, key, v) };
        Ok(())
    }
    /// Stores under a key that the table lacks and has no room for.
    #[cold]
    #[inline(never)]
    fn store_in_grown<const POLLS: bool>(&mut self, t: Gc<Table>, key: Value, v: Value) -> Result<(), Interrupted> {
        let poll = if POLLS { Poll::At(&self.interrupts.flag) } else { Poll::Never };
        let slot = self.heap.rehash_for(t, key, poll)?;
        // SAFETY: a slot just made.
        unsafe { self.store_to_slot(t, slot, key, v) };
        Ok(())
    }
    /// # Safety
    /// It is the slot of this key of this table.
    #[inline(always)]
    unsafe fn store_to_slot(&mut self, t: Gc<Table>, slot: *mut Value, key: Value, v: Value) {
        // SAFETY: by the contract.
        let old = unsafe { core::mem::replace(&mut *slot, v) };
        if let Some(s) = key.as_str() {
            if !old.is_nil() {
                s.note_variable();
            }
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
