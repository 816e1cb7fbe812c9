//! Interrupts: errors that are asked for from outside, at any time: by Ctrl-C, by a handle on another thread, by a time limit.
//!
//! Who asks sets the state's [`Flag`] and sends SIGURG to its thread, where the handler switches the interpreter to the dispatch table that
//! looks at interrupts before each instruction, and has compiled code left at its next exit. (SIGURG is ignored by default and seldom used, so that
//! one too many does no harm.) Builtins that may take long ask the flag themselves. A time limit is a timer of the system that sends the same
//! signal.
//!
//! Ctrl-C is an error that the program can catch. The others are raised again at each instruction until the host takes them back.
#![allow(
    unsafe_code,
    reason = "signals and timers of the system; states on the list of their thread are alive, as they leave it before they go"
)]

mod cause;
mod poll;

pub use cause::{Cause, Flag};
pub use poll::{Interrupted, Poll};

/// Longer strings are made in parts, and given up between two of them if an interrupt waits. Compiled code that can neither leaves them to
/// the interpreter.
pub const LONG_STRING: usize = Poll::BYTES;

use crate::Vm;
use crate::clock::read_clock;
use crate::error::{LuaError, LuaResult};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::time::Duration;
use std::sync::{Arc, Mutex, Once, PoisonError};

/// Where a state can be interrupted.
#[derive(Copy, Clone, Debug)]
enum Location {
    /// On the list of a thread.
    Thread(libc::pid_t),
    /// No thread uses it ([`Vm::leave_thread`]): the next one looks at its flag.
    Unused,
    /// It is closed.
    Closed,
}

/// Interrupts a state from any thread.
#[derive(Clone, Debug)]
pub struct Remote {
    flag: Arc<Flag>,
    place: Arc<Mutex<Place>>,
}

/// Where a state is, and the signal for it that is on its way.
#[derive(Debug)]
struct Place {
    location: Location,
    again: Option<Timer>,
}

impl Remote {
    /// Has the program of the state end with an error, soon. False if the state is closed.
    pub fn interrupt(&self) -> bool {
        // The lock is held until the signal is sent: the state neither goes to another thread nor is closed meanwhile.
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(place.location, Location::Closed) {
            return false;
        }
        self.flag.set(Cause::Host);
        if let Location::Thread(thread) = place.location {
            // SAFETY: sends a signal whose handler is installed, to a thread of this process.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGURG) };
            place.again = Timer::start(thread, REPEAT, Duration::ZERO);
        }
        true
    }
    fn set_location(&self, location: Location) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Place { location, again: None };
    }
}

/// A timer that sends the signal.
#[derive(Debug)]
struct Timer {
    id: libc::timer_t,
    /// The thread that gets its signals.
    thread: libc::pid_t,
}

// SAFETY: the system's name for a timer, which any thread of the process may use.
unsafe impl Send for Timer {}

/// When the signal comes again: one that comes just before a read waits does not end the read. For a time limit that has passed it is
/// repeated until the host takes the limit away.
const REPEAT: Duration = Duration::from_millis(5);

fn timespec(d: Duration) -> libc::timespec {
    libc::timespec { tv_sec: d.as_secs().try_into().unwrap_or(libc::time_t::MAX), tv_nsec: d.subsec_nanos().into() }
}

