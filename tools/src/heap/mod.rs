//! `perilune-tools heap`.

mod diff;
mod dump;
mod graph;
mod snapshot;
mod summary;
mod why;

use crate::failure::{Outcome, about};
use crate::progress::Progress;
use crate::script::Script;
use clap::{Args, Subcommand};
use graph::Graph;
use perilune::Lua;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
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
        Command::Dump(c) => write(c, |lua, to| lua.dump_heap(to)),
        Command::Snapshot(c) => write(c, |lua, to| lua.snapshot_heap(to)),
        Command::Diff(c) => Ok(diff::write(&read(&c.before)?, &read(&c.after)?, c.limit, out)?),
        Command::Why(c) => {
            let graph = read(&c.file)?;
            why::write(&graph, &c.object, c.limit, out)?.ok_or_else(|| about(&c.file, format!("no object {}", c.object)))
        }
    }
}

fn write(c: Output, f: fn(&Lua, &mut dyn Write) -> io::Result<()>) -> Outcome {
    let output = c.output;
    c.script.run(&Lua::new(), move |lua| {
        let file = File::create(&output).map_err(|e| about(&output, e))?;
        f(lua, &mut BufWriter::with_capacity(1 << 18, file)).map_err(|e| about(&output, e))
    })
}

/// What is wrong with a text.
struct Wrong {
    message: String,
    /// Is it that the text ends too early?
    ended: bool,
}

impl Wrong {
    fn new(message: String) -> Wrong {
        Wrong { message, ended: false }
    }
    /// No such JSON is expected, or it is none.
    fn json(text: &[u8], e: &serde_json::Error) -> Wrong {
        let lines = text.split_inclusive(|b| *b == b'\n').take(e.line().saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
        let offset = (lines + e.column().saturating_sub(1)).min(text.len());
        let what = e.to_string();
        let what = what.rsplit_once(" at line ").map_or(&*what, |w| w.0);
        Wrong { message: format!("{what} at offset {offset}"), ended: e.is_eof() }
    }
}

/// What comes first tells which of both it is; where it is neither, the error of the first says so.
fn parse(text: &[u8]) -> Result<Graph, Wrong> {
    if snapshot::looks_like(text) { snapshot::read(text) } else { dump::read(text) }
}

/// So many bytes of a file are looked at before the rest is read, which may be anything, and may have no end.
const LOOK: usize = 1 << 20;

/// Reads a file of either kind.
fn read(file: &Path) -> Outcome<Graph> {
    let from = File::open(file).map_err(|e| about(file, e))?;
    let size = from.metadata().map_or(0, |m| m.len());
    let mut from = Progress::new(from, size);
    let mut text = Vec::new();
    let mut look = LOOK;
    loop {
        let wanted = look - text.len();
        let n = from.by_ref().take(wanted as u64).read_to_end(&mut text);
        let n = n.map_err(|e| about(file, format!("{e} at offset {}", text.len())))?;
        let all = n < wanted;
        match parse(&text) {
            Ok(graph) if all => return Ok(graph),
            Err(wrong) if all || !wrong.ended => return Err(about(file, wrong.message)),
            _ => look = look.saturating_mul(16),
        }
    }
}
