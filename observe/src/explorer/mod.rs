//! The trace explorer: what the compiler made of a program, line by line and trace by trace.
//!
//! While it watches, the compiler keeps how each trace came into being, and everything is noted as text at once: traces that are gone
//! when somebody asks are reported as well. That costs some time for each trace, none in compiled code, and nothing when it is off.

mod advice;
mod allocations;
mod answer;
mod code;
mod failure;
mod finding;
mod function;
mod hint;
mod journal;
mod loops;
mod report;
mod time;
mod timeline;

pub use allocations::count_allocations;
pub use answer::*;
pub use report::*;

use core::any::Any;
use journal::Journal;
use perilune_jit::Jit;
use perilune_jit::view::watch::with_watcher;
use perilune_vm::Vm;
use std::collections::BTreeMap;

/// Has the explorer watch from now on. Traces that there are are flushed, to be made again; functions that were loaded before are
/// told if traces are made from them. False if there is no compiler.
pub fn start(vm: &mut Vm) -> bool {
    let Some(jit) = Jit::of(vm) else { return false };
    jit.flush_if_any(vm);
    jit.watch(vm, Box::<Journal>::default());
    true
}

/// Ends that. What it has seen; `None` if it did not watch.
pub fn stop(vm: &mut Vm) -> Option<Report> {
    let jit = Jit::of(vm).filter(|_| is_running(vm))?;
    let watcher: Box<dyn Any> = jit.end_watch(vm)?;
    let journal = watcher.downcast::<Journal>().ok()?;
    let report = finish(vm, *journal, &jit);
    allocations::stop(vm);
    Some(report)
}

/// Does it watch?
pub fn is_running(vm: &Vm) -> bool {
    with_watcher(vm, |_: &mut Journal| ()).is_some()
}

/// What it has seen so far; `None` if it does not watch. It goes on.
pub fn report(vm: &mut Vm) -> Option<Report> {
    let jit = Jit::of(vm)?;
    let journal = with_watcher(vm, |journal: &mut Journal| journal.clone())?;
    Some(finish(vm, journal, &jit))
}

fn finish(vm: &mut Vm, mut journal: Journal, jit: &Jit) -> Report {
    let allocations = allocations::add(vm, &mut journal.functions);
    jit.for_each_entry(|n, e, entered| journal.update(n, e, entered));
    let mut report = Report {
        version: VERSION,
        arch: if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" },
        counters: jit.counts().list().into_iter().collect(),
        flushes: journal.flushes,
        files: journal.functions.files,
        functions: journal.functions.list,
        traces: journal.traces,
        code: journal.code,
        aborts: journal.aborts,
        left_out: journal.left_out,
        time: None,
        allocations,
        timeline: journal.clock.report(),
        findings: Vec::new(),
    };
    let lines = lines(&report);
    for (file, lines) in report.files.iter_mut().zip(lines) {
        file.lines = lines.into_values().collect();
    }
    report.findings = finding::findings(&report);
    report
}

/// The lines of each file.
fn lines(report: &Report) -> Vec<BTreeMap<u32, Line>> {
    let mut files: Vec<BTreeMap<u32, Line>> = vec![BTreeMap::new(); report.files.len()];
    let mut at = |function: usize, line: u32, f: &mut dyn FnMut(&mut Line)| {
        if line != 0 {
            let new = || Line { line, state: State::Interpreted, traces: Vec::new(), aborts: Vec::new() };
            f(files[report.functions[function].file].entry(line).or_insert_with(new));
        }
    };
    for (i, f) in report.functions.iter().enumerate() {
        for bytecode in f.bytecode.iter().skip(1) {
            at(i, bytecode.line, &mut |_| ());
        }
    }
    for (i, abort) in report.aborts.iter().enumerate() {
        if let Some(place) = abort.at {
            at(place.function, place.line, &mut |l| {
                l.state = State::Aborted;
                l.aborts.push(i);
            });
        }
    }
    for (trace, code) in report.traces.iter().zip(&report.code) {
        for step in code.iter().flat_map(|c| c.bytecode.iter().filter_map(|b| Some(c.places[b.place?]))) {
            at(step.function, step.line, &mut |l| {
                l.state = State::Compiled;
                if l.traces.last() != Some(&trace.id) {
                    l.traces.push(trace.id);
                }
            });
        }
    }
    files
}