impl Timer {
    /// Sends the signal to a thread after some time, and then again and again in this interval, or once if that is zero.
    fn start(thread: libc::pid_t, first: Duration, interval: Duration) -> Option<Timer> {
        // SAFETY: all-zero is a value of these structures; the addresses are valid during the calls.
        unsafe {
            let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGURG;
            event.sigev_notify_thread_id = thread;
            let mut id: libc::timer_t = core::ptr::null_mut();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut id) != 0 {
                return None;
            }
            let timer = Timer { id, thread };
            let first = first.max(Duration::from_nanos(1));
            let when = libc::itimerspec { it_interval: timespec(interval), it_value: timespec(first) };
            (libc::timer_settime(timer.id, 0, &when, core::ptr::null_mut()) == 0).then_some(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made by `start`, and deleted once.
        unsafe { libc::timer_delete(self.id) };
    }
}

/// Interrupts of a state.
#[derive(Debug)]
pub struct Interrupts {
    /// The interrupt that waits.
    pub(crate) flag: Arc<Flag>,
    remote: Option<Remote>,
    timer: Option<Timer>,
    /// When the time limit passes, by the monotonic clock, in nanoseconds; 0 without one.
    deadline: u64,
    /// The next state of this thread that can be interrupted.
    next: *mut Vm,
    /// Do interrupts end compiled loops that take no exit?
    pub(crate) end_loops: bool,
}

impl Interrupts {
    /// None so far, by this flag.
    pub(crate) fn new(flag: Arc<Flag>) -> Interrupts {
        Interrupts { flag, remote: None, timer: None, deadline: 0, next: core::ptr::null_mut(), end_loops: false }
    }
}

thread_local! {
    /// The states of this thread that can be interrupted: a list by [`Interrupts::next`].
    static FIRST: Cell<*mut Vm> = const { Cell::new(core::ptr::null_mut()) };
}

fn monotonic() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// The number of this thread.
fn this_thread() -> libc::pid_t {
    // SAFETY: the call has no arguments and does not fail.
    unsafe { libc::syscall(libc::SYS_gettid) as libc::pid_t }
}

extern "C" fn on_signal(_: libc::c_int) {
    let _errno = crate::errno::keep();
    let mut vm = FIRST.get();
    while !vm.is_null() {
        // SAFETY: states on the list are alive, and of this thread.
        unsafe {
            notice(vm);
            vm = (&raw const (*vm).interrupts.next).read_volatile();
        }
    }
}

/// Has the program of a state look at an interrupt that waits, and at the time limit if it has passed.
///
/// # Safety
/// The state is alive, and its thread is the one that runs this: a signal handler may call it at any time.
unsafe fn notice(vm: *mut Vm) {
    // SAFETY: the caller's promise. The fields are read and written whole.
    unsafe {
        let interrupts = &raw const (*vm).interrupts;
        let deadline = (&raw const (*interrupts).deadline).read_volatile();
        if deadline != 0 && monotonic() >= deadline {
            (*interrupts).flag.set(Cause::Time);
        }
        if (*interrupts).flag.get().is_some() {
            Vm::look_at_interrupts(vm);
        }
    }
}

/// A handler of a signal, until it is dropped: then the action from before is back.
#[derive(Debug)]
pub struct SignalHandler {
    signal: libc::c_int,
    before: libc::sigaction,
}

impl SignalHandler {
    /// Installs a handler.
    ///
    /// # Safety
    /// The handler does only what is safe in one.
    pub unsafe fn install(signal: libc::c_int, handler: extern "C" fn(libc::c_int), flags: libc::c_int) -> SignalHandler {
        // SAFETY: all-zero is a value of `sigaction`: nothing blocked. The handler is the caller's.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let mut before = action;
            action.sa_sigaction = handler as usize;
            action.sa_flags = flags;
            libc::sigaction(signal, &action, &mut before);
            SignalHandler { signal, before }
        }
    }
}

impl Drop for SignalHandler {
    fn drop(&mut self) {
        // SAFETY: the action from before is one that the process had.
        unsafe { libc::sigaction(self.signal, &self.before, core::ptr::null_mut()) };
    }
}

/// Calls a function with all signals blocked. A thread that it starts gets none either, so that handlers run on threads of states only.
pub fn with_signals_blocked<R>(f: impl FnOnce() -> R) -> R {
    struct Before(libc::sigset_t);
    impl Drop for Before {
        fn drop(&mut self) {
            // SAFETY: the mask that this thread had.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, core::ptr::null_mut()) };
        }
    }
    // SAFETY: all-zero is a set of signals; the addresses are valid during the calls.
    let _before = unsafe {
        let mut all: libc::sigset_t = MaybeUninit::zeroed().assume_init();
        let mut before = all;
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        Before(before)
    };
    f()
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: the handler only uses what is safe in one. Without flags, so that a system call that waits ends.
        let handler = unsafe { SignalHandler::install(libc::SIGURG, on_signal, 0) };
        core::mem::forget(handler);
    });
}

