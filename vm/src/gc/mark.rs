//! Marking.
//!
//! A white object that is reached becomes gray and is pushed on a stack. When it is popped, it becomes black, and the objects that it
//! refers to are reached. There is no recursion.

use super::Heap;
use super::slices::Slices;
use super::stacks::Stacks;
use super::visit::{Edge, Visitor};
use crate::Vm;
use crate::interrupt::{Interrupted, Poll};
use crate::object::{Gc, GcHeader, Kind, Object, Proto, ProtoFlags, ShapeSet, Str, Table, Thread};
use crate::value::Value;
use std::rc::Rc;

/// A table larger than this needs memory in one piece to grow, which must be reserved.
const LARGE: usize = 1 << 20;
/// So many small tables may be left to the atomic phase, which takes half a millisecond for them.
const FEW: usize = if cfg!(miri) { 250 } else { 5000 };
/// So many bytes of new objects may be left to it: about a millisecond, if all of them are reached.
const LITTLE: usize = if cfg!(miri) { 128 << 10 } else { 2 << 20 };
/// The array parts of shorter tables are not looked at twice, to find out whether there are references in them.
const LONG: u32 = 64;
/// Bytes that are traversed between two looks at interrupts at the end of marking: about a millisecond.
pub(super) const PART: usize = 1 << 20;
/// The most rounds. Each is faster than the one before ([`Marker::pace`]), so that the collector catches up with a program that changes objects
/// as fast as it marks them: in eight rounds with a thousandth left. A program that is several times as fast is not caught up with by more.
const ROUNDS: usize = 8;

/// Which references of a weak table are weak.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct WeakMode {
    /// Keys.
    pub keys: bool,
    /// Values.
    pub values: bool,
}

/// The marking state.
#[derive(Debug, Default)]
pub struct Marker {
    /// Reached, to be traversed.
    pub(super) gray: Vec<Gc<GcHeader>>,
    /// Tables that were stored into, to be traversed again.
    pub(super) gray_again: Vec<Gc<GcHeader>>,
    /// Coroutines that were traversed.
    pub(super) stacks: Stacks,
    /// Rounds begun in this cycle, see [`Marker::begins_round`].
    rounds: usize,
    /// Bytes in use when the last of them, or the cycle, began.
    in_use: usize,
    /// Large tables that are being traversed.
    pub(super) slices: Slices,
    /// Weak tables met.
    pub(super) weak: Vec<(Gc<Table>, WeakMode)>,
    /// Prototypes that were reached and whose traces are marked last.
    pub(super) traced: Vec<Gc<Proto>>,
    /// Shapes of tables whose keys are marked.
    pub(super) keyed: ShapeSet,
    /// Bytes that the largest table needs to grow.
    pub(super) growth: usize,
    /// In the atomic phase?
    pub(super) atomic: bool,
    /// `__mode`
    pub(super) mode_name: Option<Gc<Str>>,
    /// The running coroutine and the end of its stack in use.
    pub(super) running: Option<(Gc<Thread>, *mut Value)>,
}

/// Are there no references in a table but for those in its array part?
pub(super) fn may_be_leaf(t: &Table) -> bool {
    t.hmask.get() == 0 && t.meta.get().is_none()
}

impl Visitor for Marker {
    #[inline(always)]
    fn value(&mut self, _: Edge, v: Value) {
        self.mark_value(v);
    }
    #[inline(always)]
    fn object(&mut self, _: Edge, o: Gc<GcHeader>) {
        self.mark_object(o);
    }
    fn stack_top(&self, t: &Thread) -> *mut Value {
        let top = match self.running {
            Some((cur, top)) if core::ptr::eq(&raw const *cur, t) => top,
            _ => t.top.get(),
        };
        // Compiled code may not have updated the VM's top when it switched to another stack.
        let end = t.stack.get().wrapping_add(t.size.get() as usize);
        if top < t.stack.get() || top > end { end } else { top }
    }
}

