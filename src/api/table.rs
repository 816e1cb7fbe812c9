//! Tables.

use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::handle::{Handle, LockedLua};
use super::lua::Lua;
use super::object;
use super::passing::Frame;
use super::table_iter::{TablePairs, TableSequence};
use super::value::{Integer, Value};
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::meta::MM;
use perilune_vm::object::{Gc, Table as RawTable};
use perilune_vm::value::Value as Raw;
use std::ffi::c_void;

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
/// assert_eq!(t, [10, 20, 30, 40]);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Table(pub(crate) Handle);

impl Table {
    pub(super) fn lua(&self) -> LockedLua {
        self.0.lua()
    }
    pub(super) fn raw(&self) -> Gc<RawTable> {
        self.0.get().as_table().expect("the root of a table handle is a table")
    }
    pub(super) fn raw_with(&self, lua: &Lua) -> Gc<RawTable> {
        self.0.get_with(lua).as_table().expect("the root of a table handle is a table")
    }
    /// A field, by way of `__index`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t: perilune::Table = lua.load("setmetatable({ x = 1 }, { __index = function(_, key) return key .. '?' end })").eval()?;
    /// assert_eq!(t.get::<i32>("x")?, 1);
    /// assert_eq!(t.get::<String>("y")?, "y?");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod and of the conversions.
    pub fn get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        object::get(&self.0, "Table::get", key)
    }
    /// Sets a field, by way of `__newindex`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// t.set("x", 1)?;
    /// t.set(1, true)?;
    /// assert!(t.set(f64::NAN, 1).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod and of the conversions; the key is nil or NaN.
    pub fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        object::set(&self.0, "Table::set", key, value)
    }
    /// Is there a value other than nil, by way of `__index`?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert!(lua.globals().contains_key("print")?);
    /// assert!(!lua.globals().contains_key("moon")?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod and of the conversion.
    pub fn contains_key(&self, key: impl IntoLua) -> Result<bool> {
        Ok(!object::get::<Value>(&self.0, "Table::contains_key", key)?.is_nil())
    }
    /// Are the tables the same, or equal by way of `__eq`?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let equal = lua.create_function(|_, ()| Ok(true))?;
    /// let meta = lua.create_table_from([("__eq", equal)])?;
    /// let (a, b) = (lua.create_table()?, lua.create_table()?);
    /// assert!(!a.equals(&b)?);
    /// a.set_metatable(Some(meta))?;
    /// assert!(a.equals(&b)?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod.
    pub fn equals(&self, other: &Table) -> Result<bool> {
        object::equals(&self.0, "Table::equals", &other.0)
    }
    /// The length, by way of `__len`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_sequence_from(["a", "b"])?.len()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod; it gives no number.
    pub fn len(&self) -> Result<Integer> {
        let lua = self.0.open("Table::len")?;
        let o = self.0.get();
        let metamethod = lua.0.enter(|vm| vm.metamethod(o, MM::Len));
        if metamethod.is_nil() {
            return Ok(self.raw().len().into());
        }
        let n = lua.0.call(metamethod, &[o])?.first().copied().unwrap_or(Raw::NIL);
        Integer::from_lua(Value::from_raw(&lua, n), &lua)
    }
    /// Is there no pair at all? Metamethods are not asked.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// assert!(t.is_empty());
    /// t.set("x", 1)?;
    /// assert!(!t.is_empty());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        let _lock = self.0.lock();
        matches!(self.raw().next(Raw::NIL), Ok(None))
    }
    /// Appends a value, by way of `__len` and `__newindex`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from([1, 2])?;
    /// t.push(3)?;
    /// assert_eq!(t, [1, 2, 3]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethods and of the conversion.
    pub fn push(&self, value: impl IntoLua) -> Result<()> {
        let _lua = self.0.open("Table::push")?;
        self.set(self.len()? + 1, value)
    }
    /// Removes the last value, by way of `__len`, `__index` and `__newindex`; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from([1, 2])?;
    /// assert_eq!(t.pop::<i32>()?, 2);
    /// assert_eq!(t, [1]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethods and of the conversion.
    pub fn pop<V: FromLua>(&self) -> Result<V> {
        let lua = self.0.open("Table::pop")?;
        let n = self.len()?;
        let last: Value = if n > 0 { self.get(n)? } else { Value::Nil };
        if n > 0 {
            self.set(n, Value::Nil)?;
        }
        V::from_lua(last, &lua)
    }
    /// A field, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t: perilune::Table = lua.load("setmetatable({ x = 1 }, { __index = { y = 2 } })").eval()?;
    /// assert_eq!(t.raw_get::<i32>("x")?, 1);
    /// assert_eq!(t.raw_get::<Option<i32>>("y")?, None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions.
    pub fn raw_get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        let lua = self.0.open("Table::raw_get")?;
        let frame = Frame::new(&lua);
        key.pass(&lua)?;
        let k = frame.raw(0);
        frame.set(self.raw_with(&lua).get(k));
        let value = V::take(frame.passed(&lua), 0, None)?;
        if k.is_gc() {
            // The key may be a new string.
            lua.0.step()?;
        }
        Ok(value)
    }
    /// Sets a field, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t: perilune::Table = lua.load("setmetatable({}, { __newindex = function() error('no') end })").eval()?;
    /// assert!(t.set("x", 1).is_err());
    /// t.raw_set("x", 1)?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions; the key is nil or NaN.
    pub fn raw_set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        self.raw_set_by("Table::raw_set", key, value)
    }
    fn raw_set_by(&self, used: &'static str, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let lua = self.0.open(used)?;
        let frame = Frame::new(&lua);
        key.pass(&lua)?;
        self.write(&lua, value, |vm, t, v| vm.table_set(t, frame.raw(0), v))
    }
    /// Sets an element, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// t.raw_seti(1, "a")?;
    /// assert_eq!(t, ["a"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the conversion.
    pub fn raw_seti(&self, index: usize, value: impl IntoLua) -> Result<()> {
        self.raw_set_by("Table::raw_seti", index, value)
    }
    /// Converts a value and stores it.
    fn write(
        &self,
        lua: &Lua,
        value: impl IntoLua,
        store: impl FnOnce(&mut Vm, Gc<RawTable>, Raw) -> LuaResult<()>,
    ) -> Result<()> {
        let frame = Frame::new(lua);
        value.pass(lua)?;
        let t = self.raw_with(lua);
        lua.0.try_enter(|vm| {
            vm.check_writable(t)?;
            let stored = store(vm, t, frame.raw(0));
            // Metamethods that were missing may be there now.
            t.hdr.b0.set(0);
            stored?;
            if vm.heap.gc_due() { vm.safepoint() } else { Ok(()) }
        })
    }
    /// The length, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.create_sequence_from([1, 2])?.raw_len(), 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn raw_len(&self) -> usize {
        let _lock = self.0.lock();
        self.raw().len() as usize
    }
    /// Inserts an element, without metamethods; those from there on move up.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from(["a", "c"])?;
    /// t.raw_insert(2, "b")?;
    /// assert_eq!(t, ["a", "b", "c"]);
    /// assert!(t.raw_insert(5, "e").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The index is not from 1 to one more than the length; that of the conversion.
    pub fn raw_insert(&self, index: Integer, value: impl IntoLua) -> Result<()> {
        let lua = self.0.open("Table::raw_insert")?;
        let n = self.raw().len();
        let index = u32::try_from(index).ok().filter(|i| (1..=n + 1).contains(i)).ok_or_else(out_of_bounds)?;
        self.write(&lua, value, |vm, t, v| {
            for i in (index..=n).rev() {
                vm.table_set_int(t, i as i32 + 1, t.get_int(i as i32));
            }
            vm.table_set_int(t, index as i32, v);
            Ok(())
        })
    }
    /// Appends a value, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// t.raw_push("a")?;
    /// assert_eq!(t, ["a"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the conversion.
    pub fn raw_push(&self, value: impl IntoLua) -> Result<()> {
        let lua = self.0.open("Table::raw_push")?;
        self.write(&lua, value, |vm, t, v| {
            vm.table_set_int(t, t.len() as i32 + 1, v);
            Ok(())
        })
    }
    /// Removes the last value, without metamethods; nil if there is none.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from(["a", "b"])?;
    /// assert_eq!(t.raw_pop::<String>()?, "b");
    /// assert_eq!(t, ["a"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// That of the conversion.
    pub fn raw_pop<V: FromLua>(&self) -> Result<V> {
        let lua = self.0.open("Table::raw_pop")?;
        let n = self.raw().len();
        let last = if n > 0 { self.raw_get(n)? } else { Value::Nil };
        if n > 0 {
            self.raw_set(n, Value::Nil)?;
        }
        V::from_lua(last, &lua)
    }
    /// Removes a key, without metamethods. After an integer key the elements move down.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from(["a", "b", "c"])?;
    /// t.raw_remove(2)?;
    /// assert_eq!(t, ["a", "c"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// An integer key is not from 1 to the length; that of the conversion.
    pub fn raw_remove(&self, key: impl IntoLua) -> Result<()> {
        let lua = self.0.open("Table::raw_remove")?;
        let key = key.into_lua(&lua)?;
        let Value::Integer(index) = key else { return self.raw_set(key, Value::Nil) };
        let n = self.raw().len();
        let index = u32::try_from(index).ok().filter(|i| (1..=n).contains(i)).ok_or_else(out_of_bounds)?;
        self.write(&lua, Value::Nil, |vm, t, nil| {
            for i in index..n {
                vm.table_set_int(t, i as i32, t.get_int(i as i32 + 1));
            }
            vm.table_set_int(t, n as i32, nil);
            Ok(())
        })
    }
    /// Removes all pairs, without metamethods, and keeps the memory for new ones.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_sequence_from([1, 2])?;
    /// t.clear()?;
    /// assert!(t.is_empty());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The table is read-only.
    pub fn clear(&self) -> Result<()> {
        let lua = self.0.open("Table::clear")?;
        let t = self.raw();
        lua.0.try_enter(|vm| {
            vm.check_writable(t)?;
            vm.table_clear(t);
            Ok(())
        })
    }
    /// Sets or removes the metatable.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let (t, meta) = (lua.create_table()?, lua.create_table()?);
    /// meta.set("__index", lua.create_function(|_, (_, key): (perilune::Table, String)| Ok(key + "!"))?)?;
    /// t.set_metatable(Some(meta))?;
    /// assert_eq!(t.get::<String>("moon")?, "moon!");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The metatable belongs to another state; the table is read-only.
    pub fn set_metatable(&self, meta: Option<Table>) -> Result<()> {
        let lua = self.0.open("Table::set_metatable")?;
        let meta = match &meta {
            Some(meta) => meta.0.get_in(&lua.0)?.as_table(),
            None => None,
        };
        let t = self.raw();
        lua.0.try_enter(|vm| {
            vm.check_writable(t)?;
            vm.set_table_meta(t, meta);
            Ok(())
        })
    }
    /// The metatable.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let (t, meta) = (lua.create_table()?, lua.create_table()?);
    /// assert!(t.metatable().is_none());
    /// t.set_metatable(Some(meta.clone()))?;
    /// assert_eq!(t.metatable(), Some(meta));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn metatable(&self) -> Option<Table> {
        let _lock = self.0.lock();
        let meta = self.raw().meta.get()?;
        Some(Table(self.lua().handle(Raw::table(meta))))
    }
    /// Is there a metatable?
    ///
    /// ```
    /// assert!(!perilune::Lua::new().create_table().unwrap().has_metatable());
    /// ```
    pub fn has_metatable(&self) -> bool {
        let _lock = self.0.lock();
        self.raw().meta.get().is_some()
    }
    /// The address, which tells tables apart.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t = lua.create_table()?;
    /// assert_eq!(t.to_pointer(), t.clone().to_pointer());
    /// assert_ne!(t.to_pointer(), lua.create_table()?.to_pointer());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        self.0.address()
    }
    /// All pairs, without metamethods. Meanwhile values may be changed and removed; after a new key it is not certain which pairs follow.
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
    pub fn pairs<K: FromLua, V: FromLua>(&self) -> TablePairs<'_, K, V> {
        TablePairs::new(self)
    }
    /// Calls a closure with each pair, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut sum = 0;
    /// lua.create_table_from([("a", 1), ("b", 2)])?.for_each(|_: String, v: i32| Ok(sum += v))?;
    /// assert_eq!(sum, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversions and of the closure.
    pub fn for_each<K: FromLua, V: FromLua>(&self, mut f: impl FnMut(K, V) -> Result<()>) -> Result<()> {
        self.pairs().try_for_each(|pair| pair.and_then(|(k, v)| f(k, v)))
    }
    /// The values from index 1 up to the first nil, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let t: perilune::Table = lua.load("{ 1, 2, nil, 4, x = 5 }").eval()?;
    /// let sum: i32 = t.sequence_values::<i32>().sum::<perilune::Result<i32>>()?;
    /// assert_eq!(sum, 3);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn sequence_values<V: FromLua>(&self) -> TableSequence<'_, V> {
        TableSequence::new(self)
    }
    /// Calls a closure with each value from index 1 up to the first nil, without metamethods.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let mut all = Vec::new();
    /// lua.create_sequence_from(["a", "b"])?.for_each_value(|v: String| Ok(all.push(v)))?;
    /// assert_eq!(all, ["a", "b"]);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the conversion and of the closure.
    pub fn for_each_value<V: FromLua>(&self, mut f: impl FnMut(V) -> Result<()>) -> Result<()> {
        self.sequence_values().try_for_each(|v| v.and_then(&mut f))
    }
}

fn out_of_bounds() -> Error {
    Error::runtime("index out of bounds")
}

/// Does the table hold these values from index 1 up to the first nil?
impl<T: IntoLua + Clone> PartialEq<[T]> for Table {
    fn eq(&self, other: &[T]) -> bool {
        let lua = self.lua();
        let mut values = self.sequence_values::<Value>();
        let same = other.iter().all(|v| match (values.next(), v.clone().into_lua(&lua)) {
            (Some(Ok(a)), Ok(b)) => a == b,
            _ => false,
        });
        same && values.next().is_none()
    }
}
impl<T: IntoLua + Clone> PartialEq<&[T]> for Table {
    fn eq(&self, other: &&[T]) -> bool {
        *self == **other
    }
}
impl<T: IntoLua + Clone, const N: usize> PartialEq<[T; N]> for Table {
    fn eq(&self, other: &[T; N]) -> bool {
        *self == other[..]
    }
}
