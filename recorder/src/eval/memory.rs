//! Accesses to memory and calls of helpers by address: all the unsafe code of the evaluator.
//!
//! # Contract
//! Addresses come from a trace that was recorded on the VM it runs on (or that a test made to fit it). An address that has passed the trace's
//! guards is valid and aligned, in an object, a table part, a stack or the VM, as it is for machine code. The caller of the evaluator
//! guarantees that, and that no Rust reference to this memory is in use meanwhile.
#![allow(unsafe_code, reason = "addresses come from a trace that was recorded on this VM, and from guards that have passed")]

use crate::ir::Ty;
use perilune_vm::helper::Helper;
use perilune_vm::{Value, Vm, for_each_helper};

fn at<T>(address: u64) -> *mut T {
    core::ptr::with_exposed_provenance_mut(address as usize)
}

/// An 8-bit word.
pub(super) fn load8(address: u64) -> u8 {
    // SAFETY: the module's contract.
    unsafe { at::<u8>(address).read() }
}
/// A 16-bit word.
pub(super) fn load16(address: u64) -> u16 {
    // SAFETY: the module's contract; bytes of a string need no alignment.
    unsafe { at::<u16>(address).read_unaligned() }
}
/// A 32-bit word.
pub(super) fn load32(address: u64) -> u32 {
    // SAFETY: the module's contract; bytes of a string need no alignment.
    unsafe { at::<u32>(address).read_unaligned() }
}
/// A 64-bit word. Pointers read from memory keep their provenance for later use as addresses.
pub(super) fn load64(address: u64) -> u64 {
    // SAFETY: the module's contract.
    unsafe { at::<*mut u8>(address).read() }.expose_provenance() as u64
}
/// Stores an 8-bit word.
pub(super) fn store8(address: u64, word: u8) {
    // SAFETY: the module's contract.
    unsafe { at::<u8>(address).write(word) }
}
/// Stores a 16-bit word.
pub(super) fn store16(address: u64, word: u16) {
    // SAFETY: the module's contract.
    unsafe { at::<u16>(address).write(word) }
}
/// Stores a 32-bit word.
pub(super) fn store32(address: u64, word: u32) {
    // SAFETY: the module's contract.
    unsafe { at::<u32>(address).write(word) }
}
/// Stores a 64-bit word.
pub(super) fn store64(address: u64, word: u64) {
    // SAFETY: the module's contract.
    unsafe { at::<*mut u8>(address).write(core::ptr::with_exposed_provenance_mut(word as usize)) }
}

/// The value that a word read from a slot is.
pub(super) fn value(word: u64) -> Value {
    // SAFETY: the module's contract: the slot holds a value.
    unsafe { Value::from_bits(word) }
}

