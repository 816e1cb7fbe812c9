//! `perilune memprof`.

use super::script::Script;
use clap::{Args, Subcommand};
use perilune::observe::memprof::Options;
use perilune_tools::failure::{Failure, Outcome, about};
use perilune_tools::memprof::{draw, read, report as reports};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Runs a script under the memory profiler.
    Record(Record),
    /// Says what a profile has: allocations, changes of size and frees by place, and what was not freed.
    Report(Report),
}

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Record {
    /// File to write.
    #[arg(short, long, default_value = "memprof.bin")]
    output: PathBuf,
    /// Report compiled code by function and line, not by number of the trace.
    #[arg(long)]
    lines: bool,
    #[command(flatten)]
    script: Script,
}

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Report {
    /// The profile: what `misc.memprof` or Tarantool has written.
    file: PathBuf,
    /// Only what was allocated and not freed.
    #[arg(long)]
    leak_only: bool,
    /// Sizes in KiB, MiB and GiB.
    #[arg(long)]
    human_readable: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Also draws what was allocated (with --leak-only what was not freed) by file and line.
    #[arg(long, value_name = "SVG")]
    flamegraph: Option<PathBuf>,
}

/// Runs a command.
pub fn run(command: Command, out: &mut dyn Write) -> Outcome {
    match command {
        Command::Record(c) => record(c),
        Command::Report(c) => report(&c, out),
    }
}

fn record(c: Record) -> Outcome {
    let lua = super::script::new_state();
    let file = File::create(&c.output).map_err(|e| about(&c.output, e))?;
    lua.start_memprof(Options::new(file).lines(c.lines)).map_err(|e| about(&c.output, e))?;
    let output = c.output;
    c.script.run(&lua, move |lua| lua.stop_memprof().map_err(|e| about(&output, e)))
}

fn report(c: &Report, out: &mut dyn Write) -> Outcome {
    let profile = read(&c.file)?;
    if let Some(svg) = &c.flamegraph {
        let drawing = draw(&profile, c.leak_only).map_err(|e| about(svg, e))?;
        std::fs::write(svg, drawing).map_err(|e| about(svg, e))?;
    }
    if c.json {
        reports::json(&profile, c.leak_only, out)
    } else {
        reports::text(&profile, c.leak_only, c.human_readable, out).map_err(Failure::from)
    }
}
