//! Numbers.

use super::{FromLua, IntoLua, take_value};
use crate::api::error::{Error, Result};
use crate::api::lua::Lua;
use crate::api::passing::{Passed, Place, pass};
use crate::api::string::LuaString;
use crate::api::value::{Integer, Value};
use perilune_vm::meta::to_number;
use perilune_vm::value::Value as Raw;

/// A number, or a string that denotes one.
///
/// # Errors
/// The state of the string is closed.
pub fn coerce(v: &Value) -> Result<Option<f64>> {
    Ok(match v {
        Value::Integer(i) => Some(*i as f64),
        Value::Number(n) => Some(*n),
        Value::String(s) => denoted(s)?,
        _ => None,
    })
}

/// The number that a string denotes. Conversions of numbers, which are inlined, contain no more of it than the call.
#[cold]
#[inline(never)]
fn denoted(s: &LuaString) -> Result<Option<f64>> {
    let lua = s.0.open("FromLua::from_lua")?;
    Ok(to_number(s.0.get_with(&lua)).and_then(|n| n.as_number()))
}

/// [`coerce`] for a conversion to the type `to`.
fn number(v: &Value, to: &str) -> Result<f64> {
    coerce(v)?.ok_or_else(|| Error::conversion_because(v.what(), to, "expected number or string coercible to number"))
}

/// The integers of 128 bits hold all doubles that an integer type can hold; the fraction is cut off.
fn truncate<T: TryFrom<i128> + TryFrom<u128>>(n: f64) -> Option<T> {
    /// 2 to the power of 127.
    const HALF: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if (-HALF..0.0).contains(&n) {
        T::try_from(n as i128).ok()
    } else if (0.0..2.0 * HALF).contains(&n) {
        T::try_from(n as u128).ok()
    } else {
        None
    }
}

macro_rules! integer {
    ($($t:ident)*) => {$(
        /// A number; beyond 53 bits the nearest that a double can be.
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Integer::try_from(self).map_or(Value::Number(self as f64), Value::Integer))
            }
            #[inline]
            fn pass(self, lua: &Lua) -> Result<()> {
                pass(lua, Raw::number(self as f64));
                Ok(())
            }
        }
        /// A number in the range of the type, or a string that denotes one. A fraction is cut off.
        impl FromLua for $t {
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                let to = stringify!($t);
                let converted = match v {
                    Value::Integer(i) => $t::try_from(i).ok(),
                    _ => truncate(number(&v, to)?),
                };
                converted.ok_or_else(|| Error::conversion_because(v.what(), to, "out of range"))
            }
            #[inline]
            fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<$t> {
                // Most are small.
                let n = values.raw(i).as_number().filter(|n| (-1e9..=1e9).contains(n));
                match n.and_then(|n| $t::try_from(n as i64).ok()) {
                    Some(n) => Ok(n),
                    None => take_value(values, i, place),
                }
            }
        }
    )*};
}
integer! { i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize }

macro_rules! float {
    ($($t:ident)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::Number(self.into()))
            }
            #[inline]
            fn pass(self, lua: &Lua) -> Result<()> {
                pass(lua, Raw::number(self.into()));
                Ok(())
            }
        }
        /// A number, or a string that denotes one.
        impl FromLua for $t {
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                Ok(number(&v, stringify!($t))? as $t)
            }
            #[inline]
            fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<$t> {
                match values.raw(i).as_number() {
                    Some(n) => Ok(n as $t),
                    None => take_value(values, i, place),
                }
            }
        }
    )*};
}
float! { f32 f64 }
