//! Runs our own programs, public benchmarks and programs made of public libraries side by side: our command with and without its
//! compiler, LuaJIT with and without its own, and whichever other engines are named. docs/performance.md has the figures.
//!
//! `cargo bench --bench public -- [FILTER...] [--sets own,public,open,allocation] [--peers FOLDER] [--engine LABEL=COMMAND]... [--runs N]
//! [--system] [--timeout SECS] [--ours PATH] [--growth] [--save FILE] [--load FILE] [--markdown FILE] [--svg FILE]`
//!
//! A filter is part of a program's name. `--peers`, or `PERILUNE_PEERS`, is the folder of the checkouts that `benches/public/README.md`
//! lists; `--engine`, or `PERILUNE_ENGINES` with commas between them, names further engines. Of N runs (3), interleaved, the one with the
//! least user time counts (user and system time with `--system`). What a program prints must be the same everywhere, but for lines that
//! tell times. `--growth` runs each program, of those whose last argument is a number, at an eighth, a quarter, half and all of it.
//! `--save` stores the times, `--load` prints what was stored; `--markdown` and `--svg` make tables and a chart. The set `allocation`,
//! which is run only where it is named, has the peak memory of each program as well, in megabytes.

#[path = "runner/chart.rs"]
mod chart;
#[path = "runner/child.rs"]
mod child;
#[path = "runner/figures.rs"]
mod figures;
#[path = "runner/sets.rs"]
mod sets;

use child::Outcome;
use figures::{Figures, Row};
use sets::{Program, Set};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// The set of programs that allocate much.
const ALLOCATION: &str = "allocation";

struct Options {
    sets: Vec<String>,
    peers: Option<PathBuf>,
    engines: Vec<String>,
    runs: usize,
    system: bool,
    timeout: Duration,
    ours: PathBuf,
    growth: bool,
    save: Option<PathBuf>,
    load: Option<PathBuf>,
    markdown: Option<PathBuf>,
    svg: Option<PathBuf>,
    filters: Vec<String>,
}

impl Options {
    /// Reads the arguments; those not known (cargo passes `--bench`) are ignored.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let list = |text: &str| text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        let mut options = Options {
            sets: list("own,public,open"),
            peers: std::env::var_os("PERILUNE_PEERS").map(PathBuf::from),
            engines: std::env::var("PERILUNE_ENGINES").map_or(Vec::new(), |text| list(&text)),
            runs: 3,
            system: false,
            timeout: Duration::from_secs(120),
            ours: PathBuf::from(env!("CARGO_BIN_EXE_perilune")),
            growth: false,
            save: None,
            load: None,
            markdown: None,
            svg: None,
            filters: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--sets" => options.sets = list(&value()?),
                "--peers" => options.peers = Some(value()?.into()),
                "--engine" => options.engines.push(value()?),
                "--runs" => options.runs = number(&value()?)?.max(1),
                "--system" => options.system = true,
                "--timeout" => options.timeout = Duration::from_secs(number(&value()?)? as u64),
                "--ours" => options.ours = value()?.into(),
                "--growth" => options.growth = true,
                "--save" => options.save = Some(value()?.into()),
                "--load" => options.load = Some(value()?.into()),
                "--markdown" => options.markdown = Some(value()?.into()),
                "--svg" => options.svg = Some(value()?.into()),
                flag if flag.starts_with('-') => {}
                _ => options.filters.push(arg),
            }
        }
        Ok(options)
    }

    fn wants(&self, program: &Program) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| program.name.contains(filter.as_str()))
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// A command that runs Lua programs, with its options.
struct Engine {
    label: String,
    command: Vec<OsString>,
}

impl Engine {
    fn run(&self, program: &Program, args: &[String], options: &Options) -> Outcome {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).args(args).current_dir(&program.folder).stdin(Stdio::null());
        if let Some(file) = &program.stdin {
            match std::fs::File::open(file) {
                Ok(opened) => command.stdin(opened),
                Err(error) => return Outcome::Failed(format!("{}: {error}", file.display())),
            };
        }
        child::run(&mut command, options.timeout)
    }
}

