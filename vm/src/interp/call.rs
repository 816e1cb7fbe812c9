//! Calls and function headers; [`super::returns`] is the way back.
#![allow(unsafe_code, reason = "a frame begins where the stack was checked to have room for all of its slots")]

use super::frame::{self, fill_nil, func_of, kind, link_of, move_values};
use super::loops::count_at;
use super::returns::{operand_a, operand_b, return_special, return_values, with_constants_of_caller};
use super::stack::MAX_ARGS;
use super::{Driver, R, Status, Tail, at_header, op};
use crate::bc::Ins;
use crate::fault::{Fault, is_injected};
use crate::meta::MM;
use crate::object::{Func, Gc, Proto};
use crate::state::Activity;
use crate::value::{TAG_FUNC, Value};

/// Returned by a builtin that has set up a call at `vm.base` with `vm.multres` arguments.
pub const NATIVE_CALL: u32 = u32::MAX;
/// Returned by a builtin to say that the `vm.multres` values at the top are the results of the frame at `vm.base`.
pub const NATIVE_RETURN: u32 = u32::MAX - 1;

/// Dispatches the header of function `f`, whose frame is at `base` and has this link, with this [`R::a`].
#[inline(always)]
unsafe fn enter<D: Driver>(mut r: R, f: Gc<Func>, base: *mut Value, link: u64, a: usize) -> u32 {
    r.base = base;
    let header = f.pc.get();
    let ins = *header;
    // Of a fast function `pc` is the link.
    if D::IN_TAIL && super::fast::is_fast(ins) {
        core::hint::cold_path();
        r.pc = core::ptr::with_exposed_provenance(link as usize);
        return D::go::<{ super::way::FAST }>(r, ins, a);
    }
    r.pc = header.add(1);
    D::go::<{ super::way::NEXT }>(r, ins, a)
}

/// Calls the value at `func` (its frame two slots above) with `nargs` arguments; the link is already written.
#[inline(always)]
pub(super) unsafe fn call_at<D: Driver>(r: R, func: *mut Value, nargs: usize) -> u32 {
    if let Some(address) = (*func).address_tagged(TAG_FUNC) {
        let base = func.add(2);
        return enter::<D>(r, Gc::from_addr(address), base, link_of(base), at_header(nargs));
    }
    let mut r = r;
    r.ins = (func.offset_from(r.base) as i32 as u32 as u64) << 32 | nargs as u64;
    r.to(call_meta::<D>)
}

/// Calls the value in local A of the current instruction, from this instruction, with one argument less than `n`.
#[inline(always)]
unsafe fn call_from<D: Driver>(r: R, n: usize) -> u32 {
    debug_assert!(r.a < 256, "more than operand A, which the number of arguments stands in front of");
    let base = in_register(r.ra().add(2));
    let link = r.pc.expose_provenance() as u64;
    *base.sub(1) = Value::link(link);
    // In this form there are two instructions less.
    let a = (at_header(n) + r.a).wrapping_sub(at_header(1));
    if let Some(address) = (*base.sub(2)).address_tagged(TAG_FUNC) {
        return enter::<D>(r, Gc::from_addr(address), base, link, a);
    }
    let mut r = r;
    // Computed, so that they need not be kept in other registers in the usual case.
    let func = a & 0xff;
    r.base = base.sub(2 + func);
    r.ins = (func as u64) << 32 | (a >> 8) as u64;
    r.to(call_meta::<D>)
}

/// The same pointer, which the compiler then has in a register. Processors that remember which store a load has got its value from recognise
/// the two by register and offset: so the link of a frame, stored by way of its base and loaded by way of it, costs no time, where it costs
/// five cycles in a chain from call to call if the address of the store is a sum.
#[inline(always)]
#[cfg_attr(not(miri), expect(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written by way of it"))]
fn in_register(p: *mut Value) -> *mut Value {
    #[cfg(not(miri))]
    {
        let mut p = p;
        // SAFETY: no instructions.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) p, options(pure, nomem, nostack, preserves_flags)) };
        p
    }
    #[cfg(miri)]
    p
}

