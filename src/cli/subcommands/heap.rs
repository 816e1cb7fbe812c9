//! `perilune heap`.

use super::script::Script;
use clap::{Args, Subcommand};
use perilune::Lua;
use perilune_tools::failure::{Outcome, about};
use perilune_tools::heap::{diff, read, summary, why};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

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
    c.script.run(&super::script::new_state(), move |lua| {
        let file = File::create(&output).map_err(|e| about(&output, e))?;
        f(lua, &mut BufWriter::with_capacity(1 << 18, file)).map_err(|e| about(&output, e))
    })
}
