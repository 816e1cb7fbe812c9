//! A timer of the processor time of one thread, which sends that thread a signal.

use crate::Vm;
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::time::Duration;
use std::sync::Mutex;

/// A timer that runs until it is dropped.
pub(super) struct Timer {
    id: libc::timer_t,
    /// It belongs to its thread.
    _thread: PhantomData<*mut ()>,
}

thread_local! {
    /// The VM of this thread that is being sampled.
    static SAMPLED: Cell<*mut Vm> = const { Cell::new(core::ptr::null_mut()) };
}

/// How many timers run, and what the signal did before the first.
static INSTALLED: Mutex<(usize, Option<libc::sigaction>)> = Mutex::new((0, None));

extern "C" fn on_signal(_: libc::c_int) {
    let vm = SAMPLED.get();
    if !vm.is_null() {
        // SAFETY: the VM is alive while it is noted here, on this thread.
        unsafe { Vm::tick(vm) };
    }
}

impl Timer {
    /// Begins to interrupt this thread. `None` if another VM is sampled on it, or if the system refuses.
    pub fn start(vm: *mut Vm, interval: Duration) -> Option<Timer> {
        if !SAMPLED.get().is_null() {
            return None;
        }
        install(1);
        // SAFETY: all-zero is a value of this type; the fields needed are set.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        // SAFETY: tells the number of the thread.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut id: libc::timer_t = core::ptr::null_mut();
        // SAFETY: both addresses are valid during the call.
        if unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut id) } != 0 {
            install(-1);
            return None;
        }
        SAMPLED.set(vm);
        let timer = Timer { id, _thread: PhantomData };
        let period = libc::timespec { tv_sec: interval.as_secs() as libc::time_t, tv_nsec: interval.subsec_nanos().into() };
        let spec = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: the timer was just made.
        let set = unsafe { libc::timer_settime(id, 0, &spec, core::ptr::null_mut()) };
        (set == 0).then_some(timer)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer exists. A signal on its way reaches this thread before the call returns, or finds no VM.
        unsafe { libc::timer_delete(self.id) };
        SAMPLED.set(core::ptr::null_mut());
        install(-1);
    }
}

/// Counts the timers; the handler is there while some run.
fn install(change: isize) {
    let Ok(mut installed) = INSTALLED.lock() else { return };
    let before = installed.0;
    installed.0 = before.saturating_add_signed(change);
    // SAFETY: the handler only uses what is safe in one; all-zero is a value of `sigaction` (no flags, nothing blocked).
    unsafe {
        if before == 0 {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let mut old = action;
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGPROF, &action, &mut old);
            installed.1 = Some(old);
        } else if installed.0 == 0
            && let Some(old) = installed.1.take()
        {
            libc::sigaction(libc::SIGPROF, &old, core::ptr::null_mut());
        }
    }
}
