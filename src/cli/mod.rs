//! The command line: LuaJIT's options and a script, or a subcommand ([`subcommands`]).
#![allow(unsafe_code, reason = "the command keeps to what the VM documents, which it has to itself")]

mod control;
mod diagnose;
mod interrupt;
mod options;
mod repl;
mod report;
mod run;
mod style;
mod subcommands;
mod usage;

use options::{Options, Shown, Step};
use perilune_vm::Vm;
use perilune_vm::stdlib::io::{error_text, flush_all, lost_output, write_stderr, write_stdout};
use perilune_vm::value::Value;
use report::{Prefix, message};
use std::io::IsTerminal;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

/// Something failed, and has been reported.
pub struct Failed;
/// Result of a step.
pub type Outcome = Result<(), Failed>;

/// Runs the command; all that it starts from is the process.
pub fn main() -> ExitCode {
    let argv: Vec<Vec<u8>> = std::env::args_os().map(OsStringExt::into_vec).collect();
    report::set_program(&argv);
    // Its name is the first argument: `./trace` and `-- trace` are scripts.
    let first = match argv.get(1).map(|name| &**name) {
        Some(b"run") => 2,
        Some(b"help") if argv.len() == 2 => {
            write_stdout(&usage::help(&subcommands::list()));
            flush_all();
            return ExitCode::SUCCESS;
        }
        Some(name) if subcommands::is_one(name) => return subcommands::main(),
        _ => 1,
    };
    let outcome = match Options::parse(&argv, first) {
        Ok(options) if options.shown == Some(Shown::Help) => {
            write_stdout(&usage::help(&subcommands::list()));
            Ok(())
        }
        Ok(options) if options.shown == Some(Shown::Version) => {
            print_version();
            Ok(())
        }
        Ok(options) => {
            interrupt::die_of_broken_pipes();
            // SAFETY: the command keeps to what the VM documents.
            let mut vm = unsafe { perilune::new_vm(options.no_env) };
            // SAFETY: who runs the command answers for the modules that a program loads.
            unsafe { perilune_capi::allow_modules(&mut vm) };
            vm.set_memory_limit(options.memory_limit);
            vm.set_interruptible(true);
            if options.time_limit.is_some() && !vm.set_time_limit(options.time_limit) {
                message(Prefix::Program, b"the system has no timer left for '--time-limit'");
                return ExitCode::FAILURE;
            }
            vm.set_fuel(options.fuel);
            let outcome = run_all(&mut vm, &argv, &options);
            vm.close();
            outcome
        }
        Err(wrong) => {
            message(Prefix::Program, wrong.as_bytes());
            let more = [b"Try '", report::program(), b" --help' for more.\n"].concat();
            write_stderr(&[usage::synopsis(), more].concat());
            Err(Failed)
        }
    };
    flush_all();
    match (outcome, lost_output()) {
        (Ok(()), None) => ExitCode::SUCCESS,
        (Ok(()), Some(e)) => {
            message(Prefix::Program, format!("cannot write: {}", error_text(&e)).as_bytes());
            ExitCode::FAILURE
        }
        (Err(Failed), _) => ExitCode::FAILURE,
    }
}

fn run_all(vm: &mut Vm, argv: &[Vec<u8>], options: &Options) -> Outcome {
    set_arg_table(vm, argv, options.script);
    if !options.no_env {
        run_init(vm)?;
    }
    if options.version {
        print_version();
    }
    for step in &options.steps {
        match step {
            Step::Execute(chunk) => run::source(vm, chunk, b"=(command line)")?,
            Step::Require(name) => run::require(vm, name)?,
            Step::Control(command) => control::command(vm, command)?,
            Step::Optimize(flags) => control::optimize(vm, flags)?,
            Step::OptimizeHelp => write_stdout(usage::optimisations().as_bytes()),
            Step::ControlHelp => write_stdout(usage::control_commands().as_bytes()),
            Step::Bytecode(arguments) => return control::bytecode(vm, arguments),
        }
    }
    let script = argv.get(options.script);
    if let Some(name) = script {
        let after_end = argv[options.script - 1] == b"--";
        run::script(vm, (name != b"-" || after_end).then_some(name))?;
    }
    if options.interactive {
        repl::run(vm, options.no_env);
    } else if script.is_none() && !options.executes && !options.version {
        if std::io::stdin().is_terminal() {
            print_version();
            repl::run(vm, options.no_env);
        } else {
            run::file(vm, None)?;
        }
    }
    Ok(())
}

/// The table `arg`: the script at 0, what comes before it at negative indices.
fn set_arg_table(vm: &mut Vm, argv: &[Vec<u8>], script: usize) {
    let t = vm.new_table(argv.len().saturating_sub(script) as u32 + 1, 2);
    for (i, a) in argv.iter().enumerate() {
        let s = vm.new_str(a);
        vm.table_set_int(t, i as i32 - script as i32, Value::str(s));
    }
    let globals = vm.realm.globals;
    vm.set_field(globals, b"arg", Value::table(t));
}

/// Runs what the variable `LUA_INIT` says: Lua code, or `@` and the name of a file.
fn run_init(vm: &mut Vm) -> Outcome {
    let Some(init) = std::env::var_os("LUA_INIT") else { return Ok(()) };
    match init.as_bytes().strip_prefix(b"@") {
        Some(name) => run::file(vm, Some(name)),
        None => run::source(vm, init.as_bytes(), b"=LUA_INIT"),
    }
}

fn print_version() {
    write_stdout(
        concat!(
            "Perilune ",
            env!("CARGO_PKG_VERSION"),
            " -- Copyright (C) 2026 The Perilune authors. LuaJIT 2.1 dialect of Lua 5.1\n"
        )
        .as_bytes(),
    );
}
