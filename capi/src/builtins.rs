//! Builtins as functions in C: `lua_tocfunction` gives their addresses, so that code in C can call them, and make other functions of them.
#![allow(unsafe_code, reason = "functions in C are called with a coroutine of an open state")]

use crate::abi::{self, ENTRY_SIZE, Outcome, outcome};
use crate::state::{L, enter};
use perilune_vm::interp::frame::Catch;
use perilune_vm::object::{Func, Gc};
use perilune_vm::stdlib::Builtin;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::c_int;

/// Number of entries, one for each id.
const ENTRIES: usize = 512;

const _: () = assert!(Builtin::ALL.len() + 2 <= ENTRIES);

/// The address of the first entry, whose code is aligned.
fn first() -> usize {
    (entries as *const ()).expose_provenance().next_multiple_of(ENTRY_SIZE)
}

/// The address of a function in C that does what a builtin does; none for one that has upvalues.
pub fn address(f: Gc<Func>) -> Option<usize> {
    let builtin = Builtin::from_id(f.ffid()).filter(|_| f.native_upvalues().is_empty())?;
    builtin.native()?;
    Some(first() + builtin.id() as usize * ENTRY_SIZE)
}

/// The functions in C.
///
/// # Safety
/// Only code in C calls an entry, with a coroutine of an open state.
// SAFETY: never called by Rust code; each entry follows the calling convention of C.
#[unsafe(naked)]
unsafe extern "C" fn entries() {
    abi::entries!(ENTRIES, from_entry)
}

/// Jumped to by the entries.
///
/// # Safety
/// The contract of the crate.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
unsafe extern "C" fn from_entry(l: L, address: usize) -> c_int {
    abi::stub!(run)
}

/// The Rust part of all entries: calls the builtin whose entry the address lies in with the values of the running frame.
///
/// # Safety
/// The contract of the crate.
unsafe extern "C" fn run(l: L, address: usize) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe { enter(l, |vm| outcome(call(vm, (address - first()) / ENTRY_SIZE))) }
}

fn call(vm: &mut Vm, id: usize) -> LuaResult<c_int> {
    let Some(builtin) = Builtin::from_id(id as u32) else { return Ok(0) };
    let Some(native) = builtin.native() else { return Ok(0) };
    let n = vm.nargs();
    vm.reserve(n + 1)?;
    // In a frame of its own: some builtins replace it.
    let f = vm.new_native(native, builtin.id(), &[]);
    vm.push(Value::func(f));
    for i in 0..n {
        let v = vm.arg(i);
        vm.push(v);
    }
    vm.call_top(n, -1, Catch::Nothing)?;
    Ok((vm.nargs() - n) as c_int)
}
