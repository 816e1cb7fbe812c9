//! The whole way of a hot loop (recorded, optimised, run, left, restored, a side trace grown) with the evaluator in the place of
//! machine code: small enough for Miri (`cargo +nightly miri test -p perilune-jit --test evaluator`, see `docs/testing.md`).

use perilune_jit::Jit;
use perilune_vm::{Value, Vm};

/// Runs a chunk with the compiler at its most eager; its number, and how many traces were closed.
fn run(source: &str) -> (f64, u64) {
    let mut vm = Vm::new();
    vm.open_libs();
    perilune_jit::attach(&mut vm);
    let text = format!("require 'jit.opt'.start('eval=1', 'hotloop=2', 'hotexit=2', 'budget=0') {source}");
    let f = vm.load_chunk(text.as_bytes(), b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
    let result = vm.call1(Value::func(f), &[]);
    let result = result.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&vm.error_text())));
    let jit = Jit::of(&vm).expect("it was attached");
    (result.as_number().expect("a number"), jit.counts().closed)
}

#[track_caller]
fn check(source: &str, expected: f64) {
    let (result, closed) = run(source);
    assert_eq!(result, expected);
    assert!(closed > 0, "no trace");
}

#[test]
fn a_loop_that_specialises_and_grows_a_side_trace() {
    check("local s = 0.5 for i = 1, 30 do if i % 3 == 0 then s = s + i / 2 else s = s + 1 end end return s", 103.0);
}

#[test]
fn integers_that_overflow() {
    check("local s = 2147483640 for i = 1, 20 do s = s + i end return s", 2_147_483_850.0);
}

#[test]
fn tables_are_filled_and_read() {
    check("local t = {} for i = 1, 20 do t[i] = { x = i } end local s = 0 for i = 1, 20 do s = s + t[i].x end return s", 210.0);
}

#[test]
fn calls_and_metamethods_are_inlined() {
    check(
        "local mt = {} mt.__add = function(a, b) return setmetatable({ v = a.v + b }, mt) end \
         local o = setmetatable({ v = 0 }, mt) for i = 1, 12 do o = o + i end return o.v",
        78.0,
    );
}

#[test]
fn strings_and_iterators() {
    check("local n = 0 for k, v in pairs { a = 1, b = 2, 3, 4, 5, 6 } do n = n + #(k .. '') + v end return n", 27.0);
}

#[test]
fn recursion_goes_up() {
    check(
        "local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end local s = 0 for i = 1, 8 do s = s + f(i) end return s",
        36.0,
    );
}
