//! Library functions in Lua, so that the functions they call may yield.

use super::levels;
use crate::Vm;
use crate::error::LuaResult;
use crate::value::Value;

/// Library, name and source. A function gets its arguments as `...`, and has `check` and `next` as globals.
const FUNCTIONS: [(&str, &str, &str); 2] = [
    (
        "table",
        "foreachi",
        "local t, f = ... check('foreachi', t, f)
         for i = 1, #t do
           local r = f(i, t[i])
           if r ~= nil then return r end
         end",
    ),
    (
        "table",
        "foreach",
        "local t, f = ... check('foreach', t, f)
         for k, v in next, t, nil do
           local r = f(k, v)
           if r ~= nil then return r end
         end",
    ),
];

/// Compiles the functions and puts them in their places.
pub(super) fn open(vm: &mut Vm) {
    let env = vm.new_table(0, 1);
    let check = vm.new_native(check, 1, &[]);
    vm.set_field(env, b"check", Value::func(check));
    let globals = vm.globals;
    let next = vm.field(globals, b"next");
    vm.set_field(env, b"next", next);
    for (lib, name, source) in FUNCTIONS {
        let chunk = format!("=[builtin:{name}]");
        if let Ok(f) = vm.load_chunk(source.as_bytes(), chunk.as_bytes(), None) {
            f.env.set(env);
            let lib = vm.library(lib.as_bytes());
            vm.set_field(lib, name.as_bytes(), Value::func(f));
        }
    }
}

/// `check(name, t, f)`: blames the caller of the function of that name if these are not a table and a function.
fn check(vm: &mut Vm) -> LuaResult<u32> {
    let (t, f) = (vm.arg(1), vm.arg(2));
    let (i, expected, v) = if !t.is_table() {
        (1, "table", t)
    } else if !f.is_func() {
        (2, "function", f)
    } else {
        return Ok(0);
    };
    let name = vm.check_str(0)?;
    let mut text = levels::position(vm, 2);
    let message = format!("bad argument #{i} to '{}' ({expected} expected, got {})", name.to_str_lossy(), v.type_name());
    text.extend_from_slice(message.as_bytes());
    Err(vm.plain_error(&text))
}
