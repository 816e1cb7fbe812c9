//! Conversions by a state.

use super::convert::{FromLua, IntoLua, coerce_number};
use super::error::Result;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::string::LuaString;
use super::value::{Integer, Number, Value};
use perilune_vm::value::Value as Raw;

impl Lua {
    /// Converts a Rust value.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.pack(Some(2))?.as_integer(), Some(2));
    /// assert!(lua.pack(None::<i32>)?.is_nil());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the conversion.
    pub fn pack(&self, v: impl IntoLua) -> Result<Value> {
        v.into_lua(self)
    }
    /// Converts a Lua value.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.unpack::<u8>(Value::Integer(200))?, 200);
    /// assert!(lua.unpack::<u8>(Value::Integer(300)).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the conversion.
    pub fn unpack<T: FromLua>(&self, v: Value) -> Result<T> {
        T::from_lua(v, self)
    }
    /// Converts a Rust value to a Lua value, and that to another Rust value.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.convert::<i32>("42")?, 42);
    /// assert!(lua.convert::<u8>(300).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions.
    pub fn convert<T: FromLua>(&self, v: impl IntoLua) -> Result<T> {
        T::from_lua(v.into_lua(self)?, self)
    }
    /// Converts Rust values as arguments and results are converted.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let values = lua.pack_multi((1, "two"))?;
    /// assert_eq!((values.len(), values[0].as_integer()), (2, Some(1)));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions.
    pub fn pack_multi(&self, values: impl IntoLuaMulti) -> Result<MultiValue> {
        values.into_lua_multi(self)
    }
    /// Converts Lua values as arguments and results are converted.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let values = lua.pack_multi((1, "two"))?;
    /// assert_eq!(lua.unpack_multi::<(i32, String)>(values)?, (1, "two".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions.
    pub fn unpack_multi<T: FromLuaMulti>(&self, values: MultiValue) -> Result<T> {
        T::from_lua_multi(values, self)
    }
    /// A string, or the text of a number; none for other values.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.coerce_string(Value::Number(1.5))?.unwrap(), "1.5");
    /// assert!(lua.coerce_string(Value::Boolean(true))?.is_none());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn coerce_string(&self, v: Value) -> Result<Option<LuaString>> {
        let _lock = self.0.lock();
        match v {
            Value::String(s) => Ok(Some(s)),
            Value::Integer(_) | Value::Number(_) => {
                let raw = v.raw_in(self)?;
                let s = LuaString(self.handle(self.0.enter(|vm| Raw::str(vm.number_str(raw)))));
                self.0.step()?;
                Ok(Some(s))
            }
            _ => Ok(None),
        }
    }
    /// A number without a fraction, or a string that denotes one; none for other values.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.coerce_integer(Value::String(lua.create_string("0x10")?))?, Some(16));
    /// assert_eq!(lua.coerce_integer(Value::Number(1.5))?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The string is one of a state that is closed.
    pub fn coerce_integer(&self, v: Value) -> Result<Option<Integer>> {
        Ok(match v {
            Value::Integer(i) => Some(i),
            v => coerce_number(&v)?.and_then(|n| Value::from_number(n).as_integer()),
        })
    }
    /// A number, or a string that denotes one; none for other values.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.coerce_number(Value::String(lua.create_string("1.5")?))?, Some(1.5));
    /// assert_eq!(lua.coerce_number(Value::Boolean(true))?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The string is one of a state that is closed.
    pub fn coerce_number(&self, v: Value) -> Result<Option<Number>> {
        coerce_number(&v)
    }
}
