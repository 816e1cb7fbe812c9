//! Conversions of single values.

use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::multi::bad_argument;
use super::string::LuaString;
use super::table::Table;
use super::thread::Thread;
use super::userdata::AnyUserData;
use super::value::{Integer, Value};
use perilune_vm::meta::to_number;
use std::collections::HashMap;
use std::hash::Hash;

/// What can be made a Lua value.
pub trait IntoLua: Sized {
    /// Converts.
    fn into_lua(self, lua: &Lua) -> Result<Value>;
}

/// What can be made of a Lua value.
pub trait FromLua: Sized {
    /// Converts.
    fn from_lua(v: Value, lua: &Lua) -> Result<Self>;
    /// Converts argument `i` of the function `to`: an error says which one is bad.
    fn from_lua_arg(v: Value, i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
        Self::from_lua(v, lua).map_err(|e| bad_argument(i, to, e))
    }
}

impl IntoLua for Value {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(self)
    }
}
impl FromLua for Value {
    fn from_lua(v: Value, _: &Lua) -> Result<Value> {
        Ok(v)
    }
}

macro_rules! handle {
    ($($t:ident $variant:ident $name:literal)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self))
            }
        }
        impl IntoLua for &$t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self.clone()))
            }
        }
        impl FromLua for $t {
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                match v {
                    Value::$variant(h) => Ok(h),
                    _ => Err(Error::conversion(v.type_name(), $name)),
                }
            }
        }
    )*};
}
handle! { Table Table "table" Function Function "function" Thread Thread "thread" AnyUserData UserData "userdata" }

impl IntoLua for LuaString {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::String(self))
    }
}
impl FromLua for LuaString {
    fn from_lua(v: Value, lua: &Lua) -> Result<LuaString> {
        match v {
            Value::String(s) => Ok(s),
            Value::Integer(_) | Value::Number(_) => {
                let raw = v.raw_in(lua)?;
                let s = lua.0.enter(|vm| perilune_vm::value::Value::str(vm.number_str(raw)));
                Ok(LuaString(lua.handle(s)))
            }
            _ => Err(Error::conversion(v.type_name(), "string")),
        }
    }
}

impl IntoLua for bool {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Boolean(self))
    }
}
/// As Lua tests a condition: everything but nil and false is true.
impl FromLua for bool {
    fn from_lua(v: Value, _: &Lua) -> Result<bool> {
        Ok(!matches!(v, Value::Nil | Value::Boolean(false)))
    }
}

/// A number, or a string that denotes one.
fn number(v: &Value, to: &str) -> Result<f64> {
    match v {
        Value::Integer(i) => Ok(*i as f64),
        Value::Number(n) => Ok(*n),
        Value::String(s) => to_number(s.0.get()).and_then(|n| n.as_number()).ok_or_else(|| Error::conversion("string", to)),
        _ => Err(Error::conversion(v.type_name(), to)),
    }
}

macro_rules! integer {
    ($($t:ident)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Integer::try_from(self).map_or(Value::Number(self as f64), Value::Integer))
            }
        }
        impl FromLua for $t {
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                let to = stringify!($t);
                if let Value::Integer(i) = v
                    && let Ok(i) = $t::try_from(i)
                {
                    return Ok(i);
                }
                let n = number(&v, to)?;
                let i = n as i128;
                let exact = i as f64 == n;
                let i = $t::try_from(i).ok().filter(|_| exact);
                i.ok_or_else(|| Error::conversion_because(v.type_name(), to, "out of range"))
            }
        }
    )*};
}
integer! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize }

macro_rules! float {
    ($($t:ident)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::Number(self.into()))
            }
        }
        impl FromLua for $t {
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                Ok(number(&v, stringify!($t))? as $t)
            }
        }
    )*};
}
float! { f32 f64 }

impl IntoLua for &str {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Ok(Value::String(lua.create_string(self)?))
    }
}
impl IntoLua for String {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        self.as_str().into_lua(lua)
    }
}
impl IntoLua for &String {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        self.as_str().into_lua(lua)
    }
}
impl FromLua for String {
    fn from_lua(v: Value, lua: &Lua) -> Result<String> {
        Ok(LuaString::from_lua(v, lua)?.to_str()?.to_owned())
    }
}

impl<T: IntoLua> IntoLua for Option<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        self.map_or(Ok(Value::Nil), |v| v.into_lua(lua))
    }
}
impl<T: FromLua> FromLua for Option<T> {
    fn from_lua(v: Value, lua: &Lua) -> Result<Option<T>> {
        if v.is_nil() { Ok(None) } else { T::from_lua(v, lua).map(Some) }
    }
}

impl<T: IntoLua> IntoLua for Vec<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self).map(Value::Table)
    }
}
impl<T: IntoLua, const N: usize> IntoLua for [T; N] {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self).map(Value::Table)
    }
}
impl<T: FromLua> FromLua for Vec<T> {
    fn from_lua(v: Value, lua: &Lua) -> Result<Vec<T>> {
        Table::from_lua(v, lua)?.sequence_values().collect()
    }
}

impl<K: IntoLua, V: IntoLua, S> IntoLua for HashMap<K, V, S> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_table_from(self).map(Value::Table)
    }
}
impl<K: FromLua + Eq + Hash, V: FromLua> FromLua for HashMap<K, V> {
    fn from_lua(v: Value, lua: &Lua) -> Result<HashMap<K, V>> {
        Table::from_lua(v, lua)?.pairs().collect()
    }
}

impl IntoLua for Error {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Error(Box::new(self)))
    }
}
/// An error that Lua code has caught; any other value becomes an error with its text.
impl FromLua for Error {
    fn from_lua(v: Value, lua: &Lua) -> Result<Error> {
        match v {
            Value::Error(e) => Ok(*e),
            v => Ok(Error::runtime(v.display(lua)?)),
        }
    }
}
