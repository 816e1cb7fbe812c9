//! What OpenResty has added to the C API, without which its module for nginx is not loaded: words of the host in each coroutine, which Lua code
//! gets by the modules `thread.exdata` and `thread.exdata2`, and coroutines that are used again.
#![allow(unsafe_code, reason = "functions are exported")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::abi::{Outcome, outcome, stub};
use crate::check::type_error;
use crate::push;
use crate::state::{L, enter};
use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::object::{Gc, ThreadStatus};
use perilune_vm::{LuaResult, Vm};
use std::ffi::{c_int, c_void};

/// Lets `require` find the modules.
pub fn open(vm: &mut Vm) {
    vm.preload(b"thread.exdata", |vm| load(vm, exdata::<0>));
    vm.preload(b"thread.exdata2", |vm| load(vm, exdata::<1>));
}

/// Each module is one function.
fn load(vm: &mut Vm, function: crate::state::CFunction) -> LuaResult<u32> {
    let f = push::closure(vm, function, 0);
    vm.ret1(f)
}

/// `exdata([pointer])`: a word of the running coroutine as `void *`, or sets it.
///
/// # Safety
/// The contract of the crate.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
unsafe extern "C-unwind" fn exdata<const I: usize>(l: L) -> c_int {
    stub!(exdata_inner::<I>)
}

/// The Rust part.
///
/// # Safety
/// The contract of the crate.
unsafe extern "C" fn exdata_inner<const I: usize>(l: L) -> Outcome {
    enter(l, |vm| outcome(get_or_set(vm, I)))
}

fn get_or_set(vm: &mut Vm, i: usize) -> LuaResult<c_int> {
    if vm.nargs() == 0 {
        let address = vm.cur.host[i].get();
        let v = vm.address_value(address.cast())?;
        push::value(vm, v);
        crate::memory::collect(vm);
        return Ok(1);
    }
    if !vm.arg(0).is_cdata() {
        return Err(type_error(vm, 1, b"cdata"));
    }
    let address = vm.check_address(0, CTypeId::P_VOID)?;
    vm.cur.host[i].set(address.cast());
    Ok(0)
}

macro_rules! words {
    ($($(#[$doc:meta])* $get:ident $set:ident $i:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(l: L) -> *mut c_void {
            (*l).host[$i].get()
        }
        $(#[$doc])*
        ///
        /// # Safety
        /// The contract of the crate.
        // SAFETY: the name is that of the C API, which nothing else in a program defines.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(l: L, word: *mut c_void) {
            (*l).host[$i].set(word);
        }
    )*};
}
words! {
    /// The first word of a coroutine, which those that it makes inherit.
    lua_getexdata lua_setexdata 0;
    /// The second word.
    lua_getexdata2 lua_setexdata2 1;
}

/// `lua_resetthread`: makes a coroutine as if it were new, with the globals of the one that runs. One that runs, or waits for another, is
/// left alone.
///
/// # Safety
/// The contract of the crate; both coroutines are of one state.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_resetthread(l: L, coroutine: L) {
    let co = Gc::from_ptr(coroutine);
    if !matches!(co.status.get(), ThreadStatus::Running | ThreadStatus::Normal) {
        enter(l, |vm| vm.reset_stack(co));
    }
}
