//! Lua values as serde sees data: Rust values become Lua values ([`ser`]), Lua values become Rust values ([`de`]) or are written by any
//! serializer ([`value`]).

pub mod de;
pub mod ser;
mod userdata;
pub mod value;
mod walk;

use super::error::Result;
use super::lua::Lua;
use super::table::Table;
use super::value::Value;
use ::serde::Serialize;
use ::serde::de::DeserializeOwned;
use perilune_vm::value::Value as Raw;

/// Conversions by serde.
///
/// ```
/// use perilune::{Lua, LuaSerdeExt};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Debug, PartialEq)]
/// struct Server {
///     host: String,
///     ports: Vec<u16>,
/// }
///
/// let lua = Lua::new();
/// let server: Server = lua.from_value(lua.load("{ host = 'moon', ports = { 80, 443 } }").eval()?)?;
/// assert_eq!(server, Server { host: "moon".into(), ports: vec![80, 443] });
/// lua.globals().set("server", lua.to_value(&server)?)?;
/// assert_eq!(lua.load("return server.ports[2]").eval::<u16>()?, 443);
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait LuaSerdeExt: super::Sealed {
    /// What stands for nothing in a table, where nil cannot: [`Value::NULL`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("null", lua.null())?;
    /// let value = lua.load("{ 1, null, 3 }").eval()?;
    /// assert_eq!(lua.from_value::<Vec<Option<i32>>>(value)?, [Some(1), None, Some(3)]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn null(&self) -> Value;
    /// The metatable that makes a table an array, even if it is empty or has other fields.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, Value};
    ///
    /// let lua = Lua::new();
    /// let t = lua.create_table()?;
    /// assert_eq!(serde_json::to_string(&t).unwrap(), "{}");
    /// t.set_metatable(Some(lua.array_metatable()))?;
    /// assert_eq!(serde_json::to_string(&t).unwrap(), "[]");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn array_metatable(&self) -> Table;
    /// Makes a Lua value of a Rust value.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("config", lua.to_value(&serde_json::json!({ "ports": [80, 443] }))?)?;
    /// assert_eq!(lua.load("config.ports[2]").eval::<u16>()?, 443);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be serialized.
    fn to_value<T: Serialize + ?Sized>(&self, value: &T) -> Result<Value>;
    /// [`LuaSerdeExt::to_value`] with options.
    ///
    /// ```
    /// use perilune::serde::SerializeOptions;
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().serialize_none_to_null(false);
    /// assert!(lua.to_value_with(&None::<i32>, options)?.is_nil());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be serialized.
    fn to_value_with<T: Serialize + ?Sized>(&self, value: &T, options: ser::SerializeOptions) -> Result<Value>;
    /// Makes a Rust value of a Lua value.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// let pair: (u8, String) = lua.from_value(lua.load("{ 1, 'two' }").eval()?)?;
    /// assert_eq!(pair, (1, "two".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value has another form than a `T`.
    #[allow(clippy::wrong_self_convention, reason = "mlua's name")]
    fn from_value<T: DeserializeOwned>(&self, value: Value) -> Result<T>;
    /// [`LuaSerdeExt::from_value`] with options.
    ///
    /// ```
    /// use perilune::serde::DeserializeOptions;
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// let options = DeserializeOptions::new().deny_unsupported_types(false);
    /// let numbers: Vec<i32> = lua.from_value_with(lua.load("{ 1, print, 3 }").eval()?, options)?;
    /// assert_eq!(numbers, [1, 3]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The value has another form than a `T`.
    #[allow(clippy::wrong_self_convention, reason = "mlua's name")]
    fn from_value_with<T: DeserializeOwned>(&self, value: Value, options: de::DeserializeOptions) -> Result<T>;
}

impl LuaSerdeExt for Lua {
    fn null(&self) -> Value {
        Value::NULL
    }
    fn array_metatable(&self) -> Table {
        let _lock = self.0.lock();
        let slot = self.0.array_metatable.get().unwrap_or_else(|| {
            let slot = self.0.enter(|vm| {
                let meta = vm.new_table(0, 1);
                vm.set_field(meta, b"__metatable", Raw::FALSE);
                self.0.roots.add(Raw::table(meta))
            });
            self.0.array_metatable.set(Some(slot));
            slot
        });
        Table(self.handle(self.0.roots.get(slot)))
    }
    fn to_value<T: Serialize + ?Sized>(&self, value: &T) -> Result<Value> {
        value.serialize(ser::Serializer::new(self))
    }
    fn to_value_with<T: Serialize + ?Sized>(&self, value: &T, options: ser::SerializeOptions) -> Result<Value> {
        value.serialize(ser::Serializer::new_with_options(self, options))
    }
    fn from_value<T: DeserializeOwned>(&self, value: Value) -> Result<T> {
        T::deserialize(de::Deserializer::new(value))
    }
    fn from_value_with<T: DeserializeOwned>(&self, value: Value, options: de::DeserializeOptions) -> Result<T> {
        T::deserialize(de::Deserializer::new_with_options(value, options))
    }
}
