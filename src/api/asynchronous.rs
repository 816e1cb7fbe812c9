//! Asynchronous Rust functions: Lua code calls them like any other, and its coroutine yields while the future is not ready. Polling the
//! coroutine ([`AsyncThread`]) polls the future. No executor is assumed.
//!
//! A builtin starts the future. While that is not ready, the builtin becomes a call of a small Lua function, which yields. No script can replace
//! what that is made of.
#![allow(unsafe_code, reason = "the waker of a poll is used only while it lasts: a guard takes it back when the poll ends")]

use super::callback;
use super::error::{Error, Result};
use super::function::Function;
use super::handle::{Handle, LockedLua};
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti, MultiValue};
use super::passing::{Passed, pass};
use super::sync::MaybeSend;
use super::thread::Thread;
use super::value::{LightUserData, Value};
use perilune_vm::Vm;
use perilune_vm::error::LuaResult;
use perilune_vm::interp::co;
use perilune_vm::stdlib::Builtin;
use perilune_vm::value::Value as Raw;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// What an asynchronous function becomes when its future is not ready: it yields, and has the future polled again with what it is resumed with.
const WAIT: &str = "
local poll, yield = ...
return function(call, ...) return poll(call, yield(...)) end";

/// The future of a call. It leaves its results on their way.
pub type Call = Pin<Box<dyn Future<Output = Result<()>>>>;
/// Makes the future of a call with these arguments.
pub type Start = dyn Fn(Passed<'_>) -> Result<Call>;

/// What polls the future of a call, at first or again.
type Polling = dyn Fn(Passed<'_>) -> Result<Poll<()>>;

/// What a userdata of a call holds.
struct Pending {
    /// Empty while the future is polled, once it is done, or when it was given up.
    future: Option<Call>,
    /// How many calls have used the userdata.
    uses: u64,
}

/// A call whose future is not ready.
#[derive(Copy, Clone)]
pub(super) struct Waiting {
    /// The root of its userdata. Who drops this releases it: a [`Handle`] would count the state as well, in each call.
    root: u32,
    /// [`Pending::uses`] then: the userdata may be that of another call since.
    uses: u64,
}

impl Waiting {
    pub(super) fn release(self, lua: &Lua) {
        lua.0.roots.release(self.root);
    }
    /// Drops the future.
    pub(super) fn give_up(self, lua: &Lua) {
        let future = with_pending(lua.0.roots.get(self.root), |p| if p.uses == self.uses { p.future.take() } else { None });
        self.release(lua);
        // It may run any code in its `Drop`: it is out of the userdata.
        drop(future);
    }
}

/// Calls `f` with what a userdata of a call holds; `None` if it is none.
fn with_pending<R>(call: Raw, f: impl FnOnce(&mut Pending) -> R) -> Option<R> {
    call.as_udata().and_then(|u| u.with(f))
}

/// So many userdata of calls that are over are kept for the next ones: as many calls as usually wait at a time.
const MOST_IDLE: usize = 64;

/// The address that a coroutine yields while a future is not ready.
static NOT_READY: u8 = 0;

/// What a coroutine yields then.
pub(super) fn not_ready() -> LightUserData {
    LightUserData((&raw const NOT_READY).cast_mut().cast())
}

/// What futures and those who poll them tell one another.
#[derive(Default)]
pub struct Async {
    /// To be woken when the future that is polled can go on; null when nobody is. It lives as long as it is here: see `WakerGuard`.
    pub(super) waker: Cell<*const Waker>,
    /// What the future wants its coroutine to yield.
    yielded: Cell<Option<Box<MultiValue>>>,
    /// What the coroutine was resumed with.
    sent: Cell<Option<Box<MultiValue>>>,
    /// The call whose future was polled last and is not ready.
    pub(super) last: Cell<Option<Waiting>>,
    /// [`WAIT`], compiled.
    wait: Cell<Option<u32>>,
    /// Userdata of calls that are over, for the next ones.
    idle: RefCell<Vec<Handle>>,
    /// Coroutines of calls that are over, for the next ones.
    pub(super) pool: RefCell<Vec<Thread>>,
    /// How many of them are kept.
    pub(super) pool_size: Cell<usize>,
    /// Coroutines of [`Function::call_async`] that run, each with the coroutine that polls it.
    pub(super) implicit: RefCell<Vec<(Raw, Raw)>>,
}

impl Async {
    /// Notes the call whose future was polled last, if it is not ready.
    pub(super) fn set_last(&self, lua: &Lua, waiting: Option<Waiting>) {
        if let Some(before) = self.last.replace(waiting) {
            before.release(lua);
        }
    }
    /// The coroutine that polls an implicit one; any other coroutine itself.
    pub(super) fn owner_of(&self, thread: Raw) -> Raw {
        let implicit = self.implicit.borrow();
        implicit.iter().rev().find(|(t, _)| *t == thread).map_or(thread, |(_, owner)| *owner)
    }
}

/// The Lua function that waits, [`WAIT`].
fn waiting(lua: &Lua) -> Result<Raw> {
    let all = &lua.0.asynchronous;
    if let Some(slot) = all.wait.get() {
        return Ok(lua.0.roots.get(slot));
    }
    let poll = lua.handle(builtin(lua, Rc::new(poll_again)));
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
    Ok(made)
}

/// The builtin of a closure. Compiled code leaves such a builtin to the interpreter, as it may become another call.
fn builtin(lua: &Lua, polling: Rc<Polling>) -> Raw {
    let upvalue = callback::upvalue(lua, polling);
    lua.0.enter(|vm| Raw::func(vm.new_native(run_polling, Builtin::NativeFunction.id(), &[upvalue])))
}

/// What Lua calls.
fn run_polling(vm: &mut Vm) -> LuaResult<u32> {
    let (polling, lua) = callback::called::<Polling>(vm)?;
    callback::run_with(vm, &lua, |args| polling(args), finish, callback::raise)
}

/// Returns the results of the future, or waits for it.
fn finish(vm: &mut Vm, lua: &Lua, polled: Poll<()>, from: usize) -> LuaResult<u32> {
    let roots = &lua.0.roots;
    match lua.0.asynchronous.wait.get() {
        Some(wait) if polled.is_pending() => vm.become_call_passed(roots.get(wait), roots, from),
        _ => vm.push_passed(roots, from),
    }
}

/// What `poll` of [`WAIT`] does.
fn poll_again(args: Passed<'_>) -> Result<Poll<()>> {
    let (lua, call) = (args.lua, args.raw(0));
    // The future is taken out while it is polled, so that code which cancels the call meanwhile does not drop it.
    let future = with_pending(call, |p| p.future.take()).ok_or(Error::UserDataTypeMismatch)?;
    let mut future = future.ok_or_else(|| Error::runtime("the asynchronous call was given up"))?;
    let sent = (args.len() > 1).then(|| Box::new(args.skip(1).to_multi()));
    let polled = poll(lua, &mut future, sent)?;
    if polled.is_pending() {
        suspend(lua, call, future)?;
    } else {
        keep_idle(lua, call);
    }
    Ok(polled)
}

/// Keeps the userdata of a call that is over for another.
fn keep_idle(lua: &Lua, call: Raw) {
    let mut idle = lua.0.asynchronous.idle.borrow_mut();
    if idle.len() < MOST_IDLE {
        idle.push(lua.handle(call));
    }
}

/// Polls a future. When it is ready, the results are on their way; else nothing is.
fn poll(lua: &Lua, future: &mut Call, sent: Option<Box<MultiValue>>) -> Result<Poll<()>> {
    let all = &lua.0.asynchronous;
    // SAFETY: null, or the waker of a `WakerGuard` that has not been dropped yet, which outlives it.
    let waker = unsafe { all.waker.get().as_ref() }.unwrap_or_else(|| Waker::noop());
    drop(all.sent.replace(sent));
    drop(all.yielded.take());
    let before = lua.0.roots.passing_len();
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

/// Puts a future that is not ready into the userdata of its call, and this and what is to be yielded on their way.
///
/// # Errors
/// A value that is to be yielded belongs to another state.
fn suspend(lua: &Lua, call: Raw, future: Call) -> Result<()> {
    let all = &lua.0.asynchronous;
    let mut future = Some(future);
    let uses = with_pending(call, |p| {
        p.future = future.take();
        p.uses
    });
    let uses = uses.ok_or(Error::UserDataTypeMismatch)?;
    all.set_last(lua, Some(Waiting { root: lua.0.add_root(call), uses }));
    pass(lua, call);
    match all.yielded.take() {
        Some(values) => values.pass_all(lua),
        None => {
            pass(lua, Value::LightUserData(not_ready()).raw_in(lua)?);
            Ok(())
        }
    }
}

/// A userdata for a call. It is not rooted.
fn new_call(lua: &Lua) -> Raw {
    let taken = lua.0.asynchronous.idle.borrow_mut().pop();
    match taken {
        Some(idle) => {
            let call = idle.get_with(lua);
            let _ = with_pending(call, |p| p.uses += 1);
            call
        }
        None => lua.0.enter(|vm| Raw::udata(vm.new_host_udata(Box::new(Pending { future: None, uses: 0 }), None))),
    }
}

/// The Lua function of an asynchronous closure.
pub fn new(lua: &Lua, start: Rc<Start>) -> Result<Function> {
    let _lock = lua.0.lock();
    waiting(lua)?;
    let start = move |args: Passed<'_>| {
        let lua = args.lua;
        let mut future = start(args)?;
        let polled = poll(lua, &mut future, None)?;
        if polled.is_pending() {
            suspend(lua, new_call(lua), future)?;
        }
        Ok(polled)
    };
    let f = Function(lua.handle(builtin(lua, Rc::new(start))));
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
                    drop(lua.0.asynchronous.yielded.replace(Some(Box::new(args))));
                    Poll::Pending
                }
                None => Poll::Ready(lua.0.asynchronous.sent.take().map_or_else(MultiValue::new, |sent| *sent)),
            }
        })
        .await;
        R::from_lua_multi(sent, self)
    }
}
