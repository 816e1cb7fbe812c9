//! Accesses to memory and calls of helpers by address: all the unsafe code of the evaluator.
//!
//! # Contract
//! Addresses come from a trace that was recorded on the VM it runs on (or that a test made to fit it). An address that has passed the trace's
//! guards is valid and aligned, in an object, a table part, a stack or the VM, as it is for machine code. The caller of the evaluator
//! guarantees that, and that no Rust reference to this memory is in use meanwhile.
#![allow(unsafe_code, reason = "addresses come from a trace that was recorded on this VM, and from guards that have passed")]

use crate::ir::Ty;
use perilune_vm::abi::{Call, Registers, call_any};
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
        ///
        /// # Safety
        /// The code is that of a function for the helper's row of the table, and the words are what it takes. The VM is running.
        pub(super) unsafe fn call(helper: Helper, code: usize, vm: *mut Vm, args: &[u64]) -> u64 {
            let code = core::ptr::with_exposed_provenance::<()>(code);
            let mut args = args.iter().copied();
            #[allow(unused_mut, unused_variables, reason = "some helpers take no arguments")]
            let mut next = || args.next().unwrap_or(0);
            match helper {
                $(Helper::$name => {
                    type Code = unsafe extern "C" fn(*mut Vm, $(word!($arg)),*) -> word!($ret);
                    // SAFETY: by the contract this is its signature.
                    let f = unsafe { core::mem::transmute::<*const (), Code>(code) };
                    // SAFETY: by the contract.
                    result!($ret, unsafe { f(vm, $(argument!($arg, next())),*) })
                })*
            }
        }
    };
}
for_each_helper!(dispatcher);

/// Registers for integer arguments in C's calling conventions: System V's of x86-64, AAPCS64.
const INT_REGISTERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };

/// Calls a C function with words as arguments, each of its type. The result as a word: the bits of a floating-point one.
///
/// # Safety
/// `code` is the address of a C function, which takes these arguments.
pub(super) unsafe fn call_foreign(code: u64, args: &[(u64, Ty)], returns_float: bool) -> u64 {
    let mut registers = Registers::default();
    let (mut ints, mut vectors, mut stack) = (0, 0, Vec::new());
    for &(word, ty) in args {
        if ty.is_float() && vectors < registers.vector.len() {
            registers.vector[vectors][0] = word;
            vectors += 1;
        } else if !ty.is_float() && ints < INT_REGISTERS {
            registers.general[ints] = extended(word, ty);
            ints += 1;
        } else {
            stack.push(extended(word, ty));
        }
    }
    let mut call = Call { registers, function: code as usize, stack_words: stack.len(), vectors };
    // No callback raises an error through this call: functions that call back are called by their builtin.
    let mut jump = core::ptr::null_mut();
    // SAFETY: by the contract.
    unsafe { call_any(&raw mut call, stack.as_ptr(), &raw mut jump) };
    if returns_float { call.registers.vector[0][0] } else { call.registers.general[0] }
}

/// The 64 bits that an argument is passed in.
fn extended(word: u64, ty: Ty) -> u64 {
    if matches!(ty, Ty::I8 | Ty::I16 | Ty::Int) { i64::from(word as i32) as u64 } else { word }
}

/// Slots between the base of a frame and that of the one below, from the frame's link: for a return address 2 + A of the call.
pub(super) fn frame_delta(link: u64) -> u32 {
    if link & 3 != 0 { (link >> 3) as u32 } else { 2 + (load32(link - 4) >> 8 & 0xff) }
}
