//! Conversions of arguments and results.

use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::lua::Lua;
use super::passing::{Passed, Place, behind, pass_value};
use super::value::Value;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What can be arguments or results.
///
/// ```
/// use perilune::{IntoLuaMulti, Lua, MultiValue, Result};
///
/// struct Point(f64, f64);
/// impl IntoLuaMulti for Point {
///     fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
///         (self.0, self.1).into_lua_multi(lua)
///     }
/// }
/// let lua = Lua::new();
/// assert_eq!(lua.load("local x, y = ... return x * y").call::<f64>(Point(3.0, 4.0))?, 12.0);
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait IntoLuaMulti: Sized {
    /// Converts.
    ///
    /// ```
    /// use perilune::{IntoLuaMulti, Lua};
    ///
    /// assert_eq!((1, "two").into_lua_multi(&Lua::new())?.len(), 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue>;
    /// Converts, and puts the values on their way.
    #[doc(hidden)]
    fn pass_all(self, lua: &Lua) -> Result<()> {
        self.into_lua_multi(lua)?.iter().try_for_each(|v| pass_value(lua, v))
    }
}

/// What can be made of arguments or results.
///
/// ```
/// use perilune::{FromLuaMulti, Lua, MultiValue, Result};
///
/// struct Point(f64, f64);
/// impl FromLuaMulti for Point {
///     fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Point> {
///         <(f64, f64)>::from_lua_multi(values, lua).map(|(x, y)| Point(x, y))
///     }
/// }
/// let lua = Lua::new();
/// let length = lua.create_function(|_, p: Point| Ok(p.0.hypot(p.1)))?;
/// assert_eq!(length.call::<f64>((3, 4))?, 5.0);
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait FromLuaMulti: Sized {
    /// Converts. Missing values are nil, surplus ones are ignored.
    ///
    /// ```
    /// use perilune::{FromLuaMulti, IntoLuaMulti, Lua};
    ///
    /// let lua = Lua::new();
    /// let values = (1, "two").into_lua_multi(&lua)?;
    /// assert_eq!(<(i32, String)>::from_lua_multi(values, &lua)?, (1, "two".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Self>;
    /// Converts arguments of the function `to`, of which the first is number `i`: an error says which one is bad.
    ///
    /// ```
    /// use perilune::{Error, FromLuaMulti, Lua};
    ///
    /// let lua = Lua::new();
    /// let args = lua.pack_multi((1, "two"))?;
    /// let e = <(i32, i32)>::from_lua_args(args, 1, Some("add"), &lua).unwrap_err();
    /// assert!(matches!(e, Error::BadArgument { pos: 2, .. }));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn from_lua_args(args: MultiValue, i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
        let _ = (i, to);
        Self::from_lua_multi(args, lua)
    }
    /// Converts values on their way, which are arguments from a place on if there is one.
    #[doc(hidden)]
    fn take_all(values: Passed<'_>, place: Place<'_>) -> Result<Self> {
        match place {
            None => Self::from_lua_multi(values.to_multi(), values.lua),
            Some((i, to)) => Self::from_lua_args(values.to_multi(), i, to, values.lua),
        }
    }
    /// As [`FromLua::EMPTIES`].
    #[doc(hidden)]
    const EMPTIES: bool = false;
    /// As [`FromLua::check`].
    #[doc(hidden)]
    fn check_all(_: Passed<'_>, _: Place<'_>) -> Result<()> {
        Ok(())
    }
}

/// Any number of values.
///
/// ```
/// use perilune::{Lua, MultiValue};
///
/// let lua = Lua::new();
/// let count = lua.create_function(|_, values: MultiValue| Ok(values.len()))?;
/// assert_eq!(count.call::<usize>((1, None::<i32>, "three"))?, 3);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiValue(VecDeque<Value>);

