//! Messages to the user.

use perilune_vm::Vm;
use perilune_vm::lib::io::{flush_stdout, write_stderr};
use perilune_vm::value::Value;

/// What comes before messages; nothing in the interactive mode.
pub const PROGRAM: &str = "perilune";

/// Prints a message.
pub fn message(program: Option<&str>, text: &[u8]) {
    flush_stdout();
    let mut out = Vec::with_capacity(text.len() + 16);
    if let Some(p) = program {
        out.extend_from_slice(p.as_bytes());
        out.extend_from_slice(b": ");
    }
    out.extend_from_slice(text);
    out.push(b'\n');
    write_stderr(&out);
}

/// Prints the error of a call, with the traceback if the error is a text or becomes one. A nil prints nothing.
pub fn error(vm: &mut Vm, program: Option<&str>, e: Value, traceback: &[u8]) {
    if e.is_nil() {
        return;
    }
    vm.error = e;
    let (mut text, traced) = vm.reported_error();
    vm.error = Value::NIL;
    if traced && !traceback.is_empty() {
        text.push(b'\n');
        text.extend_from_slice(traceback);
    }
    message(program, &text);
}