/// LuaJIT where it is installed, ours, and what was named.
fn engines(options: &Options) -> Result<Vec<Engine>, String> {
    // Programs are started in folders of their own.
    let ours = std::path::absolute(&options.ours).map_err(|e| format!("{}: {e}", options.ours.display()))?.into_os_string();
    let luajit = in_path("luajit").map(PathBuf::into_os_string);
    let joff = || OsString::from("-joff");
    let engine = |label: &str, command: Vec<OsString>| Engine { label: label.into(), command };
    let mut list = vec![engine("perilune", vec![ours.clone()]), engine("perilune-joff", vec![ours, joff()])];
    if let Some(luajit) = luajit {
        list.push(engine("luajit", vec![luajit.clone()]));
        list.push(engine("luajit-joff", vec![luajit, joff()]));
    }
    for named in &options.engines {
        let (label, command) = named.split_once('=').ok_or(format!("no LABEL=COMMAND: {named}"))?;
        let command: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        if command.is_empty() || list.iter().any(|e| e.label == label) {
            return Err(format!("no command, or the label is another's: {named}"));
        }
        list.push(engine(label, command));
    }
    Ok(list)
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// What is to be run; says what is left out.
fn chosen(options: &Options) -> Result<Vec<Set>, String> {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let wanted = |set: &str| options.sets.iter().any(|s| s == set);
    let mut list = Vec::new();
    if wanted("own") {
        list.push(sets::own(&benches)?);
    }
    let others: Vec<&str> = ["public", "open", ALLOCATION].into_iter().filter(|set| wanted(set)).collect();
    let Some(peers) = &options.peers else {
        if !others.is_empty() {
            let names = others.join(", ");
            println!("skipped: {names}; PERILUNE_PEERS or --peers names the folder of the checkouts (benches/public/README.md)");
        }
        return Ok(list);
    };
    let peers = std::fs::canonicalize(peers).map_err(|e| format!("{}: {e}", peers.display()))?;
    for name in others {
        let mut set = sets::listed(name, &benches, &peers)?;
        set.programs.retain(|program| {
            let missing = sets::missing(program, &peers);
            if let Some(path) = &missing {
                println!("skipped: {}, {} is not there", program.name, path.display());
            }
            missing.is_none()
        });
        list.push(set);
    }
    Ok(list)
}

/// What a program printed, without lines that tell times.
fn steady(output: &[u8]) -> Vec<u8> {
    let lines = output.split(|b| *b == b'\n').filter(|line| !tells_time(&String::from_utf8_lossy(line).to_lowercase()));
    lines.collect::<Vec<_>>().join(&b'\n')
}

/// By its words, or by a number of microseconds (`12us`).
fn tells_time(line: &str) -> bool {
    let micros = |(at, _): (usize, &str)| {
        line[..at].ends_with(|c: char| c.is_ascii_digit())
            && !line[at + 2..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    ["runtime", "elapsed", "seconds", "mflops"].iter().any(|word| line.contains(word)) || line.match_indices("us").any(micros)
}

/// The least of all runs of a program.
struct Least {
    seconds: f64,
    megabytes: f64,
}

/// Runs one program everywhere. The output that LuaJIT prints first is what all are compared with.
fn measure(program: &Program, args: &[String], engines: &[&Engine], options: &Options) -> Vec<Result<Least, String>> {
    let none = || Least { seconds: f64::INFINITY, megabytes: f64::INFINITY };
    let mut cells: Vec<Result<Least, String>> = engines.iter().map(|_| Ok(none())).collect();
    let mut outputs: Vec<Option<Vec<u8>>> = vec![None; engines.len()];
    for _ in 0..options.runs {
        for ((engine, cell), kept) in engines.iter().zip(&mut cells).zip(&mut outputs) {
            let Ok(least) = cell else { continue };
            *cell = match engine.run(program, args, options) {
                Outcome::Done { usage, output } => {
                    let system = if options.system { child::seconds(usage.ru_stime) } else { 0.0 };
                    let output = steady(&output);
                    if *kept.get_or_insert_with(|| output.clone()) == output {
                        Ok(Least {
                            seconds: least.seconds.min(child::seconds(usage.ru_utime) + system),
                            megabytes: least.megabytes.min(usage.ru_maxrss as f64 / 1024.0),
                        })
                    } else {
                        Err("FAIL: the output changes from run to run".into())
                    }
                }
                Outcome::Failed(why) => Err(format!("FAIL: {why}")),
                Outcome::TimedOut => Err("timeout".into()),
            };
        }
    }
    let by_luajit = engines.iter().position(|e| e.label == "luajit").and_then(|column| outputs[column].clone());
    if let Some(reference) = by_luajit.or(outputs.iter().flatten().next().cloned()) {
        for (cell, output) in cells.iter_mut().zip(&outputs) {
            if cell.is_ok() && output.as_ref() != Some(&reference) {
                *cell = Err("FAIL: the output differs".into());
            }
        }
    }
    cells
}

/// Prints the time at an eighth, a quarter, half and all of each program's size, with the compilers on; false if an output was wrong.
fn growth(sets: &[Set], engines: &[Engine], options: &Options) -> bool {
    let engines: Vec<&Engine> = engines.iter().filter(|engine| !engine.label.ends_with("-joff")).collect();
    let mut good = true;
    println!("seconds at n, 2n, 4n and 8n, and by how much each is more than the one before\n{:<18}{:>9}", "program", "n");
    for program in sets.iter().flat_map(|set| &set.programs).filter(|program| options.wants(program)) {
        let Some(size) = program.size().filter(|size| *size > 0) else { continue };
        let n = size.div_ceil(8);
        let mut times: Vec<Vec<Result<f64, String>>> = vec![Vec::new(); engines.len()];
        for factor in [1, 2, 4, 8] {
            // What failed or took too long is not tried at larger sizes.
            let still: Vec<usize> = (0..engines.len()).filter(|&i| !matches!(times[i].last(), Some(Err(_)))).collect();
            let running: Vec<&Engine> = still.iter().map(|&i| engines[i]).collect();
            let mut args = program.args.clone();
            args.pop();
            args.push((n * factor).to_string());
            for (i, cell) in still.into_iter().zip(measure(program, &args, &running, options)) {
                times[i].push(cell.map(|least| least.seconds));
            }
        }
        for (i, (engine, times)) in engines.iter().zip(&times).enumerate() {
            let (name, n) = if i == 0 { (&*program.name, n.to_string()) } else { ("", String::new()) };
            let mut line = format!("{name:<18}{n:>9} {:<14}", engine.label);
            for time in times {
                line += &match time {
                    Ok(seconds) => format!("{seconds:>10.3}"),
                    Err(why) => format!("  {why}"),
                };
                good &= !time.as_ref().is_err_and(|why| engine.label == "perilune" && why.starts_with("FAIL"));
            }
            let more = times.windows(2).filter_map(|pair| Some(pair[1].as_ref().ok()? / pair[0].as_ref().ok()?.max(0.001)));
            line.extend(more.map(|more| format!("{more:>8.2}")));
            println!("{line}");
        }
    }
    good
}

/// Runs everything and prints it program by program; false if an output was wrong.
fn run(options: &Options) -> Result<(Figures, bool), String> {
    let engines = engines(options)?;
    let sets = chosen(options)?;
    let mut figures = Figures { labels: engines.iter().map(|e| e.label.clone()).collect(), rows: Vec::new() };
    if options.growth {
        return Ok((figures, growth(&sets, &engines, options)));
    }
    let what = if options.system { "user and system" } else { "user" };
    println!("least of {} runs, {what} seconds\n{}", options.runs, figures.heading());
    let mut troubles = Vec::new();
    for set in &sets {
        let mut peaks = Vec::new();
        for program in set.programs.iter().filter(|p| options.wants(p)) {
            let cells = measure(program, &program.args, &engines.iter().collect::<Vec<_>>(), options);
            let row = |set: &str, of: fn(&Least) -> f64| Row {
                set: set.to_owned(),
                program: program.name.clone(),
                cells: cells.iter().map(|cell| cell.as_ref().map(of).map_err(String::clone)).collect(),
            };
            if set.name == ALLOCATION {
                peaks.push(row("allocation, MB", |least| least.megabytes));
            }
            let row = row(set.name, |least| least.seconds);
            println!("{}", figures.line(&row));
            for (engine, cell) in engines.iter().zip(&row.cells) {
                if let Err(why) = cell {
                    troubles.push(format!("{}, {}: {why}", program.name, engine.label));
                }
            }
            figures.rows.push(row);
            if let Some(file) = &options.save {
                figures.save(file)?;
            }
        }
        peaks.iter().for_each(|row| println!("{}", figures.line(row)));
        figures.rows.extend(peaks);
        if let Some(file) = &options.save {
            figures.save(file)?;
        }
    }
    troubles.iter().for_each(|trouble| println!("{trouble}"));
    let wrong = |trouble: &String| trouble.contains(", perilune") && trouble.contains("FAIL");
    Ok((figures, !troubles.iter().any(wrong)))
}

fn bench() -> Result<bool, String> {
    let options = Options::parse(std::env::args().skip(1))?;
    let (figures, good) = match &options.load {
        Some(file) => {
            let figures = Figures::load(file)?;
            println!("{}", figures.heading());
            figures.rows.iter().for_each(|row| println!("{}", figures.line(row)));
            (figures, true)
        }
        None => run(&options)?,
    };
    for set in figures.sets() {
        print!("\n{}", figures.means_text(set));
        // Of all programs together.
        if options.filters.is_empty() {
            print!("{}", figures.targets_text(set));
        }
    }
    let write = |file: &Path, text: String| std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()));
    if let Some(file) = &options.markdown {
        write(file, figures.markdown())?;
    }
    if let Some(file) = &options.svg {
        write(file, chart::svg(&figures))?;
    }
    Ok(good)
}

fn main() -> ExitCode {
    match bench() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
