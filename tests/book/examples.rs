//! The examples: each is built, run, and prints what it is for.

use crate::command::run_in;
use crate::{files, root};
use std::process::Command;

/// Each example for embedders, with parts of what it prints.
const RUST: [(&str, &[&str]); 4] = [
    ("embed", &["refund failed: shop:11: nothing was ordered yet", "script: order 3: 3 items", "order 3 costs 7.5"]),
    ("inspect", &["loop, ", "was taken ", "  table     2", "traces entered"]),
    (
        "limits",
        &[
            "too much memory: not enough memory",
            "endless recursion: script:1: stack overflow",
            "an error: script:2: attempt to index local 'config' (a nil value)",
            "caught by the script: returned not enough memory",
        ],
    ),
    ("profile", &[" samples", "compiled", "main chunk (script);"]),
];

/// Each example for those who watch, with parts of what it prints.
const LUA: [(&str, &[&str]); 4] = [
    ("attach", &["trace 1: starts at attach.lua:", "instructions, loop", "continues in trace 1", "sum 166834"]),
    ("counters", &["0 aborted, 2 traces alive", "an element is an integer"]),
    ("leak", &[" MB after 100000 requests"]),
    ("sampler", &[" samples", "%  slow", "%  compiled"]),
];

#[track_caller]
fn prints(name: &str, output: &str, parts: &[&str]) {
    for part in parts {
        assert!(output.contains(part), "{name} does not print {part:?} but\n{output}");
    }
}

#[test]
fn each_is_listed() {
    let names = |folder: &str, ending: &str| -> Vec<String> {
        files(&root().join(folder), ending).iter().map(|p| p.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names("examples", "rs"), RUST.map(|e| e.0));
    assert_eq!(names("examples/lua", "lua"), LUA.map(|e| e.0));
}

#[test]
fn rust_examples_run() {
    for (name, parts) in RUST {
        let mut cargo = Command::new(env!("CARGO"));
        let out =
            cargo.args(["run", "--quiet", "--offline", "--example", name]).current_dir(root()).output().expect("cargo starts");
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        prints(name, &String::from_utf8_lossy(&out.stdout), parts);
    }
}

#[test]
fn lua_examples_run() {
    for (name, parts) in LUA {
        let done = run_in(&root().join("examples/lua"), &[&format!("{name}.lua")], "");
        prints(name, &done.ok(), parts);
    }
}
