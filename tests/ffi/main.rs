//! The FFI beside the system's C compiler: random structs are laid out as it does, and functions with random signatures are called, and call
//! back, with the values that they are given.
//!
//! A round has 500 structs, and 100 signatures; `FFI_ROUNDS=20` makes 10,000 and 2,000. `FFI_KEEP=folder` keeps the sources: `main.lua` there
//! can be run by any LuaJIT. `CC` is the compiler.

mod layouts;
mod signatures;
mod types;

use perilune::{Lua, LuaOptions, StdLib};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of rounds.
fn rounds() -> usize {
    std::env::var("FFI_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A new folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let keep = std::env::var_os("FFI_KEEP").map(PathBuf::from);
    let folder = keep.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("ffi")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Runs a program of the system, which must succeed; what it prints.
fn system(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Compiles `main.c` in a folder into a library.
fn compile(folder: &Path, source: &str) -> PathBuf {
    std::fs::write(folder.join("main.c"), source).expect("written");
    let library = folder.join("libmain.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    // Some compilers warn of vector and bit-field passing that has changed long ago.
    let mut command = Command::new(compiler);
    system(command.args(["-O1", "-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(folder.join("main.c")).arg("-lm"));
    library
}

/// Options of the compiler of Lua: off, as it is, everything compiled at once.
const MODES: [&[&str]; 3] = [&["off"], &[], &["hotloop=1", "hotexit=1"]];

/// Runs a script, which gets the library's path, in each mode; what it returns, the same in all.
fn run(folder: &Path, script: &str, library: &Path) -> String {
    std::fs::write(folder.join("main.lua"), script).expect("written");
    let mut results: Vec<String> = MODES
        .iter()
        .map(|options| {
            // SAFETY: the script declares the functions as the library has them.
            let lua = unsafe { Lua::unsafe_new_with(StdLib::ALL, LuaOptions::new()) };
            for option in *options {
                match *option {
                    "off" => lua.load("jit.off()").exec().expect("the compiler is turned off"),
                    option => lua.jit_option(option).expect("an option"),
                }
            }
            let library = library.to_str().expect("a path");
            lua.load(script).set_name("main").call(library).unwrap_or_else(|e| panic!("{options:?}: {e}"))
        })
        .collect();
    results.dedup();
    assert_eq!(results.len(), 1, "modes differ");
    results.remove(0)
}
