//! The end of memory is an error of the program: under a limit of the system, and under one of Perilune's.
#![cfg(target_os = "linux")]

mod command;

use command::{Done, PERILUNE, run};
use std::path::Path;
use std::process::Command;

/// Ways to use up memory, by name; `tests/lua/memory/ways.lua` has them.
const WAYS: &str = "buffer closures concat concat_list coroutines encode format grow gsub hash insert join list nested parse pattern pieces \
                    quoted read rep reversed substrings table tables template upper wrapped";

/// Runs one way with `ulimit -v` at so many KB, if any.
fn way(name: &str, limit: Option<u32>, options: &[&str]) -> Done {
    let mut command = Command::new("/bin/sh");
    let ulimit = limit.map_or(String::new(), |kb| format!("ulimit -v {kb} && "));
    command.args(["-c", &format!("{ulimit}exec \"$0\" \"$@\""), PERILUNE]).args(options).args(["ways.lua", name]);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/memory"));
    run(command, "")
}

#[track_caller]
fn ends_in_an_error(limit: Option<u32>, options: &[&str]) {
    for name in WAYS.split_whitespace() {
        let done = way(name, limit, options);
        assert_eq!((done.status, &*done.errors, &*done.output), (Some(0), "", "ok\n"), "{name} with {options:?}");
    }
}

/// What a program has given up goes back to the system while it runs: the program checks it.
#[test]
fn memory_falls_back_after_a_peak() {
    for options in [&["-joff"][..], &[]] {
        let mut command = Command::new(PERILUNE);
        command.args(options).args(["benches/large.lua", "0.2"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let done = run(command, "");
        assert_eq!((done.status, &*done.errors), (Some(0), ""), "{options:?}, after this output:\n{}", done.output);
    }
}

#[test]
fn under_a_limit_of_the_system() {
    ends_in_an_error(Some(300_000), &["-joff"]);
}

#[test]
fn under_a_limit_of_the_system_compiled() {
    ends_in_an_error(Some(300_000), &[]);
    ends_in_an_error(Some(300_000), &["-Ohotloop=5"]);
}

#[test]
fn under_a_limit() {
    ends_in_an_error(None, &["--memory-limit", "64m"]);
    ends_in_an_error(None, &["--memory-limit", "64m", "-joff"]);
}
