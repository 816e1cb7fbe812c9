//! The interactive mode.

use super::interrupt::interruptible;
use super::report::{Prefix, error, message};
use perilune_vm::Vm;
use perilune_vm::lib::io::{flush_stdout, read_line_stdin, write_stdout};
use perilune_vm::lib::put_value;
use perilune_vm::value::Value;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::IsTerminal;

/// Where lines come from.
enum Lines {
    /// A terminal, with editing and a history.
    Editor(Box<DefaultEditor>),
    /// Anything else.
    Plain,
}

impl Lines {
    fn open() -> Lines {
        if !std::io::stdin().is_terminal() {
            return Lines::Plain;
        }
        DefaultEditor::new().map_or(Lines::Plain, |e| Lines::Editor(Box::new(e)))
    }
    /// A line without its newline; `None` at the end. Ctrl-C gives an empty line and clears what came before.
    fn read(&mut self, prompt: &[u8]) -> Line {
        match self {
            Lines::Plain => {
                write_stdout(prompt);
                flush_stdout();
                let mut line = Vec::new();
                if !read_line_stdin(&mut line) {
                    return Line::End;
                }
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Line::Text(line)
            }
            Lines::Editor(editor) => {
                flush_stdout();
                match editor.readline(&String::from_utf8_lossy(prompt)) {
                    Ok(line) => Line::Text(line.into_bytes()),
                    Err(ReadlineError::Interrupted) => Line::Cancel,
                    Err(_) => Line::End,
                }
            }
        }
    }
    /// Remembers a complete chunk.
    fn remember(&mut self, chunk: &[u8]) {
        if let Lines::Editor(editor) = self
            && !chunk.is_empty()
        {
            // A history that is full or wants no duplicates is no error.
            let _ = editor.add_history_entry(String::from_utf8_lossy(chunk));
        }
    }
}

/// What reading a line gives.
enum Line {
    Text(Vec<u8>),
    Cancel,
    End,
}

/// Reads, runs and prints until the end of the input.
pub fn run(vm: &mut Vm) {
    print_jit_status(vm);
    let mut lines = Lines::open();
    while let Some(loaded) = read_chunk(vm, &mut lines) {
        match loaded {
            Loaded::Function(f) => match interruptible(vm, |vm| vm.pcall_traced(f, &[])) {
                Ok(results) if results.is_empty() => {}
                Ok(results) => print_results(vm, &results),
                Err((e, traceback)) => error(vm, Prefix::None, e, &traceback),
            },
            Loaded::Wrong(text) => message(Prefix::None, &text),
            Loaded::Nothing => {}
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
}

/// Reads lines until they are a complete chunk; `None` at the end of the input.
fn read_chunk(vm: &mut Vm, lines: &mut Lines) -> Option<Loaded> {
    let prompt = prompt(vm, b"_PROMPT", b"> ");
    let mut text = match lines.read(&prompt) {
        Line::Text(line) => line,
        Line::Cancel => return Some(Loaded::Nothing),
        Line::End => return None,
    };
    let entered = text.clone();
    if let Some(expression) = text.strip_prefix(b"=") {
        text = [b"return ", expression].concat();
    }
    let mut shown = entered;
    loop {
        let wrong = match vm.load_chunk(&text, b"=stdin", None) {
            Ok(f) => {
                lines.remember(&shown);
                return Some(Loaded::Function(Value::func(f)));
            }
            Err(e) => e.bytes().to_vec(),
        };
        if !wrong.ends_with(b"'<eof>'") {
            lines.remember(&shown);
            return Some(Loaded::Wrong(wrong));
        }
        let prompt = self::prompt(vm, b"_PROMPT2", b">> ");
        match lines.read(&prompt) {
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
    let globals = vm.globals;
    let v = vm.field(globals, name);
    if !v.is_str() && !v.is_number() {
        return default.to_vec();
    }
    let mut text = Vec::new();
    put_value(&mut text, v);
    text
}

/// Prints results with the global `print`.
fn print_results(vm: &mut Vm, results: &[Value]) {
    let globals = vm.globals;
    let print = vm.field(globals, b"print");
    if let Err((e, _)) = vm.pcall_traced(print, results) {
        vm.error = e;
        let text = vm.error_text();
        message(Prefix::None, &[b"error calling 'print' (", &*text, b")"].concat());
    }
}

/// The line that says whether the compiler is on.
fn print_jit_status(vm: &mut Vm) {
    let globals = vm.globals;
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
