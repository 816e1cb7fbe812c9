//! The native stack: the interpreter needs the same amount of it however long a program runs and however deep its functions call
//! one another. The programs of `tests/lua/stack` run with a small native stack, in three modes, and print what is stored beside
//! them (`BLESS=1` stores it).
//!
//! Builds with debug assertions drive the interpreter by a loop; without them handlers call one another in tail position, and one
//! that keeps something in its frame fills the stack. `cargo build --release`, and then
//! `cargo test --test native_stack -- --ignored`, runs the same programs with that build. See `docs/testing.md`.

mod command;

use command::{Done, PERILUNE, release_build, run};
use std::path::{Path, PathBuf};
use std::process::Command;

const MODES: [&[&str]; 3] = [&["-joff"], &[], &["-Ohotloop=1", "-Ohotexit=1"]];

/// Kilobytes for programs that stay in the interpreter.
const SMALL: u32 = 256;
/// Kilobytes for those in which the host and Lua call one another.
const NESTED: u32 = 512;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/stack")
}

/// Runs a program with a native stack of this many kilobytes.
fn with_stack(perilune: &Path, kilobytes: u32, args: &[&str]) -> Done {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -s {kilobytes} && exec \"$0\" \"$@\"")).arg(perilune).args(args);
    command.current_dir(folder());
    run(command, "")
}

#[track_caller]
fn check(perilune: &Path, name: &str, kilobytes: u32) {
    let stored = folder().join(name).with_extension("out");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&stored, with_stack(perilune, kilobytes, &["-joff", name]).ok()).expect("the output is written");
    }
    let expected = std::fs::read_to_string(&stored).expect("stored output");
    for mode in MODES {
        let done = with_stack(perilune, kilobytes, &[mode, &[name]].concat());
        assert_eq!((done.status, &*done.errors), (Some(0), ""), "{name} with {mode:?}, after this output:\n{}", done.output);
        assert_eq!(done.output, expected, "{name} with {mode:?}");
    }
}

#[test]
fn dispatch() {
    check(PERILUNE.as_ref(), "dispatch.lua", SMALL);
}

#[test]
fn depth() {
    check(PERILUNE.as_ref(), "depth.lua", SMALL);
}

#[test]
fn chunks_loaded_at_the_end() {
    check(PERILUNE.as_ref(), "syntax_levels.lua", NESTED);
}

#[test]
fn host_and_lua_nested() {
    check(PERILUNE.as_ref(), "nested.lua", NESTED);
}

/// The parser's own recursion: what takes most of it, each as deep as the language allows.
#[test]
fn nested_syntax() {
    check(PERILUNE.as_ref(), "syntax.lua", SMALL);
}

#[test]
#[ignore = "needs the release build"]
fn dispatch_in_release_build() {
    check(&release_build(), "dispatch.lua", SMALL);
}

#[test]
#[ignore = "needs the release build"]
fn depth_in_release_build() {
    check(&release_build(), "depth.lua", SMALL);
}

#[test]
#[ignore = "needs the release build"]
fn host_and_lua_nested_in_release_build() {
    check(&release_build(), "nested.lua", NESTED);
}

#[test]
#[ignore = "needs the release build"]
fn nested_syntax_in_release_build() {
    check(&release_build(), "syntax.lua", SMALL);
}
