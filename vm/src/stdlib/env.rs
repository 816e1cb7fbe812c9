//! The base library: function environments.

use super::levels;
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Func, Gc, Table};
use crate::value::Value;

/// The function that the first argument selects: itself, or the one running at a level.
fn target(vm: &mut Vm, default: Option<i32>) -> LuaResult<Result<Gc<Func>, i32>> {
    if let Some(f) = vm.arg(0).as_func() {
        return Ok(Ok(f));
    }
    let level = match default {
        Some(d) => vm.opt_int(0, d)?,
        None => vm.check_int(0)?,
    };
    if level == 0 {
        return Ok(Err(0));
    }
    match usize::try_from(level).ok().and_then(|level| levels::function_at(vm, level)) {
        Some(f) => Ok(Ok(f)),
        None => Err(vm.arg_error(0, "invalid level")),
    }
}

/// `getfenv([f])`
pub fn getfenv(vm: &mut Vm) -> LuaResult<u32> {
    let env = match target(vm, Some(1))? {
        Ok(f) if f.is_lua() => f.env.get(),
        _ => vm.cur.env.get(),
    };
    vm.ret1(Value::table(env))
}

/// `setfenv(f, env)`; level 0 is the running coroutine.
pub fn setfenv(vm: &mut Vm) -> LuaResult<u32> {
    let env = vm.check_table(1)?;
    match target(vm, None)? {
        Err(_) => {
            vm.set_thread_env(vm.cur, env);
            Ok(0)
        }
        Ok(f) if f.is_lua() => {
            set_function_env(vm, f, env);
            vm.ret1(Value::func(f))
        }
        Ok(_) => Err(vm.rt_error("'setfenv' cannot change environment of given object")),
    }
}

/// Changes the environment of a function.
pub fn set_function_env(vm: &mut Vm, f: Gc<Func>, env: Gc<Table>) {
    f.env.set(env);
    vm.barrier_forward(f.header(), Value::table(env));
    vm.environment_changed(f);
}
