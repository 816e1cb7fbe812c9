//! Recordings: their start, each instruction, and their end by a finished trace or an abort.

mod abort;
mod finish;
mod recording;
mod start;

pub use recording::{Origin, RecordState, Recording};
