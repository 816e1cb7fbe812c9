//! Rust closures as Lua functions: a userdata with the closure is the upvalue of a builtin that calls it.

use super::error::Result;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::state::State;
use super::value::Value;
use perilune_vm::Vm;
use perilune_vm::error::{LuaError, LuaResult};
use perilune_vm::value::Value as Raw;
use std::rc::{Rc, Weak};

type Closure = dyn Fn(&Lua, MultiValue) -> Result<MultiValue>;

/// What the userdata holds. The state is weak: it owns the userdata.
struct Callback {
    closure: Rc<Closure>,
    state: Weak<State>,
}

/// The function of a closure.
pub fn new<A, R>(lua: &Lua, f: impl Fn(&Lua, A) -> Result<R> + 'static) -> Raw
where
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    let closure: Rc<Closure> = Rc::new(move |lua, args| f(lua, A::from_lua_multi(args, lua)?)?.into_lua_multi(lua));
    let callback = Callback { closure, state: Rc::downgrade(&lua.0) };
    lua.0.with(|vm| {
        let u = vm.new_udata(Box::new(callback), None);
        Raw::func(vm.new_native(trampoline, 1, &[Raw::udata(u)]))
    })
}

/// Raises a text without a position.
fn raise(vm: &mut Vm, message: &str) -> LuaError {
    let s = vm.new_str(message.as_bytes());
    vm.throw(Raw::str(s))
}

/// What Lua calls.
fn trampoline(vm: &mut Vm) -> LuaResult<u32> {
    let data = vm.callee().native_upvalues().first().and_then(|v| v.get().as_udata());
    let found = data.and_then(|u| u.with(|c: &mut Callback| (Rc::clone(&c.closure), c.state.upgrade())));
    let Some((closure, Some(state))) = found else { return Err(raise(vm, "the state is closed")) };
    let raw: Vec<Raw> = (0..vm.nargs()).map(|i| vm.arg(i)).collect();
    let lua = Lua(state);
    let result = lua.0.inside(vm, || {
        let args: Vec<Value> = raw.into_iter().map(|v| Value::from_raw(&lua, v)).collect();
        closure(&lua, MultiValue::from(args))
    });
    let pushed = lua.0.inside(vm, || match result {
        // The handles are dropped in here, as that reaches the VM; nothing is collected before the values are pushed.
        Ok(values) => Ok(values.iter().map(Value::raw).collect::<Vec<Raw>>()),
        Err(e) => Err(e),
    });
    match pushed {
        Ok(values) => {
            vm.reserve(values.len())?;
            for v in &values {
                vm.push(*v);
            }
            Ok(values.len() as u32)
        }
        Err(e) => Err(raise(vm, e.message())),
    }
}
