//! Runs the Lua programs of `benches/programs` side by side: our command with and without its compiler, and
//! whichever other Lua implementations are installed.
//!
//! Runs are interleaved (A B C A B C ...), so that a slow spell of the machine touches everyone alike. What is
//! compared is the median of user plus system time of the child process, and its peak memory. Everyone's output
//! must be the same; a difference is reported and makes the run fail.
//!
//! `cargo bench -- [FILTER...] [--runs N] [--small] [--only-ours] [--peers LABEL,...] [--timeout SECS]
//! [--json FILE] [--ours PATH] [--compiler]`: a filter is part of a program's name; a label is a column of the table.
//! `--compiler` prints another table: what compiling costs each program.
//! Peak memory below that of this runner itself (about 3 MB) cannot be told apart from it.

#[path = "runner/child.rs"]
mod child;
#[path = "runner/compiler.rs"]
mod compiler;
#[path = "runner/table.rs"]
mod table;

use child::Outcome;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// What the command line asks for.
struct Options {
    runs: usize,
    small: bool,
    only_ours: bool,
    peers: Option<Vec<String>>,
    timeout: Duration,
    json: Option<PathBuf>,
    ours: PathBuf,
    compiler: bool,
    filters: Vec<String>,
}

impl Options {
    /// Reads the arguments; those not known (cargo passes `--bench`) are ignored.
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Options {
            runs: 3,
            small: false,
            only_ours: false,
            peers: None,
            timeout: Duration::from_secs(120),
            json: None,
            ours: PathBuf::from(env!("CARGO_BIN_EXE_perilune")),
            compiler: false,
            filters: Vec::new(),
        };
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--runs" => options.runs = number(&value()?)?.max(1),
                "--small" => options.small = true,
                "--only-ours" => options.only_ours = true,
                "--peers" => options.peers = Some(value()?.split(',').map(str::to_owned).collect()),
                "--timeout" => options.timeout = Duration::from_secs(number(&value()?)? as u64),
                "--json" => options.json = Some(value()?.into()),
                "--compiler" => options.compiler = true,
                "--ours" => options.ours = value()?.into(),
                flag if flag.starts_with('-') => {}
                _ => options.filters.push(arg),
            }
        }
        Ok(options)
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// One column of the table: a command that runs Lua programs.
struct Config {
    label: &'static str,
    command: PathBuf,
    args: &'static [&'static str],
    /// Whether it runs the whole dialect, so also programs marked `-- needs: bit`.
    whole: bool,
}

impl Config {
    fn run(&self, args: &[&str], timeout: Duration) -> Outcome {
        child::run(Command::new(&self.command).args(self.args).args(args).stdin(Stdio::null()), timeout)
    }
}

