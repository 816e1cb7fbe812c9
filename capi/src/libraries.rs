//! The standard libraries.
#![allow(unsafe_code, reason = "functions are exported")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::push;
use perilune_vm::stdlib::{PRELOAD, StdLib};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::c_int;

/// Makes a library, and pushes its table.
fn open(vm: &mut Vm, library: StdLib, name: &[u8]) -> LuaResult<c_int> {
    vm.open_without_base(library);
    if library.contains(StdLib::JIT) {
        perilune_jit::stdlib::open(vm);
    }
    let globals = vm.realm.globals;
    let table = vm.field(globals, name);
    push::value(vm, table);
    Ok(1)
}

/// Loads a library that is made when it is required.
fn load(vm: &mut Vm, name: &[u8]) -> LuaResult<c_int> {
    let preload = vm.registry_table(PRELOAD);
    let loader = vm.field(preload, name);
    let name = Value::str(vm.new_str(name));
    let library = vm.call1(loader, &[name])?;
    push::value(vm, library);
    Ok(1)
}

macro_rules! openers {
    ($($(#[$doc:meta])* $name:ident $library:ident $global:literal;)*) => {
        raising! {$(
            $(#[$doc])*
            fn $name(l => vm) -> c_int { open(vm, StdLib::$library, $global) }
        )*}
    };
}
openers! {
    /// `luaopen_math`
    luaopen_math MATH b"math";
    /// `luaopen_string`
    luaopen_string STRING b"string";
    /// `luaopen_table`
    luaopen_table TABLE b"table";
    /// `luaopen_io`
    luaopen_io IO b"io";
    /// `luaopen_os`
    luaopen_os OS b"os";
    /// `luaopen_package`
    luaopen_package PACKAGE b"package";
    /// `luaopen_debug`
    luaopen_debug DEBUG b"debug";
    /// `luaopen_bit`
    luaopen_bit BIT b"bit";
    /// `luaopen_jit`
    luaopen_jit JIT b"jit";
}

raising! {
    /// `luaopen_base`
    fn luaopen_base(l => vm) -> c_int {
        vm.open_base();
        vm.open_file_loaders();
        open(vm, StdLib::NONE, b"_G")?;
        open(vm, StdLib::NONE, b"coroutine").map(|_| 2)
    }
    /// `luaopen_string_buffer`
    fn luaopen_string_buffer(l => vm) -> c_int {
        vm.open_without_base(StdLib::STRING);
        load(vm, b"string.buffer")
    }
    /// `luaopen_ffi`
    fn luaopen_ffi(l => vm) -> c_int {
        vm.open_without_base(StdLib::FFI);
        load(vm, b"ffi")
    }
    /// `luaL_openlibs`
    fn luaL_openlibs(l => vm) -> () {
        vm.open_selected_libs(StdLib::ALL);
        perilune_jit::stdlib::open(vm);
        crate::openresty::open(vm);
        Ok(())
    }
}
