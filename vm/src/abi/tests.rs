#![allow(unsafe_code, reason = "functions of these tests are called with the arguments that they take")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the same")]

use super::*;
use core::ffi::c_void;
use std::cell::Cell;
use std::sync::Mutex;

/// The handler belongs to the process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn new_call(function: *const ()) -> Call {
    Call { registers: Registers::default(), function: function as usize, stack_words: 0, vectors: 0 }
}

#[allow(clippy::too_many_arguments, reason = "that is the point")]
extern "C" fn weighs(a: i64, z: i64, b: f64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64, i: i64, j: i64) -> f64 {
    let all = [a, z, c, d, e, f, g, h, i, j];
    all.iter().zip(1..).map(|(v, weight)| (v * weight) as f64).sum::<f64>() + b
}

/// Arguments in registers and on the stack, with odd and even numbers of words there.
#[test]
fn passes_arguments() {
    for extra in 0..2 {
        let mut call = new_call(weighs as *const ());
        let registers = if cfg!(target_arch = "x86_64") { 6 } else { 8 };
        let arguments: Vec<u64> = (1..=10 + extra).collect();
        call.registers.general[..registers].copy_from_slice(&arguments[..registers]);
        call.registers.vector[0][0] = 0.5f64.to_bits();
        call.stack_words = arguments.len() - registers;
        call.vectors = 1;
        let mut jump = core::ptr::null_mut();
        // SAFETY: the function takes these arguments.
        let outcome = unsafe { call_any(&raw mut call, arguments[registers..].as_ptr(), &raw mut jump) };
        assert_eq!((outcome.raised, jump.is_null()), (0, true));
        assert_eq!(f64::from_bits(call.registers.vector[0][0]), 385.5);
    }
}

#[repr(C)]
struct Mixed {
    a: f64,
    b: i64,
}

extern "C" fn mixed(a: i64) -> Mixed {
    Mixed { a: 1.5, b: a * 2 }
}

#[test]
fn gives_results_in_two_files() {
    let mut call = new_call(mixed as *const ());
    call.registers.general[0] = 21;
    let mut jump = core::ptr::null_mut();
    // SAFETY: the function takes these arguments.
    unsafe { call_any(&raw mut call, core::ptr::null(), &raw mut jump) };
    if cfg!(target_arch = "x86_64") {
        assert_eq!((call.registers.general[0], f64::from_bits(call.registers.vector[0][0])), (42, 1.5));
    } else {
        assert_eq!((call.registers.general[1], f64::from_bits(call.registers.general[0])), (42, 1.5));
    }
}

/// Functions with variable arguments are told how many are in vector registers.
#[test]
fn passes_variable_arguments() {
    let mut text = [0u8; 32];
    let mut call = new_call(libc::snprintf as *const ());
    call.registers.general[..4].copy_from_slice(&[text.as_mut_ptr() as u64, 32, c"%d %.1f %g".as_ptr() as u64, 7]);
    call.registers.vector[0][0] = 0.5f64.to_bits();
    call.registers.vector[1][0] = 0.25f64.to_bits();
    call.vectors = 2;
    let mut jump = core::ptr::null_mut();
    // SAFETY: the function takes these arguments.
    unsafe { call_any(&raw mut call, core::ptr::null(), &raw mut jump) };
    assert_eq!(&text[..10], b"7 0.5 0.25");
}

thread_local! {
    static JUMP: Cell<*mut u8> = const { Cell::new(core::ptr::null_mut()) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Compares two integers through their addresses; the entry with number 5 raises.
unsafe extern "C" fn compare(address: usize, entered: *mut Entered) -> *mut u8 {
    CALLS.set(CALLS.get() + 1);
    if entry_at(address) == Some(5) {
        return JUMP.get();
    }
    let registers = &mut (*entered).registers;
    let [a, b] = [0, 1].map(|i| *core::ptr::with_exposed_provenance::<i32>(registers.general[i] as usize));
    registers.general[0] = i64::from(a.cmp(&b) as i8) as u64;
    core::ptr::null_mut()
}

fn sort(numbers: &mut [i32], entry: usize) -> Outcome {
    let mut call = new_call(libc::qsort as *const ());
    let compare = entry_address(entry) as u64;
    let address = numbers.as_mut_ptr().expose_provenance() as u64;
    call.registers.general[..4].copy_from_slice(&[address, numbers.len() as u64, 4, compare]);
    // SAFETY: `qsort` with an array of integers, and a callback entry that compares them.
    JUMP.with(|jump| unsafe { call_any(&raw mut call, core::ptr::null(), jump.as_ptr()) })
}

#[test]
fn calls_back() {
    let _one = ONE_AT_A_TIME.lock();
    set_handler(compare);
    for entry in [0, 1, CALLBACK_ENTRIES - 1] {
        let mut numbers: Vec<i32> = (0..100).map(|i| i * 37 % 100).collect();
        assert_eq!(sort(&mut numbers, entry).raised, 0);
        assert!(numbers.is_sorted());
    }
    assert!(CALLS.get() > 300);
}

/// An error in a callback leaves the function that called back, and the cell is as it was.
#[test]
fn raises_through_c() {
    let _one = ONE_AT_A_TIME.lock();
    set_handler(compare);
    for _ in 0..1000 {
        let mut numbers = [3, 1, 2];
        let outcome = sort(&mut numbers, 5);
        assert_eq!((outcome.raised, JUMP.get().is_null()), (1, true));
    }
    assert_eq!(CALLS.get(), 1000);
}

/// Many arguments, also of the callback.
#[test]
fn saves_arguments_of_callbacks() {
    type Many = extern "C" fn(i64, f64, i64, i64, i64, i64, i64, i64, i64, f64, i64) -> f64;
    unsafe extern "C" fn handler(address: usize, entered: *mut Entered) -> *mut u8 {
        assert_eq!(entry_at(address), Some(700));
        let entered = &mut *entered;
        let registers = if cfg!(target_arch = "x86_64") { 6 } else { 8 };
        let stack = core::slice::from_raw_parts(entered.stack, 9 - registers);
        let words = entered.registers.general[..registers].iter().chain(stack);
        let sum = words.zip(1..).map(|(v, weight)| *v as f64 * f64::from(weight)).sum::<f64>();
        let [a, b] = [0, 1].map(|i| f64::from_bits(entered.registers.vector[i][0]));
        entered.registers.vector[0][0] = (sum + a * b).to_bits();
        core::ptr::null_mut()
    }
    let _one = ONE_AT_A_TIME.lock();
    set_handler(handler);
    let entry: *const c_void = core::ptr::with_exposed_provenance(entry_address(700));
    // SAFETY: the handler takes such arguments.
    let f = unsafe { core::mem::transmute::<*const c_void, Many>(entry) };
    assert_eq!(f(1, 0.5, 2, 3, 4, 5, 6, 7, 8, 0.25, 9), 285.125);
}
