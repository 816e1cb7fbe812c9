//! When to compile: rent or buy.
//!
//! A site (a loop, a function, an exit, what is behind a call) is recorded when it is hot. How hot it must be follows from what compiling
//! costs ([`cost`]); it is more while compiling has taken more than its share of the program's time, and twice as much after each failure
//! ([`site`]). Thresholds that the user sets are taken literally, and whoever watches the compiler gets LuaJIT's: no clock is read then, and
//! a program makes the same traces each time.

pub mod cost;
pub(crate) mod hotcount;
pub(crate) mod proto_table;

use crate::Jit;
use crate::params::Options;
use crate::record::Origin;
use crate::view::events::Event;
use perilune_recorder::ir::Trace;
use perilune_vm::Vm;
use perilune_vm::object::BcPos;
use perilune_vm::state::HOT_COUNTERS;
use std::time::Duration;

/// How hot sites must be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// Iterations of a loop; calls count half.
    pub hotloop: u32,
    /// Exits.
    pub hotexit: u32,
    /// Are these numbers meant as they are, whatever compiling has taken so far?
    pub literal: bool,
}

/// LuaJIT's thresholds.
const LUAJIT: Thresholds = Thresholds { hotloop: 56, hotexit: 10, literal: true };

/// The processor time of this thread: neither waiting nor other processes count.
pub(crate) fn now() -> Duration {
    Duration::from_nanos(perilune_vm::sample::processor_time())
}

/// What was spent on compiling, and how long the program has run.
#[derive(Debug)]
pub struct Policy {
    /// Ticks that each hot counter will have counted when it runs out.
    set: [u16; HOT_COUNTERS],
    /// Ticks counted so far.
    ticks: u64,
    /// Processor time when it was made.
    begun: Duration,
    /// What compiling has taken.
    spent: Duration,
    /// Was anything recorded?
    used: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { set: [0; HOT_COUNTERS], ticks: 0, begun: now(), spent: cost::SETUP, used: false }
    }
}

impl Policy {
    /// Ticks so far.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }
    /// A hot counter was set.
    pub fn counts_from(&mut self, counter: usize, ticks: u16) {
        self.set[counter] = ticks;
    }
    /// All were.
    pub fn all_count_from(&mut self, ticks: u16) {
        self.set = [ticks; HOT_COUNTERS];
    }
    /// A hot counter ran out; how much it had counted.
    pub fn ran_out(&mut self, counter: usize) -> u32 {
        let n = self.set[counter];
        self.ticks += u64::from(n);
        u32::from(n)
    }
    /// A recording has taken so long, with compiling, if it came to that.
    pub fn spend(&mut self, time: Duration) {
        if !core::mem::replace(&mut self.used, true) {
            self.spent = Duration::ZERO;
        }
        self.spent += time;
    }
    /// By what thresholds are multiplied for something that takes so long to compile, see `pressure`.
    pub fn pressure(&self, estimate: Duration, budget: u32) -> f64 {
        if budget == 0 { 1.0 } else { pressure(self.spent + estimate, now().saturating_sub(self.begun + self.spent), budget) }
    }
    /// A new start, by the program's own wish.
    pub fn renew(&mut self) {
        self.spent = Duration::ZERO;
    }
}

/// [`cost::MORE`] times as much for each whole share (in percent) of its time that a program has spent on compiling. Nothing in between: most
/// sites are then recorded at the same iteration in each run, whatever the clock says.
fn pressure(spent: Duration, ran: Duration, budget: u32) -> f64 {
    let shares = (spent.as_secs_f64() * 100.0 / (f64::from(budget) * ran.as_secs_f64().max(1e-6))).floor();
    cost::MORE.powf(shares)
}

