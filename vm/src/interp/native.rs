//! Builtins that compiled code calls.
//!
//! A trace that calls a builtin which it cannot express stores its whole state to the stack and calls the builtin as the interpreter would:
//! so error positions, tracebacks and all code that inspects frames are right. Usually the results are put where the call takes them and
//! the trace continues. Otherwise (an error, a stack that has moved, frames that were changed, a pending hook, sample or interrupt) the
//! trace is left, and the interpreter continues after the call of the builtin, not before it. The trace is also left when
//! [`invalidations`](crate::state::CompiledState::invalidations) has changed, for example because the builtin has called Lua: the values in
//! the trace's registers may be wrong then.
#![allow(unsafe_code, reason = "compiled code has stored a complete frame before it calls a builtin")]

use super::call::{NATIVE_RETURN, leave_native};
use super::cont;
use super::frame::{self, below, func_of, kind, link_of};
use super::returns::place_results;
use super::{Dispatching, Driver, R, Status};
use crate::Vm;
use crate::abi::{Outcome, call_c};
use crate::bc::Ins;
use crate::state::Unfinished;
use crate::value::Value;

/// What the interpreter does before each instruction.
///
/// # Safety
/// The VM is alive.
#[inline(always)]
unsafe fn dispatching(vm: *const Vm) -> Dispatching {
    // SAFETY: the caller's promise. Volatile: a signal handler may have written it.
    unsafe { (&raw const (*vm).interp.dispatching).read_volatile() }
}

/// Does the interpreter do nothing before an instruction, not even count it?
///
/// # Safety
/// The VM is alive.
#[inline(always)]
pub(super) unsafe fn is_plain_dispatching(vm: *const Vm) -> bool {
    // SAFETY: the caller's promise.
    matches!(unsafe { dispatching(vm) }, Dispatching::Plain | Dispatching::CompilerOff)
}

/// Has the interpreter nothing to do before its next instruction: no hook, interrupt or sample?
pub(crate) fn is_plain(vm: &Vm) -> bool {
    // SAFETY: this VM.
    let dispatching = unsafe { dispatching(vm) };
    matches!(dispatching, Dispatching::Plain | Dispatching::CompilerOff | Dispatching::Counted | Dispatching::Tallied)
}

/// Calls the builtin whose frame is at `frame`. True if its results are where the call takes them; otherwise compiled code must leave
/// without storing anything.
///
/// # Safety
/// Below `frame` lie the builtin and its link, as a call would have written them ([`place`] lists the kinds of links); at `frame` begin
/// `nargs` arguments, followed by the free slots that a builtin needs. Compiled code calls, and no reference to the VM is used.
#[inline(always)]
pub(crate) unsafe fn call(vm: *mut Vm, frame: *mut Value, nargs: usize) -> bool {
    // SAFETY: the contract of this function: the frame is on the running stack.
    unsafe {
        (*vm).base = frame;
        (*vm).top = frame.add(nargs);
        debug_assert!((*vm).top.add(super::stack::NATIVE_MIN) <= (*vm).stack_end());
        let f = func_of(frame);
        if f.is_in_c() {
            return call_in_c(vm, frame, f.hidden_address());
        }
        call_builtin(&mut *vm, frame)
    }
}

/// [`call`] of any builtin, whose arguments the VM has.
///
/// # Safety
/// See [`call`].
#[inline(always)]
unsafe fn call_builtin(vm: &mut Vm, frame: *mut Value) -> bool {
    // SAFETY: the contract of this function: the frame is on the running stack.
    unsafe {
        let Some(f) = func_of(frame).native() else {
            vm.compiled.unfinished = Unfinished::Error;
            return false;
        };
        let state = |vm: &Vm| (vm.cur.stack.get(), vm.compiled.invalidations);
        let before = state(vm);
        vm.compiled.native_calls += 1;
        let result = f(vm);
        vm.compiled.native_calls -= 1;
        match result {
            Ok(n) if n < NATIVE_RETURN && state(vm) == before && is_plain(vm) => {
                place(vm, frame, n as usize);
                true
            }
            Ok(n) => {
                vm.compiled.unfinished = Unfinished::Returned(n);
                false
            }
            Err(_) => {
                vm.compiled.unfinished = Unfinished::Error;
                false
            }
        }
    }
}

