//! The C API of LuaJIT: a library that takes the place of `libluajit-5.1`, so that programs and modules in C run on Perilune.
//!
//! A `lua_State *` is the address of a coroutine ([`perilune_vm::object::Thread`]), which leads to its VM. Exported functions are written by
//! two macros: `plain!` for those that raise no error, `raising!` for the others (see [`abi`]). Each enters the VM by [`state::enter`], works
//! on the values of the coroutine's innermost frame, and leaves the VM before C code goes on.
//!
//! # Contract of all exported functions
//! As in C: the state is open, and no other thread uses it; indices are valid; there is room on the stack for what is pushed; pointers to
//! text and buffers are valid; function pointers are functions in C of the type that the manual says.
#![deny(unsafe_code)]
#![allow(non_snake_case, reason = "exported functions have the names of C")]

pub mod abi;
#[macro_use]
mod export;

mod access;
mod auxiliary;
mod buffer;
mod builtins;
mod call;
mod check;
mod coroutine;
mod debug;
pub mod exports;
pub mod ffi;
mod format;
mod index;
mod jit;
mod libraries;
mod load;
mod memory;
mod openresty;
mod push;
mod reference;
mod stack;
pub mod state;
mod table;
mod userdata;

pub use exports::allow_modules;
