//! How exported functions raise errors, and take variable arguments.
//!
//! An error of the API goes through the frames of C functions up to the innermost border call ([`perilune_vm::abi`]). No frame of a Rust
//! function is ever skipped: an exported function that raises errors is a *stub* in assembly, which calls its Rust part, and only when that
//! has returned, with the word that an error is being raised, jumps to [`throw`]. Between a stub and the border call that the error goes to
//! lie frames of C functions only, because every way from Rust to C is a border call.
#![allow(
    unsafe_code,
    reason = "an error goes from a stub to the innermost border call, and only frames of C functions lie between them"
)]

#[cfg(target_arch = "aarch64")]
mod arm64;
#[cfg(target_arch = "x86_64")]
mod x64;

mod cpp;

#[cfg(target_arch = "aarch64")]
pub use arm64::{VaList, throw};
#[cfg(target_arch = "x86_64")]
pub use x64::{VaList, throw};

#[cfg(target_arch = "aarch64")]
pub(crate) use arm64::{buffer_stub, double_stub, entries, stub, variadic_stub};
#[cfg(target_arch = "x86_64")]
pub(crate) use x64::{buffer_stub, double_stub, entries, stub, variadic_stub};

/// Bytes of the code of a builtin's entry.
pub const ENTRY_SIZE: usize = 16;

use crate::state::{L, shared};
use perilune_vm::LuaResult;
pub use perilune_vm::abi::Outcome;
use perilune_vm::abi::unwind::Exception;
use std::ffi::{c_char, c_int, c_void};

/// What the Rust part of a stub returns, from its result.
#[inline(always)]
pub fn outcome<T: Word>(result: LuaResult<T>) -> Outcome {
    match result {
        Ok(v) => Outcome { value: v.word(), raised: 0 },
        Err(_) => Outcome { value: 0, raised: 1 },
    }
}

/// What the Rust part of a stub returns whose result is a double, which stays in a vector register on x86-64.
#[derive(Copy, Clone, Debug)]
#[repr(C)]
pub struct DoubleOutcome {
    value: f64,
    raised: u64,
}

/// The same as [`outcome`] for a double.
#[inline(always)]
pub fn double_outcome(result: LuaResult<f64>) -> DoubleOutcome {
    match result {
        Ok(value) => DoubleOutcome { value, raised: 0 },
        Err(_) => DoubleOutcome { value: 0.0, raised: 1 },
    }
}

/// Results of exported functions as words.
pub trait Word {
    /// The register that holds it.
    fn word(self) -> u64;
}

macro_rules! words {
    ($($ty:ty: $v:ident => $word:expr;)*) => {$(
        impl Word for $ty {
            #[inline(always)]
            fn word(self) -> u64 {
                let $v = self;
                $word
            }
        }
    )*};
}
words! {
    (): _v => 0;
    c_int: v => v as u32 as u64;
    usize: v => v as u64;
    isize: v => v as u64;
    *const c_char: v => v.expose_provenance() as u64;
    *mut c_char: v => v.expose_provenance() as u64;
    *mut c_void: v => v.expose_provenance() as u64;
    L: v => v.expose_provenance() as u64;
}

/// The exception to raise for the error that is being raised: that of C++ which it stands for, or a new one; null if errors jump.
///
/// # Safety
/// `l` is a coroutine of a state that is open.
unsafe extern "C" fn exception(l: L) -> *mut Exception {
    if !cpp::is_in_process() {
        return core::ptr::null_mut();
    }
    // SAFETY: the caller's promise.
    let foreign = unsafe { crate::state::enter(l, |vm| vm.take_exception()) };
    if foreign.is_null() { Exception::of_error() } else { foreign }
}

/// Where the error of a stub goes: the stack pointer that the innermost border call has noted, or null.
///
/// # Safety
/// `l` is a coroutine of a state that is open.
unsafe extern "C" fn jump_target(l: L) -> *mut u8 {
    // SAFETY: a coroutine leads to its VM as long as the state is open.
    unsafe { (*(*l).link).jump.get() }
}

/// The function that is called before an error ends the process, because nothing catches it; null if there is none. The error is on top of
/// the stack for it.
///
/// # Safety
/// As for [`jump_target`].
unsafe extern "C" fn panic_function(l: L) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        crate::state::enter(l, |vm| {
            let error = vm.take_error();
            // The stack may be full.
            if vm.reserve(1).is_ok() {
                vm.push(error);
            }
            shared(vm).panic.map_or(0, |f| f as usize)
        })
    }
}

/// Ends the process after an error that nothing has caught.
extern "C" fn give_up() -> ! {
    std::process::exit(libc::EXIT_FAILURE)
}

impl VaList {
    /// # Safety
    /// There is one more argument on the stack.
    unsafe fn take_stacked(&mut self) -> u64 {
        // SAFETY: the caller's promise.
        let v = unsafe { self.stack.read() };
        self.stack = self.stack.wrapping_add(1);
        v
    }
    /// The next argument, a string.
    ///
    /// # Safety
    /// As for [`VaList::word`].
    pub unsafe fn string(&mut self) -> *const c_char {
        // SAFETY: the caller's promise.
        core::ptr::with_exposed_provenance(unsafe { self.word() } as usize)
    }
}
