//! A process that runs programs. Its parent tells it what to do by lines on standard input:
//!
//! - `run FIRST COUNT`: the programs of these seeds. It answers a line `differs SEED MODE` for each difference, a line `time MODE RUNS
//!   MICROSECONDS LONGEST SEED` for each mode ([`Time`]), then
//!   `done RUNS SUM`, where the sum is one over all that the reference showed.
//! - `check MODE SEED LENGTH`, and so many bytes of a program: `same`, or `differs LENGTH LENGTH outputs` and both outputs.
//!
//! Before each run it notes seed and mode in a file ([`Status`]), so that the parent knows what it died of.

use crate::grammar::Grammar;
use crate::luajit::{LuaJit, Task};
use crate::modes::{self, Mode, Share};
use crate::program;
use crate::run::{Outcome, Program, Runner};
use perilune_vm::fault::Fault;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a worker is doing: a file that it writes and its parent reads.
pub struct Status(File);

/// What [`Status`] says.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    /// The seed of the program.
    pub seed: u64,
    /// The number of the mode.
    pub mode: u64,
    /// Changes with each run.
    pub run: u64,
}

impl Status {
    /// Opens the file, made if there is none.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path) -> std::io::Result<Status> {
        File::options().read(true).write(true).create(true).truncate(false).open(path).map(Status)
    }
    fn write(&self, doing: Doing) {
        let words = [doing.seed, doing.mode, doing.run].map(u64::to_le_bytes);
        // A parent that cannot see it says so when it has to attribute something.
        let _ = self.0.write_all_at(words.as_flattened(), 0);
    }
    /// What the worker was doing last.
    pub fn read(&self) -> Doing {
        let mut words = [[0; 8]; 3];
        let _ = self.0.read_exact_at(words.as_flattened_mut(), 0);
        let [seed, mode, run] = words.map(u64::from_le_bytes);
        Doing { seed, mode, run }
    }
}

/// How long runs in a mode took.
#[derive(Copy, Clone, Debug, Default)]
pub struct Time {
    /// How many there were.
    pub runs: u64,
    /// All together.
    pub all: Duration,
    /// The longest.
    pub longest: Duration,
    /// The seed of that one's program.
    pub seed: u64,
}

impl Time {
    fn add(&mut self, time: Duration, seed: u64) {
        self.join(&Time { runs: 1, all: time, longest: time, seed });
    }
    /// Adds those of other runs.
    pub fn join(&mut self, other: &Time) {
        self.runs += other.runs;
        self.all += other.all;
        if other.longest > self.longest {
            (self.longest, self.seed) = (other.longest, other.seed);
        }
    }
}

/// What a worker is started with.
pub struct Settings {
    /// Where it tells what it is doing.
    pub status: PathBuf,
    /// Names of the modes; all if there are none.
    pub modes: Vec<String>,
    /// The command of LuaJIT.
    pub luajit: Option<String>,
    /// A fault to plant for tests: `crash`, `panic`, `hang` or `differ`, at a seed in the mode `first`; or the name of an error to bring
    /// back ([`perilune_vm::fault`]).
    pub fault: Option<(String, u64)>,
}

/// Which modes are meant by names; all but LuaJIT if there are none, and that too if there is one.
pub fn chosen(modes: &[Mode], names: &[String], luajit: bool) -> Vec<bool> {
    let named = |m: &Mode| names.is_empty() || names.contains(&m.name);
    modes.iter().map(|m| named(m) && (m.share != Share::Other || luajit)).collect()
}

struct Worker {
    modes: Vec<Mode>,
    chosen: Vec<bool>,
    runner: Runner,
    status: Status,
    luajit: Option<LuaJit>,
    fault: Option<(String, u64)>,
    runs: u64,
    /// By mode, since the last answer.
    times: Vec<Time>,
}

/// The worker: until there is no more input.
///
/// # Errors
/// Those of the system: the parent is gone, say.
pub fn work(settings: Settings) -> std::io::Result<()> {
    limit_memory();
    keep_memory();
    std::panic::set_hook(Box::new(|info| {
        eprintln!("{info}");
        std::process::abort();
    }));
    if let Some((name, _)) = &settings.fault
        && let Some(error) = Fault::ALL.iter().find(|f| f.name() == name)
        && !perilune_vm::fault::inject(*error)
    {
        return Err(std::io::Error::other("errors can be brought back in builds with debug assertions only"));
    }
    let modes = modes::all();
    let mut worker = Worker {
        chosen: chosen(&modes, &settings.modes, settings.luajit.is_some()),
        modes,
        runner: Runner::new(),
        status: Status::open(&settings.status)?,
        luajit: settings.luajit.map(|command| LuaJit::new(command, settings.status.with_extension("programs"))),
        fault: settings.fault,
        runs: 0,
        times: Vec::new(),
    };
    worker.times.resize(worker.modes.len(), Time::default());
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok()).unwrap_or(0);
        match words.first() {
            Some(&"run") => worker.run_all(number(1), number(2))?,
            Some(&"check") => {
                let mut body = vec![0; number(3) as usize];
                input.read_exact(&mut body)?;
                worker.check(&String::from_utf8_lossy(&body), number(1) as usize, number(2))?;
            }
            _ => return Err(std::io::Error::other(format!("not a command: {line}"))),
        }
    }
}

