//! Messages to the user.

use super::style;
use perilune_vm::Vm;
use perilune_vm::stdlib::io::{flush_stdout, write_stderr};
use perilune_vm::value::Value;
use std::sync::OnceLock;

/// What comes before messages: the name that the command was called by, or nothing in the interactive mode.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Prefix {
    /// The command's name.
    Program,
    /// Nothing.
    None,
}

/// The name that the command was called by.
static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();

/// Remembers the name that the command was called by.
pub fn set_program(argv: &[Vec<u8>]) {
    if let Some(name) = argv.first().filter(|name| !name.is_empty()) {
        // It is set once, by the start of the process.
        let _ = PROGRAM.set(name.clone());
    }
}

/// The name of the command.
pub fn program() -> &'static [u8] {
    PROGRAM.get().map_or(b"perilune", |name| name)
}

/// Prints a message.
pub fn message(prefix: Prefix, text: &[u8]) {
    flush_stdout();
    let mut out = Vec::with_capacity(text.len() + 16);
    if prefix == Prefix::Program {
        out.extend_from_slice(program());
        out.extend_from_slice(b": ");
    }
    out.extend_from_slice(text);
    out.push(b'\n');
    write_stderr(&out);
}

/// Prints the error of a call, with the traceback if the error is a text or becomes one. A nil prints nothing.
pub fn error(vm: &mut Vm, prefix: Prefix, e: Value, traceback: &[u8]) {
    if e.is_nil() {
        return;
    }
    vm.errors.value = e;
    let (mut text, traced) = vm.reported_error();
    vm.errors.value = Value::NIL;
    if traced && !traceback.is_empty() {
        let faint = style::stderr().faint;
        text.extend_from_slice(format!("\n{faint}").as_bytes());
        text.extend_from_slice(traceback);
        text.extend_from_slice(format!("{faint:#}").as_bytes());
    }
    message(prefix, &text);
}
