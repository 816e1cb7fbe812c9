//! `jit.vmdef`: names by number, all from the project's tables.

use perilune_recorder::abort::Abort;
use perilune_recorder::ir::{FpMath, Op as IrOp};
use perilune_vm::bc::Op;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::object::{Gc, Table};
use perilune_vm::stdlib::LOADED;
use perilune_vm::{LuaResult, Value, Vm};

/// Names joined without separators, six characters each.
fn packed(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|n| format!("{n:<6.6}")).collect()
}

fn array(vm: &mut Vm, t: Gc<Table>, name: &str, items: impl Iterator<Item = String>) {
    let list = vm.new_table(0, 4);
    vm.set_field(t, name.as_bytes(), Value::table(list));
    for (i, item) in items.enumerate() {
        let item = Value::str(vm.new_str(item.as_bytes()));
        vm.table_set_int(list, i as i32, item);
    }
}

/// The module.
pub fn load(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.new_table(0, 4);
    let loaded = vm.registry_table(LOADED);
    vm.set_field(loaded, b"jit.vmdef", Value::table(t));
    let bcnames = packed(Op::NAMES.iter().copied());
    let irnames = packed(IrOp::ALL.iter().map(|op| op.name()));
    for (name, text) in [("bcnames", bcnames), ("irnames", irnames)] {
        let text = vm.new_str(text.as_bytes());
        vm.set_field(t, name.as_bytes(), Value::str(text));
    }
    array(vm, t, "irfpm", FpMath::NAMES.iter().map(|n| n.to_string()));
    array(vm, t, "irfield", Field::NAMES.iter().map(|n| n.to_string()));
    array(vm, t, "ircall", Helper::NAMES.iter().map(|n| n.to_string()));
    array(vm, t, "traceerr", Abort::MESSAGES.iter().map(|m| m.to_string()));
    array(vm, t, "ffnames", super::list::names().map(str::to_owned));
    vm.ret1(Value::table(t))
}
