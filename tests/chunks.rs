//! Broken bytecode is refused or harmless, in the interpreter and in compiled code. A crash kills the command, and fails the test.

mod command;

use command::{PERILUNE, run};
use std::path::Path;
use std::process::Command;

/// Tries every mutant that is a stride apart; how many were tried, accepted, compiled, and different.
fn mutate(stride: u32, first: u32) -> [u32; 4] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/chunks");
    let mut command = Command::new(PERILUNE);
    command.args(["--memory-limit", "256m", "-Ohotloop=2", "-Ohotexit=2", "mutate.lua"]).current_dir(folder);
    command.args([&stride.to_string(), &first.to_string(), "seeds/loops.lua", "seeds/functions.lua", "seeds/objects.lua"]);
    let output = run(command, "").ok();
    let last = output.lines().last().expect("a summary");
    let mut numbers = last.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty()).map(|n| n.parse().expect("a number"));
    core::array::from_fn(|_| numbers.next().expect("four numbers"))
}

#[test]
fn mutants() {
    let [tried, accepted, compared, different] = mutate(61, 7);
    assert!(tried > 10_000 && accepted > 20 && compared > 10, "{tried} {accepted} {compared}");
    assert!(different * 20 < compared, "{different} of {compared}");
}
