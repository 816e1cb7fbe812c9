//! The life of a recording, from the hot place to the finished trace, or to the abort.

mod recording;

pub use recording::{Origin, Recording};
