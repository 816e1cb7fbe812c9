//! Lowers optimised traces through Cranelift to machine code and keeps that code.
//!
//! This is the only crate that names Cranelift. Its input is a [`TraceTree`] (a root trace and the side traces compiled into it)
//! the layout tables of the VM. It reads neither the heap nor a VM, so that it can move to another thread.
//!
//! - [`isa`]: the compilation target and its settings.
//! - [`code`]: executable memory.
//! - [`thunk`]: the fixed pieces of code around traces (entry, exit stub, cold helpers).
//! - `lower`: IR to Cranelift IR.
//! - `codegen`: Cranelift IR to machine code, on another thread where a large function would keep an interrupt waiting.
//! - [`unboxed`]: slots that exits store as raw registers.
//! - [`exit_abi`]: what exits pass to side traces in registers.
//! - [`Backend`]: all of it together. [`Compiler`] is the part without executable memory, for any target.
//!
//! # Calling convention
//!
//! Trace code is `extern "tail" fn(vm, base, n) -> u64`. It is entered by the [`hooks::EnterFn`](perilune_vm::hooks::EnterFn)
//! thunk and left by a tail call through `vm.exit_table[n]`, which holds the exit stub (it stores `base` to `vm.jit_base` and
//! returns `n` to the caller of the thunk) or the code of a side trace, which may take more arguments ([`exit_abi`]).
#![deny(unsafe_code)]

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("Perilune compiles to machine code of x86-64 and aarch64 only");

pub mod code;
mod codegen;
mod compile;
pub mod disas;
mod error;
pub mod exit_abi;
pub mod gdb;
pub mod isa;
mod lower;
mod output;
pub mod perf;
mod request;
mod source_loc;
pub mod thunk;
pub mod unboxed;

pub use codegen::STACK;
pub use compile::{Backend, Compiler, Config};
pub use error::{BackendError, Thunk};
pub use output::{CodeMap, CompiledCode, Emitted, Listing, Part};
pub use request::{CompileRequest, TraceTree};
