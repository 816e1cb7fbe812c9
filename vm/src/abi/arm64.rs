//! The border on aarch64 (AAPCS64).
#![allow(unsafe_code, reason = "the stack is as a border call left it when its noted stack pointer is restored")]

use super::unwind::personality;
use super::{HANDLER, Outcome};
use core::arch::naked_asm;

/// Begins a border call: the address of the cell for its stack pointer is in this register. The frame pointer has what was noted.
macro_rules! note {
    ($jump:literal) => {
        concat!(
            ".cfi_startproc
            // Relative, in four bytes.
            .cfi_personality 0x1b, {personality}
            // `bti c`, which older processors execute as a no-op.
            hint 34
            stp x29, x30, [sp, #-176]!
            .cfi_def_cfa_offset 176
            .cfi_offset x29, -176
            .cfi_offset x30, -168
            mov x29, sp
            .cfi_def_cfa_register x29
            stp x19, x20, [sp, #16]
            stp x21, x22, [sp, #32]
            stp x23, x24, [sp, #48]
            stp x25, x26, [sp, #64]
            stp x27, x28, [sp, #80]
            stp d8, d9, [sp, #96]
            stp d10, d11, [sp, #112]
            stp d12, d13, [sp, #128]
            stp d14, d15, [sp, #144]
            ldr x9, [",
            $jump,
            "]\n stp x9, ",
            $jump,
            ", [sp, #160]
            mov x9, sp
            str x9, [",
            $jump,
            "]"
        )
    };
}

/// Ends a border call: the stack pointer is the one that was noted.
macro_rules! leave {
    () => {
        "ldp x9, x10, [sp, #160]
        str x9, [x10]
        ldp x19, x20, [sp, #16]
        ldp x21, x22, [sp, #32]
        ldp x23, x24, [sp, #48]
        ldp x25, x26, [sp, #64]
        ldp x27, x28, [sp, #80]
        ldp d8, d9, [sp, #96]
        ldp d10, d11, [sp, #112]
        ldp d12, d13, [sp, #128]
        ldp d14, d15, [sp, #144]
        ldp x29, x30, [sp], #176
        .cfi_def_cfa sp, 0
        ret
        .cfi_endproc"
    };
}

/// Calls the C function at `address` with a coroutine and three more arguments. `jump` is the cell with the stack pointer of the innermost
/// border call; meanwhile it has that of this one.
///
/// # Safety
/// There is a C function at the address that takes no more than these arguments. `jump` is the cell of the VM that the function uses.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
pub unsafe extern "C" fn call_c<T>(coroutine: *mut T, a: u64, b: u64, c: u64, jump: *mut *mut u8, address: usize) -> Outcome {
    naked_asm!(note!("x4"), "blr x5", "mov x1, xzr", leave!(), personality = sym personality)
}

/// Calls the function at the end of the arguments with `a`, `b` and `c`. `jump` is as for [`call_c`].
///
/// # Safety
/// As for the function; `jump` is the cell of the VM that it uses.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
pub unsafe extern "C" fn call_entry<A, B>(
    a: *mut A,
    b: *mut B,
    c: usize,
    jump: *mut *mut u8,
    entry: unsafe extern "C" fn(*mut A, *mut B, usize) -> u32,
) -> Outcome {
    naked_asm!(note!("x3"), "blr x4", "mov x1, xzr", leave!(), personality = sym personality)
}

/// Calls a function in C without a border call of its own, and continues with `C`, which gets `link`, `caller` and `kbase` again: an error
/// returns from the border call that the caller, a handler of the interpreter, runs in. That has saved the registers in which these words are
/// kept meanwhile, and restores them.
///
/// # Safety
/// There is a function at the address that takes a coroutine. The caller has no frame: it has jumped here, and between here and the innermost
/// border call there is none of Rust.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
pub unsafe extern "C" fn call_function<C: super::Continuation, T>(
    vm: *mut C::Vm,
    link: usize,
    coroutine: *mut T,
    address: usize,
    caller: *mut u8,
    kbase: *const u8,
) -> u32 {
    naked_asm!(
        ".cfi_startproc",
        "hint 34",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        "mov x19, x0",
        "mov x20, x1",
        "mov x21, x4",
        "mov x22, x5",
        "mov x0, x2",
        "blr x3",
        "mov w2, w0",
        "mov x0, x19",
        "mov x1, x20",
        "mov x4, x21",
        "mov x5, x22",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        "b {go_on}",
        ".cfi_endproc",
        go_on = sym C::go_on,
    )
}

/// Calls a C function with any arguments, those on the stack at `stack`. `jump` is as for [`call_c`].
///
/// # Safety
/// There is a C function at the address that takes these arguments; as many words can be read at `stack` as the call has there.
// SAFETY: the body follows the calling convention of C.
#[unsafe(naked)]
pub unsafe extern "C" fn call_any(call: *mut super::Call, stack: *const u64, jump: *mut *mut u8) -> Outcome {
    naked_asm!(
        note!("x2"),
        "mov x19, x0",
        "ldr x10, [x19, #216]",
        "add x11, x10, #1",
        "and x11, x11, #-2",
        "sub sp, sp, x11, lsl #3",
        "2:",
        "cbz x10, 3f",
        "sub x10, x10, #1",
        "ldr x11, [x1, x10, lsl #3]",
        "str x11, [sp, x10, lsl #3]",
        "b 2b",
        "3:",
        "ldp q0, q1, [x19, #64]",
        "ldp q2, q3, [x19, #96]",
        "ldp q4, q5, [x19, #128]",
        "ldp q6, q7, [x19, #160]",
        "ldr x8, [x19, #192]",
        "ldr x9, [x19, #208]",
        "ldp x0, x1, [x19]",
        "ldp x2, x3, [x19, #16]",
        "ldp x4, x5, [x19, #32]",
        "ldp x6, x7, [x19, #48]",
        "blr x9",
        "stp x0, x1, [x19]",
        "stp q0, q1, [x19, #64]",
        "stp q2, q3, [x19, #96]",
        "mov x1, xzr",
        "mov sp, x29",
        leave!(),
        personality = sym personality,
    )
}

/// Where a border call goes on that has caught an exception: returns from it, with the outcome that the personality routine has put into its
/// registers.
// SAFETY: never called; the unwinder has restored the frame pointer of the border call.
#[unsafe(naked)]
pub(super) extern "C" fn land() {
    naked_asm!(".cfi_startproc", "mov sp, x29", leave!())
}

/// Returns from the border call that has noted this stack pointer, with the word that an error is being raised.
///
/// # Safety
/// The border call has not returned, and only frames of C functions lie above it.
// SAFETY: the body returns as the border call does.
#[unsafe(naked)]
pub unsafe extern "C" fn raise(noted: *mut u8) -> ! {
    naked_asm!(".cfi_startproc", "mov sp, x0", "mov x0, xzr", "mov x1, #1", leave!())
}

/// The callback entries: each passes its own address on.
// SAFETY: never called; each entry follows the calling convention of C.
#[unsafe(naked)]
pub(super) extern "C" fn callback_entries() {
    naked_asm!(
        ".p2align 4",
        ".rept 1024",
        "hint 34",
        "adr x9, .",
        "b {enter}",
        ".p2align 4",
        ".endr",
        enter = sym enter_callback,
    )
}

/// Saves the registers with arguments and calls the handler; an address in the callback entry is in `x9`.
// SAFETY: jumped to by the entries; the body follows the calling convention of C.
#[unsafe(naked)]
extern "C" fn enter_callback() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-240]!",
        ".cfi_def_cfa_offset 240",
        ".cfi_offset x29, -240",
        ".cfi_offset x30, -232",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "stp q0, q1, [sp, #80]",
        "stp q2, q3, [sp, #112]",
        "stp q4, q5, [sp, #144]",
        "stp q6, q7, [sp, #176]",
        "str x8, [sp, #208]",
        "add x10, sp, #240",
        "str x10, [sp, #224]",
        "mov x0, x9",
        "add x1, sp, #16",
        "adrp x9, {handler}",
        "ldr x9, [x9, :lo12:{handler}]",
        "blr x9",
        "cbnz x0, 2f",
        "ldp x0, x1, [sp, #16]",
        "ldp q0, q1, [sp, #80]",
        "ldp q2, q3, [sp, #112]",
        "ldp x29, x30, [sp], #240",
        ".cfi_def_cfa_offset 0",
        "ret",
        "2:",
        "b {raise}",
        ".cfi_endproc",
        handler = sym HANDLER,
        raise = sym raise,
    )
}
