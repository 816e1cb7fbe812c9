//! Asynchronous Rust functions: Lua code calls them like any other, and its coroutine yields while the future is not ready. Polling the
//! coroutine ([`AsyncThread`]) polls the future. No executor is assumed.
//!
//! A small Lua function around each asynchronous one yields until the future is ready. It is made of functions that no script can replace.
#![allow(unsafe_code, reason = "the waker of a poll is used only while it lasts: a guard takes it back when the poll ends")]

use super::callback::{self, Closure};
use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::handle::{Handle, LockedLua};
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::passing::{Frame, Kept, Passed, pass};
use super::sync::MaybeSend;
use super::thread::{Resume, Thread, ThreadStatus};
use super::value::{LightUserData, Value};
use futures_core::Stream;
use perilune_vm::interp::co;
use perilune_vm::stdlib::Builtin;
use perilune_vm::value::Value as Raw;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The function around an asynchronous one. `start` makes a future of the arguments and polls it, `poll` takes what the coroutine was resumed
/// with and polls it again. Both give the future, true and the results, or the future, false and what is to be yielded.
const WAIT: &str = "
local poll, yield = ...
local function go(future, ready, ...)
    if ready then return ... end
    return go(poll(future, yield(...)))
end
return function(start)
    return function(...) return go(start(...)) end
end";

/// The future of a call. It leaves its results on their way.
pub type Call = Pin<Box<dyn Future<Output = Result<()>>>>;
/// Makes the future of a call with these arguments.
pub type Start = dyn Fn(Passed<'_>) -> Result<Call>;

/// What a userdata of a call holds. Empty while the future is polled, once it is done, or when it was given up.
struct Pending(Option<Call>);

impl Pending {
    /// Takes the future out of the userdata of a call; `None` if it is none.
    fn take(call: Raw) -> Option<Option<Call>> {
        call.as_udata().and_then(|u| u.with(|p: &mut Pending| p.0.take()))
    }
}

/// The address that a coroutine yields while a future is not ready.
static NOT_READY: u8 = 0;

fn not_ready() -> LightUserData {
    LightUserData((&raw const NOT_READY).cast_mut().cast())
}

/// What futures and those who poll them tell one another.
#[derive(Default)]
pub struct Async {
    /// To be woken when the future that is polled can go on; null when nobody is. It lives as long as it is here: see [`WakerGuard`].
    waker: Cell<*const Waker>,
    /// What the future wants its coroutine to yield.
    yielded: RefCell<Option<MultiValue>>,
    /// What the coroutine was resumed with.
    sent: RefCell<Option<MultiValue>>,
    /// The call whose future was polled last and is not ready.
    last: RefCell<Option<Handle>>,
    /// [`WAIT`], compiled.
    wait: Cell<Option<u32>>,
    /// Coroutines of calls that are over, for the next ones.
    pool: RefCell<Vec<Thread>>,
    /// How many of them are kept.
    pub(super) pool_size: Cell<usize>,
    /// Coroutines of [`Function::call_async`] that run, each with the coroutine that polls it.
    implicit: RefCell<Vec<(Raw, Raw)>>,
}

impl Async {
    /// The coroutine that polls an implicit one; any other coroutine itself.
    pub(super) fn owner_of(&self, thread: Raw) -> Raw {
        let implicit = self.implicit.borrow();
        implicit.iter().rev().find(|(t, _)| *t == thread).map_or(thread, |(_, owner)| *owner)
    }
}

/// Notes a coroutine that [`Function::call_async`] has made, as long as it runs.
struct Implicit<'a>(&'a RefCell<Vec<(Raw, Raw)>>);

impl Drop for Implicit<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().pop();
    }
}

/// A waker is that of the state until this is dropped, which puts back the one before, also when a panic passes.
struct WakerGuard<'a> {
    current: &'a Cell<*const Waker>,
    before: *const Waker,
    /// The waker outlives the guard.
    waker: PhantomData<&'a Waker>,
}

