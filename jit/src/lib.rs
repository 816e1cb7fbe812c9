//! The policy of the JIT: when to record, which traces to keep, and how to watch that.
//!
//! - [`Jit`] is the compiler that the interpreter knows ([`perilune_vm::hooks::Compiler`]).
//! - [`policy`] says when to compile; `record` has the recording under way, [`trace`] the finished traces; `exit` does the work at exits;
//!   `feedback` keeps what recordings and runs have shown.
//! - [`view`] is for Rust programs and handlers of `jit.attach` that watch; [`stdlib`] is the `jit` library.
//!
//! ```
//! use perilune_jit::Jit;
//! use perilune_vm::{Value, Vm};
//!
//! let mut vm = Vm::new();
//! vm.open_libs();
//! perilune_jit::attach(&mut vm);
//! let source = b"jit.opt.start('hotloop=2') local s = 0 for i = 1, 100 do s = s + i end return s";
//! let f = vm.load_chunk(source, b"=sum", None).ok().expect("a valid chunk");
//! assert_eq!(vm.call1(Value::func(f), &[]).ok(), Some(Value::int(5050)));
//! assert_eq!(Jit::of(&vm).expect("it is attached").counts().closed, 1);
//! ```
#![deny(unsafe_code)]

mod engine;
mod exit;
mod feedback;
mod frame;
pub mod params;
pub mod policy;
mod record;
pub mod stdlib;
pub mod trace;
pub mod view;

pub use engine::Jit;

use perilune_vm::Vm;

/// Attaches a compiler to a new VM, without the `jit` library.
pub fn install(vm: &mut Vm) {
    Jit::install(vm);
}

/// Attaches a compiler to a new VM and makes the `jit` library available.
pub fn attach(vm: &mut Vm) {
    install(vm);
    stdlib::open(vm);
}
