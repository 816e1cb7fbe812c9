//! What a program keeps in memory, where it was allocated, where time goes, and what the compiler makes of it.
//!
//! - [`memprof`] writes every change of the heap to a stream whose format is [`stream`], which also reads it;
//! - [`heap`] writes the graph of objects as a dump or a snapshot;
//! - [`profile`] takes samples of what runs;
//! - [`sysprof`] counts samples by the state of the VM, and writes them to Tarantool's stream;
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
pub mod sysprof;

/// The bound of what observers keep: with the feature `send`, states go from thread to thread, and it has to be [`Send`].
#[cfg(feature = "send")]
pub trait MaybeSend: Send {}
#[cfg(feature = "send")]
impl<T: Send> MaybeSend for T {}
/// The bound of what observers keep: any type has it without the feature `send`.
#[cfg(not(feature = "send"))]
pub trait MaybeSend {}
#[cfg(not(feature = "send"))]
impl<T> MaybeSend for T {}

/// Throws traces away: code that is compiled from now on knows whether it is watched.
fn flush_traces(vm: &mut perilune_vm::Vm) {
    if let Some(jit) = perilune_jit::Jit::of(vm) {
        jit.flush_if_any(vm);
    }
}
