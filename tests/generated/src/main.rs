//! The command: `perilune-generated --programs N --seed S`.

use perilune_generated::findings::{Finding, Findings};
use perilune_generated::grammar::Grammar;
use perilune_generated::supervise::{self, Setup, Worker};
use perilune_generated::worker::Time;
use perilune_generated::{modes, program, run, worker};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// As the command itself has it, so that the end of memory is an error of the program.
#[global_allocator]
static MEMORY: perilune::Allocator = perilune::Allocator;

const USAGE: &str = "usage: perilune-generated [options]
  --programs N     how many programs (1000; without limit if --seconds is given)
  --seed N         the first seed (1)
  --seconds N      stop after this time
  --jobs N         worker processes (as many as there are processors)
  --modes A,B      only these modes, besides the reference; --modes list lists them
  --luajit PATH    compare with LuaJIT too
  --patience N     seconds after which a run is taken for a hang (20)
  --reduce N       seconds for making one program smaller (20)
  --findings N     stop when there are so many groups of findings (50)
  --out FOLDER     where programs that show a fault are written (generated-findings)
  --times          print how long runs took in each mode
  --print          print the programs, do not run them
  --whole          print them as files of their own";

/// Programs that a worker is given at a time; those that LuaJIT runs are run by one process each time.
const BATCH: u64 = 20;
const BATCH_WITH_LUAJIT: u64 = 100;

struct Options {
    programs: Option<u64>,
    seed: u64,
    seconds: Option<u64>,
    jobs: usize,
    modes: Vec<String>,
    luajit: Option<String>,
    patience: u64,
    reduce: u64,
    findings: usize,
    out: PathBuf,
    times: bool,
    print: bool,
    whole: bool,
    worker: Option<PathBuf>,
    fault: Option<(String, u64)>,
}

fn parse() -> Result<Options, String> {
    let mut o = Options {
        programs: None,
        seed: 1,
        seconds: None,
        jobs: std::thread::available_parallelism().map_or(2, usize::from),
        modes: Vec::new(),
        luajit: None,
        patience: 20,
        reduce: 20,
        findings: 50,
        out: "generated-findings".into(),
        times: false,
        print: false,
        whole: false,
        worker: None,
        fault: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match &*name {
            "--times" => o.times = true,
            "--print" => o.print = true,
            "--whole" => (o.print, o.whole) = (true, true),
            _ => {
                let value = arguments.next().ok_or_else(|| format!("{name}: a value is missing, or there is no such option"))?;
                let number = || value.parse::<u64>().map_err(|_| format!("{name}: {value} is not a number"));
                match &*name {
                    "--programs" => o.programs = Some(number()?),
                    "--seed" => o.seed = number()?,
                    "--seconds" => o.seconds = Some(number()?),
                    "--jobs" => o.jobs = number()?.clamp(1, 1024) as usize,
                    "--modes" => o.modes = value.split(',').map(str::to_owned).collect(),
                    "--luajit" => o.luajit = Some(value),
                    "--patience" => o.patience = number()?,
                    "--reduce" => o.reduce = number()?,
                    "--findings" => o.findings = number()? as usize,
                    "--out" => o.out = value.into(),
                    "--worker" => o.worker = Some(value.into()),
                    "--fault" => {
                        let (kind, seed) = value.split_once(':').ok_or("--fault kind:seed")?;
                        o.fault = Some((kind.into(), seed.parse().map_err(|_| "--fault kind:seed")?));
                    }
                    _ => return Err(format!("{name}: there is no such option")),
                }
            }
        }
    }
    let known = modes::all();
    match o.modes.iter().find(|name| *name != "list" && !known.iter().any(|m| m.name == **name)) {
        Some(name) => Err(format!("there is no mode {name}; --modes list lists them")),
        None => Ok(o),
    }
}