macro_rules! word {
    (Int) => {
        i32
    };
    (Num) => {
        f64
    };
    (U64) => {
        u64
    };
    (I64) => {
        i64
    };
    (Nil) => {
        ()
    };
    ($pointer:ident) => {
        *mut u8
    };
}
macro_rules! argument {
    (Int, $w:expr) => {
        $w as i32
    };
    (Num, $w:expr) => {
        f64::from_bits($w)
    };
    (U64, $w:expr) => {
        $w
    };
    (I64, $w:expr) => {
        $w as i64
    };
    ($pointer:ident, $w:expr) => {
        at::<u8>($w)
    };
}
macro_rules! result {
    (Int, $r:expr) => {
        u64::from($r as u32)
    };
    (Num, $r:expr) => {
        $r.to_bits()
    };
    (U64, $r:expr) => {
        $r
    };
    (I64, $r:expr) => {
        $r as u64
    };
    (Nil, $r:expr) => {{
        $r;
        0
    }};
    ($pointer:ident, $r:expr) => {
        $r.expose_provenance() as u64
    };
}
macro_rules! dispatcher {
    ($($(#[$doc:meta])* ($name:ident, $func:ident, $effect:ident, $ret:ident, ($($arg:ident),*)))*) => {
        /// Calls the code of a helper with the words that are its arguments; the result as a word.
        pub(super) fn call(helper: Helper, code: usize, vm: *mut Vm, args: &[u64]) -> u64 {
            let code = core::ptr::with_exposed_provenance::<()>(code);
            let mut args = args.iter().copied();
            #[allow(unused_mut, unused_variables, reason = "some helpers take no arguments")]
            let mut next = || args.next().unwrap_or(0);
            match helper {
                $(Helper::$name => {
                    type Code = unsafe extern "C" fn(*mut Vm, $(word!($arg)),*) -> word!($ret);
                    // SAFETY: `code` is the address of a function for this row of the table, whose signature this is.
                    let f = unsafe { core::mem::transmute::<*const (), Code>(code) };
                    // SAFETY: the module's contract: the VM is running and the arguments are what the trace's types say.
                    result!($ret, unsafe { f(vm, $(argument!($arg, next())),*) })
                })*
            }
        }
    };
}
for_each_helper!(dispatcher);

/// Registers for integer arguments in C's calling convention.
const INT_REGISTERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };
/// Registers for floating-point arguments.
const FLOAT_REGISTERS: usize = 8;
/// Words of arguments on the stack.
const STACK_WORDS: usize = 16;

/// Calls a C function with words as arguments, each of its type. The result as a word: the bits of a floating-point one.
pub(super) fn call_foreign(code: u64, args: &[(u64, Ty)], returns_float: bool) -> u64 {
    // All registers that may pass an argument get one, and so does the stack: the function looks only at its own.
    let (mut ints, mut floats, mut stack) = (Vec::new(), Vec::new(), Vec::new());
    for &(word, ty) in args {
        if ty.is_float() && floats.len() < FLOAT_REGISTERS {
            floats.push(f64::from_bits(word));
        } else if !ty.is_float() && ints.len() < INT_REGISTERS {
            ints.push(extended(word, ty));
        } else {
            stack.push(extended(word, ty));
        }
    }
    assert!(stack.len() <= STACK_WORDS, "too many arguments of a C function");
    ints.resize(INT_REGISTERS, 0);
    floats.resize(FLOAT_REGISTERS, 0.0);
    stack.resize(STACK_WORDS, 0);
    let (i, f, s) = (&ints[..], &floats[..], &stack[..]);
    let code = core::ptr::with_exposed_provenance::<()>(code as usize);
    macro_rules! call {
        ($result:ty, $($int:expr),*) => {{
            type Code = unsafe extern "C" fn(u64, ...) -> $result;
            // SAFETY: the module's contract: `code` is the address of a C function.
            let code = unsafe { core::mem::transmute::<*const (), Code>(code) };
            // SAFETY: the function takes these arguments and maybe fewer. Arguments of a function with and without variable arguments are
            // passed alike on the targets that there are.
            unsafe {
                code(
                    $($int,)*
                    f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7],
                    s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15],
                )
            }
        }};
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! call_with_ints {
        ($result:ty) => {
            call!($result, i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7])
        };
    }
    #[cfg(not(target_arch = "aarch64"))]
    macro_rules! call_with_ints {
        ($result:ty) => {
            call!($result, i[0], i[1], i[2], i[3], i[4], i[5])
        };
    }
    if returns_float { call_with_ints!(f64).to_bits() } else { call_with_ints!(u64) }
}

/// The 64 bits that an argument is passed in.
fn extended(word: u64, ty: Ty) -> u64 {
    if matches!(ty, Ty::I8 | Ty::I16 | Ty::Int) { i64::from(word as i32) as u64 } else { word }
}

/// Slots between the base of a frame and that of the one below, from the frame's link: for a return address 2 + A of the call.
pub(super) fn frame_delta(link: u64) -> u32 {
    if link & 3 != 0 { (link >> 3) as u32 } else { 2 + (load32(link - 4) >> 8 & 0xff) }
}
