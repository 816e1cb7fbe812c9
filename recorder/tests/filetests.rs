//! Tests of passes on text: `tests/ir/<pass>/*.ir`.
//!
//! ```text
//! ; test: fold cse loop          passes: emission with these switches, then loop, dce and fuse in this order;
//! ;                              or parse (print what was read), or verify (print what is wrong)
//! ; tab:0 = 1 2 x=3              entries of a table
//! ; run: 2=1 3=100               runs input and output on these slots, with the same result
//! ; off: cse                     runs the output without one of the passes as well: the same result, and more work
//! <trace>
//! ;;
//! <expected output>
//! ```
//!
//! `BLESS=1` writes what comes out as what is expected.

mod common;

use common::World;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::Trace;
use perilune_recorder::ir::parse::parse;
use perilune_recorder::ir::print::print;
use perilune_recorder::ir::verify::{verify, verify_effects};
use perilune_recorder::opt;
use perilune_recorder::params::Limits;
use perilune_recorder::params::OptFlags;
use perilune_vm::Value;
use std::path::{Path, PathBuf};

/// Instructions that a run may execute.
const FUEL: u64 = 20_000;

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "ir") {
            out.push(path);
        }
    }
}

/// The lines `; key: value` or `; key = value` of the header.
fn header<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |l| l.strip_prefix("; ")?.strip_prefix(key)?.strip_prefix([':']).map(str::trim))
}

fn world(text: &str) -> World {
    let mut world = World::new();
    for line in text.lines() {
        if let Some((index, entries)) = line.strip_prefix("; tab:").and_then(|l| l.split_once('=')) {
            world.fill(index.trim().parse().unwrap(), entries);
        }
    }
    world
}

fn run(input: &str, passes: &[&str], slots: &str) -> (String, u64, u64, u64) {
    let mut world = world(input);
    let parsed = parse(input, &mut world).unwrap();
    let trace = if passes.is_empty() { parsed } else { optimise(&parsed, passes).unwrap() };
    let slots: Vec<(u16, Value)> = slots
        .split_whitespace()
        .map(|s| {
            let (slot, value) = s.split_once('=').unwrap();
            (slot.parse().unwrap(), world.value(value).unwrap())
        })
        .collect();
    let result = world.run(&trace, &slots, FUEL);
    (result.text, result.exit.executed, result.exit.in_loop, result.exit.iterations)
}

fn optimise(trace: &Trace, passes: &[&str]) -> Result<Trace, Abort> {
    let mut flags = OptFlags::NONE;
    for pass in passes {
        assert!(flags.set(pass, true), "unknown pass {pass}");
    }
    let mut b = opt::reemit(trace, flags, Limits::default())?;
    check(&b.trace);
    opt::held::run(&mut b);
    for pass in passes {
        match *pass {
            "loop" => opt::loops::run(&mut b)?,
            "dce" => opt::dce::run(&mut b),
            "fuse" => opt::buffers::run(&mut b),
            "sink" if !passes.contains(&"loop") => opt::sink::run(&mut b),
            _ => {}
        }
        check(&b.trace);
    }
    Ok(b.trace)
}

fn check(trace: &Trace) {
    if let Err(e) = verify(trace) {
        panic!("{e}\n{trace}");
    }
}

