//! What `jit.attach` tells, and the `jit` library: the programs of `tests/lua/events`. Each checks by itself what it is told and
//! prints `ok`; `watch.lua`, which they share, checks the arguments of every event.

mod command;

use command::{Done, run_in};
use perilune_jit::params::Options;
use perilune_vm::stdlib::Builtin;
use std::path::{Path, PathBuf};

/// LuaJIT's thresholds, and no limit to what compiling may cost.
const EAGER: &[&str] = &["-Ohotloop=56", "-Ohotexit=10", "-Obudget=0"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/events")
}

/// Runs one of the programs.
fn program(name: &str, options: &[&str]) -> Done {
    run_in(&folder(), &[EAGER, options, &[name]].concat(), "")
}

#[track_caller]
fn passes(name: &str, options: &[&str]) {
    assert_eq!(program(name, options).ok(), "ok\n", "{name} with {options:?}");
}

/// As machine code and in the evaluator.
#[track_caller]
fn passes_in_both(name: &str, options: &[&str]) {
    passes(name, options);
    passes(name, &[options, &["-Oeval=1"]].concat());
}

const AT_ONCE: &[&str] = &["-Ohotloop=1", "-Ohotexit=1", "-Ohottree=0"];

#[test]
fn root_and_side_traces() {
    passes_in_both("traces.lua", &[]);
}

#[test]
fn variants_that_the_next_iteration_leaves() {
    passes_in_both("left_variants.lua", &[]);
}

#[test]
fn handlers_overwrite_no_open_results() {
    passes_in_both("open_results.lua", &[]);
}

#[test]
fn traces_stay_while_they_are_announced() {
    passes_in_both("stop_and_collect.lua", &[]);
}

#[test]
fn remainders_of_integral_numbers_are_integers() {
    passes_in_both("integral_remainders.lua", &[]);
}

#[test]
fn fields_of_both_forms_are_learned_together() {
    passes_in_both("mixed_fields.lua", &[]);
}

#[test]
fn overflows_are_learned_together() {
    passes_in_both("overflows.lua", &[]);
}

#[test]
fn numbers_have_the_form_of_compiled_code() {
    passes_in_both("forms.lua", &[]);
}

#[test]
fn indices_of_loops_are_checked_outside() {
    passes_in_both("steps.lua", &[]);
}

#[test]
fn bits_quotients_and_buffers_are_computed_in_the_loop() {
    passes_in_both("bits_of_sums.lua", &[]);
}

#[test]
fn loops_that_check_once_have_a_trace_for_each_function() {
    passes_in_both("checked_once.lua", &[]);
}

#[test]
fn indices_of_cdata_are_computed_in_64_bits() {
    passes_in_both("indices.lua", &[]);
}

#[test]
fn exits_share_side_traces() {
    passes_in_both("shared.lua", &[]);
}

#[test]
fn small_objects_share_a_step_of_the_collector() {
    passes_in_both("one_step.lua", &[]);
}

#[test]
fn definitions_of_chunks_are_constants() {
    passes_in_both("definitions.lua", &[]);
}

#[test]
fn only_traces_that_rely_on_a_changed_field_are_invalid() {
    passes_in_both("invalidation.lua", &[]);
}

/// The evaluator does not count how often traces run, so that it never has a variant recorded again.
#[test]
fn replaced_variants_are_counted_once() {
    passes("replaced_variants.lua", &[]);
}

#[test]
fn builtins_that_are_inlined() {
    passes_in_both("inlined_builtins.lua", &[]);
}

#[test]
fn exits_with_aborts_are_tried_again() {
    passes_in_both("try_again.lua", &[]);
}

#[test]
fn reasons_of_aborts() {
    passes_in_both("aborts.lua", &[]);
}

#[test]
fn traces_are_stitched() {
    passes_in_both("stitch.lua", &[]);
}

#[test]
fn bytecodes_that_are_not_compiled() {
    passes("abort_info.lua", &["-Ohotloop=1"]);
}

#[test]
fn loops_that_become_one_trace() {
    passes_in_both("coverage.lua", &[]);
}

#[test]
fn comparisons_by_builtins() {
    passes_in_both("builtin_comparisons.lua", &[]);
}

#[test]
fn concatenations_by_builtins() {
    passes_in_both("builtin_concat.lua", &[]);
}

#[test]
fn builtins_in_tail_position() {
    passes_in_both("tail_builtins.lua", &[]);
}

#[test]
fn returns_from_recursion() {
    passes_in_both("down_recursion.lua", &[]);
}

#[test]
fn numbers_in_strings() {
    passes_in_both("numbers_in_strings.lua", &[]);
}

