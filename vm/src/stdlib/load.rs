//! The base library: compiling source text.

use super::buffer::with_bytes;
use super::env::set_function_env;
use super::io::{Bounds, error_text, read_bounded};
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Func, Gc, Str};
use crate::value::Value;

/// The result of loading: a function, or a message.
type Loaded = Result<Gc<Func>, Gc<Str>>;

/// Compiles a chunk.
fn compile(vm: &mut Vm, source: &[u8], name: &[u8], mode: Option<Gc<Str>>) -> Loaded {
    let mode = allowed(vm, mode);
    vm.load_chunk(source, name, mode.as_deref())
}

/// The mode to load in, which may be that of text only.
fn allowed(vm: &Vm, mode: Option<Gc<Str>>) -> Option<Vec<u8>> {
    let mode = mode.map(|m| m.bytes().to_vec());
    if !vm.realm.text_only {
        return mode;
    }
    Some(mode.map_or(b"t".to_vec(), |m| m.into_iter().filter(|c| *c != b'b').collect()))
}

/// The results of a load function: the function, with the environment in argument `env` if there is one, or nil and a message.
fn results(vm: &mut Vm, loaded: Loaded, env: usize) -> LuaResult<u32> {
    match loaded {
        Ok(f) => {
            if let Some(t) = vm.arg(env).as_table() {
                set_function_env(vm, f, t);
            }
            vm.ret1(Value::func(f))
        }
        Err(message) => {
            vm.push(Value::NIL);
            vm.push(Value::str(message));
            Ok(2)
        }
    }
}

/// `load(chunk [, name [, mode [, env]]])`, `loadstring`
pub fn load(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.opt_str(1)?;
    let mode = vm.opt_str(2)?;
    let v = vm.arg(0);
    let loaded = if v.is_str() || v.is_number() {
        let s = vm.check_str(0)?;
        compile(vm, s.bytes(), name.unwrap_or(s).bytes(), mode)
    } else if let Some(source) = with_bytes(v, <[u8]>::to_vec) {
        compile(vm, &source, name.as_ref().map_or(b"", |n| n.bytes()), mode)
    } else {
        vm.check_func(0)?;
        vm.set_nargs(4);
        // Copies, because the reader function may replace the arguments (`debug.setlocal`).
        let chunk_name = name.map_or(b"=(load)".to_vec(), |n| n.bytes().to_vec());
        let mode = allowed(vm, mode);
        match vm.load_pieces(&mut next_piece, &chunk_name, mode.as_deref()) {
            Ok(loaded) => loaded,
            Err(_) => {
                // An error in the reader is a result like a syntax error.
                let e = vm.errors.value;
                vm.push(Value::NIL);
                vm.push(e);
                return Ok(2);
            }
        }
    };
    results(vm, loaded, 3)
}

/// The next piece from the reader function.
fn next_piece(vm: &mut Vm) -> LuaResult<Option<Gc<Str>>> {
    let f = vm.arg(0);
    let piece = vm.call1(f, &[])?;
    match piece.as_str() {
        Some(s) => Ok(Some(s)),
        None if piece.is_nil() => Ok(None),
        None if piece.is_number() => Ok(Some(vm.number_str(piece))),
        None => Err(vm.rt_error("reader function must return a string")),
    }
}

/// Loads a file, or standard input.
pub(super) fn load_file(vm: &mut Vm, name: Option<Gc<Str>>, mode: Option<Gc<Str>>) -> Loaded {
    let flag = std::sync::Arc::clone(&vm.interrupts.flag);
    let bounds = &Bounds { most: vm.longest_buffer(), stop: &flag };
    let (chunk_name, source) = match name {
        Some(name) => ([b"@", name.bytes()].concat(), read_bounded(name.bytes(), bounds)),
        None => (b"=stdin".to_vec(), super::io::read_stdin_bounded(bounds)),
    };
    match source {
        Ok(source) => compile(vm, &source, &chunk_name, mode),
        Err((what, e)) => {
            let message = [what.as_bytes(), b" ", &chunk_name[1..], b": ", error_text(&e).as_bytes()].concat();
            Err(vm.new_str(&message))
        }
    }
}

/// `loadfile([name [, mode [, env]]])`
pub fn loadfile(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.opt_str(0)?;
    let mode = vm.opt_str(1)?;
    let loaded = load_file(vm, name, mode);
    results(vm, loaded, 2)
}

/// `dofile([name])`
pub fn dofile(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.opt_str(0)?;
    match load_file(vm, name, None) {
        Ok(f) => vm.call_value(Value::func(f), &[], -1),
        Err(message) => Err(vm.throw(Value::str(message))),
    }
}
