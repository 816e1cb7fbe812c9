//! Exits that the interpreter takes without calling the compiler.
//!
//! At most exits there is nothing to do but to count. So the compiler allows the interpreter to take an exit a number of times by itself
//! ([`PlainExit`]): until the exit may be hot, or its root trace may be unprofitable. These exits are counted when the compiler is called
//! again, or before the counters are read.

use super::descriptor::ExitDescriptor;
use super::side_exit::Charge;
use crate::Jit;
use crate::policy::cost;
use crate::trace::{Exit, Registry};
use crate::view::events::{Event, handler};
use crate::view::log::{self, Topic};
use core::ops::Range;
use perilune_recorder::ir::Snapshot;
use perilune_vm::hooks::PlainExit;
use perilune_vm::{ExitId, Vm};

/// The most exits that are allowed at once, so that the counters are never far behind.
const MAX_ALLOWED: u32 = 1000;

impl Registry {
    /// Points a VM to the table, which moves when it grows.
    pub fn connect_plain_exits(&mut self, vm: &mut Vm) {
        vm.compiled.plain_exits = self.plain_exits.as_mut_ptr();
    }
    /// How often an exit was taken without a call of the compiler. From now on the compiler is called.
    pub fn settle_plain_exit(&mut self, id: ExitId) -> u32 {
        let Some(d) = self.descriptor_mut(id) else { return 0 };
        let allowed = core::mem::take(&mut d.allowed);
        allowed - core::mem::take(&mut self.plain_exits[id.index()].left)
    }
    /// The traces that these exits belong to are being removed.
    pub(crate) fn forget_plain_exits(&mut self, ids: Range<usize>) {
        for id in ids.clone().map(|id| ExitId::new(id as u32)) {
            let times = self.settle_plain_exit(id);
            let counts = self.descriptor(id).is_some_and(|d| !d.facts.is_end);
            self.taken_before += if counts { u64::from(times) } else { 0 };
        }
        self.plain_exits[ids].fill(PlainExit::NONE);
    }
}

impl Jit {
    /// Allows the interpreter to take an exit by itself until there may be something to do.
    #[inline]
    pub(crate) fn allow_plain_exit(&self, vm: &Vm, registry: &mut Registry, id: ExitId) {
        let Some(&ExitDescriptor { facts, ref unboxed, .. }) = registry.descriptor(id) else { return };
        if facts.stack != 0 || facts.multres == Snapshot::OPEN || self.is_told_of_exits(vm) {
            return;
        }
        let unboxed: *const [_] = &raw const **unboxed;
        let mut left = MAX_ALLOWED;
        if !facts.is_end {
            let Some(x) = registry.exit(facts.exit) else { return };
            if x.hot_count != Exit::DONE {
                left = left.min(x.next_check.saturating_sub(x.hot_count).saturating_sub(1));
            }
        }
        if let Some(Charge { root, saving }) = registry.charge(vm, &facts)
            && saving < 0
            && let Some(r) = registry.get(root)
        {
            left = left.min(u32::try_from((r.saved + cost::MAX_LOSS) / -saving).unwrap_or(0));
        }
        if let Some(d) = registry.descriptor_mut(id) {
            d.allowed = left;
            registry.plain_exits[id.index()] = PlainExit { left, multres: facts.multres, pc: facts.pc, unboxed };
        }
    }
    fn is_told_of_exits(&self, vm: &Vm) -> bool {
        self.is_watched() || handler(vm, Event::Texit).is_some() || log::on(Topic::Exit)
    }
    /// Counts all exits that were taken without a call of the compiler, and has the compiler called at each exit from now on: before
    /// counters are read, a handler of exits is attached, or an option changes what is done at exits.
    pub(crate) fn settle_exits(&self) {
        let mut registry = self.registry.borrow_mut();
        for id in registry.exit_ids() {
            let times = registry.settle_plain_exit(id);
            let Some(facts) = registry.descriptor(id).map(|d| d.facts).filter(|facts| times != 0 && !facts.is_end) else {
                continue;
            };
            self.count(|c| c.deopt += u64::from(times));
            if let Some(x) = registry.exit_mut(facts.exit) {
                x.taken = x.taken.saturating_add(times);
                if x.hot_count != Exit::DONE {
                    x.hot_count += times;
                }
            }
        }
    }
}
