//! Calls and errors.
#![allow(unsafe_code, reason = "functions in C are called with what the manual says")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::push;
use crate::stack::pop;
use crate::state::CFunction;
use perilune_vm::interp::frame::Catch;
use perilune_vm::meta::MM;
use perilune_vm::stdlib::put_value;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int, c_void};

/// Results of protected calls, of loading, and of coroutines.
pub mod status {
    use std::ffi::c_int;

    /// No error.
    pub const OK: c_int = 0;
    /// A coroutine has yielded.
    pub const YIELD: c_int = 1;
    /// An error.
    pub const RUN: c_int = 2;
    /// An error of syntax.
    pub const SYNTAX: c_int = 3;
    /// No memory.
    pub const MEMORY: c_int = 4;
    /// An error in the handler of another.
    pub const HANDLER: c_int = 5;
    /// A file that cannot be read.
    pub const FILE: c_int = 6;
}

/// Ends the error that is being raised: pushes its value, and returns its status.
pub fn caught(vm: &mut Vm) -> c_int {
    let error = vm.take_error();
    push::value(vm, error);
    if error.as_str() == Some(vm.heap.no_memory()) {
        status::MEMORY
    } else if vm.is_handler_failure(error) {
        status::HANDLER
    } else {
        status::RUN
    }
}

/// Calls the function below the topmost `n` values; errors become a status.
fn protected(vm: &mut Vm, n: usize, results: c_int, catch: Catch) -> c_int {
    match vm.call_top(n, results, catch) {
        Ok(()) => status::OK,
        Err(_) => caught(vm),
    }
}

/// Concatenates the topmost `n` values.
fn concat(vm: &mut Vm, n: usize) -> LuaResult<()> {
    let mut n = n;
    while n > 1 {
        let (a, b) = (index::value(vm, -2), index::value(vm, -1));
        let is_text = |v: Value| v.is_str() || v.is_number();
        if !is_text(a) || !is_text(b) {
            let mut mm = vm.metamethod(a, MM::Concat);
            if mm.is_nil() {
                mm = vm.metamethod(b, MM::Concat);
            }
            if mm.is_nil() {
                return Err(vm.concat_error(a, b, 0));
            }
            let v = vm.call1(mm, &[a, b])?;
            pop(vm, 2);
            vm.push(v);
            n -= 1;
            continue;
        }
        // All texts from the top down become one.
        let texts = vm.args().iter().rev().take(n).take_while(|v| is_text(**v)).count();
        let mut text = Vec::new();
        for v in &vm.args()[vm.nargs() - texts..] {
            put_value(&mut text, *v);
        }
        let s = vm.checked_str(&text)?;
        pop(vm, texts);
        vm.push(Value::str(s));
        n -= texts - 1;
    }
    Ok(())
}

raising! {
    /// `lua_call`
    fn lua_call(l => vm, n: c_int, results: c_int) -> () { vm.call_top(n as usize, results, Catch::Nothing) }
    /// `lua_error`
    fn lua_error(l => vm) -> c_int {
        let e = index::value(vm, -1);
        Err(vm.throw(e))
    }
    /// `lua_concat`
    fn lua_concat(l => vm, n: c_int) -> () {
        if n <= 0 {
            let empty = vm.new_str(b"");
            push::value(vm, Value::str(empty));
            return Ok(());
        }
        concat(vm, n as usize)?;
        crate::memory::collect(vm);
        Ok(())
    }
    /// `luaL_callmeta`
    fn luaL_callmeta(l => vm, i: c_int, name: *const c_char) -> c_int {
        let v = index::value(vm, i);
        let Some(f) = crate::auxiliary::metafield(vm, v, push::text(name)) else { return Ok(0) };
        push::value(vm, f);
        push::value(vm, v);
        vm.call_top(1, 1, Catch::Nothing)?;
        Ok(1)
    }
}

plain! {
    /// `lua_pcall`
    fn lua_pcall(l => vm, n: c_int, results: c_int, handler: c_int) -> c_int {
        let catch = match index::slot(vm, handler).filter(|_| handler != 0) {
            Some(p) => Catch::Handler(vm.top.offset_from(p) as usize),
            None => Catch::Error,
        };
        protected(vm, n as usize, results, catch)
    }
    /// `lua_cpcall`
    fn lua_cpcall(l => vm, f: CFunction, data: *mut c_void) -> c_int {
        let f = push::closure(vm, f, 0);
        push::value(vm, f);
        match push::light(vm, data) {
            Ok(data) => push::value(vm, data),
            Err(_) => {
                pop(vm, 1);
                return caught(vm);
            }
        }
        protected(vm, 1, 0, Catch::Error)
    }
}

raising_variadic! {
    /// `luaL_error`
    fn luaL_error(l => vm, format, list) -> c_int {
        let mut message = crate::debug::position(vm, 1);
        message.extend(crate::format::format(push::text(format), &mut *list));
        Err(vm.plain_error(&message))
    }
}
