//! What a type adds its methods to.

#[cfg(feature = "async")]
use super::{UserDataRef, UserDataRefMut};
use crate::api::Lua;
use crate::api::error::Result;
use crate::api::multi::{FromLuaMulti, IntoLuaMulti};
use crate::api::sync::MaybeSend;

/// Methods of a userdata type. See [`UserData`](super::UserData).
///
/// The names of functions in error messages are `Type.name`. A method that is called with another userdata than one of the type fails with
/// [`BadArgument`](crate::Error::BadArgument) for the parameter `self`.
///
/// ```
/// use perilune::{AnyUserData, Lua, MetaMethod, UserData, UserDataMethods, UserDataRef};
///
/// struct Money(i64);
/// impl UserData for Money {
///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
///         methods.add_method("coins", |_, this, ()| Ok(this.0));
///         methods.add_method_mut("spend", |_, this, coins: i64| {
///             this.0 -= coins;
///             Ok(())
///         });
///         methods.add_function("new", |_, coins: i64| Ok(Money(coins)));
///         let mut calls = 0;
///         methods.add_function_mut("calls", move |_, ()| {
///             calls += 1;
///             Ok(calls)
///         });
///         methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("{} coins", this.0)));
///         methods.add_meta_method_mut(MetaMethod::Call, |_, this, coins: i64| {
///             this.0 += coins;
///             Ok(this.0)
///         });
///         // For an operator, either operand may be the userdata.
///         methods.add_meta_function(MetaMethod::Add, |_, (a, b): (UserDataRef<Money>, UserDataRef<Money>)| Ok(Money(a.0 + b.0)));
///         methods.add_meta_function_mut(MetaMethod::Len, |_, _: AnyUserData| Ok(1));
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("Money", lua.create_proxy::<Money>()?)?;
/// let text: String = lua.load("local m = Money.new(5) + Money.new(3) m:spend(1) m(10) return tostring(m)").eval()?;
/// assert_eq!(text, "17 coins");
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait UserDataMethods<T> {
    /// A method that reads the value.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_method("times", |_, this, n: u32| Ok(this * n));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u:times(2)").eval::<u32>()?, 80);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// A call fails if the value is borrowed to write.
    fn add_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A method that changes the value.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<Vec<u32>>(|registry| {
    ///     registry.add_method_mut("take", |_, this, ()| Ok(this.pop()));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(vec![40_u32])?)?;
    /// assert_eq!(lua.load("u:take()").eval::<u32>()?, 40);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// A call fails if the value is borrowed, or the method is running.
    fn add_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
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
        M: Fn(&Lua, T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A function among the methods: called as a method, its first argument is the userdata.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_function("sum", |_, (a, b): (u32, u32)| Ok(a + b));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.sum(20, 22)").eval::<u32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// The same for a function that changes what it has captured.
    ///
    /// ```
    /// use perilune::{Lua, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     let mut calls = 0;
    ///     registry.add_function_mut("calls", move |_, ()| {
    ///         calls += 1;
    ///         Ok(calls)
    ///     });
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u.calls() return u.calls()").eval::<u32>()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod that reads the value. For operators, Lua may pass the userdata as second operand: see
    /// [`UserDataMethods::add_meta_function`].
    ///
    /// ```
    /// use perilune::{Lua, MetaMethod, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     registry.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(*this));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("#u").eval::<u32>()?, 40);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod that changes the value.
    ///
    /// ```
    /// use perilune::{Lua, MetaMethod, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<Vec<u32>>(|registry| {
    ///     registry.add_meta_method_mut(MetaMethod::Call, |_, this, ()| Ok(this.pop()));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(vec![40_u32])?)?;
    /// assert_eq!(lua.load("u()").eval::<u32>()?, 40);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod with all arguments as Lua passes them.
    ///
    /// ```
    /// use perilune::{Lua, MetaMethod, UserDataMethods, UserDataRef};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     type Operands = (u32, UserDataRef<u32>);
    ///     registry.add_meta_function(MetaMethod::Add, |_, (a, b): Operands| Ok(a + *b));
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("2 + u").eval::<u32>()?, 42);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// The same for a function that changes what it has captured.
    ///
    /// ```
    /// use perilune::{AnyUserData, Lua, MetaMethod, UserDataMethods};
    ///
    /// let lua = Lua::new();
    /// lua.register_userdata_type::<u32>(|registry| {
    ///     let mut calls = 0;
    ///     registry.add_meta_function_mut(MetaMethod::Call, move |_, _: AnyUserData| {
    ///         calls += 1;
    ///         Ok(calls)
    ///     });
    /// })?;
    /// lua.globals().set("u", lua.create_any_userdata(40_u32)?)?;
    /// assert_eq!(lua.load("u() return u()").eval::<u32>()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn add_meta_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
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
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Queue(Vec<u32>);
    /// impl UserData for Queue {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_method_mut("push", |_, mut this, n: u32| async move {
    ///             this.0.push(n);
    ///             Ok(this.0.len())
    ///         });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("queue", Queue(vec![1]))?;
    /// assert_eq!(lua.load("queue:push(2)").eval_async::<usize>().await?, 2);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A method whose future takes the value out of the userdata, which is destroyed.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Request(String);
    /// impl UserData for Request {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_method_once("send", |_, this, ()| async move { Ok(this.0) });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("request", Request("GET /".into()))?;
    /// assert_eq!(lua.load("request:send()").eval_async::<String>().await?, "GET /");
    /// assert!(lua.load("request:send()").exec_async().await.is_err());
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_method_once<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, T, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// An asynchronous function among the methods.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, UserData, UserDataMethods};
    ///
    /// struct Client;
    /// impl UserData for Client {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_function("connect", |_, _port: u16| async move { Ok(Client) });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("Client", lua.create_proxy::<Client>()?)?;
    /// assert_eq!(lua.load("type(Client.connect(80))").eval_async::<String>().await?, "userdata");
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A metamethod whose future keeps the value borrowed to read.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, MetaMethod, UserData, UserDataMethods};
    ///
    /// struct Remote(u32);
    /// impl UserData for Remote {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_meta_method(MetaMethod::Call, |_, this, n: u32| async move { Ok(this.0 * n) });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("remote", Remote(6))?;
    /// assert_eq!(lua.load("remote(7)").eval_async::<u32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_meta_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// A metamethod whose future keeps the value borrowed to write.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Lua, MetaMethod, UserData, UserDataMethods};
    ///
    /// struct Store(u32);
    /// impl UserData for Store {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_meta_method_mut(MetaMethod::Call, |_, mut this, n: u32| async move {
    ///             this.0 += n;
    ///             Ok(this.0)
    ///         });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("store", Store(40))?;
    /// assert_eq!(lua.load("store(2)").eval_async::<u32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_meta_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// An asynchronous metamethod with all arguments as Lua passes them.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{AnyUserData, Lua, MetaMethod, UserData, UserDataMethods};
    ///
    /// struct Wire;
    /// impl UserData for Wire {
    ///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
    ///         methods.add_async_meta_function(MetaMethod::Call, |_, (_, n): (AnyUserData, u32)| async move { Ok(n + 1) });
    ///     }
    /// }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("wire", Wire)?;
    /// assert_eq!(lua.load("wire(41)").eval_async::<u32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    #[cfg(feature = "async")]
    fn add_async_meta_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;
}
