//! Hot counters: two counts for each iteration of a loop, one for each call. Where one underflows, the policy says whether a recording
//! begins.
//!
//! Next on the way of a hot loop: `jit/src/record/start.rs`.

use crate::Jit;
use crate::frame;
use crate::policy::Policy;
use crate::trace::patch;
use perilune_vm::Vm;
use perilune_vm::bc::Op;
use perilune_vm::object::{BcPos, InsPtr, ProtoFlags};

/// Sets a hot counter.
pub fn set_counter(vm: &mut Vm, policy: &mut Policy, counter: usize, n: u32) {
    let n = policy.counter_set(vm, counter, n);
    vm.set_hot_counter(counter, n);
}

/// Sets all hot counters to the threshold `hotloop`, in iterations; to the largest value if nothing is to become hot.
pub fn reset_counters(vm: &mut Vm, policy: &mut Policy, hotloop: Option<u32>) {
    let n = hotloop.map_or(u32::from(u16::MAX), |n| n.saturating_mul(2).wrapping_sub(1));
    let n = policy.all_counters_set(vm, n);
    vm.reset_hot_counters(n);
}

impl Jit {
    /// The hot counter of the instruction at `pc` underflowed: starts a recording there if it is hot enough. A STITCH has no hot counter of
    /// that kind; it calls this each time that there is no trace to enter.
    pub(crate) fn hot_counter_underflowed(&self, vm: &mut Vm, pc: InsPtr) {
        if !self.settings.enabled.get() {
            return reset_counters(vm, &mut self.policy.borrow_mut(), None);
        }
        if pc.ins().op() == Op::STITCH {
            return self.hot_stitch(vm, pc);
        }
        let Some(proto) = frame::proto(vm) else { return };
        let counter = proto.hot_counter(pc);
        if vm.underflowed_in_callback(counter) {
            return;
        }
        let Some(pos) = BcPos::of_address(proto, pc) else { return };
        let thresholds = self.thresholds(vm);
        let hot = thresholds.hotloop.saturating_mul(2);
        let counted = self.policy.borrow_mut().underflowed(vm, counter);
        self.set_counter(vm, pos, hot);
        if !self.may_record(vm) {
            return;
        }
        if proto.flags.get() & ProtoFlags::NOJIT != 0 {
            patch::blacklist(pos);
            return;
        }
        if self.protos.borrow().get(pos).is_some_and(|r| r.blacklisted) {
            return self.set_counter(vm, pos, u32::from(u16::MAX));
        }
        match self.missing_hot_count(pos, counted, hot, thresholds.literal) {
            0 => self.start_root(vm, pos),
            n => self.set_counter(vm, pos, n),
        }
    }
}
