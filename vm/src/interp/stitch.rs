//! Stitches: from one trace over a call that is not compiled to the next.
//!
//! A trace that ends before such a call goes on in the interpreter at a *pad*: a copy of the call instruction, apart from the
//! function's code, with a STITCH behind it. What the call calls returns to the STITCH, wherever it was meanwhile (in another
//! coroutine, say), and that enters the next trace, or goes back to the code. The function's own instructions stay as they are,
//! and other ways to the call are not affected.
#![allow(unsafe_code, reason = "a pad holds the instruction that follows the call that its trace ends before")]

use super::jit::enter_trace;
use super::op;
use crate::bc::{Ins, Op};
use crate::ids::TraceId;
use crate::object::Proto;
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

/// A copy of a call instruction with what happens behind it.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Pad {
    /// The call.
    call: Ins,
    /// STITCH: D is the trace to enter, or 0; A is 1 when no trace is to be tried any more.
    stitch: Cell<Ins>,
    /// The instruction behind the call in the code.
    back: *const Ins,
    /// Times that the call came back and no trace was there.
    heat: Cell<u32>,
    /// Failures to make one.
    failures: Cell<u32>,
    /// The trace that came to the call first.
    parent: TraceId,
}

impl Pad {
    /// Where to execute the call, so that it comes back to the STITCH.
    pub fn entry(&self) -> *const Ins {
        &raw const self.call
    }
    /// Its STITCH.
    pub fn stitch(&self) -> *const Ins {
        self.stitch.as_ptr().cast_const()
    }
    /// The instruction behind the call.
    pub fn back(&self) -> *const Ins {
        self.back
    }
    /// The trace that goes on there, if one does.
    pub fn trace(&self) -> Option<TraceId> {
        self.stitch.get().trace()
    }
    /// Makes a trace go on there, or none.
    pub fn set_trace(&self, trace: Option<TraceId>) {
        self.stitch.set(Ins::ad(Op::STITCH, 0, trace.map_or(0, TraceId::operand)));
        self.heat.set(0);
        self.failures.set(0);
    }
    /// No trace is to be tried any more.
    pub fn give_up(&self) {
        self.stitch.set(Ins::ad(Op::STITCH, 1, 0));
    }
    /// Counts one return; how many there were since the last trace, or the last failure to make one.
    pub fn count(&self) -> u32 {
        self.heat.set(self.heat.get().saturating_add(1));
        self.heat.get()
    }
    /// Counts a failure to make a trace; how many there were. Returns count anew.
    pub fn fail(&self) -> u32 {
        self.heat.set(0);
        self.failures.set(self.failures.get() + 1);
        self.failures.get()
    }
    /// Failures to make a trace.
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }
    /// The trace that came to the call first.
    pub fn parent(&self) -> TraceId {
        self.parent
    }
}

/// The pads of a prototype, which live as long as it: frames and traces know their addresses.
#[derive(Debug, Default)]
pub(crate) struct Pads(UnsafeCell<Vec<NonNull<Pad>>>);

impl Pads {
    fn list(&self) -> &[NonNull<Pad>] {
        // SAFETY: the list is only changed by `add`, and no reference to it is kept meanwhile.
        unsafe { &*self.0.get() }
    }
    fn find(&self, is_it: impl Fn(&Pad) -> bool) -> Option<&Pad> {
        // SAFETY: pads are freed with the list.
        self.list().iter().map(|p| unsafe { p.as_ref() }).find(|p| is_it(p))
    }
    fn add(&self, pad: Pad) {
        let pad = Box::leak(Box::new(pad));
        // The interpreter gets there from an address.
        (&raw mut *pad).expose_provenance();
        // SAFETY: see `list`.
        unsafe { (*self.0.get()).push(NonNull::from(pad)) }
    }
}

impl Drop for Pads {
    fn drop(&mut self) {
        for p in self.0.get_mut().drain(..) {
            // SAFETY: made from a box by `add`, and nobody can come to it any more.
            drop(unsafe { Box::from_raw(p.as_ptr()) });
        }
    }
}

impl Proto {
    /// The pad of the call at index `at`, for trace `parent`; made if there is none.
    pub fn pad(&self, at: usize, parent: TraceId) -> Option<&Pad> {
        let call = self.ins(at)?;
        let back = self.code_ptr().wrapping_add(at + 1).cast_const();
        if self.pads.find(|p| p.back == back).is_none() {
            let stitch = Cell::new(Ins::ad(Op::STITCH, 0, 0));
            self.pads.add(Pad { call, stitch, back, heat: Cell::new(0), failures: Cell::new(0), parent });
        }
        self.pads.find(|p| p.back == back)
    }
    /// The pad whose STITCH is at an address.
    pub fn pad_at(&self, stitch: *const Ins) -> Option<&Pad> {
        self.pads.find(|p| p.stitch() == stitch)
    }
    /// Index of the call, or of what is behind it, if an address is in a pad.
    #[cold]
    pub(crate) fn pc_of_pad(&self, pc: *const Ins) -> Option<usize> {
        let pad = self.pads.find(|p| pc == p.entry() || pc == p.stitch())?;
        let behind = (pad.back as usize - self.code_ptr() as usize) / size_of::<Ins>();
        Some(if pc == pad.entry() { behind - 1 } else { behind })
    }
}

/// The instruction behind the call of a STITCH that ends at `pc`.
///
/// # Safety
/// `pc` points behind a STITCH.
#[inline(always)]
pub(super) unsafe fn back(pc: *const Ins) -> *const Ins {
    *pc.cast::<*const Ins>()
}

op! {
    STITCH<D>(r) {
        let n = r.d();
        if n == 0 {
            return r.to(no_trace::<D>);
        }
        let mut r = r;
        r.pc = back(r.pc);
        r.kbase = r.func().proto().map_or(r.kbase, |p| p.k.get());
        enter_trace::<D>(r, n as u32)
    }
    /// No trace goes on here: perhaps one should.
    #[cold]
    #[inline(never)]
    no_trace<D>(r) {
        let mut r = r;
        let given_up = r.a() != 0;
        let here = r.pc.sub(1);
        r.pc = back(r.pc);
        if !given_up {
            r.sync();
            (*r.vm).top = r.base.add(super::hook::used_slots(r.func(), r.pc.add(1), (*r.vm).multres));
            super::jit::tell_hot(r.vm, here);
            r = r.reload();
            r.base = (*r.vm).base;
        }
        r.next::<D>()
    }
    /// Back to the code: while recording, or with a hook.
    pass<D>(r) {
        let mut r = r;
        r.pc = back(r.pc);
        r.next::<D>()
    }
}

const _: () = assert!(core::mem::offset_of!(Pad, stitch) == 4 && core::mem::offset_of!(Pad, back) == 8);
