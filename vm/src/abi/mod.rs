//! The border between Rust and native code: calls of C functions, callbacks from them, and errors through their frames.
//!
//! Every way from Rust to C is a *border call* ([`call_c`], [`call_entry`], [`call_any`]), or a jump inside one ([`call_function`]): it saves the registers that a callee preserves, and notes its
//! stack pointer in a cell of the VM ([`crate::object::ThreadLink::jump`]). An error goes from C to Rust by [`raise`], which restores the
//! registers from the innermost border call and returns from it, as `longjmp` would. No frame of a Rust function is ever skipped: code that
//! raises one does so after its Rust part has returned, and between it and the border call lie frames of C functions only.
#![allow(
    unsafe_code,
    reason = "an error goes to the innermost border call, and only frames of C functions lie between it and the code that raises it"
)]

#[cfg(target_arch = "aarch64")]
mod arm64;
#[cfg(target_arch = "x86_64")]
mod x64;

#[cfg(target_arch = "aarch64")]
use arm64 as machine;
#[cfg(target_arch = "x86_64")]
use x64 as machine;

pub use machine::{call_any, call_c, call_entry, call_function, raise};

pub mod unwind;

use core::sync::atomic::{AtomicPtr, Ordering};

/// What a border call returns: in two registers.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub struct Outcome {
    /// The result of the function.
    pub value: u64,
    /// 0, or [`RAISED`], or [`FOREIGN`]. Then the value is an exception, or 0.
    pub raised: u64,
}

/// An error is being raised.
pub const RAISED: u64 = 1;
/// An exception has come that is no error of Lua.
pub const FOREIGN: u64 = 2;

/// What [`call_function`] continues with.
pub trait Continuation {
    /// What it continues in.
    type Vm;
    /// Continues after a function in C that has returned `n`, with the other words that [`call_function`] got. The fourth is any value.
    ///
    /// # Safety
    /// Jumped to by [`call_function`] with what that got.
    unsafe extern "C" fn go_on(vm: *mut Self::Vm, link: usize, n: i32, _: usize, caller: *mut u8, kbase: *const u8) -> u32;
}

/// The registers that arguments and results are in. x86-64 uses the first six general registers for arguments.
#[derive(Clone, Debug, Default)]
#[repr(C, align(16))]
pub struct Registers {
    /// General registers. The results of a call are in the first two.
    pub general: [u64; 8],
    /// Vector registers. The results of a call are in the first two (x86-64) or four (aarch64).
    pub vector: [[u64; 2]; 8],
    /// Where the caller wants a result in memory (aarch64: `x8`).
    pub result: u64,
}

/// A call of a C function.
#[derive(Debug)]
#[repr(C)]
pub struct Call {
    /// Arguments in registers; results after the call.
    pub registers: Registers,
    /// Address of the function.
    pub function: usize,
    /// Number of words on the stack.
    pub stack_words: usize,
    /// Number of vector registers with arguments, which functions with variable arguments are told.
    pub vectors: usize,
}

/// What a callback entry has saved of its caller.
#[derive(Debug)]
#[repr(C)]
pub struct Entered {
    /// Arguments in registers; the results are returned from here.
    pub registers: Registers,
    /// Arguments on the stack.
    pub stack: *const u64,
}

/// Number of callback entries, which all VMs of the process share.
pub const CALLBACK_ENTRIES: usize = 1024;
/// Bytes of the code of a callback entry.
const ENTRY_SIZE: usize = 16;

/// What callback entries call: with an address in the entry, and what it has saved. It puts the results into the registers and returns null;
/// or it returns the stack pointer that [`raise`] is to be called with, after an error.
pub type Handler = unsafe extern "C" fn(address: usize, entered: *mut Entered) -> *mut u8;

/// The [`Handler`], the same for all VMs.
static HANDLER: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// Sets what callback entries call; no entry may be called before.
pub fn set_handler(handler: Handler) {
    HANDLER.store(handler as *mut (), Ordering::Release);
}

/// Address of a callback entry: a C function that saves its arguments and calls the handler.
pub fn entry_address(index: usize) -> usize {
    debug_assert!(index < CALLBACK_ENTRIES);
    first_entry() + index * ENTRY_SIZE
}
/// The callback entry whose code is around an address.
pub fn entry_at(address: usize) -> Option<usize> {
    let index = address.checked_sub(first_entry())? / ENTRY_SIZE;
    (index < CALLBACK_ENTRIES).then_some(index)
}
fn first_entry() -> usize {
    // The code of the entries is aligned, which the function that holds it need not be.
    (machine::callback_entries as *const ()).expose_provenance().next_multiple_of(ENTRY_SIZE)
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(Registers, vector) == 64 && offset_of!(Registers, result) == 192 && size_of::<Registers>() == 208);
    assert!(offset_of!(Call, function) == 208 && offset_of!(Call, stack_words) == 216 && offset_of!(Call, vectors) == 224);
    assert!(offset_of!(Entered, stack) == 208 && size_of::<Entered>() == 224);
};

#[cfg(all(test, not(miri)))]
mod tests;
