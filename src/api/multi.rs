//! Conversions of arguments and results.

use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::lua::Lua;
use super::value::Value;
use std::ops::Deref;

/// Any number of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiValue(Vec<Value>);

impl MultiValue {
    /// Takes the values.
    pub fn into_vec(self) -> Vec<Value> {
        self.0
    }
}
impl From<Vec<Value>> for MultiValue {
    fn from(values: Vec<Value>) -> MultiValue {
        MultiValue(values)
    }
}
impl Deref for MultiValue {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0
    }
}

/// What can be arguments or results.
pub trait IntoLuaMulti: Sized {
    /// Converts.
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue>;
}

/// What can be made of arguments or results.
pub trait FromLuaMulti: Sized {
    /// Converts. Missing values are nil, surplus ones are ignored.
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Self>;
}

impl IntoLuaMulti for MultiValue {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(self)
    }
}
impl FromLuaMulti for MultiValue {
    fn from_lua_multi(values: MultiValue, _: &Lua) -> Result<MultiValue> {
        Ok(values)
    }
}
impl<T: IntoLua> IntoLuaMulti for T {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        Ok(MultiValue(vec![self.into_lua(lua)?]))
    }
}
impl<T: FromLua> FromLuaMulti for T {
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<T> {
        let first = values.0.into_iter().next().unwrap_or_default();
        T::from_lua(first, lua).map_err(|e| bad(1, &e))
    }
}
impl IntoLuaMulti for () {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(MultiValue::default())
    }
}
impl FromLuaMulti for () {
    fn from_lua_multi(_: MultiValue, _: &Lua) -> Result<()> {
        Ok(())
    }
}

/// Any number of values of one type.
///
/// ```
/// use perilune::{Lua, Variadic};
///
/// let lua = Lua::new();
/// let sum = lua.create_function(|_, all: Variadic<f64>| Ok(all.iter().sum::<f64>()))?;
/// assert_eq!(sum.call::<f64>((1, 2.5, 3))?, 6.5);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variadic<T>(pub Vec<T>);

impl<T> Deref for Variadic<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}
impl<T: IntoLua> IntoLuaMulti for Variadic<T> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        self.0.into_iter().map(|v| v.into_lua(lua)).collect::<Result<Vec<_>>>().map(MultiValue)
    }
}
impl<T: FromLua> FromLuaMulti for Variadic<T> {
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Variadic<T>> {
        let converted = values.0.into_iter().enumerate().map(|(i, v)| T::from_lua(v, lua).map_err(|e| bad(i + 1, &e)));
        converted.collect::<Result<Vec<T>>>().map(Variadic)
    }
}

/// Which of the values could not be converted.
fn bad(i: usize, e: &Error) -> Error {
    Error::runtime(format_args!("bad value #{i}: {}", e.message()))
}

macro_rules! tuples {
    ($(($($t:ident $i:literal),*) $last:ident $n:literal;)*) => {$(
        impl<$($t: IntoLua,)* $last: IntoLuaMulti> IntoLuaMulti for ($($t,)* $last,) {
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
                let ($($t,)* $last,) = self;
                let mut values = vec![$($t.into_lua(lua)?),*];
                values.extend($last.into_lua_multi(lua)?.0);
                Ok(MultiValue(values))
            }
        }
        impl<$($t: FromLua,)* $last: FromLuaMulti> FromLuaMulti for ($($t,)* $last,) {
            #[allow(non_snake_case, unused_mut, reason = "the variables are named after their types; one may be the only one")]
            fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Self> {
                let mut values = values.0.into_iter();
                $(let $t = $t::from_lua(values.next().unwrap_or_default(), lua).map_err(|e| bad($i, &e))?;)*
                let $last = $last::from_lua_multi(MultiValue(values.collect()), lua)
                    .map_err(|e| if $n > 1 { shift(&e, $n - 1) } else { e })?;
                Ok(($($t,)* $last,))
            }
        }
    )*};
}
tuples! {
    () A 1;
    (A 1) B 2;
    (A 1, B 2) C 3;
    (A 1, B 2, C 3) D 4;
    (A 1, B 2, C 3, D 4) E 5;
    (A 1, B 2, C 3, D 4, E 5) F 6;
    (A 1, B 2, C 3, D 4, E 5, F 6) G 7;
    (A 1, B 2, C 3, D 4, E 5, F 6, G 7) H 8;
}

/// The error of the rest of a tuple, counted from the tuple's start.
fn shift(e: &Error, by: usize) -> Error {
    let text = e.message();
    let Some((n, rest)) = text.strip_prefix("bad value #").and_then(|t| t.split_once(':')) else { return e.clone() };
    match n.parse::<usize>() {
        Ok(n) => Error::runtime(format_args!("bad value #{}:{rest}", n + by)),
        Err(_) => e.clone(),
    }
}
