//! What a program keeps in memory, where it was allocated, where time goes, and what the compiler makes of it.
//!
//! - [`memprof`] writes every change of the heap to a stream whose format is [`stream`], which also reads it;
//! - [`heap`] writes the graph of objects as a dump or a snapshot;
//! - [`profile`] takes samples of what runs;
//! - [`metrics`] are counts that are always kept;
//! - [`explorer`] notes what the compiler makes of a program, line by line and trace by trace;
//! - [`inspect`] looks at heap, compiler and frames without changing anything;
//! - [`library`] is all this as the `misc` library of Lua.
#![deny(unsafe_code)]

pub mod explorer;
mod foreign;
pub mod heap;
pub mod inspect;
mod json;
pub mod library;
pub mod memprof;
pub mod metrics;
pub mod profile;
pub mod stream;
