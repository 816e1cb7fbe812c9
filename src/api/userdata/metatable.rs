//! Metatables of userdata types: made of what a type has registered, and seen from Rust.

use super::MetaMethod;
use super::registry::{Body, Members};
use crate::api::callback::{self, Closure};
use crate::api::convert::{FromLua, IntoLua};
use crate::api::error::{Error, Result};
use crate::api::function::Function;
use crate::api::table::Table;
use crate::api::table_iter::TablePairs;
use crate::api::{Lua, Value};
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::value::Value as Raw;
use std::rc::Rc;

fn function(lua: &Lua, closure: Rc<Closure>) -> Function {
    Function(lua.handle(callback::new(lua, closure)))
}

/// The function of a method.
fn method(lua: &Lua, body: Body) -> Result<Function> {
    match body {
        Body::Plain(closure) => Ok(function(lua, closure)),
        #[cfg(feature = "async")]
        Body::Async(start) => crate::api::asynchronous::new(lua, start),
    }
}

/// Makes an empty table the metatable of a type. Values of fields are converted here: userdata of the type that are made of them may have the
/// table already.
pub fn fill(lua: &Lua, meta: &Table, members: Members) -> Result<()> {
    for (name, body) in members.meta_methods {
        meta.raw_set(MetaMethod::allowed(&name)?, method(lua, body)?)?;
    }
    for (name, value) in members.meta_fields {
        meta.raw_set(MetaMethod::allowed(&name)?, value(lua)?)?;
    }
    if meta.raw_get::<Value>(MetaMethod::Type.name())?.is_nil() {
        meta.raw_set(MetaMethod::Type.name(), members.type_name)?;
    }

    // What is found without a call: it is the `__index` table itself, unless the type has an `__index` function.
    let fallback: Value = meta.raw_get(MetaMethod::Index.name())?;
    let mut values = if let Value::Table(t) = &fallback { Some(t.clone()) } else { None };
    if values.is_none() && members.fields.len() + members.methods.len() > 0 {
        values = Some(lua.create_table_with_capacity(0, members.fields.len() + members.methods.len())?);
    }
    if let Some(values) = &values {
        for (name, value) in members.fields {
            values.raw_set(name, value(lua)?)?;
        }
        for (name, body) in members.methods {
            values.raw_set(name, method(lua, body)?)?;
        }
    }
    let fallback = if let Value::Function(f) = fallback { Some(f) } else { None };
    let getters = accessors(lua, members.getters)?;
    if getters.is_none() && fallback.is_none() {
        if let Some(values) = values {
            meta.raw_set(MetaMethod::Index.name(), values)?;
        }
    } else if getters.is_some() || values.is_some() {
        meta.raw_set(MetaMethod::Index.name(), index_function(lua, getters, values, fallback)?)?;
    }
    if let Some(setters) = accessors(lua, members.setters)? {
        let fallback = meta.raw_get(MetaMethod::NewIndex.name())?;
        meta.raw_set(MetaMethod::NewIndex.name(), newindex_function(lua, setters, fallback)?)?;
    }
    // What `getmetatable` gives to scripts.
    meta.raw_set("__metatable", false)
}

/// A table of the functions that read or write fields.
fn accessors(lua: &Lua, list: Vec<(String, Rc<Closure>)>) -> Result<Option<Table>> {
    if list.is_empty() {
        return Ok(None);
    }
    let t = lua.create_table_with_capacity(0, list.len())?;
    for (name, closure) in list {
        t.raw_set(name, function(lua, closure))?;
    }
    Ok(Some(t))
}

/// An `__index` function in Lua, so that traces can go through it.
fn index_function(lua: &Lua, getters: Option<Table>, values: Option<Table>, fallback: Option<Function>) -> Result<Function> {
    let mut code = String::from("local getters, values, fallback = ... return function(self, key) ");
    if getters.is_some() {
        code.push_str("local getter = getters[key] if getter ~= nil then return getter(self) end ");
    }
    match (&values, &fallback) {
        (Some(_), None) => code.push_str("return values[key] "),
        (Some(_), Some(_)) => {
            code.push_str("local value = values[key] if value ~= nil then return value end return fallback(self, key) ")
        }
        (None, _) => code.push_str("return fallback(self, key) "),
    }
    code.push_str("end");
    let fallback = fallback.unwrap_or_else(|| native(lua, unknown_read));
    compile(lua, &code)?.call((getters, values, fallback))
}

/// A `__newindex` function in Lua.
fn newindex_function(lua: &Lua, setters: Table, fallback: Value) -> Result<Function> {
    let mut code = String::from("local setters, fallback = ... return function(self, key, value) ");
    code.push_str("local setter = setters[key] if setter ~= nil then setter(self, value) return end ");
    code.push_str(if matches!(fallback, Value::Table(_)) { "fallback[key] = value " } else { "fallback(self, key, value) " });
    code.push_str("end");
    let fallback = if fallback.is_nil() { Value::Function(native(lua, unknown_written)) } else { fallback };
    compile(lua, &code)?.call((setters, fallback))
}

fn compile(lua: &Lua, code: &str) -> Result<Function> {
    let f = lua
        .0
        .enter(|vm| vm.load_chunk(code.as_bytes(), b"=[userdata]", None).map(Raw::func).map_err(|e| Error::syntax(e.bytes())))?;
    Ok(Function(lua.handle(f)))
}

