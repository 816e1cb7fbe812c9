//! Each target on its corpus, then on mutants of it for a while, with a new seed each time.
//!
//! `FUZZ_SECONDS` says how long (1 if it is not set; may be a fraction), `FUZZ_SEED` repeats what a run has reported. Before a crash
//! that ends the process, `FUZZ_KEEP=FOLDER` has each input written to `FOLDER/TARGET` first.

use perilune_fuzz::{TARGETS, for_each_target, mutate, target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What one input may take. Miri takes some hundred times as long.
const LONGEST: Duration = Duration::from_secs(if cfg!(miri) { 1200 } else { 20 });

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    files.sort();
    files.into_iter().map(|f| (f.clone(), std::fs::read(f).expect("a readable file"))).collect()
}

fn variable<T: core::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().map(|text| text.parse().ok().unwrap_or_else(|| panic!("{name}={text}")))
}

/// Runs one input, and returns what it took; keeps it, and says which one it was, if it fails or takes too long.
fn run_one(name: &str, run: fn(&[u8]), bytes: &[u8], what: &str) -> Duration {
    if let Some(folder) = std::env::var_os("FUZZ_KEEP") {
        std::fs::write(Path::new(&folder).join(name), bytes).expect("a folder for inputs");
    }
    let begun = Instant::now();
    let ran = catch_unwind(AssertUnwindSafe(|| run(bytes)));
    let took = begun.elapsed();
    if ran.is_err() || took > LONGEST {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-failed"));
        std::fs::write(&kept, bytes).expect("a folder for temporary files");
        eprintln!("{name}: {what} failed, see {}", kept.display());
    }
    if let Err(panic) = ran {
        std::panic::resume_unwind(panic);
    }
    assert!(took <= LONGEST, "{name}: {what} takes {took:?}");
    took
}

fn replay(name: &str) {
    let run = target(name).expect("a target");
    let mut files = corpus(name);
    assert!(!files.is_empty(), "{name} has no corpus");
    if cfg!(miri) {
        files.truncate(6);
    }
    for (file, bytes) in &files {
        run_one(name, run, bytes, &file.display().to_string());
    }
    let seed = variable("FUZZ_SEED").unwrap_or_else(|| fastrand::Rng::new().u64(..));
    println!("{name}: FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let corpus: Vec<Vec<u8>> = files.into_iter().map(|f| f.1).collect();
    let most = Duration::from_secs_f64(variable("FUZZ_SECONDS").unwrap_or(1.0));
    let (begun, mut n, mut slowest) = (Instant::now(), 0, (Duration::ZERO, 0));
    while begun.elapsed() < most {
        let bytes = mutate::mutant(&corpus, &mut random);
        let took = run_one(name, run, &bytes, &format!("mutant {n} of FUZZ_SEED={seed}"));
        slowest = slowest.max((took, n));
        n += 1;
    }
    println!("{name}: {n} mutants, the slowest {} took {:?}", slowest.1, slowest.0);
}

macro_rules! tests {
    ($($name:ident)*) => { $(#[test] fn $name() { replay(stringify!($name)); })* };
}
for_each_target! { tests }

/// The manifest names a driver for each target, and each driver is that of the target.
#[test]
fn every_target_has_a_driver() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let names: Vec<&str> = manifest.lines().filter_map(|l| l.strip_prefix("name = \"")?.strip_suffix('"')).skip(1).collect();
    assert_eq!(names, TARGETS.iter().map(|t| t.0).collect::<Vec<_>>());
    for name in names {
        let driver = std::fs::read_to_string(root.join("bin").join(name).with_extension("rs")).expect("a driver");
        assert_eq!(driver, format!("#![no_main]\nperilune_fuzz::libfuzzer!({name});\n"));
    }
}

/// Corpora are small.
#[test]
fn corpora_are_small() {
    for (name, _) in TARGETS {
        let files = corpus(name);
        let bytes: usize = files.iter().map(|f| f.1.len()).sum();
        assert!(files.len() <= 150 && bytes <= 300 << 10, "{name}: {} files, {bytes} bytes", files.len());
    }
}
