//! `jit.attach`.

use perilune_vm::{LuaResult, Vm};

/// `jit.attach(f [, event])`
pub fn attach(vm: &mut Vm) -> LuaResult<u32> {
    let f = vm.check_func(0)?;
    let jit = crate::Jit::of(vm);
    let before = jit.as_ref().map(|jit| jit.thresholds(vm));
    match vm.opt_str(1)? {
        Some(event) => {
            let name: Box<[u8]> = event.bytes().into();
            vm.host.event_handlers.retain(|(n, _)| *n != name);
            vm.host.event_handlers.push((name, perilune_vm::Value::func(f)));
        }
        None => vm.host.event_handlers.retain(|(_, g)| *g != perilune_vm::Value::func(f)),
    }
    if let Some(jit) = &jit {
        jit.settle_exits();
    }
    // A program that listens to traces gets other thresholds.
    if let Some(jit) = jit
        && before != Some(jit.thresholds(vm))
    {
        jit.reset_counters(vm);
    }
    Ok(0)
}