impl MultiValue {
    /// No values.
    ///
    /// ```
    /// assert!(perilune::MultiValue::new().is_empty());
    /// ```
    pub const fn new() -> MultiValue {
        MultiValue(VecDeque::new())
    }
    /// No values, with room for some.
    ///
    /// ```
    /// use perilune::{MultiValue, Value};
    ///
    /// let mut values = MultiValue::with_capacity(2);
    /// values.push_back(Value::Integer(1));
    /// assert_eq!(values.len(), 1);
    /// ```
    pub fn with_capacity(n: usize) -> MultiValue {
        MultiValue(VecDeque::with_capacity(n))
    }
    /// The values of a vector.
    ///
    /// ```
    /// use perilune::{MultiValue, Value};
    ///
    /// assert_eq!(MultiValue::from_vec(vec![Value::Nil, Value::Integer(1)]).len(), 2);
    /// ```
    pub fn from_vec(values: Vec<Value>) -> MultiValue {
        MultiValue(values.into())
    }
    /// Takes the values.
    ///
    /// ```
    /// use perilune::{Lua, Value};
    ///
    /// assert_eq!(Lua::new().pack_multi((1, true))?.into_vec(), [Value::Integer(1), Value::Boolean(true)]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn into_vec(self) -> Vec<Value> {
        self.0.into()
    }
    /// Makes values of what an iterator gives.
    ///
    /// ```
    /// use perilune::{Lua, MultiValue};
    ///
    /// let lua = Lua::new();
    /// let values = MultiValue::from_lua_iter(&lua, ["a", "b", "c"])?;
    /// assert_eq!(lua.load("return select('#', ...)").call::<i32>(values)?, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn from_lua_iter<T: IntoLua>(lua: &Lua, items: impl IntoIterator<Item = T>) -> Result<MultiValue> {
        items.into_iter().map(|v| v.into_lua(lua)).collect()
    }
}
impl From<Vec<Value>> for MultiValue {
    fn from(values: Vec<Value>) -> MultiValue {
        MultiValue::from_vec(values)
    }
}
impl From<MultiValue> for Vec<Value> {
    fn from(values: MultiValue) -> Vec<Value> {
        values.into_vec()
    }
}
impl Deref for MultiValue {
    type Target = VecDeque<Value>;
    fn deref(&self) -> &VecDeque<Value> {
        &self.0
    }
}
impl DerefMut for MultiValue {
    fn deref_mut(&mut self) -> &mut VecDeque<Value> {
        &mut self.0
    }
}
impl FromIterator<Value> for MultiValue {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> MultiValue {
        MultiValue(values.into_iter().collect())
    }
}
impl IntoIterator for MultiValue {
    type Item = Value;
    type IntoIter = std::collections::vec_deque::IntoIter<Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
impl<'a> IntoIterator for &'a MultiValue {
    type Item = &'a Value;
    type IntoIter = std::collections::vec_deque::Iter<'a, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoLuaMulti for MultiValue {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(self)
    }
}
impl IntoLuaMulti for &MultiValue {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(self.clone())
    }
}
impl FromLuaMulti for MultiValue {
    fn from_lua_multi(values: MultiValue, _: &Lua) -> Result<MultiValue> {
        Ok(values)
    }
}
impl<T: IntoLua> IntoLuaMulti for T {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        Ok(MultiValue([self.into_lua(lua)?].into()))
    }
    #[inline]
    fn pass_all(self, lua: &Lua) -> Result<()> {
        self.pass(lua)
    }
}
impl<T: FromLua> FromLuaMulti for T {
    fn from_lua_multi(mut values: MultiValue, lua: &Lua) -> Result<T> {
        T::from_lua(values.pop_front().unwrap_or_default(), lua)
    }
    fn from_lua_args(mut args: MultiValue, i: usize, to: Option<&str>, lua: &Lua) -> Result<T> {
        T::from_lua_arg(args.pop_front().unwrap_or_default(), i, to, lua)
    }
    #[inline]
    fn take_all(values: Passed<'_>, place: Place<'_>) -> Result<T> {
        T::take(values, 0, place)
    }
    const EMPTIES: bool = T::EMPTIES;
    fn check_all(values: Passed<'_>, place: Place<'_>) -> Result<()> {
        T::check(values, 0, place)
    }
}
/// The value, or nil and the error.
impl<T: IntoLua, E: IntoLua> IntoLuaMulti for std::result::Result<T, E> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        match self {
            Ok(v) => v.into_lua_multi(lua),
            Err(e) => (Value::Nil, e).into_lua_multi(lua),
        }
    }
    fn pass_all(self, lua: &Lua) -> Result<()> {
        match self {
            Ok(v) => v.pass(lua),
            Err(e) => (Value::Nil, e).pass_all(lua),
        }
    }
}
/// Nothing, or nil and the error.
impl<E: IntoLua> IntoLuaMulti for std::result::Result<(), E> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        match self {
            Ok(()) => Ok(MultiValue::new()),
            Err(e) => (Value::Nil, e).into_lua_multi(lua),
        }
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
#[derive(Clone, Debug, PartialEq)]
pub struct Variadic<T>(Vec<T>);

