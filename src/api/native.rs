//! Rust functions as values before there is a state: `Function::wrap` and its kin.

#[cfg(feature = "async")]
use super::asynchronous::{self, Start};
use super::callback::{self, Closure};
use super::convert::IntoLua;
use super::error::{Error, Result};
use super::external::ExternalError;
use super::function::Function;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::sync::MaybeSend;
use super::value::Value;
use std::cell::RefCell;
use std::rc::Rc;

/// A Rust function that takes its arguments one by one.
///
/// ```
/// use perilune::LuaNativeFn;
///
/// fn call<F: LuaNativeFn<(i32, i32), Output = i32>>(f: F) -> i32 {
///     LuaNativeFn::call(&f, (20, 22))
/// }
/// assert_eq!(call(|a: i32, b: i32| a + b), 42);
/// ```
pub trait LuaNativeFn<A: FromLuaMulti> {
    /// What it gives.
    type Output;
    /// Calls it.
    fn call(&self, args: A) -> Self::Output;
}

/// A Rust function that takes its arguments one by one and changes what it captured.
///
/// ```
/// use perilune::LuaNativeFnMut;
///
/// fn call<F: LuaNativeFnMut<(i32,), Output = ()>>(mut f: F) {
///     LuaNativeFnMut::call(&mut f, (42,));
/// }
/// let mut seen = Vec::new();
/// let note = move |n: i32| seen.push(n);
/// call(note);
/// ```
pub trait LuaNativeFnMut<A: FromLuaMulti> {
    /// What it gives.
    type Output;
    /// Calls it.
    fn call(&mut self, args: A) -> Self::Output;
}

macro_rules! native {
    ($($t:ident)*) => {
        impl<F: Fn($($t),*) -> R + 'static, $($t,)* R> LuaNativeFn<($($t,)*)> for F
        where
            ($($t,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            fn call(&self, ($($t,)*): ($($t,)*)) -> R {
                self($($t),*)
            }
        }
        impl<F: FnMut($($t),*) -> R + 'static, $($t,)* R> LuaNativeFnMut<($($t,)*)> for F
        where
            ($($t,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            fn call(&mut self, ($($t,)*): ($($t,)*)) -> R {
                self($($t),*)
            }
        }
    };
}
/// An asynchronous Rust function that takes its arguments one by one.
///
/// ```
/// # async fn run() -> perilune::Result<()> {
/// use perilune::function::LuaNativeAsyncFn;
///
/// async fn call<F: LuaNativeAsyncFn<(i32,), Output = i32>>(f: F) -> i32 {
///     LuaNativeAsyncFn::call(&f, (21,)).await
/// }
/// assert_eq!(call(|n: i32| async move { 2 * n }).await, 42);
/// # Ok(())
/// # }
/// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
/// # use std::future::Future;
/// ```
#[cfg(feature = "async")]
pub trait LuaNativeAsyncFn<A: FromLuaMulti> {
    /// What its future gives.
    type Output;
    /// Calls it.
    fn call(&self, args: A) -> impl Future<Output = Self::Output> + MaybeSend + 'static + use<Self, A>;
}

#[cfg(feature = "async")]
macro_rules! native_async {
    ($($t:ident)*) => {
        impl<F, $($t,)* FR, R> LuaNativeAsyncFn<($($t,)*)> for F
        where
            F: Fn($($t),*) -> FR + MaybeSend + 'static,
            ($($t,)*): FromLuaMulti,
            FR: Future<Output = R> + MaybeSend + 'static,
        {
            type Output = R;
            #[allow(non_snake_case, reason = "the variables are named after their types")]
            fn call(&self, ($($t,)*): ($($t,)*)) -> impl Future<Output = R> + MaybeSend + 'static + use<F, $($t,)* FR, R> {
                self($($t),*)
            }
        }
    };
}

/// Functions of no to all of the arguments.
macro_rules! natives {
    ($($done:ident)* ; $next:ident $($more:ident)*) => {
        native! { $($done)* }
        #[cfg(feature = "async")]
        native_async! { $($done)* }
        natives! { $($done)* $next ; $($more)* }
    };
    ($($done:ident)* ;) => {
        native! { $($done)* }
        #[cfg(feature = "async")]
        native_async! { $($done)* }
    };
}
natives! { ; A B C D E G H I J K L M N O P Q }

/// A closure that becomes a function in the state that asks for it.
struct Wrapped(Rc<Closure>);

impl IntoLua for Wrapped {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Function::of_closure(lua, self.0).map(Value::Function)
    }
}

/// Lets a function run only once at a time.
pub(super) fn exclusive<A, R>(f: impl FnMut(&Lua, A) -> Result<R> + 'static) -> impl Fn(&Lua, A) -> Result<R> + 'static {
    let f = RefCell::new(f);
    move |lua, args| {
        let mut f = f.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)?;
        f(lua, args)
    }
}

