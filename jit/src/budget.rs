//! Compiling as an investment: what it costs against how long the program has run, and what a trace pays back.
//!
//! Nothing here reads a clock, so that a program makes the same traces each time. The unit is one instruction of IR through the
//! whole compiler, some microseconds. What the program has run is known from the hot counters and the exits.

use crate::params::Params;
use crate::places::{self, Places};
use core::ops::Range;
use perilune_recorder::ir::{Link, Op, SnapSlot, Snapshot, Trace};
use perilune_vm::bc::Ins;
use perilune_vm::state::HOT_COUNTERS;

/// Units that a program may spend before it has run at all.
const ALLOWANCE: u64 = 120;
/// Units that setting up the compiler costs, with the first trace: more than a program may spend that is over at once.
const SETUP: u64 = 200;
/// Bytecode instructions that a program must have run before its first trace, for what setting up costs to be a small part of that.
const WARM: u64 = 8_000_000;
/// Unless a place is hot by the factor [`FIRST`], and the loops around it promise that it will run so many more.
pub const PROMISE: u64 = 2_000_000;
const FIRST: u32 = 128;
/// What a tick stands for, in bytecode instructions, where thresholds are meant for: where it stands for more, less heat is wanted.
const USUAL: u64 = 10;
/// What stands for the ticks of a place whose turn has come.
const GRANTED: u32 = u32::MAX;
/// Instructions recorded and thrown away that cost as much as one compiled.
const RECORDED: u64 = 8;
/// What so many slots in snapshots, which exits store, cost in instructions.
const SLOTS: (u64, u64) = (3, 2);
/// What any recording and any compilation costs besides: the compiler, not used for a while, has to come into the caches.
const PER_RECORDING: u64 = 8;
const PER_TRACE: u64 = 130;
/// Ticks of the hot counters (two an iteration, one a call) that take as long as one unit.
const TICKS: u64 = 50;
/// An exit and the entry after it take as long as so many ticks.
const EXIT_TICKS: u64 = 4;
/// Bytecode instructions saved that pay for one unit.
const PAYS: f64 = 700.0;
/// How often a loop has gone round, as far as what it saved is concerned, that came to its second round.
pub const ROUNDS: i64 = 4;
/// A place must be this many times as hot as the parameters say before it gets a trace, when the budget is used up and all is paid
/// back; twice as hot for each budget that the program owes, which is what it spent so much more than compiled code has paid back.
const HEAT: f64 = 32.0;
/// Budgets that a program may earn before the bar falls no further.
const EARNING: f64 = -2.0;
/// Budgets that it may owe before the bar rises no further: whatever it owes, a place as hot as that may get a trace, since it has cost
/// more by then than its trace will, and nobody can say that it will not go on.
const HOPELESS: f64 = 4.0;
/// A trace of so many units wants twice as hot a place, and so on.
const UNITS: u32 = 400;
/// So much less is wanted of exits: one costs more than a tick, and those who take it have begun to pay.
const EXITS: u32 = 2;
/// In a tree with so many side traces an exit must be twice as hot to get another one, and so on: the usual paths have theirs, and what
/// is left is seldom taken.
const CROWD: f64 = 16.0;
/// Traces that cost less are made without looking at the price.
pub const LARGE: u64 = 300;
/// Bytecode instructions that a trace must save the interpreter before it has paid for entering and leaving it.
const ENTRY: i64 = 15;
/// The most that is kept of earlier gains.
pub const CREDIT: i64 = 20_000;
/// A root trace that has lost so many is retired.
const LOSS: i64 = -100_000;

/// What is asked of a place that wants a trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Demand {
    /// By what its threshold is multiplied, at least.
    pub heat: u32,
    /// A trace that costs so many units at most is then made.
    pub pays_for: u64,
}

impl Default for Demand {
    fn default() -> Demand {
        Demand { heat: 1, pays_for: 0 }
    }
}

/// What was spent on compiling, and what the program has run.
#[derive(Debug)]
pub struct Budget {
    /// Ticks that each hot counter will have counted when it runs out.
    set: [u16; HOT_COUNTERS],
    /// Ticks counted so far.
    ticks: u64,
    /// Bytecode instructions that they stand for.
    work: u64,
    /// Units spent.
    spent: u64,
    /// Bytecode instructions that compiled code saved the interpreter, as far as known, less what entering and leaving it cost.
    saved: i64,
    /// Root traces compiled.
    made: u32,
    /// Ticks of places whose turn has not come, although their counter ran out.
    waiting: Places<u32>,
    /// How often the traces of a place were retired.
    retired: Places<u32>,
    /// See [`Budget::demand`].
    demands: Places<Demand>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            set: [0; HOT_COUNTERS],
            ticks: 0,
            work: 0,
            spent: SETUP,
            saved: 0,
            made: 0,
            waiting: Places::new(),
            retired: Places::new(),
            demands: Places::new(),
        }
    }
}

