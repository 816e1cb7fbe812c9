//! Tables: an array part and a hash part. Layout and lookup; stores are in `table_write`.
//!
//! The array part holds keys `0 .. asize` (slot 0 included, so that an index needs no adjustment). The hash part is a chained
//! scatter table with Brent's variation, as in Lua and LuaJIT: `hmask + 1` nodes, collisions linked by `next`, free nodes taken
//! from the top down. A node keeps its address until the next rehash, which compiled code relies on: it guards once that
//! `node[k].key` is the constant key and loads straight from the node. Dead keys stay until a rehash so that `next` finds them.
//!
//! Small parts of a new table follow the table in its cell; parts made later are allocated separately.
//!
//! # Contract
//! `array` points to `asize` values and `node` to `hmask + 1` nodes. If `hmask` is 0, that is the shared empty node, which is never
//! written: a hash part of a table's own has at least two nodes. They change only in `table_write`; slot and node references are not kept
//! across calls that insert.
#![allow(
    unsafe_code,
    reason = "`array` and `node` point to as many slots as `asize` and `hmask` say; chains of nodes stay inside the node part"
)]

use super::{Gc, GcHeader, ShapeId, Str};
use crate::value::Value;
use core::cell::Cell;

/// A node of the hash part. `key` nil marks a node never used.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    /// Value; nil when the entry is empty or removed.
    pub val: Cell<Value>,
    /// Key, normalised: a number that fits an `i32` is an integer.
    pub key: Cell<Value>,
    /// Next node of the collision chain.
    pub next: Cell<*mut Node>,
}

/// A table.
///
/// Header: `word` is the size of the array part (slots allocated, slot 0 included; 0 when there is none), `b0` is the negative
/// metamethod cache: bit m set means the table, used as a metatable, has no metamethod number m (m < 8); `b1` is non-zero if it has
/// [watchpoints](super::WatchedField).
#[derive(Debug)]
#[repr(C)]
pub struct Table {
    /// Object header; `word` is asize, `b0` is nomm.
    pub hdr: GcHeader,
    /// Array part, `asize` values; dangling when `asize` is 0.
    pub array: Cell<*mut Value>,
    /// Metatable.
    pub meta: Cell<Option<Gc<Table>>>,
    /// Hash part; points to the heap's shared empty node when there is none.
    pub node: Cell<*mut Node>,
    /// Number of nodes minus one (a power of two minus one).
    pub hmask: Cell<u32>,
    /// The border that was found last, which is tried first the next time.
    pub(crate) border: Cell<u32>,
    /// Index of the first node that is known to be in use, as are all nodes after it.
    pub free: Cell<u32>,
    /// Which keys are in which nodes.
    pub shape: Cell<ShapeId>,
}

const _: () = assert!(core::mem::size_of::<Table>() == 48);
const _: () = assert!(core::mem::size_of::<Node>() == 24);

impl Node {
    /// A node never used.
    pub const fn empty() -> Node {
        Node { val: Cell::new(Value::NIL), key: Cell::new(Value::NIL), next: Cell::new(core::ptr::null_mut()) }
    }
}

/// Knuth's constant for a multiplicative hash, which is the upper half of the product.
pub const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the lower half of `bits` over 32 bits.
#[inline(always)]
fn mix(bits: u64) -> u32 {
    (bits.wrapping_mul(MULTIPLIER) >> 32) as u32
}

/// Hash of a key other than strings and integers: bits of the double, or tag and address of the object. Doubles of few digits differ in
/// their upper halves only. Compiled code computes it for objects, see `backend/src/lower/href.rs`.
#[inline(always)]
fn hash_bits(bits: u64) -> u32 {
    mix(bits ^ bits >> 32)
}

/// Hash of a key, neither nil nor NaN, normalised. The main position is `hash & hmask`.
#[inline]
pub fn hash_key(key: Value) -> u32 {
    match key.as_str() {
        Some(s) => s.hash(),
        None if key.is_int() => hash_int(key.as_int_unchecked()),
        None => hash_bits(key.bits()),
    }
}

/// Hash of an integer key.
#[inline(always)]
pub fn hash_int(i: i32) -> u32 {
    mix(u64::from(i as u32))
}

