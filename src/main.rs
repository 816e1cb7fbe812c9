//! The command: `perilune [options] [script [args]]`, with LuaJIT's options.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
