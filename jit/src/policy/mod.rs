//! When to record: thresholds, penalties, the compile budget.
//!
//! A loop, a function, an exit or the instruction after a stitched call is recorded when it is hot. The thresholds follow from the cost of
//! compiling ([`cost`]). They grow while compiling takes more than its budget of the program's time, and double after each abort
//! (`proto_table`). Thresholds that the user sets are taken literally, and a program that is watched gets LuaJIT's thresholds. No clock is
//! read then, so that a program gets the same traces in each run.

pub(crate) mod clock;
pub mod cost;
pub(crate) mod ffi_operations;
pub(crate) mod hotcount;
pub(crate) mod number_fields;
pub(crate) mod proto_table;
pub(crate) mod replacement;

use crate::Jit;
use crate::params::Options;
use crate::record::Origin;
use crate::view::events::Event;
use clock::{Clock, now};
use cost::{Counted, Size};
use ffi_operations::FfiOperations;
use perilune_recorder::ir::{Trace, TraceExit};
use perilune_recorder::rec::{FinishedTrace, Path};
use perilune_vm::Vm;
use perilune_vm::object::BcPos;
use perilune_vm::state::HOT_COUNTERS;
use std::time::Duration;

/// The hot counts at which recordings begin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Thresholds {
    /// Iterations of a loop; calls count half.
    pub hotloop: u32,
    /// Exits.
    pub hotexit: u32,
    /// Are they taken literally, whatever compiling has taken so far?
    pub literal: bool,
}

/// A recording is asked after so many bytecode instructions whether it has become too expensive: asking takes as long as recording one.
const GIVEN_UP_EVERY: usize = 16;

/// LuaJIT's thresholds.
const LUAJIT: Thresholds = Thresholds { hotloop: cost::LUAJIT_HOT_LOOP, hotexit: cost::LUAJIT_HOT_EXIT, literal: true };

/// The compile budget: how long the program has run, and how much of that compiling has taken.
#[derive(Debug)]
pub struct Policy {
    /// The value that each hot counter was last set to: the hot counts it has counted when it underflows.
    set: [u16; HOT_COUNTERS],
    /// Hot counts counted so far.
    ticks: u64,
    /// Processor time at the start.
    begun: Duration,
    /// Processor time that compiling has taken.
    spent: Duration,
    /// Was anything recorded?
    used: bool,
    /// Tells how long it has run.
    clock: Clock,
    /// Operations on cdata, if the program has executed any.
    pub(crate) ffi: Option<FfiOperations>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            set: [0; HOT_COUNTERS],
            ticks: 0,
            begun: now(),
            spent: cost::SETUP,
            used: false,
            clock: Clock::default(),
            ffi: None,
        }
    }
}

impl Policy {
    /// Hot counts so far.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }
    /// A hot counter is to be set to `n` hot counts: what it is set to. Where operations on cdata count as well, it is set to LuaJIT's
    /// threshold at most, so that they are looked at in time.
    pub fn counter_set(&mut self, vm: &Vm, counter: usize, n: u32) -> u16 {
        self.set[counter] = self.at_most(n);
        if let Some(ffi) = &mut self.ffi {
            ffi.counter_set(vm, counter);
        }
        self.set[counter]
    }
    /// The same for all hot counters.
    pub fn all_counters_set(&mut self, vm: &Vm, n: u32) -> u16 {
        let n = self.at_most(n);
        self.set = [n; HOT_COUNTERS];
        if let Some(ffi) = &mut self.ffi {
            ffi.all_counters_set(vm);
        }
        n
    }
    fn at_most(&self, n: u32) -> u16 {
        let most = if self.ffi.is_some() { 2 * cost::LUAJIT_HOT_LOOP } else { u32::from(u16::MAX) };
        n.min(most) as u16
    }
    /// A hot counter underflowed: the hot counts that it had counted, and those that operations on cdata stand for.
    pub fn underflowed(&mut self, vm: &Vm, counter: usize) -> u32 {
        let n = u32::from(self.set[counter]);
        self.ticks += u64::from(n);
        n + self.ffi.as_mut().map_or(0, |ffi| ffi.hot_counts(vm, counter))
    }
    /// Adds the time that a recording and its compilation have taken.
    pub fn spend(&mut self, time: Duration) {
        if !core::mem::replace(&mut self.used, true) {
            self.spent = Duration::ZERO;
        }
        self.spent += time;
    }
    /// The factor of thresholds for a trace of this size, see `pressure`. It raises none further than to the count after which compiling
    /// pays by itself.
    pub fn pressure(&self, counted: Counted, size: Size, budget: u32) -> f64 {
        if budget == 0 {
            return 1.0;
        }
        let ran = self.clock.now().saturating_sub(self.begun + self.spent);
        let used_up = pressure(self.spent + cost::of_trace(size.instructions), ran, budget);
        counted.relative(size) * used_up.min(counted.most_pressure(size))
    }
    /// `jit.flush()`: the budget starts anew.
    pub fn renew(&mut self) {
        self.spent = Duration::ZERO;
    }
}

