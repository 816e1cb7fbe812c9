//! The stitch stubs of prototypes, where traces go on over calls that are part of none: see [`crate::interp::stitch`].
#![allow(unsafe_code, reason = "stubs live as long as their prototype, and move never")]

use super::{BcAddr, BcPos, Proto};
use crate::bc::{Ins, Op};
use crate::ids::TraceId;
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

/// A copy of a call instruction, with a STITCH after it.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct StitchStub {
    /// The call.
    call: Ins,
    /// STITCH: D is the trace to enter, or 0; A is 1 when no trace is to be recorded there any more.
    stitch: Cell<Ins>,
    /// The instruction after the call in the code.
    back: *const Ins,
    /// Index of the call in the code.
    index: u32,
    /// How often the call has returned while there was no trace to enter.
    heat: Cell<u32>,
    /// Failures to make one.
    failures: Cell<u32>,
    /// The first trace that ended in front of the call.
    parent: TraceId,
}

impl StitchStub {
    /// Where to execute the call, so that it returns to the STITCH.
    pub fn entry(&self) -> BcAddr {
        (&raw const self.call).into()
    }
    /// Address of the STITCH, to which the call returns.
    pub fn stitch(&self) -> BcAddr {
        self.stitch.as_ptr().cast_const().into()
    }
    /// Index of the call in the code of its prototype.
    pub fn call_index(&self) -> u32 {
        self.index
    }
    /// The trace that is entered when the call returns, if there is one.
    pub fn trace(&self) -> Option<TraceId> {
        self.stitch.get().trace()
    }
    /// Sets the trace that is entered when the call returns.
    pub fn set_trace(&self, trace: Option<TraceId>) {
        self.stitch.set(Ins::ad(Op::STITCH, 0, trace.map_or(0, TraceId::operand)));
        self.heat.set(0);
        self.failures.set(0);
    }
    /// No trace is to be recorded there any more.
    pub fn blacklist(&self) {
        self.stitch.set(Ins::ad(Op::STITCH, 1, 0));
    }
    /// Counts one return of the call; the returns since the last trace, or since the last failure to make one.
    pub fn count(&self) -> u32 {
        self.heat.set(self.heat.get().saturating_add(1));
        self.heat.get()
    }
    /// Counts a failure to make a trace; the number of failures. Returns of the call are counted anew.
    pub fn fail(&self) -> u32 {
        self.heat.set(0);
        self.failures.set(self.failures.get() + 1);
        self.failures.get()
    }
    /// Failures to make a trace.
    pub fn failures(&self) -> u32 {
        self.failures.get()
    }
    /// The first trace that ended in front of the call.
    pub fn parent(&self) -> TraceId {
        self.parent
    }
}

/// The stitch stubs of a prototype, which live as long as it: frames and traces know their addresses.
#[derive(Debug, Default)]
pub(crate) struct StitchStubs(UnsafeCell<Vec<NonNull<StitchStub>>>);

impl StitchStubs {
    fn list(&self) -> &[NonNull<StitchStub>] {
        // SAFETY: the list is only changed by `add`, and no reference to it is kept meanwhile.
        unsafe { &*self.0.get() }
    }
    fn find(&self, is_it: impl Fn(&StitchStub) -> bool) -> Option<&StitchStub> {
        // SAFETY: stubs are freed with the list.
        self.list().iter().map(|p| unsafe { p.as_ref() }).find(|p| is_it(p))
    }
    fn add(&self, stub: StitchStub) {
        let stub = Box::leak(Box::new(stub));
        // The interpreter gets there from an address.
        (&raw mut *stub).expose_provenance();
        // SAFETY: see `list`.
        unsafe { (*self.0.get()).push(NonNull::from(stub)) }
    }
}

impl Drop for StitchStubs {
    fn drop(&mut self) {
        for p in self.0.get_mut().drain(..) {
            // SAFETY: made from a box by `add`; frames and traces that know it have ended before their prototype is freed.
            drop(unsafe { Box::from_raw(p.as_ptr()) });
        }
    }
}

impl Proto {
    /// The stitch stub of the call at index `at`, for trace `parent`; made if there is none.
    pub fn make_stitch_stub(&self, at: usize, parent: TraceId) -> Option<&StitchStub> {
        let call = self.ins(at)?;
        let index = at as u32;
        if self.stitch_stub(index).is_none() {
            let back = self.code_ptr().wrapping_add(at + 1).cast_const();
            let stitch = Cell::new(Ins::ad(Op::STITCH, 0, 0));
            self.stubs.add(StitchStub { call, stitch, back, index, heat: Cell::new(0), failures: Cell::new(0), parent });
        }
        self.stitch_stub(index)
    }
    /// The stitch stub of the call at an index.
    pub fn stitch_stub(&self, call: u32) -> Option<&StitchStub> {
        self.stubs.find(|p| p.index == call)
    }
    /// The stitch stub whose STITCH is at an address.
    pub fn stitch_stub_at(&self, stitch: impl Into<BcAddr>) -> Option<&StitchStub> {
        let stitch = stitch.into();
        self.stubs.find(|p| p.stitch() == stitch)
    }
    /// Index of the call, or of the instruction after it, if an address is in a stub.
    #[cold]
    pub(crate) fn pc_of_stub(&self, pc: BcAddr) -> Option<usize> {
        let stub = self.stubs.find(|p| pc == p.entry() || pc == p.stitch())?;
        Some(stub.index as usize + usize::from(pc == stub.stitch()))
    }
}

impl BcPos {
    /// The stitch stub of the call at this position.
    pub fn stitch_stub(&self) -> Option<&StitchStub> {
        self.proto.stitch_stub(self.index)
    }
    /// The position after this one.
    pub fn next(self) -> BcPos {
        BcPos { index: self.index + 1, ..self }
    }
}

const _: () = assert!(core::mem::offset_of!(StitchStub, stitch) == 4 && core::mem::offset_of!(StitchStub, back) == 8);
