//! The corpus under stress: guards that leave although what they assert holds, a collector that works at every safepoint, traces run
//! by the evaluator, passes left out, slots stored early. What the programs print is the same as ever. Some programs are run so with the other tests;
//! all of them, for an hour or so, by
//!
//! ```text
//! cargo test --release --test stress -- --ignored --test-threads=1
//! ```
//!
//! `STRESS_SEED` repeats the choice of guards that `guards_chosen_at_random` has reported; `ONLY=part` as for `programs`.

mod command;
mod corpus;

use corpus::{COMPILED, COMPILED_AT_ONCE, Case, INTERPRETED, benchmarks, conformance, run_all};
use perilune_jit::params::Options;
use std::time::Duration;

/// What is run with the other tests: short programs, together with most of what traces do.
const SOME: &[&str] = &["aliasing", "conversions", "natives_as_metamethods", "nbody", "pcall_hot", "queens", "sink", "strbuild"];

fn some() -> Vec<Case> {
    all().into_iter().filter(|case| is_one_of(case, SOME)).collect()
}

fn all() -> Vec<Case> {
    benchmarks().into_iter().chain(conformance()).collect()
}

/// Programs that measure what the optimiser saves: less where guards leave, passes are left out or traces are evaluated.
const MEASURE: &[&str] = &["side_traces"];
/// Besides these, programs that count instructions by hooks: the interpreter executes one again after an exit.
const MEASURE_OR_COUNT: &[&str] = &["side_traces", "hooks_flush"];

fn is_one_of(case: &Case, names: &[&str]) -> bool {
    names.iter().any(|name| case.file.file_stem().is_some_and(|stem| stem == *name))
}

/// The corpus without some programs.
fn all_but(names: &[&str]) -> Vec<Case> {
    all().into_iter().filter(|case| !is_one_of(case, names)).collect()
}

/// Runs of programs under stress. All of them are made, and then reported together.
#[derive(Default)]
struct Runs {
    reports: Vec<String>,
}

impl Runs {
    /// Runs programs in a mode with more options.
    fn run(&mut self, cases: &[Case], mode: &[&str], options: &[&str]) {
        // A collection at each safepoint takes its time.
        let result = run_all(cases, &[mode, options].concat(), Duration::from_secs(1800));
        self.reports.extend(result.err());
    }

    /// Of every `of` guards the one with remainder `at` leaves each `every`-th time.
    fn run_with_exits(&mut self, cases: &[Case], of: u32, at: u32, every: u32) {
        let options = [format!("-Oexitof={of}"), format!("-Oexitat={at}"), format!("-Oexitevery={every}")];
        self.run(cases, COMPILED_AT_ONCE, &options.each_ref().map(String::as_str));
    }

    /// Fails if any program did.
    fn end(self) {
        assert!(self.reports.is_empty(), "{}", self.reports.join("\n"));
    }
}

#[test]
fn guards_leave() {
    let mut runs = Runs::default();
    let cases = some();
    for (of, at, every) in [(1, 0, 5), (2, 1, 1), (3, 1, 2)] {
        runs.run_with_exits(&cases, of, at, every);
    }
    runs.end();
}

/// Programs that once printed something else, or nothing for ever, when of each so many guards one left every so many times.
#[test]
fn programs_that_failed_under_exit_stress() {
    let mut runs = Runs::default();
    let programs =
        [("shared_exits", 1, 3), ("results_of_builtins", 1, 17), ("natives_as_metamethods", 1, 31), ("returned_booleans", 4, 2)];
    for (program, of, every) in programs {
        let cases: Vec<Case> = all().into_iter().filter(|c| is_one_of(c, &[program])).collect();
        assert_eq!(cases.len(), 1, "{program}");
        for at in 0..of {
            runs.run_with_exits(&cases, of, at, every);
        }
    }
    runs.end();
}

#[test]
fn guards_leave_in_the_evaluator() {
    let mut runs = Runs::default();
    runs.run(&some(), COMPILED_AT_ONCE, &["-Oeval=1", "-Oexitof=3", "-Oexitat=1", "-Oexitevery=2"]);
    runs.end();
}

#[test]
fn the_collector_is_always_at_work() {
    let mut runs = Runs::default();
    runs.run(&some(), COMPILED_AT_ONCE, &["-Ogcstress=300"]);
    runs.end();
}

/// Traces store their slots at the first call, and most exits rely on that.
#[test]
fn slots_are_stored_on_the_way() {
    let mut runs = Runs::default();
    for mode in [COMPILED, COMPILED_AT_ONCE] {
        runs.run(&all_but(MEASURE), mode, &["-Omaxstore=4"]);
    }
    runs.end();
}

#[test]
#[ignore = "long: the whole corpus"]
fn every_guard_leaves() {
    let mut runs = Runs::default();
    let cases = all_but(MEASURE_OR_COUNT);
    for of in [1, 2, 3, 5, 7] {
        for at in 0..of {
            runs.run_with_exits(&cases, of, at, 1);
        }
    }
    for every in [2, 3, 7, 31] {
        runs.run_with_exits(&cases, 1, 0, every);
    }
    runs.end();
}

#[test]
#[ignore = "long: the whole corpus"]
fn guards_chosen_at_random() {
    let mut runs = Runs::default();
    let seed = match std::env::var("STRESS_SEED") {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => std::time::UNIX_EPOCH.elapsed().expect("a clock that is set").as_secs(),
    };
    println!("STRESS_SEED={seed}");
    let cases = all_but(MEASURE_OR_COUNT);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..8 {
        let of = random.u32(2..60);
        runs.run_with_exits(&cases, of, random.u32(0..of), random.u32(1..5));
    }
    runs.end();
}

#[test]
#[ignore = "long: the whole corpus"]
fn the_collector_is_always_at_work_everywhere() {
    let mut runs = Runs::default();
    let cases = all();
    for mode in [INTERPRETED, COMPILED, COMPILED_AT_ONCE] {
        for options in ["-Ogcstress=1", "-Ogcstress=300"] {
            runs.run(&cases, mode, &[options]);
        }
    }
    runs.end();
}

#[test]
#[ignore = "long: the whole corpus"]
fn the_evaluator_agrees() {
    let mut runs = Runs::default();
    for mode in [COMPILED, COMPILED_AT_ONCE] {
        runs.run(&all_but(MEASURE), mode, &["-Oeval=1"]);
    }
    runs.end();
}

#[test]
#[ignore = "long: the whole corpus"]
fn every_pass_is_left_out() {
    let mut runs = Runs::default();
    let cases = all_but(MEASURE);
    for pass in Options::default().flags.names() {
        runs.run(&cases, COMPILED, &[&format!("-O-{pass}")]);
        runs.run(&cases, COMPILED_AT_ONCE, &[&format!("-O-{pass}")]);
    }
    runs.run(&cases, COMPILED_AT_ONCE, &["-O0"]);
    runs.end();
}
