//! Rust values as Lua values.

use super::LuaSerdeExt;
use crate::api::convert::IntoLua;
use crate::api::error::{Error, Result};
use crate::api::lua::Lua;
use crate::api::table::Table;
use crate::api::value::Value;
use ::serde::ser::{self, Serialize};

/// How Rust values become Lua values.
///
/// ```
/// use perilune::serde::SerializeOptions;
/// use perilune::{Lua, LuaSerdeExt, Table};
///
/// let lua = Lua::new();
/// let options = SerializeOptions::new();
/// let options = options.serialize_none_to_null(false).serialize_unit_to_null(false).set_array_metatable(false);
/// let options = options.detect_serde_json_arbitrary_precision(false);
/// assert!(lua.to_value(&None::<i32>)?.is_null());
/// assert!(lua.to_value_with(&None::<i32>, options)?.is_nil());
/// let array: Table = lua.unpack(lua.to_value_with(&[1, 2], options)?)?;
/// assert!(!array.has_metatable());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct SerializeOptions {
    /// Do sequences get the metatable of arrays?
    pub set_array_metatable: bool,
    /// Does `None` become [`Value::NULL`], not nil?
    pub serialize_none_to_null: bool,
    /// Do `()` and structs without fields become [`Value::NULL`], not nil?
    pub serialize_unit_to_null: bool,
    /// Are the numbers of serde_json with its feature `arbitrary_precision` known as such?
    pub detect_serde_json_arbitrary_precision: bool,
}

impl Default for SerializeOptions {
    fn default() -> SerializeOptions {
        SerializeOptions::new()
    }
}

impl SerializeOptions {
    /// The defaults: all on but the last.
    ///
    /// ```
    /// use perilune::serde::SerializeOptions;
    ///
    /// let options = SerializeOptions::new();
    /// assert!(options.set_array_metatable && options.serialize_none_to_null && options.serialize_unit_to_null);
    /// ```
    #[must_use]
    pub const fn new() -> SerializeOptions {
        SerializeOptions {
            set_array_metatable: true,
            serialize_none_to_null: true,
            serialize_unit_to_null: true,
            detect_serde_json_arbitrary_precision: false,
        }
    }
    /// Sets [`SerializeOptions::set_array_metatable`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::SerializeOptions};
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().set_array_metatable(false);
    /// let value = lua.to_value_with(&[1, 2], options)?;
    /// assert!(value.as_table().is_some_and(|array| !array.has_metatable()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn set_array_metatable(mut self, on: bool) -> SerializeOptions {
        self.set_array_metatable = on;
        self
    }
    /// Sets [`SerializeOptions::serialize_none_to_null`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::SerializeOptions};
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().serialize_none_to_null(false);
    /// let value = lua.to_value_with(&None::<i32>, options)?;
    /// assert!(value.is_nil());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn serialize_none_to_null(mut self, on: bool) -> SerializeOptions {
        self.serialize_none_to_null = on;
        self
    }
    /// Sets [`SerializeOptions::serialize_unit_to_null`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::SerializeOptions};
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().serialize_unit_to_null(false);
    /// let value = lua.to_value_with(&(), options)?;
    /// assert!(value.is_nil());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn serialize_unit_to_null(mut self, on: bool) -> SerializeOptions {
        self.serialize_unit_to_null = on;
        self
    }
    /// Sets [`SerializeOptions::detect_serde_json_arbitrary_precision`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::SerializeOptions};
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().detect_serde_json_arbitrary_precision(true);
    /// let value = lua.to_value_with(&serde_json::json!(1.5), options)?;
    /// assert!(value.as_number() == Some(1.5));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn detect_serde_json_arbitrary_precision(mut self, on: bool) -> SerializeOptions {
        self.detect_serde_json_arbitrary_precision = on;
        self
    }
}

/// Makes Lua values.
///
/// ```
/// use perilune::Lua;
/// use perilune::serde::{SerializeOptions, Serializer};
/// use serde::Serialize;
///
/// let lua = Lua::new();
/// assert_eq!(8080.serialize(Serializer::new(&lua))?.as_integer(), Some(8080));
/// let options = SerializeOptions::new().serialize_unit_to_null(false);
/// assert!(().serialize(Serializer::new_with_options(&lua, options))?.is_nil());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone)]
pub struct Serializer<'a> {
    lua: &'a Lua,
    options: SerializeOptions,
}

impl<'a> Serializer<'a> {
    /// With the default options.
    ///
    /// ```
    /// use perilune::{Lua, serde::Serializer};
    /// use serde::Serialize;
    ///
    /// let lua = Lua::new();
    /// assert_eq!(8080.serialize(Serializer::new(&lua))?.as_integer(), Some(8080));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub fn new(lua: &'a Lua) -> Serializer<'a> {
        Serializer::new_with_options(lua, SerializeOptions::default())
    }
    /// With options.
    ///
    /// ```
    /// use perilune::{Lua, serde::{SerializeOptions, Serializer}};
    /// use serde::Serialize;
    ///
    /// let lua = Lua::new();
    /// let options = SerializeOptions::new().serialize_unit_to_null(false);
    /// assert!(().serialize(Serializer::new_with_options(&lua, options))?.is_nil());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub fn new_with_options(lua: &'a Lua, options: SerializeOptions) -> Serializer<'a> {
        Serializer { lua, options }
    }
    fn null_if(self, yes: bool) -> Value {
        if yes { Value::NULL } else { Value::Nil }
    }
    /// A table with one field.
    fn tagged(self, variant: &str, v: impl IntoLua) -> Result<Value> {
        let table = self.lua.create_table_with_capacity(0, 1)?;
        table.raw_set(variant, v)?;
        Ok(Value::Table(table))
    }
    fn compound(self, table: Table, variant: Option<&'static str>) -> Compound<'a> {
        Compound { serializer: self, table, variant, next: 1, key: None, number: None }
    }
}

