//! What is known of one instruction where traces start or that recordings went by: one record, gone with its function.

use core::ops::Range;
use perilune_recorder::abort::Abort;
use perilune_recorder::rec::Site as Feedback;
use perilune_vm::bc::Ins;
use std::collections::BTreeMap;
use std::time::Duration;

/// Ticks that the first failure costs at least; LuaJIT's number.
const MIN_PENALTY: u32 = 36 * 2;
/// A site whose penalty would be so many times the first one is given up: after ten failures, as in LuaJIT.
const MAX_PENALTY: u32 = 1 << 10;

/// How often a trace that only returns is refused from a function that recurses. Where every other call goes on to recurse, one in a
/// million such functions gets no trace that does.
pub const RECURSION_TRIES: u32 = 20;

/// What is known of a site.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// What recordings found there.
    pub feedback: Feedback,
    /// Ticks counted since a recording began there.
    pub waited: u32,
    /// What compiling the trace from there takes, if one was recorded that was too expensive.
    pub compile_cost: Duration,
    /// Is it its turn, however few they are?
    pub granted: bool,
    /// The ticks that the last failure costs; 0 if there was none, or if it has been paid for by a trace.
    penalty: u32,
    /// Was the loop left while it was recorded, the last time, and not only once?
    pub is_left: bool,
    /// For a function that was found to recurse: how often a trace that only returns is still refused.
    pub recurses: u32,
    /// Times that a trace from there was given up because it lost.
    pub lost: u32,
    /// No trace starts there any more.
    pub given_up: bool,
}

/// The sites, by address; those of a function are neighbours.
#[derive(Debug, Default)]
pub struct Sites {
    by_address: BTreeMap<*const Ins, Site>,
    random: u32,
}

impl Sites {
    /// What is known of the instruction at `pc`.
    pub fn get(&self, pc: *const Ins) -> Option<&Site> {
        self.by_address.get(&pc)
    }
    /// The record of the instruction at `pc`, made if there is none.
    pub fn at(&mut self, pc: *const Ins) -> &mut Site {
        self.by_address.entry(pc).or_default()
    }
    /// What recordings found at the instruction at `pc`.
    pub fn feedback(&self, pc: *const Ins) -> Feedback {
        self.get(pc).map(|s| s.feedback).unwrap_or_default()
    }
    /// The sites in a function.
    pub fn of_function(&mut self, code: Range<*const Ins>) -> impl Iterator<Item = (*const Ins, &mut Site)> {
        self.by_address.range_mut(code).map(|(pc, site)| (*pc, site))
    }
    /// Forgets those in a function: its addresses may come back for others.
    pub fn forget(&mut self, code: &Range<*const Ins>) {
        while let Some(pc) = self.by_address.range(code.clone()).next().map(|p| *p.0) {
            self.by_address.remove(&pc);
        }
    }
    /// Forgets the failures in a function.
    pub fn forgive(&mut self, code: Range<*const Ins>) {
        for (_, site) in self.by_address.range_mut(code) {
            *site = Site { feedback: site.feedback, ..Site::default() };
        }
    }
    /// Forgets all failures.
    pub fn forgive_all(&mut self) {
        for site in self.by_address.values_mut() {
            *site = Site { feedback: site.feedback, given_up: site.given_up, ..Site::default() };
        }
    }
    /// A number below 16: what recurs in the program at regular distances is then not always met in the same place.
    pub fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random >> 28
    }
    /// Recording from `pc` failed: the ticks to wait for, `first` at least, or `None` when it has failed for good.
    pub fn penalize(&mut self, pc: *const Ins, reason: Abort, first: u32) -> Option<u32> {
        let random = self.random();
        let site = self.at(pc);
        let again = site.penalty != 0;
        let first = first.max(MIN_PENALTY);
        let penalty = if again { site.penalty.saturating_mul(2) + random } else { first };
        site.penalty = penalty;
        site.waited = 0;
        site.is_left = again && reason == Abort::LeavingLoop;
        if penalty > first.saturating_mul(MAX_PENALTY) {
            site.given_up = true;
            return None;
        }
        Some(penalty)
    }
    /// A trace from `pc` was given up because it lost: the next one waits four times as long. True if there will be none.
    pub fn lose(&mut self, pc: *const Ins, hot: u32) -> bool {
        let site = self.at(pc);
        site.lost += 1;
        site.waited = 0;
        site.penalty = site.penalty.max(hot).saturating_mul(4);
        site.given_up = site.lost > 1;
        site.given_up
    }
    /// The ticks that a site must wait for, if it has failed.
    pub fn penalty(&self, pc: *const Ins) -> u32 {
        self.get(pc).map_or(0, |s| s.penalty)
    }
}
