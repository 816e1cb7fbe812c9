//! Write barriers: a black object never refers to a white one while the collector marks.
//!
//! A table that is stored into becomes gray again ([`Vm::barrier_back`]): it will be traversed again in the atomic phase, and further
//! stores cost nothing. If it is large, what is stored is marked at once instead ([`Vm::barrier_store`]), as for other objects
//! (upvalues, functions, userdata; [`Vm::barrier_forward`]).
//! Outside of marking, the barrier only removes the black colour, so that it does not fire again. A table that gets its first reference is no
//! longer a [`super::color::LEAF`].
#![allow(unsafe_code, reason = "the value of a closed upvalue lies inside the upvalue")]

use crate::Vm;
use crate::object::{Gc, GcHeader, Table, UpVal};
use crate::value::Value;
use core::mem::offset_of;

impl Vm {
    /// Must be called when `v` is stored into a table under `key`, before or after the store.
    #[inline(always)]
    pub fn barrier_store(&mut self, t: Gc<Table>, key: Value, v: Value) {
        if t.hdr.needs_barrier() {
            self.barrier_store_cold(t, key, v);
        }
    }
    #[cold]
    #[inline(never)]
    fn barrier_store_cold(&mut self, t: Gc<Table>, key: Value, v: Value) {
        // Nil stands for a value that is not known yet.
        if !key.is_gc() && !v.is_gc() && !v.is_nil() {
            return;
        }
        t.hdr.set_leaf(false);
        if !t.hdr.is_black() {
            return;
        }
        if !self.heap.cycle.marker.is_large(&t) || !self.heap.cycle.phase.is_marking() {
            return self.barrier_back_cold(t);
        }
        self.heap.cycle.marker.mark_value(key);
        self.heap.cycle.marker.mark_value(v);
    }
    /// Must be called when a table has got a metatable, or collectable values that are not known here.
    #[inline(always)]
    pub fn barrier_back(&mut self, t: Gc<Table>) {
        if t.hdr.needs_barrier() {
            self.barrier_back_cold(t);
        }
    }
    #[cold]
    #[inline(never)]
    fn barrier_back_cold(&mut self, t: Gc<Table>) {
        t.hdr.set_leaf(false);
        if !t.hdr.is_black() {
            return;
        }
        t.hdr.black_to_gray();
        if self.heap.cycle.phase.is_marking() {
            self.heap.cycle.marker.gray_again.push(t.header());
        }
    }
    /// Must be called after `v` was stored into the object `o`, which is not a table.
    #[inline(always)]
    pub fn barrier_forward(&mut self, o: Gc<GcHeader>, v: Value) {
        self.heap.check_live(v);
        if let Some(target) = v.as_gc()
            && o.is_black()
            && target.is_white()
        {
            self.barrier_forward_cold(o, target);
        }
    }
    #[cold]
    #[inline(never)]
    fn barrier_forward_cold(&mut self, o: Gc<GcHeader>, target: Gc<GcHeader>) {
        if self.heap.cycle.phase.is_marking() {
            self.heap.cycle.marker.mark_object(target);
        } else {
            // The sweep would make it white later.
            o.make_white(self.heap.white());
        }
    }
    /// [`Vm::barrier_forward`] for a closed upvalue given by the address of its value.
    ///
    /// # Safety
    /// `slot` is the value of a live closed upvalue.
    pub unsafe fn barrier_upval_slot(&mut self, slot: *mut Value, v: Value) {
        let uv = slot.wrapping_byte_sub(offset_of!(UpVal, closed)).cast::<UpVal>();
        // SAFETY: the contract of this function.
        self.barrier_forward(unsafe { Gc::from_ptr(uv) }.header(), v);
    }
}
