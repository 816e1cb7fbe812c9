//! The life of a recording, from the hot place to the finished trace, or to the abort.

mod abort;
mod finish;
mod recording;
mod start;

pub use recording::{Origin, Recording};
