//! What a type says about itself as a userdata.

use super::{AnyUserData, UserDataRegistry};
#[cfg(feature = "async")]
use super::{UserDataRef, UserDataRefMut};
use crate::api::Lua;
use crate::api::convert::{FromLua, IntoLua};
use crate::api::error::Result;
use crate::api::multi::{FromLuaMulti, IntoLuaMulti};
#[cfg(feature = "async")]
use crate::api::sync::MaybeSend;

/// A type whose values can be userdata: what Lua code can do with them.
///
/// A value of such a type becomes a userdata wherever a Lua value is made of it. The type's metatable is made once per state. Methods are
/// functions in a table, so that a lookup costs a lookup in a table, also in compiled code; only types with fields that are computed have
/// an `__index` function.
///
/// ```
/// use perilune::{Lua, MetaMethod, UserData, UserDataFields, UserDataMethods};
///
/// struct Account {
///     balance: i64,
/// }
///
/// impl UserData for Account {
///     fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
///         fields.add_field_method_get("balance", |_, this| Ok(this.balance));
///     }
///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
///         methods.add_method_mut("deposit", |_, this, amount: i64| {
///             this.balance += amount;
///             Ok(())
///         });
///         methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("{} coins", this.balance)));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("account", Account { balance: 5 })?;
/// lua.load("account:deposit(10) assert(account.balance == 15) assert(tostring(account) == '15 coins')").exec()?;
/// assert!(lua.load("account.balance = 1000").exec().is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait UserData: Sized {
    /// Adds the fields.
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        let _ = fields;
    }
    /// Adds methods and metamethods.
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        let _ = methods;
    }
    /// Adds everything: the fields, then the methods. For types that want one function instead of two.
    fn register(registry: &mut UserDataRegistry<Self>) {
        Self::add_fields(registry);
        Self::add_methods(registry);
    }
}

/// Fields of a userdata type. See [`UserData`].
pub trait UserDataFields<T> {
    /// A field with the same value for all userdata of the type, also for the type's proxy ([`Lua::create_proxy`]).
    fn add_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static;

    /// A field that is read by calling `method`.
    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + 'static,
        R: IntoLua;

    /// A field that is written by calling `method`.
    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + 'static,
        A: FromLua;

    /// A field that is read by calling `function` with the userdata.
    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + 'static,
        R: IntoLua;

    /// A field that is written by calling `function` with the userdata.
    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + 'static,
        A: FromLua;

    /// A field of the metatable. `__index` and `__newindex` are used for keys that are neither a field nor a method, and must be a table
    /// or a function.
    fn add_meta_field<V>(&mut self, name: impl Into<String>, value: V)
    where
        V: IntoLua + 'static;

    /// A field of the metatable, computed when the metatable is made.
    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua;
}

/// Methods of a userdata type. See [`UserData`].
///
/// The names of functions in error messages are `Type.name`. A method that is called with another userdata than one of the type fails with
/// [`BadArgument`](crate::Error::BadArgument) for the parameter `self`.
pub trait UserDataMethods<T> {
    /// A method that reads the value.
    ///
    /// # Errors
    /// A call fails if the value is borrowed to write.
    fn add_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A method that changes the value.
    ///
    /// # Errors
    /// A call fails if the value is borrowed, or the method is running.
    fn add_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A method that takes the value out of the userdata, which is destroyed.
    ///
    /// ```
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Draft(String);
    /// impl UserData for Draft {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_method_once("publish", |_, this, ()| Ok(this.0));
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("draft", Draft("text".into()))?;
    /// assert_eq!(lua.load("draft:publish()").eval::<String>()?, "text");
    /// assert!(lua.load("draft:publish()").exec().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_method_once<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(&Lua, T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A function among the methods: called as a method, its first argument is the userdata.
    fn add_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// The same for a function that changes what it has captured.
    fn add_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod that reads the value. For operators, Lua may pass the userdata as second operand: see
    /// [`UserDataMethods::add_meta_function`].
    fn add_meta_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod that changes the value.
    fn add_meta_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod with all arguments as Lua passes them.
    fn add_meta_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// The same for a function that changes what it has captured.
    fn add_meta_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A method whose future keeps the value borrowed to read. Lua code that calls it waits: see [`Lua::create_async_function`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Sensor(f64);
    /// impl UserData for Sensor {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_method("read", |_, this, ()| async move { Ok(this.0) });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("sensor", Sensor(21.5))?;
    /// assert_eq!(lua.load("sensor:read()").eval_async::<f64>().await?, 21.5);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A method whose future keeps the value borrowed to write.
    #[cfg(feature = "async")]
    fn add_async_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A method whose future takes the value out of the userdata, which is destroyed.
    #[cfg(feature = "async")]
    fn add_async_method_once<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, T, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// An asynchronous function among the methods.
    #[cfg(feature = "async")]
    fn add_async_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A metamethod whose future keeps the value borrowed to read.
    #[cfg(feature = "async")]
    fn add_async_meta_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A metamethod whose future keeps the value borrowed to write.
    #[cfg(feature = "async")]
    fn add_async_meta_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// An asynchronous metamethod with all arguments as Lua passes them.
    #[cfg(feature = "async")]
    fn add_async_meta_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;
}