impl Marker {
    /// Marks a value as reachable.
    #[inline(always)]
    pub fn mark_value(&mut self, v: Value) {
        if let Some(o) = v.as_gc() {
            self.mark_object(o);
        }
    }
    /// Marks an object as reachable.
    #[inline(always)]
    pub fn mark_object(&mut self, o: Gc<GcHeader>) {
        debug_assert!(o.kind() != Kind::Free, "a freed object is reachable");
        if o.is_white() {
            o.white_to_gray();
            if o.kind.get() != Kind::Str as u8 {
                self.gray.push(o);
            }
        }
    }
    /// Notes that the traces of a prototype must be marked, which got them after it was marked.
    pub fn mark_traces_of(&mut self, p: Gc<Proto>) {
        self.traced.push(p);
    }
    /// Marks the object behind a pointer of any type.
    #[inline(always)]
    pub fn mark<T>(&mut self, o: Gc<T>) {
        self.mark_object(o.header());
    }
    /// Clears what the last cycle has left.
    pub(super) fn reset(&mut self) {
        self.gray.clear();
        self.gray_again.clear();
        self.stacks.clear();
        self.rounds = 0;
        self.slices.clear();
        self.weak.clear();
        self.traced.clear();
        self.keyed.clear();
        self.growth = 0;
        self.gray.shrink_to(1 << 12);
        self.gray_again.shrink_to(1 << 12);
        self.atomic = false;
    }
    /// Traverses gray objects until about `budget` bytes are done; returns the bytes done. A result below the budget means that no gray
    /// object remains.
    pub(super) fn propagate(&mut self, budget: usize) -> usize {
        let mut done = 0;
        while done < budget {
            done += match self.gray.pop() {
                Some(o) => self.traverse(o),
                None if !self.slices.is_empty() => self.traverse_slice(),
                None if !self.stacks.is_checked() => self.check_stacks(),
                None => break,
            }
        }
        done
    }
    /// Is nothing left to be traversed before the atomic phase, with so many bytes in use?
    pub(super) fn is_done(&mut self, in_use: usize) -> bool {
        self.gray.is_empty() && self.slices.is_empty() && self.stacks.is_checked() && !self.begins_round(in_use)
    }
    /// Turns again to the tables that were stored into, and to the stacks, since what is new is often reached by them only. The atomic phase,
    /// which must do the same, then finds little. False if it would find little as it is.
    fn begins_round(&mut self, in_use: usize) -> bool {
        let is_large = |o: &Gc<GcHeader>| matches!(o.typed(), Some(Object::Table(t)) if self.is_large(&t));
        let few = self.gray_again.len() <= FEW && !self.gray_again.iter().any(is_large);
        if self.rounds == ROUNDS || few && in_use.saturating_sub(self.in_use) < LITTLE {
            return false;
        }
        self.rounds += 1;
        self.in_use = in_use;
        // Gray is empty. Both lists may have a million entries, so they are not copied.
        core::mem::swap(&mut self.gray, &mut self.gray_again);
        if self.stacks.running.len() <= FEW {
            self.gray.extend(self.stacks.running.drain(..).map(Gc::header));
        } else if let Some((running, _)) = self.running {
            self.gray.push(running.header());
        }
        self.stacks.check_again();
        true
    }
    /// How many times its usual work a step does.
    pub(super) fn pace(&self) -> usize {
        1 + self.rounds
    }
    /// Traverses one gray object; returns a measure of the work.
    #[inline]
    fn traverse(&mut self, o: Gc<GcHeader>) -> usize {
        match o.typed() {
            Some(Object::Table(t)) => self.traverse_table(t),
            Some(Object::Thread(t)) => self.traverse_thread(t),
            Some(Object::UpVal(uv)) => {
                // Open upvalues stay gray: stack stores have no barrier.
                if uv.is_closed() {
                    o.gray_to_black();
                }
                uv.visit(self);
                32
            }
            Some(Object::Func(f)) => {
                o.gray_to_black();
                f.visit(self);
                48
            }
            Some(Object::Proto(p)) => {
                o.gray_to_black();
                p.visit(self);
                self.traverse_proto(p)
            }
            Some(Object::Udata(u)) => {
                o.gray_to_black();
                u.visit(self);
                48
            }
            Some(Object::Cdata(_)) => {
                o.gray_to_black();
                16
            }
            Some(Object::Str(_)) | None => 0,
        }
    }
    fn traverse_proto(&mut self, p: Gc<Proto>) -> usize {
        if p.flags.get() & ProtoFlags::TRACED != 0 {
            self.traced.push(p);
        }
        256
    }
    #[inline]
    fn traverse_table(&mut self, t: Gc<Table>) -> usize {
        let bytes = t.asize() as usize * 8 + t.num_nodes() as usize * 24;
        if bytes > LARGE {
            self.growth = self.growth.max(Heap::growth_of(&t));
        }
        if t.hdr.is_leaf() {
            t.hdr.gray_to_black();
            return 48;
        }
        if self.is_large(&t) {
            self.slices.add(t);
            return 48;
        }
        match t.meta.get().and_then(|m| self.weak_mode(m)) {
            None => {
                t.hdr.gray_to_black();
                if t.asize() >= LONG && may_be_leaf(&t) && t.array_part().iter().all(|slot| !slot.get().is_gc()) {
                    t.hdr.set_leaf(true);
                } else {
                    self.visit_table(t);
                }
            }
            Some(mode) => self.traverse_weak(t, mode),
        }
        48 + bytes
    }
    /// As [`Table::visit`], but without the keys if they are known to be marked.
    #[inline(always)]
    fn visit_table(&mut self, t: Gc<Table>) {
        if !self.keyed.add(t.shape.get()) {
            return t.visit(self);
        }
        if let Some(m) = t.meta.get() {
            self.mark(m);
        }
        t.visit_array(self);
        for n in t.nodes() {
            self.mark_value(n.val.get());
        }
    }
}

