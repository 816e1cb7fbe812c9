//! Coroutines as futures and streams: [`Thread::into_async`] and [`Function::call_async`].

use super::asynchronous::{Waiting, not_ready};
use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::passing::{Frame, Kept};
use super::thread::{Resume, Thread};
use super::value::Value;
use futures_core::Stream;
use perilune_vm::object::ThreadStatus as RawStatus;
use perilune_vm::value::Value as Raw;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

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

/// A coroutine for a call that nobody else sees.
fn pooled_thread(lua: &Lua, f: &Function) -> Result<Thread> {
    let taken = lua.0.asynchronous.pool.borrow_mut().pop();
    match taken {
        Some(thread) => {
            thread.reset_to(lua, f.0.get_in(&lua.0)?)?;
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
        let lua = self.0.open("Thread::into_async")?;
        if !self.raw_with(&lua).status.get().is_resumable() {
            return Err(Error::CoroutineUnresumable);
        }
        let frame = Frame::new(&lua);
        args.pass_all(&lua)?;
        let args = Some(frame.keep());
        Ok(AsyncThread { thread: self, args, pending: None, implicit: false, told: false, result: PhantomData })
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
    pending: Option<Waiting>,
    /// Is it one of [`Function::call_async`], which nobody else sees?
    implicit: bool,
    /// Did the stream say that the state is closed? It ends with that.
    told: bool,
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
        if let Some(call) = self.pending.take() {
            call.release(lua);
        }
        let all = &lua.0.asynchronous;
        let _guard = WakerGuard::new(&all.waker, context.waker());
        all.set_last(lua, None);
        let _implicit = self.implicit.then(|| {
            let owner = lua.visible_thread();
            all.implicit.borrow_mut().push((self.thread.0.get_with(lua), owner));
            Implicit(&all.implicit)
        });
        let first = self.thread.resume_in(lua, Resume::With, frame)?;
        self.pending = all.last.take();
        let step = if !self.thread.raw_with(lua).status.get().is_resumable() {
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
            call.give_up(&lua);
        }
        if self.implicit {
            let all = &lua.0.asynchronous;
            let has_room = all.pool.borrow().len() < all.pool_size.get();
            // One that has ended is reset when it is used again.
            let is_idle = match self.thread.raw_with(&lua).status.get() {
                RawStatus::Dead => true,
                RawStatus::Fresh | RawStatus::Suspended => has_room && self.thread.give_up(&lua).is_ok(),
                RawStatus::Running | RawStatus::Normal => false,
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
        let lua = match this.thread.0.open("AsyncThread::poll") {
            Ok(lua) => lua,
            Err(e) => return Poll::Ready(Err(e)),
        };
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
        if this.told {
            return Poll::Ready(None);
        }
        let lua = match this.thread.0.open("AsyncThread::poll_next") {
            Ok(lua) => lua,
            Err(e) => {
                this.told = true;
                return Poll::Ready(Some(Err(e)));
            }
        };
        if !this.thread.raw_with(&lua).status.get().is_resumable() {
            return Poll::Ready(None);
        }
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
