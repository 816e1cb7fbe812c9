//! AddressSanitizer knows which cells are free. Built with the sanitizer and the feature `asan` (tests/sanitize/address.sh).
#![allow(unsafe_code, reason = "tests look at raw parts of objects")]

use crate::Vm;
use crate::gc::poison::is_forbidden;
use crate::object::{Gc, Table};
use crate::value::Value;
use std::process::Command;

/// The environment variable of the process that uses an object after it was freed.
const PLANT: &str = "PERILUNE_PLANTED";

/// A state, and a table that was freed.
fn freed() -> (Box<Vm>, Gc<Table>) {
    let mut vm = Vm::new();
    // It keeps the block of the cells in use.
    let kept = vm.new_table(0, 0);
    vm.push(crate::Value::table(kept));
    let t = vm.new_table(4, 0);
    assert!(!is_forbidden(t.as_ptr().cast()));
    vm.full_gc();
    (vm, t)
}

#[test]
fn free_cells_must_not_be_touched() {
    let (mut vm, t) = freed();
    assert!(is_forbidden(t.as_ptr().cast()), "the table's cell is free");
    // The cell is used again eventually.
    let mut all = Vec::new();
    while all.len() < 10_000 && !all.contains(&t.addr()) {
        all.push(vm.new_table(4, 0).addr());
    }
    assert!(all.contains(&t.addr()) && !is_forbidden(t.as_ptr().cast()), "the cell is used again");
}

#[test]
fn raw_memory_is_watched_as_well() {
    let mut vm = Vm::new();
    let p = vm.heap.alloc_raw(64);
    assert!(!is_forbidden(p) && !is_forbidden(p.wrapping_add(63)));
    // SAFETY: allocated above.
    unsafe { vm.heap.free_raw(p, 64) };
    assert!(is_forbidden(p) && is_forbidden(p.wrapping_add(63)));
}

/// Uses a table after it was freed, in a separate process, which the sanitizer ends.
#[test]
fn a_planted_use_after_free_is_found() {
    if std::env::var_os(PLANT).is_some() {
        let (_vm, t) = freed();
        let n = t.get(Value::int(1));
        unreachable!("{n:?} was read from what is free");
    }
    let this = std::env::current_exe().expect("a path");
    let mut child = Command::new(this);
    child.args(["--exact", "gc::tests::poison::a_planted_use_after_free_is_found", "--nocapture"]).env(PLANT, "1");
    let output = child.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("AddressSanitizer: use-after-poison"), "{errors}");
}