fn native(lua: &Lua, f: fn(&mut Vm) -> LuaResult<u32>) -> Function {
    Function(lua.handle(lua.0.enter(|vm| Raw::func(vm.new_native(f, 1, &[])))))
}

fn unknown_read(vm: &mut Vm) -> LuaResult<u32> {
    unknown(vm, "get")
}
fn unknown_written(vm: &mut Vm) -> LuaResult<u32> {
    unknown(vm, "set")
}
fn unknown(vm: &mut Vm, what: &str) -> LuaResult<u32> {
    let mut message = format!("attempt to {what} an unknown field '").into_bytes();
    perilune_vm::stdlib::tostring::put_value(&mut message, vm.arg(1));
    message.push(b'\'');
    let message = vm.new_str(&message);
    Err(vm.throw(Raw::str(message)))
}

/// The metatable of userdata whose value is gone: each use is an error.
pub fn of_destructed(lua: &Lua) -> Result<Table> {
    let fail = function(lua, Rc::new(|_| Err(Error::UserDataDestructed)));
    let meta = lua.create_table_with_capacity(0, MetaMethod::ALL.len())?;
    for method in MetaMethod::ALL.iter().filter(|m| !matches!(m, MetaMethod::Type | MetaMethod::ToDebugString)) {
        meta.raw_set(method.name(), &fail)?;
    }
    meta.raw_set("__metatable", false)?;
    Ok(meta)
}

/// The metatable of a userdata, which all userdata of its type share. See [`AnyUserData::metatable`](super::AnyUserData::metatable).
///
/// ```
/// use perilune::{Lua, MetaMethod, UserDataMetatable};
///
/// let lua = Lua::new();
/// let meta: UserDataMetatable = lua.create_any_userdata(1_u8)?.metatable()?;
/// assert_eq!(meta.get::<String>(MetaMethod::Type)?, "u8");
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct UserDataMetatable(pub(super) Table);

impl UserDataMetatable {
    /// A field of the metatable.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let meta = lua.create_any_userdata(1_u8)?.metatable()?;
    /// assert_eq!(meta.get::<String>("__name")?, "u8");
    /// assert!(meta.get::<perilune::Value>("__gc").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `key` is `__gc` or `__metatable`, or the value is not a `V`.
    pub fn get<V: FromLua>(&self, key: impl AsRef<str>) -> Result<V> {
        let _lua = self.0.0.open("UserDataMetatable::get")?;
        self.0.raw_get(MetaMethod::allowed(key.as_ref())?)
    }
    /// Sets a field of the metatable.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let byte = lua.create_any_userdata(1_u8)?;
    /// byte.metatable()?.set("__tostring", lua.create_function(|_, _: perilune::Value| Ok("a byte"))?)?;
    /// assert_eq!(lua.load("return tostring(...)").call::<String>(byte)?, "a byte");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `key` is `__gc`, `__metatable`, `__index` or `__newindex`.
    pub fn set(&self, key: impl AsRef<str>, value: impl IntoLua) -> Result<()> {
        let _lua = self.0.0.open("UserDataMetatable::set")?;
        let key = MetaMethod::allowed(key.as_ref())?;
        if key == MetaMethod::Index || key == MetaMethod::NewIndex {
            return Err(Error::MetaMethodRestricted(key.to_owned()));
        }
        self.0.raw_set(key, value)
    }
    /// Does the metatable have this field?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let meta = lua.create_any_userdata(1_u8)?.metatable()?;
    /// assert!(meta.contains("__name")? && !meta.contains("__call")?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `key` is `__gc` or `__metatable`.
    pub fn contains(&self, key: impl AsRef<str>) -> Result<bool> {
        let _lua = self.0.0.open("UserDataMetatable::contains")?;
        Ok(!self.get::<Value>(key)?.is_nil())
    }
    /// All fields but `__gc` and `__metatable`.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let meta = lua.create_any_userdata(1_u8)?.metatable()?;
    /// let names: Vec<String> = meta.pairs::<perilune::Value>().map(|pair| Ok(pair?.0)).collect::<perilune::Result<_>>()?;
    /// assert!(names.contains(&"__name".to_owned()) && !names.contains(&"__gc".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn pairs<V: FromLua>(&self) -> UserDataMetatablePairs<'_, V> {
        UserDataMetatablePairs(self.0.pairs())
    }
}

/// Iterator of [`UserDataMetatable::pairs`].
///
/// ```
/// use perilune::userdata::UserDataMetatablePairs;
/// use perilune::{Lua, Value};
///
/// let lua = Lua::new();
/// let meta = lua.create_any_userdata(1_u8)?.metatable()?;
/// let pairs: UserDataMetatablePairs<Value> = meta.pairs();
/// assert!(pairs.count() > 0);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct UserDataMetatablePairs<'a, V>(TablePairs<'a, String, V>);

impl<V: FromLua> Iterator for UserDataMetatablePairs<'_, V> {
    type Item = Result<(String, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find(|pair| pair.as_ref().map_or(true, |(name, _)| MetaMethod::allowed(name).is_ok()))
    }
}
