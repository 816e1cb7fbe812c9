//! When to trace, what to keep, what to tell. So far only the switches of the `jit` library: no trace is made yet.

use perilune_vm::{LuaResult, Value, Vm};

fn status(vm: &mut Vm) -> LuaResult<u32> {
    vm.ret1(Value::FALSE)
}

fn nothing(_vm: &mut Vm) -> LuaResult<u32> {
    Ok(0)
}

/// Makes the `jit` library available.
pub fn attach(vm: &mut Vm) {
    let jit = vm.new_table(0, 4);
    let functions: [(&[u8], perilune_vm::object::NativeFn); 4] =
        [(b"status", status), (b"on", nothing), (b"off", nothing), (b"flush", nothing)];
    for (name, f) in functions {
        let f = vm.new_native(f, 1, &[]);
        vm.set_field(jit, name, Value::func(f));
    }
    let opt = vm.new_table(0, 1);
    let start = vm.new_native(nothing, 1, &[]);
    vm.set_field(opt, b"start", Value::func(start));
    vm.set_field(jit, b"opt", Value::table(opt));
    let version = vm.new_str(b"LuaJIT 2.1.0-perilune");
    vm.set_field(jit, b"version", Value::str(version));
    vm.set_field(jit, b"version_num", Value::int(20100));
    let globals = vm.globals;
    vm.set_field(globals, b"jit", Value::table(jit));
    let loaded = vm.registry_table(perilune_vm::lib::LOADED);
    vm.set_field(loaded, b"jit", Value::table(jit));
}

/// Switches the compiler.
pub fn set_enabled(_vm: &mut Vm, _on: bool) {}

/// The options of `-O` and `jit.opt.start`.
pub mod options {
    use perilune_vm::Vm;

    /// Applies one option.
    ///
    /// # Errors
    /// The message for an option that does not exist.
    pub fn apply(_vm: &mut Vm, _option: &str) -> Result<(), String> {
        Ok(())
    }
}
