//! Running chunks, scripts and modules.

use super::diagnose::with_source;
use super::interrupt::interruptible;
use super::report::{Prefix, error, message};
use super::{Failed, Outcome};
use perilune_vm::Vm;
use perilune_vm::stdlib::io::{error_text, read_file, read_stdin};
use perilune_vm::value::Value;

/// Calls a function; errors are reported. The results.
pub fn call(vm: &mut Vm, f: Value, args: &[Value]) -> Result<Vec<Value>, Failed> {
    interruptible(vm, |vm| vm.pcall_traced(f, args)).map_err(|(e, traceback)| {
        error(vm, Prefix::Program, e, &traceback);
        Failed
    })
}

/// Compiles a chunk.
fn load(vm: &mut Vm, text: &[u8], name: &[u8]) -> Result<Value, Failed> {
    vm.load_source(text, name, None).map(Value::func).map_err(|e| {
        message(Prefix::Program, &with_source(text, &e));
        Failed
    })
}

/// Compiles a file, or standard input.
fn load_file(vm: &mut Vm, name: Option<&[u8]>) -> Result<Value, Failed> {
    let (text, chunk_name) = match name {
        Some(name) => (read_file(name), [b"@", name].concat()),
        None => (read_stdin(), b"=stdin".to_vec()),
    };
    match text {
        Ok(text) => load(vm, &text, &chunk_name),
        Err((what, e)) => {
            let text = [what.as_bytes(), b" ", &chunk_name[1..], b": ", error_text(&e).as_bytes()].concat();
            message(Prefix::Program, &text);
            Err(Failed)
        }
    }
}

/// Runs a chunk.
pub fn source(vm: &mut Vm, text: &[u8], name: &[u8]) -> Outcome {
    let f = load(vm, text, name)?;
    call(vm, f, &[]).map(|_| ())
}

/// Runs a file, or standard input.
pub fn file(vm: &mut Vm, name: Option<&[u8]>) -> Outcome {
    let f = load_file(vm, name)?;
    call(vm, f, &[]).map(|_| ())
}

/// Runs the script with the arguments in the global `arg`, as it is now.
pub fn script(vm: &mut Vm, name: Option<&Vec<u8>>) -> Outcome {
    let f = load_file(vm, name.map(|n| &**n))?;
    let globals = vm.realm.globals;
    let args = match vm.field(globals, b"arg").as_table() {
        Some(t) => (1..).map(|i| t.get_int(i)).take_while(|v| !v.is_nil()).collect(),
        None => Vec::new(),
    };
    call(vm, f, &args).map(|_| ())
}

/// `require(name)`
pub fn require(vm: &mut Vm, name: &[u8]) -> Outcome {
    let globals = vm.realm.globals;
    let f = vm.field(globals, b"require");
    let name = vm.new_str(name);
    call(vm, f, &[Value::str(name)]).map(|_| ())
}
