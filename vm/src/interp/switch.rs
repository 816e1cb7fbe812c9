//! Switches between coroutines: the headers of `coroutine.resume`, `coroutine.yield` and of the functions that `coroutine.wrap` makes.
//!
//! The usual switch moves the values from one stack to where the call on the other one takes them, and continues there. All other cases (an
//! error, a stack that must grow, a frame that is not a Lua call's) are left to the builtin in [`super::co`]; so each of these handlers
//! makes the state that the builtin would have made. There is no call of Rust code, nothing is allocated, and the stacks do not move.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

use super::call::call_at;
use super::co::MAX_NESTING;
use super::fast::by_builtin;
use super::frame::{Catch, func_of, kind, link_of, move_values};
use super::returns::{adjust_results, base_of_caller, operand_b, return_special};
use super::{Driver, R, Status, at_header, frame, op};
use crate::Vm;
use crate::object::{Gc, Thread, ThreadStatus};
use crate::stdlib::Builtin;
use crate::value::{TAG_THREAD, Value};

op! {
    RESUME<D>(r) {
        if r.nargs() == 0 {
            return by_builtin::<D>(r);
        }
        match (*r.base).address_tagged(TAG_THREAD) {
            Some(co) => resume::<D>(r, Gc::from_addr(co), 1),
            None => by_builtin::<D>(r),
        }
    }
    WRAP<D>(r) {
        match wrapped(r).address_tagged(TAG_THREAD) {
            Some(co) => resume::<D>(r, Gc::from_addr(co), 0),
            None => by_builtin::<D>(r),
        }
    }
    /// Starts the coroutine; `ins` has the number of the argument of the running builtin that is its first. Apart, so that a switch to a
    /// coroutine that has yielded saves no registers.
    #[inline(never)]
    start<D>(r) {
        let first = r.ins as usize;
        let co: Gc<Thread> = Gc::from_addr(if first == 1 { *r.base } else { wrapped(r) }.payload());
        let (frame, limit, n) = (co.base.get(), co.limit(), r.nargs() - first);
        if co.status.get() != ThreadStatus::Fresh || frame.add(n) > limit || !begin(r.vm, co) {
            return by_builtin::<D>(r);
        }
        switch(r, co, limit);
        move_values(r.base.add(first), frame, n);
        call_at::<D>(r, frame.sub(2), n)
    }
    YIELD<D>(r) {
        let vm = r.vm;
        let (co, n) = ((*vm).cur, r.nargs());
        let Some(to) = co.resumer.get() else { return by_builtin::<D>(r) };
        let (resuming, limit) = (to.base.get(), to.limit());
        let link = link_of(resuming);
        if kind(link) != frame::LUA {
            return r.to(yield_to_native::<D>);
        }
        if co.native_depth.get() != (*vm).interp.native_depth || resuming.add(n) > limit {
            return by_builtin::<D>(r);
        }
        suspend(r, co, 0);
        run_on(vm, to, limit);
        // The first result of `resume`. What `wrap` has made returns none of its own.
        let first = usize::from(func_of(resuming).ffid() == Builtin::CoroutineResume.id());
        *resuming.sub(2) = Value::TRUE;
        return_to::<D>(r, resuming, link, first, (r.base, n))
    }
}

op! {
    /// Yields to native code, which finds the values on the stack of the coroutine.
    #[inline(never)]
    yield_to_native<D>(r) {
        let vm = r.vm;
        let co = (*vm).cur;
        let Some(to) = co.resumer.get() else { return by_builtin::<D>(r) };
        let resuming = to.base.get();
        let link = link_of(resuming);
        let is_resumption = kind(link) == frame::C && Catch::of(link) == Catch::Resumption;
        if !is_resumption || co.native_depth.get() != (*vm).interp.native_depth {
            return by_builtin::<D>(r);
        }
        suspend(r, co, r.nargs());
        run_on(vm, to, to.limit());
        // The frame of `coroutine.resume` returns nothing.
        R { base: resuming, pc: resuming.cast(), ins: 0, ..r }.to(return_special::<D>)
    }
}

/// Suspends the running coroutine `co`, whose running builtin has `n` values in its frame that stay there.
///
/// # Safety
/// The contract of the handlers; the frame at `r.base` has these values.
#[inline(always)]
unsafe fn suspend(r: R, co: Gc<Thread>, n: usize) {
    co.status.set(ThreadStatus::Suspended);
    co.base.set(r.base);
    co.top.set(r.base.add(n));
    co.resumer.set(None);
}

