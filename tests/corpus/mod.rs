//! The corpus: the benchmarks at their small size, and the conformance programs of `tests/lua`, with the text that each must print;
//! running all of it in some mode.
//!
//! `BLESS=1` rewrites the stored text from what the interpreter prints (read the difference before committing it).
//! `ONLY=part` runs the programs whose path contains `part`. `CASE_SECONDS` says how long a program may take (60).
#![allow(dead_code, reason = "every test file uses a part of it")]

use super::command::{PERILUNE, run_within};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const THREADS: usize = 2;

/// Without the compiler.
pub const INTERPRETED: &[&str] = &["-joff"];
/// With LuaJIT's thresholds, and whatever it costs: so that short programs are compiled.
pub const COMPILED: &[&str] = &["-Ohotloop=56", "-Ohotexit=10", "-Obudget=0"];
/// Everything at its second execution.
pub const COMPILED_AT_ONCE: &[&str] = &["-Ohotloop=1", "-Ohotexit=1", "-Ohottree=2"];

/// A program, its arguments, and where its expected output is stored.
pub struct Case {
    pub file: PathBuf,
    pub args: Vec<String>,
    pub expected: PathBuf,
}

/// The benchmarks, those of the FFI among them, each at the size that its line `-- small: N` says.
pub fn benchmarks() -> Vec<Case> {
    let folder = root().join("benches");
    let case = |file: PathBuf, stored: &str| {
        let text = std::fs::read_to_string(&file).expect("a readable program");
        let small = text.lines().find_map(|line| line.strip_prefix("-- small: "));
        let small = small.unwrap_or_else(|| panic!("{} has no line '-- small: N'", file.display()));
        let name = file.file_stem().expect("a file name");
        let expected = folder.join(stored).join(name).with_extension("txt");
        let args = vec![small.trim().to_owned()];
        Case { file, args, expected }
    };
    let of = |programs_in: &str, stored: &'static str| {
        let cases = programs(&folder.join(programs_in)).into_iter();
        cases.map(|file| case(file, stored)).collect::<Vec<_>>()
    };
    let mut all = of("programs", "expected");
    all.extend(of("ffi", "expected/ffi"));
    all
}

/// The programs of `tests/lua/lang`, `tests/lua/jit` and `tests/lua/ffi`; the expected output of `x.lua` is `x.out`.
pub fn conformance() -> Vec<Case> {
    let case = |file: PathBuf| Case { expected: file.with_extension("out"), args: Vec::new(), file };
    let folders = ["ffi", "jit", "lang"].map(|name| root().join("tests/lua").join(name));
    folders.iter().flat_map(|folder| programs(folder)).map(case).collect()
}

/// Is the program in the list of those that do not pass yet?
fn known_failure(file: &Path) -> bool {
    const LIST: &str = include_str!("../lua/known-failures.txt");
    let name = file.file_name().map(|n| n.to_string_lossy().into_owned());
    LIST.lines().filter(|l| !l.starts_with('#')).any(|l| name.as_deref() == l.split_whitespace().next())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Lua files in a folder and the folders in it, in order.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            files.extend(programs(&path));
        } else if path.extension().is_some_and(|e| e == "lua") && path.to_string_lossy().contains(&only) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Runs the cases in one mode and fails with a report on all that went wrong.
pub fn check(cases: Vec<Case>, mode: &[&str]) {
    let seconds = std::env::var("CASE_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    run_all(&cases, mode, Duration::from_secs(seconds)).unwrap_or_else(|report| panic!("{report}"));
}

/// The same with a time limit for each program. Returns the report, if something went wrong.
pub fn run_all(cases: &[Case], mode: &[&str], most: Duration) -> Result<(), String> {
    let bless = std::env::var_os("BLESS").is_some();
    if bless && mode != INTERPRETED {
        // The stored text is being rewritten at this moment: nothing to compare with.
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let known = known_failure(&case.file);
                    let result = match run_case(case, mode, bless, most) {
                        Err(_) if known => Ok(()),
                        other => other,
                    };
                    if let Err(report) = result {
                        failures.lock().expect("no panic while locked").push((case.file.clone(), report));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic while locked");
    failures.sort();
    let mut report = String::new();
    for (file, why) in &failures {
        let name = file.strip_prefix(root()).unwrap_or(file).display();
        let _ = write!(report, "\n{name}: {why}\n");
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {} programs failed with {mode:?}:\n{report}", failures.len(), cases.len()))
}

fn run_case(case: &Case, mode: &[&str], bless: bool, most: Duration) -> Result<(), String> {
    // From its own folder, so that messages name the file alone.
    let folder = case.file.parent().expect("a folder");
    let name = case.file.file_name().expect("a file name").to_string_lossy();
    let mut command = Command::new(PERILUNE);
    command.args(mode).arg(&*name).args(&case.args).current_dir(folder);
    let done = run_within(command, "", most);
    if done.timed_out {
        return Err("still running after the time limit".into());
    }
    if done.status != Some(0) {
        return Err(format!("exit status {:?}\n{}", done.status, indented(&done.errors, 12)));
    }
    if bless {
        return std::fs::write(&case.expected, &done.bytes).map_err(|e| e.to_string());
    }
    let expected = std::fs::read(&case.expected).map_err(|e| format!("{}: {e}", case.expected.display()))?;
    if done.bytes == expected { Ok(()) } else { Err(difference(&expected, &done.bytes)) }
}

/// The first lines that differ, with the line before them.
fn difference(expected: &[u8], got: &[u8]) -> String {
    let [expected, got] = [expected, got].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let [expected, got] = [&expected, &got].map(|text| text.lines().collect::<Vec<_>>());
    let same = expected.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let mut text = format!("the output differs from line {} on\n", same + 1);
    for line in &expected[same.saturating_sub(1)..same] {
        let _ = writeln!(text, "      {}", short(line));
    }
    for (sign, lines) in [('-', &expected), ('+', &got)] {
        for line in lines.iter().skip(same).take(4) {
            let _ = writeln!(text, "    {sign} {}", short(line));
        }
    }
    text
}

fn short(line: &str) -> String {
    if line.chars().count() <= 150 {
        return line.to_owned();
    }
    line.chars().take(150).chain("...".chars()).collect()
}

fn indented(text: &str, most: usize) -> String {
    text.lines().take(most).map(|line| format!("    {}\n", short(line))).collect()
}
