//! Subcommands: what the observers see of a script, and reports of what they have written.

mod heap;
mod memprof;
mod open;
mod profile;
mod script;
mod trace;

use super::report::{Prefix, message};
use super::style;
use super::usage::FLAGS;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command as Clap, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use perilune_tools::failure::{Failure, Outcome};
use perilune_vm::stdlib::io::error_text;
use std::io::{self, Write};
use std::process::ExitCode;

/// LuaJIT's dialect of Lua on a tracing JIT compiler that shows what it does.
#[derive(Parser)]
#[command(name = "perilune", bin_name = "perilune", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a script, with all options of the command itself.
    #[command(disable_help_flag = true)]
    Run {
        /// Options, the script, its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Show what the compiler made of a script: a page with the source, the graph of traces, and the code of each.
    Trace(trace::Command),
    /// Run a script and show where its time goes: a flame graph, or a file for other viewers.
    ///
    /// Samples are taken in the interpreter, in compiled traces, in builtins, in the garbage collector and in the compiler.
    Profile(profile::Profile),
    /// Show the graph of objects: dumps, snapshots, what has grown, what keeps an object alive.
    #[command(subcommand)]
    Heap(heap::Command),
    /// Profile memory: every allocation, change of size and free, by place.
    #[command(subcommand)]
    Memprof(memprof::Command),
    /// Print a script that completes this command's options in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

/// The command with the options that [`super::options`] reads: for those who only describe it.
fn described() -> Clap {
    let options = FLAGS.iter().filter(|f| f.name != Some("help") && f.name != Some("version")).map(|f| {
        // No two options have the same purpose.
        let mut arg = Arg::new(f.help).help(f.help);
        arg = f.letter.into_iter().fold(arg, Arg::short);
        arg = f.name.into_iter().fold(arg, Arg::long);
        match f.value.trim_matches([' ', '[', ']']) {
            "" => arg.action(ArgAction::SetTrue),
            value => arg.action(ArgAction::Append).value_name(value),
        }
    });
    Arguments::command()
        .args(options)
        .arg(Arg::new("script").help("The script to run").value_hint(clap::ValueHint::FilePath))
        .arg(Arg::new("arguments").help("Its arguments").num_args(0..).trailing_var_arg(true))
        .subcommand_required(false)
        .arg_required_else_help(false)
        .args_conflicts_with_subcommands(true)
}

/// Is this the name of a subcommand?
pub fn is_one(name: &[u8]) -> bool {
    core::str::from_utf8(name).is_ok_and(|name| name == "help" || Command::has_subcommand(name))
}

/// The subcommands with what they are for.
pub fn list() -> Vec<(String, String)> {
    let about = |c: &Clap| c.get_about().map_or(String::new(), |a| format!("{a}."));
    Arguments::command().get_subcommands().map(|c| (c.get_name().to_owned(), about(c))).collect()
}

/// Runs the subcommand that the process was started with.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            let help = e.render();
            let text = if style::stdout_has_colours() { help.ansi().to_string() } else { help.to_string() };
            return end(io::stdout().write_all(text.as_bytes()).map_err(Failure::from));
        }
        Err(e) => {
            let text = e.to_string();
            let text = match e.kind() {
                // The text is the help of the subcommand.
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    let name = std::env::args_os().nth(1).unwrap_or_default();
                    format!("'{}' needs a command\n{text}", name.to_string_lossy())
                }
                _ => text.strip_prefix("error: ").unwrap_or(&text).to_owned(),
            };
            message(Prefix::Program, text.trim_end().as_bytes());
            return ExitCode::FAILURE;
        }
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = match arguments.command {
        // Read as options before.
        Command::Run { .. } => Ok(()),
        Command::Memprof(c) => memprof::run(c, &mut out),
        Command::Heap(c) => heap::run(c, &mut out),
        Command::Trace(c) => trace::run(c),
        Command::Profile(c) => profile::run(c),
        Command::Completions { shell } => {
            // It panics where it cannot write.
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut described(), "perilune", &mut text);
            out.write_all(&text).map_err(Failure::from)
        }
        Command::Man => clap_mangen::Man::new(described()).render(&mut out).map_err(Failure::from),
    };
    end(done.and_then(|()| Ok(out.flush()?)))
}

/// The status to end with; a failure is reported.
fn end(done: Outcome) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it.
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(e) => {
            let text = match e {
                Failure::Output(e) => format!("cannot write: {}", error_text(&e)),
                e => e.to_string(),
            };
            message(Prefix::Program, text.as_bytes());
            ExitCode::FAILURE
        }
    }
}
