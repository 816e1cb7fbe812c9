//! `jit.opt.start`.

use super::compiler;
use crate::params::{Changed, Options};
use perilune_recorder::params::OptFlags;
use perilune_vm::{LuaResult, Vm};

/// `jit.opt.start(...)`
pub fn start(vm: &mut Vm) -> LuaResult<u32> {
    let jit = compiler(vm)?;
    if vm.nargs() == 0 {
        let options = jit.options.get();
        jit.settle_exits();
        jit.options.set(Options { flags: OptFlags::ALL, ..options });
        return Ok(0);
    }
    for i in 0..vm.nargs() {
        let text = vm.check_str(i)?;
        let text = text.to_str_lossy().into_owned();
        let mut options = jit.options.get();
        let Some(changed) = options.apply(&text) else {
            let message = format!("unknown or malformed optimization flag '{text}'");
            return Err(vm.rt_error(&message));
        };
        jit.settle_exits();
        jit.options.set(options);
        match changed {
            Changed::Nothing => {}
            Changed::HotCounters => jit.reset_counters(vm),
            Changed::Engine => jit.flush_all(vm),
            Changed::Stress => jit.set_stress(vm),
        }
    }
    Ok(0)
}
