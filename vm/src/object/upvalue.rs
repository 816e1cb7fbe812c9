//! Upvalues: the list of open ones of each coroutine, and closing them.
#![allow(
    unsafe_code,
    reason = "an open upvalue points to a slot of its stack and is on the list of its thread; dead ones leave the list before they are freed"
)]

use super::{Gc, Kind, Thread, UpVal};
use crate::Vm;
use crate::gc::Phase;
use crate::value::Value;
use core::cell::Cell;
use core::mem::size_of;

impl UpVal {
    /// Moves the value out of the stack. The upvalue is off its list; the caller takes care of colours.
    pub(crate) fn close(&self) {
        self.closed.set(self.get());
        self.v.set(self.closed.as_ptr());
        self.hdr.b0.set(1);
        self.next.set(core::ptr::null_mut());
    }
}

impl Thread {
    /// The open upvalues, from the highest stack slot down.
    pub fn open_upvals(&self) -> impl Iterator<Item = Gc<UpVal>> {
        let mut p = self.open.get();
        core::iter::from_fn(move || {
            if p.is_null() {
                return None;
            }
            // SAFETY: upvalues on the list are not freed: dead ones leave it in the atomic phase.
            let uv = unsafe { Gc::from_ptr(p) };
            p = uv.next.get();
            Some(uv)
        })
    }
}

/// Address of the link after an upvalue.
#[inline(always)]
fn next_link(uv: Gc<UpVal>) -> *const Cell<*mut UpVal> {
    uv.as_ptr().wrapping_byte_add(core::mem::offset_of!(UpVal, next)).cast()
}

impl Vm {
    /// # Safety
    /// `v` is null, and set before anything else happens, or a slot that the upvalue is closed before; `next` is null or an open upvalue.
    unsafe fn new_upval(&mut self, closed: bool, v: *mut Value, value: Value, next: *mut UpVal) -> Gc<UpVal> {
        let hdr = self.heap.header(Kind::UpVal, u8::from(closed), 0, 0);
        let p = self.heap.alloc_cell(size_of::<UpVal>()).cast::<UpVal>();
        // SAFETY: a new cell of this size.
        unsafe {
            p.write(UpVal { hdr, v: Cell::new(v), closed: Cell::new(value), next: Cell::new(next) });
            Gc::from_ptr(p)
        }
    }
    /// A closed upvalue.
    pub fn new_upval_closed(&mut self, v: Value) -> Gc<UpVal> {
        // SAFETY: the address follows.
        let uv = unsafe { self.new_upval(true, core::ptr::null_mut(), v, core::ptr::null_mut()) };
        uv.v.set(uv.closed.as_ptr());
        uv
    }
    /// The open upvalue of a stack slot, made if there is none.
    ///
    /// # Safety
    /// `slot` is on the stack of `thread`, and the upvalue is closed before the slot goes out of scope.
    #[inline]
    pub unsafe fn find_upval(&mut self, thread: Gc<Thread>, slot: *mut Value) -> Gc<UpVal> {
        let mut link: *const Cell<*mut UpVal> = &raw const thread.open;
        loop {
            // SAFETY: `link` is in the thread or in an upvalue on its list; those are alive (dead ones leave it in the atomic phase).
            let p = unsafe { (*link).get() };
            if !p.is_null() {
                // SAFETY: as above.
                let uv = unsafe { Gc::from_ptr(p) };
                if uv.v.get() == slot {
                    self.heap.revive(uv.header());
                    return uv;
                }
                if uv.v.get() > slot {
                    link = next_link(uv);
                    continue;
                }
            }
            self.heap.note_open_upvals(thread);
            // SAFETY: the contract of this function; `p` is the next one of the list.
            let uv = unsafe { self.new_upval(false, slot, Value::NIL, p) };
            // SAFETY: as above; making the upvalue changed nothing.
            unsafe { (*link).set(uv.as_ptr()) };
            return uv;
        }
    }
    /// Closes the running coroutine's upvalues of stack slots at or above `level`.
    #[inline]
    pub fn close_upvals(&mut self, level: *mut Value) {
        let cur = self.cur;
        self.close_upvals_of(cur, level);
    }
    /// Closes a coroutine's upvalues of stack slots at or above `level`.
    pub fn close_upvals_of(&mut self, thread: Gc<Thread>, level: *mut Value) {
        loop {
            let p = thread.open.get();
            if p.is_null() {
                return;
            }
            // SAFETY: as in `open_upvals`.
            let uv = unsafe { Gc::from_ptr(p) };
            if uv.v.get() < level {
                return;
            }
            thread.open.set(uv.next.get());
            uv.close();
            // Open upvalues are never black, closed ones never gray: a gray one was reached already, and its value must be marked from now
            // on.
            if uv.hdr.is_gray() {
                if matches!(self.heap.phase(), Phase::Propagate | Phase::Atomic) {
                    uv.hdr.gray_to_black();
                    self.barrier_forward(uv.header(), uv.get());
                } else {
                    uv.hdr.make_white(self.heap.white());
                }
            }
        }
    }
}
