//! The source of the signals: a software event of the kernel, or a timer of processor time.
//!
//! The event (`perf_event_open(2)`, the clock of a task) occurs exactly after an amount of processor time, where the thread runs. If the
//! kernel can (since 5.13), it is delivered as a trap, SIGTRAP, which costs half of what a queued signal, SIGPROF, does: no other interrupt
//! is needed to send it. Some systems do not permit the event. The timer (`timer_create(2)`) is checked only a few hundred times a second,
//! at the ticks of the system. A timer of real time would be worse than both: a thread that shares its processor would be interrupted in
//! system calls far too often.
#![allow(unsafe_code, reason = "system calls get structures of the form that they document, alive during the call")]

use core::mem::MaybeUninit;
use core::time::Duration;

/// A clock of this thread that sends it one of [`SIGNALS`] until it is dropped.
pub(super) enum Clock {
    Event(libc::c_int),
    Timer(libc::timer_t),
}

/// The signals that clocks send.
pub(super) const SIGNALS: [libc::c_int; 2] = [libc::SIGPROF, libc::SIGTRAP];

/// The shortest interval for which the ticks of the system are precise enough.
const COARSE: Duration = Duration::from_millis(10);

/// `struct perf_event_attr` in its first version (`linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    /// Bits.
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_SW_TASK_CLOCK: u64 = 1;
/// Bits of `perf_event_attr`: starts when enabled; ends at `exec`, which is required for traps; is delivered as a trap.
const DISABLED: u64 = 1;
const REMOVE_ON_EXEC: u64 = 1 << 36;
const SIGTRAP: u64 = 1 << 37;
/// `si_code` of such a trap.
const TRAP_PERF: libc::c_int = 6;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;
const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
const PERF_EVENT_IOC_DISABLE: libc::c_ulong = 0x2401;
/// `fcntl` that names the thread which gets the signals, and the kind of owner that is one.
const F_SETOWN_EX: libc::c_int = 15;
const F_OWNER_TID: libc::c_int = 0;
const F_SETSIG: libc::c_int = 10;

/// `struct f_owner_ex`.
#[repr(C)]
struct Owner {
    kind: libc::c_int,
    thread: libc::pid_t,
}

impl Clock {
    /// Begins to send signals to this thread; `None` if the system refuses.
    pub fn start(interval: Duration) -> Option<Clock> {
        let event = if interval < COARSE { Clock::event(interval) } else { None };
        event.or_else(|| Clock::timer(interval))
    }
    fn event(interval: Duration) -> Option<Clock> {
        let open = |flags| {
            let attributes = EventAttributes {
                kind: PERF_TYPE_SOFTWARE,
                size: size_of::<EventAttributes>() as u32,
                config: PERF_COUNT_SW_TASK_CLOCK,
                sample_period: interval.as_nanos() as u64,
                flags,
                wakeup_events: 1,
                ..EventAttributes::default()
            };
            // SAFETY: the attributes are valid during the call: their size says which of the kernel's versions they are.
            let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) };
            libc::c_int::try_from(fd).ok().filter(|fd| *fd >= 0)
        };
        let enable = |fd| {
            // SAFETY: the descriptor was just made.
            unsafe { libc::ioctl(fd, PERF_EVENT_IOC_ENABLE as _, 0) == 0 }
        };
        if let Some(fd) = open(DISABLED | REMOVE_ON_EXEC | SIGTRAP) {
            let clock = Clock::Event(fd);
            return enable(fd).then_some(clock);
        }
        let fd = open(DISABLED)?;
        let clock = Clock::Event(fd);
        // SAFETY: the descriptor was just made; the owner is valid during the call.
        let sends = unsafe {
            let owner = Owner { kind: F_OWNER_TID, thread: libc::gettid() };
            libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0
                && libc::fcntl(fd, F_SETSIG, libc::SIGPROF) == 0
                && libc::fcntl(fd, F_SETOWN_EX, &raw const owner) == 0
        };
        (sends && enable(fd)).then_some(clock)
    }
    /// Is this one of a clock's signals? Breakpoints trap as well.
    pub fn sends(signal: libc::c_int, info: &libc::siginfo_t) -> bool {
        signal != libc::SIGTRAP || info.si_code == TRAP_PERF
    }
    fn timer(interval: Duration) -> Option<Clock> {
        // SAFETY: all-zero is a value of this type; the fields needed are set.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        // SAFETY: tells the number of the thread.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut id: libc::timer_t = core::ptr::null_mut();
        // SAFETY: both addresses are valid during the call.
        if unsafe { libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &mut event, &mut id) } != 0 {
            return None;
        }
        let clock = Clock::Timer(id);
        let period = libc::timespec { tv_sec: interval.as_secs() as libc::time_t, tv_nsec: interval.subsec_nanos().into() };
        let spec = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: the timer was just made.
        let set = unsafe { libc::timer_settime(id, 0, &spec, core::ptr::null_mut()) };
        (set == 0).then_some(clock)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // SAFETY: the descriptor and the timer exist, and nobody else has them. A signal on its way reaches this thread before the
        // calls return.
        unsafe {
            match *self {
                Clock::Event(fd) => {
                    libc::ioctl(fd, PERF_EVENT_IOC_DISABLE as _, 0);
                    libc::close(fd);
                }
                Clock::Timer(id) => {
                    libc::timer_delete(id);
                }
            }
        }
    }
}
