//! The command: `perilune [options] [script [args]]`, with LuaJIT's options.
#![deny(unsafe_code)]

mod cli;

#[global_allocator]
static MEMORY: perilune_vm::gc::reserve::Allocator = perilune_vm::gc::reserve::Allocator;

fn main() -> std::process::ExitCode {
    cli::main()
}
