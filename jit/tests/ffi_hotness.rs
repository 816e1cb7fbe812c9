//! Operations on cdata make loops and exits hot before their thresholds are reached.

use perilune_jit::attach;
use perilune_vm::{Value, Vm};

/// Runs a chunk that gets `kind`, "table" or "cdata": the array `a` is one. Gives what it returns.
fn traces(chunk: &str, kind: &str) -> f64 {
    let mut vm = Vm::new();
    vm.open_libs();
    attach(&mut vm);
    let source = format!(
        "require 'jit.opt'.start('eval=1')
        local a = '{kind}' == 'cdata' and require 'ffi'.new('int[4]') or {{[0] = 0, 0, 0, 0}}
        local function work()
          a[0] = a[1] + a[2] + a[3] a[1] = a[2] + a[3] + a[0] a[2] = a[3] + a[0] + a[1] a[3] = a[0] - a[1] - a[2]
          a[0] = a[1] + a[2] + a[3] a[1] = a[2] + a[3] + a[0] a[2] = a[3] + a[0] + a[1] a[3] = a[0] - a[1] - a[2]
          a[0] = a[1] + a[2] + a[3] a[1] = a[2] + a[3] + a[0] a[2] = a[3] + a[0] + a[1] a[3] = a[0] - a[1] - a[2]
          a[0] = 1 a[1] = 2 a[2] = 3 a[3] = 4
        end
        {chunk}
        return require 'jit.util'.counters(true).closed"
    );
    let f = vm.load_chunk(source.as_bytes(), b"=test", None).unwrap_or_else(|e| panic!("{}", e.to_str_lossy()));
    vm.call1(Value::func(f), &[]).ok().and_then(Value::as_number).unwrap_or_else(|| panic!("{chunk} fails"))
}

#[test]
fn loops() {
    // With 52 operations in each, half of them counted for the function, 350 iterations have cost what 15,000 usual ones do. A loop without
    // them is hot after 1,200 at the earliest.
    let chunk = "for i = 1, 1100 do work() end";
    assert_eq!(traces(chunk, "table"), 0.0);
    assert!(traces(chunk, "cdata") >= 1.0);
}

#[test]
fn loops_around_loops() {
    // The operations belong to the inner loop, which is compiled; the outer one has too few iterations.
    let chunk = "local n = 0 for i = 1, 100 do for j = 1, 10 do work() end n = n + 1 end";
    assert_eq!(traces(chunk, "table"), 0.0);
    // On a busy machine the function, for which half of the operations are counted, may be hot before the loop.
    assert!((0..50).any(|_| traces(chunk, "cdata") == 1.0));
}

#[test]
fn exits() {
    // 400 exits, of which an exit without operations after it needs 480.
    let chunk = "local n = 0 for i = 1, 200000 do if i % 500 == 0 then work() else n = n + 1 end end";
    assert_eq!(traces(chunk, "table"), 1.0);
    // On a busy machine the first trace may use up the time for compiling, so that the second one has to wait for longer.
    assert!((0..50).any(|_| traces(chunk, "cdata") == 2.0));
}
