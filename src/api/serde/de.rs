//! Lua values as Rust values.

use super::walk::{self, Visit, Visited};
use crate::api::Lua;
use crate::api::error::{Error, Result};
use crate::api::value::Value;
use ::serde::de::{self, Error as _, IntoDeserializer, Unexpected};
use ::serde::forward_to_deserialize_any;

/// How Lua values become data.
///
/// ```
/// use perilune::serde::DeserializeOptions;
/// use perilune::{Lua, LuaSerdeExt, Value};
/// use std::collections::BTreeMap;
///
/// let lua = Lua::new();
/// // The defaults refuse functions and tables that contain themselves.
/// let options = DeserializeOptions::new().deny_unsupported_types(false).deny_recursive_tables(false).sort_keys(true);
/// let t: Value = lua.load("local t = { a = 1, f = print } t.itself = t return t").eval()?;
/// assert!(lua.from_value::<BTreeMap<String, i32>>(t.clone()).is_err());
/// assert_eq!(lua.from_value_with::<BTreeMap<String, i32>>(t, options)?, BTreeMap::from([("a".to_owned(), 1)]));
/// // What is an array?
/// let options = options.encode_empty_tables_as_array(true).detect_mixed_tables(true);
/// assert!(lua.from_value_with::<Vec<i32>>(lua.load("{}").eval()?, options)?.is_empty());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug)]
#[non_exhaustive]
pub struct DeserializeOptions {
    /// Are values without a form (functions, coroutines, userdata) an error? Else they are left out.
    pub deny_unsupported_types: bool,
    /// Is a table that contains itself an error? Else it is left out there.
    pub deny_recursive_tables: bool,
    /// Are keys sorted?
    pub sort_keys: bool,
    /// Is an empty table an array, not a map?
    pub encode_empty_tables_as_array: bool,
    /// Are all keys looked at, to see whether a table is an array? Else one with an element 1 is.
    pub detect_mixed_tables: bool,
}

impl Default for DeserializeOptions {
    fn default() -> DeserializeOptions {
        DeserializeOptions::new()
    }
}

impl DeserializeOptions {
    /// The defaults: what is denied is on, all else off.
    ///
    /// ```
    /// use perilune::serde::DeserializeOptions;
    ///
    /// let options = DeserializeOptions::new();
    /// assert!(options.deny_unsupported_types && options.deny_recursive_tables && !options.sort_keys);
    /// ```
    #[must_use]
    pub const fn new() -> DeserializeOptions {
        DeserializeOptions {
            deny_unsupported_types: true,
            deny_recursive_tables: true,
            sort_keys: false,
            encode_empty_tables_as_array: false,
            detect_mixed_tables: false,
        }
    }
    /// Sets [`DeserializeOptions::deny_unsupported_types`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::DeserializeOptions};
    /// use std::collections::BTreeMap;
    ///
    /// let lua = Lua::new();
    /// let value = lua.load("{ a = 1, f = print }").eval()?;
    /// let options = DeserializeOptions::new().deny_unsupported_types(false);
    /// assert_eq!(lua.from_value_with::<BTreeMap<String, i32>>(value, options)?, BTreeMap::from([("a".to_owned(), 1)]));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn deny_unsupported_types(mut self, on: bool) -> DeserializeOptions {
        self.deny_unsupported_types = on;
        self
    }
    /// Sets [`DeserializeOptions::deny_recursive_tables`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::DeserializeOptions};
    /// use std::collections::BTreeMap;
    ///
    /// let lua = Lua::new();
    /// let value = lua.load("local t = { a = 1 } t.itself = t return t").eval()?;
    /// let options = DeserializeOptions::new().deny_recursive_tables(false);
    /// assert_eq!(lua.from_value_with::<BTreeMap<String, i32>>(value, options)?, BTreeMap::from([("a".to_owned(), 1)]));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn deny_recursive_tables(mut self, on: bool) -> DeserializeOptions {
        self.deny_recursive_tables = on;
        self
    }
    /// Sets [`DeserializeOptions::sort_keys`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::DeserializeOptions};
    ///
    /// let lua = Lua::new();
    /// let value = lua.load("{ b = 2, a = 1 }").eval()?;
    /// let options = DeserializeOptions::new().sort_keys(true);
    /// let json: serde_json::Value = lua.from_value_with(value, options)?;
    /// assert_eq!(json.to_string(), r#"{"a":1,"b":2}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn sort_keys(mut self, on: bool) -> DeserializeOptions {
        self.sort_keys = on;
        self
    }
    /// Sets [`DeserializeOptions::encode_empty_tables_as_array`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::DeserializeOptions};
    ///
    /// let lua = Lua::new();
    /// let value = lua.load("{ list = {} }").eval()?;
    /// let options = DeserializeOptions::new().encode_empty_tables_as_array(true);
    /// let json: serde_json::Value = lua.from_value_with(value, options)?;
    /// assert_eq!(json.to_string(), r#"{"list":[]}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn encode_empty_tables_as_array(mut self, on: bool) -> DeserializeOptions {
        self.encode_empty_tables_as_array = on;
        self
    }
    /// Sets [`DeserializeOptions::detect_mixed_tables`].
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt, serde::DeserializeOptions};
    ///
    /// let lua = Lua::new();
    /// let value = lua.load("{ [3] = 30 }").eval()?;
    /// let options = DeserializeOptions::new().detect_mixed_tables(true);
    /// let json: serde_json::Value = lua.from_value_with(value, options)?;
    /// assert_eq!(json.to_string(), "[null,null,30]");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub const fn detect_mixed_tables(mut self, on: bool) -> DeserializeOptions {
        self.detect_mixed_tables = on;
        self
    }
}