/// The factor of thresholds: [`cost::BACK_OFF`] for each time that compiling has used up the budget, a percentage of the running time. It
/// grows in steps, so that most traces are recorded at the same iteration in each run, whatever the clock says.
fn pressure(spent: Duration, ran: Duration, budget: u32) -> f64 {
    let shares = (spent.as_secs_f64() * 100.0 / (f64::from(budget) * ran.as_secs_f64().max(1e-6))).floor();
    cost::BACK_OFF.powf(shares)
}

impl Jit {
    /// The thresholds in force.
    pub(crate) fn thresholds(&self, vm: &Vm) -> Thresholds {
        let Options { params, set, .. } = self.settings.options.get();
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
    /// Has the program attached handlers to the compiler's events?
    fn is_listened_to(&self, vm: &Vm) -> bool {
        [Event::Trace, Event::Record, Event::Texit, Event::Watch]
            .into_iter()
            .any(|e| crate::view::events::handler(vm, e).is_some())
    }
    /// A threshold with back-off, after so many aborts, for a trace of this size, or for one of the usual size.
    pub(crate) fn threshold_now(
        &self,
        counted: Counted,
        threshold: u32,
        failures: u32,
        size: Option<Size>,
        literal: bool,
    ) -> u32 {
        if literal {
            // LuaJIT tries `tryside` times at one exit after the other, and never again. Here it is tried again, but much later.
            let more = failures.saturating_sub(self.settings.options.get().params.tryside.saturating_sub(1));
            return threshold.saturating_mul(1u32.checked_shl(4 * more).unwrap_or(u32::MAX));
        }
        let budget = self.settings.options.get().params.budget;
        let pressure = self.policy.borrow().pressure(counted, size.unwrap_or(Size::USUAL), budget);
        (f64::from(threshold) * f64::from(failures).exp2() * pressure) as u32
    }
    /// Is the start of a finished trace not hot enough for what compiling the trace costs? Then the trace is not compiled, and the next
    /// recording waits for the threshold that belongs to this cost.
    pub(crate) fn is_too_expensive(&self, vm: &Vm, origin: Origin, FinishedTrace { trace, path, .. }: &FinishedTrace) -> bool {
        self.costs_too_much(vm, (origin, trace.parent), Size::of(trace, path.branches()), true)
    }
    /// The same of a recording under way, at this size. What it still has to record is not worth the time then. Most of them would be
    /// aborted in the end, when a loop has been unrolled too often.
    pub(crate) fn grows_too_expensive(&self, vm: &Vm, origin: Origin, trace: &Trace, path: &Path) -> bool {
        // Not sooner than before the recording.
        let instructions = trace.ins.len() as u32;
        if instructions <= Size::USUAL.instructions || !path.len().is_multiple_of(GIVEN_UP_EVERY) {
            return false;
        }
        let size = Size::recorded(instructions, path.len() as u32, path.branches());
        self.costs_too_much(vm, (origin, trace.parent), size, false)
    }
    fn costs_too_much(&self, vm: &Vm, (origin, parent): (Origin, Option<TraceExit>), size: Size, is_finished: bool) -> bool {
        let thresholds = self.thresholds(vm);
        if thresholds.literal {
            return false;
        }
        let noted = if is_finished { size } else { size.given_up() };
        // The cost depends on the recorded path. A trace is compiled if it costs at most twice as much as the last one from there, whose
        // threshold was reached. So recordings that are thrown away cost at most a fourteenth of the compilation.
        let twice = |known: Size| known.is_whole && cost::of_trace(size.instructions) <= cost::of_trace(known.instructions) * 2;
        let is_expected = |known: Option<Size>| known.is_some_and(twice);
        // Of a loop, twice the size may pay sooner: a recording that is given up must not begin again at once.
        let threshold = |counted, hot, failures| {
            let of_size = |size| self.threshold_now(counted, hot, failures, Some(size), false);
            of_size(size).min(of_size(noted))
        };
        match (origin, parent) {
            (Origin::Root(pos), _) => {
                let mut protos = self.protos.borrow_mut();
                let penalty = protos.penalty(pos);
                let hot = if penalty == 0 { thresholds.hotloop.saturating_mul(2) } else { penalty };
                let threshold = threshold(Counted::Iterations, hot, 0);
                let record = protos.at(pos);
                let at_once = record.recorded_at_once && size.instructions <= Size::USUAL.instructions;
                let costs_too_much = record.hot_count < threshold && !at_once && !is_expected(record.size);
                if costs_too_much || is_finished {
                    record.size = Some(noted);
                }
                costs_too_much
            }
            (_, Some(parent)) => {
                let mut registry = self.registry.borrow_mut();
                let Some(x) = registry.exit_mut(parent) else { return false };
                let tries = x.tries.saturating_sub(1);
                let threshold = threshold(Counted::Exits, thresholds.hotexit, tries);
                if x.hot_count >= threshold || is_expected(x.size) {
                    return false;
                }
                (x.size, x.tries, x.too_expensive) = (Some(noted), tries, true);
                true
            }
            _ => false,
        }
    }
    /// The hot counter of a position underflowed after `counted` hot counts. Returns the hot counts that are still missing before a
    /// recording begins there.
    pub(crate) fn missing_hot_count(&self, pos: BcPos, counted: u32, hot: u32, literal: bool) -> u32 {
        let mut protos = self.protos.borrow_mut();
        let penalty = protos.penalty(pos);
        if literal && penalty == 0 {
            return 0;
        }
        let threshold = if penalty == 0 { hot } else { penalty };
        let record = protos.at(pos);
        record.hot_count = record.hot_count.saturating_add(counted);
        record.recorded_at_once = core::mem::take(&mut record.record_next);
        if record.recorded_at_once {
            return 0;
        }
        self.threshold_now(Counted::Iterations, threshold, 0, record.size, literal).saturating_sub(record.hot_count)
    }
    /// May unprofitable traces be disabled?
    pub(crate) fn may_disable(&self, vm: &Vm) -> bool {
        !self.thresholds(vm).literal
    }
}

#[cfg(test)]
mod tests {
    use super::cost::{self, Counted, Size};
    use super::{Policy, pressure};
    use perilune_recorder::ir::{IrRef, SlotIdx, Snapshot, Trace};
    use perilune_vm::object::BcAddr;
    use std::time::Duration;