/// Our two modes first, then the peers that are installed and asked for.
fn configs(options: &Options) -> Vec<Config> {
    const PEERS: [(&str, &str, &[&str], bool); 4] = [
        ("luajit", "luajit", &[], true),
        ("luajit-joff", "luajit", &["-joff"], true),
        ("lua5.1", "lua5.1", &[], false),
        ("lua5.4", "lua5.4", &[], false),
    ];
    let ours = |label, args| Config { label, command: options.ours.clone(), args, whole: true };
    let mut list = vec![ours("jit", &[]), ours("joff", &["-joff"])];
    for (label, name, args, whole) in PEERS {
        let wanted = options.peers.as_ref().is_none_or(|asked| asked.iter().any(|peer| peer == label));
        if let Some(command) = in_path(name).filter(|_| wanted && !options.only_ours) {
            list.push(Config { label, command, args, whole });
        }
    }
    list
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A Lua program with what its header says.
struct Program {
    name: String,
    file: PathBuf,
    small: String,
    needs_bit: bool,
}

fn programs(folder: &Path, options: &Options) -> Result<Vec<Program>, String> {
    let mut list = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let file = entry.map_err(|e| e.to_string())?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = options.filters.is_empty() || options.filters.iter().any(|f| name.contains(f.as_str()));
        if !wanted || file.extension().is_none_or(|e| e != "lua") {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let small = text.lines().find_map(|line| line.strip_prefix("-- small: "));
        let small = small.ok_or(format!("{}: no line '-- small: N'", file.display()))?.trim().to_owned();
        list.push(Program { name, file, small, needs_bit: text.starts_with("-- needs: bit") });
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(list)
}

/// The runs of one program by one configuration.
#[derive(Default)]
struct Cell {
    seconds: Vec<f64>,
    rss_kb: i64,
    trouble: Option<Trouble>,
}

/// Why there are no (more) figures of a program.
enum Trouble {
    /// Wrong: it crashed, or its output is not the same as everyone's.
    Failed(String),
    TimedOut,
}

impl Trouble {
    fn word(&self) -> &'static str {
        match self {
            Trouble::Failed(_) => "FAIL",
            Trouble::TimedOut => "timeout",
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Trouble::Failed(why) => write!(f, "{}: {why}", self.word()),
            Trouble::TimedOut => f.write_str(self.word()),
        }
    }
}

impl Cell {
    fn median(&self) -> Option<f64> {
        if self.trouble.is_some() || self.seconds.is_empty() {
            return None;
        }
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        Some((sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0)
    }
}

/// Runs one program everywhere; returns one cell for each configuration.
fn measure(program: &Program, configs: &[Config], options: &Options) -> Vec<Cell> {
    let mut cells: Vec<Cell> = configs.iter().map(|_| Cell::default()).collect();
    let mut outputs: Vec<Option<Vec<u8>>> = vec![None; configs.len()];
    let file = program.file.to_string_lossy();
    let args = if options.small { vec![&*file, &*program.small] } else { vec![&*file] };
    for _ in 0..options.runs {
        for ((config, cell), kept) in configs.iter().zip(&mut cells).zip(&mut outputs) {
            if cell.trouble.is_some() || program.needs_bit && !config.whole {
                continue;
            }
            match config.run(&args, options.timeout) {
                Outcome::Done { usage, output } => {
                    cell.seconds.push(child::seconds(usage.ru_utime) + child::seconds(usage.ru_stime));
                    cell.rss_kb = cell.rss_kb.max(usage.ru_maxrss);
                    if kept.get_or_insert_with(|| output.clone()) != &output {
                        cell.trouble = Some(Trouble::Failed("the output changes from run to run".into()));
                    }
                }
                Outcome::Failed(why) => cell.trouble = Some(Trouble::Failed(why)),
                Outcome::TimedOut => cell.trouble = Some(Trouble::TimedOut),
            }
        }
    }
    compare(program, options.small, &outputs, &mut cells);
    cells
}

/// Marks the cells whose output differs from the stored one (small size), or else from that of the last peer.
fn compare(program: &Program, small: bool, outputs: &[Option<Vec<u8>>], cells: &mut [Cell]) {
    let stored = program.file.with_file_name(format!("../expected/{}.txt", program.name));
    let stored = if small { std::fs::read(stored).ok() } else { None };
    let Some(reference) = stored.as_ref().or(outputs.iter().flatten().next_back()) else {
        return;
    };
    for (cell, output) in cells.iter_mut().zip(outputs) {
        if output.as_ref().is_some_and(|output| output != reference) {
            cell.trouble.get_or_insert(Trouble::Failed("the output differs".into()));
        }
    }
}

/// Median time of an empty script, in milliseconds.
fn startup(config: &Config, options: &Options) -> Option<f64> {
    let mut cell = Cell::default();
    for _ in 0..options.runs.max(15) {
        let Outcome::Done { usage, .. } = config.run(&["-e", ""], options.timeout) else {
            return None;
        };
        cell.seconds.push(child::seconds(usage.ru_utime) + child::seconds(usage.ru_stime));
    }
    cell.median().map(|seconds| seconds * 1000.0)
}

fn bench() -> Result<bool, String> {
    let options = Options::parse(std::env::args().skip(1))?;
    let configs = configs(&options);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs");
    if options.compiler {
        compiler::table(&programs(&folder, &options)?, &options)?;
        return Ok(true);
    }
    println!("median of {} runs, user + system seconds\n{}", options.runs, table::heading(&configs));
    let mut rows = Vec::new();
    for program in programs(&folder, &options)? {
        let cells = measure(&program, &configs, &options);
        println!("{}", table::row(&program.name, &configs, &cells));
        rows.push((program.name, cells));
    }
    println!("{}", table::means(&configs, &rows));

    let startups: Vec<Option<f64>> = configs.iter().map(|config| startup(config, &options)).collect();
    let mut line = format!("{:<15}", "start-up, ms");
    for ms in &startups {
        line += &table::ratio_text(*ms);
    }
    println!("{line}");

    let mut good = true;
    for (name, cells) in &rows {
        for (config, cell) in configs.iter().zip(cells) {
            if let Some(why) = &cell.trouble {
                println!("{name}, {}: {why}", config.label);
                good &= !matches!(why, Trouble::Failed(_));
            }
        }
    }
    if let Some(file) = &options.json {
        std::fs::write(file, table::json(&configs, &rows, &startups)).map_err(|e| format!("{}: {e}", file.display()))?;
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
