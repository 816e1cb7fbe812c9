//! The signals by which a thread is sampled. At each of them the number of intervals of processor time that have passed is computed, so
//! that it does not matter when exactly they come, nor whether some are lost.
#![allow(
    unsafe_code,
    reason = "the VM that is sampled is alive while the timer runs, on the thread that the signals go to; a handler does only what is safe in one"
)]

use super::Session;
use super::clock::{Clock, SIGNALS};
use super::divert::divert;
use super::interrupt::Interrupt;
use crate::Vm;
use crate::clock::processor_time;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::time::Duration;
use std::sync::Mutex;
use std::thread::ThreadId;

/// A timer that runs until it is dropped.
pub(super) struct Timer {
    clock: Option<Clock>,
    /// The thread that it interrupts.
    thread: ThreadId,
}

/// A VM that is being sampled, and its session.
#[derive(Copy, Clone)]
struct Sampled {
    vm: *mut Vm,
    session: *const Session,
}

impl Sampled {
    /// None.
    const NONE: Sampled = Sampled { vm: core::ptr::null_mut(), session: core::ptr::null() };
}

thread_local! {
    /// The VM of this thread that is being sampled.
    static SAMPLED: Cell<Sampled> = const { Cell::new(Sampled::NONE) };
    /// The interval, and the processor time up to which it was counted, in nanoseconds.
    static COUNTED: Cell<(u64, u64)> = const { Cell::new((1, 0)) };
}

/// The VM of this thread that is being sampled, or null.
pub(super) fn sampled() -> *mut Vm {
    SAMPLED.get().vm
}

/// The number of running timers, and the actions of the signals before the first.
static INSTALLED: Mutex<(usize, [Option<libc::sigaction>; SIGNALS.len()])> = Mutex::new((0, [None; SIGNALS.len()]));

/// # Safety
/// The system gives a handler of this form information and a context.
unsafe extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let _errno = crate::errno::keep();
    // SAFETY: by the contract.
    if !Clock::sends(signal, unsafe { &*info }) {
        // SAFETY: what a handler may do. A trap that is not ours ends the process, after this has returned.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return;
    }
    let Sampled { vm, session } = SAMPLED.get();
    let count = intervals();
    if !vm.is_null() && count != 0 {
        // SAFETY: VM and session are alive while they are noted here, on this thread; the context is that of the contract.
        unsafe {
            let pc = program_counter(context.cast());
            (*session).tick(vm, count, pc);
            if Interrupt::is_overdue() && Vm::is_in_code(vm, pc) {
                divert(context.cast(), vm);
            }
        }
    }
}

/// The number of intervals that have passed since the last call, rounded; the remainder counts the next time.
fn intervals() -> u32 {
    let (interval, counted) = COUNTED.get();
    let passed = (processor_time() + interval / 2).saturating_sub(counted) / interval;
    COUNTED.set((interval, counted + passed * interval));
    u32::try_from(passed).unwrap_or(u32::MAX)
}

/// Where the processor was when the signal came.
///
/// # Safety
/// `context` is what the system has given the handler.
unsafe fn program_counter(context: *const libc::ucontext_t) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        return (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return (*context).uc_mcontext.pc as usize;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return 0;
    }
}

impl Timer {
    /// Begins to interrupt this thread. `None` if another VM is sampled on it, or if the system refuses.
    ///
    /// # Safety
    /// `vm` and `session` are alive and stay where they are until the timer is dropped.
    pub unsafe fn start(vm: *mut Vm, session: *const Session, interval: Duration) -> Option<Timer> {
        if !sampled().is_null() {
            return None;
        }
        install(1);
        let interval = interval.max(Duration::from_nanos(1));
        COUNTED.set((u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX), processor_time()));
        SAMPLED.set(Sampled { vm, session });
        let clock = Clock::start(interval);
        let works = clock.is_some();
        let timer = Timer { clock, thread: std::thread::current().id() };
        works.then_some(timer)
    }
    /// Does it interrupt the thread that runs this?
    fn is_here(&self) -> bool {
        self.thread == std::thread::current().id()
    }
    /// This thread begins to use the VM. Samples are only taken on the thread where they began.
    pub fn enter_thread(&self, vm: *mut Vm, session: *const Session) {
        if self.is_here() {
            SAMPLED.set(Sampled { vm, session });
        }
    }
    /// No thread uses the VM.
    pub fn leave_thread(&self) {
        if self.is_here() {
            SAMPLED.set(Sampled::NONE);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.clock = None;
        if self.is_here() {
            SAMPLED.set(Sampled::NONE);
            install(-1);
        }
        // A signal may be on its way to another thread, where the default action would end the process: the handler stays.
    }
}

/// Counts the running timers; the handler is installed while there are some.
fn install(change: isize) {
    let Ok(mut installed) = INSTALLED.lock() else { return };
    let before = installed.0;
    installed.0 = before.saturating_add_signed(change);
    let after = installed.0;
    for (signal, old) in SIGNALS.into_iter().zip(&mut installed.1) {
        // SAFETY: the handler only uses what is safe in one; all-zero is a value of `sigaction` (no flags, nothing blocked).
        unsafe {
            if before == 0 {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                let handler: unsafe extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_signal;
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
                libc::sigaction(signal, &action, old.insert(MaybeUninit::zeroed().assume_init()));
            } else if after == 0
                && let Some(old) = old.take()
            {
                libc::sigaction(signal, &old, core::ptr::null_mut());
            }
        }
    }
}
