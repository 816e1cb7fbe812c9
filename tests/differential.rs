//! Programs made from a grammar give the same output interpreted, compiled as usual, and compiled as early as possible;
//! some of them also with the collector always at work and with traces run by the evaluator of the IR; and all of them under
//! LuaJIT, where a `luajit` is installed (or where `DIFFERENTIAL_LUAJIT` names one). The seeds are fixed: each run makes the same programs.
//!
//! `DIFFERENTIAL_PROGRAMS` says how many (1,000 if it is not set, in two minutes), `DIFFERENTIAL_SEED` the first seed. A million:
//!
//! ```text
//! DIFFERENTIAL_PROGRAMS=1000000 cargo test --release --test differential
//! ```
//!
//! A program that shows a difference is made smaller and left in the folder for temporary files of the build.

mod command;
#[path = "differential/define.rs"]
mod define;
#[path = "differential/expr.rs"]
mod expr;
#[path = "differential/grammar.rs"]
mod grammar;
#[path = "differential/modes.rs"]
mod modes;
#[path = "differential/program.rs"]
mod program;
#[path = "differential/stmt.rs"]
mod stmt;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use modes::{Mode, Modes};
use program::Node;

/// A program that runs longer interpreted, or while it is made smaller, is left out.
const SHORT: Duration = Duration::from_secs(5);
/// One that ends in `SHORT` interpreted must end in this time in every mode.
const TIMEOUT: Duration = Duration::from_secs(60);

const PRELUDE: &str = include_str!("differential/prelude.lua");

#[test]
fn generated_programs_agree_in_all_modes() {
    let setting = |name: &str, default| std::env::var(name).map_or(default, |v| v.parse().expect("a number"));
    let (first, count) = (setting("DIFFERENTIAL_SEED", 1), setting("DIFFERENTIAL_PROGRAMS", 1000));
    let modes = Modes::find();
    let next = AtomicU64::new(first);
    let found = Mutex::new(Vec::new());
    let endless = AtomicU64::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (modes, next, found, endless) = (&modes, &next, &found, &endless);
            scope.spawn(move || {
                let mut check = Check { modes, folder: folder(worker), endless };
                while found.lock().expect("no panic while locked").len() < 5 {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        break;
                    }
                    if let Some(report) = check.seed(seed) {
                        found.lock().expect("no panic while locked").push(report);
                    }
                }
            });
        }
    });
    let found = found.into_inner().expect("no panic while locked");
    let endless = endless.into_inner();
    assert!(endless * 100 <= count, "{endless} of {count} programs have no end even interpreted: the grammar is at fault");
    assert!(found.is_empty(), "{} programs show differences:\n{}", found.len(), found.join("\n"));
}

/// What one thread checks programs with.
struct Check<'a> {
    modes: &'a Modes,
    folder: PathBuf,
    /// Programs left out because they run too long.
    endless: &'a AtomicU64,
}

impl Check<'_> {
    /// A report, if the program of this seed shows a difference.
    fn seed(&mut self, seed: u64) -> Option<String> {
        let nodes = grammar::Grammar::new(seed).program();
        let mode = self.differing(&nodes, seed)?;
        let place = |name: String| self.folder.parent().unwrap_or(&self.folder).join(name);
        let whole = format!("{PRELUDE}{}", program::text(&nodes));
        std::fs::write(place(format!("seed-{seed}-whole.lua")), whole).expect("a writable folder");
        let smaller = program::shrink(nodes, Duration::from_secs(60), |nodes| self.differs(nodes, mode));
        let file = place(format!("seed-{seed}.lua"));
        let source = format!("{PRELUDE}{}", program::text(&smaller));
        std::fs::write(&file, source).expect("a writable folder");
        let [a, b] = [Mode::Interpreted, mode].map(|mode| self.modes.run(mode, &file, TIMEOUT));
        let [a, b] = [a, b].map(|out| out.unwrap_or_else(|| "(no end)".into()));
        Some(format!(
            "seed {seed}, {mode:?}: {}\n{}\n--- interpreted:\n{a}\n--- {mode:?}:\n{b}",
            file.display(),
            program::text(&smaller)
        ))
    }

    /// The first mode in which the program does something else than interpreted.
    fn differing(&self, nodes: &[Node], seed: u64) -> Option<Mode> {
        let file = self.write(nodes);
        let expected = self.modes.run(Mode::Interpreted, &file, SHORT);
        if expected.is_none() {
            self.endless.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.modes.of(seed).find(|&mode| self.modes.run(mode, &file, TIMEOUT) != expected)
    }

    fn differs(&self, nodes: &[Node], mode: Mode) -> bool {
        let file = self.write(nodes);
        // A program that no longer ends shows nothing.
        let Some(expected) = self.modes.run(Mode::Interpreted, &file, SHORT) else { return false };
        self.modes.run(mode, &file, SHORT).is_some_and(|out| out != expected)
    }

    fn write(&self, nodes: &[Node]) -> PathBuf {
        let file = self.folder.join("p.lua");
        std::fs::write(&file, format!("{PRELUDE}{}", program::text(nodes))).expect("a writable folder");
        file
    }
}

fn folder(worker: usize) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("differential").join(worker.to_string());
    std::fs::create_dir_all(&path).expect("a folder for temporary files");
    path
}