impl<T> Variadic<T> {
    /// No values.
    ///
    /// ```
    /// use perilune::{Lua, Variadic};
    ///
    /// let lua = Lua::new();
    /// assert_eq!(lua.load("return select('#', ...)").call::<i32>(Variadic::<i32>::new())?, 0);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn new() -> Variadic<T> {
        Variadic(Vec::new())
    }
    /// No values, with room for some.
    ///
    /// ```
    /// use perilune::{Lua, Variadic};
    ///
    /// let mut words = Variadic::with_capacity(2);
    /// words.extend(["a", "b"]);
    /// assert_eq!(Lua::new().load("return select('#', ...)").call::<i32>(words)?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn with_capacity(n: usize) -> Variadic<T> {
        Variadic(Vec::with_capacity(n))
    }
}
impl<T> Default for Variadic<T> {
    fn default() -> Variadic<T> {
        Variadic::new()
    }
}
impl<T> Deref for Variadic<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}
impl<T> DerefMut for Variadic<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}
impl<T> From<Vec<T>> for Variadic<T> {
    fn from(values: Vec<T>) -> Variadic<T> {
        Variadic(values)
    }
}
impl<T> From<Variadic<T>> for Vec<T> {
    fn from(values: Variadic<T>) -> Vec<T> {
        values.0
    }
}
impl<T> FromIterator<T> for Variadic<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Variadic<T> {
        Variadic(values.into_iter().collect())
    }
}
impl<T> IntoIterator for Variadic<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
impl<T: IntoLua> IntoLuaMulti for Variadic<T> {
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
        MultiValue::from_lua_iter(lua, self)
    }
    fn pass_all(self, lua: &Lua) -> Result<()> {
        self.into_iter().try_for_each(|v| v.pass(lua))
    }
}
impl<T: FromLua> FromLuaMulti for Variadic<T> {
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Variadic<T>> {
        values.into_iter().map(|v| T::from_lua(v, lua)).collect()
    }
    fn from_lua_args(args: MultiValue, i: usize, to: Option<&str>, lua: &Lua) -> Result<Variadic<T>> {
        args.into_iter().enumerate().map(|(k, v)| T::from_lua_arg(v, i + k, to, lua)).collect()
    }
    fn take_all(values: Passed<'_>, place: Place<'_>) -> Result<Variadic<T>> {
        Self::check_all(values, place)?;
        (0..values.len()).map(|i| T::take(values, i, behind(place, i))).collect()
    }
    const EMPTIES: bool = T::EMPTIES;
    fn check_all(values: Passed<'_>, place: Place<'_>) -> Result<()> {
        if T::EMPTIES { (0..values.len()).try_for_each(|i| T::check(values, i, behind(place, i))) } else { Ok(()) }
    }
}

/// The error of a bad argument.
pub(crate) fn bad_argument(i: usize, to: Option<&str>, cause: Error) -> Error {
    Error::BadArgument { to: to.map(str::to_owned), pos: i, name: None, cause: Arc::new(cause) }
}

