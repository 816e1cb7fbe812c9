//! Shapes: a shape is a number that says which string key is in which node of a hash part.
//!
//! Two tables of the same shape, other than [`ShapeId::NONE`], have the same number of nodes and the same key in each of them. So compiled
//! code that has compared a table's shape knows where each constant key is, or that it is missing, without reading the nodes. Values are
//! not part of the shape: a key whose value is nil is still in its node.
//!
//! Shapes form a tree, as in Self's maps and the hidden classes of JavaScript engines. Empty hash parts have a shape for each size.
//! Inserting a string key leads to a child, found by the key. Which node the key is put into, and whether another key moves for it, follows
//! from the shape, with one exception: a key whose value is nil may be replaced. So the child records the node of its key and the number of
//! remaining free nodes, and a table for which these differ has no shape until its next rehash.
//!
//! A table has no shape if it has keys that are not strings, if it has more nodes than [`MAX_BITS`] allows, or if a limit on the number of
//! shapes is reached: shapes are for tables that are used like records. A shape is never freed. Keys are compared by address only, so a
//! shape does not keep them alive: a new string at the address of a freed one leads to a child whose tables have that address in their
//! nodes, which is still correct.

use super::table::Table;
use crate::gc::Heap;
use crate::value::Value;
use std::collections::HashMap;

/// The number of a shape.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct ShapeId(u32);

impl Default for ShapeId {
    fn default() -> ShapeId {
        ShapeId::NONE
    }
}

/// Hash parts of more than 2 to this many nodes have no shape. Each key of a table takes a shape: this bounds the cost of a dictionary.
const MAX_BITS: u32 = 5;
/// The most shapes. Each takes some 50 bytes.
const MAX_SHAPES: usize = 1 << 16;
/// The most keys that may follow one shape. If there are more, keys are data.
const MAX_CHILDREN: u16 = 64;
/// The most keys that may be the first one of a table.
const MAX_FIRST: u16 = 1024;

impl ShapeId {
    /// No shape: the table may have any keys.
    pub const NONE: ShapeId = ShapeId(0);
    /// The shape of a hash part of `1 << hbits` nodes (none if `hbits` is 0) without keys.
    #[inline(always)]
    pub const fn of_empty(hbits: u32) -> ShapeId {
        if hbits <= MAX_BITS { ShapeId(hbits + 1) } else { ShapeId::NONE }
    }
    /// The number, 0 for none.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0
    }
    /// Does it say which keys there are?
    #[inline(always)]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }
}

#[derive(Debug)]
struct Shape {
    /// The node of the last key: its offset in bytes.
    node: u16,
    /// Number of free nodes after that, see [`Table::free`].
    free: u16,
    /// Number of children.
    children: u16,
    /// The most children it may have.
    max_children: u16,
    /// See [`Heap::does_shape_vary`].
    varies: bool,
}

impl Shape {
    fn new(node: usize, free: u32, max_children: u16) -> Shape {
        let (node, free) = (node as u16, free as u16);
        Shape { node, free, children: 0, max_children, varies: false }
    }
}

/// A cached transition: the child of a shape by a key. [`ShapeId::NONE`] as the parent marks an entry never used.
#[derive(Copy, Clone, Debug)]
struct Transition {
    key: u64,
    from: ShapeId,
    child: ShapeId,
}

/// Entries of the cache of children: 8 KB, a quarter of a first-level cache.
const CACHE: usize = 512;

/// All shapes of a heap.
#[derive(Debug)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    cache: Box<[Transition; CACHE]>,
    children: HashMap<(ShapeId, u64), ShapeId, foldhash::fast::FixedState>,
    /// In builds with debug assertions: the keys by node.
    #[cfg(debug_assertions)]
    keys: Vec<Vec<u64>>,
}

impl Shapes {
    pub(crate) fn new() -> Shapes {
        // The shape of number 0 stands for none, and no key is ever inserted after it.
        let mut all = vec![Shape::new(usize::MAX, 0, 0)];
        all.extend((0..=MAX_BITS).map(|_| Shape::new(usize::MAX, 0, MAX_FIRST)));
        Shapes {
            #[cfg(debug_assertions)]
            keys: (0..all.len()).map(|i| vec![Value::NIL.bits(); if i < 2 { 0 } else { 1 << (i - 1) }]).collect(),
            all,
            cache: Box::new([Transition { key: 0, from: ShapeId::NONE, child: ShapeId::NONE }; CACHE]),
            children: HashMap::default(),
        }
    }

