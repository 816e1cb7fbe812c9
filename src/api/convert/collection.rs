//! Arrays, lists, maps and sets as tables.

use super::{FromLua, IntoLua};
use crate::api::error::{Error, Result};
use crate::api::lua::Lua;
use crate::api::table::Table;
use crate::api::type_name::short_type_name;
use crate::api::value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

/// A table, for a conversion to `T`.
fn table<T>(v: Value) -> Result<Table> {
    match v {
        Value::Table(t) => Ok(t),
        v => Err(Error::conversion_because(v.what(), short_type_name::<T>(), "expected table")),
    }
}

impl<T: IntoLua> IntoLua for Vec<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self).map(Value::Table)
    }
}
impl<T: IntoLua> IntoLua for Box<[T]> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self).map(Value::Table)
    }
}
impl<T: IntoLua + Clone> IntoLua for &[T] {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self.iter().cloned()).map(Value::Table)
    }
}
impl<T: IntoLua, const N: usize> IntoLua for [T; N] {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_sequence_from(self).map(Value::Table)
    }
}
/// The values from index 1 up to the first nil.
impl<T: FromLua> FromLua for Vec<T> {
    fn from_lua(v: Value, _: &Lua) -> Result<Vec<T>> {
        table::<Vec<T>>(v)?.sequence_values().collect()
    }
}
/// The values from index 1 up to the first nil.
impl<T: FromLua> FromLua for Box<[T]> {
    fn from_lua(v: Value, lua: &Lua) -> Result<Box<[T]>> {
        Ok(Vec::from_lua(v, lua)?.into())
    }
}
/// The values from index 1 up to the first nil, which must be `N`.
impl<T: FromLua, const N: usize> FromLua for [T; N] {
    fn from_lua(v: Value, _: &Lua) -> Result<[T; N]> {
        let because = |from, why| Error::conversion_because(from, short_type_name::<[T; N]>(), why);
        let Value::Table(t) = v else { return Err(because(v.what(), format!("expected table of length {N}"))) };
        let values: Vec<T> = t.sequence_values().collect::<Result<_>>()?;
        let values: std::result::Result<[T; N], Vec<T>> = values.try_into();
        values.map_err(|v| because("table", format!("expected table of length {N}, got {}", v.len())))
    }
}

impl<K: IntoLua, V: IntoLua, S> IntoLua for HashMap<K, V, S> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_table_from(self).map(Value::Table)
    }
}
impl<K: FromLua + Eq + Hash, V: FromLua, S: BuildHasher + Default> FromLua for HashMap<K, V, S> {
    fn from_lua(v: Value, _: &Lua) -> Result<HashMap<K, V, S>> {
        table::<HashMap<K, V>>(v)?.pairs().collect()
    }
}
impl<K: IntoLua, V: IntoLua> IntoLua for BTreeMap<K, V> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_table_from(self).map(Value::Table)
    }
}
impl<K: FromLua + Ord, V: FromLua> FromLua for BTreeMap<K, V> {
    fn from_lua(v: Value, _: &Lua) -> Result<BTreeMap<K, V>> {
        table::<BTreeMap<K, V>>(v)?.pairs().collect()
    }
}

/// The elements of a set: the keys of a table whose values are all true, as sets become tables, and of one that is no sequence; otherwise
/// the values of the sequence.
fn elements<T: FromLua, C: FromIterator<T>>(t: &Table) -> Result<C> {
    let is_set = t.raw_len() == 0 || t.pairs::<Value, Value>().all(|pair| matches!(pair, Ok((_, Value::Boolean(true)))));
    if !is_set {
        return t.sequence_values().collect();
    }
    t.pairs::<T, Value>().map(|pair| pair.map(|(k, _)| k)).collect()
}

/// The elements are the keys of a table; the values are true.
impl<T: IntoLua, S> IntoLua for HashSet<T, S> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_table_from(self.into_iter().map(|v| (v, true))).map(Value::Table)
    }
}
/// The values of a sequence, or the keys of any other table and of one whose values are all true.
impl<T: FromLua + Eq + Hash, S: BuildHasher + Default> FromLua for HashSet<T, S> {
    fn from_lua(v: Value, _: &Lua) -> Result<HashSet<T, S>> {
        elements(&table::<HashSet<T>>(v)?)
    }
}
/// The elements are the keys of a table; the values are true.
impl<T: IntoLua> IntoLua for BTreeSet<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_table_from(self.into_iter().map(|v| (v, true))).map(Value::Table)
    }
}
/// The values of a sequence, or the keys of any other table and of one whose values are all true.
impl<T: FromLua + Ord> FromLua for BTreeSet<T> {
    fn from_lua(v: Value, _: &Lua) -> Result<BTreeSet<T>> {
        elements(&table::<BTreeSet<T>>(v)?)
    }
}
