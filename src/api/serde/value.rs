//! Lua values for any serializer.

use super::de::DeserializeOptions;
use super::walk::{self, Visit, Visited};
use crate::api::string::LuaString;
use crate::api::table::Table;
use crate::api::value::Value;
use ::serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

/// A Lua value to be serialized with options: see [`Value::to_serializable`].
///
/// ```
/// use perilune::{Lua, Value};
///
/// let lua = Lua::new();
/// let value: Value = lua.load("local t = { b = 2, a = {}, f = print } t.itself = t return t").eval()?;
/// let data = value.to_serializable().deny_unsupported_types(false).deny_recursive_tables(false);
/// let data = data.sort_keys(true).encode_empty_tables_as_array(true).detect_mixed_tables(true);
/// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"a":[],"b":2}"#);
/// # Ok::<(), perilune::Error>(())
/// ```
#[must_use]
pub struct SerializableValue<'a> {
    value: &'a Value,
    options: DeserializeOptions,
    visited: Visited,
}

impl Value {
    /// The value for a serializer, with options.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("{ b = 2, a = { 1, 2 } }").eval()?;
    /// let json = serde_json::to_string(&value.to_serializable().sort_keys(true)).unwrap();
    /// assert_eq!(json, r#"{"a":[1,2],"b":2}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_serializable(&self) -> SerializableValue<'_> {
        SerializableValue { value: self, options: DeserializeOptions::default(), visited: Visited::default() }
    }
}

impl SerializableValue<'_> {
    /// Are values without a form an error? Else they are left out. On by default.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("{ a = 1, f = print }").eval()?;
    /// let data = value.to_serializable().deny_unsupported_types(false);
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"a":1}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn deny_unsupported_types(mut self, on: bool) -> Self {
        self.options.deny_unsupported_types = on;
        self
    }
    /// Is a table that contains itself an error? Else it is left out there. On by default.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("local t = { a = 1 } t.itself = t return t").eval()?;
    /// let data = value.to_serializable().deny_recursive_tables(false);
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"a":1}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn deny_recursive_tables(mut self, on: bool) -> Self {
        self.options.deny_recursive_tables = on;
        self
    }
    /// Are keys sorted?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("{ b = 2, a = 1 }").eval()?;
    /// let data = value.to_serializable().sort_keys(true);
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"a":1,"b":2}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn sort_keys(mut self, on: bool) -> Self {
        self.options.sort_keys = on;
        self
    }
    /// Is an empty table an array, not a map?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("{}").eval()?;
    /// let data = value.to_serializable().encode_empty_tables_as_array(true);
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"[]"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn encode_empty_tables_as_array(mut self, on: bool) -> Self {
        self.options.encode_empty_tables_as_array = on;
        self
    }
    /// Are all keys looked at, to see whether a table is an array?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let value: perilune::Value = lua.load("{ [1] = 10, ['key'] = 20 }").eval()?;
    /// let data = value.to_serializable().detect_mixed_tables(true).sort_keys(true);
    /// assert_eq!(serde_json::to_string(&data).unwrap(), r#"{"1":10,"key":20}"#);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub const fn detect_mixed_tables(mut self, on: bool) -> Self {
        self.options.detect_mixed_tables = on;
        self
    }
    fn inner<'b>(&self, value: &'b Value) -> SerializableValue<'b> {
        SerializableValue { value, options: self.options, visited: self.visited.clone() }
    }
    fn table<S: Serializer>(&self, t: &Table, serializer: S) -> Result<S::Ok, S::Error> {
        let _visit = Visit::new(t, &self.visited).map_err(S::Error::custom)?;
        let skipped = |v: &Value| walk::is_skipped(v, self.options, &self.visited).map_err(S::Error::custom);
        if let Some(n) = walk::array_len(t, self.options) {
            let mut out = serializer.serialize_seq(Some(n))?;
            for v in walk::elements(t.clone(), n) {
                let v = v.map_err(S::Error::custom)?;
                if !skipped(&v)? {
                    out.serialize_element(&self.inner(&v))?;
                }
            }
            return out.end();
        }
        let mut out = serializer.serialize_map(None)?;
        for (k, v) in walk::pairs(t, self.options).map_err(S::Error::custom)? {
            if !skipped(&k)? && !skipped(&v)? {
                out.serialize_entry(&self.inner(&k), &self.inner(&v))?;
            }
        }
        out.end()
    }
}

impl Serialize for SerializableValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let _state = walk::state_of(self.value, "Serialize::serialize").map_err(S::Error::custom)?;
        match self.value {
            Value::Nil => serializer.serialize_unit(),
            Value::Boolean(b) => serializer.serialize_bool(*b),
            Value::Integer(i) => serializer.serialize_i64(*i),
            Value::Number(n) => serializer.serialize_f64(*n),
            Value::String(s) => s.serialize(serializer),
            Value::Table(t) => self.table(t, serializer),
            Value::LightUserData(p) if p.0.is_null() => serializer.serialize_none(),
            Value::UserData(u) if u.is_serializable() => u.serialize(serializer),
            v if self.options.deny_unsupported_types => Err(S::Error::custom(format_args!("cannot serialize <{}>", v.what()))),
            _ => serializer.serialize_unit(),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_serializable().serialize(serializer)
    }
}

/// As an array or a map.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::Table(self.clone()).serialize(serializer)
    }
}

/// As text, or as bytes if it is not UTF-8.
impl Serialize for LuaString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.open_bytes("Serialize::serialize").map_err(S::Error::custom)?;
        match core::str::from_utf8(&bytes) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_bytes(&bytes),
        }
    }
}