fn main() -> ExitCode {
    let options = match parse() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let done = if let Some(status) = options.worker {
        let settings = worker::Settings { status, modes: options.modes, luajit: options.luajit, fault: options.fault };
        worker::work(settings).map(|()| true)
    } else if options.modes.iter().any(|m| m == "list") {
        for mode in modes::all() {
            println!("{:16} {:?}, options {:?}", mode.name, mode.share, mode.options);
        }
        Ok(true)
    } else if options.print {
        for seed in options.seed..options.seed + options.programs.unwrap_or(1) {
            let text = program::text(&Grammar::new(seed).program().nodes);
            println!("-- seed {seed}\n{}", if options.whole { run::standalone(&text, "") } else { text });
        }
        Ok(true)
    } else {
        compare(&options)
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// What the workers share.
struct Progress {
    next: AtomicU64,
    programs: AtomicU64,
    runs: AtomicU64,
    times: Mutex<Vec<Time>>,
    over: AtomicBool,
    begun: Instant,
}

/// Runs the programs; true if nothing was found.
fn compare(o: &Options) -> std::io::Result<bool> {
    let count = o.programs.unwrap_or(if o.seconds.is_some() { u64::MAX / 2 } else { 1000 });
    let folder = supervise::scratch_folder()?;
    let setup = Setup {
        command: std::env::current_exe()?,
        folder: folder.clone(),
        modes: o.modes.clone(),
        luajit: o.luajit.clone(),
        patience: Duration::from_secs(o.patience),
        fault: o.fault.clone(),
    };
    let findings = Findings::new(o.out.clone(), Duration::from_secs(o.reduce));
    let progress = Progress {
        next: AtomicU64::new(o.seed),
        programs: AtomicU64::new(0),
        runs: AtomicU64::new(0),
        times: Mutex::new(vec![Time::default(); modes::all().len()]),
        over: AtomicBool::new(false),
        begun: Instant::now(),
    };
    let end = o.seed.saturating_add(count);
    let result = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..o.jobs)
            .map(|job| {
                let (setup, findings, progress) = (&setup, &findings, &progress);
                scope.spawn(move || run_batches(setup, findings, progress, job, end))
            })
            .collect();
        let mut told = Instant::now();
        while !jobs.iter().all(|j| j.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            let over = o.seconds.is_some_and(|s| progress.begun.elapsed() > Duration::from_secs(s));
            if over || findings.groups() >= o.findings {
                progress.over.store(true, Ordering::Relaxed);
            }
            if told.elapsed() > Duration::from_secs(60) {
                eprintln!("{}", counts(&progress, &findings, o.jobs));
                told = Instant::now();
            }
        }
        jobs.into_iter().try_for_each(|j| j.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread panics"))))
    });
    supervise::remove_scratch(&folder);
    print!("{}", findings.text());
    if o.times {
        print!("{}", times(&progress));
    }
    println!("seeds from {}: {}", o.seed, counts(&progress, &findings, o.jobs));
    result.map(|()| findings.groups() == 0)
}

/// A line for each mode.
fn times(progress: &Progress) -> String {
    let Ok(times) = progress.times.lock() else { return String::new() };
    let modes = modes::all();
    let line = |(mode, t): (&modes::Mode, &Time)| {
        let mean = t.all.as_secs_f64() * 1e3 / t.runs as f64;
        let (all, longest) = (t.all.as_secs_f64(), t.longest.as_secs_f64() * 1e3);
        format!("{:14} {:8} runs {all:8.1} s, mean {mean:6.2} ms, longest {longest:7.0} ms, seed {}\n", mode.name, t.runs, t.seed)
    };
    modes.iter().zip(&*times).filter(|(_, t)| t.runs > 0).map(line).collect()
}

fn counts(progress: &Progress, findings: &Findings, jobs: usize) -> String {
    let (programs, runs) = (progress.programs.load(Ordering::Relaxed), progress.runs.load(Ordering::Relaxed));
    let seconds = progress.begun.elapsed().as_secs_f64();
    format!(
        "{programs} programs, {runs} runs in {seconds:.1} s ({:.0} runs a second by each of {jobs} workers), {} groups of findings",
        runs as f64 / seconds / jobs as f64,
        findings.groups()
    )
}

/// What one thread does: batches, by a worker that is started again when it dies.
fn run_batches(setup: &Setup, findings: &Findings, progress: &Progress, job: usize, end: u64) -> std::io::Result<()> {
    let name = format!("worker-{job}");
    let mut worker = None;
    let batch = if setup.luajit.is_some() { BATCH_WITH_LUAJIT } else { BATCH };
    while !progress.over.load(Ordering::Relaxed) {
        let first = progress.next.fetch_add(batch, Ordering::Relaxed);
        let last = (first + batch).min(end);
        let mut from = first;
        let mut found = Vec::new();
        while from < last {
            let running = match &mut worker {
                Some(running) => running,
                none => none.insert(Worker::start(setup, &name)?),
            };
            let differs = |seed, mode| found.push(Finding { seed, mode, how: String::new() });
            let took = |mode: usize, time: Time| {
                if let Ok(Some(all)) = progress.times.lock().as_deref_mut().map(|times| times.get_mut(mode)) {
                    all.join(&time);
                }
            };
            match running.run(from, last - from, differs, took) {
                Ok(runs) => {
                    progress.runs.fetch_add(runs, Ordering::Relaxed);
                    break;
                }
                Err(death) => {
                    worker = None;
                    // It may have died before it began.
                    let seed = death.doing.seed.clamp(from, last - 1);
                    found.push(Finding { seed, mode: death.doing.mode as usize, how: death.how });
                    from = seed + 1;
                }
            }
        }
        if first >= end {
            break;
        }
        progress.programs.fetch_add(last - first, Ordering::Relaxed);
        for finding in &found {
            findings.add(setup, finding);
        }
    }
    Ok(())
}
