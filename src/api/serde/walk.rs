//! How a table is read as data: as an array or a map, in which order, and without going round in circles.

use super::de::DeserializeOptions;
use crate::api::Lua;
use crate::api::error::Result;
use crate::api::table::Table;
use crate::api::value::Value;
use perilune_vm::interp::native_stack;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::c_void;
use std::rc::Rc;

/// The state of a value, which stays open while the value is read. Strings look for themselves.
///
/// # Errors
/// It is closed; `used` is the method that was called.
pub(super) fn state_of(v: &Value, used: &'static str) -> Result<Option<Lua>> {
    match v {
        Value::String(_) => Ok(None),
        v => v.handle().map(|handle| handle.alive(used)).transpose(),
    }
}

/// The tables that are being read.
pub(super) type Visited = Rc<RefCell<HashSet<*const c_void>>>;

/// Notes a table as long as it is being read.
pub(super) struct Visit {
    table: *const c_void,
    visited: Visited,
}

impl Visit {
    /// The error says that the table is nested deeper than the native stack allows.
    pub(super) fn new(table: &Table, visited: &Visited) -> Result<Visit, &'static str> {
        if native_stack::is_used_up() {
            return Err("tables are nested too deep");
        }
        let address = table.0.address();
        visited.borrow_mut().insert(address);
        Ok(Visit { table: address, visited: Rc::clone(visited) })
    }
}
impl Drop for Visit {
    fn drop(&mut self) {
        self.visited.borrow_mut().remove(&self.table);
    }
}

/// Is a value left out? `Err` says why it cannot be read.
pub(super) fn is_skipped(v: &Value, options: DeserializeOptions, visited: &Visited) -> Result<bool, &'static str> {
    match v {
        Value::Table(t) if visited.borrow().contains(&t.0.address()) => {
            if options.deny_recursive_tables {
                Err("recursive table detected")
            } else {
                Ok(true)
            }
        }
        Value::LightUserData(p) if p.0.is_null() => Ok(false),
        Value::UserData(u) if u.is_serializable() => Ok(false),
        Value::Function(_)
        | Value::Thread(_)
        | Value::UserData(_)
        | Value::LightUserData(_)
        | Value::Error(_)
        | Value::Other(_) => Ok(!options.deny_unsupported_types),
        _ => Ok(false),
    }
}

/// The length of a table that is read as an array.
pub(super) fn array_len(table: &Table, options: DeserializeOptions) -> Option<usize> {
    let lua = table.0.lua();
    let marked = lua.0.array_metatable.get().map(|slot| lua.0.roots.get(slot));
    let meta = table.metatable();
    if meta.is_some_and(|m| Some(m.0.get()) == marked) {
        return Some(table.raw_len());
    }
    if options.detect_mixed_tables {
        let (count, last) = positive_keys(table)?;
        // A sparse array is a map.
        return (count < 10 || count * 2 >= last).then_some(last);
    }
    match table.raw_len() {
        0 => (options.encode_empty_tables_as_array && table.is_empty()).then_some(0),
        n => Some(n),
    }
}

/// Number and maximum of the keys, if all are positive integers.
fn positive_keys(table: &Table) -> Option<(usize, usize)> {
    let (mut count, mut last) = (0, 0);
    for pair in table.pairs::<Value, Value>() {
        let (Value::Integer(i), _) = pair.ok()? else { return None };
        last = last.max(usize::try_from(i).ok().filter(|i| *i > 0)?);
        count += 1;
    }
    Some((count, last))
}

/// The values at the indices from 1 to `n`.
pub(super) fn elements(table: Table, n: usize) -> impl Iterator<Item = Result<Value>> {
    (1..=n).map(move |i| table.raw_get(i))
}

/// The pairs, sorted by key if that is asked for.
pub(super) fn pairs(table: &Table, options: DeserializeOptions) -> Result<std::vec::IntoIter<(Value, Value)>> {
    let mut pairs = table.pairs::<Value, Value>().collect::<Result<Vec<_>>>()?;
    if options.sort_keys {
        pairs.sort_by(|(a, _), (b, _)| compare(a, b));
    }
    Ok(pairs.into_iter())
}

/// An order of keys: numbers, then strings, then others.
fn compare(a: &Value, b: &Value) -> Ordering {
    let kind = |v: &Value| match v {
        Value::Boolean(_) => 0,
        Value::Integer(_) | Value::Number(_) => 1,
        Value::String(_) => 2,
        _ => 3,
    };
    let number = |v: &Value| match v {
        Value::Integer(i) => Some(*i as f64),
        Value::Number(n) => Some(*n),
        _ => None,
    };
    match (a, b) {
        (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => kind(a).cmp(&kind(b)),
        },
    }
}
