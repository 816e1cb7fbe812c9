//! The border on x86-64 (System V).
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
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 16",
        ".cfi_adjust_cfa_offset 16",
        // Through frames of C++ functions as an exception.
        "call {exception}",
        "test rax, rax",
        "je 4f",
        "mov [rsp], rax",
        "mov rdi, rax",
        "call {raise_exception}",
        "mov rdi, [rsp]",
        "call {delete}",
        "4:",
        "add rsp, 16",
        ".cfi_adjust_cfa_offset -16",
        "mov rdi, [rsp]",
        "call {jump_target}",
        "test rax, rax",
        "je 2f",
        "mov rdi, rax",
        "jmp {raise}",
        "2:",
        "mov rdi, [rsp]",
        "call {panic_function}",
        "test rax, rax",
        "je 3f",
        "mov rdi, [rsp]",
        "call rax",
        "3:",
        "call {give_up}",
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

/// The body of an exported function whose Rust part is a function that returns an [`Outcome`]. In brackets: a test whether an error is being
/// raised, and instructions before it is thrown, when the first argument is in its register again.
macro_rules! stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, ["test edx, edx"], [])
    };
    ($inner:path, [$test:literal], [$($thrown:literal)?]) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "push rdi",
            ".cfi_adjust_cfa_offset 8",
            "call {inner}",
            "pop rdi",
            ".cfi_adjust_cfa_offset -8",
            $test,
            "jne 2f",
            "ret",
            "2:",
            $($thrown,)?
            "jmp {throw}",
            ".cfi_endproc",
            inner = sym $inner,
            throw = sym $crate::abi::throw,
        )
    };
}
/// The same for one whose first argument is a buffer, which has the coroutine at offset 16.
macro_rules! buffer_stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, ["test edx, edx"], ["mov rdi, [rdi + 16]"])
    };
}
/// The same for one that returns a double, which is in its register already.
macro_rules! double_stub {
    ($inner:path) => {
        $crate::abi::stub!($inner, ["test eax, eax"], [])
    };
}
/// The same for one with a format as second argument and variable arguments after it, which the Rust part gets as a [`VaList`].
macro_rules! variadic_stub {
    ($inner:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "push rdi",
            ".cfi_adjust_cfa_offset 8",
            // The area of the argument registers (176 bytes), and the list that describes it (24).
            "sub rsp, 208",
            ".cfi_adjust_cfa_offset 208",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "lea rdx, [rsp + 176]",
            // Two general registers are in use.
            "mov dword ptr [rdx], 16",
            "mov dword ptr [rdx + 4], 48",
            "lea rax, [rsp + 224]",
            "mov [rdx + 8], rax",
            "mov [rdx + 16], rsp",
            "call {inner}",
            "add rsp, 208",
            ".cfi_adjust_cfa_offset -208",
            "pop rdi",
            ".cfi_adjust_cfa_offset -8",
            "test edx, edx",
            "jne 2f",
            "ret",
            "2:",
            "jmp {throw}",
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
            "endbr64",
            "lea rsi, [rip]",
            "jmp {call}",
            ".p2align 4",
            ".endr",
            number = const $number,
            call = sym $call,
        )
    };
}
pub(crate) use {buffer_stub, double_stub, entries, stub, variadic_stub};

/// Variable arguments, as C's `va_list` points to them.
#[derive(Debug)]
#[repr(C)]
pub struct VaList {
    general: u32,
    floating: u32,
    pub(super) stack: *const u64,
    registers: *const u8,
}

/// Bytes of the general registers in the area of argument registers, and of all.
const GENERAL_END: u32 = 48;
const FLOATING_END: u32 = 176;

impl VaList {
    /// The next argument, an integer or a pointer.
    ///
    /// # Safety
    /// It is there, and of this kind.
    pub unsafe fn word(&mut self) -> u64 {
        if self.general >= GENERAL_END {
            // SAFETY: the registers are used up, and the caller's promise.
            return unsafe { self.take_stacked() };
        }
        // SAFETY: the register was stored there.
        let v = unsafe { self.registers.add(self.general as usize).cast::<u64>().read() };
        self.general += 8;
        v
    }
    /// The next argument, a double.
    ///
    /// # Safety
    /// As for [`VaList::word`].
    pub unsafe fn double(&mut self) -> f64 {
        if self.floating >= FLOATING_END {
            // SAFETY: the registers are used up, and the caller's promise.
            return f64::from_bits(unsafe { self.take_stacked() });
        }
        // SAFETY: the register was stored there.
        let v = unsafe { self.registers.add(self.floating as usize).cast::<f64>().read() };
        self.floating += 16;
        v
    }
}
