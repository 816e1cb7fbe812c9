//! Hot counters, and the penalties of places where recording failed.

use crate::budget::Budget;
use core::ops::Range;
use perilune_recorder::abort::Abort;
use perilune_vm::Vm;
use perilune_vm::bc::Ins;

const SLOTS: usize = 64;
const MIN: u32 = 36 * 2;
const MAX: u32 = 60_000;

/// Sets a counter.
pub fn set_counter(vm: &mut Vm, budget: &mut Budget, counter: usize, n: u32) {
    let n = n.min(u32::from(u16::MAX)) as u16;
    vm.set_hot_counter(counter, n);
    budget.counts_from(counter, n);
}

/// All counters start from what `hotloop` says, or from the top when nothing is to become hot.
pub fn reset_counters(vm: &mut Vm, budget: &mut Budget, hotloop: Option<u32>) {
    let n = hotloop.map_or(u16::MAX, |n| (n.saturating_mul(2)).wrapping_sub(1).min(u32::from(u16::MAX)) as u16);
    vm.set_hot_counters(n);
    budget.all_count_from(n);
}

#[derive(Copy, Clone, Debug)]
struct Penalty {
    pc: *const Ins,
    value: u32,
    reason: Abort,
}

/// The places that failed lately.
#[derive(Debug)]
pub struct Penalties {
    slots: [Penalty; SLOTS],
    next: usize,
    random: u32,
}

impl Default for Penalties {
    fn default() -> Penalties {
        Penalties { slots: [Penalty { pc: core::ptr::null(), value: 0, reason: Abort::Error }; SLOTS], next: 0, random: 1 }
    }
}

impl Penalties {
    /// A number below 16: what recurs in the program at regular distances is then not always met in the same place.
    pub fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random >> 28
    }
    /// Recording from `pc` failed: what its counter is to be set to, or `None` when it has failed for good.
    pub fn add(&mut self, pc: *const Ins, reason: Abort) -> Option<u32> {
        let random = self.random();
        let found = self.slots.iter().position(|s| s.pc == pc);
        let i = found.unwrap_or_else(|| {
            self.next = (self.next + 1) % SLOTS;
            self.next
        });
        let value = if found.is_some() { self.slots[i].value * 2 + random } else { MIN };
        self.slots[i] = Penalty { pc, value, reason };
        if value > MAX {
            self.slots[i].pc = core::ptr::null();
            return None;
        }
        Some(value)
    }
    /// Has recording from the loop at `pc` failed because it was left, more than once?
    pub fn left_loop(&self, pc: *const Ins) -> bool {
        self.slots.iter().any(|s| s.pc == pc && s.reason == Abort::LeavingLoop && s.value >= 2 * MIN)
    }
    /// Forgets the places in a function.
    pub fn forget(&mut self, code: &Range<*const Ins>) {
        for s in self.slots.iter_mut().filter(|s| code.contains(&s.pc)) {
            s.pc = core::ptr::null();
        }
    }
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Penalties::default();
    }
}
