//! The interactive mode.

mod complete;
mod highlight;
mod lines;
mod pretty;

use super::diagnose::with_source;
use super::interrupt::interruptible;
use super::report::{Prefix, error, message};
use lines::{Line, Lines};
use perilune_vm::Vm;
use perilune_vm::stdlib::io::{flush_stdout, write_stdout};
use perilune_vm::stdlib::put_value;
use perilune_vm::value::Value;

const HELP: &str = "\
A line is run, and the values of an expression are printed: tables with what is in them. print(t) prints a table as programs do.
A chunk may have several lines; Ctrl-C drops it, and ends what runs. Tab completes globals and fields.
Lines are remembered from one time to the next: the up arrow brings them back, Ctrl-R searches.
.help shows this; .exit, exit or Ctrl-D ends.
";

/// Reads, runs and prints until the end of the input.
pub fn run(vm: &mut Vm, no_env: bool) {
    print_jit_status(vm);
    let mut lines = Lines::open(!no_env);
    if lines.is_terminal() {
        write_stdout(b".help says what can be done here, .exit ends.\n");
    }
    while let Some(loaded) = read_chunk(vm, &mut lines) {
        match loaded {
            Loaded::Function(f) => match interruptible(vm, |vm| vm.pcall_traced(f, &[])) {
                Ok(results) if results.is_empty() => {}
                Ok(results) => print_results(vm, &results, lines.is_terminal()),
                Err((e, traceback)) => error(vm, Prefix::None, e, &traceback),
            },
            Loaded::Wrong(text) => message(Prefix::None, &text),
            Loaded::Nothing => {}
            Loaded::Help => write_stdout(HELP.as_bytes()),
            Loaded::Exit => return flush_stdout(),
        }
    }
    write_stdout(b"\n");
    flush_stdout();
}

/// What a chunk of the input comes to.
enum Loaded {
    Function(Value),
    Wrong(Vec<u8>),
    Nothing,
    /// `.help`
    Help,
    /// `.exit`
    Exit,
}

/// Reads lines until they are a complete chunk; `None` at the end of the input.
fn read_chunk(vm: &mut Vm, lines: &mut Lines) -> Option<Loaded> {
    let prompt = prompt(vm, b"_PROMPT", b"> ");
    let mut text = match lines.read(vm, &prompt, b"") {
        Line::Text(line) => line,
        Line::Cancel => return Some(Loaded::Nothing),
        Line::End => return None,
    };
    if lines.is_terminal() {
        match text.trim_ascii() {
            b".help" => return Some(Loaded::Help),
            b".exit" | b".quit" => return Some(Loaded::Exit),
            word @ (b"exit" | b"quit") if is_unknown(vm, word) => return Some(Loaded::Exit),
            b"help" if is_unknown(vm, b"help") => return Some(Loaded::Help),
            _ => {}
        }
    }
    let mut shown = text.clone();
    if let Some(expression) = text.strip_prefix(b"=") {
        text = [b"return ", expression].concat();
    }
    loop {
        // An expression is printed; most chunks are none.
        let open = match expression(vm, &text) {
            Ok(f) => {
                lines.remember(&shown);
                return Some(Loaded::Function(f));
            }
            Err(open) => open,
        };
        let wrong = match vm.load_source(&text, b"=stdin", None) {
            Ok(f) => {
                lines.remember(&shown);
                return Some(Loaded::Function(Value::func(f)));
            }
            Err(e) => e,
        };
        if !open && !is_open(wrong.message()) {
            lines.remember(&shown);
            return Some(Loaded::Wrong(with_source(&text, &wrong)));
        }
        let prompt = self::prompt(vm, b"_PROMPT2", b">> ");
        match lines.read(vm, &prompt, &shown) {
            Line::Text(line) => {
                for t in [&mut text, &mut shown] {
                    t.push(b'\n');
                    t.extend_from_slice(&line);
                }
            }
            Line::Cancel => return Some(Loaded::Nothing),
            Line::End => return None,
        }
    }
}

/// The prompt in a global, if it is a string or a number.
fn prompt(vm: &mut Vm, name: &[u8], default: &[u8]) -> Vec<u8> {
    let globals = vm.realm.globals;
    let v = vm.field(globals, name);
    if !v.is_str() && !v.is_number() {
        return default.to_vec();
    }
    let mut text = Vec::new();
    put_value(&mut text, v);
    text
}

/// A function that returns the values of an expression; otherwise, might it be one if it went on?
fn expression(vm: &mut Vm, text: &[u8]) -> Result<Value, bool> {
    let plain = vm.load_chunk(&[b"return ", text].concat(), b"=stdin", None).map_err(|e| is_open(e.bytes()))?;
    // A call in tail position would leave no trace of the chunk in an error's traceback.
    let called = [b"return (function(...) return ... end)(", text, b"\n)"].concat();
    Ok(Value::func(vm.load_chunk(&called, b"=stdin", None).unwrap_or(plain)))
}

/// Is the error that the chunk is not at its end?
fn is_open(wrong: &[u8]) -> bool {
    wrong.ends_with(b"'<eof>'")
}

/// Is there no global of this name?
fn is_unknown(vm: &mut Vm, name: &[u8]) -> bool {
    let globals = vm.realm.globals;
    vm.field(globals, name).is_nil()
}

/// Prints results with the global `print`; for people, with what is in tables that have no text of their own.
fn print_results(vm: &mut Vm, results: &[Value], for_people: bool) {
    let mut texts = results.to_vec();
    for v in texts.iter_mut().filter(|_| for_people) {
        let meta = vm.metatable_of(*v);
        if let Some(t) = v.as_table()
            && meta.is_none_or(|meta| vm.field(meta, b"__tostring").is_nil())
        {
            *v = Value::str(vm.new_str(&pretty::table(t)));
        }
    }
    let globals = vm.realm.globals;
    let print = vm.field(globals, b"print");
    if let Err((e, _)) = vm.pcall_traced(print, &texts) {
        vm.errors.value = e;
        let text = vm.error_text();
        message(Prefix::None, &[b"error calling 'print' (", &*text, b")"].concat());
    }
}

/// The line that says whether the compiler is on.
fn print_jit_status(vm: &mut Vm) {
    let globals = vm.realm.globals;
    let Some(jit) = vm.field(globals, b"jit").as_table() else { return };
    let status = vm.field(jit, b"status");
    let Ok(results) = vm.pcall_traced(status, &[]) else { return };
    let Some((on, flags)) = results.split_first() else { return };
    let mut line = if on.truthy() { b"JIT: ON".to_vec() } else { b"JIT: OFF".to_vec() };
    for flag in flags.iter().filter_map(|f| f.as_str()) {
        line.push(b' ');
        line.extend_from_slice(flag.bytes());
    }
    line.push(b'\n');
    write_stdout(&line);
}
