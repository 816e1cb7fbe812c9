//! Stitching: continuing from one trace to the next over a call that is not part of a trace.
//!
//! A trace that ends before such a call goes on in the interpreter at a *stitch stub* ([`crate::object::StitchStub`]): a copy of the call instruction, apart from the
//! function's code, with a STITCH after it. The called function returns to the STITCH, even if it has switched coroutines meanwhile, and
//! the STITCH enters the next trace, or goes back to the code. The function's own instructions stay as they are: other paths to the call
//! do not reach the stub. Where the called function is compiled, compiled code makes the call, and returns to the trace of the STITCH
//! (`backend/src/lower/transfer.rs`).
#![allow(unsafe_code, reason = "a stub holds the instruction that follows the call that its trace ends before")]

use super::jit::enter_trace;
use super::op;
use crate::bc::Ins;

/// The instruction after the call of a STITCH that ends at `pc`.
///
/// # Safety
/// `pc` points after a STITCH.
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
    /// There is no trace to enter: calls the compiler, which may start one.
    #[cold]
    #[inline(never)]
    no_trace<D>(r) {
        let mut r = r;
        let given_up = r.a() != 0;
        let here = r.pc.sub(1);
        r.pc = back(r.pc);
        if !given_up && (*r.vm).interp.counts_hotness {
            r.sync();
            (*r.vm).top = r.base.add(super::hook::used_slots(r.func(), r.pc.add(1), (*r.vm).multres));
            super::jit::notify_hot(r.vm, here);
            r.base = (*r.vm).base;
        }
        r.next::<D>()
    }
    /// Continues in the code: while recording, or with a hook.
    pass<D>(r) {
        let mut r = r;
        r.pc = back(r.pc);
        r.next::<D>()
    }
}