impl Budget {
    /// Ticks and units so far, and bytecode instructions saved.
    pub fn totals(&self) -> (u64, u64, u64) {
        (self.ticks, self.spent, self.saved.max(0) as u64)
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
        let n = u32::from(self.set[counter]);
        self.ticks += u64::from(n);
        n
    }
    /// Compiled code was left; how many instructions it had saved.
    pub fn left(&mut self, saves: i64) {
        self.ticks += EXIT_TICKS;
        self.saved += saves;
    }
    /// A recording became machine code, or came to nothing.
    pub fn spend(&mut self, trace: Option<&Trace>, compiled: bool) {
        self.made += u32::from(compiled && trace.is_some_and(|t| t.parent.is_none()));
        self.spent += match trace {
            Some(t) if compiled => cost(t),
            _ => PER_RECORDING + trace.map_or(0, recorded) / RECORDED,
        };
    }
    /// By what the thresholds are to be multiplied now: the more was spent that has not been paid back, the hotter a place must be.
    pub fn factor(&self, params: &Params) -> u32 {
        if !params.limits_compiling() {
            return 1;
        }
        self.factor_with(0, params)
    }
    /// The same for an exit, or a place behind a call, of which something is asked, in a tree with so many side traces.
    pub fn exit_factor(&self, demand: Demand, sides: u32, params: &Params) -> u32 {
        let factor = (self.factor(params).max(demand.heat) / EXITS).max(1);
        let crowd = (f64::from(sides) / CROWD).exp2() as u32;
        if params.limits_compiling() { factor.saturating_mul(crowd) } else { factor }
    }
    /// The factor when so many units more were spent.
    fn factor_with(&self, more: u64, params: &Params) -> u32 {
        let may = ALLOWANCE + self.ticks * u64::from(params.budget) / (100 * TICKS);
        let spent = self.spent + more;
        if spent < may {
            return 1;
        }
        let owed = spent as f64 - self.saved as f64 / PAYS;
        let heat = HEAT * (owed / may as f64).clamp(EARNING, HOPELESS).exp2();
        (heat as u32).saturating_mul(1 + more as u32 / UNITS)
    }
    /// Is a trace of so many units too expensive for how hot its place is? It is when the place would have to be hotter once the
    /// trace is paid for, unless it has waited for a trace of that price.
    pub fn is_too_expensive(&self, demand: Demand, cost: u64, params: &Params) -> bool {
        params.limits_compiling()
            && cost >= LARGE
            && cost > demand.pays_for
            && demand.heat.max(self.factor(params)) < self.factor_with(cost, params)
    }
    /// What is asked of the place of a trace that costs so much.
    pub fn price(&self, cost: u64, params: &Params) -> Demand {
        Demand { heat: self.factor_with(cost, params), pays_for: cost }
    }
    /// What is asked of a place because a trace of it was too expensive.
    pub fn demand(&self, pc: *const Ins) -> Demand {
        self.demands.get(&pc).copied().unwrap_or_default()
    }
    /// Sets that.
    pub fn set_demand(&mut self, pc: *const Ins, demand: Demand) {
        self.demands.insert(pc, demand);
    }
    /// The counter at `pc` ran out, having counted `n` ticks of `weight` bytecode instructions each. How far it is to count before it
    /// is the place's turn. `promised` tells how many more the loops around it will run ([`crate::trip_count`]).
    pub fn wait(&mut self, pc: *const Ins, n: u32, weight: u64, promised: impl FnOnce() -> u64, params: &Params) -> Option<u32> {
        self.work += u64::from(n) * weight;
        let cold = params.limits_compiling() && self.made == 0 && self.work < WARM;
        let factor = if cold { FIRST } else { self.factor(params) };
        let retired = self.retired.get(&pc).map_or(0, |n| (*n).min(10));
        let demand = self.demand(pc).heat;
        if factor == 1 && retired == 0 && demand == 1 {
            return None;
        }
        // Twice as hot as the last time that it was retired.
        let again = if retired == 0 { 1 } else { 16 << retired };
        let hot = params.hotloop.saturating_mul(2);
        let wanted = u64::from(hot.saturating_mul(factor.max(again).max(demand)));
        let wanted = ((wanted * USUAL / weight.max(USUAL)) as u32).max(hot);
        let waited = self.waiting.get(&pc).map_or(0, |n| *n).saturating_add(n);
        let left = wanted.saturating_sub(waited);
        if left == 0 && (!cold || waited == GRANTED || promised() >= PROMISE) {
            self.waiting.remove(&pc);
            return None;
        }
        self.waiting.insert(pc, waited);
        Some(if left == 0 { hot } else { left })
    }
    /// It was the turn of `pc`, and it is still.
    pub fn grant(&mut self, pc: *const Ins) {
        self.waiting.insert(pc, GRANTED);
    }
    /// The trace that starts at `pc` was retired.
    pub fn retire(&mut self, pc: *const Ins) {
        *self.retired.entry(pc).or_default() += 1;
        self.waiting.remove(&pc);
    }
    /// Forgets the places in a function.
    pub fn forget(&mut self, code: &Range<*const Ins>) {
        places::forget(&mut self.waiting, code);
        places::forget(&mut self.retired, code);
        places::forget(&mut self.demands, code);
    }
    /// A new start, by the program's own wish.
    pub fn renew(&mut self) {
        self.waiting.clear();
        self.retired.clear();
        self.demands.clear();
        self.spent = 0;
    }
}