impl Vm {
    /// What interrupts this state from any thread. Compiled loops ask for interrupts from now on; those compiled before are thrown away.
    pub fn remote(&mut self) -> Remote {
        if let Some(remote) = &self.interrupts.remote {
            return remote.clone();
        }
        install();
        let place = Place { location: Location::Thread(this_thread()), again: None };
        let remote = Remote { flag: Arc::clone(&self.interrupts.flag), place: Arc::new(Mutex::new(place)) };
        self.interrupts.remote = Some(remote.clone());
        self.link();
        self.set_interruptible(true);
        self.constant_changed();
        remote
    }
    /// Interrupts the program when so much time has passed from now on; `None` takes the limit away. An interrupt that waits is taken back.
    /// False if the system has no timer.
    pub fn set_time_limit(&mut self, limit: Option<Duration>) -> bool {
        self.interrupts.timer = None;
        self.interrupts.deadline = 0;
        self.forget_interrupt();
        let Some(limit) = limit else { return true };
        self.remote();
        let deadline = monotonic().saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)).max(1);
        self.interrupts.deadline = deadline;
        self.interrupts.timer = Timer::start(this_thread(), limit, REPEAT);
        self.interrupts.timer.is_some()
    }
    /// Makes [`Vm::interrupt`] end compiled loops that take no exit: loops that are compiled from now on check once in each iteration,
    /// unless they end soon.
    pub fn set_interruptible(&mut self, interruptible: bool) {
        self.interrupts.end_loops = interruptible;
    }
    /// Can another thread or a timer interrupt this state? Long work is then done in parts.
    pub fn is_interruptible(&self) -> bool {
        self.interrupts.remote.is_some()
    }
    /// The flag that interrupts of this state set, if another thread or a timer can interrupt it.
    pub fn interrupt_flag(&self) -> Option<Arc<Flag>> {
        self.is_interruptible().then(|| Arc::clone(&self.interrupts.flag))
    }
    /// The interrupt that waits, if one does.
    pub fn interrupt_waits(&self) -> Option<Cause> {
        self.interrupts.flag.get()
    }
    /// Raises the error of the interrupt that waits, if one does: in builtins that take long.
    #[inline]
    pub fn check_interrupt(&mut self) -> LuaResult<()> {
        if self.interrupts.flag.get().is_some() { Err(self.interrupted()) } else { Ok(()) }
    }
    /// The error of the interrupt that waits.
    #[cold]
    pub(crate) fn interrupted(&mut self) -> LuaError {
        let cause = self.interrupts.flag.get().unwrap_or(Cause::Key);
        if !cause.lasts() {
            self.forget_interrupt();
        }
        self.rt_error(cause.message())
    }
    /// Nobody interrupts this state any more: it is about to go.
    pub(crate) fn end_interrupts(&mut self) {
        self.interrupts.timer = None;
        let Some(remote) = self.interrupts.remote.take() else { return };
        remote.set_location(Location::Closed);
        self.unlink();
    }
    /// This thread begins to use the state, which no thread does since it was made or since [`Vm::leave_thread`]. An interrupt that was
    /// asked for meanwhile is noticed, and a time limit interrupts this thread from now on.
    pub fn enter_thread(&mut self) {
        // Code that another thread has written may follow in what this processor has fetched already.
        #[cfg(target_arch = "aarch64")]
        // SAFETY: a barrier.
        unsafe {
            core::arch::asm!("isb", options(nostack, preserves_flags));
        }
        if let Some(observer) = self.observer.clone() {
            observer.enter_thread(self);
        }
        let Some(remote) = &self.interrupts.remote else { return };
        remote.set_location(Location::Thread(this_thread()));
        self.link();
        let deadline = self.interrupts.deadline;
        if self.interrupts.timer.as_ref().is_some_and(|timer| timer.thread != this_thread()) {
            let left = Duration::from_nanos(deadline.saturating_sub(monotonic()));
            self.interrupts.timer = Timer::start(this_thread(), left, REPEAT);
            if self.interrupts.timer.is_none() {
                // Without a timer the limit would not hold: the program ends now.
                self.interrupts.flag.set(Cause::Time);
            }
        }
        // SAFETY: this is the state's thread now.
        unsafe { notice(self) };
    }
    /// No thread uses the state until [`Vm::enter_thread`].
    pub fn leave_thread(&mut self) {
        if let Some(observer) = &self.observer {
            observer.leave_thread();
        }
        let Some(remote) = &self.interrupts.remote else { return };
        remote.set_location(Location::Unused);
        self.unlink();
    }
    /// Adds this state to the list of this thread.
    fn link(&mut self) {
        self.interrupts.next = FIRST.get();
        FIRST.set(self);
    }
    /// Removes this state from the list of this thread, if it is there.
    fn unlink(&mut self) {
        let this: *mut Vm = self;
        let mut link: *mut Vm = FIRST.get();
        if link == this {
            FIRST.set(self.interrupts.next);
            return;
        }
        while !link.is_null() {
            // SAFETY: states on the list are alive.
            unsafe {
                if (*link).interrupts.next == this {
                    (&raw mut (*link).interrupts.next).write_volatile(self.interrupts.next);
                    return;
                }
                link = (*link).interrupts.next;
            }
        }
    }
}