/// Reads a Lua value.
///
/// ```
/// use perilune::Lua;
/// use perilune::serde::{DeserializeOptions, Deserializer};
/// use serde::Deserialize;
///
/// let lua = Lua::new();
/// assert_eq!(u16::deserialize(Deserializer::new(lua.load("8080").eval()?))?, 8080);
/// let empty = Deserializer::new_with_options(lua.load("{}").eval()?, DeserializeOptions::new().encode_empty_tables_as_array(true));
/// assert!(Vec::<u16>::deserialize(empty)?.is_empty());
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct Deserializer {
    value: Value,
    options: DeserializeOptions,
    visited: Visited,
}

impl Deserializer {
    /// With the default options.
    ///
    /// ```
    /// use perilune::{Lua, serde::Deserializer};
    /// use serde::Deserialize;
    ///
    /// let value = Lua::new().load("8080").eval()?;
    /// assert_eq!(u16::deserialize(Deserializer::new(value))?, 8080);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub fn new(value: Value) -> Deserializer {
        Deserializer::new_with_options(value, DeserializeOptions::default())
    }
    /// With options.
    ///
    /// ```
    /// use perilune::{Lua, serde::{DeserializeOptions, Deserializer}};
    /// use serde::Deserialize;
    ///
    /// let lua = Lua::new();
    /// let options = DeserializeOptions::new().encode_empty_tables_as_array(true);
    /// let json = serde_json::Value::deserialize(Deserializer::new_with_options(lua.load("{}").eval()?, options))?;
    /// assert!(json.is_array());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    #[must_use]
    pub fn new_with_options(value: Value, options: DeserializeOptions) -> Deserializer {
        Deserializer { value, options, visited: Visited::default() }
    }
    fn inner(&self, value: Value) -> Deserializer {
        Deserializer { value, options: self.options, visited: self.visited.clone() }
    }
    /// A userdata whose value can be serialized is read as data that says the same.
    fn without_userdata(mut self) -> Result<Deserializer> {
        if let Value::UserData(u) = &self.value
            && u.is_serializable()
        {
            self.value = u.to_data()?;
        }
        Ok(self)
    }
    /// The state of the value, which stays open while the value is read.
    fn state(&self) -> Result<Option<Lua>> {
        walk::state_of(&self.value, "Deserializer::deserialize")
    }
    fn is_skipped(&self, v: &Value) -> Result<bool> {
        walk::is_skipped(v, self.options, &self.visited).map_err(Error::custom)
    }
    /// A table as a sequence of `len` elements, or of as many as it has.
    fn seq<'de, V: de::Visitor<'de>>(self, len: Option<usize>, visitor: V) -> Result<V::Value> {
        let _state = self.state()?;
        let this = self.without_userdata()?;
        let Value::Table(t) = this.value.clone() else {
            return Err(Error::invalid_type(Unexpected::Other(this.value.what()), &"table"));
        };
        let _visit = Visit::new(&t, &this.visited).map_err(Error::custom)?;
        let len = len.unwrap_or_else(|| t.raw_len());
        let mut elements = Elements { elements: walk::elements(t, len), parent: this, left: len };
        let v = visitor.visit_seq(&mut elements)?;
        match elements.left {
            0 => Ok(v),
            _ => Err(Error::invalid_length(len, &"fewer elements in the table")),
        }
    }
}

/// What elements and fields are read with.
struct Elements<I> {
    elements: I,
    parent: Deserializer,
    left: usize,
}

impl<'de, I: Iterator<Item = Result<Value>>> de::SeqAccess<'de> for Elements<I> {
    type Error = Error;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        for v in self.elements.by_ref() {
            self.left -= 1;
            let v = v?;
            if !self.parent.is_skipped(&v)? {
                return seed.deserialize(self.parent.inner(v)).map(Some);
            }
        }
        Ok(None)
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Fields {
    pairs: std::vec::IntoIter<(Value, Value)>,
    parent: Deserializer,
    value: Option<Value>,
}

impl<'de> de::MapAccess<'de> for Fields {
    type Error = Error;

