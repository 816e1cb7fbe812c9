//! Coroutines.

use super::convert::IntoLua;
use super::error::{Error, Result};
use super::function::Function;
use super::handle::Handle;
use super::lua::Lua;
use super::multi::{FromLuaMulti, IntoLuaMulti};
use super::passing::{Frame, pass};
use super::state::State;
use super::sync::Shared;
use super::thread_events::ThreadEvent;
use perilune_vm::interp::co;
use perilune_vm::object::{Gc, NativeFn, Thread as RawThread, ThreadStatus as RawStatus};
use perilune_vm::stdlib::{Builtin, host_traceback};
use perilune_vm::value::Value as Raw;
use std::ffi::c_void;

/// A coroutine.
///
/// ```
/// use perilune::{Function, Lua};
///
/// let lua = Lua::new();
/// let count: Function = lua.load("return function(n) while true do n = n + coroutine.yield(n) end end").eval()?;
/// let thread = lua.create_thread(count)?;
/// assert_eq!(thread.resume::<i32>(10)?, 10);
/// assert_eq!(thread.resume::<i32>(5)?, 15);
/// assert!(thread.is_resumable());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Thread(pub(crate) Handle);

/// What a coroutine does.
///
/// ```
/// use perilune::{Lua, ThreadStatus};
///
/// let lua = Lua::new();
/// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
/// assert_eq!(thread.status(), ThreadStatus::Resumable);
/// thread.resume::<i32>(())?;
/// assert_eq!(thread.status(), ThreadStatus::Finished);
/// assert_eq!(lua.current_thread().status(), ThreadStatus::Running);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    /// It was not started yet, or has yielded.
    Resumable,
    /// It runs.
    Running,
    /// It has resumed another coroutine, and waits for it.
    Normal,
    /// It has returned.
    Finished,
    /// It has ended by an error.
    Error,
}