impl<'a> WakerGuard<'a> {
    fn new(current: &'a Cell<*const Waker>, waker: &'a Waker) -> WakerGuard<'a> {
        WakerGuard { current, before: current.replace(waker), waker: PhantomData }
    }
}

impl Drop for WakerGuard<'_> {
    fn drop(&mut self) {
        self.current.set(self.before);
    }
}

/// The Lua function that waits for the futures of `start`.
fn waiting(lua: &Lua, start: Raw) -> Result<Raw> {
    let all = &lua.0.asynchronous;
    let wait = match all.wait.get() {
        Some(slot) => lua.0.roots.get(slot),
        None => {
            let poll: Rc<Closure> = Rc::new(poll_again);
            let poll = lua.handle(callback::new(lua, poll));
            let (chunk, yields) = lua.0.enter(|vm| {
                let chunk = vm.load_chunk(WAIT.as_bytes(), b"=[async]", None).map(Raw::func);
                let yields = Raw::func(vm.new_native(co::co_yield, Builtin::CoroutineYield.id(), &[]));
                (chunk, yields)
            });
            let chunk = chunk.map_err(|e| Error::syntax(e.bytes()))?;
            let (chunk, yields) = (lua.handle(chunk), lua.handle(yields));
            let made = lua.0.call(chunk.get(), &[poll.get(), yields.get()])?;
            let made = made.first().copied().unwrap_or(Raw::NIL);
            all.wait.set(Some(lua.0.add_root(made)));
            made
        }
    };
    Ok(lua.0.call(wait, &[start])?.first().copied().unwrap_or(Raw::NIL))
}

/// What `poll` of [`WAIT`] does.
fn poll_again(args: Passed<'_>) -> Result<()> {
    let call = args.raw(0);
    // The future is taken out while it is polled, so that code which cancels the call meanwhile does not drop it.
    let future = Pending::take(call).ok_or(Error::UserDataTypeMismatch)?;
    let mut future = future.ok_or_else(|| Error::runtime("the asynchronous call was given up"))?;
    let sent = (args.len() > 1).then(|| args.skip(1).to_multi());
    if poll(args.lua, &mut future, sent)?.is_pending() {
        call.as_udata().and_then(|u| u.with(|p: &mut Pending| p.0 = Some(future)));
        suspend(args.lua, call)?;
    }
    Ok(())
}

/// Polls a future. When it is ready, nil, true and the results are on their way; else nothing is.
fn poll(lua: &Lua, future: &mut Call, sent: Option<MultiValue>) -> Result<Poll<()>> {
    let all = &lua.0.asynchronous;
    // SAFETY: null, or the waker of a `WakerGuard` that has not been dropped yet, which outlives it.
    let waker = unsafe { all.waker.get().as_ref() }.unwrap_or_else(|| Waker::noop());
    drop(all.sent.replace(sent));
    drop(all.yielded.take());
    let before = lua.0.roots.passing_len();
    pass(lua, Raw::NIL);
    pass(lua, Raw::TRUE);
    let polled = future.as_mut().poll(&mut Context::from_waker(waker));
    drop(all.sent.take());
    match polled {
        Poll::Ready(result) => result.map(Poll::Ready),
        Poll::Pending => {
            lua.0.roots.truncate_passing(before);
            Ok(Poll::Pending)
        }
    }
}

/// Puts the call, false and what is to be yielded on their way.
///
/// # Errors
/// A value that is to be yielded belongs to another state.
fn suspend(lua: &Lua, call: Raw) -> Result<()> {
    let all = &lua.0.asynchronous;
    drop(all.last.replace(Some(lua.handle(call))));
    pass(lua, call);
    pass(lua, Raw::FALSE);
    match all.yielded.take() {
        Some(values) => values.pass_all(lua),
        None => {
            pass(lua, Value::LightUserData(not_ready()).raw_in(lua)?);
            Ok(())
        }
    }
}

