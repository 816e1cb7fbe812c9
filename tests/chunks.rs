//! Broken bytecode is refused or harmless, in the interpreter and in compiled code. A crash kills the command, and fails the test.

mod command;

use command::{PERILUNE, run};
use std::path::Path;
use std::process::Command;

/// The options of a run: little memory, and everything is compiled soon.
const OPTIONS: [&str; 4] = ["--memory-limit", "256m", "-Ohotloop=2", "-Ohotexit=2"];
const SEEDS: [&str; 3] = ["seeds/loops.lua", "seeds/functions.lua", "seeds/objects.lua"];

/// Runs a script of `tests/lua/chunks`: how many mutants were tried, accepted, compiled, and different.
fn mutants_of(script: &str, args: &[&str], programs: &[&str]) -> [u32; 4] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/chunks");
    let mut command = Command::new(PERILUNE);
    command.args(OPTIONS).arg(script).args(args).args(programs).current_dir(folder);
    let output = run(command, "").ok();
    let last = output.lines().last().expect("a summary");
    let mut numbers = last.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).map(|n| n.parse().expect("a number"));
    core::array::from_fn(|_| numbers.next().expect("four numbers"))
}

/// Every byte of dumps: the mutants that are a stride apart.
#[test]
fn bytes_changed() {
    let [tried, accepted, compared, different] = mutants_of("mutate.lua", &["61", "7"], &SEEDS);
    assert!(tried > 10_000 && accepted > 20 && compared > 10, "{tried} {accepted} {compared}");
    assert!(different * 20 < compared, "{different} of {compared}");
}

/// Operands, operations, constants, sizes and upvalues changed at random; `mutants.py` does it by the million.
#[test]
fn instructions_changed() {
    let programs = ["../lang/varargs.lua", "../lang/closures.lua", "../jit/sink.lua", "../jit/pcall_hot.lua"];
    let [tried, accepted, compared, different] =
        mutants_of("mutants.lua", &["22", "1", "2000"], &[&SEEDS[..], &programs].concat());
    assert!(tried == 2000 && accepted > 300 && compared > 100, "{tried} {accepted} {compared}");
    assert!(different * 20 < compared, "{different} of {compared}");
}