op! {
    /// Calls a value that is not a function by its `__call`. In `ins`: the slot offset in the upper half, arguments in the lower.
    #[cold]
    #[inline(never)]
    call_meta<D>(r) {
        let func = r.base.offset((r.ins >> 32) as i32 as isize);
        let nargs = r.ins as u32 as usize;
        r.sync();
        let vm = &mut *r.vm;
        let v = *func;
        let mm = vm.metamethod(v, MM::Call);
        if !mm.is_func() {
            not_callable(r.vm, func, nargs);
            return Status::ERROR;
        }
        let mut i = nargs;
        while i > 0 {
            *func.add(2 + i) = *func.add(1 + i);
            i -= 1;
        }
        *func.add(2) = v;
        *func = mm;
        let f: Gc<Func> = Gc::from_addr(mm.payload());
        let base = func.add(2);
        enter::<D>(r, f, base, link_of(base), at_header(nargs + 1))
    }

    CALL<D>(r) { call_from::<D>(r, r.c()) }
    CALLM<D>(r) { call_from::<D>(r, r.c() + 1 + (*r.vm).multres as usize) }
    CALLT<D>(r) { tail_call::<D>(r, r.d() - 1) }
    CALLMT<D>(r) { tail_call::<D>(r, r.d() + (*r.vm).multres as usize) }

    VARG<D>(r) {
        let delta = (link_of(r.base) >> 3) as usize;
        let np = r.c();
        // Arguments beyond the fixed ones lie between the frame below and this one.
        let total = delta - 2;
        let have = total.saturating_sub(np);
        let src = r.base.sub(delta).add(np);
        let want = r.b();
        if want == 0 {
            (*r.vm).multres = have as u32;
            if r.ra().add(have) > (*r.vm).stack_limit {
                return r.to(vararg_grow::<D>);
            }
            move_values(src, r.ra(), have);
            return r.next::<D>();
        }
        let n = have.min(want - 1);
        move_values(src, r.ra(), n);
        fill_nil(r.ra().add(n), r.ra().add(want - 1));
        r.next::<D>()
    }
    #[cold]
    #[inline(never)]
    vararg_grow<D>(r) {
        r.sync_top();
        let vm = &mut *r.vm;
        if vm.grow_stack(vm.multres as usize + 32).is_err() {
            return Status::ERROR;
        }
        let mut r = r;
        r.base = vm.base;
        r.to(VARG::<D>)
    }

    FUNCF<D>(r) {
        let mut r = r;
        let p = func_of(r.base).lua_proto();
        r.kbase = p.k.get();
        if count_at(r, *r.kbase.sub(1), 1) {
            return r.to(super::jit::hot_func::<D>);
        }
        enter_frame::<D>(r, p)
    }
    IFUNCF<D>(r) { lua_header::<D>(r) }
    JFUNCF<D>(r) {
        let base = r.base;
        let p = func_of(base).lua_proto();
        if base.add(p.framesize() as usize) > (*r.vm).stack_limit {
            return r.to(grow_header::<D>);
        }
        fill_nil(base.add(r.nargs()), base.add(p.num_params() as usize));
        let mut r = r;
        r.kbase = p.k.get();
        super::jit::enter_trace::<D>(r, r.d() as u32)
    }
    FUNCV<D>(r) {
        if count_call(r) {
            return r.to(super::jit::hot_func::<D>);
        }
        r.to(IFUNCV::<D>)
    }
    IFUNCV<D>(r) {
        let Some(p) = func_of(r.base).proto() else { return Status::ERROR };
        let new = r.base.add(r.nargs() + 2);
        if new.add(p.framesize() as usize) > (*r.vm).stack_limit || r.nargs() > MAX_ARGS {
            return r.to(grow_header::<D>);
        }
        move_frame(r, p, new).next::<D>()
    }
    JFUNCV<D>(r) {
        let Some(p) = func_of(r.base).proto() else { return Status::ERROR };
        let new = r.base.add(r.nargs() + 2);
        if new.add(p.framesize() as usize) > (*r.vm).stack_limit || r.nargs() > MAX_ARGS {
            return r.to(grow_header::<D>);
        }
        let trace = r.d() as u32;
        super::jit::enter_trace::<D>(move_frame(r, p, new), trace)
    }
    /// The frame does not fit: grows the stack, then executes the header. The header is not dispatched again, because it has been recorded
    /// and counted and hooks have been called.
    #[cold]
    #[inline(never)]
    grow_header<D>(r) {
        let vm = &mut *r.vm;
        vm.base = r.base;
        vm.top = r.base.add(r.nargs());
        // The pc of the caller is in the link, and this frame has not executed anything yet.
        vm.pc = r.pc;
        let size = func_of(r.base).proto().map_or(0, |p| p.framesize() as usize);
        let more = size + r.nargs() + 64;
        let done = if r.nargs() > MAX_ARGS { Err(vm.overflow_error("stack overflow")) } else { vm.grow_stack(more) };
        if done.is_err() {
            return Status::ERROR;
        }
        let mut r = r;
        r.base = vm.base;
        if is_injected(Fault::HeaderTwice) {
            return D::go::<{ super::way::NEXT }>(r, r.i(), r.a());
        }
        super::jit::execute_once::<D>(r)
    }

    /// Calls a builtin. Not part of the handlers that leave their unusual cases to it, which would save registers for the call.
    #[inline(never)]
    FUNCC<D>(r) {
        let vm = r.vm;
        let top = r.base.add(r.nargs());
        if top.add(super::stack::NATIVE_MIN) > (*vm).stack_limit {
            return r.to(grow_native::<D>);
        }
        (*vm).base = r.base;
        (*vm).top = top;
        let Some(f) = func_of(r.base).native() else { return Status::ERROR };
        (*vm).begin_activity(Activity::Builtin);
        match f(&mut *vm) {
            // Nothing else of this frame is needed any more: only `vm` stays in a register over the call.
            Ok(n) => leave_native::<D>(vm, n),
            Err(_) => Status::ERROR,
        }
    }
    /// Continues after a builtin; `ins` has what it returned. Separate from FUNCC, so that FUNCC needs no registers saved over the call.
    #[inline(never)]
    native_done<D>(r) {
        let vm = r.vm;
        if (*vm).heap.gc_due() {
            return r.to(native_collect::<D>);
        }
        let l = link_of(r.base);
        if r.ins == 1 && kind(l) == frame::LUA {
            let dest = r.base.sub(2);
            let pc: *const Ins = core::ptr::with_exposed_provenance(l as usize);
            let call = *pc.sub(1);
            let want = call.b();
            if want == 2 || want == 0 {
                if want == 0 {
                    (*vm).multres = 1;
                }
                *dest = *(*vm).top.sub(1);
                let mut r = r;
                r.pc = pc;
                r.base = dest.sub(call.a());
                r.kbase = func_of(r.base).lua_proto().k.get();
                return r.next::<D>();
            }
        }
        // Of a call from Rust, such as `lua_call` of a builtin.
        if kind(l) == frame::C && r.ins < u64::from(NATIVE_RETURN) {
            let mut r = r;
            r.pc = (*vm).top.sub(r.ins as usize).cast();
            return r.to(return_special::<D>);
        }
        r.to(native_results::<D>)
    }
    /// A collection is due after a builtin, unless the builtin changed the frames.
    #[cold]
    #[inline(never)]
    native_collect<D>(r) {
        if r.ins < u64::from(NATIVE_RETURN) && (*r.vm).safepoint().is_err() {
            return Status::ERROR;
        }
        let mut r = r;
        r.base = (*r.vm).base;
        r.to(native_results::<D>)
    }
    /// Returns any number of results of a builtin to any caller.
    #[inline(never)]
    native_results<D>(r) {
        let n = r.ins as u32;
        if n < NATIVE_RETURN {
            let n = n as usize;
            return return_values::<D>(r, (*r.vm).top.sub(n), n);
        }
        native_special::<D>(r, n)
    }
    /// A function in C. Its errors return from the border call that the interpreter was entered by; without that, or if a wrapper calls
    /// functions in C, the builtin behind it calls it by a border call of its own.
    FUNCCW<D>(r) {
        let vm = r.vm;
        let top = r.base.add(r.nargs());
        let is_entered = D::IN_TAIL && (*(*vm).heap.link).depth.get() == (*vm).interp.native_depth;
        if !is_entered || top.add(super::stack::NATIVE_MIN) > (*vm).stack_limit {
            return r.to(call_by_border::<D>);
        }
        (*vm).base = r.base;
        (*vm).top = top;
        (*vm).begin_activity(Activity::Builtin);
        // If no CALL has called it, this is not the caller's base, which is checked below.
        let caller = r.base.wrapping_sub(2 + (r.a & 0xff));
        let (link, address) = (link_of(r.base) as usize, func_of(r.base).hidden_address());
        crate::abi::call_function::<AfterFunction, _>(vm, link, (*vm).cur.as_ptr(), address, caller.cast(), r.kbase.cast())
    }
    /// Calls a function in C by the builtin behind it. Not part of FUNCCW, which would save registers for it.
    #[cold]
    #[inline(never)]
    call_by_border<D>(r) { r.to(FUNCC::<D>) }
    #[cold]
    #[inline(never)]
    grow_native<D>(r) {
        let vm = &mut *r.vm;
        vm.base = r.base;
        vm.top = r.base.add(r.nargs());
        if vm.grow_stack(super::stack::NATIVE_MIN * 2).is_err() {
            return Status::ERROR;
        }
        let mut r = r;
        r.base = vm.base;
        r.to(FUNCC::<D>)
    }
}