impl IntoLuaMulti for () {
    fn into_lua_multi(self, _: &Lua) -> Result<MultiValue> {
        Ok(MultiValue::new())
    }
    #[inline]
    fn pass_all(self, _: &Lua) -> Result<()> {
        Ok(())
    }
}
impl FromLuaMulti for () {
    fn from_lua_multi(_: MultiValue, _: &Lua) -> Result<()> {
        Ok(())
    }
    #[inline]
    fn take_all(_: Passed<'_>, _: Place<'_>) -> Result<()> {
        Ok(())
    }
}

/// Tuples: the last part may be any number of values.
macro_rules! tuple {
    ($($t:ident)* ; $last:ident) => {
        impl<$($t: IntoLua,)* $last: IntoLuaMulti> IntoLuaMulti for ($($t,)* $last,) {
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue> {
                let ($($t,)* $last,) = self;
                let first: Vec<Value> = vec![$($t.into_lua(lua)?),*];
                let mut values = $last.into_lua_multi(lua)?;
                for v in first.into_iter().rev() {
                    values.push_front(v);
                }
                Ok(values)
            }
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            #[inline]
            fn pass_all(self, lua: &Lua) -> Result<()> {
                let ($($t,)* $last,) = self;
                $($t.pass(lua)?;)*
                $last.pass_all(lua)
            }
        }
        impl<$($t: FromLua,)* $last: FromLuaMulti> FromLuaMulti for ($($t,)* $last,) {
            #[allow(non_snake_case, unused_mut, reason = "the variables are named after their types; one may be the only one")]
            fn from_lua_multi(mut values: MultiValue, lua: &Lua) -> Result<Self> {
                $(let $t = $t::from_lua(values.pop_front().unwrap_or_default(), lua)?;)*
                let $last = $last::from_lua_multi(values, lua)?;
                Ok(($($t,)* $last,))
            }
            #[allow(non_snake_case, unused_mut, reason = "the variables are named after their types; one may be the only one")]
            fn from_lua_args(mut args: MultiValue, mut i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
                $(
                    let $t = $t::from_lua_arg(args.pop_front().unwrap_or_default(), i, to, lua)?;
                    i += 1;
                )*
                let $last = $last::from_lua_args(args, i, to, lua)?;
                Ok(($($t,)* $last,))
            }
            #[allow(
                non_snake_case,
                unused_mut,
                unused_assignments,
                reason = "the variables are named after their types; where there is one, nothing is counted"
            )]
            #[inline]
            fn take_all(values: Passed<'_>, place: Place<'_>) -> Result<Self> {
                let mut i = 0;
                if $($t::EMPTIES ||)* false {
                    // What takes the value out of a userdata is last, so that the value is lost only if the function is called.
                    $(
                        let waits = $t::EMPTIES.then(|| $t::check(values, i, behind(place, i))).transpose()?.is_some();
                        let $t = if waits { None } else { Some($t::take(values, i, behind(place, i))?) };
                        i += 1;
                    )*
                    let (rest, place_of_rest) = (values.skip(i), behind(place, i));
                    let waits = $last::EMPTIES.then(|| $last::check_all(rest, place_of_rest)).transpose()?.is_some();
                    let $last = if waits { None } else { Some($last::take_all(rest, place_of_rest)?) };
                    i = 0;
                    $(
                        let $t = $t.map_or_else(|| $t::take(values, i, behind(place, i)), Ok)?;
                        i += 1;
                    )*
                    let $last = $last.map_or_else(|| $last::take_all(rest, place_of_rest), Ok)?;
                    return Ok(($($t,)* $last,));
                }
                $(
                    let $t = $t::take(values, i, behind(place, i))?;
                    i += 1;
                )*
                let $last = $last::take_all(values.skip(i), behind(place, i))?;
                Ok(($($t,)* $last,))
            }
        }
    };
}
/// The tuples of one to all of the types.
macro_rules! tuples {
    ($($done:ident)* ; $next:ident $($more:ident)*) => {
        tuple! { $($done)* ; $next }
        tuples! { $($done)* $next ; $($more)* }
    };
    ($($done:ident)* ;) => {};
}
tuples! { ; A B C D E F G H I J K L M N O P }
