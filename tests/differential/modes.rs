//! Ways of running a program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::command::{PERILUNE, run_within};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Interpreted,
    Compiled,
    CompiledAtOnce,
    /// The collector goes round as often as it can.
    Collecting,
    /// Traces are run by the evaluator.
    Evaluated,
    /// Each guard leaves every so many times although what it asserts holds.
    Leaving(u64),
    /// Another implementation.
    LuaJit,
}

/// The modes there are here.
pub struct Modes {
    /// The command of LuaJIT, if it is there.
    luajit: Option<String>,
}

impl Modes {
    pub fn find() -> Modes {
        let name = std::env::var("DIFFERENTIAL_LUAJIT").unwrap_or("luajit".into());
        let found = Command::new(&name).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let luajit = found.is_ok_and(|status| status.success()).then_some(name);
        if luajit.is_none() {
            eprintln!("no luajit is installed: programs are not compared with it");
        }
        Modes { luajit }
    }

    /// The modes in which the program of a seed runs, beside the interpreter.
    pub fn of(&self, seed: u64) -> impl Iterator<Item = Mode> {
        let mut modes = vec![Mode::Compiled, Mode::CompiledAtOnce];
        match seed % 8 {
            0 => modes.push(Mode::Collecting),
            1 => modes.push(Mode::Evaluated),
            2 | 3 => modes.push(Mode::Leaving(1 + seed / 8 % 41)),
            _ => {}
        }
        if self.luajit.is_some() {
            modes.push(Mode::LuaJit);
        }
        modes.into_iter()
    }

    /// What the program prints, and how it ends; `None` if it is still running after `most`.
    pub fn run(&self, mode: Mode, file: &Path, most: Duration) -> Option<String> {
        const COLLECT: &str = "collectgarbage('setpause', 0) collectgarbage('setstepmul', 100000)";
        let every;
        let (program, options): (_, &[&str]) = match mode {
            Mode::Interpreted => (PERILUNE, &["-joff"]),
            Mode::Compiled => (PERILUNE, &["-Ohotloop=56", "-Ohotexit=10", "-Obudget=0"]),
            Mode::CompiledAtOnce => (PERILUNE, &["-Ohotloop=1", "-Ohotexit=1"]),
            Mode::Collecting => (PERILUNE, &["-Ohotloop=2", "-Ohotexit=1", "-e", COLLECT]),
            Mode::Evaluated => (PERILUNE, &["-Ohotloop=2", "-Ohotexit=1", "-Oeval=1"]),
            Mode::Leaving(times) => {
                every = format!("-Oexitevery={times}");
                (PERILUNE, &["-Ohotloop=1", "-Ohotexit=1", "-Oexitof=1", "-Oexitat=0", &every])
            }
            Mode::LuaJit => (self.luajit.as_deref()?, &["-joff"]),
        };
        let mut command = Command::new(program);
        command.args(options).arg(file.file_name()?).current_dir(file.parent()?);
        output(command, most)
    }
}

fn output(command: Command, most: Duration) -> Option<String> {
    let done = run_within(command, "", most);
    if done.timed_out {
        return None;
    }
    // The first line of an error begins with the name of the program.
    let errors = done.errors.lines().next().and_then(|l| l.split_once(": ")).map_or("", |(_, message)| message);
    Some(format!("{}{errors}\nexit status: {:?}\n", done.output, done.status))
}
