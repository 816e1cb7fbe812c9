//! What the functions of the libraries share.

use crate::Jit;
use perilune_vm::object::{Gc, NativeFn, Table};
use perilune_vm::{LuaResult, TraceId, Value, Vm};
use std::rc::Rc;

/// Puts functions without an id into a table.
pub fn fill(vm: &mut Vm, t: Gc<Table>, functions: &[(&str, NativeFn)]) {
    for (name, f) in functions {
        let f = vm.new_native(*f, 1, &[]);
        vm.set_field(t, name.as_bytes(), Value::func(f));
    }
}

/// The trace that the first argument is the number of, if a trace can have such a number.
pub fn trace_id(vm: &mut Vm) -> LuaResult<Option<TraceId>> {
    let n = vm.check_int(0)?;
    Ok(u32::try_from(n).ok().and_then(TraceId::new))
}

/// The compiler of the VM.
pub fn compiler(vm: &mut Vm) -> LuaResult<Rc<Jit>> {
    match Jit::of(vm) {
        Some(jit) => Ok(jit),
        None => Err(vm.plain_error(b"JIT compiler permanently disabled by build option")),
    }
}
