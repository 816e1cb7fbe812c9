//! Conversions of single values: the traits, and values, handles, options and errors. Numbers, texts and collections have files of their own.

mod collection;
mod number;
mod text;

pub(super) use number::coerce as coerce_number;

use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::multi::bad_argument;
use super::passing::{Passed, Place, pass, pass_value};
use super::registry::RegistryKey;
use super::string::LuaString;
use super::table::Table;
use super::thread::Thread;
use super::type_name::short_type_name;
use super::userdata::AnyUserData;
use super::value::{LightUserData, Value};
use either::Either;
use perilune_vm::value::Value as Raw;

/// What can be made a Lua value.
///
/// ```
/// use perilune::{IntoLua, Lua, Result, Value};
///
/// struct Point(f64, f64);
/// impl IntoLua for Point {
///     fn into_lua(self, lua: &Lua) -> Result<Value> {
///         lua.create_table_from([("x", self.0), ("y", self.1)])?.into_lua(lua)
///     }
/// }
/// let lua = Lua::new();
/// lua.globals().set("p", Point(3.0, 4.0))?;
/// assert_eq!(lua.load("p.x * p.y").eval::<f64>()?, 12.0);
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait IntoLua: Sized {
    /// Converts.
    ///
    /// ```
    /// use perilune::{IntoLua, Lua};
    ///
    /// assert_eq!("moon".into_lua(&Lua::new())?.type_name(), "string");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of making tables and strings: memory.
    fn into_lua(self, lua: &Lua) -> Result<Value>;
    /// Converts, and puts the value on its way.
    #[doc(hidden)]
    #[inline]
    fn pass(self, lua: &Lua) -> Result<()> {
        pass_value(lua, &self.into_lua(lua)?)
    }
}

/// What can be made of a Lua value.
///
/// ```
/// use perilune::{FromLua, Lua, Result, Table, Value};
///
/// struct Point(f64, f64);
/// impl FromLua for Point {
///     fn from_lua(v: Value, lua: &Lua) -> Result<Point> {
///         let t = Table::from_lua(v, lua)?;
///         Ok(Point(t.get("x")?, t.get("y")?))
///     }
/// }
/// let lua = Lua::new();
/// let p: Point = lua.load("{ x = 3, y = 4 }").eval()?;
/// assert_eq!((p.0, p.1), (3.0, 4.0));
/// assert!(lua.load("5").eval::<Point>().is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait FromLua: Sized {
    /// Converts.
    ///
    /// ```
    /// use perilune::{FromLua, Lua, Value};
    ///
    /// assert_eq!(u8::from_lua(Value::Integer(7), &Lua::new())?, 7);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value has another type, or is out of range.
    fn from_lua(v: Value, lua: &Lua) -> Result<Self>;
    /// Converts argument `i` of the function `to`: an error says which one is bad.
    ///
    /// ```
    /// use perilune::{Error, FromLua, Lua, Value};
    ///
    /// let e = u8::from_lua_arg(Value::Integer(300), 2, Some("set"), &Lua::new()).unwrap_err();
    /// assert!(matches!(e, Error::BadArgument { pos: 2, .. }));
    /// ```
    ///
    /// # Errors
    /// As [`FromLua::from_lua`], in an [`Error::BadArgument`].
    fn from_lua_arg(v: Value, i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
        Self::from_lua(v, lua).map_err(|e| bad_argument(i, to, e))
    }
    /// Converts value number `i` of those on their way, which is the argument of a place if there is one.
    #[doc(hidden)]
    #[inline]
    fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<Self> {
        match place {
            None => Self::from_lua(values.value(i), values.lua),
            Some((n, to)) => Self::from_lua_arg(values.value(i), n, to, values.lua),
        }
    }
    /// Does the conversion take the value out of a userdata? Then it comes after those of all other arguments, which may fail.
    #[doc(hidden)]
    const EMPTIES: bool = false;
    /// The error that [`FromLua::take`] would give, for conversions that wait.
    #[doc(hidden)]
    fn check(_: Passed<'_>, _: usize, _: Place<'_>) -> Result<()> {
        Ok(())
    }
}

/// As [`FromLua::take`] is without an implementation of its own: for those that have one, and leave it the rare values.
#[cold]
fn take_value<T: FromLua>(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<T> {
    match place {
        None => T::from_lua(values.value(i), values.lua),
        Some((n, to)) => T::from_lua_arg(values.value(i), n, to, values.lua),
    }
}

impl IntoLua for Value {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(self)
    }
}
impl IntoLua for &Value {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(self.clone())
    }
    fn pass(self, lua: &Lua) -> Result<()> {
        pass_value(lua, self)
    }
}
impl FromLua for Value {
    fn from_lua(v: Value, _: &Lua) -> Result<Value> {
        Ok(v)
    }
}

