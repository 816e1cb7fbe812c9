//! The border on aarch64 (AAPCS64).
#![allow(unsafe_code, reason = "an error is thrown with the stack as at the entry of an exported function")]

use super::{exception, give_up, jump_target, panic_function};
use crate::state::L;
use core::arch::naked_asm;
use perilune_vm::abi::raise;
use perilune_vm::abi::unwind::{_Unwind_RaiseException, Exception};

/// Returns from the innermost border call with the word that an error is being raised. Without one, calls the panic function and ends the
/// process.
///
/// # Safety
/// Jumped to, with the coroutine as argument and the stack as at the entry of an exported function.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
pub unsafe extern "C" fn throw(l: L) -> ! {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-32]!",
        ".cfi_def_cfa_offset 32",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        "mov x29, sp",
        "str x0, [sp, #16]",
        // Through frames of C++ functions as an exception.
        "bl {exception}",
        "cbz x0, 4f",
        "str x0, [sp, #24]",
        "bl {raise_exception}",
        "ldr x0, [sp, #24]",
        "bl {delete}",
        "4:",
        "ldr x0, [sp, #16]",
        "bl {jump_target}",
        "cbz x0, 2f",
        "b {raise}",
        "2:",
        "ldr x0, [sp, #16]",
        "bl {panic_function}",
        "cbz x0, 3f",
        "mov x9, x0",
        "ldr x0, [sp, #16]",
        "blr x9",
        "3:",
        "bl {give_up}",
        ".cfi_endproc",
        exception = sym exception,
        raise_exception = sym _Unwind_RaiseException,
        delete = sym Exception::delete,
        jump_target = sym jump_target,
        panic_function = sym panic_function,
        give_up = sym give_up,
        raise = sym raise,
    )
}

/// The body of an exported function whose Rust part is a function that returns an [`Outcome`]. In brackets: instructions before it returns,
/// and before the error is thrown, when the first argument is in its register again.
macro_rules! stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, [], [])
    };
    ($inner:path, [$($returned:literal)?], [$($thrown:literal)?]) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "hint 34",
            "stp x29, x30, [sp, #-32]!",
            ".cfi_def_cfa_offset 32",
            ".cfi_offset x29, -32",
            ".cfi_offset x30, -24",
            "mov x29, sp",
            "str x0, [sp, #16]",
            "bl {inner}",
            "ldr x9, [sp, #16]",
            "ldp x29, x30, [sp], #32",
            ".cfi_def_cfa_offset 0",
            "cbnz x1, 2f",
            $($returned,)?
            "ret",
            "2:",
            "mov x0, x9",
            $($thrown,)?
            "b {throw}",
            ".cfi_endproc",
            inner = sym $inner,
            throw = sym $crate::abi::throw,
        )
    };
}
/// The same for one whose first argument is a buffer, which has the coroutine at offset 16.
macro_rules! buffer_stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, [], ["ldr x0, [x0, #16]"])
    };
}
/// The same for one that returns a double.
macro_rules! double_stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, ["fmov d0, x0"], [])
    };
}
/// The same for one with a format as second argument and variable arguments after it, which the Rust part gets as a [`VaList`].
macro_rules! variadic_stub {
    ($inner:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "hint 34",
            "stp x29, x30, [sp, #-256]!",
            ".cfi_def_cfa_offset 256",
            ".cfi_offset x29, -256",
            ".cfi_offset x30, -248",
            "mov x29, sp",
            "str x0, [sp, #16]",
            // The list from 24 on, general registers from 64 to 112, floating-point registers from 112 to 240.
            "stp x2, x3, [sp, #64]",
            "stp x4, x5, [sp, #80]",
            "stp x6, x7, [sp, #96]",
            "stp q0, q1, [sp, #112]",
            "stp q2, q3, [sp, #144]",
            "stp q4, q5, [sp, #176]",
            "stp q6, q7, [sp, #208]",
            "add x9, sp, #256",
            "str x9, [sp, #24]",
            "add x9, sp, #112",
            "str x9, [sp, #32]",
            "add x9, sp, #240",
            "str x9, [sp, #40]",
            "mov w9, #-48",
            "str w9, [sp, #48]",
            "mov w9, #-128",
            "str w9, [sp, #52]",
            "add x2, sp, #24",
            "bl {inner}",
            "ldr x9, [sp, #16]",
            "ldp x29, x30, [sp], #256",
            ".cfi_def_cfa_offset 0",
            "cbnz x1, 2f",
            "ret",
            "2:",
            "mov x0, x9",
            "b {throw}",
            ".cfi_endproc",
            inner = sym $inner,
            throw = sym $crate::abi::throw,
        )
    };
}
/// The body of functions one after another, each of which adds its own address to the arguments and jumps to the same function.
macro_rules! entries {
    ($number:expr, $call:path) => {
        ::core::arch::naked_asm!(
            ".p2align 4",
            ".rept {number}",
            "hint 34",
            "adr x1, .",
            "b {call}",
            ".p2align 4",
            ".endr",
            number = const $number,
            call = sym $call,
        )
    };
}
pub(crate) use {buffer_stub, double_stub, entries, stub, variadic_stub};

/// Variable arguments, as C's `va_list` has them.
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    pub(super) stack: *const u64,
    general_end: *const u8,
    floating_end: *const u8,
    general: i32,
    floating: i32,
}

impl VaList {
    /// The next argument, an integer or a pointer.
    ///
    /// # Safety
    /// It is there, and of this kind.
    pub unsafe fn word(&mut self) -> u64 {
        if self.general >= 0 {
            // SAFETY: the registers are used up, and the caller's promise.
            return unsafe { self.take_stacked() };
        }
        // SAFETY: the register was stored there.
        let v = unsafe { self.general_end.offset(self.general as isize).cast::<u64>().read() };
        self.general += 8;
        v
    }
    /// The next argument, a double.
    ///
    /// # Safety
    /// As for [`VaList::word`].
    pub unsafe fn double(&mut self) -> f64 {
        if self.floating >= 0 {
            // SAFETY: the registers are used up, and the caller's promise.
            return f64::from_bits(unsafe { self.take_stacked() });
        }
        // SAFETY: the register was stored there.
        let v = unsafe { self.floating_end.offset(self.floating as isize).cast::<f64>().read() };
        self.floating += 16;
        v
    }
}