/// A key in the form that tables store: numbers that fit an `i32` are integers.
#[inline(always)]
pub fn normalize(key: Value) -> Value {
    if key.is_num()
        && let Some(i) = key.as_index()
    {
        return Value::int(i);
    }
    key
}

impl Table {
    /// Slots of the array part, slot 0 included.
    #[inline(always)]
    pub fn asize(&self) -> u32 {
        self.hdr.word.get()
    }
    /// Nodes of the hash part.
    #[inline(always)]
    pub fn num_nodes(&self) -> u32 {
        let m = self.hmask.get();
        if m == 0 { 0 } else { m + 1 }
    }
    /// The array part, from slot 0.
    #[inline(always)]
    pub fn array_part(&self) -> &[Cell<Value>] {
        if self.asize() == 0 {
            return &[];
        }
        // SAFETY: the module's contract; values are only accessed through cells and raw pointers.
        unsafe { core::slice::from_raw_parts(self.array.get().cast(), self.asize() as usize) }
    }
    /// The nodes of the hash part, all of them.
    #[inline(always)]
    pub fn nodes(&self) -> &[Node] {
        // SAFETY: the module's contract; nodes consist of cells.
        unsafe { core::slice::from_raw_parts(self.node.get(), self.num_nodes() as usize) }
    }
    /// The first node of the chain of keys with this hash. It may be the shared empty node, which must not be written.
    #[inline(always)]
    pub fn main_node(&self, hash: u32) -> &Node {
        // SAFETY: the module's contract: the index is below the number of nodes.
        unsafe { &*self.node.get().add((hash & self.hmask.get()) as usize) }
    }
    /// Follows a chain to the node with exactly this key.
    #[inline(always)]
    fn find_in_chain(&self, hash: u32, key: Value) -> Option<*mut Value> {
        let mut n = self.main_node(hash);
        loop {
            if n.key.get().bits() == key.bits() {
                return Some(n.val.as_ptr());
            }
            let next = n.next.get();
            if next.is_null() {
                return None;
            }
            // SAFETY: links point to nodes of the same hash part.
            n = unsafe { &*next };
        }
    }
    /// Slot of a string key, if there is one (its value may be nil).
    #[inline(always)]
    pub fn find_str(&self, key: Gc<Str>) -> Option<*mut Value> {
        self.find_in_chain(key.hash(), Value::str(key))
    }
    /// Slot of an integer key: in the array part, or a node's.
    #[inline(always)]
    pub fn find_int(&self, key: i32) -> Option<*mut Value> {
        if (key as u32) < self.asize() {
            return Some(self.array.get().wrapping_add(key as u32 as usize));
        }
        self.find_int_hash(key)
    }
    /// Slot of an integer key in the hash part.
    #[inline]
    pub fn find_int_hash(&self, key: i32) -> Option<*mut Value> {
        self.find_in_chain(hash_int(key), Value::int(key))
    }
    /// Slot of any key; `None` for nil and NaN.
    #[inline]
    pub fn find(&self, key: Value) -> Option<*mut Value> {
        if let Some(s) = key.as_str() {
            return self.find_str(s);
        }
        if let Some(i) = key.as_index() {
            return self.find_int(i);
        }
        if key.is_nil() { None } else { self.find_in_chain(hash_bits(key.bits()), key) }
    }
    /// The value in a slot; nil if there is none.
    ///
    /// # Safety
    /// `slot` was found in a table into which nothing was inserted since.
    #[inline(always)]
    unsafe fn load(slot: Option<*mut Value>) -> Value {
        match slot {
            // SAFETY: the contract of this function.
            Some(p) => unsafe { *p },
            None => Value::NIL,
        }
    }
    /// Value under a string key.
    #[inline(always)]
    pub fn get_str(&self, key: Gc<Str>) -> Value {
        // SAFETY: just found.
        unsafe { Table::load(self.find_str(key)) }
    }
    /// Value under an integer key.
    #[inline(always)]
    pub fn get_int(&self, key: i32) -> Value {
        // SAFETY: just found.
        unsafe { Table::load(self.find_int(key)) }
    }
    /// Value under any key; nil when absent.
    #[inline]
    pub fn get(&self, key: Value) -> Value {
        // SAFETY: just found.
        unsafe { Table::load(self.find(key)) }
    }
    /// Index of the node that a slot belongs to; `None` for array slots and foreign ones.
    #[inline]
    pub fn node_of(&self, slot: *const Value) -> Option<u32> {
        let i = (slot as usize).wrapping_sub(self.node.get() as usize) / size_of::<Node>();
        if i < self.num_nodes() as usize { Some(i as u32) } else { None }
    }

