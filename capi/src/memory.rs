//! The collector, and allocators.
#![allow(unsafe_code, reason = "memory of an allocator is resized and freed by the same one")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::state::shared;
use perilune_vm::Vm;
use perilune_vm::gc::allocator::{Alloc, HostAllocator};
use std::ffi::{c_int, c_void};

/// Collects if that is due: called when something was made and pushed. An error (the memory limit, an interrupt) is left to the next
/// safepoint.
#[inline]
pub fn collect(vm: &mut Vm) {
    if vm.heap.gc_due() && vm.safepoint().is_err() {
        let _ = vm.take_error();
    }
}

/// The allocator that `lua_getallocf` gives where none was given.
///
/// # Safety
/// `old` is null or memory from this function.
pub unsafe extern "C" fn allocate(_: *mut c_void, old: *mut c_void, _: usize, size: usize) -> *mut c_void {
    if size == 0 {
        libc::free(old);
        return core::ptr::null_mut();
    }
    libc::realloc(old, size)
}

plain! {
    /// `lua_getallocf`
    fn lua_getallocf(l => vm, data: *mut *mut c_void) -> Option<Alloc> {
        let alloc = shared(vm).alloc;
        if !data.is_null() {
            *data = alloc.1;
        }
        alloc.0
    }
    /// `lua_setallocf`
    fn lua_setallocf(l => vm, f: Option<Alloc>, data: *mut c_void) {
        shared(vm).alloc = (f, data);
        if let Some(function) = f {
            vm.set_allocator(HostAllocator { function, data });
        }
    }
    /// `lua_gc`
    fn lua_gc(l => vm, what: c_int, n: c_int) -> c_int {
        let percent = n.max(0) as u32;
        match what {
            0 => vm.gc_stop(),
            1 => vm.gc_restart(),
            2 => {
                vm.gc_restart();
                vm.full_gc();
                vm.shrink_unused_stack();
            }
            3 => return (vm.gc_count() >> 10) as c_int,
            4 => return (vm.gc_count() & 1023) as c_int,
            5 => {
                vm.gc_restart();
                return c_int::from(vm.gc_step(percent as usize));
            }
            6 => return vm.gc_set_pause(percent) as c_int,
            7 => return vm.gc_set_stepmul(percent) as c_int,
            9 => return c_int::from(vm.gc_is_running()),
            _ => return -1,
        }
        0
    }
}
