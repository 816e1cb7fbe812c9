//! What tables and userdata have in common: fields, methods and calls by way of metamethods.

#[cfg(feature = "async")]
use super::async_thread::AsyncCallFuture;
use super::convert::{FromLua, IntoLua};
use super::error::{Error, Result};
use super::function::{Function, call};
use super::handle::Handle;
use super::lua::{Lua, WeakLua};
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::passing::Frame;
use super::path;
use super::table::Table;
use super::userdata::AnyUserData;
use super::value::Value;
use super::{Sealed, path::Key};
use perilune_vm::meta::{Access, MM};

/// A field of an object, by way of `__index`.
pub fn get<V: FromLua>(object: &Handle, used: &'static str, key: impl IntoLua) -> Result<V> {
    let lua = object.open(used)?;
    let frame = Frame::new(&lua);
    key.pass(&lua)?;
    let (o, k) = (object.get_with(&lua), frame.raw(0));
    match lua.0.try_enter(|vm| vm.access_get(o, k))? {
        Access::Done(v) => frame.set(v),
        Access::Call(f, o) => {
            lua.0.roots.replace_passing(frame.from, &[o, k]);
            lua.0.call_passed(f, &frame)?;
        }
    }
    let value = V::take(frame.passed(&lua), 0, None)?;
    if k.is_gc() {
        // The key may be a new string.
        lua.0.step()?;
    }
    Ok(value)
}

/// Sets a field of an object, by way of `__newindex`.
pub fn set(object: &Handle, used: &'static str, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
    let lua = object.open(used)?;
    let frame = Frame::new(&lua);
    key.pass(&lua)?;
    value.pass(&lua)?;
    let (o, k, v) = (object.get_with(&lua), frame.raw(0), frame.raw(1));
    if let Access::Call(f, o) = lua.0.try_enter(|vm| vm.access_set(o, k, v))? {
        lua.0.roots.replace_passing(frame.from, &[o, k, v]);
        return lua.0.call_passed(f, &frame);
    }
    lua.0.step()
}

/// Are two objects the same, or equal by the `__eq` of the first, or else of the second?
pub fn equals(a: &Handle, used: &'static str, b: &Handle) -> Result<bool> {
    let lua = a.open(used)?;
    if a.is_same(b) {
        return Ok(true);
    }
    let (a, b) = (a.get(), b.get_in(&lua.0)?);
    let metamethod = lua.0.enter(|vm| {
        let first = vm.metamethod(a, MM::Eq);
        if first.is_nil() { vm.metamethod(b, MM::Eq) } else { first }
    });
    if metamethod.is_nil() {
        return Ok(false);
    }
    Ok(lua.0.call(metamethod, &[a, b])?.first().is_some_and(|v| v.truthy()))
}

/// The function in a field.
fn function_of(object: &Handle, used: &'static str, name: &str) -> Result<Function> {
    match get(object, used, name)? {
        Value::Function(f) => Ok(f),
        v => Err(Error::runtime(format!("attempt to call a {} value (function '{name}')", v.what()))),
    }
}

/// The function behind `__call` of an object. It takes the object as first argument.
#[cfg(feature = "async")]
fn call_metamethod(object: &Handle) -> Result<Function> {
    let lua = object.open("ObjectLike::call_async")?;
    let o = object.get();
    let f = lua.0.enter(|vm| vm.metamethod(o, MM::Call));
    if f.is_func() {
        Ok(Function(lua.handle(f)))
    } else {
        Err(Error::runtime(format!("attempt to call a {} value", o.type_name())))
    }
}