/// Units that compiling a trace costs.
pub fn cost(t: &Trace) -> u64 {
    PER_TRACE + (t.ins.len() - for_samples(t)) as u64 + slots(t) * SLOTS.1 / SLOTS.0
}

/// Instructions that are there for samples, which are not paid for: a program that is sampled gets the same traces.
fn for_samples(t: &Trace) -> usize {
    t.ins.iter().filter(|i| i.op == Op::PROF).count()
}

/// The snapshots without those that are there for such an instruction alone: the next one would stand in their place, if recording
/// came to it.
fn snaps(t: &Trace) -> impl Iterator<Item = &Snapshot> {
    t.snaps
        .iter()
        .enumerate()
        .filter(|(k, _)| !t.is_for_samples(*k) || t.link == Link::None && k + 1 == t.snaps.len())
        .map(|(_, s)| s)
}

/// What was recorded of a trace: instructions, and slots of snapshots.
fn recorded(t: &Trace) -> u64 {
    (t.ins.len() - for_samples(t) + snaps(t).map(|s| s.slots.len()).sum::<usize>()) as u64
}

/// Slots that the exits of a trace store, all together: constants are left out.
pub fn slots(t: &Trace) -> u64 {
    snaps(t).flat_map(|s| &s.slots).filter(|s| s.flags & SnapSlot::NORESTORE == 0 && !s.value.is_const()).count() as u64
}

/// How many bytecode instructions the interpreter was saved when a trace is left, less what entering and leaving cost: `above` by
/// the traces before, `done` by this one.
pub fn gain(above: u32, done: u16) -> i64 {
    i64::from(above) + i64::from(done) - ENTRY
}

/// Has a trace lost so much that it is better not entered?
pub fn does_not_pay(balance: i64) -> bool {
    balance < LOSS
}

#[cfg(test)]
mod tests {
    use super::{ALLOWANCE, Budget, PAYS};
    use crate::params::Params;

    #[test]
    fn what_pays_lowers_the_bar_and_what_does_not_raises_it() {
        let params = Params::default();
        let after = |spent: u64, saved: f64| {
            let mut budget = Budget { spent, ..Budget::default() };
            budget.left((saved * PAYS) as i64);
            budget.factor(&params)
        };
        assert_eq!(after(ALLOWANCE - 1, 0.0), 1);
        let budgets = ALLOWANCE as f64;
        let (little, much) = (after(ALLOWANCE, 0.0), after(3 * ALLOWANCE, 0.0));
        assert!(1 < little && little < much, "{little} {much}");
        assert!(after(3 * ALLOWANCE, 3.0 * budgets) < little);
        assert!(after(3 * ALLOWANCE, 9.0 * budgets) > 1);
        assert!(after(3 * ALLOWANCE, -budgets) > much);
    }
    #[test]
    fn another_exit_of_a_tree_with_many_side_traces_must_be_hotter() {
        let params = Params::default();
        let budget = Budget { spent: 3 * ALLOWANCE, ..Budget::default() };
        let wanted = |sides: f64| budget.exit_factor(super::Demand::default(), sides as u32, &params);
        assert_eq!((wanted(super::CROWD - 1.0), wanted(super::CROWD)), (wanted(0.0), 2 * wanted(0.0)));
    }
    #[test]
    fn a_place_gets_the_trace_that_it_waited_for() {
        let params = Params::default();
        let mut budget = Budget { spent: 2 * ALLOWANCE, ..Budget::default() };
        let price = budget.price(1000, &params);
        assert!(budget.is_too_expensive(super::Demand::default(), 1000, &params));
        budget.spent *= 10;
        assert!(!budget.is_too_expensive(price, 1000, &params));
        assert!(budget.is_too_expensive(super::Demand { heat: 2, ..price }, 1001, &params));
    }
}
