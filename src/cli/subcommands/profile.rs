//! `perilune profile`.

use super::script::{Once, Script};
use crate::cli::report::{Prefix, message};
use clap::{Args, ValueEnum};
use perilune::observe::profile::model::View;
use perilune::observe::profile::{self, Options};
use perilune::{Function, Lua, Table};
use perilune_tools::failure::{Failure, Outcome, about};
use perilune_tools::profile::Format;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Functions named in the summary.
const FUNCTIONS: usize = 5;

/// The options.
#[derive(Args)]
pub struct Profile {
    /// File to write, `-` for standard output [default: `profile` with the ending of the format].
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: Formats,
    /// Group by trace and exit.
    #[arg(long)]
    trace: bool,
    /// A frame for each line, not for each function.
    #[arg(long)]
    lines: bool,
    /// Processor time between two samples, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(50..=10_000_000))]
    interval: u64,
    /// Samples in a second of processor time.
    #[arg(long, conflicts_with = "interval", value_parser = clap::value_parser!(u64).range(1..=20_000))]
    hz: Option<u64>,
    /// Switch the compiler first.
    #[arg(short, value_name = "on|off")]
    jit: Option<Switch>,
    /// Set a parameter or an optimisation of the compiler first, as `perilune -O` does: -Ohotloop=10.
    #[arg(short = 'O', value_name = "OPTION")]
    optimize: Vec<String>,
    /// The script to run.
    script: PathBuf,
    /// Its arguments; those that look like options after `--`.
    arguments: Vec<String>,
}

#[derive(Args)]
#[group(multiple = false)]
struct Formats {
    /// Write folded stacks, for flame graphs, instead of an SVG.
    #[arg(long)]
    folded: bool,
    /// Write a profile for pprof, compressed.
    #[arg(long)]
    pprof: bool,
    /// Write a file for speedscope.
    #[arg(long)]
    speedscope: bool,
}

#[derive(Copy, Clone, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// What is to be written.
const fn format(f: &Formats) -> Format {
    match (f.folded, f.pprof, f.speedscope) {
        (true, ..) => Format::Folded,
        (_, true, _) => Format::Pprof,
        (.., true) => Format::Speedscope,
        _ => Format::Svg,
    }
}

/// Where the report goes, and how.
struct Report {
    to: PathBuf,
    file: Option<File>,
    format: Format,
    view: View,
    program: String,
}

/// Runs the command.
pub fn run(c: Profile) -> Outcome {
    let (script, format) = (Script::new(c.script.clone(), c.arguments), format(&c.format));
    script.check()?;
    let lua = super::script::new_state();
    prepare(&lua, c.jit, &c.optimize)?;
    let to = c.output.unwrap_or_else(|| format.file().into());
    let file = if to == Path::new("-") { None } else { Some(File::create(&to).map_err(|e| about(&to, e))?) };
    let view = View { traces: c.trace, lines: c.lines };
    let report = Report { to, file, format, view, program: c.script.display().to_string() };
    let interval = c.hz.map_or(Duration::from_micros(c.interval), |hz| Duration::from_nanos(1_000_000_000 / hz));
    let report = Once::new(report);
    let at_exit = report.clone();
    let options = Options::new().interval(interval).end_on_interrupt().on_end(move |profile| {
        if let Some(Err(e)) = at_exit.take().map(|r| r.write(&profile)) {
            message(Prefix::Program, e.to_string().as_bytes());
            std::process::exit(1);
        }
    });
    lua.start_profile(options).map_err(|e| Failure::Other(e.to_string()))?;
    let ran = script.start(&lua).and_then(|ran| ran.map_err(|e| Failure::Other(e.to_string())));
    let written = match (lua.stop_profile(), report.take()) {
        (Ok(profile), Some(report)) => report.write(&profile),
        _ => Ok(()),
    };
    match (ran, written) {
        (Err(e), Err(other)) => {
            message(Prefix::Program, other.to_string().as_bytes());
            Err(e)
        }
        (ran, written) => ran.and(written),
    }
}

/// Sets the compiler up.
fn prepare(lua: &Lua, switch: Option<Switch>, options: &[String]) -> Outcome {
    let failed = |e: perilune::Error| Failure::Other(e.message().to_string());
    let jit: Table = lua.globals().get("jit").map_err(failed)?;
    if let Some(switch) = switch {
        let f: Function = jit.get(if matches!(switch, Switch::On) { "on" } else { "off" }).map_err(failed)?;
        f.call::<()>(()).map_err(failed)?;
    }
    for option in options {
        let opt: Table = jit.get("opt").map_err(failed)?;
        let start: Function = opt.get("start").map_err(failed)?;
        start.call::<()>(option.as_str()).map_err(failed)?;
    }
    Ok(())
}

impl Report {
    fn write(mut self, p: &profile::Profile) -> Outcome {
        let done = match self.file.take() {
            Some(file) => self.format.write(p, self.view, &self.program, &mut BufWriter::new(file)),
            None => self.format.write(p, self.view, &self.program, &mut io::stdout().lock()),
        };
        done.map_err(|e| about(&self.to, e))?;
        self.summary(p);
        Ok(())
    }
    /// What was sampled, on standard error: what the VM did, and the functions that took most.
    fn summary(&self, p: &profile::Profile) {
        let total = p.total();
        let share = |(what, n): (&str, u64)| format!("{what} {:.1}%", n as f64 * 100.0 / total as f64);
        let doing: Vec<String> = p.by_doing().into_iter().filter(|d| d.1 != 0).map(|(d, n)| share((d.name(), n))).collect();
        eprintln!("{total} samples ({}), written to {}", doing.join(", "), self.to.display());
        let functions: Vec<String> = p.by_function().iter().take(FUNCTIONS).map(|(name, n)| share((name, *n))).collect();
        if !functions.is_empty() {
            eprintln!("most of them in {}", functions.join(", "));
        }
        if p.truncated != 0 {
            eprintln!("{} samples have deeper stacks than are told", p.truncated);
        }
    }
}
