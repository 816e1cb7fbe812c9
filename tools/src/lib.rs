//! What `perilune-tools` does: reports of what the observers of Perilune see and have written. The command is `main.rs`.
#![forbid(unsafe_code)]

pub mod failure;
pub mod heap;
pub mod memprof;
pub mod profile;
mod progress;
pub mod script;
pub mod trace;
