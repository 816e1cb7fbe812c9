//! Traces that cost more than their place is worth so far: refused until it is hotter, while they are recorded or when they are done.

use crate::Jit;
use crate::budget;
use crate::recording::{Origin, Recording};
use perilune_recorder::ir::Trace;

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
        let heat = exit.as_ref().map_or_else(|| budget.demand(pc), |x| x.demand);
        let Some(least) = budget.is_too_expensive(heat, cost, &params) else { return false };
        let wanted = budget.is_too_expensive(heat, ahead, &params).unwrap_or(least);
        match exit {
            Some(x) => {
                x.demand = wanted;
                x.tries = x.tries.saturating_sub(1);
            }
            None => budget.set_demand(pc, wanted),
        }
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