/// The Lua function of an asynchronous closure.
pub fn new(lua: &Lua, start: Rc<Start>) -> Result<Function> {
    let _lock = lua.0.lock();
    let start: Rc<Closure> = Rc::new(move |args| {
        let lua = args.lua;
        let mut future = start(args)?;
        if poll(lua, &mut future, None)?.is_pending() {
            let call = lua.0.enter(|vm| Raw::udata(vm.new_host_udata(Box::new(Pending(Some(future))), None)));
            suspend(lua, call)?;
        }
        Ok(())
    });
    let start = lua.handle(callback::new(lua, start));
    let f = Function(lua.handle(waiting(lua, start.get())?));
    lua.0.step()?;
    Ok(f)
}

/// The future of a call whose result is converted.
pub fn converted<R: IntoLuaMulti>(lua: &Lua, future: impl Future<Output = Result<R>> + MaybeSend + 'static) -> Call {
    let lua = lua.weak();
    Box::pin(async move {
        let result = future.await?;
        result.pass_all(&lua.upgrade())
    })
}

/// An asynchronous closure that converts its arguments and results. `to` is its name in messages.
pub fn start<A, FR, R>(to: Option<String>, f: impl Fn(Lua, A) -> FR + MaybeSend + 'static) -> Rc<Start>
where
    A: FromLuaMulti,
    FR: Future<Output = Result<R>> + MaybeSend + 'static,
    R: IntoLuaMulti,
{
    Rc::new(move |args| {
        let converted_args = A::take_all(args, Some((1, to.as_deref())))?;
        Ok(converted(args.lua, f(args.lua.clone(), converted_args)))
    })
}

impl Lua {
    /// A Lua function that calls an asynchronous Rust closure. It has to be called in a coroutine, which yields until the future is ready:
    /// see [`Function::call_async`] and [`Thread::into_async`].
    ///
    /// ```
    /// # async fn sleep(_: u64) {}
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let sleep = lua.create_async_function(|_, ms: u64| async move {
    ///     sleep(ms).await;
    ///     Ok(ms)
    /// })?;
    /// lua.globals().set("sleep", sleep)?;
    /// let f: perilune::Function = lua.load("return function() return sleep(10) + 1 end").eval()?;
    /// assert_eq!(f.call_async::<u64>(()).await?, 11);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// The memory limit is reached.
    pub fn create_async_function<F, A, FR, R>(&self, f: F) -> Result<Function>
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti,
    {
        new(self, start(None, f))
    }
    /// In an asynchronous function: its coroutine yields values; gives what it is resumed with.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let ask = lua.create_async_function(|lua, ()| async move {
    ///     let name: String = lua.yield_with("name?").await?;
    ///     Ok(format!("hello {name}"))
    /// })?;
    /// let thread = lua.create_thread(ask)?;
    /// assert_eq!(thread.resume::<String>(())?, "name?");
    /// assert_eq!(thread.resume::<String>("moon")?, "hello moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub async fn yield_with<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let mut args = Some(args.into_lua_multi(self)?);
        let weak = self.weak();
        let sent = poll_fn(move |_| {
            let lua = LockedLua::new(weak.upgrade());
            match args.take() {
                Some(args) => {
                    drop(lua.0.asynchronous.yielded.replace(Some(args)));
                    Poll::Pending
                }
                None => Poll::Ready(lua.0.asynchronous.sent.take().unwrap_or_default()),
            }
        })
        .await;
        R::from_lua_multi(sent, self)
    }
}

/// A coroutine for a call that nobody else sees.
fn pooled_thread(lua: &Lua, f: &Function) -> Result<Thread> {
    let taken = lua.0.asynchronous.pool.borrow_mut().pop();
    match taken {
        Some(thread) => {
            thread.reset_to(f.0.get_in(&lua.0)?)?;
            Ok(thread)
        }
        None => lua.create_thread(f.clone()),
    }
}

/// Calls a function in a coroutine that nobody else sees.
pub(super) fn call<R: FromLuaMulti>(lua: &Lua, f: &Function, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
    let _lock = lua.0.lock();
    let thread = pooled_thread(lua, f).and_then(|thread| thread.into_async(args));
    AsyncCallFuture(match thread {
        Ok(mut thread) => {
            thread.implicit = true;
            Ok(thread)
        }
        Err(e) => Err(Some(e)),
    })
}

/// The future of [`Function::call_async`].
///
/// ```
/// # async fn run() -> perilune::Result<()> {
/// use perilune::{Function, Lua, function::AsyncCallFuture};
///
/// let lua = Lua::new();
/// let max: Function = lua.load("math.max").eval()?;
/// let future: AsyncCallFuture<i32> = max.call_async((3, 9));
/// assert_eq!(future.await?, 9);
/// # Ok(())
/// # }
/// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
/// # use std::future::Future;
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct AsyncCallFuture<R>(Result<AsyncThread<R>, Option<Error>>);

impl<R> AsyncCallFuture<R> {
    /// A call that has failed.
    pub(super) fn failed(e: Error) -> AsyncCallFuture<R> {
        AsyncCallFuture(Err(Some(e)))
    }
}

impl<R: FromLuaMulti> Future for AsyncCallFuture<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R>> {
        match &mut self.0 {
            Ok(thread) => Pin::new(thread).poll(context),
            Err(e) => Poll::Ready(Err(e.take().unwrap_or(Error::CoroutineUnresumable))),
        }
    }
}

impl Thread {
    /// The coroutine as a future, of what it returns, or as a stream, of what it yields and returns.
    ///
    /// ```
    /// # async fn run() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("return 2 * ...").into_function()?)?;
    /// assert_eq!(thread.into_async::<i32>(21)?.await?, 42);
    /// # Ok(())
    /// # }
    /// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
    /// # use std::future::Future;
    /// ```
    ///
    /// # Errors
    /// It cannot be resumed, or an argument cannot be converted.
    pub fn into_async<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<AsyncThread<R>> {
        if !self.is_resumable() {
            return Err(Error::CoroutineUnresumable);
        }
        let lua = self.0.lua();
        let frame = Frame::new(&lua);
        args.pass_all(&lua)?;
        let args = Some(frame.keep(&lua));
        Ok(AsyncThread { thread: self, args, pending: None, implicit: false, result: PhantomData })
    }
}

/// A coroutine as a future or a stream: see [`Thread::into_async`]. When it is dropped, the future that the coroutine waits for is dropped,
/// too.
///
/// ```
/// # async fn run() -> perilune::Result<()> {
/// use futures_core::Stream;
/// use perilune::{AsyncThread, Lua};
/// use std::{future::poll_fn, pin::Pin};
///
/// let lua = Lua::new();
/// let count = lua.load("for i = 1, 3 do coroutine.yield(i) end").into_function()?;
/// let mut stream: AsyncThread<Option<i32>> = lua.create_thread(count)?.into_async(())?;
/// let mut all = Vec::new();
/// while let Some(n) = poll_fn(|task| Pin::new(&mut stream).poll_next(task)).await {
///     all.extend(n?);
/// }
/// assert_eq!(all, [1, 2, 3]);
/// # Ok(())
/// # }
/// # let mut task = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert!(matches!(std::pin::pin!(run()).poll(&mut task), std::task::Poll::Ready(Ok(()))));
/// # use std::future::Future;
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct AsyncThread<R> {
    thread: Thread,
    /// What it is resumed with the first time.
    args: Option<Kept>,
    /// The call that it waits for.
    pending: Option<Handle>,
    /// Is it one of [`Function::call_async`], which nobody else sees?
    implicit: bool,
    result: PhantomData<fn() -> R>,
}

/// What a coroutine has done.
#[derive(PartialEq, Eq)]
enum Step {
    /// A future is not ready.
    Waits,
    /// It has yielded.
    Yielded,
    /// It has returned.
    Returned,
}

impl<R> AsyncThread<R> {
    /// Resumes the coroutine. What it yields or returns is in the frame, from the given number on.
    fn step(&mut self, lua: &Lua, frame: &Frame<'_>, context: &Context<'_>) -> Result<(Step, usize)> {
        if let Some(args) = self.args.take() {
            args.pass(lua);
        }
        self.pending = None;
        let all = &lua.0.asynchronous;
        let _guard = WakerGuard::new(&all.waker, context.waker());
        drop(all.last.take());
        let _implicit = self.implicit.then(|| {
            let owner = lua.visible_thread();
            all.implicit.borrow_mut().push((self.thread.0.get_with(lua), owner));
            Implicit(&all.implicit)
        });
        let first = self.thread.resume_in(lua, Resume::With, frame)?;
        self.pending = all.last.take();
        let step = if !self.thread.is_resumable() {
            Step::Returned
        } else if frame.len() > first && Some(frame.raw(first)) == not_ready().raw() {
            Step::Waits
        } else {
            Step::Yielded
        };
        Ok((step, first))
    }
}

impl<R> Drop for AsyncThread<R> {
    fn drop(&mut self) {
        let Some(lua) = self.thread.0.try_lua() else { return };
        if let Some(args) = self.args.take() {
            args.release(&lua);
        }
        if let Some(call) = self.pending.take() {
            // The future may run any code in its `Drop`: it is out of the userdata then.
            drop(Pending::take(call.get()));
        }
        if self.implicit {
            let all = &lua.0.asynchronous;
            let has_room = all.pool.borrow().len() < all.pool_size.get();
            // One that has ended is reset when it is used again.
            let is_idle = match self.thread.status() {
                ThreadStatus::Finished | ThreadStatus::Error => true,
                ThreadStatus::Resumable => has_room && self.thread.give_up().is_ok(),
                ThreadStatus::Running | ThreadStatus::Normal => false,
            };
            if has_room && is_idle {
                all.pool.borrow_mut().push(self.thread.clone());
            }
        }
    }
}

impl<R: FromLuaMulti> Future for AsyncThread<R> {
    type Output = Result<R>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R>> {
        let this = self.get_mut();
        let lua = this.thread.0.lua();
        let frame = this.thread.frame(&lua);
        match this.step(&lua, &frame, context) {
            Err(e) => Poll::Ready(Err(e)),
            Ok((Step::Waits, _)) => Poll::Pending,
            Ok((Step::Yielded, _)) => {
                // Nobody wants what was yielded: it goes on at once.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Ok((Step::Returned, first)) => Poll::Ready(R::take_all(frame.passed(&lua).skip(first), None)),
        }
    }
}

impl<R: FromLuaMulti> Stream for AsyncThread<R> {
    type Item = Result<R>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<R>>> {
        let this = self.get_mut();
        if !this.thread.is_resumable() {
            return Poll::Ready(None);
        }
        let lua = this.thread.0.lua();
        let frame = this.thread.frame(&lua);
        match this.step(&lua, &frame, context) {
            Err(e) => Poll::Ready(Some(Err(e))),
            Ok((Step::Waits, _)) => Poll::Pending,
            Ok((Step::Yielded | Step::Returned, first)) => Poll::Ready(Some(R::take_all(frame.passed(&lua).skip(first), None))),
        }
    }
}

impl<R> IntoLua for AsyncThread<R> {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Thread(self.thread.clone()))
    }
}

// Nothing in it is pinned.
impl<R> Unpin for AsyncThread<R> {}
impl<R> Unpin for AsyncCallFuture<R> {}
