//! The examples: each is built, run, and prints what it is for.

use crate::command::{PERILUNE, run_in};
use crate::{files, root};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Each example for embedders, with what it reads and parts of what it prints.
const RUST: [(&str, &str, &[&str]); 7] = [
    (
        "config",
        "",
        &[
            "shop has 8 workers and listens at [127.0.0.1:8080, [::1]:8080]",
            "/search goes to search.example.org, which may take 2.5 s",
            "syntax: bad.conf:2: unexpected symbol near '='",
            "program: bad.conf:1: attempt to index field 'HOSTNAME' (a nil value)",
            "no end: ",
            "settings: deserialize error: unknown field `colour`",
        ],
    ),
    ("http", "", &["log: slow ends", "/hello?moon: hello, moon", "/none: no page /none", "/slow: that took long"]),
    ("inspect", "", &["loop, ", "was taken ", "  table     2", "traces entered"]),
    (
        "plugin_host",
        "",
        &[
            "host says: welcome again, Ada",
            "plugin stubborn is switched off: it takes too long",
            "message \"hello\": keep",
            "seven\": drop",
            "plugin moderator is switched off: moderator.lua:5: attempt to index field 'text' (a nil value)\nhost says: welcome again, Bo",
        ],
    ),
    ("profile", "", &["report 2: ", "  words: ", "  compiled: ", "  idle keeps 0 bytes more"]),
    (
        "repl",
        "1 + 1\nfor i = 1, 2 do\nio.write(i, ';')\nend\n{ a = 1 }\nlocal t = nil t.x = 1\nreturn nil, true\n",
        &["> 2\n", "1;2;", "a = 1", "stdin:1: attempt to index local 't' (a nil value)\nstack traceback:", "nil\ttrue\n"],
    ),
    (
        "rules",
        "",
        &[
            "  three of a kind: 0 % off, gift: bulb",
            "  busy loop is removed: too many instructions",
            "  too much memory is removed: too much memory",
            "  endless recursion is removed: endless recursion:1: stack overflow",
            "  will not be stopped is removed: too many instructions",
            "  a mistake is removed: a mistake:1: attempt to index field 'customer' (a nil value)",
            "  large orders: 10 % off, gift: none",
        ],
    ),
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

/// Builds the examples and says where they are. With the whole workspace, that is with the features that its tests have: nothing is built a second time.
fn build() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--workspace", "--examples"]).current_dir(root());
    let out = cargo.output().expect("cargo starts");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Path::new(PERILUNE).ancestors().nth(2).expect("a target folder").join("debug/examples")
}

/// Runs an example. What it prints.
fn run(program: &Path, input: &str) -> String {
    let mut example = Command::new(program);
    example.current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = example.spawn().unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    // An example that reads nothing may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn rust_examples_run() {
    let built = build();
    for (name, input, parts) in RUST {
        prints(name, &run(&built.join(name), input), parts);
    }
}

#[test]
fn lua_examples_run() {
    for (name, parts) in LUA {
        let done = run_in(&root().join("examples/lua"), &[&format!("{name}.lua")], "");
        prints(name, &done.ok(), parts);
    }
}
