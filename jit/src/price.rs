//! Traces that cost more than their place is worth so far: refused until it is hotter, while they are recorded or when they are done.

use crate::Jit;
use crate::budget::{self, Demand};
use crate::frame;
use crate::recording::{Origin, Recording};
use perilune_recorder::ir::{Link, Trace};
use perilune_recorder::rec::FinishedTrace;
use perilune_vm::bc::Op;

/// Bytecode instructions after which the price of a recording is looked at again.
const EVERY: usize = 32;

impl Jit {
    /// Is a trace that costs so many units not worth its price yet? Then its place must become as hot as one of `ahead` must be.
    pub(crate) fn is_too_expensive(&self, origin: Origin, trace: &Trace, cost: u64, ahead: u64) -> bool {
        let params = self.options.get().params;
        let mut budget = self.budget.borrow_mut();
        let mut registry = self.registry.borrow_mut();
        let (pc, exit) = match (origin, trace.parent) {
            (Origin::Root(_, pc) | Origin::Stitch(_, pc), _) => (pc, None),
            (_, Some((parent, k))) => (core::ptr::null(), registry.get_mut(parent).and_then(|e| e.exits.get_mut(k as usize))),
            _ => return false,
        };
        let demand = exit.as_ref().map_or_else(|| budget.demand(pc), |x| x.demand);
        if !budget.is_too_expensive(demand, cost, &params) {
            return false;
        }
        let price = budget.price(ahead, &params);
        match exit {
            Some(x) => {
                x.demand = price;
                x.tries = x.tries.saturating_sub(1);
            }
            None => budget.set_demand(pc, price),
        }
        true
    }
    /// Is the finished trace one of a function that is left again before entering it has paid? It belongs into the traces of those who
    /// call the function: as one of its own it would lose at each call, and its exits would lead into the callers, one by one.
    pub(crate) fn returns_too_soon(&self, origin: Origin, done: &FinishedTrace, path: usize) -> bool {
        let params = self.options.get().params;
        let Origin::Root(_, pc) = origin else { return false };
        let soon = done.trace.link == Link::Return && budget::gain(0, path.min(usize::from(u16::MAX)) as u16) < 0;
        let function = matches!(frame::ins(pc).op(), Op::FUNCF | Op::FUNCV);
        if !soon || !function || !params.limits_compiling() {
            return false;
        }
        let mut budget = self.budget.borrow_mut();
        let demand = budget.demand(pc);
        let heat = demand.heat.max(budget.factor(&params)).saturating_mul(4);
        budget.set_demand(pc, Demand { heat, ..demand });
        true
    }
    /// Has the recording under way become so long that its trace will be refused? It is asked for the price of one twice as long,
    /// so that the next attempt gets further.
    pub(crate) fn grows_too_expensive(&self) -> bool {
        let recording = self.recording.borrow();
        let Some(Recording { recorder, origin, path, .. }) = recording.as_ref() else { return false };
        let trace = &recorder.b.trace;
        let cost = trace.ins.len() as u64;
        path.len().is_multiple_of(EVERY) && cost >= 2 * budget::LARGE && self.is_too_expensive(*origin, trace, cost, 2 * cost)
    }
}
