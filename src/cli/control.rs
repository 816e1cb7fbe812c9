//! The options `-j`, `-O` and `-b`.

use super::report::{Prefix, error, message};
use super::{Failed, Outcome};
use perilune_vm::Vm;
use perilune_vm::stdlib::LOADED;
use perilune_vm::value::Value;

/// The arguments of a command, separated by commas; an empty one is nil.
fn arguments(vm: &mut Vm, text: &[u8]) -> Vec<Value> {
    if text.is_empty() {
        return Vec::new();
    }
    let parts = text.split(|b| *b == b',');
    parts.map(|p| if p.is_empty() { Value::NIL } else { Value::str(vm.new_str(p)) }).collect()
}

/// A field of a loaded module.
fn module_field(vm: &mut Vm, module: &[u8], field: &[u8]) -> Value {
    let loaded = vm.registry_table(LOADED);
    match vm.field(loaded, module).as_table() {
        Some(t) => vm.field(t, field),
        None => Value::NIL,
    }
}

/// Calls a command; an error is reported without a traceback, after what is at fault.
fn call(vm: &mut Vm, f: Value, arguments: &[Value], culprit: &[u8]) -> Outcome {
    vm.pcall_traced(f, arguments).map(|_| ()).map_err(|(e, _)| {
        let message = e.as_str().map(|s| [culprit, s.bytes()].concat());
        let e = message.map_or(e, |m| Value::str(vm.new_str(&m)));
        error(vm, Prefix::Program, e, b"");
        Failed
    })
}

/// `-j command[=arguments]`: a function of the `jit` library, or else the module `jit.command`.
pub fn command(vm: &mut Vm, text: &[u8]) -> Outcome {
    let mut parts = text.splitn(2, |b| *b == b'=');
    let name = parts.next().unwrap_or_default();
    let rest = parts.next().unwrap_or_default();
    let f = module_field(vm, b"jit", name);
    let is_builtin = f.is_func();
    let f = if is_builtin { f } else { start_function(vm, name)? };
    let args = arguments(vm, rest);
    // A builtin does not know that it was called by an option; the errors of a module name the module.
    let culprit = if is_builtin { [b"'-j", text, b"': "].concat() } else { Vec::new() };
    // Starting to watch is no part of the program.
    vm.run_callback(|vm| call(vm, f, &args, &culprit))
}

/// The function `start` of a module of the `jit` library.
fn start_function(vm: &mut Vm, name: &[u8]) -> Result<Value, Failed> {
    let module = [b"jit.", name].concat();
    let globals = vm.realm.globals;
    let require = vm.field(globals, b"require");
    let module = Value::str(vm.new_str(&module));
    match vm.run_callback(|vm| vm.pcall_traced(require, &[module])) {
        Ok(results) => {
            let start = results.first().and_then(|m| m.as_table()).map(|t| vm.field(t, b"start"));
            if let Some(start) = start.filter(|s| !s.is_nil()) {
                return Ok(start);
            }
        }
        Err((e, _)) => {
            if !e.as_str().is_some_and(|s| s.bytes().starts_with(b"module ")) {
                error(vm, Prefix::Program, e, b"");
                return Err(Failed);
            }
        }
    }
    message(
        Prefix::Program,
        &[b"unknown luaJIT command or jit.* modules not installed: '-j", name, b"' (-jhelp lists what there is)"].concat(),
    );
    Err(Failed)
}

/// `-O[flags]`: `jit.opt.start` with the flags.
pub fn optimize(vm: &mut Vm, flags: &[u8]) -> Outcome {
    let mut start = module_field(vm, b"jit.opt", b"start");
    if start.is_nil() {
        let opt = module_field(vm, b"jit", b"opt");
        start = opt.as_table().map_or(Value::NIL, |t| vm.field(t, b"start"));
    }
    let args = arguments(vm, flags);
    call(vm, start, &args, b"")
}

/// `-b...`: `jit.bcsave` with the rest of the command line.
pub fn bytecode(vm: &mut Vm, arguments: &[Vec<u8>]) -> Outcome {
    let start = start_function(vm, b"bcsave")?;
    let args: Vec<Value> = arguments.iter().map(|a| Value::str(vm.new_str(a))).collect();
    call(vm, start, &args, b"")
}
