//! The heap verifier: walks the whole heap and panics on the first broken invariant. For tests.
//!
//! Checked:
//! * the objects that an object refers to are not freed, not dead, and of the kind that the reference's tag says;
//! * while marking, no black object refers to a white one, but by entries that the marker has not come to;
//! * while marking, the keys of tables of a shape that was met are not white;
//! * while marking, a stack that need not be visited again refers to no white object, but by variables that closures share;
//! * all slots of a living coroutine's stack are such references too, the unused ones included;
//! * free lists hold free cells of the right class only, each once;
//! * the intern table holds exactly the strings of the heap, each in its chain;
//! * tables have the keys that their shapes say;
//! * nodes of tables are reachable from the main position of their key, and their chains are lists: no node has two predecessors.
#![allow(unsafe_code, reason = "lists of free cells end, and lead only to cells of their class")]

use super::Heap;
use super::block::{Block, FreeCell};
use super::size::class_size;
use super::visit::{Edge, Visitor, visit_object};
use crate::Vm;
use crate::object::{Gc, GcHeader, Kind, Node, Object, Str, Table, Thread};
use crate::value::Value;
use std::collections::HashSet;

/// The kind of object that a value's tag promises.
fn promised_kind(v: Value) -> Kind {
    match v.type_name() {
        "string" => Kind::Str,
        "thread" => Kind::Thread,
        "proto" => Kind::Proto,
        "function" => Kind::Func,
        "table" => Kind::Table,
        "userdata" => Kind::Udata,
        "cdata" => Kind::Cdata,
        other => panic!("a value of type {other} is not an object"),
    }
}

struct Check<'a> {
    heap: &'a Heap,
    from: Gc<GcHeader>,
}

impl Check<'_> {
    /// Is it an entry of a large table that will be traversed, or one of its hash part, some of which will be?
    fn is_to_come(&self, edge: Edge) -> bool {
        let Some(Object::Table(t)) = self.from.typed() else { return false };
        self.heap.cycle.marker.slices.done(t).is_some_and(|done| match edge {
            Edge::Element(i) => i as usize >= done,
            Edge::Key | Edge::Field(_) => true,
            _ => false,
        })
    }
}

impl Visitor for Check<'_> {
    fn value(&mut self, edge: Edge, v: Value) {
        if let Some(o) = v.as_gc() {
            assert_eq!(o.kind(), promised_kind(v), "{:?} of a {:?} refers to another kind", edge, self.from.kind());
            self.object(edge, o);
        }
    }
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>) {
        let from = self.from.kind();
        assert!(o.kind() != Kind::Free, "{edge:?} of a {from:?} refers to a freed object");
        assert!(!self.heap.is_dead(&o), "{edge:?} of a {from:?} refers to a dead {:?}", o.kind());
        if self.heap.cycle.phase.is_marking() && !self.is_to_come(edge) {
            assert!(!(self.from.is_black() && o.is_white()), "{edge:?} of a black {from:?} refers to a white {:?}", o.kind());
        }
    }
    fn stack_top(&self, t: &Thread) -> *mut Value {
        t.stack.get().wrapping_add(t.size.get() as usize)
    }
}

/// Checks a stack that need not be visited again.
struct CheckStack {
    /// Address of the first slot.
    at: usize,
    /// Addresses of the slots that open upvalues refer to.
    shared: HashSet<usize>,
}

impl Visitor for CheckStack {
    fn value(&mut self, edge: Edge, v: Value) {
        let shared = matches!(edge, Edge::Stack(i) if self.shared.contains(&(self.at + i as usize * size_of::<Value>())));
        if let Some(o) = v.as_gc().filter(|_| !shared) {
            self.object(edge, o);
        }
    }
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>) {
        assert!(!o.is_white(), "{edge:?} of a marked stack refers to a white {:?}", o.kind());
    }
}

impl Vm {
    /// Checks the whole heap.
    pub fn verify_heap(&self) {
        let heap = &self.heap;
        let mut strings = HashSet::new();
        heap.for_each_object(|o| {
            visit_object(o, &mut Check { heap, from: o });
            match o.typed() {
                Some(Object::Str(s)) => {
                    strings.insert(s.addr());
                }
                Some(Object::Table(t)) => {
                    check_table(t);
                    heap.check_leaf(t);
                    heap.check_keys(t);
                    #[cfg(debug_assertions)]
                    heap.shapes.check(&t, t.shape.get());
                }
                _ => {}
            }
        });
        heap.check_stacks();
        heap.check_strings(&strings);
        heap.check_free_lists();
    }
}

