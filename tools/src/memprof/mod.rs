//! `perilune-tools memprof`.

mod flame;
pub mod profile;
pub mod report;

use crate::failure::{Failure, Outcome, about};
use crate::progress::Progress;
use crate::script::Script;
use clap::{Args, Subcommand};
use perilune::Lua;
use perilune::observe::memprof::Options;
use perilune::observe::stream::input::Malformed;
use perilune::observe::stream::read::Stream;
use profile::Profile;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

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
    let lua = Lua::new();
    let file = File::create(&c.output).map_err(|e| about(&c.output, e))?;
    lua.start_memprof(Options::new(file).lines(c.lines)).map_err(|e| about(&c.output, e))?;
    let output = c.output;
    c.script.run(&lua, move |lua| lua.stop_memprof().map_err(|e| about(&output, e)))
}

fn read(file: &Path) -> Outcome<Profile> {
    let input = File::open(file).map_err(|e| about(file, e))?;
    let size = input.metadata().map_or(0, |m| m.len());
    parse(Progress::new(input, size)).map_err(|e| about(file, e))
}

/// Adds up the events of a memory profile.
pub fn parse(from: impl Read) -> Result<Profile, Malformed> {
    let mut stream = Stream::open(from)?;
    let mut profile = Profile::default();
    while let Some(event) = stream.next()? {
        profile.add(event);
    }
    Ok(profile)
}

fn report(c: &Report, out: &mut dyn Write) -> Outcome {
    let profile = read(&c.file)?;
    if let Some(svg) = &c.flamegraph {
        let drawing = flame::draw(&profile, c.leak_only).map_err(|e| about(svg, e))?;
        std::fs::write(svg, drawing).map_err(|e| about(svg, e))?;
    }
    if c.json {
        report::json(&profile, c.leak_only, out)
    } else {
        report::text(&profile, c.leak_only, c.human_readable, out).map_err(Failure::from)
    }
}