fn output(input: &str) -> String {
    let passes: Vec<&str> = header(input, "test").next().expect("no test line").split_whitespace().collect();
    let mut world = world(input);
    let trace = match parse(input, &mut world) {
        Ok(trace) => trace,
        Err(e) => return format!("error: {e}\n"),
    };
    match passes[..] {
        ["parse"] => {
            let text = print(&trace, &world);
            let again = parse(&text, &mut world).unwrap();
            assert_eq!(print(&again, &world), text, "text does not round-trip");
            return text;
        }
        ["effects"] => return verify_effects(&trace).map_or_else(|e| format!("error: {e}\n"), |()| "ok\n".into()),
        ["verify"] => return verify(&trace).map_or_else(|e| format!("error: {e}\n"), |()| "ok\n".into()),
        _ => {}
    }
    if let Err(e) = verify(&trace) {
        return format!("error: {e}\n");
    }
    let mut out = match optimise(&trace, &passes) {
        Ok(t) => {
            let text = print(&t, &world);
            assert_eq!(print(&parse(&text, &mut world).unwrap(), &world), text, "text does not round-trip");
            text
        }
        Err(e) => return format!("error: {e}\n"),
    };
    for slots in header(input, "run") {
        let before = run(input, &[], slots);
        let after = run(input, &passes, slots);
        assert_eq!(before.0, after.0, "optimised trace does something else (slots {slots})");
        out += &format!("; run {slots}: {}\n", before.0.replace('\n', "\n; "));
        out += &format!("; instructions: {} -> {}", before.1, after.1);
        if after.3 > 1 {
            out += &format!(", in the loop: {} -> {} per iteration", per(before.2, before.3), per(after.2, after.3));
        }
        out.push('\n');
        for pass in header(input, "off").flat_map(str::split_whitespace) {
            out += &without(input, &passes, pass, slots, &after);
        }
    }
    out
}

/// Runs the input with all passes but one, whose work must show in the result of `all`: fewer instructions per iteration.
fn without(input: &str, passes: &[&str], pass: &str, slots: &str, all: &(String, u64, u64, u64)) -> String {
    assert!(passes.contains(&pass), "{pass} is off anyway");
    let others: Vec<&str> = passes.iter().copied().filter(|p| *p != pass).collect();
    let off = run(input, &others, slots);
    assert_eq!(off.0, all.0, "without {pass} the trace does something else (slots {slots})");
    assert!(all.1 < off.1, "{pass} saves nothing: {} instructions with it, {} without", all.1, off.1);
    let mut text = format!("; without {pass}: {}", off.1);
    if all.3 > 1 {
        let (with, without) = (all.2 as f64 / all.3 as f64, off.2 as f64 / off.3 as f64);
        assert!(with < without, "{pass} saves nothing in the loop");
        text += &format!(", in the loop: {} per iteration", per(off.2, off.3));
    }
    text + "\n"
}

fn per(n: u64, iterations: u64) -> u64 {
    n / iterations.max(1)
}

#[test]
fn filetests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ir");
    let mut all = Vec::new();
    files(&root, &mut all);
    assert!(!all.is_empty());
    let bless = std::env::var_os("BLESS").is_some();
    let mut failed = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let (input, expected) = text.split_once("\n;;\n").unwrap_or((text.trim_end(), ""));
        let result = std::panic::catch_unwind(|| output(input));
        let Ok(actual) = result else {
            failed.push(format!("{}: panicked", path.display()));
            continue;
        };
        if actual == expected {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{input}\n;;\n{actual}")).unwrap();
        } else {
            failed.push(format!("{}:\n--- expected\n{expected}--- actual (BLESS=1 to accept)\n{actual}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(bless || untested_rules().is_empty(), "no file has these rules of FOLD applied:\n{}", untested_rules().join("\n"));
}

/// The rules of FOLD that have not been applied in this thread: a rule is where one of the functions is called that say what it
/// makes.
fn untested_rules() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/opt/fold");
    let applied = opt::fold::applied::locations();
    let mut untested = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().enumerate().filter(|(_, line)| says_what_it_makes(line));
        untested.extend(lines.filter_map(|(i, line)| {
            let n = i as u32 + 1;
            let seen = applied.iter().any(|(file, at)| Path::new(file).file_name() == path.file_name() && *at == n);
            (!seen).then(|| format!("{name}:{n}: {}", line.trim()))
        }));
    }
    untested.sort();
    untested
}

fn says_what_it_makes(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["is", "like", "again", "holds"].iter().any(|f| {
        let called = |at: usize| {
            let before = &code[..at];
            !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.')) && !before.ends_with("fn ")
        };
        code.match_indices(&format!("{f}(")).any(|(at, _)| called(at))
    })
}