impl Jit {
    /// How hot sites must be now.
    pub(crate) fn thresholds(&self, vm: &Vm) -> Thresholds {
        let Options { params, set, .. } = self.options.get();
        if set.hotloop || set.hotexit {
            let hotloop = if set.hotloop { params.hotloop } else { LUAJIT.hotloop };
            let hotexit = if set.hotexit { params.hotexit } else { LUAJIT.hotexit };
            return Thresholds { hotloop, hotexit, literal: true };
        }
        if self.is_watched() || self.is_listened_to(vm) {
            return LUAJIT;
        }
        Thresholds { hotloop: params.hotloop, hotexit: params.hotexit, literal: params.budget == 0 }
    }
    /// Does a program look at what is compiled while it runs?
    fn is_listened_to(&self, vm: &Vm) -> bool {
        [Event::Trace, Event::Record, Event::Texit].into_iter().any(|e| crate::view::events::handler(vm, e).is_some())
    }
    /// A threshold as it is now, for something that has failed so many times and takes so long to compile.
    pub(crate) fn wanted(&self, threshold: u32, failures: u32, estimate: Duration, literal: bool) -> u32 {
        if literal {
            // LuaJIT tries `tryside` times, at one exit after the other, and never again. Here only much later.
            let more = failures.saturating_sub(self.options.get().params.tryside.saturating_sub(1));
            return threshold.saturating_mul(1u32.checked_shl(4 * more).unwrap_or(u32::MAX));
        }
        let pressure = self.policy.borrow().pressure(estimate, self.options.get().params.budget);
        (f64::from(threshold) * f64::from(failures).exp2() * pressure) as u32
    }
    /// Is a finished trace more expensive than its site is hot? Then the site waits until it is as hot as it would have to be once the
    /// trace were paid for.
    pub(crate) fn is_too_expensive(&self, vm: &Vm, origin: Origin, trace: &Trace) -> bool {
        let thresholds = self.thresholds(vm);
        let estimate = cost::of_trace(Some(trace));
        // What a trace costs depends on the way that is recorded: one that costs up to twice as much as the last one there, which was
        // waited for, is compiled. So each recording that is given up costs no more than a fourteenth of compiling what comes of it.
        let has_waited_for = |known: Duration| estimate <= known * 2;
        if thresholds.literal || estimate <= cost::of_trace(None) {
            return false;
        }
        match (origin, trace.parent) {
            (Origin::Root(pos), _) => {
                let mut protos = self.protos.borrow_mut();
                let penalty = protos.penalty(pos);
                let hot = if penalty == 0 { thresholds.hotloop.saturating_mul(2) } else { penalty };
                let wanted = self.wanted(hot, 0, estimate, false);
                let record = protos.at(pos);
                let before = core::mem::replace(&mut record.compile_cost, estimate);
                record.hot_count < wanted && !has_waited_for(before)
            }
            (_, Some(parent)) => {
                let mut registry = self.registry.borrow_mut();
                let Some(x) = registry.exit_mut(parent) else { return false };
                let tries = x.tries.saturating_sub(1);
                let wanted = self.wanted(thresholds.hotexit, tries, estimate, false);
                if x.heat >= wanted || has_waited_for(x.compile_cost) {
                    return false;
                }
                (x.compile_cost, x.tries) = (estimate, tries);
                true
            }
            _ => false,
        }
    }
    /// The hot counter of a position underflowed, having counted to `counted`: the hot counts still missing before a recording begins
    /// there.
    pub(crate) fn missing_hot_count(&self, pos: BcPos, counted: u32, hot: u32, literal: bool) -> u32 {
        let mut protos = self.protos.borrow_mut();
        let penalty = protos.penalty(pos);
        if literal && penalty == 0 {
            return 0;
        }
        let wanted = if penalty == 0 { hot } else { penalty };
        let record = protos.at(pos);
        record.hot_count = record.hot_count.saturating_add(counted);
        if core::mem::take(&mut record.record_next) {
            return 0;
        }
        self.wanted(wanted, 0, cost::of_trace(None).max(record.compile_cost), literal).saturating_sub(record.hot_count)
    }
    /// May a trace be given up because it loses?
    pub(crate) fn gives_up_what_loses(&self, vm: &Vm) -> bool {
        !self.thresholds(vm).literal
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, pressure};
    use std::time::Duration;

    #[test]
    fn thresholds_grow_with_the_share_that_compiling_takes() {
        let ms = Duration::from_millis;
        assert_eq!(pressure(ms(0), ms(1000), 5), 1.0);
        assert_eq!(pressure(ms(49), ms(1000), 5), 1.0);
        assert_eq!(pressure(ms(51), ms(1000), 5), 4.0);
        assert_eq!(pressure(ms(101), ms(1000), 5), 16.0);
        assert!(pressure(ms(1), ms(0), 5) > 1000.0, "a program that has not run yet");
        assert_eq!(Policy::default().pressure(ms(9), 0), 1.0, "no limit");
    }
}
