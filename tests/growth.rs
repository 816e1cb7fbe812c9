//! The compiler's work is bounded by the code: when a program does two, four and eight times as much, there are hardly more traces,
//! recordings that are given up and exits to the interpreter. Nothing is timed; thresholds are literal and each run has a state of its
//! own, so that counts are the same each time but for what hangs on the order of `pairs`.

mod command;

use command::run_in;
use std::path::Path;

/// What `tests/lua/events/growth.lua` prints.
#[derive(Clone, Copy, Debug)]
struct Counts {
    traces: u64,
    aborts: u64,
    exits: u64,
}

/// How exits may grow.
#[derive(Clone, Copy, PartialEq)]
enum Exits {
    /// Each becomes the start of a side trace.
    Settle,
    /// Some remain, by the work: coroutines are resumed by the interpreter.
    WithTheWork,
}

const FACTORS: [u64; 4] = [1, 2, 4, 8];

/// A program of `benches/programs`, or one that `growth.lua` has, at a size and its multiples.
fn grown(program: &str, size: u64, options: &[&str]) -> Vec<Counts> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/events");
    let file = folder.join("../../../benches/programs").join(program).with_extension("lua");
    let name = if file.exists() { file.to_string_lossy().into_owned() } else { program.to_owned() };
    let count = |factor: u64| {
        let size = (size * factor).to_string();
        let output = run_in(&folder, &[options, &["growth.lua", &name, &size]].concat(), "").ok();
        let numbers: Vec<u64> = output.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [traces, aborts, exits] = numbers[..] else { panic!("{program}: {output}") };
        Counts { traces, aborts, exits }
    };
    FACTORS.map(count).to_vec()
}

/// Is there more of something than the work explains?
fn grows(counts: &[Counts], exits: Exits) -> Option<String> {
    let first = counts[0];
    // A way that a larger size takes for the first time has a few more, each with ten exits before its side trace.
    let bounded = |count: u64| count * 13 / 10 + 10;
    for (counts, factor) in counts.iter().zip(FACTORS).skip(1) {
        let most = match exits {
            Exits::Settle => first.exits * 3 / 2 + 100,
            Exits::WithTheWork => first.exits * factor * 11 / 10 + 100,
        };
        let kinds = [
            ("traces", counts.traces, bounded(first.traces)),
            ("aborts", counts.aborts, bounded(first.aborts)),
            ("exits", counts.exits, most),
        ];
        if let Some((what, count, most)) = kinds.into_iter().find(|(_, count, most)| count > most) {
            return Some(format!("{count} {what} at {factor} times the size, {most} at most: {first:?}"));
        }
    }
    None
}

#[track_caller]
fn stays(programs: &[(&str, u64, Exits)]) {
    for &(program, size, exits) in programs {
        let mut all = Vec::new();
        // By the order of `pairs` a run in a hundred has half as many traces again. What really grows does so each time.
        let is_bounded = (0..3).any(|_| {
            let counts = grown(program, size, &[]);
            assert!(counts[0].traces > 0, "{program} has no traces");
            let found = grows(&counts, exits);
            all.push((found.clone(), counts));
            found.is_none()
        });
        assert!(is_bounded, "{program}: {all:?}");
    }
}

#[test]
fn benchmarks_with_loops_over_numbers_and_arrays() {
    stays(&[
        ("collatz", 2000, Exits::Settle),
        ("fft", 8, Exits::Settle),
        ("life", 8, Exits::Settle),
        ("lu", 8, Exits::Settle),
        ("md5", 16, Exits::Settle),
        ("nbody", 1000, Exits::Settle),
        ("sor", 4, Exits::Settle),
    ]);
}

#[test]
fn benchmarks_with_objects_and_strings() {
    stays(&[
        ("constraints", 100, Exits::Settle),
        ("fasta", 10000, Exits::Settle),
        ("generators", 1000, Exits::WithTheWork),
        ("knucleotide", 1000, Exits::Settle),
        ("linkedlist", 1, Exits::Settle),
        ("pipeline", 200, Exits::Settle),
        ("scheduler", 2000, Exits::Settle),
        ("strbuild", 500, Exits::Settle),
    ]);
}

#[test]
fn objects_functions_and_arguments_of_many_kinds() {
    stays(&[
        ("closures_made", 500, Exits::Settle),
        ("coroutines_made", 500, Exits::Settle),
        ("classes_made", 500, Exits::Settle),
        ("methods_made", 5, Exits::Settle),
        ("fields_in_any_order", 500, Exits::Settle),
        ("values_of_all_types", 500, Exits::Settle),
        ("arguments_of_any_number", 500, Exits::Settle),
        ("recursion_of_any_depth", 500, Exits::Settle),
        ("some_calls_fail", 500, Exits::Settle),
        ("keys_made", 500, Exits::Settle),
    ]);
}

/// Traces and failures by the number of functions are found,
#[test]
fn a_trace_for_each_function_is_growth() {
    let counts = grown("functions_made", 100, &[]);
    assert!(grows(&counts, Exits::WithTheWork).is_some_and(|why| why.contains("traces")), "{counts:?}");
}

/// and exits that stay exits.
#[test]
fn exits_without_side_traces_are_growth() {
    let counts = grown("collatz", 500, &["-Omaxside=0"]);
    assert!(grows(&counts, Exits::Settle).is_some_and(|why| why.contains("exits")), "{counts:?}");
}