impl Function {
    /// A function in a state that calls a closure.
    pub(super) fn of_closure(lua: &Lua, closure: Rc<Closure>) -> Result<Function> {
        let _lock = lua.0.lock();
        let f = Function(lua.handle(callback::new(lua, closure)));
        lua.0.step()?;
        Ok(f)
    }
    /// A Rust function to be made a Lua function when a state asks for it, as `set` of a table does. It takes its arguments one by one; an
    /// error that it returns is raised in Lua.
    ///
    /// ```
    /// use perilune::{Function, Lua, Result};
    ///
    /// fn parse(text: String) -> std::result::Result<u16, std::num::ParseIntError> {
    ///     text.parse()
    /// }
    /// let lua = Lua::new();
    /// lua.globals().set("parse", Function::wrap(parse))?;
    /// assert_eq!(lua.load("parse('8080')").eval::<u16>()?, 8080);
    /// assert!(lua.load("parse('x')").eval::<u16>().is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap<F, A, R, E>(f: F) -> impl IntoLua
    where
        F: LuaNativeFn<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        Wrapped(callback::closure(move |_, args| f.call(args).map_err(E::into_lua_err)))
    }
    /// As [`Function::wrap`] for a function that changes what it captured. Calling it while it runs is an
    /// [`Error::RecursiveMutCallback`].
    ///
    /// ```
    /// use perilune::{Function, Lua, Result};
    ///
    /// let lua = Lua::new();
    /// let mut n = 0;
    /// let count = move || -> Result<i32> {
    ///     n += 1;
    ///     Ok(n)
    /// };
    /// lua.globals().set("count", Function::wrap_mut(count))?;
    /// assert_eq!(lua.load("count() return count()").eval::<i32>()?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap_mut<F, A, R, E>(mut f: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        Wrapped(callback::closure(exclusive(move |_, args| f.call(args).map_err(E::into_lua_err))))
    }
    /// As [`Function::wrap`] for a function whose result is given to Lua as it is: of `Err` Lua gets nil and the error, and nothing is raised.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("half", Function::wrap_raw(|n: i64| if n % 2 == 0 { Ok(n / 2) } else { Err("odd") }))?;
    /// assert_eq!(lua.load("return half(7)").eval::<(Option<i64>, String)>()?, (None, "odd".to_owned()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap_raw<F, A>(f: F) -> impl IntoLua
    where
        F: LuaNativeFn<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        Wrapped(callback::closure(move |_, args| Ok(f.call(args))))
    }
    /// As [`Function::wrap_raw`] for a function that changes what it captured.
    ///
    /// ```
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// let mut all = String::new();
    /// let append = move |text: String| {
    ///     all += &text;
    ///     all.clone()
    /// };
    /// lua.globals().set("append", Function::wrap_raw_mut(append))?;
    /// assert_eq!(lua.load("append('a') return append('b')").eval::<String>()?, "ab");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap_raw_mut<F, A>(mut f: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        Wrapped(callback::closure(exclusive(move |_, args| Ok(f.call(args)))))
    }
}

/// An asynchronous closure that becomes a function in the state that asks for it.
#[cfg(feature = "async")]
struct WrappedAsync(Rc<Start>);

#[cfg(feature = "async")]
impl IntoLua for WrappedAsync {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        asynchronous::new(lua, self.0).map(Value::Function)
    }
}

#[cfg(feature = "async")]
impl Function {
    /// As [`Function::wrap`] for an asynchronous function: see [`Lua::create_async_function`].
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Error, Function, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("twice", Function::wrap_async(|n: i32| async move { Ok::<_, Error>(2 * n) }))?;
    /// assert_eq!(lua.load("twice(21)").eval_async::<i32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    pub fn wrap_async<F, A, R, E>(f: F) -> impl IntoLua
    where
        F: LuaNativeAsyncFn<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        WrappedAsync(asynchronous::start(None, move |_, args| {
            let future = f.call(args);
            async move { future.await.map_err(E::into_lua_err) }
        }))
    }
    /// As [`Function::wrap_async`] for a function whose result is given to Lua as it is: of `Err` Lua gets nil and the error, and nothing
    /// is raised.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// use perilune::{Function, Lua};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("twice", Function::wrap_raw_async(|n: i32| async move { 2 * n }))?;
    /// assert_eq!(lua.load("twice(21)").eval_async::<i32>().await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    pub fn wrap_raw_async<F, A>(f: F) -> impl IntoLua
    where
        F: LuaNativeAsyncFn<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        WrappedAsync(asynchronous::start(None, move |_, args| {
            let future = f.call(args);
            async move { Ok(future.await) }
        }))
    }
}
