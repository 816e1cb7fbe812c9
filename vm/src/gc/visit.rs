//! The references of each kind of object: one visitor per kind, for the collector, the verifier and heap snapshots.
//!
//! Not visited: the key of a table entry whose value is nil, unless it is a string. Such a key may have been freed; it is compared by
//! address only. (Strings are hashed by content, so they must stay.)
#![allow(unsafe_code, reason = "all slots of a stack are initialised")]

use crate::object::{Func, Gc, GcHeader, Node, Object, Proto, Table, Thread, Udata, UpVal};
use crate::value::Value;

/// How an object refers to another.
#[derive(Copy, Clone, Debug)]
pub enum Edge {
    /// Metatable.
    Meta,
    /// Environment.
    Env,
    /// Element of the array part.
    Element(u32),
    /// Key of the hash part.
    Key,
    /// Value in the hash part, under this key.
    Field(Value),
    /// Prototype of a function.
    Proto,
    /// Upvalue.
    Upvalue(u32),
    /// Constant of a prototype.
    Const(u32),
    /// Chunk name of a prototype.
    ChunkName,
    /// The value of a closed upvalue, or a stack slot that an open one refers to; the anchor of a userdata.
    Held,
    /// Stack slot.
    Stack(u32),
    /// The coroutine that resumed this one.
    Resumer,
}

/// Receives the references of an object.
pub trait Visitor {
    /// A value (of any type).
    fn value(&mut self, edge: Edge, v: Value);
    /// An object.
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>);
    /// End of the part of a stack that is in use. For the running coroutine, only the VM knows it.
    fn stack_top(&self, t: &Thread) -> *mut Value {
        t.top.get()
    }
    /// Are the other elements and fields of a table of no interest any more?
    #[inline(always)]
    fn has_ended(&self) -> bool {
        false
    }
}

/// Visits the objects that `o` refers to.
#[inline]
pub fn visit_object(o: Gc<GcHeader>, v: &mut impl Visitor) {
    match o.typed() {
        Some(Object::Table(t)) => t.visit(v),
        Some(Object::Func(f)) => f.visit(v),
        Some(Object::UpVal(uv)) => uv.visit(v),
        Some(Object::Proto(p)) => p.visit(v),
        Some(Object::Thread(t)) => t.visit(v),
        Some(Object::Udata(u)) => u.visit(v),
        Some(Object::Str(_) | Object::Cdata(_)) | None => {}
    }
}

#[inline]
fn visit_meta(meta: Option<Gc<Table>>, v: &mut impl Visitor) {
    if let Some(m) = meta {
        v.object(Edge::Meta, m.header());
    }
}

impl Table {
    /// Visits metatable, array and hash part.
    #[inline]
    pub fn visit(&self, v: &mut impl Visitor) {
        visit_meta(self.meta.get(), v);
        self.visit_array(v);
        for n in self.nodes() {
            if v.has_ended() {
                return;
            }
            Table::visit_node(n, true, true, v);
        }
    }
    /// Visits the array part.
    #[inline(always)]
    pub fn visit_array(&self, v: &mut impl Visitor) {
        for (i, slot) in self.array_part().iter().enumerate() {
            if v.has_ended() {
                return;
            }
            v.value(Edge::Element(i as u32), slot.get());
        }
    }
    /// Visits one node.
    #[inline(always)]
    pub fn visit_node(n: &Node, keys: bool, values: bool, v: &mut impl Visitor) {
        let (key, val) = (n.key.get(), n.val.get());
        if !val.is_nil() {
            if keys || key.is_str() {
                v.value(Edge::Key, key);
            }
            if values || val.is_str() {
                v.value(Edge::Field(key), val);
            }
        } else if key.is_str() {
            v.value(Edge::Key, key);
        }
    }
}

impl Func {
    /// Visits environment, prototype and upvalues.
    #[inline]
    pub fn visit(&self, v: &mut impl Visitor) {
        v.object(Edge::Env, self.env.get().header());
        if let Some(p) = self.proto() {
            v.object(Edge::Proto, p.header());
        }
        for (i, u) in self.upvalues().iter().enumerate() {
            v.object(Edge::Upvalue(i as u32), u.get().header());
        }
        for (i, u) in self.native_upvalues().iter().enumerate() {
            v.value(Edge::Upvalue(i as u32), u.get());
        }
    }
}

impl UpVal {
    /// Visits the value.
    #[inline]
    pub fn visit(&self, v: &mut impl Visitor) {
        v.value(Edge::Held, self.get());
    }
}

impl Proto {
    /// Visits constants and chunk name.
    pub fn visit(&self, v: &mut impl Visitor) {
        v.object(Edge::ChunkName, self.chunkname.header());
        for (i, k) in self.consts.iter().enumerate() {
            v.value(Edge::Const(i as u32), *k);
        }
    }
}

impl Thread {
    /// Visits environment, resumer and the stack up to its end in use. Frame links on the stack look like doubles.
    pub fn visit(&self, v: &mut impl Visitor) {
        v.object(Edge::Env, self.env.get().header());
        if let Some(r) = self.resumer.get() {
            v.object(Edge::Resumer, r.header());
        }
        let mut p = self.stack.get();
        let top = v.stack_top(self);
        let mut i = 0;
        while p < top {
            // SAFETY: `p` is below the top of the stack; all slots of a stack are initialised.
            v.value(Edge::Stack(i), unsafe { *p });
            p = p.wrapping_add(1);
            i += 1;
        }
    }
}

impl Udata {
    /// Visits environment, metatable and anchor.
    pub fn visit(&self, v: &mut impl Visitor) {
        v.object(Edge::Env, self.env.get().header());
        visit_meta(self.meta.get(), v);
        v.value(Edge::Held, self.anchor.get());
    }
}
