//! What the grammar makes.

use super::Grammar;
use super::template::TEMPLATES;
use crate::program;
use crate::run::{self, Program, Runner};
use std::collections::BTreeMap;

const SEEDS: u64 = 2000;

#[test]
fn all_programs_parse() {
    let mut vm = perilune_vm::Vm::new();
    vm.open_libs();
    for seed in 0..SEEDS {
        let body = program::text(&Grammar::new(seed).program().nodes);
        let loaded = vm.load_chunk(run::chunk(&body).as_bytes(), b"=program", None);
        assert!(loaded.is_ok(), "seed {seed}: {}\n{body}", String::from_utf8_lossy(loaded.unwrap_err().bytes()));
        vm.full_gc();
    }
}

/// Errors that programs end in say that the grammar is at fault.
#[test]
fn few_programs_end_in_errors() {
    let runner = Runner::new();
    let reference = &crate::modes::all()[0];
    let failed = |seed: &u64| {
        let body = program::text(&Grammar::new(*seed).program().nodes);
        runner.run(&Program::new(&body), reference, &[], None).shown.windows(7).any(|w| w == b"\nerror:")
    };
    let failed: Vec<u64> = (0..500).filter(failed).collect();
    assert!(failed.len() < 10, "{failed:?}");
}

#[test]
fn every_template_is_used() {
    let mut used = BTreeMap::new();
    let mut everywhere = 0;
    for seed in 0..SEEDS * 10 {
        let program = Grammar::new(seed).program();
        everywhere += u64::from(program.everywhere);
        for name in program.templates {
            *used.entry(name).or_insert(0) += 1;
        }
    }
    let missing: Vec<&str> = TEMPLATES.iter().map(|t| &*t.name).filter(|name| !used.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(everywhere > SEEDS * 5, "few programs can be compared with LuaJIT: {everywhere}");
}

/// What no template is about.
#[test]
fn wide_functions_places_and_objects_occur() {
    let all: String = (0..SEEDS * 10).map(|seed| program::text(&Grammar::new(seed).program().nodes)).collect();
    for text in [
        "x,\"):rep(",
        "s185",
        "_59",
        "makers[4]",
        "coroutine.create(body",
        "coroutine.wrap(body",
        "__gc = function() P(pcall(body",
        "table.sort, sorted",
        "string.gsub, \"abc",
        "__concat = function(a, b) return body",
        "pcall(pcall, body",
        "dict.__index = dict",
        ".extend = function",
        "__index = function(t, k) return Class0[k] end",
        "_make()",
        "goto next",
        "coroutine.yield(",
    ] {
        assert!(all.contains(text), "{text}");
    }
}
