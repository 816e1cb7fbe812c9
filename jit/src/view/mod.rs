//! Views of the compiler: for Rust programs that watch it, for handlers of `jit.attach`, for the sampling profiler and the memory profiler, and
//! logs for its developers.

pub(crate) mod aborts;
pub mod counters;
pub mod events;
mod inspect;
pub mod locate;
pub mod log;
pub mod sampling;
pub(crate) mod sites;
pub mod watch;

use core::cell::{Cell, RefCell};

/// Those who are told what the compiler does.
#[derive(Default)]
pub(crate) struct Observers {
    /// The watcher, which is written in Rust.
    pub watcher: RefCell<Option<Box<dyn watch::Watcher>>>,
    /// Is a handler of an event running? No other event is sent meanwhile.
    pub in_event: Cell<bool>,
}

pub use inspect::{GuardView, RecordingView, TraceView};