/// What tables and userdata have in common.
///
/// ```
/// use perilune::{Lua, ObjectLike, Table};
///
/// let lua = Lua::new();
/// let counter: Table = lua.load("{ n = 1, add = function(self, k) self.n = self.n + k return self.n end }").eval()?;
/// assert_eq!(counter.call_method::<i32>("add", 41)?, 42);
/// assert_eq!(counter.get_path::<i32>("n")?, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait ObjectLike: Sealed {
    /// The handle of the object.
    #[doc(hidden)]
    fn object(&self) -> &Handle;
    /// The object as a value.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike};
    ///
    /// let lua = Lua::new();
    /// assert!(lua.globals().to_value().is_table());
    /// ```
    fn to_value(&self) -> Value;

    /// A field, by way of `__index`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Result};
    ///
    /// fn name(object: &impl ObjectLike) -> Result<String> {
    ///     object.get("name")
    /// }
    /// let lua = Lua::new();
    /// assert_eq!(name(&lua.create_table_from([("name", "moon")])?)?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod and of the conversions.
    fn get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        get(self.object(), "ObjectLike::get", key)
    }
    /// Sets a field, by way of `__newindex`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Result};
    ///
    /// fn rename(object: &impl ObjectLike) -> Result<()> {
    ///     object.set("name", "moon")
    /// }
    /// let lua = Lua::new();
    /// let t = lua.create_table()?;
    /// rename(&t)?;
    /// assert_eq!(t.get::<String>("name")?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod and of the conversions.
    fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        set(self.object(), "ObjectLike::set", key, value)
    }
    /// Calls the object, by way of `__call`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let double: Table = lua.load("setmetatable({}, { __call = function(_, n) return 2 * n end })").eval()?;
    /// assert_eq!(double.call::<i32>(21)?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be called, the metamethod fails, or a conversion does.
    fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        call(&*self.object().open("ObjectLike::call")?, self.object().get(), args)
    }
    /// Calls the function in a field with the object as first argument: `object:name(args)`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let account: Table = lua.load("{ coins = 1, add = function(self, n) self.coins = self.coins + n end }").eval()?;
    /// account.call_method::<()>("add", 41)?;
    /// assert_eq!(account.get::<i32>("coins")?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The field is no function, the function fails, or a conversion does.
    fn call_method<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> Result<R> {
        function_of(self.object(), "ObjectLike::call_method", name)?.call((self.to_value(), args))
    }
    /// Calls the function in a field: `object.name(args)`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let math: Table = lua.globals().get("math")?;
    /// assert_eq!(math.call_function::<i32>("max", (3, 9))?, 9);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The field is no function, the function fails, or a conversion does.
    fn call_function<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> Result<R> {
        function_of(self.object(), "ObjectLike::call_function", name)?.call(args)
    }
    /// Calls the object, by way of `__call`, in a coroutine of its own: see [`Function::call_async`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let double: Table = lua.load("setmetatable({}, { __call = function(_, n) return 2 * n end })").eval()?;
    /// assert_eq!(double.call_async::<i32>(21).await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn call_async<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
        match call_metamethod(self.object()) {
            Ok(f) => f.call_async((self.to_value(), args)),
            Err(e) => AsyncCallFuture::failed(e),
        }
    }
    /// Calls the function in a field with the object as first argument, in a coroutine of its own: see [`Function::call_async`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let t: Table = lua.load("{ n = 2, times = function(self, k) return self.n * k end }").eval()?;
    /// assert_eq!(t.call_async_method::<i32>("times", 21).await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn call_async_method<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
        match function_of(self.object(), "ObjectLike::call_async_method", name) {
            Ok(f) => f.call_async((self.to_value(), args)),
            Err(e) => AsyncCallFuture::failed(e),
        }
    }
    /// Calls the function in a field, in a coroutine of its own: see [`Function::call_async`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Function, Lua, ObjectLike};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("twice", Function::wrap_raw_async(|n: i32| async move { 2 * n }))?;
    /// assert_eq!(lua.globals().call_async_function::<i32>("twice", 21).await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn call_async_function<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
        match function_of(self.object(), "ObjectLike::call_async_function", name) {
            Ok(f) => f.call_async(args),
            Err(e) => AsyncCallFuture::failed(e),
        }
    }
    /// The value behind a path of keys, as `a.b[1]["c d"]`. A `?` behind a key lets the path end with nil where there is nothing.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let t: Table = lua.load("{ servers = { { name = 'moon' } } }").eval()?;
    /// assert_eq!(t.get_path::<String>("servers[1].name")?, "moon");
    /// assert_eq!(t.get_path::<Option<String>>("servers[2]?.name")?, None);
    /// assert!(t.get_path::<String>("servers[2].name").is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The path is malformed, a value on it is neither table nor userdata, or the last one is no `V`.
    fn get_path<V: FromLua>(&self, path: &str) -> Result<V> {
        let used = "ObjectLike::get_path";
        let lua = self.object().open(used)?;
        let mut v = self.to_value();
        for step in path::parse(path)? {
            let handle = match &v {
                Value::Table(t) => &t.0,
                Value::UserData(u) => &u.0,
                _ => {
                    let message = format!("attempt to index a {} value with key '{}'", v.what(), step.key);
                    return Err(Error::runtime(message));
                }
            };
            v = match step.key {
                Key::Name(name) => get(handle, used, name)?,
                Key::Index(i) => get(handle, used, i)?,
            };
            if step.optional && (v.is_nil() || v.is_null()) {
                break;
            }
        }
        V::from_lua(v, &lua)
    }
    /// The text that `tostring` gives, by way of `__tostring`.
    ///
    /// ```
    /// use perilune::{Lua, ObjectLike, Table};
    ///
    /// let lua = Lua::new();
    /// let t: Table = lua.load("setmetatable({}, { __tostring = function() return 'moon' end })").eval()?;
    /// assert_eq!(ObjectLike::to_string(&t)?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the metamethod.
    fn to_string(&self) -> Result<String> {
        let _lua = self.object().open("ObjectLike::to_string")?;
        self.to_value().to_string()
    }
    /// The state of the object.
    #[doc(hidden)]
    fn weak_lua(&self) -> WeakLua {
        Lua::weak(&self.object().lua())
    }
}

impl ObjectLike for Table {
    fn object(&self) -> &Handle {
        &self.0
    }
    fn to_value(&self) -> Value {
        Value::Table(self.clone())
    }
}

impl ObjectLike for AnyUserData {
    fn object(&self) -> &Handle {
        &self.0
    }
    fn to_value(&self) -> Value {
        Value::UserData(self.clone())
    }
}
