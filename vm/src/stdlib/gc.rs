//! The base library: garbage collection and proxies.

use crate::Vm;
use crate::error::LuaResult;
use crate::value::Value;

/// `gcinfo()`: memory in use in kilobytes.
pub fn gcinfo(vm: &mut Vm) -> LuaResult<u32> {
    let kbytes = vm.gc_count() >> 10;
    vm.ret1(Value::integer(kbytes as i64))
}

const OPTIONS: [&str; 8] = ["collect", "stop", "restart", "count", "step", "setpause", "setstepmul", "isrunning"];

/// `collectgarbage([option [, n]])`. A collection, or a step, also restarts a collector that was stopped.
pub fn collectgarbage(vm: &mut Vm) -> LuaResult<u32> {
    let option = vm.check_option(0, Some(0), &OPTIONS)?;
    let n = vm.opt_int(1, 0)?;
    let mut result = Value::int(0);
    let what = OPTIONS[option];
    if matches!(what, "collect" | "step") {
        vm.gc_restart();
    }
    match what {
        "collect" => {
            vm.full_gc();
            vm.shrink_unused_stack();
        }
        "stop" => vm.gc_stop(),
        "restart" => vm.gc_restart(),
        "count" => result = Value::number(vm.gc_count() as f64 / 1024.0),
        "step" => result = Value::bool(vm.gc_step(n.max(0) as usize)),
        "setpause" => result = Value::integer(i64::from(vm.gc_set_pause(n.max(0) as u32))),
        "setstepmul" => result = Value::integer(i64::from(vm.gc_set_stepmul(n.max(0) as u32))),
        _ => result = Value::bool(vm.gc_is_running()),
    }
    vm.ret1(result)
}

/// `newproxy([boolean | proxy])`: an empty userdata, with its own metatable, that of another proxy, or none. The upvalue is a weak table
/// with the metatables made here as keys.
pub fn newproxy(vm: &mut Vm) -> LuaResult<u32> {
    let like = vm.arg(0);
    let known = vm.native_upvalue(0).as_table();
    let meta = if !like.truthy() {
        None
    } else if like == Value::TRUE {
        let mt = vm.new_table(0, 1);
        if let Some(known) = known {
            vm.table_set(known, Value::table(mt), Value::TRUE)?;
        }
        Some(mt)
    } else {
        let mt = like.as_udata().and_then(|u| u.meta.get());
        if !mt.is_some_and(|mt| known.is_some_and(|k| k.get(Value::table(mt)).truthy())) {
            return Err(vm.arg_error(0, "boolean or proxy expected"));
        }
        mt
    };
    let u = vm.new_udata(Box::new(()), meta);
    vm.ret1(Value::udata(u))
}
