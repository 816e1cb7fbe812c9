//! Tables.

use super::convert::{FromLua, IntoLua};
use super::error::Result;
use super::handle::Handle;
use super::lua::Lua;
use super::value::Value;
use perilune_vm::meta::{Access, MM};
use perilune_vm::object::{Gc, Table as RawTable};
use perilune_vm::value::Value as Raw;
use std::marker::PhantomData;

/// A table.
///
/// ```
/// use perilune::{Lua, Table};
///
/// let lua = Lua::new();
/// let t: Table = lua.load("{ 10, 20, 30, name = 'three' }").eval()?;
/// assert_eq!(t.len()?, 3);
/// assert_eq!(t.get::<i32>(2)?, 20);
/// assert_eq!(t.get::<String>("name")?, "three");
/// assert_eq!(t.get::<Option<bool>>("missing")?, None);
/// t.set("name", "four")?;
/// t.push(40)?;
/// let values: perilune::Result<Vec<i32>> = t.sequence_values().collect();
/// assert_eq!(values?, [10, 20, 30, 40]);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table(pub(crate) Handle);

impl Table {
    fn lua(&self) -> Lua {
        self.0.lua()
    }
    fn raw(&self) -> Gc<RawTable> {
        self.0.get().as_table().expect("the root of a table handle is a table")
    }
    /// A field, by way of `__index`.
    pub fn get<T: FromLua>(&self, key: impl IntoLua) -> Result<T> {
        let lua = self.lua();
        let k = key.into_lua(&lua)?;
        let (o, raw) = (self.0.get(), k.raw_in(&lua)?);
        let access = lua.0.try_enter(|vm| vm.access_get(o, raw))?;
        let v = match access {
            Access::Done(v) => v,
            Access::Call(f, o) => lua.0.call(f, &[o, raw])?.first().copied().unwrap_or(Raw::NIL),
        };
        T::from_lua(Value::from_raw(&lua, v), &lua)
    }
    /// Sets a field, by way of `__newindex`.
    pub fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let lua = self.lua();
        let (k, v) = (key.into_lua(&lua)?, value.into_lua(&lua)?);
        let (o, raw_key, raw) = (self.0.get(), k.raw_in(&lua)?, v.raw_in(&lua)?);
        let access = lua.0.try_enter(|vm| vm.access_set(o, raw_key, raw))?;
        if let Access::Call(f, o) = access {
            lua.0.call(f, &[o, raw_key, raw])?;
        }
        lua.0.step()?;
        Ok(())
    }
    /// A field, without metamethods.
    pub fn raw_get<T: FromLua>(&self, key: impl IntoLua) -> Result<T> {
        let lua = self.lua();
        let k = key.into_lua(&lua)?;
        let v = self.raw().get(k.raw_in(&lua)?);
        T::from_lua(Value::from_raw(&lua, v), &lua)
    }
    /// Sets a field, without metamethods.
    pub fn raw_set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let lua = self.lua();
        let (k, v) = (key.into_lua(&lua)?, value.into_lua(&lua)?);
        let (t, raw_key, raw) = (self.raw(), k.raw_in(&lua)?, v.raw_in(&lua)?);
        lua.0.try_enter(|vm| {
            let set = vm.table_set(t, raw_key, raw);
            t.hdr.b0.set(0);
            set
        })?;
        lua.0.step()?;
        Ok(())
    }
    /// The length, by way of `__len`.
    pub fn len(&self) -> Result<usize> {
        let lua = self.lua();
        let o = self.0.get();
        let mm = lua.0.enter(|vm| vm.metamethod(o, MM::Len));
        if mm.is_nil() {
            return Ok(self.raw_len());
        }
        let n = lua.0.call(mm, &[o])?.first().copied().unwrap_or(Raw::NIL);
        usize::from_lua(Value::from_raw(&lua, n), &lua)
    }
    /// The length, without metamethods.
    pub fn raw_len(&self) -> usize {
        self.raw().len() as usize
    }
    /// Is there no pair at all?
    pub fn is_empty(&self) -> bool {
        matches!(self.raw().next(Raw::NIL), Ok(None))
    }
    /// Appends a value.
    pub fn push(&self, value: impl IntoLua) -> Result<()> {
        self.set(self.len()? + 1, value)
    }
    /// Sets or removes the metatable.
    pub fn set_metatable(&self, meta: Option<Table>) -> Result<()> {
        let lua = self.lua();
        let meta = match &meta {
            Some(meta) => meta.0.get_in(&lua.0)?.as_table(),
            None => None,
        };
        let t = self.0.get();
        lua.0.enter(|vm| vm.set_metatable_of(t, meta));
        Ok(())
    }
    /// The metatable.
    pub fn metatable(&self) -> Option<Table> {
        let meta = self.raw().meta.get()?;
        Some(Table(self.0.lua().handle(Raw::table(meta))))
    }
    /// All pairs, without metamethods. The table must not get new keys meanwhile.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table_from([("a", 1), ("b", 2)])?;
    /// let mut sum = 0;
    /// for pair in t.pairs::<String, i32>() {
    ///     let (_, v) = pair?;
    ///     sum += v;
    /// }
    /// assert_eq!(sum, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn pairs<K: FromLua, V: FromLua>(&self) -> Pairs<K, V> {
        Pairs { table: self.clone(), key: Some(Value::Nil), types: PhantomData }
    }
    /// The values from index 1 up to the first nil, without metamethods.
    pub fn sequence_values<V: FromLua>(&self) -> Sequence<V> {
        Sequence { table: self.clone(), next: 1, types: PhantomData }
    }
}

/// Iterator of [`Table::pairs`].
pub struct Pairs<K, V> {
    table: Table,
    key: Option<Value>,
    types: PhantomData<(K, V)>,
}

impl<K: FromLua, V: FromLua> Iterator for Pairs<K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let last = self.key.take()?;
        let lua = self.table.lua();
        let (k, v) = self.table.raw().next(last.raw_in(&lua).ok()?).ok()??;
        let (k, v) = (Value::from_raw(&lua, k), Value::from_raw(&lua, v));
        self.key = Some(k.clone());
        Some(K::from_lua(k, &lua).and_then(|k| Ok((k, V::from_lua(v, &lua)?))))
    }
}

/// Iterator of [`Table::sequence_values`].
pub struct Sequence<V> {
    table: Table,
    next: usize,
    types: PhantomData<V>,
}

impl<V: FromLua> Iterator for Sequence<V> {
    type Item = Result<V>;

    fn next(&mut self) -> Option<Result<V>> {
        let v: Value = match self.table.raw_get(self.next) {
            Ok(v) => v,
            Err(e) => return Some(Err(e)),
        };
        if v.is_nil() {
            return None;
        }
        self.next += 1;
        Some(V::from_lua(v, &self.table.lua()))
    }
}
