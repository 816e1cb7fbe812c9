//! Hot counters.

use crate::policy::Policy;
use perilune_vm::Vm;

/// Sets a counter.
pub fn set_counter(vm: &mut Vm, policy: &mut Policy, counter: usize, n: u32) {
    let n = n.min(u32::from(u16::MAX)) as u16;
    vm.set_hot_counter(counter, n);
    policy.counts_from(counter, n);
}

/// All counters start from what `hotloop` says, or from the top when nothing is to become hot.
pub fn reset_counters(vm: &mut Vm, policy: &mut Policy, hotloop: Option<u32>) {
    let n = hotloop.map_or(u16::MAX, |n| (n.saturating_mul(2)).wrapping_sub(1).min(u32::from(u16::MAX)) as u16);
    vm.reset_hot_counters(n);
    policy.all_count_from(n);
}
