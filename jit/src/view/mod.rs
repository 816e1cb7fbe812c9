//! Views of the compiler: for Rust programs that watch it, for handlers of `jit.attach`, for the sampling profiler and the memory profiler;
//! and a log for its developers.

pub(crate) mod aborts;
pub mod counters;
pub mod events;
mod inspect;
pub mod locate;
pub mod log;
pub(crate) mod names;
mod perf;
pub mod sampling;
pub(crate) mod sites;
pub mod watch;

pub use inspect::{GuardView, RecordingView, TraceView};
