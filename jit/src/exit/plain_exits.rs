//! Exits that the interpreter takes by itself.
//!
//! Most exits are taken often, and there is nothing to do at them but to count. So the interpreter may take an exit so many times
//! ([`PlainExit`]) without asking: as many as are missing until it is looked at whether the exit is hot, or whether its root trace loses.
//! What was taken so is counted when the compiler is asked again, or before anybody reads the counts.

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

/// So many at most, that the counts are never far behind.
const MOST: u32 = 1000;

impl Registry {
    /// Points a VM to the table, which may have moved.
    pub fn connect_plain_exits(&mut self, vm: &mut Vm) {
        vm.plain_exits = self.plain_exits.as_mut_ptr();
    }
    /// How often an exit was taken without asking; from now on the compiler is asked.
    pub fn settle_plain_exit(&mut self, id: ExitId) -> u32 {
        let Some(d) = self.descriptor_mut(id) else { return 0 };
        let allowed = core::mem::take(&mut d.allowed);
        allowed - core::mem::take(&mut self.plain_exits[id.index()].left)
    }
    /// The traces of exits go.
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
    /// Lets the interpreter take an exit by itself until there is something to do.
    #[inline]
    pub(crate) fn allow_plain_exit(&self, vm: &Vm, registry: &mut Registry, id: ExitId) {
        let Some(&ExitDescriptor { facts, ref unboxed, .. }) = registry.descriptor(id) else { return };
        if facts.stack != 0 || facts.multres == Snapshot::OPEN || self.is_told_of_exits(vm) {
            return;
        }
        let unboxed: *const [_] = &raw const **unboxed;
        let mut left = MOST;
        if !facts.is_end {
            let Some(x) = registry.exit(facts.exit) else { return };
            if x.heat != Exit::DONE {
                left = left.min(x.next.saturating_sub(x.heat).saturating_sub(1));
            }
        }
        if let Some(Charge { root, gain }) = registry.charge(vm, &facts)
            && gain < 0
            && let Some(r) = registry.get(root)
        {
            left = left.min(u32::try_from((r.balance + cost::LOSS) / -gain).unwrap_or(0));
        }
        if let Some(d) = registry.descriptor_mut(id) {
            d.allowed = left;
            registry.plain_exits[id.index()] = PlainExit { left, multres: facts.multres, pc: facts.pc, unboxed };
        }
    }
    fn is_told_of_exits(&self, vm: &Vm) -> bool {
        self.is_watched() || handler(vm, Event::Texit).is_some() || log::on(Topic::Exit)
    }
    /// Counts all exits that were taken without asking, and wants to be asked at each exit from now on: somebody reads the counts, wants to
    /// be told of exits, or changes what is done at them.
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
                if x.heat != Exit::DONE {
                    x.heat += times;
                }
            }
        }
    }
}
