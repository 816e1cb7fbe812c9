//! New programs each time, for a set time; and that the runner finds what is planted.
//!
//! `GENERATED_SECONDS` says for how long (20 if it is not set), `GENERATED_SEED` the first seed (from the clock if it is not set),
//! `GENERATED_LUAJIT` a LuaJIT to compare with (its current sources: releases round ties of decimal digits in another way).

use perilune_vm::fault::{Fault, inject};
use std::process::Command;
use std::time::{Duration, Instant, UNIX_EPOCH};

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|v| v.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A first seed that is another one each time.
fn clock() -> u64 {
    UNIX_EPOCH.elapsed().expect("a clock that is set").as_secs() * 1_000_000
}

fn runner(arguments: &[&str]) -> (bool, String) {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/generated-findings");
    let output = Command::new(env!("CARGO_BIN_EXE_perilune-generated")).args(["--out", out]).args(arguments).output();
    let output = output.expect("the runner");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

#[test]
fn new_programs_agree_in_all_modes() {
    let seed = setting("GENERATED_SEED").unwrap_or_else(clock).to_string();
    println!("GENERATED_SEED={seed}");
    let seconds = setting("GENERATED_SECONDS").unwrap_or(20).to_string();
    let mut arguments = vec!["--seed", &seed, "--seconds", &seconds, "--findings", "5", "--patience", "60"];
    let luajit = std::env::var("GENERATED_LUAJIT").unwrap_or_default();
    if !luajit.is_empty() {
        arguments.extend(["--luajit", &luajit]);
    }
    let (ok, text) = runner(&arguments);
    println!("{text}");
    assert!(ok, "GENERATED_SEED={seed}:\n{text}");
}

/// A worker that crashes, panics or hangs: the report names the seed, the mode and the end, and the programs around are run.
#[test]
fn faults_are_attributed() {
    for (kind, how) in [("crash", "ends by signal 6"), ("panic", "planted"), ("hang", "hangs")] {
        let (ok, text) = runner(&[
            "--seed",
            "5000",
            "--programs",
            "40",
            "--jobs",
            "1",
            "--modes",
            "first",
            "--patience",
            "3",
            "--reduce",
            "1",
            "--fault",
            &format!("{kind}:5017"),
        ]);
        assert!(!ok, "{text}");
        let line = text.lines().find(|l| l.starts_with("==")).unwrap_or_else(|| panic!("{kind}: {text}"));
        assert!(line.contains("1 times") && line.contains(how), "{kind}: {text}");
        assert!(text.contains("mode first") && text.contains("seeds 5017\n"), "{kind}: {text}");
        assert!(text.contains("40 programs, ") && text.contains("1 groups of findings"), "{kind}: {text}");
    }
}

/// A difference is made smaller, down to the statement that shows it.
#[test]
fn differences_are_made_smaller() {
    let (ok, text) = runner(&[
        "--seed",
        "5000",
        "--programs",
        "20",
        "--jobs",
        "1",
        "--modes",
        "first",
        "--reduce",
        "60",
        "--fault",
        "differ:5003",
    ]);
    assert!(!ok, "{text}");
    assert!(text.contains("seeds 5003\n"), "{text}");
    // Nothing else is needed for what was planted.
    let program = text.split_once(".lua\n").and_then(|(_, t)| t.split_once("--- reference")).map(|(program, _)| program);
    assert!(program.is_some_and(|p| p.lines().count() == 1 && p.contains("P(")), "{text}");
}

#[test]
fn seeds_repeat_programs() {
    let print = || runner(&["--seed", "77", "--programs", "3", "--print"]).1;
    let text = print();
    assert_eq!(text, print());
    assert!(text.contains("-- seed 77\n") && text.contains("-- seed 79\n"));
}

#[test]
fn wrong_options_are_reported() {
    for (arguments, message) in [
        (["--programs", "many"].as_slice(), "--programs: many is not a number"),
        (&["--modes", "fast"], "there is no mode fast"),
        (&["--nothing", "1"], "--nothing: there is no such option"),
        (&["--seed"], "--seed: a value is missing"),
    ] {
        let (ok, text) = runner(arguments);
        assert!(!ok && text.contains(message), "{text}");
    }
}

/// `Duration` of the shortest useful run: what CI asks for is a number.
#[test]
fn the_time_is_kept() {
    let begun = std::time::Instant::now();
    let (ok, text) = runner(&["--seed", "5000", "--seconds", "2", "--jobs", "1", "--modes", "off"]);
    assert!(ok, "{text}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{text}");
}

/// Brings an error of the past back and makes programs for a minute. How long it took, if they found it.
fn find(error: Fault) -> Result<String, String> {
    let seed = setting("GENERATED_SEED").unwrap_or_else(clock).to_string();
    let fault = format!("{}:0", error.name());
    let begun = Instant::now();
    let (ok, text) =
        runner(&["--seed", &seed, "--seconds", "60", "--findings", "1", "--reduce", "1", "--patience", "10", "--fault", &fault]);
    let counts = text.lines().find_map(|l| l.strip_prefix("seeds from ")?.split_once(": "));
    let programs = counts.map_or("?", |(_, counts)| counts.split(',').next().unwrap_or_default());
    let told = format!("{}: {programs} in {:.1} s, GENERATED_SEED={seed}", error.name(), begun.elapsed().as_secs_f64());
    if !ok && text.lines().any(|l| l.starts_with("== ")) { Ok(told) } else { Err(format!("{told}\n{text}")) }
}

fn find_all(errors: &[Fault]) {
    let mut missed = Vec::new();
    for error in errors {
        match find(*error) {
            Ok(told) => println!("{told}"),
            Err(told) => missed.push(told),
        }
    }
    assert!(missed.is_empty(), "not found within a minute:\n{}", missed.join("\n"));
}

/// Each error of [`perilune_vm::fault`] comes back, and generated programs find it within a minute.
#[test]
#[ignore = "takes up to a minute for each error"]
fn errors_of_the_past_are_found_again() {
    assert!(inject(Fault::None), "errors come back in builds with debug assertions only: cargo test --profile checked");
    find_all(Fault::ALL);
}

/// The same for those that a few hundred programs show, so that the usual tests notice when nothing is found any more.
#[test]
fn some_errors_of_the_past_are_found_again() {
    if inject(Fault::None) {
        find_all(&[Fault::HeaderTwice, Fault::StackUnchecked, Fault::CalleeUnchecked]);
    }
}
