//! Exits that the interpreter takes without calling the compiler.
//!
//! At most exits there is nothing to do but to count. So the compiler allows the interpreter to take an exit a number of times by itself
//! ([`PlainExit`]): until the exit may be hot, or its root trace may be unprofitable. These exits are counted when the compiler is called
//! again, or before the counters are read.

use super::side_exit::Charge;
use super::table::ExitTable;
use crate::Jit;
use crate::policy::cost;
use crate::trace::{Exit, Registry};
use crate::view::events::{Event, handler};
use crate::view::log::{self, Topic};
use core::ops::Range;
use perilune_recorder::ir::Snapshot;
use perilune_vm::hooks::PlainExit;
use perilune_vm::{ExitId, Vm};

/// The most exits that are allowed at once, so that the counters never lag far behind.
const MAX_ALLOWED: u32 = 1000;

impl ExitTable {
    /// How often an exit was taken without a call of the compiler. From now on the compiler is called.
    pub fn settle_plain(&mut self, id: ExitId) -> u32 {
        let Some(d) = self.descriptor_mut(id) else { return 0 };
        let allowed = core::mem::take(&mut d.allowed);
        allowed - core::mem::take(&mut self.plain[id.index()].remaining)
    }
    /// The traces that these exits belong to are being removed.
    pub(super) fn forget_plain(&mut self, ids: Range<usize>) {
        for id in ids.clone().map(|id| ExitId::new(id as u32)) {
            let times = self.settle_plain(id);
            let counts = self.descriptor(id).is_some_and(|d| !d.facts.is_end);
            self.taken_before += if counts { u64::from(times) } else { 0 };
        }
        self.plain[ids].fill(PlainExit::NONE);
    }
    /// Allows the interpreter to take an exit so many times by itself.
    fn allow(&mut self, id: ExitId, times: u32) {
        let Some(d) = self.descriptor_mut(id) else { return };
        d.allowed = times;
        let unboxed: *const [_] = &raw const *d.unboxed;
        let plain = PlainExit { remaining: times, multres: d.facts.multres, pc: d.facts.pc.as_ptr(), unboxed };
        self.plain[id.index()] = plain;
    }
}

impl Jit {
    /// Allows the interpreter to take an exit by itself until there may be something to do.
    #[inline]
    pub(crate) fn allow_plain_exit(&self, vm: &Vm, registry: &mut Registry, id: ExitId) {
        let Some(facts) = registry.exits.descriptor(id).map(|d| d.facts) else { return };
        if facts.stack != 0 || facts.multres == Snapshot::OPEN || self.exits_are_reported(vm) {
            return;
        }
        let mut times = MAX_ALLOWED;
        if !facts.is_end {
            let Some(x) = registry.exit(facts.exit) else { return };
            if x.hot_count != Exit::DONE {
                times = times.min(x.next_check.saturating_sub(x.hot_count).saturating_sub(1));
                if self.policy.borrow().ffi.is_some() {
                    times = times.min(cost::LUAJIT_HOT_EXIT);
                }
            }
        }
        if let Some(Charge { root, saving }) = registry.charge(vm, &facts)
            && saving < 0
            && let Some(r) = registry.get(root)
        {
            times = times.min(u32::try_from((r.account.saved + cost::MAX_LOSS) / -saving).unwrap_or(0));
        }
        registry.exits.allow(id, times);
    }
    fn exits_are_reported(&self, vm: &Vm) -> bool {
        self.is_watched() || handler(vm, Event::Texit).is_some() || log::on(Topic::Exit)
    }
    /// Counts all exits that were taken without a call of the compiler, and has the compiler called at each exit from now on: before
    /// counters are read, a handler of exits is attached, or an option changes what is done at exits.
    pub(crate) fn settle_exits(&self) {
        let mut registry = self.registry.borrow_mut();
        for id in registry.exits.ids() {
            let times = registry.exits.settle_plain(id);
            let Some(facts) = registry.exits.descriptor(id).map(|d| d.facts).filter(|facts| times != 0 && !facts.is_end) else {
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
