//! Events of coroutines, and the callback that they call.

use super::error::Result;
use super::lua::Lua;
use super::sync::MaybeSend;
use super::thread::Thread;
use std::cell::{Cell, RefCell};
use std::ops::{BitOr, BitOrAssign};
use std::rc::Rc;

/// Which events of coroutines are reported; see [`Lua::set_thread_event_callback`].
///
/// ```
/// use perilune::ThreadTriggers;
///
/// let two = ThreadTriggers::new().on_resume().on_yield();
/// assert_eq!(two, ThreadTriggers::ON_RESUME | ThreadTriggers::ON_YIELD);
/// assert_eq!(two.on_create(), two | ThreadTriggers::ON_CREATE);
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTriggers {
    /// A coroutine was made by [`Lua::create_thread`].
    pub on_create: bool,
    /// A coroutine is about to be resumed by [`Thread::resume`].
    pub on_resume: bool,
    /// A coroutine that [`Thread::resume`] has resumed has yielded.
    pub on_yield: bool,
}

impl ThreadTriggers {
    /// Creation only.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert_eq!(ThreadTriggers::ON_CREATE, ThreadTriggers::new().on_create());
    /// ```
    pub const ON_CREATE: ThreadTriggers = ThreadTriggers::new().on_create();
    /// Resuming only.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert_eq!(ThreadTriggers::ON_RESUME, ThreadTriggers::new().on_resume());
    /// ```
    pub const ON_RESUME: ThreadTriggers = ThreadTriggers::new().on_resume();
    /// Yielding only.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert_eq!(ThreadTriggers::ON_YIELD, ThreadTriggers::new().on_yield());
    /// ```
    pub const ON_YIELD: ThreadTriggers = ThreadTriggers::new().on_yield();

    /// No events.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert_eq!(ThreadTriggers::new(), ThreadTriggers::default());
    /// ```
    pub const fn new() -> ThreadTriggers {
        ThreadTriggers { on_create: false, on_resume: false, on_yield: false }
    }
    /// These, and creation.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert!(ThreadTriggers::new().on_create().on_create);
    /// ```
    #[must_use]
    pub const fn on_create(mut self) -> ThreadTriggers {
        self.on_create = true;
        self
    }
    /// These, and resuming.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert!(ThreadTriggers::new().on_resume().on_resume);
    /// ```
    #[must_use]
    pub const fn on_resume(mut self) -> ThreadTriggers {
        self.on_resume = true;
        self
    }
    /// These, and yielding.
    ///
    /// ```
    /// use perilune::ThreadTriggers;
    ///
    /// assert!(ThreadTriggers::new().on_yield().on_yield);
    /// ```
    #[must_use]
    pub const fn on_yield(mut self) -> ThreadTriggers {
        self.on_yield = true;
        self
    }
}
impl BitOr for ThreadTriggers {
    type Output = ThreadTriggers;
    fn bitor(self, other: ThreadTriggers) -> ThreadTriggers {
        ThreadTriggers {
            on_create: self.on_create || other.on_create,
            on_resume: self.on_resume || other.on_resume,
            on_yield: self.on_yield || other.on_yield,
        }
    }
}
impl BitOrAssign for ThreadTriggers {
    fn bitor_assign(&mut self, other: ThreadTriggers) {
        *self = *self | other;
    }
}

/// An event of a coroutine.
///
/// ```
/// use perilune::{Lua, ThreadEvent, ThreadTriggers};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let lua = Lua::new();
/// let yields = Arc::new(AtomicU32::new(0));
/// let count = Arc::clone(&yields);
/// lua.set_thread_event_callback(ThreadTriggers::ON_YIELD, move |_, event| {
///     if let ThreadEvent::Yield(_) = event {
///         count.fetch_add(1, Ordering::Relaxed);
///     }
///     Ok(())
/// });
/// let thread = lua.create_thread(lua.load("coroutine.yield() coroutine.yield()").into_function()?)?;
/// while thread.is_resumable() {
///     thread.resume::<()>(())?;
/// }
/// assert_eq!(yields.load(Ordering::Relaxed), 2);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ThreadEvent {
    /// It was made.
    Create(Thread),
    /// It is about to be resumed.
    Resume(Thread),
    /// It has yielded.
    Yield(Thread),
}

/// A callback for an event.
type EventCallback = dyn Fn(&Lua, ThreadEvent) -> Result<()>;

/// The callback for events of coroutines.
#[derive(Default)]
pub struct ThreadEvents {
    callback: RefCell<Option<(ThreadTriggers, Rc<EventCallback>)>>,
    /// Does the callback run? There are no events then.
    running: Cell<bool>,
}

impl Lua {
    /// Has a function called for events of coroutines that Rust code makes and resumes. An error that it returns is the result of what was to
    /// be done. While it runs there are no events.
    ///
    /// ```
    /// use perilune::{Error, Lua, ThreadTriggers};
    ///
    /// let lua = Lua::new();
    /// lua.set_thread_event_callback(ThreadTriggers::ON_CREATE, |_, _| Err(Error::runtime("no threads here")));
    /// assert!(lua.create_thread(lua.load("return 1").into_function()?).is_err());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_thread_event_callback(
        &self,
        triggers: ThreadTriggers,
        callback: impl Fn(&Lua, ThreadEvent) -> Result<()> + MaybeSend + 'static,
    ) {
        let _lock = self.0.lock();
        let old = self.0.thread_events.callback.replace(Some((triggers, Rc::new(callback))));
        drop(old);
    }
    /// Ends that.
    ///
    /// ```
    /// use perilune::{Error, Lua, ThreadTriggers};
    ///
    /// let lua = Lua::new();
    /// lua.set_thread_event_callback(ThreadTriggers::ON_CREATE, |_, _| Err(Error::runtime("no threads here")));
    /// lua.remove_thread_event_callback();
    /// lua.create_thread(lua.load("return 1").into_function()?)?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn remove_thread_event_callback(&self) {
        let _lock = self.0.lock();
        let old = self.0.thread_events.callback.take();
        drop(old);
    }
    /// Tells of an event, if somebody wants to know.
    #[inline]
    pub(super) fn tell_thread_event(
        &self,
        wanted: fn(ThreadTriggers) -> bool,
        event: impl FnOnce() -> ThreadEvent,
    ) -> Result<()> {
        let events = &self.0.thread_events;
        let callback = match &*events.callback.borrow() {
            Some((triggers, callback)) if wanted(*triggers) && !events.running.get() => Rc::clone(callback),
            _ => return Ok(()),
        };
        /// Ends the time without events, also when a panic passes.
        struct Running<'a>(&'a Cell<bool>);
        impl Drop for Running<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        events.running.set(true);
        let _running = Running(&events.running);
        callback(self, event())
    }
}
