//! `perilune-tools heap`.

mod diff;
mod dump;
mod graph;
mod snapshot;
mod summary;
mod why;

use crate::failure::{Outcome, about};
use crate::script::Script;
use clap::{Args, Subcommand};
use graph::Graph;
use perilune::Lua;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The commands. Files are dumps (JSON, as `misc.heapdump` writes it) or snapshots (`misc.heapsnapshot`, Chrome).
#[derive(Subcommand)]
pub enum Command {
    /// Counts the objects in a file by type, and by name.
    Summary(Summary),
    /// Runs a script and writes a dump of what it leaves in memory.
    Dump(Output),
    /// Runs a script and writes a snapshot, for Chrome's developer tools, of what it leaves in memory.
    Snapshot(Output),
    /// Says what has grown between two files.
    Diff(Diff),
    /// Says what keeps an object alive: the shortest path from a root.
    Why(Why),
}

#[derive(Args)]
pub struct Summary {
    /// A dump or snapshot.
    file: PathBuf,
    /// Names to list.
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

#[derive(Args)]
pub struct Output {
    /// File to write.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    script: Script,
}

#[derive(Args)]
pub struct Diff {
    /// The file to compare with.
    before: PathBuf,
    /// The file of later.
    after: PathBuf,
    /// Names to list.
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

#[derive(Args)]
pub struct Why {
    /// A dump or snapshot.
    file: PathBuf,
    /// The object: its address (0x...), its id (@...), or its name. Of many with one name some are shown.
    object: String,
    /// Objects to show.
    #[arg(long, default_value_t = 3)]
    limit: usize,
}

/// Runs a command.
pub fn run(command: Command, out: &mut dyn Write) -> Outcome {
    match command {
        Command::Summary(c) => Ok(summary::write(&read(&c.file)?, c.limit, out)?),
        Command::Dump(c) => write(&c, |lua, to| lua.dump_heap(to)),
        Command::Snapshot(c) => write(&c, |lua, to| lua.snapshot_heap(to)),
        Command::Diff(c) => Ok(diff::write(&read(&c.before)?, &read(&c.after)?, c.limit, out)?),
        Command::Why(c) => {
            let graph = read(&c.file)?;
            why::write(&graph, &c.object, c.limit, out)?.ok_or_else(|| about(&c.file, format!("no object {}", c.object)))
        }
    }
}

fn write(c: &Output, f: fn(&Lua, &mut dyn Write) -> io::Result<()>) -> Outcome {
    let lua = Lua::new();
    c.script.run(&lua, |lua| {
        let file = File::create(&c.output).map_err(|e| about(&c.output, e))?;
        f(lua, &mut BufWriter::with_capacity(1 << 18, file)).map_err(|e| about(&c.output, e))
    })
}

/// Reads a file of either kind.
fn read(file: &Path) -> Outcome<Graph> {
    let text = std::fs::read(file).map_err(|e| about(file, e))?;
    // What comes first tells which it is; where it is neither, the error of the first says so.
    let graph = if snapshot::looks_like(&text) { snapshot::read(&text) } else { dump::read(&text) };
    graph.map_err(|e| about(file, e))
}

/// What is wrong with a text of JSON, with the offset.
fn wrong(text: &[u8], e: &serde_json::Error) -> String {
    let lines = text.split_inclusive(|b| *b == b'\n').take(e.line().saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    let offset = (lines + e.column().saturating_sub(1)).min(text.len());
    let what = e.to_string();
    let what = what.rsplit_once(" at line ").map_or(&*what, |w| w.0);
    format!("{what} at offset {offset}")
}
