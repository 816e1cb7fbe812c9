//! Finalizers: the `__gc` metamethods of userdata, and what `ffi.gc` has given to cdata.
//!
//! The atomic phase looks for unreachable userdata with a `__gc`, newest first, queues them, and marks them again with all that they refer
//! to. The finalizers are called one per step; their userdata are freed in a later cycle. A finalizer is called once.

use super::filter::WORK;
use super::heap::{Due, Finalizers};
use super::{Heap, Marker, Phase};
use crate::Vm;
use crate::hooks::Mode;
use crate::meta::MM;
use crate::object::{Cdata, Gc, Table, Udata, cdata_flag};
use crate::stdlib::{self, Builtin};
use crate::value::Value;

/// When the state closes, finalizers may create userdata with finalizers. This is the most rounds of that.
const CLOSE_ROUNDS: usize = 10;
/// Bit of the negative metamethod cache for `__gc`.
const NO_GC: u8 = 1 << MM::Gc as u8;
/// A measure of the work of a finalizer, where there are few.
const FINALIZER: usize = 256;
/// While finalizers are called, the heap grows by one part in this many: little beside the doubling between two cycles, and the finalizers of
/// a heap that has nothing but small userdata still take a small part of a millisecond in each step.
const GROWTH: usize = 8;
/// Userdata that are searched at a time. The search of each, in its metatable, may cost several cache misses, of about 100 ns.
const SEARCHED: usize = 256;

/// Is it known that the metatable has no `__gc`?
fn has_no_gc(meta: Gc<Table>) -> bool {
    meta.hdr.b0.get() & NO_GC != 0
}

impl Due {
    /// Marks the object and its finalizer.
    pub(super) fn mark(&self, m: &mut Marker) {
        match self {
            Due::Udata(u) => m.mark(*u),
            Due::Cdata(c, f) => {
                m.mark(*c);
                m.mark_value(*f);
            }
        }
    }
}

impl Finalizers {
    /// A cycle begins: no userdata has been searched.
    pub(super) fn begin_search(&mut self) {
        self.unreached.clear();
        self.searched = 0;
    }
    /// The finalizers are about to be called, beside a heap as large as what `steps` steps of the collector are for. If a program made objects
    /// faster than their finalizers are called, each cycle would have more of them than the last.
    pub(super) fn set_pace(&mut self, steps: usize) {
        self.pace = self.due.len() / (steps / GROWTH).max(GROWTH) + 1;
    }
    /// Queues cdata that have a finalizer and are unreachable (or `all` of them), newest first.
    fn separate_cdata(&mut self, all: bool) {
        let mut found = Vec::new();
        self.of_cdata.retain(|c, (number, f)| {
            let due = all || c.hdr.is_white();
            if due {
                found.push((*number, Due::Cdata(*c, *f)));
                c.set_flag(cdata_flag::FINALIZER, false);
                c.hdr.b1.set(1);
            }
            !due
        });
        found.sort_by_key(|(number, _)| core::cmp::Reverse(*number));
        self.due.extend(found.into_iter().map(|(_, due)| due));
    }
}

