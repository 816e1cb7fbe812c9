//! Runs whole Lua programs through the command and compares what they print with the text stored beside them: the benchmarks at
//! their small size, and the conformance programs of `tests/lua`. Each suite runs interpreted, compiled as usual, and compiled as
//! early as possible; the expected text is the same for all. See `corpus` for the variables `BLESS` and `ONLY`.

mod command;
mod corpus;

use corpus::{COMPILED, COMPILED_AT_ONCE, INTERPRETED, benchmarks, check, conformance};

const DEFAULT: &[&str] = &[];

#[test]
fn benchmarks_interpreted() {
    check(benchmarks(), INTERPRETED);
}

#[test]
fn benchmarks_compiled() {
    check(benchmarks(), COMPILED);
}

#[test]
fn benchmarks_by_default() {
    check(benchmarks(), DEFAULT);
}

#[test]
fn benchmarks_compiled_at_once() {
    check(benchmarks(), COMPILED_AT_ONCE);
}

#[test]
fn conformance_interpreted() {
    check(conformance(), INTERPRETED);
}

#[test]
fn conformance_compiled() {
    check(conformance(), COMPILED);
}

#[test]
fn conformance_compiled_at_once() {
    check(conformance(), COMPILED_AT_ONCE);
}
