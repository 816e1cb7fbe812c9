//! The `jit` library of Lua.

mod attach;
mod control;
mod disassembler;
mod funcinfo;
mod guards;
mod modules;
mod object_file;
mod opt;
mod profile;
mod traceinfo;
mod tracestats;
mod vmdef;

pub use disassembler::{Line, lines};
pub use funcinfo::location;
pub use guards::{GuardKind, NO_NAMES, ObjectNames, function_name};
pub(crate) use guards::{Words, type_word};
pub use modules::commands;
pub use profile::stack_text;

use crate::Jit;
use perilune_vm::object::{Gc, NativeFn, Table};
use perilune_vm::stdlib::{Builtin, LOADED};
use perilune_vm::{LuaResult, TraceId, Value, Vm};
use std::rc::Rc;

/// Functions of `jit`.
const JIT: [(&str, NativeFn); 6] = [
    ("on", control::on),
    ("off", control::off),
    ("flush", control::flush),
    ("status", control::status),
    ("security", control::security),
    ("attach", attach::attach),
];

/// Functions of `jit.util`.
const UTIL: [(&str, NativeFn); 15] = [
    ("funcinfo", funcinfo::funcinfo),
    ("funcbc", funcinfo::funcbc),
    ("funck", funcinfo::funck),
    ("funcuvname", funcinfo::funcuvname),
    ("traceinfo", traceinfo::traceinfo),
    ("traceir", traceinfo::traceir),
    ("tracek", traceinfo::tracek),
    ("tracesnap", traceinfo::tracesnap),
    ("tracemc", traceinfo::tracemc),
    ("traceexitstub", traceinfo::traceexitstub),
    ("ircalladdr", traceinfo::ircalladdr),
    ("counters", tracestats::counters),
    ("tracestats", tracestats::tracestats),
    ("exitinfo", tracestats::exitinfo),
    ("aborts", tracestats::aborts),
];

/// The libraries and their functions, which continue the ids of [`Builtin`].
const LIBRARIES: [(&str, &[(&str, NativeFn)]); 4] =
    [("jit", &JIT), ("jit.util", &UTIL), ("jit.opt", &[("start", opt::start)]), ("jit.profile", &profile::PROFILE)];

/// The names of all functions that have an id, by id.
pub fn names() -> impl Iterator<Item = String> {
    let ours = LIBRARIES.iter().flat_map(|(library, functions)| functions.iter().map(move |f| format!("{library}.{}", f.0)));
    Builtin::NAMES.iter().map(|n| n.to_string()).chain(ours)
}

/// A function of one of the libraries, by its name in full.
pub fn function(name: &str) -> Option<NativeFn> {
    let (library, name) = name.rsplit_once('.')?;
    let functions = LIBRARIES.iter().find(|l| l.0 == library)?.1;
    functions.iter().find(|f| f.0 == name).map(|f| f.1)
}

/// Puts the functions of one of the libraries into a table.
fn fill_library(vm: &mut Vm, t: Gc<Table>, name: &str) {
    let mut id = Builtin::NAMES.len();
    for (library, functions) in &LIBRARIES {
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

fn fill(vm: &mut Vm, t: Gc<Table>, functions: &[(&str, NativeFn)]) {
    for (name, f) in functions {
        let f = vm.new_native(*f, 1, &[]);
        vm.set_field(t, name.as_bytes(), Value::func(f));
    }
}

/// The trace that the first argument is the number of, if a trace can have such a number.
fn trace_id(vm: &mut Vm) -> LuaResult<Option<TraceId>> {
    let n = vm.check_int(0)?;
    Ok(u32::try_from(n).ok().and_then(TraceId::new))
}

/// The compiler of the VM.
fn compiler(vm: &mut Vm) -> LuaResult<Rc<Jit>> {
    match Jit::of(vm) {
        Some(jit) => Ok(jit),
        None => Err(vm.plain_error(b"JIT compiler permanently disabled by build option")),
    }
}
