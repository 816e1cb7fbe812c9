//! The `jit` library of Lua.

mod attach;
mod control;
mod disassembler;
mod funcinfo;
mod guards;
mod list;
mod modules;
mod object_file;
mod opt;
mod profile;
mod shared;
mod traceinfo;
mod tracestats;
mod vmdef;

pub use crate::view::names::{function_name, location};
pub use disassembler::{Line, lines};
pub use guards::{GuardKind, NO_NAMES, ObjectNames};
pub(crate) use guards::{Words, type_word};
pub use list::names;
pub use modules::commands;
pub use profile::stack_text;

use list::for_each_library;
use perilune_vm::object::{Gc, NativeFn, Table};
use perilune_vm::stdlib::{Builtin, LOADED};
use perilune_vm::{LuaResult, Value, Vm};

macro_rules! with_functions {
    ($($library:literal: $($name:ident $function:path),*;)*) => { &[$(($library, &[$((stringify!($name), $function as NativeFn),)*]),)*] };
}

/// The libraries and their functions, in the order of their ids.
const LIBRARIES: &[(&str, &[(&str, NativeFn)])] = for_each_library!(with_functions);

/// A function of one of the libraries, by its name in full.
pub fn function(name: &str) -> Option<NativeFn> {
    let (library, name) = name.rsplit_once('.')?;
    let functions = LIBRARIES.iter().find(|l| l.0 == library)?.1;
    functions.iter().find(|f| f.0 == name).map(|f| f.1)
}

/// Puts the functions of one of the libraries into a table.
fn fill_library(vm: &mut Vm, t: Gc<Table>, name: &str) {
    let mut id = Builtin::NAMES.len();
    for (library, functions) in LIBRARIES {
        for (i, (function, native)) in functions.iter().enumerate().filter(|_| *library == name) {
            let f = vm.new_native(*native, (id + i) as u32, &[]);
            vm.set_field(t, function.as_bytes(), Value::func(f));
        }
        id += functions.len();
    }
}

/// Makes the library available.
pub fn open(vm: &mut Vm) {
    let jit = vm.library(b"jit");
    fill_library(vm, jit, "jit");
    let opt = vm.new_table(0, 1);
    fill_library(vm, opt, "jit.opt");
    vm.set_field(jit, b"opt", Value::table(opt));
    let loaded = vm.registry_table(LOADED);
    vm.set_field(loaded, b"jit.opt", Value::table(opt));
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let os = if cfg!(target_os = "linux") {
        "Linux"
    } else if cfg!(target_os = "macos") {
        "OSX"
    } else {
        "POSIX"
    };
    for (name, text) in [("version", "LuaJIT 2.1.0-perilune"), ("os", os), ("arch", arch)] {
        let text = vm.new_str(text.as_bytes());
        vm.set_field(jit, name.as_bytes(), Value::str(text));
    }
    vm.set_field(jit, b"version_num", Value::int(20199));
    vm.preload(b"jit.util", |vm| load(vm, "jit.util"));
    vm.preload(b"jit.profile", |vm| load(vm, "jit.profile"));
    vm.preload(b"jit.vmdef", vmdef::load);
    modules::open(vm);
}

/// Makes a library that is not a global variable.
fn load(vm: &mut Vm, name: &str) -> LuaResult<u32> {
    let library = vm.new_table(0, 4);
    fill_library(vm, library, name);
    let loaded = vm.registry_table(LOADED);
    vm.set_field(loaded, name.as_bytes(), Value::table(library));
    vm.ret1(Value::table(library))
}
