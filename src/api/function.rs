//! Functions.

use super::error::Result;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::state::Root;
use super::value::Value;
use std::rc::Rc;

/// A Lua function, or a Rust closure made one.
#[derive(Clone)]
pub struct Function(pub(crate) Root);

impl Function {
    /// Calls the function.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let max: Function = lua.load("math.max").eval()?;
    /// assert_eq!(max.call::<i32>((3, 9, 4))?, 9);
    /// assert!(max.call::<i32>("x").unwrap_err().message().contains("number expected, got string"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let lua = Lua(Rc::clone(&self.0.state));
        let args = args.into_lua_multi(&lua)?;
        let raw: Vec<_> = args.iter().map(Value::raw).collect();
        let results = lua.0.call(self.0.get(), &raw)?;
        let results: Vec<Value> = results.into_iter().map(|v| Value::from_raw(&lua, v)).collect();
        R::from_lua_multi(MultiValue::from(results), &lua)
    }
}