/// Continues after a function in C.
struct AfterFunction;

impl crate::abi::Continuation for AfterFunction {
    type Vm = crate::Vm;
    unsafe extern "C" fn go_on(vm: *mut crate::Vm, link: usize, n: i32, _: usize, caller: *mut u8, kbase: *const u8) -> u32 {
        if n as u32 <= 1 && kind(link as u64) == frame::LUA {
            let pc: *const Ins = core::ptr::with_exposed_provenance(link);
            let caller = caller.cast::<Value>();
            let dest = caller.wrapping_add(operand_a(pc.sub(1)));
            // The base of the caller, which the processor then need not wait for, is right, and the stack has not been moved. One result
            // is wanted, or none: then the slot of the function is free, too.
            if dest.wrapping_add(2) == (*vm).base && matches!(operand_b(pc.sub(1)), 1 | 2) && !(*vm).heap.gc_due() {
                (*vm).begin_activity(Activity::Interpreter);
                *dest = if n == 0 { Value::NIL } else { *(*vm).top.sub(1) };
                let mut r = R::at_entry(vm, caller);
                r.pc = pc;
                r.kbase = kbase.cast();
                return r.next::<Tail>();
            }
        }
        match u32::try_from(n) {
            Ok(n) => leave_native::<Tail>(vm, n),
            Err(_) => yield_from_function(vm),
        }
    }
}

