//! Functions.

use super::error::Result;
use super::handle::Handle;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::value::Value;
use perilune_vm::value::Value as Raw;

/// A Lua function, a library function, or a Rust closure made one.
#[derive(Clone, Debug, PartialEq)]
pub struct Function(pub(crate) Handle);

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
    ///
    /// # Errors
    /// An argument cannot be converted, the function fails, or a result is not an `R`.
    ///
    /// # Panics
    /// A Rust function that it calls panics: the panic goes through Lua and comes out here.
    pub fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let lua = self.0.lua();
        let results = call_value(&lua, self.0.get(), args)?;
        R::from_lua_multi(results, &lua)
    }
}

/// Calls a raw value, which is rooted.
pub(crate) fn call_value(lua: &Lua, f: Raw, args: impl IntoLuaMulti) -> Result<MultiValue> {
    let args = args.into_lua_multi(lua)?;
    let raw = args.iter().map(|v| v.raw_in(lua)).collect::<Result<Vec<Raw>>>()?;
    let results = lua.0.call(f, &raw)?;
    Ok(results.into_iter().map(|v| Value::from_raw(lua, v)).collect())
}
