//! `perilune trace`: the trace explorer.

use super::script::{Once, Script, failed};
use crate::cli::report::{Prefix, message};
use clap::Args;
use perilune::Lua;
use perilune::observe::profile::{Options, Profile};
use perilune_tools::failure::{Failure, Outcome, about};
use perilune_tools::trace::{Before, Document, Ending, Program};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[allow(missing_docs, reason = "a comment would be shown as help")]
pub struct Command {
    /// Page to write. It needs nothing but a browser.
    #[arg(short, long, required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Write the data as JSON (docs/explorer.md) to this file, or - for standard output.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Compare with an earlier run, whose data --json has written to this file.
    #[arg(long, value_name = "FILE")]
    before: Option<PathBuf>,
    /// Show the page in a browser.
    #[arg(long, requires = "output")]
    open: bool,
    /// Take no samples of where the time goes.
    #[arg(long)]
    no_samples: bool,
    /// Count what each line allocates. Code that allocates takes longer: compare times of runs without this.
    #[arg(long)]
    allocations: bool,
    /// Option of the compiler, as for `perilune -O`; may be repeated.
    #[arg(short = 'O', long = "optimize", value_name = "OPTION")]
    optimize: Vec<String>,
    #[command(flatten)]
    script: Script,
}

/// Where to write what, and of which program.
struct Job {
    output: Option<PathBuf>,
    json: Option<PathBuf>,
    program: Program,
    /// An earlier run.
    before: Option<Before>,
    /// Is the page to be shown?
    open: bool,
    /// The profile, if it was ended by something else.
    profile: Once<Profile>,
}

/// Runs the command.
pub fn run(c: Command) -> Outcome {
    // Before a script runs in vain; a file that is there is only replaced by another one.
    c.script.check()?;
    for file in c.output.iter().chain(c.json.iter().filter(|f| f.as_os_str() != "-")) {
        OpenOptions::new().append(true).create(true).open(file).map_err(|e| about(file, e))?;
    }
    let read = |file: &PathBuf| {
        let data = std::fs::read(file).map_err(|e| about(file, e))?;
        Before::read(&data).map_err(|e| about(file, e))
    };
    let before = c.before.as_ref().map(read).transpose()?;
    let lua = super::script::new_state();
    for option in c.optimize.iter().flat_map(|o| o.split(',')) {
        lua.jit_option(option).map_err(|e| Failure::Other(e.message()))?;
    }
    let profile = Once::default();
    if !c.no_samples {
        let ended = profile.clone();
        let options = Options::new().on_end(move |p| ended.put(p));
        // Without a timer the page lacks the times, and says so.
        let _ = lua.start_profile(options);
    }
    lua.start_explorer();
    if c.allocations {
        // Nobody else watches the heap yet.
        lua.count_allocations();
    }
    let program =
        Program { script: c.script.name(), arguments: c.script.arguments().to_vec(), options: c.optimize, end: Ending::Done };
    let job = Once::new(Job { output: c.output, json: c.json, program, before, open: c.open, profile });
    let at_exit = job.clone();
    lua.at_exit(move |lua, status| {
        let written = at_exit.take().map_or(Ok(()), |job| job.write(lua, Ending::Exit { status }));
        if let Err(e) = written {
            message(Prefix::Program, e.to_string().as_bytes());
            std::process::exit(1);
        }
    });
    let result = c.script.start_interruptible(&lua)?;
    let end = match &result {
        Ok(()) => Ending::Done,
        Err(e) => Ending::Error { message: e.message() },
    };
    job.take().map_or(Ok(()), |job| job.write(&lua, end))?;
    result.map_err(|e| failed(&e))
}

impl Job {
    fn write(mut self, lua: &Lua, end: Ending) -> Outcome {
        let Some(mut report) = lua.stop_explorer() else { return Ok(()) };
        if let Some(profile) = lua.stop_profile().ok().or_else(|| self.profile.take()) {
            report.add_profile(&profile);
        }
        // What the script has printed comes first, and is not lost if this fails.
        lua.flush();
        let mut document = Document::new(Program { end, ..self.program }, report);
        if let Some(before) = self.before.take() {
            document.compare_with(before)?;
        }
        if let Some(file) = &self.json {
            let json = |to: &mut dyn Write| document.write_json(to);
            if file.as_os_str() == "-" { json(&mut io::stdout().lock())? } else { to_file(file, json)? }
        }
        match &self.output {
            Some(file) => {
                to_file(file, |to| document.write_page(to))?;
                if self.open { super::open::show(file) } else { Ok(()) }
            }
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
