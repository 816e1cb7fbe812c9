//! Stress, for tests: rare events are made frequent. Exits are taken though no guard fails, and the collector works at every safepoint. The
//! parameters are `exitof`, `exitat`, `exitevery` and `gcstress`.

use crate::Jit;
use perilune_recorder::ir::{Ins, Op, Trace};
use perilune_vm::Vm;

impl Jit {
    /// Passes the parameters to the VM.
    pub(crate) fn set_stress(&self, vm: &mut Vm) {
        let params = self.settings.options.get().params;
        vm.compiled.exit_every = params.exitevery.max(1);
        vm.compiled.exit_countdown = vm.compiled.exit_every;
        vm.gc_set_stress(params.gcstress);
    }
    /// Marks the guards of a finished trace that leave although they hold. All guards of a program are numbered in the order in which they
    /// are compiled.
    pub(crate) fn stress_exits(&self, vm: &mut Vm, trace: &mut Trace) {
        let params = self.settings.options.get().params;
        if params.exitof == 0 {
            return;
        }
        if vm.compiled.exit_countdown == 0 {
            self.set_stress(vm);
        }
        let mut number = self.settings.stress_guards.get();
        let (mut snap, mut moved) = (0, false);
        // What a call did is not undone: a guard that asks for it leaves only if it did nothing.
        let left_alone: Vec<bool> = trace.ins.iter().map(|ins| trace.asks_if_done(*ins)).collect();
        for (i, ins) in trace.ins.iter_mut().enumerate().filter(|(i, ins)| may_leave(ins) && !left_alone[*i]) {
            while trace.snaps.get(snap + 1).is_some_and(|s| s.at.ins_index() <= i) {
                (snap, moved) = (snap + 1, false);
            }
            if trace.snaps.get(snap).is_some_and(|s| s.decides) {
                // The exit leads to the branch that the program does not take now.
                continue;
            }
            if ins.op == Op::RETF && core::mem::replace(&mut moved, true) {
                // Of several RETF after one snapshot, the first has left the frame; the others were checked before.
                continue;
            }
            if number % params.exitof == params.exitat % params.exitof {
                ins.flags |= Ins::STRESS;
            }
            number = number.wrapping_add(1);
        }
        self.settings.stress_guards.set(number);
    }
}

/// Can an instruction leave before it has an effect? (BASE stands for the stack check. NATIVE leaves after its call, SYNC and COSAVE
/// never.)
fn may_leave(ins: &Ins) -> bool {
    ins.op == Op::BASE || ins.is_guard() && !ins.op.stores_state()
}
