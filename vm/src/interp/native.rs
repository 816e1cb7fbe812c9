//! Builtins called by compiled code.
//!
//! A trace that comes to a builtin which it cannot express stores its whole state to the stack and calls it as the interpreter
//! would: so error positions, tracebacks and everything that looks at frames are right. Usually the results are put where the
//! call wants them and the trace goes on. Otherwise (an error, a stack that has moved, frames that were changed, a hook, a sample
//! or an interrupt that waits) the trace leaves, and the interpreter goes on behind the call of the builtin, not before it. It also leaves when the
//! builtin has called Lua or something else has brought an upheaval ([`Vm::upheavals`]): what only the trace's registers knew may
//! be wrong then.

use super::call::{NATIVE_RETURN, leave_native, place_results};
use super::frame::{func_of, link_of};
use super::{Dispatching, Driver, R, Status};
use crate::Vm;
use crate::value::Value;

/// What a builtin that compiled code called has left for the interpreter to finish.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// Nothing.
    None,
    /// An error is on its way.
    Error,
    /// It returned this, with its frame at `vm.base`.
    Returned(u32),
}

/// Does the interpreter have nothing to look at before its next instruction: a hook, an interrupt, a sample?
fn is_plain(vm: &Vm) -> bool {
    // SAFETY: a field of this VM. Volatile: a signal handler may have written it.
    unsafe { (&raw const vm.dispatching).read_volatile() == Dispatching::Plain }
}

/// Calls the builtin whose frame is at `frame`. True if its results are where the call wants them; otherwise compiled code must
/// leave without storing anything.
///
/// # Safety
/// Below `frame` lie the builtin and the return address behind a call instruction of a Lua function, from there on `nargs`
/// arguments; a builtin's minimum of free stack follows.
pub(crate) unsafe fn call(vm: &mut Vm, frame: *mut Value, nargs: usize) -> bool {
    // SAFETY: the contract of this function: the frame is on the running stack.
    unsafe {
        vm.base = frame;
        vm.top = frame.add(nargs);
        debug_assert!(vm.top.add(super::stack::NATIVE_MIN) <= vm.stack_end());
        let Some(f) = func_of(frame).native() else {
            vm.unfinished = Unfinished::Error;
            return false;
        };
        let state = |vm: &Vm| (vm.cur.stack.get(), vm.upheavals);
        let before = state(vm);
        vm.traces_waiting += 1;
        let result = f(vm);
        vm.traces_waiting -= 1;
        match result {
            Ok(n) if n < NATIVE_RETURN && state(vm) == before && is_plain(vm) => {
                let pc = core::ptr::with_exposed_provenance(link_of(frame) as usize);
                place_results(vm, pc, vm.top.sub(n as usize), frame.sub(2), n as usize);
                true
            }
            Ok(n) => {
                vm.unfinished = Unfinished::Returned(n);
                false
            }
            Err(_) => {
                vm.unfinished = Unfinished::Error;
                false
            }
        }
    }
}

/// Goes on with what a builtin called by compiled code has left.
pub(super) unsafe fn finish<D: Driver>(r: R) -> u32 {
    let vm = r.vm;
    match core::mem::replace(&mut (*vm).unfinished, Unfinished::None) {
        Unfinished::Returned(n) => leave_native::<D>(vm, n),
        _ => Status::ERROR,
    }
}
