//! Library functions in Lua, so that the functions they call may yield.

use super::Builtin;
use crate::Vm;
use crate::error::LuaResult;
use crate::value::Value;

/// Library, name and source. A function gets its arguments as `...`, and has `fit`, `blame` and `next` as globals.
const FUNCTIONS: [(&str, &str, &str); 2] = [
    (
        "table",
        "foreachi",
        "local t, f = ... if not fit(t, f) then return blame(t, f) end
         for i = 1, #t do
           local r = f(i, t[i])
           if r ~= nil then return r end
         end",
    ),
    (
        "table",
        "foreach",
        "local t, f = ... if not fit(t, f) then return blame(t, f) end
         for k, v in next, t, nil do
           local r = f(k, v)
           if r ~= nil then return r end
         end",
    ),
];

/// Compiles the functions and stores them in their libraries.
pub(super) fn open(vm: &mut Vm) {
    let env = vm.new_table(0, 1);
    let fit = vm.new_native(fit, 1, &[]);
    vm.set_field(env, b"fit", Value::func(fit));
    let blame = vm.new_native(blame, 1, &[]);
    vm.set_field(env, b"blame", Value::func(blame));
    if let Some(next) = Builtin::Next.native() {
        let next = vm.new_native(next, Builtin::Next.id(), &[]);
        vm.set_field(env, b"next", Value::func(next));
    }
    for (lib, name, source) in FUNCTIONS {
        let chunk = format!("=[builtin:{name}]");
        if let Ok(f) = vm.load_chunk(source.as_bytes(), chunk.as_bytes(), None) {
            f.env.set(env);
            let lib = vm.library(lib.as_bytes());
            vm.set_field(lib, name.as_bytes(), Value::func(f));
        }
    }
}

/// `fit(t, f)`: are the arguments a table and a function?
fn fit(vm: &mut Vm) -> LuaResult<u32> {
    let yes = vm.arg(0).is_table() && vm.arg(1).is_func();
    vm.ret1(Value::bool(yes))
}

/// `blame(...)`, in tail position: raises the error of a function whose arguments are not a table and a function.
fn blame(vm: &mut Vm) -> LuaResult<u32> {
    vm.check_table(0)?;
    vm.check_func(1)?;
    Ok(0)
}
