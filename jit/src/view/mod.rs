//! What the compiler shows of itself: to Rust programs that watch it, to handlers of `jit.attach`, to whoever takes samples or watches the
//! heap, and to those who work on it.

pub(crate) mod aborts;
pub mod counters;
pub mod events;
mod inspect;
pub mod locate;
pub mod log;
pub mod sampling;
pub(crate) mod sites;
pub mod watch;

pub use inspect::{GuardView, RecordingView, TraceView};
