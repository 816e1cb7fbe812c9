//! Coroutines.
#![allow(unsafe_code, reason = "coroutines belong to a state that is open")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::call::status;
use crate::state::{L, enter, shared};
use perilune_vm::interp::co_native::Resumed;
use perilune_vm::object::{Gc, ThreadStatus};
use perilune_vm::{Value, Vm};
use std::ffi::c_int;

/// May the running coroutine yield?
fn can_yield(vm: &Vm) -> bool {
    vm.cur.resumer.get().is_some() && vm.cur.native_depth.get() == vm.interp.native_depth
}

/// What a coroutine has failed with, by the error that it has left.
fn failure(vm: &Vm, error: Value) -> c_int {
    if error == Value::str(vm.heap.no_memory()) { status::MEMORY } else { status::RUN }
}

/// `lua_resume`
///
/// # Safety
/// The contract of the crate.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_resume(l: L, n: c_int) -> c_int {
    let co = Gc::from_ptr(l);
    // The coroutine that runs now resumes it.
    let running = (*(*(*l).link).current.get()).cur.as_ptr();
    enter(running, |vm| {
        let root = shared(vm).resume;
        let resume = vm.host.roots.get(root);
        match vm.resume_native(resume, co, n.max(0) as usize) {
            Resumed::Returned => status::OK,
            Resumed::Yielded => status::YIELD,
            Resumed::Failed => {
                let top = if vm.cur == co { vm.top } else { co.top.get() };
                failure(vm, *top.sub(1))
            }
        }
    })
}

/// `lua_status`
///
/// # Safety
/// The contract of the crate.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_status(l: L) -> c_int {
    let co = Gc::from_ptr(l);
    let vm = &*(*co.link).current.get();
    match co.status.get() {
        ThreadStatus::Suspended => status::YIELD,
        ThreadStatus::Dead if vm.coroutine_failed(co) => {
            // The error is on top, unless the host has removed it.
            if co.top.get() > co.base.get() { failure(vm, *co.top.get().sub(1)) } else { status::RUN }
        }
        _ => status::OK,
    }
}

plain! {
    /// `lua_isyieldable`
    fn lua_isyieldable(l => vm) -> c_int { c_int::from(can_yield(vm)) }
}

raising! {
    /// `lua_yield`
    fn lua_yield(l => vm, n: c_int) -> c_int {
        if !can_yield(vm) {
            // Without a position: the function in C raises it.
            return Err(vm.plain_error(b"attempt to yield across C-call boundary"));
        }
        // The values are left alone in the frame.
        let n = n.max(0) as usize;
        core::ptr::copy(vm.top.sub(n), vm.base, n);
        vm.top = vm.base.add(n);
        Ok(-1)
    }
}
