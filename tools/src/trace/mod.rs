//! `perilune-tools trace`: the trace explorer.

mod page;

use crate::failure::{Failure, Outcome, about};
use crate::script::Script;
use clap::Args;
use perilune::Lua;
use perilune::observe::explorer::Report;
use serde::Serialize;
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Command {
    /// Page to write. It needs nothing but a browser.
    #[arg(short, long, required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Write the data as JSON (docs/explorer.md) to this file, or - for standard output.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Option of the compiler, as for `perilune -O`; may be repeated.
    #[arg(short = 'O', long = "optimize", value_name = "OPTION")]
    optimize: Vec<String>,
    #[command(flatten)]
    script: Script,
}

/// How the script ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "how", rename_all = "lowercase")]
enum Ending {
    /// By itself.
    Done,
    /// By an error.
    Error {
        /// Its message.
        message: String,
    },
    /// By `os.exit`.
    Exit {
        /// The status.
        status: i32,
    },
}

/// The script that was run.
#[derive(Clone, Debug, Serialize)]
struct Program {
    script: String,
    arguments: Vec<String>,
    /// Options of the compiler.
    options: Vec<String>,
    end: Ending,
}

/// What is written as JSON.
#[derive(Debug, Serialize)]
struct Document {
    format: &'static str,
    program: Program,
    #[serde(flatten)]
    report: Report,
}

/// Where to write what, and of which program.
struct Job {
    output: Option<PathBuf>,
    json: Option<PathBuf>,
    program: Program,
}

/// Runs the command.
pub fn run(c: Command) -> Outcome {
    // Before a script runs in vain; a file that is there is only replaced by another one.
    c.script.check()?;
    for file in c.output.iter().chain(c.json.iter().filter(|f| f.as_os_str() != "-")) {
        OpenOptions::new().append(true).create(true).open(file).map_err(|e| about(file, e))?;
    }
    let lua = Lua::new();
    for option in c.optimize.iter().flat_map(|o| o.split(',')) {
        lua.jit_option(option).map_err(|e| Failure::Other(e.message().to_owned()))?;
    }
    lua.start_explorer();
    let program =
        Program { script: c.script.name(), arguments: c.script.arguments().to_vec(), options: c.optimize, end: Ending::Done };
    let job = Rc::new(Cell::new(Some(Job { output: c.output, json: c.json, program })));
    let at_exit = Rc::clone(&job);
    lua.at_exit(move |lua, status| {
        let written = at_exit.take().map_or(Ok(()), |job| job.write(lua, Ending::Exit { status }));
        if let Err(e) = written {
            eprintln!("perilune-tools: {e}");
            std::process::exit(1);
        }
    });
    let result = c.script.start(&lua)?;
    let end = match &result {
        Ok(()) => Ending::Done,
        Err(e) => Ending::Error { message: e.message().to_owned() },
    };
    job.take().map_or(Ok(()), |job| job.write(&lua, end))?;
    result.map_err(|e| Failure::Other(format!("{e}")))
}

impl Job {
    fn write(self, lua: &Lua, end: Ending) -> Outcome {
        let Some(report) = lua.stop_explorer() else { return Ok(()) };
        // What the script has printed comes first, and is not lost if this fails.
        lua.flush();
        let document = Document { format: "perilune-traces", program: Program { end, ..self.program }, report };
        if let Some(file) = &self.json {
            let json = |to: &mut dyn Write| {
                serde_json::to_writer(&mut *to, &document)?;
                to.write_all(b"\n")
            };
            if file.as_os_str() == "-" { json(&mut io::stdout().lock())? } else { to_file(file, json)? }
        }
        match &self.output {
            Some(file) => to_file(file, |to| page::write(document, to)),
            None => Ok(()),
        }
    }
}

fn to_file(file: &Path, f: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let written = File::create(file).and_then(|to| {
        let mut to = BufWriter::with_capacity(1 << 18, to);
        f(&mut to)?;
        to.flush()
    });
    written.map_err(|e| about(file, e))
}