/// A table that is being filled.
pub struct Compound<'a> {
    serializer: Serializer<'a>,
    table: Table,
    /// The variant of an enum that it belongs to.
    variant: Option<&'static str>,
    /// The next index of a sequence.
    next: usize,
    /// The key whose value comes next.
    key: Option<Value>,
    /// A number of serde_json with arbitrary precision: its text.
    number: Option<Value>,
}

/// Name of serde_json's number with arbitrary precision, and of its field.
const JSON_NUMBER: &str = "$serde_json::private::Number";

impl Compound<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        self.table.raw_set(self.next, v.serialize(self.serializer)?)?;
        self.next += 1;
        Ok(())
    }
    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<()> {
        let v = v.serialize(self.serializer)?;
        if self.serializer.options.detect_serde_json_arbitrary_precision && name == JSON_NUMBER {
            self.number = Some(v);
            return Ok(());
        }
        self.table.raw_set(name, v)
    }
    fn finish(self) -> Result<Value> {
        if let Some(text) = self.number {
            let lua = self.serializer.lua;
            let n: f64 = lua.unpack(text)?;
            return Ok(Value::from_number(n));
        }
        match self.variant {
            Some(variant) => self.serializer.tagged(variant, self.table),
            None => Ok(Value::Table(self.table)),
        }
    }
}

macro_rules! numbers {
    ($($name:ident $t:ty)*) => {$(
        fn $name(self, v: $t) -> Result<Value> {
            v.into_lua(self.lua)
        }
    )*};
}

impl<'a> ser::Serializer for Serializer<'a> {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    numbers! {
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
        serialize_f32 f32 serialize_f64 f64
    }
    fn serialize_bool(self, v: bool) -> Result<Value> {
        Ok(Value::Boolean(v))
    }
    fn serialize_i128(self, v: i128) -> Result<Value> {
        Ok(i64::try_from(v).map_or(Value::Number(v as f64), Value::Integer))
    }
    fn serialize_u128(self, v: u128) -> Result<Value> {
        Ok(i64::try_from(v).map_or(Value::Number(v as f64), Value::Integer))
    }
    fn serialize_char(self, v: char) -> Result<Value> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result<Value> {
        self.serialize_bytes(v.as_bytes())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<Value> {
        self.lua.create_string(v).map(Value::String)
    }
    fn serialize_none(self) -> Result<Value> {
        Ok(self.null_if(self.options.serialize_none_to_null))
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Value> {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value> {
        Ok(self.null_if(self.options.serialize_unit_to_null))
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, v: &T) -> Result<Value> {
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<Value> {
        let v = v.serialize(self)?;
        self.tagged(variant, v)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'a>> {
        let table = self.lua.create_table_with_capacity(len.unwrap_or(0), 0)?;
        if self.options.set_array_metatable {
            table.set_metatable(Some(self.lua.array_metatable()))?;
        }
        Ok(self.compound(table, None))
    }
    fn serialize_tuple(self, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, len: usize) -> Result<Compound<'a>> {
        let table = self.lua.create_table_with_capacity(len, 0)?;
        Ok(self.compound(table, Some(variant)))
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'a>> {
        let table = self.lua.create_table_with_capacity(0, len.unwrap_or(0))?;
        Ok(self.compound(table, None))
    }
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Compound<'a>> {
        self.serialize_map(Some(len))
    }
    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, len: usize) -> Result<Compound<'a>> {
        let table = self.lua.create_table_with_capacity(0, len)?;
        Ok(self.compound(table, Some(variant)))
    }
}

macro_rules! sequence {
    ($($t:ident $add:ident)*) => {$(
        impl ser::$t for Compound<'_> {
            type Ok = Value;
            type Error = Error;
            fn $add<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
                self.push(v)
            }
            fn end(self) -> Result<Value> {
                self.finish()
            }
        }
    )*};
}
sequence! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($t:ident)*) => {$(
        impl ser::$t for Compound<'_> {
            type Ok = Value;
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<()> {
                self.field(name, v)
            }
            fn end(self) -> Result<Value> {
                self.finish()
            }
        }
    )*};
}
fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Compound<'_> {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, k: &T) -> Result<()> {
        self.key = Some(k.serialize(self.serializer)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        let k = self.key.take().ok_or_else(|| Error::SerializeError("a value without a key".to_owned()))?;
        self.table.raw_set(k, v.serialize(self.serializer)?)
    }
    fn end(self) -> Result<Value> {
        self.finish()
    }
}
