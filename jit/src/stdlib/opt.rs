//! `jit.opt.start`.

use super::shared::compiler;
use crate::Jit;
use crate::params::{Changed, Options};
use perilune_recorder::params::OptFlags;
use perilune_vm::{LuaResult, Vm};

/// `jit.opt.start(...)`
pub fn start(vm: &mut Vm) -> LuaResult<u32> {
    let jit = compiler(vm)?;
    if vm.nargs() == 0 {
        let options = jit.settings.options.get();
        jit.settle_exits();
        jit.settings.options.set(Options { flags: OptFlags::ALL, ..options });
        return Ok(0);
    }
    for i in 0..vm.nargs() {
        let text = vm.check_str(i)?;
        let text = text.to_str_lossy().into_owned();
        jit.set_option(vm, &text).map_err(|message| vm.rt_error(&message))?;
    }
    Ok(0)
}

impl Jit {
    /// Sets an option as one argument of `jit.opt.start` says.
    ///
    /// # Errors
    /// There is no such option; with LuaJIT's message.
    pub fn set_option(&self, vm: &mut Vm, text: &str) -> Result<(), String> {
        let mut options = self.settings.options.get();
        let changed = options.apply(text).ok_or_else(|| format!("unknown or malformed optimization flag '{text}'"))?;
        self.settle_exits();
        self.settings.options.set(options);
        match changed {
            Changed::Nothing => {}
            Changed::HotCounters => self.reset_counters(vm),
            Changed::Engine => self.flush_all(vm),
            Changed::Stress => self.set_stress(vm),
        }
        Ok(())
    }
}
