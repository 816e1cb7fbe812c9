//! `perilune-tools heap`.

pub mod diff;
mod dump;
pub mod graph;
mod snapshot;
mod source;
pub mod summary;
pub mod text;
pub mod why;

use crate::failure::{Outcome, about};
use crate::progress::Progress;
use crate::script::Script;
use clap::{Args, Subcommand};
use graph::Graph;
use perilune::Lua;
use source::Source;
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
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Summary {
    /// A dump or snapshot.
    file: PathBuf,
    /// Names to list.
    #[arg(long, default_value_t = 20)]
    limit: usize,
}

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Output {
    /// File to write.
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    script: Script,
}

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
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
#[allow(missing_docs, reason = "a comment would be shown as help")]
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

/// What is wrong with a file.
pub struct Wrong {
    message: String,
    spot: Spot,
}

/// Where something is wrong.
enum Spot {
    /// The message says so, or it is nowhere.
    Said,
    /// At an item of a list of numbers, in a field of the file; 0 is the field itself.
    Item(&'static str, usize),
    /// Where an object is mentioned for the last time.
    Mention(String),
}

impl Wrong {
    fn new(message: String) -> Wrong {
        Wrong { message, spot: Spot::Said }
    }
    /// The message with the offset. What is only found to be wrong later is looked for again, in a file that can be read twice.
    fn say(self, file: &Path, twice: bool) -> String {
        let again = || File::open(file).ok().filter(|_| twice);
        let offset = match &self.spot {
            Spot::Said => None,
            Spot::Item(field, item) => again().and_then(|text| source::offset_of(text, field, *item)),
            Spot::Mention(address) => again().and_then(|text| source::last_mention(text, address)),
        };
        offset.map_or(self.message.clone(), |at| format!("{} at offset {at}", self.message))
    }
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.message)
    }
}

fn read(file: &Path) -> Outcome<Graph> {
    let from = File::open(file).map_err(|e| about(file, e))?;
    let about_it = from.metadata();
    let (size, regular) = about_it.map_or((0, false), |m| (m.len(), m.is_file()));
    parse(Progress::new(from, size), size).map_err(|wrong| about(file, wrong.say(file, regular)))
}

/// Reads a dump or a snapshot of about `size` bytes, as a stream. What comes first tells which of both it is; where it is neither,
/// the error says so.
pub fn parse(from: impl Read, size: u64) -> Result<Graph, Wrong> {
    let mut source = Source::new(from);
    let start = source.look().map_err(|e| Wrong::new(format!("{e} at offset 0")))?;
    if snapshot::looks_like(start) { snapshot::read(&mut source, size) } else { dump::read(&mut source) }
}