fn check_table(t: Gc<Table>) {
    let mut linked = HashSet::new();
    for n in t.nodes() {
        let key = n.key.get();
        let next = n.next.get();
        assert!(next.is_null() || linked.insert(next as usize), "a node has two predecessors");
        assert!(next.is_null() || !core::ptr::eq(next, n), "a node is its own successor");
        if n.val.get().is_nil() {
            continue;
        }
        assert_eq!(t.find(key), Some(n.val.as_ptr()), "a node is not found by its key {key:?}");
        assert_eq!(crate::object::table::normalize(key).bits(), key.bits(), "a key is not normalised");
        let in_array = key.as_int().is_some_and(|i| (i as u32) < t.asize());
        assert!(!in_array, "key {key:?} is in the hash part");
    }
}

impl Heap {
    /// A table that the marker does not traverse has no references.
    fn check_leaf(&self, t: Gc<Table>) {
        if t.hdr.is_leaf() && self.cycle.marker.slices.done(t).is_none() {
            assert!(t.meta.get().is_none(), "a leaf has a metatable");
            let refers = |v: Value| v.is_gc();
            assert!(!t.array_part().iter().any(|slot| refers(slot.get())), "an element of a leaf is an object");
            let in_node = |n: &Node| !n.val.get().is_nil() && (refers(n.key.get()) || refers(n.val.get()));
            assert!(!t.nodes().iter().any(in_node), "a field of a leaf is an object");
        }
    }
    /// The marker skips the keys of tables of a shape that it has met in this cycle, so they must be marked.
    fn check_keys(&self, t: Gc<Table>) {
        if self.cycle.marker.keyed.has(t.shape.get()) {
            let keys = t.nodes().iter().filter_map(|n| n.key.get().as_gc());
            assert!(
                keys.into_iter().all(|k| k.kind() == Kind::Str && !k.is_white()),
                "a key of a shape that was met is not marked"
            );
        }
    }
    fn check_stacks(&self) {
        for t in self.cycle.marker.stacks.marked() {
            let shared: HashSet<usize> = t.open_upvals().map(|uv| uv.v.get() as usize).collect();
            t.visit(&mut CheckStack { at: t.stack.get() as usize, shared });
        }
    }
    fn check_strings(&self, live: &HashSet<u64>) {
        let mut found = 0;
        let mut all = 0;
        self.strings.for_each(|chain, s| {
            all += 1;
            assert_eq!(s.hdr.kind(), Kind::Str, "a freed string is interned");
            assert_eq!(self.strings.chain_of(s.hash()), chain, "a string is in the wrong chain");
            assert!(self.strings.is_hash(s.bytes(), s.hash()), "a string has the wrong hash");
            if !self.is_dead(&s.hdr) {
                found += 1;
                assert!(live.contains(&(core::ptr::from_ref::<Str>(s) as usize as u64)), "an interned string is not in the heap");
            }
        });
        assert_eq!(found, live.len(), "a string is not interned");
        assert_eq!(all, self.strings.count(), "the count of strings is wrong");
    }
    fn check_free_lists(&self) {
        let mut seen = HashSet::new();
        let mut check = |mut p: *mut FreeCell, class: usize| {
            while !p.is_null() {
                assert!(seen.insert(p as usize), "a cell is on two free lists");
                // SAFETY: cells of the class's blocks; their header and link are readable whatever they contain. Each is written back.
                unsafe {
                    let next = FreeCell::take(p, class_size(class));
                    assert_eq!((*p).header, 0, "a cell on a free list is not free");
                    FreeCell::put(p, next, class_size(class));
                    assert_eq!((*Block::of(p.cast())).class as usize, class, "a cell is on the list of another class");
                    p = next;
                }
            }
        };
        for (class, c) in self.cells.classes.iter().enumerate() {
            check(self.free[class], class);
            check(self.hidden(class), class);
            for &b in &c.ready {
                // SAFETY: a block of the class.
                check(unsafe { (*b).free }, class);
            }
        }
    }
}