impl Heap {
    /// Calls `f` with a name for each object whose finalizer is due, and for each finalizer of a cdata.
    pub fn for_each_finalizer(&self, mut f: impl FnMut(&'static str, Value)) {
        for due in &self.finalizers.due {
            match *due {
                Due::Udata(u) => f("object to be finalized", Value::udata(u)),
                Due::Cdata(c, finalizer) => {
                    f("object to be finalized", Value::cdata(c));
                    f("finalizer", finalizer);
                }
            }
        }
        self.finalizers.of_cdata.values().for_each(|(_, finalizer)| f("finalizer", *finalizer));
    }
    /// Gives a cdata a finalizer; nil takes it away.
    pub(crate) fn set_cdata_finalizer(&mut self, c: Gc<Cdata>, f: Value) {
        if f.is_nil() {
            self.finalizers.of_cdata.remove(&c);
            return;
        }
        self.finalizers.set += 1;
        self.finalizers.of_cdata.insert(c, (self.finalizers.set, f));
    }
}

impl Vm {
    fn finalizer_of(&self, u: Gc<Udata>) -> Option<Value> {
        let gc = self.metatable_method(u.meta.get()?, MM::Gc);
        if gc.is_nil() { None } else { Some(gc) }
    }
    /// Sets or removes the metatable of a userdata.
    pub fn set_udata_meta(&mut self, u: Gc<Udata>, meta: Option<Gc<Table>>) {
        u.meta.set(meta);
        self.barrier_forward(u.header(), meta.map_or(Value::NIL, Value::table));
        if u.hdr.is_white() && self.heap.finalizers.searched != 0 {
            // It may have been searched without this metatable.
            self.heap.finalizers.unreached.push((u, None));
        }
    }
    /// Before the atomic phase: searches some userdata for those that are white, since only these, and those that are new, may turn out to be
    /// due. Returns a measure of the work; `None` if there is nothing to search.
    pub(super) fn search_udata(&mut self) -> Option<usize> {
        let from = self.heap.finalizers.searched;
        let end = self.heap.lists.udatas.len().min(from + SEARCHED);
        for i in from..end {
            let u = self.heap.lists.udatas[i];
            if u.hdr.is_white() && u.hdr.b0.get() == 0 && u.meta.get().is_some() {
                let without = if self.finalizer_of(u).is_none() { u.meta.get() } else { None };
                self.heap.finalizers.unreached.push((u, without));
            }
        }
        self.heap.finalizers.searched = end;
        // The last few are left to the atomic phase, or the search would never end while there are new ones.
        (end - from == SEARCHED).then_some(SEARCHED * WORK)
    }
    /// Queues userdata that have a finalizer and are unreachable (or `all` of them), newest first.
    pub(super) fn separate_udata(&mut self, all: bool) {
        let f = &mut self.heap.finalizers;
        let (unreached, searched) = (core::mem::take(&mut f.unreached), core::mem::take(&mut f.searched));
        let mut found = Vec::new();
        let mut consider = |u: Gc<Udata>| {
            if (all || u.hdr.is_white()) && u.hdr.b0.get() == 0 && self.finalizer_of(u).is_some() {
                u.hdr.b0.set(1);
                found.push(Due::Udata(u));
            }
        };
        let first_new = if all { 0 } else { searched };
        self.heap.lists.udatas[first_new..].iter().rev().for_each(|u| consider(*u));
        if !all {
            // Most have no finalizer, and have not got one: then only one word is looked at.
            let may_have_one = |(_, without): &&(_, Option<Gc<Table>>)| without.is_none_or(|meta| !has_no_gc(meta));
            unreached.iter().rev().filter(may_have_one).for_each(|(u, _)| consider(*u));
        }
        self.heap.finalizers.due.extend(found);
        self.heap.finalizers.separate_cdata(all);
    }
    /// Calls the finalizer that is due first. False when there is none.
    pub(super) fn run_finalizer(&mut self) -> bool {
        let Some(due) = self.heap.finalizers.due.pop_front() else { return false };
        // What it owns is freed with it: see `Finalizers::retained`.
        let owned = match due {
            Due::Udata(u) => u.external.get(),
            Due::Cdata(c, _) => c.stored_cell_size(),
        };
        self.heap.pacing.estimate = self.heap.pacing.estimate.saturating_sub(owned);
        match due {
            Due::Udata(u) => {
                if let Some(f) = self.finalizer_of(u) {
                    self.outside_program(|vm| {
                        if !vm.finalize_of_library(f, u) {
                            vm.call_finalizer(f, Value::udata(u));
                        }
                    });
                }
            }
            Due::Cdata(c, f) => {
                // It may be given a finalizer again.
                c.hdr.b1.set(0);
                self.outside_program(|vm| vm.call_finalizer(f, Value::cdata(c)));
            }
        }
        true
    }
    /// Does what a finalizer of the libraries does, without a call: no limit that the program has reached, be it of time, instructions or
    /// memory, keeps its files open. False if it is another finalizer.
    fn finalize_of_library(&mut self, f: Value, u: Gc<Udata>) -> bool {
        match f.as_func().and_then(|f| Builtin::from_id(f.ffid())) {
            Some(Builtin::IoMethodGc) => stdlib::io::finalize(u, &self.interrupts.flag),
            Some(Builtin::BufferMethodGc) => self.finalize_buffer(u),
            _ => false,
        }
    }
    /// Runs `f`, which may run Lua code, in the middle of a program without visible effects: nothing of it is recorded, no hook is called,
    /// and a pending error is kept. No collection steps run meanwhile; an explicit full collection is possible.
    pub(crate) fn outside_program<R>(&mut self, f: impl FnOnce(&mut Vm) -> R) -> R {
        if self.interp.mode == Mode::Record {
            // The recording would not see the instructions of `f`.
            self.abort_recording();
        }
        let nested = core::mem::replace(&mut self.heap.finalizers.running, true);
        self.heap.update_threshold();
        self.callback.no_record += 1;
        let hooks = self.suspend_hooks(true);
        let pc = self.pc;
        let fuel = self.fuel_outside(true);
        let result = self.keeping_error(f);
        self.fuel_outside(fuel);
        self.pc = pc;
        self.suspend_hooks(hooks);
        self.callback.no_record -= 1;
        self.heap.finalizers.running = nested;
        self.heap.update_threshold();
        result
    }
    /// Runs `f`, which may raise and catch other errors, and keeps the error that is being raised; a collection inside does not free it.
    pub(crate) fn keeping_error<R>(&mut self, f: impl FnOnce(&mut Vm) -> R) -> R {
        let error = self.errors.value;
        self.heap.finalizers.pending_errors.push(error);
        let result = f(self);
        self.heap.finalizers.pending_errors.pop();
        self.errors.value = error;
        result
    }
    /// Calls one finalizer; returns a measure of the work, of which a step does `budget`. A finalizer that asks for a full collection runs the
    /// finalizers that are due, as in LuaJIT.
    pub(super) fn finalize_step(&mut self, budget: usize) -> usize {
        if !self.run_finalizer() || self.heap.finalizers.due.is_empty() {
            // A collection inside the finalizer may have begun another cycle.
            if self.heap.cycle.phase == Phase::Finalize {
                self.heap.cycle.phase = Phase::Pause;
            }
        }
        (budget / self.heap.finalizers.pace.max(1)).clamp(1, FINALIZER)
    }
    /// Calls the finalizers of all userdata, newest first, before the state closes.
    pub fn run_all_finalizers(&mut self) {
        self.heap.settle();
        for _ in 0..CLOSE_ROUNDS {
            self.separate_udata(true);
            if self.heap.finalizers.due.is_empty() {
                return;
            }
            while self.run_finalizer() {}
        }
    }
}