#[test]
fn bytecodes_in_hot_loops() {
    passes_in_both("bytecodes.lua", &[]);
}

/// Every builtin of the table has a loop of its own in the program, which checks what becomes of it.
#[test]
fn builtins_in_hot_loops() {
    // The name of the variant, without the library that `Record` has.
    let kind = |b: &Builtin| format!("{:?}", b.on_trace()).split('(').next().unwrap_or_default().to_lowercase();
    let words: Vec<String> = Builtin::ALL.iter().map(|b| format!("{}={}", b.name(), kind(b))).collect();
    for options in [&[][..], &["-Oeval=1"]] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/events");
        let words = words.iter().map(String::as_str);
        let args: Vec<&str> = EAGER.iter().chain(options).copied().chain(["builtins.lua"]).chain(words).collect();
        let done = run_in(&folder, &args, "");
        // What loops print comes before, and what `debug.debug` asks for goes to standard error.
        let end = &done.output[done.output.len().saturating_sub(200)..];
        assert!(
            done.status == Some(0) && done.output.ends_with("\nok\n"),
            "{:?} with {options:?}: {}, after {end}",
            done.status,
            done.errors
        );
    }
}

#[test]
fn recorded_instructions() {
    passes_in_both("records.lua", &[]);
}

#[test]
fn depth_of_builtins() {
    passes("depth.lua", &[]);
}

#[test]
fn prototypes() {
    passes("protos.lua", &[]);
    passes("protos.lua", &["-joff"]);
}

#[test]
fn collections_in_handlers_of_bc() {
    passes("collect.lua", &[]);
}

#[test]
fn everything_hot_at_once() {
    passes_in_both("early.lua", AT_ONCE);
}

#[test]
fn handlers_come_go_and_do_anything() {
    passes_in_both("handlers.lua", &[]);
}

#[test]
fn errors_in_handlers() {
    let done = program("handler_error.lua", &[]);
    assert_eq!((done.status, &*done.output), (Some(0), "ok\n"));
    let expected = "VM handler failed: handler_error.lua:8: start failed\n\
                    VM handler failed: handler_error.lua:8: stop failed\n\
                    VM handler failed: handler_error.lua:8: flush failed\n\
                    VM handler failed: no position\n\
                    VM handler failed: handler_error.lua:15: attempt to index local 't' (a nil value)\n\
                    VM handler failed: handler_error.lua:15: attempt to index local 't' (a nil value)\n";
    assert_eq!(done.errors, expected);
}

#[test]
fn handlers_leave_the_arguments_of_vararg_functions() {
    passes_in_both("arguments.lua", &[]);
}

#[test]
fn arguments_and_switches() {
    passes_in_both("errors.lua", &[]);
}

#[test]
fn traces_end_with_their_function() {
    passes_in_both("collected.lua", &[]);
    passes_in_both("collected.lua", AT_ONCE);
}

#[test]
fn variants_of_builtins_are_compiled() {
    passes("variants.lua", &[]);
}

#[test]
fn side_traces_are_linked_to_the_variant_above_them() {
    passes("variant_links.lua", &[]);
}

#[test]
fn side_traces_follow_short_loops() {
    passes("short_loops.lua", &[]);
}

#[test]
fn loops_follow_the_usual_side() {
    passes("usual_side.lua", &[]);
}

#[test]
fn hot_trees_are_one_function() {
    passes("trees.lua", &[]);
}

#[test]
fn counters_of_vm_and_process() {
    passes_in_both("counters.lua", &["-Obudget=0"]);
}

/// By the thresholds that there are by default.
#[track_caller]
fn passes_by_default(options: &[&str]) {
    for evaluator in [&[][..], &["-Oeval=1"]] {
        assert_eq!(run_in(&folder(), &[evaluator, options].concat(), "").ok(), "ok\n", "{options:?}");
    }
}

#[test]
fn positions_are_recorded_in_turn() {
    passes("policy.lua", &["-Ohotloop=20"]);
    assert_eq!(run_in(&folder(), &["policy.lua", "default"], "").ok(), "ok\n");
}

#[test]
fn unprofitable_traces_are_disabled() {
    assert_eq!(run_in(&folder(), &["policy.lua", "loses"], "").ok(), "ok\n");
}

#[test]
fn recordings_at_the_end_of_a_loop_are_repeated_at_once() {
    passes_by_default(&["policy.lua", "end of loop"]);
}

#[test]
fn coroutines_are_followed() {
    passes_in_both("coroutines.lua", &[]);
}

/// With the number of objects, classes, closures or iterations the number of traces does not grow.
#[test]
fn traces_are_bounded_by_the_code() {
    passes_in_both("polymorphic.lua", &[]);
}

