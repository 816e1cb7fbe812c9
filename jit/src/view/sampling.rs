//! Taking samples of a VM that has a compiler.

use crate::Jit;
use core::time::Duration;
use perilune_vm::Vm;
use perilune_vm::sample::{Consumer, InCode};
use std::rc::Rc;

/// Begins to take samples, as [`Vm::start_sampling`]. Code that is compiled from now on stores its position for samples; traces that were
/// compiled before must be flushed first.
pub fn start(vm: &mut Vm, interval: Duration, in_code: InCode, consumer: Rc<dyn Consumer>) -> bool {
    if let Some(jit) = Jit::of(vm) {
        let stub = jit.machine.borrow().exit_stub();
        jit.registry.borrow_mut().exits.provide_leaving(vm, stub);
    }
    vm.start_sampling(interval, in_code, consumer)
}
