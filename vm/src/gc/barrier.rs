//! Write barriers: a black object never refers to a white one while the collector marks.
//!
//! A table that is stored into becomes gray again ([`Vm::barrier_back`]): it will be traversed again in the atomic phase, and further
//! stores cost nothing. For other objects (upvalues, functions, userdata) the stored object is marked at once ([`Vm::barrier_forward`]).
//! Outside of marking, the barrier only removes the black colour, so that it does not fire again.
#![allow(unsafe_code, reason = "the value of a closed upvalue lies inside the upvalue")]

use super::Phase;
use crate::Vm;
use crate::object::{Gc, GcHeader, Table, UpVal};
use crate::value::Value;
use core::mem::offset_of;

impl Vm {
    /// Must be called when a collectable value is stored into a table, before or after the store.
    #[inline(always)]
    pub fn barrier_back(&mut self, t: Gc<Table>) {
        if t.hdr.is_black() {
            self.barrier_back_cold(t);
        }
    }
    #[cold]
    #[inline(never)]
    fn barrier_back_cold(&mut self, t: Gc<Table>) {
        t.hdr.black_to_gray();
        if matches!(self.heap.cycle.phase, Phase::Propagate | Phase::Atomic) {
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
        if matches!(self.heap.cycle.phase, Phase::Propagate | Phase::Atomic) {
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