impl Vm {
    /// Tells the marker where the running stack ends.
    pub(super) fn note_running(&mut self) {
        self.heap.cycle.marker.running = Some((self.cur, self.top));
    }
    /// Marks all roots.
    pub(super) fn mark_roots(&mut self) {
        let m = &mut self.heap.cycle.marker;
        m.mark(self.realm.main);
        m.mark(self.cur);
        m.mark(self.realm.globals);
        m.mark(self.realm.registry);
        m.mark_value(self.errors.value);
        m.mark_value(self.errors.overflow);
        for f in self.realm.io_defaults {
            m.mark_value(f);
        }
        for t in self.realm.base_meta.iter().flatten() {
            m.mark(*t);
        }
        for s in self.realm.meta_names.iter().chain(&self.realm.pri_names).flatten() {
            m.mark(*s);
        }
        self.host.roots.for_each(|v| m.mark_value(v));
        for kept in self.compilation_cache.kept() {
            m.mark(kept.source);
            m.mark(kept.name);
            m.mark(kept.proto);
        }
        for (_, v) in &self.host.event_handlers {
            m.mark_value(*v);
        }
        for due in &self.heap.finalizers.due {
            due.mark(m);
        }
        for (_, f) in self.heap.finalizers.of_cdata.values() {
            m.mark_value(*f);
        }
        for v in &self.heap.finalizers.pending_errors {
            m.mark_value(*v);
        }
        if let Some(ffi) = &mut self.ffi {
            ffi.mark(m);
        }
        let compiler = self.compiler.clone();
        compiler.mark(&mut self.heap.cycle.marker);
        if let Some(observer) = self.observer.clone() {
            if self.heap.cycle.marker.atomic {
                observer.functions_go(self);
            }
            observer.mark(&mut self.heap.cycle.marker);
        }
    }
    /// Traverses all gray objects.
    pub(super) fn propagate_all(&mut self) -> Result<usize, Interrupted> {
        let mut all = 0;
        loop {
            let done = self.heap.cycle.marker.propagate(PART);
            all += done;
            if done < PART {
                return Ok(all);
            }
            Poll::Lasting(&self.interrupts.flag).look()?;
        }
    }
    /// Traverses all gray objects, and then the traces of the prototypes met so far.
    pub(super) fn propagate_with_traces(&mut self) -> Result<usize, Interrupted> {
        let (compiler, waiting) = (Rc::clone(&self.compiler), self.compiled.native_calls != 0);
        let mut done = 0;
        loop {
            done += self.propagate_all()?;
            let m = &mut self.heap.cycle.marker;
            let Some(p) = m.traced.pop() else { return Ok(done) };
            compiler.mark_traces(p, waiting, m);
        }
    }
    /// Starts a cycle.
    pub(super) fn start_cycle(&mut self) {
        self.heap.cycle.marker.reset();
        self.heap.cycle.marker.in_use = self.heap.total;
        self.heap.limit.grown = 0;
        self.heap.finalizers.begin_search();
        self.mark_roots();
    }
}
