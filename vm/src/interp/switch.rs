//! Switches between coroutines: the headers of `coroutine.resume`, `coroutine.yield` and of the functions that `coroutine.wrap` makes.
//!
//! The usual switch moves the values from one stack to where the call on the other one takes them, and continues there. All other cases (an
//! error, a stack that must grow, a frame that is not a Lua call's) are left to the builtin in [`super::co`]; so each of these handlers
//! makes the state that the builtin would have made. There is no call of Rust code, nothing is allocated, and the stacks do not move.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

use super::call::{FUNCC, call_at};
use super::co::MAX_NESTING;
use super::frame::{fill_nil, func_of, kind, link_of, move_values};
use super::{Driver, R, frame, op};
use crate::Vm;
use crate::bc::Ins;
use crate::object::{Gc, Thread, ThreadStatus};
use crate::stdlib::Builtin;
use crate::value::{TAG_THREAD, Value};

op! {
    RESUME<D>(r) {
        let nargs = r.nargs();
        let co = *r.base;
        if nargs == 0 || co.tag() != TAG_THREAD {
            return r.to(FUNCC::<D>);
        }
        resume::<D>(r, Gc::from_addr(co.payload()), 1)
    }
    WRAP<D>(r) {
        let Some(co) = func_of(r.base).native_upvalues().first().map(|v| v.get()) else { return r.to(FUNCC::<D>) };
        if co.tag() != TAG_THREAD {
            return r.to(FUNCC::<D>);
        }
        resume::<D>(r, Gc::from_addr(co.payload()), 0)
    }
    YIELD<D>(r) {
        let vm = r.vm;
        let (co, n) = ((*vm).cur, r.nargs());
        let Some(to) = co.resumer.get() else { return r.to(FUNCC::<D>) };
        let (resuming, limit) = (to.base.get(), to.limit());
        let link = link_of(resuming);
        if co.native_depth.get() != (*vm).interp.native_depth || kind(link) != frame::LUA || resuming.add(n) > limit {
            return r.to(FUNCC::<D>);
        }
        co.status.set(ThreadStatus::Suspended);
        co.base.set(r.base);
        co.top.set(r.base);
        co.resumer.set(None);
        to.status.set(ThreadStatus::Running);
        run_on(vm, to, limit);
        let first = if func_of(resuming).ffid() == Builtin::CoroutineResume.id() { Some(Value::TRUE) } else { None };
        return_to::<D>(r, resuming, link, first, (r.base, n))
    }
}

/// Resumes `co` with the arguments of the running builtin from number `first` on.
#[inline(always)]
unsafe fn resume<D: Driver>(r: R, co: Gc<Thread>, first: usize) -> u32 {
    let vm = r.vm;
    let old = (*vm).cur;
    let (nargs, nesting) = (r.nargs(), old.nesting.get() + 1);
    let (args, n) = (r.base.add(first), nargs - first);
    let (frame, limit, status) = (co.base.get(), co.limit(), co.status.get());
    if !matches!(status, ThreadStatus::Fresh | ThreadStatus::Suspended) || nesting > MAX_NESTING || frame.add(n) > limit {
        return r.to(FUNCC::<D>);
    }
    let link = link_of(frame);
    if status == ThreadStatus::Suspended && kind(link) != frame::LUA {
        return r.to(FUNCC::<D>);
    }
    old.status.set(ThreadStatus::Normal);
    old.base.set(r.base);
    old.top.set(r.base.add(nargs));
    co.status.set(ThreadStatus::Running);
    co.resumer.set(Some(old));
    co.native_depth.set((*vm).interp.native_depth);
    co.nesting.set(nesting);
    run_on(vm, co, limit);
    if status == ThreadStatus::Suspended {
        return return_to::<D>(r, frame, link, None, (args, n));
    }
    move_values(args, frame, n);
    call_at::<D>(r, frame.sub(2), n)
}

/// Makes `co` the running coroutine.
#[inline(always)]
unsafe fn run_on(vm: *mut Vm, co: Gc<Thread>, limit: *mut Value) {
    (*vm).cur = co;
    (*vm).stack_limit = limit;
    let base = co.base.get();
    (*vm).base = base;
    (*vm).top = base;
}

/// Executes the instruction after the call that made the frame at `base`, the frame of a builtin on the stack of the running coroutine. The results
/// of that call, which are on the other stack, are `first`, if there is one, and the `n` values at `src`.
#[inline(always)]
unsafe fn return_to<D: Driver>(
    mut r: R,
    base: *mut Value,
    link: u64,
    first: Option<Value>,
    (src, n): (*mut Value, usize),
) -> u32 {
    let dest = base.sub(2);
    r.pc = core::ptr::with_exposed_provenance(link as usize);
    let call: Ins = *r.pc.sub(1);
    r.base = dest.sub(call.a());
    r.kbase = func_of(r.base).lua_proto().k.get();
    let skip = usize::from(first.is_some());
    if let Some(v) = first
        && call.b() != 1
    {
        *dest = v;
    }
    let to = dest.add(skip);
    let n = if call.b() == 0 {
        (*r.vm).multres = (n + skip) as u32;
        n
    } else {
        let want = call.b() - 1;
        fill_nil(to.add(n), dest.add(want));
        n.min(want.saturating_sub(skip))
    };
    move_values(src, to, n);
    r.next::<D>()
}
