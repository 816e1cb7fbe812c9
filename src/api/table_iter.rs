//! Iterators over tables.

use super::convert::FromLua;
use super::error::Result;
use super::passing::{Frame, pass};
use super::table::Table;
use std::marker::PhantomData;

/// Iterator of [`Table::pairs`].
///
/// ```
/// use perilune::{Lua, table::TablePairs};
///
/// let lua = Lua::new();
/// let t = lua.create_table_from([("a", 1)])?;
/// let mut pairs: TablePairs<String, i32> = t.pairs();
/// assert_eq!(pairs.next().unwrap()?, ("a".to_owned(), 1));
/// assert!(pairs.next().is_none());
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct TablePairs<'a, K, V> {
    table: &'a Table,
    /// Where the next pair is looked for.
    position: u32,
    types: PhantomData<(K, V)>,
}

/// The position of an iterator over pairs that has ended with an error. No table has so many pairs.
const ENDED: u32 = u32::MAX;
/// The index of an iterator over a sequence that has ended with an error.
const NOTHING: i32 = 0;

impl<K, V> TablePairs<'_, K, V> {
    pub(super) fn new(table: &Table) -> TablePairs<'_, K, V> {
        TablePairs { table, position: 0, types: PhantomData }
    }
}

impl<K: FromLua, V: FromLua> Iterator for TablePairs<'_, K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Result<(K, V)>> {
        if self.position == ENDED {
            return None;
        }
        let lua = match self.table.0.open("TablePairs::next") {
            Ok(lua) => lua,
            Err(e) => {
                self.position = ENDED;
                return Some(Err(e));
            }
        };
        let (position, k, v) = self.table.raw_with(&lua).next_index(self.position)?;
        self.position = position;
        let frame = Frame::new(&lua);
        pass(&lua, k);
        pass(&lua, v);
        let pair = frame.passed(&lua);
        Some(K::take(pair, 0, None).and_then(|k| Ok((k, V::take(pair, 1, None)?))))
    }
}

/// Iterator of [`Table::sequence_values`].
///
/// ```
/// use perilune::{Lua, table::TableSequence};
///
/// let lua = Lua::new();
/// let t = lua.create_sequence_from([10, 20])?;
/// let values: TableSequence<i32> = t.sequence_values();
/// assert_eq!(values.collect::<perilune::Result<Vec<i32>>>()?, [10, 20]);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct TableSequence<'a, V> {
    table: &'a Table,
    index: i32,
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
        if self.index == NOTHING {
            return None;
        }
        let lua = match self.table.0.open("TableSequence::next") {
            Ok(lua) => lua,
            Err(e) => {
                self.index = NOTHING;
                return Some(Err(e));
            }
        };
        let v = self.table.raw_with(&lua).get_int(self.index);
        if v.is_nil() {
            return None;
        }
        self.index += 1;
        let frame = Frame::new(&lua);
        pass(&lua, v);
        Some(V::take(frame.passed(&lua), 0, None))
    }
}