#[test]
fn plain_exits_are_counted() {
    passes_in_both("plain_exits.lua", &[]);
}

#[test]
fn watched_programs_have_luajits_thresholds() {
    passes_by_default(&["watched.lua"]);
}

#[test]
fn traces_in_the_functions_of_jit_util() {
    passes_in_both("util.lua", &[]);
    passes_in_both("util.lua", AT_ONCE);
}

#[test]
fn costs_and_exits_of_traces() {
    passes_in_both("stats.lua", &[]);
    passes_in_both("stats.lua", AT_ONCE);
}

#[test]
fn disassemblers() {
    passes("dis.lua", &[]);
}

#[test]
fn samples() {
    passes_in_both("profile.lua", &[]);
    passes("profile.lua", &["-joff"]);
    passes("profile.lua", AT_ONCE);
}

#[test]
fn thousands_of_traces() {
    passes("thousands.lua", &[]);
}

#[test]
fn finalizers() {
    passes("finalizer.lua", &[]);
}

/// Machine code and the evaluator lead to the same traces, exits and results.
#[test]
fn same_sequence_in_the_evaluator() {
    for options in [&[][..], AT_ONCE, &["-O0"], &["-O1"], &["-O2"], &["-Ohotexit=2"], &["-Omaxside=1"]] {
        // Loops are not recorded again for their usual side: where traces jump to the old root trace, only machine code can lead out of it at once.
        let options = &[options, &["-Ohottree=1000000"]].concat();
        // Hot counters are shared by address: the same options, so that code is at the same distance from the start of the heap.
        let native = program("sequence.lua", &[options, &["-Oeval=0"][..]].concat()).ok();
        assert!(native.contains("stop 1 loop 1"), "{native}");
        let evaluated = program("sequence.lua", &[options, &["-Oeval=1"][..]].concat()).ok();
        assert_eq!(native, evaluated, "with {options:?}");
    }
}

#[track_caller]
fn pass_saves(pass: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/events");
    assert_eq!(run_in(&folder, &["savings.lua", pass], "").ok(), "ok\n", "{pass}");
}

/// In the loops of real programs (for the passes by themselves see `tests/ir/savings`).
#[test]
fn passes_save_work() {
    for pass in ["fold", "cse", "dce", "fwd", "dse", "loop"] {
        pass_saves(pass);
    }
}

#[test]
fn narrow_saves_work() {
    pass_saves("narrow");
}

#[test]
fn abc_saves_work() {
    pass_saves("abc");
}

#[test]
fn sink_saves_work() {
    pass_saves("sink");
}

#[test]
fn objects_built_key_by_key_are_sunk() {
    passes_in_both("constructors.lua", &[]);
}

/// Results do not depend on whether, when and with which passes loops are compiled.
#[test]
fn same_results_with_every_pass_off() {
    let results = |options: &[&str]| {
        let out = program("sequence.lua", options).ok();
        out.lines().filter(|l| l.starts_with("result")).collect::<Vec<_>>().join("\n")
    };
    let interpreted = results(&["-joff"]);
    for flag in Options::default().flags.names() {
        for options in [&[&*format!("-O-{flag}")][..], &["-O0", &format!("-O+{flag}")]] {
            assert_eq!(results(options), interpreted, "with {options:?}");
            assert_eq!(results(&[options, AT_ONCE].concat()), interpreted, "at once with {options:?}");
        }
    }
}

/// What it becomes hot by, and what compiling it costs, is the same.
#[test]
fn watching_and_collections_change_no_traces() {
    let eager: &[&str] = &["-Ohotloop=30", "-Ohotexit=5", "-Obudget=0"];
    let traces = |program: &str, size: &str, options: &[&str]| {
        let program = ["same_traces.lua", &format!("../../../benches/programs/{program}.lua"), size];
        run_in(&folder(), &[options, &program].concat(), "").ok()
    };
    let programs =
        [("raytracer", "40", eager), ("pipeline", "30", eager), ("binarytrees", "12", eager), ("fannkuch", "9", eager)];
    for (program, size, budget) in programs {
        let alone = traces(program, size, budget);
        assert!(!alone.starts_with('0'), "nothing is compiled in {program}: {alone}");
        // What is loaded first moves the program in memory.
        let moved = "F = loadstring(('x = 1 '):rep(77))";
        let (often, never) = ("collectgarbage('setpause', 120)", "collectgarbage('stop')");
        let by = [moved, often, never].map(|what| ["-e", what]);
        for options in [&["-jv=/dev/null"] as &[_], &["-jdump=/dev/null"]].into_iter().chain(by.iter().map(|o| &o[..])) {
            assert_eq!(traces(program, size, &[budget, options].concat()), alone, "{program} with {options:?}");
        }
    }
}