    /// The shape of a table that had the shape `from` before `key` was inserted at `slot`.
    #[inline]
    pub(crate) fn after(&mut self, t: &Table, from: ShapeId, key: Value, slot: *mut Value) -> ShapeId {
        if !from.is_some() {
            return from;
        }
        let node = slot as usize - t.node.get() as usize;
        let at = ((key.bits() as usize >> 4) ^ (from.0 as usize * 31)) % CACHE;
        let cached = self.cache[at];
        let child =
            if (cached.key, cached.from) == (key.bits(), from) { cached.child } else { self.child(t, from, key, node, at) };
        let shape = &self.all[child.0 as usize];
        if usize::from(shape.node) != node || u32::from(shape.free) != t.free.get() {
            return ShapeId::NONE;
        }
        #[cfg(debug_assertions)]
        self.check(t, child);
        child
    }
    #[cold]
    #[inline(never)]
    fn child(&mut self, t: &Table, from: ShapeId, key: Value, node: usize, at: usize) -> ShapeId {
        if !key.is_str() {
            return ShapeId::NONE;
        }
        let known = self.children.get(&(from, key.bits())).copied();
        let child = known.or_else(|| self.new_child(t, from, key, node)).unwrap_or(ShapeId::NONE);
        self.cache[at] = Transition { key: key.bits(), from, child };
        child
    }
    fn new_child(&mut self, t: &Table, from: ShapeId, key: Value, node: usize) -> Option<ShapeId> {
        let shape = &mut self.all[from.0 as usize];
        if shape.children >= shape.max_children {
            return None;
        }
        shape.children += 1;
        let varies = shape.varies;
        if self.all.len() >= MAX_SHAPES {
            return None;
        }
        let child = ShapeId(self.all.len() as u32);
        self.all.push(Shape { varies, ..Shape::new(node, t.free.get(), MAX_CHILDREN) });
        #[cfg(debug_assertions)]
        self.keys.push(t.nodes().iter().map(|n| n.key.get().bits()).collect());
        self.children.insert((from, key.bits()), child);
        Some(child)
    }

    /// In builds with debug assertions: panics if a table has other keys than its shape says.
    #[cfg(debug_assertions)]
    pub(crate) fn check(&self, t: &Table, shape: ShapeId) {
        if shape.is_some() {
            let keys = t.nodes().iter().map(|n| n.key.get().bits());
            assert!(keys.eq(self.keys[shape.0 as usize].iter().copied()), "a table has not the keys of its shape");
        }
    }
}

impl Heap {
    /// Were tables of this shape met at instructions that also meet tables of other shapes with the same keys in the same nodes?
    #[inline]
    pub fn does_shape_vary(&self, shape: ShapeId) -> bool {
        self.shapes.all[shape.0 as usize].varies
    }
    /// Notes that; it also holds for shapes that follow this one later.
    pub fn shape_varies(&mut self, shape: ShapeId) {
        self.shapes.all[shape.0 as usize].varies = true;
    }
}

/// A set of shapes.
///
/// The collector notes the shapes of the tables that it has visited: the keys of any other table of such a shape are the same strings,
/// those of removed entries included, and need not be marked again.
#[derive(Debug, Default)]
pub(crate) struct ShapeSet(Vec<u64>);

impl ShapeSet {
    /// Adds a shape; was it there already? False for [`ShapeId::NONE`].
    #[inline(always)]
    pub(crate) fn add(&mut self, shape: ShapeId) -> bool {
        let (word, bit) = (shape.0 as usize / 64, 1 << (shape.0 % 64));
        if word >= self.0.len() {
            self.grow(word);
        }
        let had = self.0[word] & bit != 0;
        self.0[word] |= bit;
        had && shape.is_some()
    }
    /// Was a shape added?
    pub(crate) fn has(&self, shape: ShapeId) -> bool {
        shape.is_some() && self.0.get(shape.0 as usize / 64).is_some_and(|w| w >> (shape.0 % 64) & 1 != 0)
    }
    #[cold]
    #[inline(never)]
    fn grow(&mut self, word: usize) {
        self.0.resize(word + 1, 0);
    }
    /// Removes all.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }
}
