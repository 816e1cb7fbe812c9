//! Between marking and sweeping: what is dead leaves the heap's lists, some entries at a time, before the sweep frees it.
//!
//! The program runs meanwhile. It cannot reach what is dead, with one exception: the open upvalue of a variable may be dead while the
//! variable lives, and a new closure may want it ([`Heap::revive`]).

use super::filter::{BATCH, WORK};
use super::{Heap, Phase};
use crate::object::{Gc, GcHeader};

impl Heap {
    /// One step of the phase; returns a measure of the work.
    pub(super) fn settle_step(&mut self) -> usize {
        let mut filter = core::mem::take(&mut self.cycle.filter);
        let complete = if self.cycle.upvals_settled {
            let mut udatas = core::mem::take(&mut self.lists.udatas);
            let complete = filter.step(&mut udatas, |u| !self.is_dead(&u.hdr));
            self.lists.udatas = udatas;
            complete
        } else {
            let mut threads = core::mem::take(&mut self.lists.with_upvals);
            self.cycle.upvals_settled = filter.step(&mut threads, |t| self.settle_upvals(t));
            self.lists.with_upvals = threads;
            false
        };
        self.cycle.filter = filter;
        if complete {
            self.cycle.upvals_settled = false;
            self.begin_sweep();
        }
        BATCH * WORK
    }
    /// Completes the phase, if it is this one.
    pub(super) fn settle(&mut self) {
        while self.cycle.phase == Phase::Settle {
            self.settle_step();
        }
    }
    /// An object that is perhaps dead, but not swept, is needed again. Everything that it refers to is alive.
    #[inline]
    pub(crate) fn revive(&self, o: Gc<GcHeader>) {
        if self.is_dead(&o) {
            debug_assert!(self.cycle.phase == Phase::Settle, "the sweep frees a dead object");
            o.make_white(self.white());
        }
    }
}