    #[test]
    fn thresholds_grow_when_compiling_exceeds_its_budget() {
        let ms = Duration::from_millis;
        assert_eq!(pressure(ms(0), ms(1000), 5), 1.0);
        assert_eq!(pressure(ms(49), ms(1000), 5), 1.0);
        assert_eq!(pressure(ms(51), ms(1000), 5), 4.0);
        assert_eq!(pressure(ms(101), ms(1000), 5), 16.0);
        assert!(pressure(ms(1), ms(0), 5) > 1000.0, "a program that has not run yet");
        assert_eq!(Policy::default().pressure(Counted::Exits, Size::USUAL, 0), 1.0, "no limit");
    }

    #[test]
    fn thresholds_grow_no_further_than_compiling_pays() {
        let begun = Policy::default();
        let threshold = |counted, usual: u32, size| (f64::from(usual) * begun.pressure(counted, size, 1)) as u32;
        let [short, usual, long] = [15, Size::USUAL.instructions, 1_000]
            .map(|n| threshold(Counted::Iterations, cost::HOT_LOOP, Size::of_instructions(n)));
        assert!((6_500..7_500).contains(&usual), "{usual}");
        assert!(
            short > usual && long > usual,
            "{short}, {long}: a short trace has the cost of any, a long one has long snapshots"
        );
        let exits = threshold(Counted::Exits, cost::HOT_EXIT, Size::USUAL);
        assert!((5_500..6_000).contains(&exits), "{exits}: an exit costs more than its instructions");
        let long = threshold(Counted::Exits, cost::HOT_EXIT, Size::of_instructions(1_000));
        assert!(long > 50_000, "{long}: a long side trace is left before its end");
        let (rich, size) = (100_000_000, Size::of_instructions(1_000));
        assert_eq!(begun.pressure(Counted::Exits, Size::USUAL, rich), 1.0, "the budget is not used up");
        let waits = begun.pressure(Counted::Exits, size, rich);
        assert!((8.0..15.0).contains(&waits), "{waits}: a long one waits for longer all the same");
        assert_eq!(
            begun.pressure(Counted::Iterations, Size::of_instructions(100), rich),
            1.0,
            "a loop is as long as what it saves"
        );
    }
    #[test]
    fn a_side_trace_of_few_branches_is_expected_to_run_to_its_end() {
        let begun = Policy::default();
        let pays = |branches| begun.pressure(Counted::Exits, Size { branches, ..Size::of_instructions(1_000) }, 1);
        assert_eq!(pays(0), pays(10));
        assert!(pays(10) < pays(80) * 0.25 && pays(80) < pays(160) * 0.6, "{} {} {}", pays(10), pays(80), pays(160));
    }
    #[test]
    fn a_trace_that_stands_for_much_bytecode_pays_sooner() {
        let of = |done| {
            let (at, slot) = (IrRef::NONE, SlotIdx::BASE);
            let (base_slot, nslots, pc) = (slot, slot, BcAddr::new(0));
            let last = Snapshot { at, base_slot, nslots, pc, multres: 0, decides: false, done, fuel: 0, slots: Vec::new() };
            Size::of(&Trace { snaps: vec![last], ..Trace::default() }, 0)
        };
        assert_eq!(of(300).bytecodes, 300);
        assert_eq!(of(0).bytecodes, Size::of_instructions(of(0).instructions).bytecodes, "at least as much as usual");
        let begun = Policy::default();
        let pays = |bytecodes| {
            begun.pressure(Counted::Iterations, Size { instructions: 100, bytecodes, branches: 9, is_whole: true }, 1)
        };
        assert!(pays(200) < pays(100) * 0.6 && pays(100) < pays(59), "{} {} {}", pays(200), pays(100), pays(59));
    }
}