    /// A border: an index whose value is not nil while the value at the next index is nil, or 0.
    #[inline]
    pub fn len(&self) -> u32 {
        match self.border_near_last() {
            Some(border) => {
                self.border.set(border);
                border
            }
            None => self.border_anywhere(),
        }
    }
    /// [`Table::len`], if it is found fast: in the array part, where it was last or next to that.
    #[inline(always)]
    pub fn border_near_last(&self) -> Option<u32> {
        let a = self.array_part();
        let hi = a.len().saturating_sub(1);
        if hi > 0 && a[hi].get().is_nil() { near_border(a, hi, self.border.get()) } else { None }
    }
    /// [`Table::len`], where [`Table::border_near_last`] has found none.
    pub fn border_anywhere(&self) -> u32 {
        let a = self.array_part();
        let hi = a.len().saturating_sub(1);
        let border = if hi > 0 && a[hi].get().is_nil() {
            border_in_array(a, hi)
        } else if self.hmask.get() == 0 {
            hi as u32
        } else {
            self.len_in_hash(hi)
        };
        self.border.set(border);
        border
    }
    /// The same as [`Table::len`], if the element after the length that was found last has been set since then, and nothing else changed.
    ///
    /// Bisection takes the same way as before to that element. After it, it reads those elements whose distance is a power of two below the
    /// lowest bit of its index: one element, in the mean over all indices.
    #[inline]
    pub fn len_after_append(&self) -> u32 {
        let a = self.array_part();
        let (hi, new) = (a.len().saturating_sub(1), self.border.get() as usize + 1);
        let present = |i: usize| !a[i].get().is_nil();
        if new < hi && hi.is_power_of_two() && present(new) && !present(hi) {
            let mut step = (new & new.wrapping_neg()) / 2;
            while step > 0 && !present(new + step) {
                step /= 2;
            }
            if step == 0 {
                self.border.set(new as u32);
                debug_assert!(!present(new + 1));
                return new as u32;
            }
        }
        self.len()
    }
    /// Is the border 0?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The border beyond the array part, which is full up to `lo`.
    #[cold]
    #[inline(never)]
    fn len_in_hash(&self, mut lo: usize) -> u32 {
        let absent = |i: usize| self.get_int(i as i32).is_nil();
        let mut hi = lo + 1;
        while !absent(hi) {
            lo = hi;
            hi += hi;
            if hi > i32::MAX as usize - 2 {
                // Only a table made for that purpose gets here.
                let mut i = 1;
                while !absent(i) {
                    i += 1;
                }
                return (i - 1) as u32;
            }
        }
        while hi - lo > 1 {
            let mid = usize::midpoint(lo, hi);
            if absent(mid) { hi = mid } else { lo = mid }
        }
        lo as u32
    }

    /// Position of a key in the order of iteration, plus one; 0 for nil, `None` if the table never had the key.
    #[inline]
    pub fn index_after(&self, key: Value) -> Option<u32> {
        if key.is_nil() {
            return Some(0);
        }
        if let Some(i) = key.as_index()
            && (i as u32) < self.asize()
        {
            return Some(i as u32 + 1);
        }
        if key.bits() >> 32 == Value::KEY_INDEX {
            // A loop that iterated by positions continues by keys.
            return Some(key.bits() as u32);
        }
        let n = self.node_of(self.find(key)?)?;
        Some(self.asize() + n + 1)
    }
    /// The entry after `key` in the order of iteration (nil: the first one). `Err` if the table never had the key.
    #[inline]
    #[allow(clippy::result_unit_err, reason = "there is only one way to fail, and the caller words the error")]
    pub fn next(&self, key: Value) -> Result<Option<(Value, Value)>, ()> {
        let i = self.index_after(key).ok_or(())?;
        Ok(self.next_index(i).map(|(_, k, v)| (k, v)))
    }
    /// The first entry at or after position `idx`, and the position after it. Positions count array slots, then nodes.
    #[inline]
    pub fn next_index(&self, idx: u32) -> Option<(u32, Value, Value)> {
        let a = self.array_part();
        let mut i = idx as usize;
        while let Some(slot) = a.get(i) {
            let v = slot.get();
            if !v.is_nil() {
                return Some((i as u32 + 1, Value::int(i as i32), v));
            }
            i += 1;
        }
        let nodes = self.nodes();
        i -= a.len();
        while let Some(n) = nodes.get(i) {
            let v = n.val.get();
            if !v.is_nil() {
                return Some(((a.len() + i) as u32 + 1, n.key.get(), v));
            }
            i += 1;
        }
        None
    }
}

