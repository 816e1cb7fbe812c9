//! Tables: an array part and a hash part.
//!
//! The array part holds keys `0 .. asize` (slot 0 included, so that an index needs no adjustment). The hash part is a chained
//! scatter table with Brent's variation, as in Lua and LuaJIT: `hmask + 1` nodes, collisions linked by `next`, free nodes taken
//! from the top down. A node keeps its address until the next rehash, which compiled code relies on: it guards once that
//! `node[k].key` is the constant key and loads straight from the node. Dead keys stay until a rehash so that `next` finds them.

use super::{Gc, GcHeader};
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
/// metamethod cache: bit m set means the table, used as a metatable, has no metamethod number m (m < 8).
#[derive(Debug)]
#[repr(C)]
pub struct Table {
    /// Object header; `word` is asize, `b0` is nomm.
    pub hdr: GcHeader,
    /// Array part, `asize` values; dangling when `asize` is 0.
    pub array: Cell<*mut Value>,
    /// Metatable.
    pub meta: Cell<Option<Gc<Table>>>,
    /// Hash part; points to the shared empty node (see [`crate::Vm`]) when there is none.
    pub node: Cell<*mut Node>,
    /// Number of nodes minus one (a power of two minus one).
    pub hmask: Cell<u32>,
    pub(crate) pad: u32,
    /// All nodes at or above this one are in use.
    pub free_top: Cell<*mut Node>,
}

const _: () = assert!(core::mem::size_of::<Table>() == 48);
const _: () = assert!(core::mem::size_of::<Node>() == 24);

impl Table {
    /// Slots of the array part, slot 0 included.
    #[inline(always)]
    pub fn asize(&self) -> u32 {
        self.hdr.word.get()
    }
}
