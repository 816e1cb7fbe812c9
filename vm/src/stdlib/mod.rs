//! The standard libraries, and the table of builtins that they are made from.

mod args;
mod base;
pub(crate) mod bit;
pub mod buffer;
mod debug;
mod dynamic;
pub mod embedded;
mod env;
mod gc;
pub mod io;
mod levels;
mod libraries;
mod list;
mod load;
pub(crate) mod math;
pub mod os;
mod package;
mod prelude;
mod prng;
mod process;
mod registry;
pub(crate) mod shared_object;
mod sort;
pub mod strformat;
pub(crate) mod string;
mod strmatch;
mod sys;
mod table;
pub mod tostring;
mod traceback;

pub use debug::Definition;
pub use env::set_function_env;
pub use libraries::StdLib;
pub use list::{Builtin, Library, OnTrace, written_in_lua};
pub use math::{DEGREES, RADIANS, random_step as math_random_step, result_of as math_result};
pub use prng::Prng;
pub use registry::{LOADED, PRELOAD};
pub use shared_object::symbol_at;
pub(crate) use string::short_with_case;
pub use tostring::{address, put_value, raw_tostring};
pub use traceback::{host_traceback, traceback};

use crate::Vm;
use crate::object::{Func, Gc};
use crate::value::{TYPE_NAMES, Value};

impl Vm {
    /// Makes all libraries available.
    pub fn open_libs(&mut self) {
        self.open_selected_libs(StdLib::ALL);
    }
    /// Makes the libraries of a set available, and the base library if it is not yet. The `jit` and `misc` libraries are made by other
    /// crates.
    pub fn open_selected_libs(&mut self, libs: StdLib) {
        let loaded = self.registry_table(LOADED);
        if self.field(loaded, b"_G").is_nil() {
            self.open_base();
        }
        self.open_without_base(libs);
    }
    /// Makes the functions without a library and `coroutine`.
    pub fn open_base(&mut self) {
        let globals = self.realm.globals;
        self.set_field(globals, b"_G", Value::table(globals));
        let version = self.new_str(b"Lua 5.1");
        self.set_field(globals, b"_VERSION", Value::str(version));
        let loaded = self.registry_table(LOADED);
        self.registry_table(PRELOAD);
        self.set_field(loaded, b"_G", Value::table(globals));
        self.register_builtins(|library| library.is_none());
    }
    /// Registers `loadfile` and `dofile`, which otherwise come with `io` and with `package`.
    pub fn open_file_loaders(&mut self) {
        let mut opener = Opener::new(self);
        opener.register(Builtin::Loadfile);
        opener.register(Builtin::Dofile);
    }
    /// Registers the builtins of the libraries that `is_chosen` says.
    fn register_builtins(&mut self, is_chosen: impl Fn(Option<StdLib>) -> bool) {
        let mut opener = Opener::new(self);
        for b in Builtin::ALL {
            if is_chosen(b.library()) {
                opener.register(*b);
            }
        }
    }
    /// Makes the libraries of a set available, as [`Vm::open_selected_libs`] does, without the base library.
    pub fn open_without_base(&mut self, libs: StdLib) {
        // The FFI is opened when it is required.
        self.register_builtins(|library| library.is_some_and(|library| library != StdLib::FFI && libs.contains(library)));
        /// Makes the parts of a library that are not functions.
        type Open = fn(&mut Vm);
        let parts: [(StdLib, Open); 6] = [
            (StdLib::MATH, Vm::open_math),
            (StdLib::STRING, Vm::open_string),
            (StdLib::IO, Vm::open_io),
            (StdLib::TABLE, Vm::open_table_extras),
            (StdLib::STRING, buffer::open),
            (StdLib::PACKAGE, package::open),
        ];
        for (library, open) in parts {
            if libs.contains(library) {
                open(self);
            }
        }
        if libs.contains(StdLib::FFI) {
            self.allow_ffi();
        }
    }