impl Worker {
    fn run(&mut self, (body, compiled): (&str, &Program), seed: u64, mode: usize) -> Outcome {
        let begun = Instant::now();
        self.runs += 1;
        self.status.write(Doing { seed, mode: mode as u64, run: self.runs });
        let planted = self.fault.as_ref().filter(|(_, at)| *at == seed && self.modes[mode].name == "first");
        let how = &self.modes[mode];
        let mut outcome = self.runner.run(compiled, how, &how.options(seed), how.before(seed).as_deref());
        if let Some((kind, _)) = planted {
            plant(kind, body, &mut outcome);
        }
        self.times[mode].add(begun.elapsed(), seed);
        outcome
    }
    fn run_all(&mut self, first: u64, count: u64) -> std::io::Result<()> {
        let before = self.runs;
        let mut tasks = Vec::new();
        let mut sum = 0u64;
        let mut out = std::io::stdout().lock();
        for seed in first..first + count {
            let program = Grammar::new(seed).program();
            let body = program::text(&program.nodes);
            let compiled = Program::new(&body);
            let run = (&*body, &compiled);
            let expected = self.run(run, seed, 0);
            sum = expected.shown.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
            for mode in modes::of_seed(&self.modes, &self.chosen, seed, program.budget) {
                if self.run(run, seed, mode) != expected {
                    writeln!(out, "differs {seed} {mode}")?;
                }
            }
            if self.luajit.is_some() && program.everywhere {
                tasks.push((seed, Task { body, expected: expected.shown }));
            }
        }
        if let Some(luajit) = &self.luajit {
            let mode = self.modes.iter().position(|m| m.share == Share::Other).unwrap_or(0);
            self.status.write(Doing { seed: first, mode: mode as u64, run: self.runs });
            let shown = luajit.run_all(tasks.iter().map(|(_, task)| task));
            self.runs += shown.len() as u64;
            for ((seed, task), shown) in tasks.iter().zip(shown) {
                if shown.is_some_and(|shown| shown != task.expected) {
                    writeln!(out, "differs {seed} {mode}")?;
                }
            }
        }
        for (mode, time) in self.times.iter_mut().map(std::mem::take).enumerate().filter(|(_, time)| time.runs > 0) {
            writeln!(out, "time {mode} {} {} {} {}", time.runs, time.all.as_micros(), time.longest.as_micros(), time.seed)?;
        }
        writeln!(out, "done {} {sum}", self.runs - before)?;
        out.flush()
    }
    fn check(&mut self, body: &str, mode: usize, seed: u64) -> std::io::Result<()> {
        let compiled = Program::new(body);
        let run = (body, &compiled);
        let expected = self.run(run, seed, 0);
        let other = match (&self.luajit, self.modes[mode].share) {
            (Some(luajit), Share::Other) => {
                let task = Task { body: body.into(), expected: expected.shown.clone() };
                let shown = luajit.run_all(std::iter::once(&task)).pop().flatten();
                Outcome { shown: shown.unwrap_or_else(|| task.expected.clone()), traceback: expected.traceback.clone() }
            }
            _ => self.run(run, seed, mode),
        };
        let mut out = std::io::stdout().lock();
        if other == expected {
            writeln!(out, "same")?;
        } else {
            let [a, b] = [expected.text(), other.text()];
            write!(out, "differs {} {} outputs\n{a}{b}", a.len(), b.len())?;
        }
        out.flush()
    }
}

/// A fault for the tests of who finds it.
fn plant(kind: &str, body: &str, outcome: &mut Outcome) {
    match kind {
        "panic" => panic!("planted"),
        "hang" => loop {
            std::thread::park();
        },
        "differ" if body.contains("P(") => outcome.shown.extend_from_slice(b"planted\n"),
        "differ" => {}
        _ => std::process::abort(),
    }
}

/// What a state or a compilation frees, the next one asks for: it need not go back to the system meanwhile.
fn keep_memory() {
    #[cfg(target_env = "gnu")]
    for (option, bytes) in [(libc::M_MMAP_THRESHOLD, 16 << 20), (libc::M_TRIM_THRESHOLD, 256 << 20), (libc::M_TOP_PAD, 4 << 20)] {
        // SAFETY: sets a number, before there are other threads.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// A program that takes all memory must not take that of others; nobody needs the memory of a dead worker.
fn limit_memory() {
    for (resource, most) in [(libc::RLIMIT_AS, 4u64 << 30), (libc::RLIMIT_CORE, 0)] {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: the argument is a valid structure.
        unsafe { libc::setrlimit(resource, &limit) };
    }
}
