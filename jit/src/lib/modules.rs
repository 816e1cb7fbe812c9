//! The modules of the `jit` library that are written in Lua, in the binary. `require` looks for files first.

use super::object_file;
use perilune_vm::lib::embedded::Module;
use perilune_vm::{Value, Vm};

/// The modules; functions of ours that one needs are its second argument.
const MODULES: [Module; 3] = [
    Module { name: "jit.v", source: include_bytes!("../../lua/v.lua"), extra: |_| Value::NIL },
    Module { name: "jit.bc", source: include_bytes!("../../lua/bc.lua"), extra: |_| Value::NIL },
    Module {
        name: "jit.bcsave",
        source: include_bytes!("../../lua/bcsave.lua"),
        extra: |vm| Value::table(object_file::library(vm)),
    },
];

/// Makes the modules available to `require`.
pub fn open(vm: &mut Vm) {
    for module in &MODULES {
        vm.embed(module);
    }
}
