//! The border on x86-64 (System V).
#![allow(unsafe_code, reason = "the stack is as a border call left it when its noted stack pointer is restored")]

use super::unwind::personality;
use super::{HANDLER, Outcome};
use core::arch::naked_asm;

/// Begins a border call: the address of the cell for its stack pointer is in this register. The stack pointer is 8 bytes off a multiple of
/// 16 then.
macro_rules! note {
    ($jump:literal) => {
        concat!(
            ".cfi_startproc
            // Relative, in four bytes.
            .cfi_personality 0x1b, {personality}
            push rbp
            .cfi_adjust_cfa_offset 8
            .cfi_rel_offset rbp, 0
            mov rbp, rsp
            .cfi_def_cfa_register rbp
            push rbx
            push r12
            push r13
            push r14
            push r15
            push ",
            $jump,
            "\n push [",
            $jump,
            "]\n mov [",
            $jump,
            "], rsp"
        )
    };
}

/// Ends a border call: the stack pointer is the one that was noted.
macro_rules! leave {
    () => {
        "pop rcx
        pop r8
        mov [r8], rcx
        pop r15
        pop r14
        pop r13
        pop r12
        pop rbx
        pop rbp
        .cfi_def_cfa rsp, 8
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
    naked_asm!(
        note!("r8"),
        "sub rsp, 8",
        "call r9",
        "xor edx, edx",
        "add rsp, 8",
        leave!(),
        personality = sym personality,
    )
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
    naked_asm!(
        note!("rcx"),
        "sub rsp, 8",
        "call r8",
        "xor edx, edx",
        "add rsp, 8",
        leave!(),
        personality = sym personality,
    )
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
        // In one line of the cache: a naked function begins anywhere at a multiple of 4, and over the end of a line each call takes up to
        // a sixth longer. The function has a section of its own, so that there is nothing to fill in front of it.
        ".p2align 6",
        ".cfi_startproc",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "mov rbx, rdi",
        "mov r12, rsi",
        "mov r13, r8",
        "mov r14, r9",
        "mov rdi, rdx",
        "call rcx",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rbx",
        "mov rsi, r12",
        "mov edx, eax",
        "mov r8, r13",
        "mov r9, r14",
        "jmp {go_on}",
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
        note!("rdx"),
        "mov rbx, rdi",
        "mov rcx, [rbx + 216]",
        // An odd number of words aligns the stack.
        "mov rax, rcx",
        "or rax, 1",
        "shl rax, 3",
        "sub rsp, rax",
        "2:",
        "test rcx, rcx",
        "je 3f",
        "mov rax, [rsi + rcx * 8 - 8]",
        "mov [rsp + rcx * 8 - 8], rax",
        "dec rcx",
        "jmp 2b",
        "3:",
        "mov eax, [rbx + 224]",
        "test eax, eax",
        "je 4f",
        "movaps xmm0, [rbx + 64]",
        "movaps xmm1, [rbx + 80]",
        "movaps xmm2, [rbx + 96]",
        "movaps xmm3, [rbx + 112]",
        "movaps xmm4, [rbx + 128]",
        "movaps xmm5, [rbx + 144]",
        "movaps xmm6, [rbx + 160]",
        "movaps xmm7, [rbx + 176]",
        "4:",
        "mov rdi, [rbx]",
        "mov rsi, [rbx + 8]",
        "mov rdx, [rbx + 16]",
        "mov rcx, [rbx + 24]",
        "mov r8, [rbx + 32]",
        "mov r9, [rbx + 40]",
        "call [rbx + 208]",
        "mov [rbx], rax",
        "mov [rbx + 8], rdx",
        "movaps [rbx + 64], xmm0",
        "movaps [rbx + 80], xmm1",
        "xor edx, edx",
        // Below the frame pointer: five registers, the cell's address and its former content.
        "lea rsp, [rbp - 56]",
        leave!(),
        personality = sym personality,
    )
}

/// Where a border call goes on that has caught an exception: returns from it, with the outcome that the personality routine has put into its
/// registers.
// SAFETY: never called; the unwinder has restored the frame pointer of the border call.
#[unsafe(naked)]
pub(super) extern "C" fn land() {
    naked_asm!(".cfi_startproc", "lea rsp, [rbp - 56]", leave!())
}

/// Returns from the border call that has noted this stack pointer, with the word that an error is being raised.
///
/// # Safety
/// The border call has not returned, and only frames of C functions lie above it.
// SAFETY: the body returns as the border call does.
#[unsafe(naked)]
pub unsafe extern "C" fn raise(noted: *mut u8) -> ! {
    naked_asm!(".cfi_startproc", "mov rsp, rdi", "xor eax, eax", "mov edx, 1", leave!())
}

/// The callback entries: each passes its own address on.
// SAFETY: never called; each entry follows the calling convention of C.
#[unsafe(naked)]
pub(super) extern "C" fn callback_entries() {
    naked_asm!(
        ".p2align 4",
        ".rept 1024",
        "endbr64",
        "lea rax, [rip]",
        "jmp {enter}",
        ".p2align 4",
        ".endr",
        enter = sym enter_callback,
    )
}

/// Saves the registers with arguments and calls the handler; an address in the callback entry is in `rax`.
// SAFETY: jumped to by the entries; the body follows the calling convention of C.
#[unsafe(naked)]
extern "C" fn enter_callback() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        ".cfi_rel_offset rbp, 0",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "sub rsp, 224",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "lea rcx, [rbp + 16]",
        "mov [rsp + 208], rcx",
        "mov rdi, rax",
        "mov rsi, rsp",
        "call [rip + {handler}]",
        "test rax, rax",
        "jne 2f",
        "mov rax, [rsp]",
        "mov rdx, [rsp + 8]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        "2:",
        "mov rdi, rax",
        "jmp {raise}",
        ".cfi_endproc",
        handler = sym HANDLER,
        raise = sym raise,
    )
}
