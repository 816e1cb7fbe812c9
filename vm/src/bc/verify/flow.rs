//! The contents of slots: a data-flow analysis over all paths.

use super::effect::{Slots, captured, effect};
use super::regions::Regions;
use super::{Check, Code, ensure, jumps, transfers};
use crate::bc::{Ins, Op};

/// The facts that hold before an instruction.
#[derive(Copy, Clone, PartialEq, Eq)]
struct State {
    /// Slots that hold a value on all paths.
    assigned: Slots,
    /// Slots that hold a table made by a constructor on all paths.
    tables: Slots,
    /// Slots that a closure may refer to.
    open: Slots,
    /// The first slot of the values of which the instruction before left an unknown number.
    values: Option<u8>,
}

impl State {
    /// The facts that hold where two paths meet.
    fn meet(self, o: State) -> Check<State> {
        ensure(self.values == o.values)?;
        Ok(State {
            assigned: self.assigned.and(o.assigned),
            tables: self.tables.and(o.tables),
            open: self.open.or(o.open),
            values: self.values,
        })
    }
    /// Notes stores to slots.
    fn store(&mut self, slots: Slots) {
        self.assigned = self.assigned.or(slots);
        self.tables = self.tables.minus(slots);
    }
}

/// Targets of jumps, with the facts that hold there.
struct Flow<'a> {
    code: Code<'a>,
    regions: &'a Regions,
    /// Is an instruction the target of a jump?
    is_target: Vec<bool>,
    states: std::collections::HashMap<usize, State>,
    work: Vec<usize>,
}

/// Analyses a function.
pub(super) fn check(code: Code, regions: &Regions) -> Check {
    let n = code.p.bc.len();
    let mut is_target = vec![false; n];
    for pc in 1..n {
        let ins = code.ins(pc)?;
        if jumps(ins.op()) && ins.op() != Op::LOOP {
            is_target[code.target(pc, ins)?] = true;
        }
    }
    let mut flow = Flow { code, regions, is_target, states: std::collections::HashMap::new(), work: Vec::new() };
    let start = State {
        assigned: Slots::range(0, usize::from(code.p.num_params)),
        tables: Slots::default(),
        open: Slots::default(),
        values: None,
    };
    flow.run(1, start)?;
    while let Some(pc) = flow.work.pop() {
        let state = flow.states[&pc];
        flow.run(pc, state)?;
    }
    Ok(())
}

impl Flow<'_> {
    /// Follows the code from an instruction up to the next target of a jump.
    fn run(&mut self, start: usize, state: State) -> Check {
        let (mut pc, mut state) = (start, state);
        loop {
            if self.is_target[pc] && (pc != start || !self.states.contains_key(&pc)) {
                return self.arrive(pc, state);
            }
            let ins = self.code.ins(pc)?;
            let op = ins.op();
            let taken = self.step(ins, &mut state)?;
            // A comparison is followed by its jump.
            let from = if op <= Op::ISF { pc + 1 } else { pc };
            if (jumps(op) && op != Op::LOOP) || op <= Op::ISF {
                let to = self.code.target(from, self.code.ins(from)?)?;
                self.go(from, to, taken)?;
            }
            if transfers(op) {
                return Ok(());
            }
            let next = from + 1;
            state.assigned = state.assigned.minus(self.regions.left_behind(from, next)?);
            ensure(next < self.code.p.bc.len())?;
            pc = next;
        }
    }
    /// Follows a jump.
    fn go(&mut self, from: usize, to: usize, state: State) -> Check {
        let lost = self.regions.left_behind(from, to)?;
        self.arrive(to, State { assigned: state.assigned.minus(lost), ..state })
    }
    /// Reaches the target of a jump.
    fn arrive(&mut self, pc: usize, state: State) -> Check {
        let met = match self.states.get(&pc) {
            Some(old) => old.meet(state)?,
            None => state,
        };
        if self.states.insert(pc, met) != Some(met) {
            self.work.push(pc);
        }
        Ok(())
    }
    /// One instruction: changes the state to the one after it, and returns the state at the target of its jump.
    fn step(&self, ins: Ins, state: &mut State) -> Check<State> {
        let p = self.code.p;
        let e = effect(p, ins)?;
        let op = ins.op();
        ensure(e.reads.within(state.assigned))?;
        ensure(state.values == e.takes || op == Op::UCLO)?;
        // The slots that a call uses from here on, or that a return reuses, must not be captured by a closure.
        ensure(!e.kills.meets(state.open))?;
        if matches!(op, Op::RET | Op::RET0 | Op::RET1 | Op::RETM | Op::CALLT | Op::CALLMT) {
            ensure(state.open.is_empty())?;
        }
        match op {
            Op::TSETM => ensure(e.reads.within(state.tables))?,
            Op::FORI => ensure(!state.open.meets(Slots::range(ins.a(), ins.a() + 3)))?,
            Op::ISNEXT => ensure(!state.open.meets(Slots::range(ins.a() - 3, ins.a())))?,
            Op::FNEW => state.open = state.open.or(captured(p, ins)),
            Op::UCLO => state.open = state.open.minus(Slots::from(ins.a())),
            _ => {}
        }
        if op != Op::UCLO {
            state.values = e.gives;
        }
        state.assigned = state.assigned.minus(e.kills);
        state.tables = state.tables.minus(e.kills);
        let mut taken = *state;
        if e.if_taken {
            taken.store(e.writes);
            // Whether or not it stored, the old contents may be gone.
            state.tables = state.tables.minus(e.writes);
        } else if op == Op::FORI {
            // If the loop is not entered, its variable is out of scope.
            taken.tables = taken.tables.minus(e.writes);
            state.store(e.writes);
        } else {
            state.store(e.writes);
            taken = *state;
        }
        if matches!(op, Op::TNEW | Op::TDUP) {
            state.tables = state.tables.or(e.writes);
        }
        Ok(taken)
    }
}