/// Yields the values that a function in C has left alone in its frame.
///
/// # Safety
/// The contract of the handlers.
#[cold]
#[inline(never)]
unsafe fn yield_from_function(vm: *mut crate::Vm) -> u32 {
    match super::co::co_yield(&mut *vm) {
        Ok(n) => leave_native::<Tail>(vm, n),
        Err(_) => Status::ERROR,
    }
}

/// Continues after a builtin that returned `n`.
#[inline(always)]
pub(super) unsafe fn leave_native<D: Driver>(vm: *mut crate::Vm, n: u32) -> u32 {
    let base = (*vm).base;
    (*vm).begin_activity(Activity::Interpreter);
    let mut r = R::at_entry(vm, base);
    r.ins = u64::from(n);
    r.to(native_done::<D>)
}

/// Raises the error of calling a value that cannot be called; the link is written. Only a call in a Lua function has a position.
#[cold]
#[inline(never)]
unsafe fn not_callable(vm: *mut crate::Vm, func: *mut Value, nargs: usize) {
    let vm = &mut *vm;
    let v = *func;
    if kind((*func.add(1)).bits()) == frame::LUA {
        let _ = vm.call_error(v, func);
        return;
    }
    vm.base = func.add(2);
    vm.top = vm.base.add(nargs);
    let _ = vm.plain_error(format!("attempt to call a {} value", v.type_name()).as_bytes());
}