/// Resumes the coroutine that is the first argument of the builtin whose frame is at `base`, with all values on its stack.
///
/// # Safety
/// The contract of the handlers. [`can_resume_in_place`] holds.
pub(super) unsafe fn resume_for_native<D: Driver>(vm: *mut Vm, base: *mut Value) -> u32 {
    let r = R { a: at_header(1), ..R::at_entry(vm, base) };
    let co: Gc<Thread> = Gc::from_addr((*base).payload());
    let (frame, top) = (co.base.get(), co.top.get());
    if !begin(vm, co) {
        return Status::ERROR;
    }
    switch(r, co, co.limit());
    return_to::<D>(r, frame, link_of(frame), 0, (frame, top.offset_from(frame) as usize))
}

/// Does the coroutine wait in a call of `coroutine.yield` by a Lua function, so that native code can resume it with what is on its stack?
pub(super) fn can_resume_in_place(vm: &Vm, co: Gc<Thread>) -> bool {
    if co.status.get() != ThreadStatus::Suspended || vm.cur.nesting.get() >= MAX_NESTING {
        return false;
    }
    // SAFETY: the frame that a suspended coroutine waits in.
    unsafe { kind(link_of(co.base.get())) == frame::LUA }
}

/// The coroutine of the running function, which `coroutine.wrap` has made. (Programs may have replaced it by another value.)
#[inline(always)]
unsafe fn wrapped(r: R) -> Value {
    func_of(r.base).native_upvalues().first().map_or(Value::NIL, |v| v.get())
}

/// Resumes `co` with the arguments of the running builtin from number `first` on.
#[inline(always)]
unsafe fn resume<D: Driver>(mut r: R, co: Gc<Thread>, first: usize) -> u32 {
    if co.status.get() != ThreadStatus::Suspended {
        r.ins = first as u64;
        return r.to(start::<D>);
    }
    if !begin(r.vm, co) {
        return by_builtin::<D>(r);
    }
    let (args, n) = (r.base.add(first), r.nargs() - first);
    let (frame, limit) = (co.base.get(), co.limit());
    let link = link_of(frame);
    if kind(link) != frame::LUA {
        return by_builtin::<D>(r);
    }
    if frame.add(n) > limit {
        return by_builtin::<D>(r);
    }
    switch(r, co, limit);
    return_to::<D>(r, frame, link, 0, (args, n))
}

/// Writes what a coroutine that does not run has no use for, and what does not depend on its stack: so few values are needed at once that a
/// switch saves no registers. False if too many coroutines wait for one another.
#[inline(always)]
unsafe fn begin(vm: *mut Vm, co: Gc<Thread>) -> bool {
    let old = (*vm).cur;
    let nesting = old.nesting.get() + 1;
    if nesting > MAX_NESTING {
        return false;
    }
    co.nesting.set(nesting);
    co.native_depth.set((*vm).interp.native_depth);
    true
}

/// Makes `co` the running coroutine, which the one that ran waits for.
///
/// # Safety
/// The contract of the handlers. [`begin`] has been called.
#[inline(always)]
unsafe fn switch(r: R, co: Gc<Thread>, limit: *mut Value) {
    let old = (*r.vm).cur;
    old.status.set(ThreadStatus::Normal);
    old.base.set(r.base);
    old.top.set(r.base.add(r.nargs()));
    co.resumer.set(Some(old));
    run_on(r.vm, co, limit);
}

/// Makes `co`, whose stack ends at `limit`, the running coroutine. The VM's `base` and `top` are set by what looks at them, as after any
/// other handler.
#[inline(always)]
unsafe fn run_on(vm: *mut Vm, co: Gc<Thread>, limit: *mut Value) {
    co.status.set(ThreadStatus::Running);
    (*vm).cur = co;
    Vm::end_stack_at(vm, limit);
}

/// Executes the instruction after the call that made the frame at `base`, the frame of a builtin on the stack of the running coroutine. The results
/// of that call are `first` values (none or one) in the slot of its function, and the `n` values at `src` on the other stack. If the call
/// takes fewer, the others end up in slots that nothing uses any more.
#[inline(always)]
unsafe fn return_to<D: Driver>(mut r: R, base: *mut Value, link: u64, first: usize, (src, n): (*mut Value, usize)) -> u32 {
    let dest = base.sub(2);
    move_values(src, dest.add(first), n);
    r.pc = core::ptr::with_exposed_provenance(link as usize);
    r.base = base_of_caller(base, link);
    r.kbase = func_of(r.base).lua_proto().k.get();
    if operand_b(r.pc.sub(1)).wrapping_sub(1) > first + n {
        r.ins = (first + n) as u64;
        return r.to(adjust_results::<D>);
    }
    r.next::<D>()
}