/// [`call`] of a function in C, by a border call and without the builtin behind it.
///
/// # Safety
/// See [`call`].
#[inline(never)]
unsafe fn call_in_c(vm: *mut Vm, frame: *mut Value, address: usize) -> bool {
    // SAFETY: the contract of this function; who made the function has given the address of one in C, which uses the VM by this pointer.
    unsafe {
        let link = &*(*vm).heap.link;
        if link.current.get() != vm || link.wrapper() != 0 {
            return call_in_c_otherwise(vm, frame);
        }
        let invalidations = (*vm).compiled.invalidations;
        (*vm).compiled.native_calls += 1;
        let outcome = call_c((*vm).cur.as_ptr(), 0, 0, 0, link.jump.as_ptr(), address);
        (*vm).compiled.native_calls -= 1;
        let n = outcome.value as i32;
        // Its frame is elsewhere if the stack was moved.
        let is_as_before = (*vm).base == frame && (*vm).compiled.invalidations == invalidations;
        if outcome.raised != 0 || n < 0 || !is_as_before || !is_plain(&*vm) {
            return leave_call_in_c(vm, outcome);
        }
        let n = n as usize;
        let link = link_of(frame);
        if kind(link) == frame::LUA {
            let pc: *const Ins = core::ptr::with_exposed_provenance(link as usize);
            let want = (*pc.sub(1)).b();
            if want == 1 {
                return true;
            }
            if want == 2 {
                *frame.sub(2) = if n == 0 { Value::NIL } else { *(*vm).top.sub(n) };
                return true;
            }
        }
        place_of_c(vm, frame, n)
    }
}

/// [`call_builtin`] of a function in C, whose builtin sets what [`call_in_c`] relies on.
///
/// # Safety
/// See [`call`].
#[cold]
#[inline(never)]
unsafe fn call_in_c_otherwise(vm: *mut Vm, frame: *mut Value) -> bool {
    // SAFETY: the caller's promise.
    unsafe { call_builtin(&mut *vm, frame) }
}

/// [`place`], as a tail call of [`call_in_c`].
///
/// # Safety
/// See [`call`].
#[inline(never)]
unsafe fn place_of_c(vm: *mut Vm, frame: *mut Value, n: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { place(&mut *vm, frame, n) };
    true
}

/// A function in C has not simply returned: notes what the interpreter must finish.
///
/// # Safety
/// See [`call`].
#[cold]
#[inline(never)]
unsafe fn leave_call_in_c(vm: *mut Vm, outcome: Outcome) -> bool {
    // SAFETY: the function has returned: no other reference to the VM is used.
    let vm = unsafe { &mut *vm };
    let returned = vm.outcome(outcome).and_then(|n| match u32::try_from(n as i32) {
        Ok(n) => Ok(n),
        // `lua_yield` has left the values alone in the frame.
        Err(_) => super::co::co_yield(vm),
    });
    vm.compiled.unfinished = returned.map_or(Unfinished::Error, Unfinished::Returned);
    false
}

/// Puts the `n` topmost values, results of the builtin with its frame at `base`, where its link says: where the call of a Lua function
/// takes them, with the `true` of a protected call in front of them; or, for a metamethod, into the slot that the instruction sets, if it
/// sets one. A comparison sets none: whether its result counts as true is left in the first slot of the continuation frame, as a boolean.
///
/// # Safety
/// See [`call`].
unsafe fn place(vm: &mut Vm, mut base: *mut Value, mut n: usize) {
    // SAFETY: links lead to frames on the same stack; there is the frame's function below the results.
    unsafe {
        let mut src = vm.top.sub(n);
        let mut link = link_of(base);
        if matches!(kind(link), frame::PCALL | frame::XPCALL) {
            base = below(base);
            link = link_of(base);
            src = src.sub(1);
            *src = Value::TRUE;
            n += 1;
        }
        debug_assert!(matches!(kind(link), frame::LUA | frame::CONT));
        if kind(link) == frame::LUA {
            let pc = core::ptr::with_exposed_provenance(link as usize);
            return place_results(vm, pc, src, base.sub(2), n);
        }
        let pc: *const Ins = core::ptr::with_exposed_provenance((*base.sub(3)).bits() as usize);
        let result = if n == 0 { Value::NIL } else { *src };
        match (*base.sub(4)).bits() & 7 {
            // Compiled code calls builtins only for the last step of a concatenation.
            cont::TO_A | cont::CONCAT => *below(base).add((*pc.sub(1)).a()) = result,
            cont::JUMP_IF | cont::JUMP_IF_NOT => *base.sub(4) = Value::bool(result.truthy()),
            _ => {}
        }
    }
}

impl Vm {
    /// Leaves the frame of the running builtin if an instruction has called it as a metamethod, so that an error is raised there.
    pub(crate) fn leave_metamethod(&mut self) {
        let frame = self.base;
        // SAFETY: the base of a running builtin's frame, which has four slots below it if its link is that of a continuation.
        unsafe {
            if kind(link_of(frame)) == frame::CONT {
                self.pc = core::ptr::with_exposed_provenance((*frame.sub(3)).bits() as usize);
                self.top = frame.sub(4);
                self.base = below(frame);
            }
        }
    }
}

/// Finishes what a builtin called by compiled code has left.
pub(super) unsafe fn finish<D: Driver>(r: R) -> u32 {
    let vm = r.vm;
    match core::mem::replace(&mut (*vm).compiled.unfinished, Unfinished::None) {
        Unfinished::Returned(n) => leave_native::<D>(vm, n),
        _ => Status::ERROR,
    }
}
