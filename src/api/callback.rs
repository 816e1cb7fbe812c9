//! Rust closures as Lua functions: a userdata with the closure is the upvalue of a builtin that calls it.

use super::error::{Error, Result};
use super::failure::{self, Failure};
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::passing::{Frame, Passed};
use super::state::State;
use super::sync::{Shared, WeakShared};
use perilune_vm::Vm;
use perilune_vm::error::{LuaError, LuaResult};
use perilune_vm::value::Value as Raw;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

/// A closure that takes its arguments from those on their way, and puts its results there, after them.
pub type Closure = dyn Fn(Passed<'_>) -> Result<()>;

/// A closure that converts its arguments and results.
pub fn closure<A: FromLuaMulti, R: IntoLuaMulti>(f: impl Fn(&Lua, A) -> Result<R> + 'static) -> Rc<Closure> {
    Rc::new(move |args| f(args.lua, A::take_all(args, Some((1, None)))?)?.pass_all(args.lua))
}

/// What the userdata holds. The state is weak: it owns the userdata.
struct Callback<C: ?Sized> {
    closure: Rc<C>,
    state: WeakShared<State>,
}

/// The function of a closure.
pub fn new(lua: &Lua, closure: Rc<Closure>) -> Raw {
    let upvalue = upvalue(lua, closure);
    lua.0.enter(|vm| Raw::func(vm.new_host_function(trampoline, &[upvalue])))
}

/// What Lua calls.
fn trampoline(vm: &mut Vm) -> LuaResult<u32> {
    let (closure, lua) = called::<Closure>(vm)?;
    run_with(vm, &lua, |args| closure(args), push_results, raise)
}

/// The first upvalue of a builtin that calls a closure, for [`called`].
pub(super) fn upvalue<C: ?Sized + 'static>(lua: &Lua, closure: Rc<C>) -> Raw {
    let callback = Callback { closure, state: Shared::downgrade(&lua.0) };
    lua.0.enter(|vm| Raw::udata(vm.new_host_udata(Box::new(callback), None)))
}

/// The closure of the running builtin, and its state.
#[inline]
pub(super) fn called<C: ?Sized + 'static>(vm: &mut Vm) -> LuaResult<(Rc<C>, Lua)> {
    let data = vm.callee().native_upvalues().first().and_then(|v| v.get().as_udata());
    let found = data.and_then(|u| u.with(|c: &mut Callback<C>| (Rc::clone(&c.closure), c.state.upgrade())));
    let Some((closure, Some(state))) = found else {
        // The state is being closed.
        let message = vm.new_str(Error::CallbackDestructed.to_string().as_bytes());
        return Err(vm.throw(Raw::str(message)));
    };
    Ok((closure, Lua(state)))
}

/// The values on their way from the given number on are the results of the running builtin.
fn push_results(vm: &mut Vm, lua: &Lua, (): (), from: usize) -> LuaResult<u32> {
    vm.push_passed(&lua.0.roots, from)
}

/// Runs code of the host with the arguments of the running builtin. An error is raised as it is, not as one of a callback.
pub fn run_bare(vm: &mut Vm, lua: &Lua, f: impl FnOnce(Passed<'_>) -> Result<()>) -> LuaResult<u32> {
    run_with(vm, lua, f, push_results, |vm, lua, e| {
        let v = lua.0.error_value(vm, e);
        vm.throw(v)
    })
}

/// Runs code of the host with the arguments of the running builtin. `finish` is given what the code returns, and the number of the first value
/// that it has put on its way, and ends the builtin. Errors and panics become Lua errors.
#[inline]
pub(super) fn run_with<T>(
    vm: &mut Vm,
    lua: &Lua,
    f: impl FnOnce(Passed<'_>) -> Result<T>,
    finish: impl FnOnce(&mut Vm, &Lua, T, usize) -> LuaResult<u32>,
    raise: impl FnOnce(&mut Vm, &Lua, Error) -> LuaError,
) -> LuaResult<u32> {
    let frame = Frame::new(lua);
    lua.0.roots.replace_passing(frame.from, vm.args());
    let args = frame.passed(lua);
    let result = lua.0.leave(vm, || catch_unwind(AssertUnwindSafe(|| f(args))));
    match result {
        Ok(Ok(done)) => finish(vm, lua, done, frame.from + args.len()),
        Ok(Err(e)) => Err(raise(vm, lua, e)),
        Err(panic) => {
            let v = failure::new(vm, lua.0.failure_meta(), Failure::Panic(Some(panic)));
            Err(vm.throw(v))
        }
    }
}

/// Raises an error of a Rust function: what Lua code has raised as it was, others with the calls that are active.
#[cold]
pub(super) fn raise(vm: &mut Vm, lua: &Lua, e: Error) -> LuaError {
    let e = match e {
        Error::LuaError(_) => e,
        _ => {
            let cur = vm.cur;
            let traceback = String::from_utf8_lossy(&perilune_vm::stdlib::host_traceback(vm, cur)).into_owned();
            Error::CallbackError { traceback, cause: Arc::new(e) }
        }
    };
    let v = lua.0.error_value(vm, e);
    vm.throw(v)
}