/// Elements that a border may have moved by since it was found last to be looked for from there, each after the one before. Bisection waits for as
/// many as the length has bits.
const NEAR: usize = 4;

/// The border that [`border_in_array`] finds, if it is `last` or near it.
///
/// A table may have several borders, and which one is found must not depend on earlier queries. But the elements that a bisection of 2^k
/// elements reads on its way to an index follow from the index alone, so that none has to wait for the one before.
#[inline(always)]
fn near_border(a: &[Cell<Value>], hi: usize, last: u32) -> Option<u32> {
    let last = last as usize;
    if !hi.is_power_of_two() || last + 1 >= hi {
        return None;
    }
    let absent = |i: usize| a[i].get().is_nil();
    let mut border = last;
    if !absent(last + 1) {
        // The element at `hi` is absent.
        while border < last + NEAR && !absent(border + 1) {
            border += 1;
        }
    } else {
        // There is no element at index 0, but it counts as present.
        while border + NEAR > last && border > 0 && absent(border) {
            border -= 1;
        }
    }
    comes_to(a, hi, border).then_some(border as u32)
}

/// Does bisection between 0 and `hi`, a power of two, come to `border`? It reads an element for each bit of an index: where the bit is set in
/// `border`, that at `border` without the bits below it, which must be present; where it is not set, that at the same index with the bit set,
/// which must be absent. Here the first kind is read before the second, from the lowest bit up.
#[inline(always)]
fn comes_to(a: &[Cell<Value>], hi: usize, border: usize) -> bool {
    let absent = |i: usize| a[i].get().is_nil();
    let mut i = border;
    while i != 0 {
        if absent(i) {
            return false;
        }
        i &= i - 1;
    }
    i = border + 1;
    while i < hi {
        if !absent(i) {
            return false;
        }
        i = (i | (i - 1)) + 1;
    }
    true
}

/// A border in an array whose element `hi` is nil.
#[inline]
fn border_in_array(a: &[Cell<Value>], mut hi: usize) -> u32 {
    let mut lo = 0;
    while hi - lo > 1 {
        let mid = usize::midpoint(lo, hi);
        if a[mid].get().is_nil() { hi = mid } else { lo = mid }
    }
    lo as u32
}

#[cfg(test)]
mod tests {
    use super::{NEAR, border_in_array, near_border};
    use crate::value::Value;
    use core::cell::Cell;

    /// Elements 1 to `border` of an array of nine, some of them missing, and some after them, by the bits of `holes`.
    fn array(border: usize, holes: usize) -> Vec<Cell<Value>> {
        let is_present = |i: usize| (1..8).contains(&i) && ((i <= border) != (holes >> i & 1 == 1));
        (0..9).map(|i| Cell::new(if is_present(i) { Value::int(1) } else { Value::NIL })).collect()
    }

    #[test]
    fn a_border_near_the_last_one_is_that_of_bisection() {
        for (border, holes) in (0..8).flat_map(|border| (0..256).map(move |holes| (border, holes))) {
            let a = array(border, holes);
            let found = border_in_array(&a, 8);
            for last in 0..=8 {
                let near = near_border(&a, 8, last);
                assert!(near.is_none_or(|b| b == found), "{border} {holes:b} {last}: {near:?} instead of {found}");
            }
        }
    }
    #[test]
    fn without_holes_a_border_near_the_last_one_is_found() {
        for border in 0..8u32 {
            let a = array(border as usize, 0);
            for last in border.saturating_sub(NEAR as u32)..=(border + NEAR as u32).min(6) {
                assert_eq!(near_border(&a, 8, last), Some(border), "after {last}");
            }
        }
    }
}