macro_rules! into_handle {
    ($($t:ident $variant:ident)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self))
            }
            fn pass(self, lua: &Lua) -> Result<()> {
                (&self).pass(lua)
            }
        }
        impl IntoLua for &$t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self.clone()))
            }
            fn pass(self, lua: &Lua) -> Result<()> {
                pass(lua, self.0.get_in(&lua.0)?);
                Ok(())
            }
        }
    )*};
}
into_handle! { LuaString String Table Table Function Function Thread Thread AnyUserData UserData }

macro_rules! from_variant {
    ($($t:ident $variant:ident $name:literal |$raw:ident| $is:expr;)*) => {$(
        impl FromLua for $t {
            fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<$t> {
                let $raw = values.raw(i);
                if $is {
                    return Ok($t(values.lua.handle($raw)));
                }
                take_value(values, i, place)
            }
            fn from_lua(v: Value, _: &Lua) -> Result<$t> {
                match v {
                    Value::$variant(h) => Ok(h),
                    _ => Err(Error::conversion(v.what(), $name)),
                }
            }
        }
    )*};
}
from_variant! {
    Table Table "table" |v| v.is_table();
    Function Function "function" |v| v.is_func();
    Thread Thread "thread" |v| v.as_thread().is_some();
}

impl FromLua for AnyUserData {
    fn from_lua(v: Value, _: &Lua) -> Result<AnyUserData> {
        match v {
            Value::UserData(u) => Ok(u),
            _ => Err(Error::conversion(v.what(), "userdata")),
        }
    }
}
impl FromLua for LightUserData {
    fn from_lua(v: Value, _: &Lua) -> Result<LightUserData> {
        match v {
            Value::LightUserData(p) => Ok(p),
            _ => Err(Error::conversion(v.what(), "lightuserdata")),
        }
    }
}

impl IntoLua for LightUserData {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::LightUserData(self))
    }
}

impl IntoLua for bool {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Boolean(self))
    }
    fn pass(self, lua: &Lua) -> Result<()> {
        pass(lua, Raw::bool(self));
        Ok(())
    }
}
/// As Lua tests a condition: everything but nil and false is true.
impl FromLua for bool {
    fn from_lua(v: Value, _: &Lua) -> Result<bool> {
        Ok(!matches!(v, Value::Nil | Value::Boolean(false)))
    }
    fn take(values: Passed<'_>, i: usize, _: Place<'_>) -> Result<bool> {
        Ok(values.raw(i).truthy())
    }
}

/// `None` is nil.
impl<T: IntoLua> IntoLua for Option<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        self.map_or(Ok(Value::Nil), |v| v.into_lua(lua))
    }
    fn pass(self, lua: &Lua) -> Result<()> {
        match self {
            Some(v) => v.pass(lua),
            None => {
                pass(lua, Raw::NIL);
                Ok(())
            }
        }
    }
}
impl<T: FromLua> FromLua for Option<T> {
    fn from_lua(v: Value, lua: &Lua) -> Result<Option<T>> {
        if v.is_nil() { Ok(None) } else { T::from_lua(v, lua).map(Some) }
    }
    fn take(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<Option<T>> {
        if values.raw(i).is_nil() { Ok(None) } else { T::take(values, i, place).map(Some) }
    }
    const EMPTIES: bool = T::EMPTIES;
    fn check(values: Passed<'_>, i: usize, place: Place<'_>) -> Result<()> {
        if values.raw(i).is_nil() { Ok(()) } else { T::check(values, i, place) }
    }
}

impl<L: IntoLua, R: IntoLua> IntoLua for Either<L, R> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        match self {
            Either::Left(v) => v.into_lua(lua),
            Either::Right(v) => v.into_lua(lua),
        }
    }
}
/// The first of the two types that the value can be converted to.
impl<L: FromLua, R: FromLua> FromLua for Either<L, R> {
    fn from_lua(v: Value, lua: &Lua) -> Result<Either<L, R>> {
        let from = v.what();
        if let Ok(left) = L::from_lua(v.clone(), lua) {
            return Ok(Either::Left(left));
        }
        let right = R::from_lua(v, lua).map(Either::Right);
        right.map_err(|_| Error::conversion(from, short_type_name::<Either<L, R>>()))
    }
}

impl IntoLua for RegistryKey {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.registry_value(&self)
    }
}
impl IntoLua for &RegistryKey {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.registry_value(self)
    }
}
impl FromLua for RegistryKey {
    fn from_lua(v: Value, lua: &Lua) -> Result<RegistryKey> {
        lua.create_registry_value(v)
    }
}

impl IntoLua for Error {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Error(Box::new(self)))
    }
}
/// An error that Lua code has caught; any other value becomes an error with its text.
#[cfg(feature = "anyhow")]
impl IntoLua for anyhow::Error {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Error::from(self).into_lua(lua)
    }
}
impl FromLua for Error {
    fn from_lua(v: Value, lua: &Lua) -> Result<Error> {
        match v {
            Value::Error(e) => Ok(*e),
            v => Ok(Error::runtime(v.display(lua)?)),
        }
    }
}
