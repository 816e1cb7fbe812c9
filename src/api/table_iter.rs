//! Iterators over tables.

use super::convert::FromLua;
use super::error::{Error, Result};
use super::table::Table;
use super::value::Value;
use std::marker::PhantomData;

/// Iterator of [`Table::pairs`].
pub struct TablePairs<'a, K, V> {
    table: &'a Table,
    /// The key before the next pair; none at the end.
    key: Option<Value>,
    types: PhantomData<(K, V)>,
}

impl<K, V> TablePairs<'_, K, V> {
    pub(super) fn new(table: &Table) -> TablePairs<'_, K, V> {
        TablePairs { table, key: Some(Value::Nil), types: PhantomData }
    }
}

impl<K: FromLua, V: FromLua> Iterator for TablePairs<'_, K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Result<(K, V)>> {
        let lua = self.table.lua();
        let last = match self.key.take()?.raw_in(&lua) {
            Ok(last) => last,
            Err(e) => return Some(Err(e)),
        };
        let (k, v) = match self.table.raw().next(last) {
            Ok(pair) => pair?,
            // A new key has moved the pairs, and the last one was removed.
            Err(()) => return Some(Err(Error::runtime("invalid key to 'next'"))),
        };
        let (k, v) = (Value::from_raw(&lua, k), Value::from_raw(&lua, v));
        self.key = Some(k.clone());
        Some(K::from_lua(k, &lua).and_then(|k| Ok((k, V::from_lua(v, &lua)?))))
    }
}

/// Iterator of [`Table::sequence_values`].
pub struct TableSequence<'a, V> {
    table: &'a Table,
    index: usize,
    types: PhantomData<V>,
}

impl<V> TableSequence<'_, V> {
    pub(super) fn new(table: &Table) -> TableSequence<'_, V> {
        TableSequence { table, index: 1, types: PhantomData }
    }
}

impl<V: FromLua> Iterator for TableSequence<'_, V> {
    type Item = Result<V>;

    fn next(&mut self) -> Option<Result<V>> {
        let v: Value = match self.table.raw_get(self.index) {
            Ok(v) => v,
            Err(e) => return Some(Err(e)),
        };
        if v.is_nil() {
            return None;
        }
        self.index += 1;
        Some(V::from_lua(v, &self.table.lua()))
    }
}
