//! Reports of what the observers of Perilune see and have written: memory profiles, dumps and snapshots of the heap, profiles of time,
//! and the page of the trace explorer. The command `perilune` has a subcommand for each.
#![forbid(unsafe_code)]

pub mod failure;
pub mod heap;
pub mod memprof;
pub mod profile;
mod progress;
pub mod trace;
