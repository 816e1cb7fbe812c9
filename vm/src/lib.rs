//! Perilune's VM without a compiler: values, heap, bytecode, interpreter, libraries.
//!
//! [`Vm`] is one Lua state and a complete interpreter. A tracing compiler may be attached through [`hooks::Compiler`].
#![deny(unsafe_code)]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
compile_error!("Perilune runs on 64-bit little-endian Linux only: its clocks, signals and memory are those of Linux");

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod abi;
pub mod bc;
pub mod callback;
pub mod clock;
pub mod compilation_cache;
pub mod errno;
pub mod error;
pub mod fault;
pub mod ffi;
pub mod fuel;
pub mod gc;
pub mod helper;
pub mod hooks;
pub mod host;
pub mod ids;
pub mod interp;
pub mod interrupt;
pub mod layout;
pub mod lightud;
pub mod load;
pub mod meta;
pub mod object;
mod roots;
pub mod sample;
pub mod source;
pub mod state;
pub mod stdlib;
pub mod syntax;
mod tag;
pub mod text;
pub mod value;
mod words;

pub use error::{LuaError, LuaResult};
pub use ids::{ExitId, TraceId};
pub use state::Vm;
pub use value::Value;
