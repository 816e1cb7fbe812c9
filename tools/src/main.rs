//! `perilune-tools`: reports of what the observers of Perilune see and have written.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use perilune_tools::{failure, heap, memprof, profile, trace};
use std::io::{self, Write};
use std::process::ExitCode;

#[global_allocator]
static MEMORY: perilune::Allocator = perilune::Allocator;

/// Looks at Lua programs: their memory, their time, and what the compiler makes of them.
#[derive(Parser)]
#[command(name = "perilune-tools", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Memory profiles: every allocation, change of size and free, by place.
    #[command(subcommand)]
    Memprof(memprof::Command),
    /// The graph of objects: dumps, snapshots, what has grown, what keeps an object alive.
    #[command(subcommand)]
    Heap(heap::Command),
    /// What the compiler made of a script: a page to look at, with the source, the graph of traces, and the code of each.
    Trace(trace::Command),
    /// Runs a script and shows where its time goes: a flame graph, or a file for other viewers.
    ///
    /// Samples are taken in the interpreter, in compiled traces, in builtins, in the garbage collector and in the compiler.
    Profile(profile::Profile),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = match arguments.command {
        Command::Memprof(c) => memprof::run(c, &mut out),
        Command::Heap(c) => heap::run(c, &mut out),
        Command::Trace(c) => trace::run(c),
        Command::Profile(c) => profile::run(c),
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has had enough.
        Err(failure::Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("perilune-tools: {e}");
            ExitCode::FAILURE
        }
    }
}