    fn next_key_seed<T: de::DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        for (k, v) in self.pairs.by_ref() {
            if !self.parent.is_skipped(&k)? && !self.parent.is_skipped(&v)? {
                self.value = Some(v);
                return seed.deserialize(self.parent.inner(k)).map(Some);
            }
        }
        Ok(None)
    }
    fn next_value_seed<T: de::DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        match self.value.take() {
            Some(v) => seed.deserialize(self.parent.inner(v)),
            None => Err(Error::custom("value is missing")),
        }
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

impl<'de> de::Deserializer<'de> for Deserializer {
    type Error = Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let _state = self.state()?;
        match &self.value {
            Value::Nil => visitor.visit_unit(),
            Value::Boolean(b) => visitor.visit_bool(*b),
            Value::Integer(i) => visitor.visit_i64(*i),
            Value::Number(n) => visitor.visit_f64(*n),
            Value::String(s) => {
                let bytes = s.open_bytes("Deserializer::deserialize")?;
                match core::str::from_utf8(&bytes) {
                    Ok(text) => visitor.visit_str(text),
                    Err(_) => visitor.visit_bytes(&bytes),
                }
            }
            Value::Table(t) => match walk::array_len(t, self.options) {
                Some(len) => self.seq(Some(len), visitor),
                None => self.deserialize_map(visitor),
            },
            Value::LightUserData(p) if p.0.is_null() => visitor.visit_none(),
            Value::UserData(u) if u.is_serializable() => self.without_userdata()?.deserialize_any(visitor),
            v if self.options.deny_unsupported_types => Err(Error::custom(format_args!("unsupported value type `{}`", v.what()))),
            _ => visitor.visit_unit(),
        }
    }
    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.value {
            Value::Nil => visitor.visit_none(),
            Value::LightUserData(p) if p.0.is_null() => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }
    fn deserialize_enum<V: de::Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        let _state = self.state()?;
        let this = self.without_userdata()?;
        match this.value.clone() {
            Value::String(s) => visitor.visit_enum(Enum { variant: s.to_str()?.to_owned(), content: None }),
            Value::Table(t) => {
                let _visit = Visit::new(&t, &this.visited).map_err(Error::custom)?;
                let mut pairs = t.pairs::<String, Value>();
                let (Some(pair), None) = (pairs.next(), pairs.next()) else {
                    return Err(Error::invalid_value(Unexpected::Map, &"map with a single key"));
                };
                let (variant, v) = pair?;
                if this.is_skipped(&v)? {
                    return Err(Error::custom("bad enum value"));
                }
                let content = Some(this.inner(v));
                visitor.visit_enum(Enum { variant, content })
            }
            _ => Err(Error::custom("bad enum value")),
        }
    }
    fn deserialize_seq<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.seq(None, visitor)
    }
    fn deserialize_tuple<V: de::Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.seq(None, visitor)
    }
    fn deserialize_tuple_struct<V: de::Visitor<'de>>(self, _: &'static str, _: usize, visitor: V) -> Result<V::Value> {
        self.seq(None, visitor)
    }
    fn deserialize_map<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let _state = self.state()?;
        let this = self.without_userdata()?;
        let Value::Table(t) = this.value.clone() else {
            return Err(Error::invalid_type(Unexpected::Other(this.value.what()), &"table"));
        };
        let _visit = Visit::new(&t, &this.visited).map_err(Error::custom)?;
        let pairs = walk::pairs(&t, this.options)?;
        let mut fields = Fields { pairs, parent: this, value: None };
        let v = visitor.visit_map(&mut fields)?;
        match fields.pairs.len() {
            0 => Ok(v),
            n => Err(Error::invalid_length(n, &"fewer elements in the table")),
        }
    }
    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }
    fn deserialize_newtype_struct<V: de::Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_unit<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let _state = self.state()?;
        let this = self.without_userdata()?;
        match &this.value {
            Value::LightUserData(p) if p.0.is_null() => visitor.visit_unit(),
            _ => this.deserialize_any(visitor),
        }
    }
    fn deserialize_unit_struct<V: de::Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf identifier ignored_any
    }
}

/// A variant and what it contains.
struct Enum {
    variant: String,
    content: Option<Deserializer>,
}

impl<'de> de::EnumAccess<'de> for Enum {
    type Error = Error;
    type Variant = Content;

    fn variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Content)> {
        let name: de::value::StringDeserializer<Error> = self.variant.into_deserializer();
        let variant = seed.deserialize(name)?;
        Ok((variant, Content(self.content)))
    }
}

struct Content(Option<Deserializer>);

impl Content {
    fn expected(self, what: &'static str) -> Result<Deserializer> {
        self.0.ok_or_else(|| Error::invalid_type(Unexpected::UnitVariant, &what))
    }
}

impl<'de> de::VariantAccess<'de> for Content {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.0 {
            Some(_) => Err(Error::invalid_type(Unexpected::NewtypeVariant, &"unit variant")),
            None => Ok(()),
        }
    }
    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.expected("newtype variant")?)
    }
    fn tuple_variant<V: de::Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_seq(self.expected("tuple variant")?, visitor)
    }
    fn struct_variant<V: de::Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_map(self.expected("struct variant")?, visitor)
    }
}