impl Thread {
    fn raw(&self) -> Gc<RawThread> {
        Thread::coroutine(self.0.get())
    }
    /// The coroutine, if the state is known already.
    #[inline]
    pub(super) fn raw_with(&self, lua: &Lua) -> Gc<RawThread> {
        Thread::coroutine(self.0.get_with(lua))
    }
    fn coroutine(root: Raw) -> Gc<RawThread> {
        root.as_thread().expect("the root of a thread handle is a coroutine")
    }
    /// Runs the coroutine until it yields or returns. `args` are the function's arguments, or the results of the yield that it waits in.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("local a = ... local b = coroutine.yield(a + 1) return a + b").into_function()?)?;
    /// assert_eq!(thread.resume::<i32>(10)?, 11);
    /// assert_eq!(thread.resume::<i32>(20)?, 30);
    /// assert!(thread.resume::<i32>(()).is_err());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The coroutine cannot be resumed ([`Error::CoroutineUnresumable`]), fails, or gives something else than an `R`.
    ///
    /// # Panics
    /// A Rust function that it calls panics: the panic comes out here.
    pub fn resume<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let lua = self.0.open("Thread::resume")?;
        let frame = self.frame(&lua);
        args.pass_all(&lua)?;
        let first = self.resume_in(&lua, Resume::With, &frame)?;
        R::take_all(frame.passed(&lua).skip(first), None)
    }
    /// Raises an error in the coroutine, where it waits, instead of resuming it with values.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let wait = lua.load("local ok, e = pcall(coroutine.yield) return tostring(e)").into_function()?;
    /// let thread = lua.create_thread(wait)?;
    /// thread.resume::<()>(())?;
    /// assert_eq!(thread.resume_error::<String>("cancelled")?, "cancelled");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Thread::resume`]; the coroutine may catch the error.
    pub fn resume_error<R: FromLuaMulti>(&self, error: impl IntoLua) -> Result<R> {
        let lua = self.0.open("Thread::resume_error")?;
        let frame = self.frame(&lua);
        error.pass(&lua)?;
        let first = self.resume_in(&lua, Resume::Error, &frame)?;
        R::take_all(frame.passed(&lua).skip(first), None)
    }
    /// A frame for [`Thread::resume_in`], to which the values are added.
    pub(super) fn frame<'a>(&self, lua: &'a Lua) -> Frame<'a> {
        let frame = Frame::new(lua);
        pass(lua, self.0.get_with(lua));
        frame
    }
    /// Resumes the coroutine with what is in the frame, instead of which the results are there then; the number of the first.
    pub(super) fn resume_in(&self, lua: &Lua, how: Resume, frame: &Frame<'_>) -> Result<usize> {
        let co = self.raw_with(lua);
        if !co.status.get().is_resumable() {
            return Err(Error::CoroutineUnresumable);
        }
        lua.tell_thread_event(|t| t.on_resume, || ThreadEvent::Resume(self.clone()))?;
        let first = lua.0.resume(co, how, frame)?;
        if co.status.get() == RawStatus::Suspended {
            lua.tell_thread_event(|t| t.on_yield, || ThreadEvent::Yield(self.clone()))?;
        }
        Ok(first)
    }
    /// What the coroutine does.
    ///
    /// ```
    /// use perilune::{Lua, ThreadStatus};
    ///
    /// let lua = Lua::new();
    /// let thread = lua.create_thread(lua.load("error('no')").into_function()?)?;
    /// assert!(thread.resume::<()>(()).is_err());
    /// assert_eq!(thread.status(), ThreadStatus::Error);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn status(&self) -> ThreadStatus {
        let _lock = self.0.lock();
        let co = self.raw();
        match co.status.get() {
            RawStatus::Fresh | RawStatus::Suspended => ThreadStatus::Resumable,
            RawStatus::Running => ThreadStatus::Running,
            RawStatus::Normal => ThreadStatus::Normal,
            RawStatus::Dead if self.0.lua().0.enter(|vm| vm.coroutine_failed(co)) => ThreadStatus::Error,
            RawStatus::Dead => ThreadStatus::Finished,
        }
    }
    /// Can it be resumed?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    /// assert!(thread.is_resumable());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_resumable(&self) -> bool {
        let _lock = self.0.lock();
        self.raw().status.get().is_resumable()
    }
    /// Does it run?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert!(lua.current_thread().is_running());
    /// ```
    pub fn is_running(&self) -> bool {
        let _lock = self.0.lock();
        self.status() == ThreadStatus::Running
    }
    /// Has it resumed another coroutine that runs?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let main = lua.current_thread();
    /// let look = lua.create_function(move |_, ()| Ok(main.is_normal()))?;
    /// assert!(lua.create_thread(look)?.resume::<bool>(())?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_normal(&self) -> bool {
        let _lock = self.0.lock();
        self.status() == ThreadStatus::Normal
    }
    /// Has it returned?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    /// thread.resume::<i32>(())?;
    /// assert!(thread.is_finished());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_finished(&self) -> bool {
        let _lock = self.0.lock();
        self.status() == ThreadStatus::Finished
    }
    /// Has it ended by an error?
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("error('no')").into_function()?)?;
    /// assert!(thread.resume::<()>(()).is_err() && thread.is_error());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn is_error(&self) -> bool {
        let _lock = self.0.lock();
        self.status() == ThreadStatus::Error
    }
    /// Makes the coroutine one that was not started, with another function. What it ran is given up.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("return 1").into_function()?)?;
    /// thread.resume::<i32>(())?;
    /// thread.reset(lua.load("return 2").into_function()?)?;
    /// assert_eq!(thread.resume::<i32>(())?, 2);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// It runs, or waits for another coroutine; or the function belongs to another state.
    pub fn reset(&self, function: Function) -> Result<()> {
        let lua = self.0.open("Thread::reset")?;
        let f = function.0.get_in(&lua.0)?;
        self.reset_to(&lua, f)
    }
    /// Gives up what the coroutine ran: it can only be reset.
    #[cfg(feature = "async")]
    pub(super) fn give_up(&self, lua: &Lua) -> Result<()> {
        self.reset_to(lua, Raw::NIL)
    }
    pub(super) fn reset_to(&self, lua: &Lua, f: Raw) -> Result<()> {
        let co = self.raw_with(lua);
        match co.status.get() {
            RawStatus::Running => Err(Error::runtime("cannot reset a running thread")),
            RawStatus::Normal => Err(Error::runtime("cannot reset a normal thread")),
            RawStatus::Fresh | RawStatus::Suspended | RawStatus::Dead => {
                lua.0.enter(|vm| vm.reset_coroutine(co, f));
                Ok(())
            }
        }
    }
    /// The address, which tells coroutines apart.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// assert_eq!(lua.current_thread().to_pointer(), lua.current_thread().to_pointer());
    /// ```
    pub fn to_pointer(&self) -> *const c_void {
        self.0.address()
    }
}

