//! When to trace, what to keep, what to tell.
//!
//! - [`Jit`] is the compiler that the interpreter knows ([`perilune_vm::hooks::Compiler`]): hot counters (`hotcount`), recordings
//!   (`recording`), finished traces ([`registry`]), side exits (`exit`), flushes (`flush`), and when to compile ([`policy`]);
//!   `aborts` remembers what was given up.
//! - [`machine`] runs traces, as machine code or in the evaluator.
//! - [`watch`] is for Rust programs that watch all this, [`view`] what they may ask.
//! - [`events`] are what `jit.attach` reports; [`library`] is the `jit` library.
#![deny(unsafe_code)]

mod aborts;
pub mod counters;
mod departure;
mod engine;
pub mod events;
mod exit;
mod flush;
mod frame;
mod hotcount;
#[path = "lib/mod.rs"]
pub mod library;
pub mod locate;
pub mod log;
pub mod machine;
mod mixed;
mod owned;
pub mod params;
pub mod patch;
mod plain_exits;
pub mod policy;
mod recording;
pub mod registry;
pub mod sampling;
mod share;
mod sites;
mod stress;
mod tables;
pub mod view;
pub mod watch;

pub use engine::Jit;

use perilune_vm::Vm;

/// Attaches a compiler to a new VM and makes the `jit` library available.
pub fn attach(vm: &mut Vm) {
    Jit::install(vm);
    library::open(vm);
}
