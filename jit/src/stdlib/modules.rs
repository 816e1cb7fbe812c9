//! The modules of the `jit` library that are written in Lua, embedded in the binary. `require` looks for files first.

use super::{disassembler, object_file};
use perilune_vm::stdlib::embedded::Module;
use perilune_vm::{Value, Vm};

/// A module that calls no functions in Rust.
const fn plain(name: &'static str, source: &'static [u8]) -> Module {
    Module { name, source, extra: |_| Value::NIL }
}

/// The modules. A module that calls functions in Rust gets them as its second argument.
const MODULES: [Module; 11] = [
    plain("jit.v", include_bytes!("../../lua/v.lua")),
    plain("jit.bc", include_bytes!("../../lua/bc.lua")),
    plain("jit.dump", include_bytes!("../../lua/dump.lua")),
    plain("jit.place", include_bytes!("../../lua/place.lua")),
    plain("jit.p", include_bytes!("../../lua/p.lua")),
    plain("jit.ops", include_bytes!("../../lua/ops.lua")),
    plain("jit.stats", include_bytes!("../../lua/stats.lua")),
    plain("jit.zone", include_bytes!("../../lua/zone.lua")),
    Module {
        name: "jit.bcsave",
        source: include_bytes!("../../lua/bcsave.lua"),
        extra: |vm| Value::table(object_file::library(vm)),
    },
    Module { name: "jit.dis_x64", source: DIS, extra: |vm| Value::table(disassembler::x64(vm)) },
    Module { name: "jit.dis_arm64", source: DIS, extra: |vm| Value::table(disassembler::arm64(vm)) },
];
const DIS: &[u8] = include_bytes!("../../lua/dis.lua");

/// The modules that `-j` starts, each with its purpose: the first sentence of its source.
pub fn commands() -> impl Iterator<Item = (&'static str, String)> {
    let started = MODULES.iter().filter(|m| m.name != "jit.bcsave" && m.source.windows(7).any(|w| w == b"start ="));
    started.map(|m| {
        let source = String::from_utf8_lossy(m.source);
        let comment = source.lines().map_while(|l| l.strip_prefix("-- ")).collect::<Vec<_>>().join(" ");
        let sentence = comment.split(". ").next().unwrap_or_default();
        (m.name.trim_start_matches("jit."), sentence.trim_end_matches('.').to_owned())
    })
}

/// Makes the modules available to `require`.
pub fn open(vm: &mut Vm) {
    for module in &MODULES {
        vm.embed(module);
    }
}