/// How a coroutine goes on.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Resume {
    /// With values.
    With,
    /// With an error.
    Error,
}

impl State {
    /// Resumes a coroutine that can be resumed with what is in the frame, of which it is the first; see [`Thread::resume_in`].
    fn resume(self: &Shared<State>, co: Gc<RawThread>, how: Resume, frame: &Frame<'_>) -> Result<usize> {
        let state = Shared::clone(self);
        let f = state.resume_function(how);
        let result = state.enter(|vm| vm.pcall_passed(f, &state.roots, frame.from));
        // The frames of the coroutine are still there when it has failed.
        let traceback = || state.enter(|vm| host_traceback(vm, co));
        let (e, traceback) = match (result, how) {
            (Ok(()), Resume::Error) => return Ok(0),
            (Ok(()), Resume::With) if frame.raw(0) == Raw::TRUE => return Ok(1),
            (Ok(()), Resume::With) => (frame.raw(1), traceback()),
            (Err((e, _)), Resume::Error) => (e, traceback()),
            (Err((e, traceback)), Resume::With) => (e, traceback),
        };
        Err(state.error_of(e, &traceback))
    }
    /// The builtin that resumes coroutines, which is rooted.
    fn resume_function(&self, how: Resume) -> Raw {
        let (slot, builtin, id) = match how {
            Resume::With => (&self.resume_functions.0, co::co_resume as NativeFn, Builtin::CoroutineResume.id()),
            Resume::Error => (&self.resume_functions.1, co::co_raise as NativeFn, 1),
        };
        let slot = slot.get().unwrap_or_else(|| {
            let new = self.add_root(self.enter(|vm| Raw::func(vm.new_native(builtin, id, &[]))));
            slot.set(Some(new));
            new
        });
        self.roots.get(slot)
    }
}

impl Lua {
    /// A coroutine that will run a function.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let thread = lua.create_thread(lua.load("return ...").into_function()?)?;
    /// assert_eq!(thread.resume::<String>("moon")?, "moon");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// The function belongs to another state, the memory limit is reached, or a callback for thread events refuses it.
    pub fn create_thread(&self, function: Function) -> Result<Thread> {
        let _lock = self.0.lock();
        let f = function.0.get_in(&self.0)?;
        let co = self.0.enter(|vm| Raw::thread(vm.new_coroutine(f)));
        let thread = Thread(self.handle(co));
        self.0.step()?;
        self.tell_thread_event(|t| t.on_create, || ThreadEvent::Create(thread.clone()))?;
        Ok(thread)
    }
    /// The coroutine that runs: the main one outside of all others. In the coroutine of a `call_async`, which programs do not
    /// see, it is the one that polls the call.
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let main = lua.current_thread();
    /// let here = lua.create_function(|lua, ()| Ok(lua.current_thread()))?;
    /// assert_eq!(here.call::<perilune::Thread>(())?, main);
    /// assert_ne!(lua.create_thread(here)?.resume::<perilune::Thread>(())?, main);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn current_thread(&self) -> Thread {
        let _lock = self.0.lock();
        Thread(self.handle(self.visible_thread()))
    }
    pub(super) fn visible_thread(&self) -> Raw {
        let thread = self.0.enter(|vm| Raw::thread(vm.cur));
        #[cfg(feature = "async")]
        let thread = self.0.asynchronous.owner_of(thread);
        thread
    }
}