/// Continues after a builtin that changed the frames itself.
#[inline(always)]
unsafe fn native_special<D: Driver>(mut r: R, n: u32) -> u32 {
    let vm = &mut *r.vm;
    r.base = vm.base;
    if n == NATIVE_CALL {
        return call_at::<D>(with_constants_of_caller(r, vm.base), vm.base.sub(2), vm.multres as usize);
    }
    let n = vm.multres as usize;
    let results = vm.top.sub(n);
    return_values::<D>(r, results, n)
}

/// Counts a call of the current header's function; true when it became hot.
#[inline(always)]
unsafe fn count_call(r: R) -> bool {
    count_at(r, *func_of(r.base).lua_proto().k.get().sub(1), 1)
}

/// Moves the frame of a vararg function above its arguments, to `new`.
#[inline(always)]
unsafe fn move_frame(mut r: R, p: Gc<Proto>, new: *mut Value) -> R {
    let n = r.nargs();
    *new.sub(2) = *r.base.sub(2);
    *new.sub(1) = frame::link(n + 2, frame::VARG);
    for i in 0..p.num_params() as usize {
        if i < n {
            *new.add(i) = *r.base.add(i);
            *r.base.add(i) = Value::NIL;
        } else {
            *new.add(i) = Value::NIL;
        }
    }
    r.base = new;
    r.kbase = p.k.get();
    r
}

/// Header of a Lua function: stack check, missing arguments.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
pub(super) unsafe fn lua_header<D: Driver>(r: R) -> u32 {
    let mut r = r;
    let p = func_of(r.base).lua_proto();
    r.kbase = p.k.get();
    enter_frame::<D>(r, p)
}

/// The same for the function's prototype, whose constants are in place.
///
/// # Safety
/// The registers are those of a running handler, see [`R`].
#[inline(always)]
unsafe fn enter_frame<D: Driver>(r: R, p: Gc<Proto>) -> u32 {
    let base = r.base;
    if base.add(r.i().a()) > (*r.vm).stack_limit {
        return r.to(grow_header::<D>);
    }
    let (n, params) = (r.nargs(), p.num_params() as usize);
    if n < params {
        core::hint::cold_path();
        fill_nil(base.add(n), base.add(params));
    }
    r.next::<D>()
}

/// Replaces the running frame by a call.
#[inline(always)]
unsafe fn tail_call<D: Driver>(mut r: R, nargs: usize) -> u32 {
    let src = r.ra();
    let v = *src;
    if v.tag() != TAG_FUNC {
        r = r.with_ins(r.i(), nargs);
        return r.to(tail_meta::<D>);
    }
    let mut base = r.base;
    let l = link_of(base);
    if kind(l) == frame::VARG {
        base = base.sub((l >> 3) as usize);
    }
    *base.sub(2) = v;
    move_values(src.add(2), base, nargs);
    let f: Gc<Func> = Gc::from_addr(v.payload());
    if !f.is_lua() {
        r = with_constants_of_caller(r, base);
    }
    enter::<D>(r, f, base, link_of(base), at_header(nargs))
}

op! {
    /// A tail call of a value that is not a function; arguments in the upper half of `ins`.
    #[cold]
    #[inline(never)]
    tail_meta<D>(r) {
        let nargs = r.nargs();
        let r = r.with_ins(r.i(), 0);
        let src = r.ra();
        r.sync();
        let vm = &mut *r.vm;
        let v = *src;
        let mm = vm.metamethod(v, MM::Call);
        if !mm.is_func() {
            let _ = vm.call_error(v, src);
            return Status::ERROR;
        }
        core::ptr::copy(src.add(2), src.add(3), nargs);
        *src.add(2) = v;
        *src = mm;
        tail_call::<D>(r, nargs + 1)
    }
}

/// Starts a call from Rust: the function at `func`, its link written.
pub(super) unsafe fn start_call<D: Driver>(r: R, func: *mut Value, nargs: usize) -> u32 {
    call_at::<D>(r, func, nargs)
}
