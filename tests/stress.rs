//! The corpus under stress: guards that leave although what they assert holds, a collector that works at every safepoint, traces run
//! by the evaluator, passes left out. What the programs print is the same as ever. Some programs are run so with the other tests;
//! all of them, for an hour or so, by
//!
//! ```text
//! cargo test --release --test stress -- --ignored --test-threads=1
//! ```
//!
//! `STRESS_SEED` repeats the choice of guards that `guards_chosen_at_random` has reported; `ONLY=part` as for `programs`.

mod command;
mod corpus;

use corpus::{COMPILED, COMPILED_AT_ONCE, Case, INTERPRETED, benchmarks, check_within, conformance};
use perilune_jit::params::Options;
use std::time::Duration;

/// What is run with the other tests: short programs, together with most of what traces do.
const SOME: &[&str] = &["aliasing", "conversions", "natives_as_metamethods", "nbody", "pcall_hot", "queens", "sink", "strbuild"];

fn some() -> Vec<Case> {
    let chosen = |case: &Case| SOME.iter().any(|name| case.file.file_stem().is_some_and(|stem| stem == *name));
    all().into_iter().filter(chosen).collect()
}

fn all() -> Vec<Case> {
    benchmarks().into_iter().chain(conformance()).collect()
}

/// Runs programs in a mode with more options.
fn run(cases: &[Case], mode: &[&str], options: &[&str]) {
    // A collection at each safepoint takes its time.
    check_within(cases, &[mode, options].concat(), Duration::from_secs(1800));
}

/// Of every `of` guards the one with remainder `at` leaves each `every`-th time.
fn run_with_exits(cases: &[Case], of: u32, at: u32, every: u32) {
    let options = [format!("-Oexitof={of}"), format!("-Oexitat={at}"), format!("-Oexitevery={every}")];
    run(cases, COMPILED_AT_ONCE, &options.each_ref().map(String::as_str));
}

#[test]
fn guards_leave() {
    let cases = some();
    for (of, at, every) in [(1, 0, 5), (2, 1, 1), (3, 1, 2)] {
        run_with_exits(&cases, of, at, every);
    }
}

/// Programs that once printed something else, or nothing for ever, when of each so many guards one left every so many times.
#[test]
fn programs_that_failed_under_exit_stress() {
    let programs =
        [("shared_exits", 1, 3), ("results_of_builtins", 1, 17), ("natives_as_metamethods", 1, 31), ("returned_booleans", 4, 2)];
    for (program, of, every) in programs {
        let cases: Vec<Case> = all().into_iter().filter(|c| c.file.file_stem().is_some_and(|stem| stem == program)).collect();
        assert_eq!(cases.len(), 1, "{program}");
        for at in 0..of {
            run_with_exits(&cases, of, at, every);
        }
    }
}

#[test]
fn guards_leave_in_the_evaluator() {
    run(&some(), COMPILED_AT_ONCE, &["-Oeval=1", "-Oexitof=3", "-Oexitat=1", "-Oexitevery=2"]);
}

#[test]
fn the_collector_is_always_at_work() {
    run(&some(), COMPILED_AT_ONCE, &["-Ogcstress=300"]);
}

#[test]
#[ignore = "long: the whole corpus"]
fn every_guard_leaves() {
    let cases = all();
    for of in [1, 2, 3, 5, 7] {
        for at in 0..of {
            run_with_exits(&cases, of, at, 1);
        }
    }
    for every in [2, 3, 7, 31] {
        run_with_exits(&cases, 1, 0, every);
    }
}

#[test]
#[ignore = "long: the whole corpus"]
fn guards_chosen_at_random() {
    let seed = match std::env::var("STRESS_SEED") {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => std::time::UNIX_EPOCH.elapsed().expect("a clock that is set").as_secs(),
    };
    println!("STRESS_SEED={seed}");
    let cases = all();
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..8 {
        let of = random.u32(2..60);
        run_with_exits(&cases, of, random.u32(0..of), random.u32(1..5));
    }
}

#[test]
#[ignore = "long: the whole corpus"]
fn the_collector_is_always_at_work_everywhere() {
    let cases = all();
    for mode in [INTERPRETED, COMPILED, COMPILED_AT_ONCE] {
        for options in ["-Ogcstress=1", "-Ogcstress=300"] {
            run(&cases, mode, &[options]);
        }
    }
}

#[test]
#[ignore = "long: the whole corpus"]
fn the_evaluator_agrees() {
    for mode in [COMPILED, COMPILED_AT_ONCE] {
        run(&all(), mode, &["-Oeval=1"]);
    }
}

#[test]
#[ignore = "long: the whole corpus"]
fn every_pass_is_left_out() {
    let cases = all();
    for pass in Options::default().flags.names() {
        run(&cases, COMPILED, &[&format!("-O-{pass}")]);
        run(&cases, COMPILED_AT_ONCE, &[&format!("-O-{pass}")]);
    }
    run(&cases, COMPILED_AT_ONCE, &["-O0"]);
}