    fn open_math(&mut self) {
        let math = self.library(b"math");
        self.set_field(math, b"pi", Value::num(core::f64::consts::PI));
        self.set_field(math, b"huge", Value::num(f64::INFINITY));
    }
    fn open_string(&mut self) {
        let string = self.library(b"string");
        let meta = self.new_table(0, 1);
        self.set_field(meta, b"__index", Value::table(string));
        let any = Value::str(self.new_str(b""));
        self.set_metatable_of(any, Some(meta));
    }
    fn open_io(&mut self) {
        let meta = self.registry_table(b"FILE*");
        self.set_field(meta, b"__index", Value::table(meta));
        let lib = self.library(b"io");
        io::open_standard(self, lib);
    }
    /// `table.new` and `table.clear` are made when they are required.
    fn open_table_extras(&mut self) {
        self.preload(b"table.new", |vm| add_to_table(vm, Builtin::TableNew, b"new"));
        self.preload(b"table.clear", |vm| add_to_table(vm, Builtin::TableClear, b"clear"));
        prelude::open(self);
    }
}

impl Builtin {
    /// The library that it belongs to; none for those that every state has.
    pub(crate) fn library(self) -> Option<StdLib> {
        if matches!(self, Builtin::Loadfile | Builtin::Dofile) {
            return Some(StdLib::IO | StdLib::PACKAGE);
        }
        match self.name().split_once('.') {
            // The methods and functions of `string.buffer`.
            Some(("buffer", _)) => Some(StdLib::STRING),
            Some((library, _)) => StdLib::named(library),
            None => None,
        }
    }
}

fn add_to_table(vm: &mut Vm, b: Builtin, name: &[u8]) -> crate::error::LuaResult<u32> {
    let Some(native) = b.native() else { return Ok(0) };
    let f = Value::func(vm.new_native(native, b.id(), &[]));
    let table = vm.library(b"table");
    vm.set_field(table, name, f);
    vm.ret1(f)
}

/// Registers the builtins.
struct Opener<'a> {
    vm: &'a mut Vm,
    next: Option<Gc<Func>>,
    ipairs_aux: Option<Gc<Func>>,
}

impl Opener<'_> {
    fn new(vm: &mut Vm) -> Opener<'_> {
        Opener { vm, next: None, ipairs_aux: None }
    }
    /// Makes the function and stores it in its library.
    fn register(&mut self, b: Builtin) {
        let Some(native) = b.native() else { return };
        let upvalues = self.upvalues(b);
        let f = self.vm.new_native(native, b.id(), &upvalues);
        match b {
            Builtin::Next => self.next = Some(f),
            Builtin::IpairsAux => self.ipairs_aux = Some(f),
            _ => {}
        }
        let hidden = matches!(
            b,
            Builtin::IpairsAux
                | Builtin::CoroutineWrapAux
                | Builtin::StringGmatchAux
                | Builtin::IoLinesAux
                | Builtin::TableNew
                | Builtin::TableClear
                | Builtin::BufferNew
                | Builtin::BufferEncode
                | Builtin::BufferDecode
        );
        if hidden {
            return;
        }
        let (t, name) = match b.name().rsplit_once('.') {
            None => (self.vm.realm.globals, b.name()),
            Some(("io.method", name)) => (self.vm.registry_table(b"FILE*"), name),
            Some(("buffer.method", name)) => (self.vm.registry_table(buffer::META), name),
            Some((lib, name)) => (self.vm.library(lib.as_bytes()), name),
        };
        self.vm.set_field(t, name.as_bytes(), Value::func(f));
    }
    /// The upvalues that a builtin expects.
    fn upvalues(&mut self, b: Builtin) -> Vec<Value> {
        let func = |f: Option<Gc<Func>>| vec![f.map_or(Value::NIL, Value::func)];
        match b {
            Builtin::Pairs => func(self.next),
            Builtin::Ipairs => func(self.ipairs_aux),
            Builtin::Type => TYPE_NAMES.iter().map(|n| Value::str(self.vm.new_str(n.as_bytes()))).collect(),
            Builtin::Print => vec![Value::str(self.vm.new_str(b"tostring"))],
            Builtin::Newproxy => vec![self.weak_table()],
            _ => Vec::new(),
        }
    }
    /// A table with weak keys and values that is its own metatable.
    fn weak_table(&mut self) -> Value {
        let t = self.vm.new_table(0, 1);
        let mode = self.vm.new_str(b"kv");
        self.vm.set_field(t, b"__mode", Value::str(mode));
        t.meta.set(Some(t));
        Value::table(t)
    }
}
