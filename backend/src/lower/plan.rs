//! Liveness: which instructions are emitted on the hot path, which only in exits, and which are dead.
//!
//! A pure instruction whose value is used only by a few snapshots is *cold*: it is emitted inside the exits that use it, not on
//! the hot path. Its operands then live up to those exits.

use perilune_recorder::ir::{Const, Effect, Ins, IrRef, Mode, Op, Trace, Ty};
use perilune_recorder::opt::overflow;

/// How an instruction is emitted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Not at all.
    Dead,
    /// In each exit that uses it.
    Cold,
    /// At its position in the trace.
    Hot,
}

/// An instruction needed by more snapshot slots than this is emitted once, on the hot path: copies cost compile time.
const MAX_COLD_USES: u16 = 4;

/// The plan of a trace.
pub(super) struct Plan {
    /// One entry per instruction.
    pub class: Vec<Class>,
    uses: Vec<u16>,
    /// Index of the LOOP instruction.
    pub loop_at: Option<usize>,
    /// By instruction: a sum of ints that is computed in 64 bits, see [`overflow`].
    pub wide: Vec<bool>,
    /// By instruction: a remainder that is compared with 0 only.
    pub compared_with_zero: Vec<bool>,
}

impl Plan {
    pub(super) fn new(trace: &Trace) -> Plan {
        let n = trace.ins.len();
        let loop_at = trace.ins.iter().position(|i| i.op == Op::LOOP);
        let mut plan = Plan {
            class: vec![Class::Dead; n],
            uses: vec![0; n],
            loop_at,
            wide: overflow::wide(trace),
            compared_with_zero: compared_with_zero(trace),
        };
        plan.count_snapshots(trace);
        for i in (0..n).rev() {
            plan.classify(trace, i);
        }
        plan
    }

    /// Counts uses by snapshots. In front of a loop, an instruction that an exit of the loop uses is hot: inside the loop, its operands may
    /// stand for the loop-carried values.
    fn count_snapshots(&mut self, trace: &Trace) {
        for k in trace.snap_ids() {
            let snap = trace.snap(k);
            let next = trace.snaps.get(k.next().index()).map_or(usize::MAX, |s| s.at.ins_index());
            let here = snap.at.ins_index()..next.min(trace.ins.len());
            let stored = trace.ins[here].iter().any(|i| i.op.stores_state());
            for slot in snap.restored() {
                self.used_by_exit(trace, slot.value, next, stored);
            }
            for r in trace.sunk(k) {
                for r in trace.ins[r.ins_index()].operands() {
                    self.used_by_exit(trace, r, next, stored);
                }
            }
        }
    }
    /// Counts a use of a value by an exit of guards before `next`. `stored` says that an instruction there stores the slots as well. Sunk
    /// instructions are emitted in the exit itself.
    fn used_by_exit(&mut self, trace: &Trace, r: IrRef, next: usize, stored: bool) {
        if r.is_const() || trace.ins[r.ins_index()].is_sunk() {
            return;
        }
        let i = r.ins_index();
        self.uses[i] = self.uses[i].saturating_add(1);
        if stored || self.loop_at.is_some_and(|l| i < l && next > l) {
            self.class[i] = Class::Hot;
        }
    }

    fn classify(&mut self, trace: &Trace, i: usize) {
        let ins = trace.ins[i];
        if ins.is_sunk() {
            return;
        }
        if ins.is_guard() || ins.op.effect() == Effect::Store {
            self.class[i] = Class::Hot;
        } else if self.class[i] == Class::Dead && self.uses[i] > 0 {
            let cold = sinkable(trace, ins) && self.uses[i] <= MAX_COLD_USES;
            self.class[i] = if cold { Class::Cold } else { Class::Hot };
        }
        for (mode, r) in [(ins.op.mode_a(), ins.a), (ins.op.mode_b(), ins.b)] {
            if mode != Mode::Ref || r.is_const() {
                continue;
            }
            let o = r.ins_index();
            match self.class[i] {
                Class::Dead => {}
                Class::Hot => self.class[o] = Class::Hot,
                // A cold instruction of the loop needs its operand from in front of the loop in every iteration.
                Class::Cold if self.loop_at.is_some_and(|l| o < l && i > l) => self.class[o] = Class::Hot,
                Class::Cold => self.uses[o] = self.uses[o].saturating_add(self.uses[i]),
            }
        }
    }
}

/// By instruction: is it a MOD of ints that is compared with 0 and nothing else, so that its sign does not matter?
fn compared_with_zero(trace: &Trace) -> Vec<bool> {
    let is_zero = |r: IrRef| matches!(trace.konst(r), Some(Const::Int(0)));
    let mut only: Vec<bool> = trace.ins.iter().map(|ins| ins.op == Op::MOD && ins.ty == Ty::Int && !ins.b.is_const()).collect();
    for ins in &trace.ins {
        let compares = matches!(ins.op, Op::EQ | Op::NE) && ins.operands().count() == 1 && (is_zero(ins.a) || is_zero(ins.b));
        for r in ins.operands().filter(|_| !compares) {
            only[r.ins_index()] = false;
        }
    }
    for r in trace.snaps.iter().flat_map(|snap| &snap.slots).map(|s| s.value).filter(|r| !r.is_const()) {
        only[r.ins_index()] = false;
    }
    only
}

/// May the instruction be delayed to an exit? All that it reads must be values or immutable memory.
fn sinkable(trace: &Trace, ins: Ins) -> bool {
    match ins.op {
        Op::SNEW => !ins.a.is_const() && trace.ins[ins.a.ins_index()].op == Op::STRREF,
        // What exits alone need has been sunk.
        Op::BASE | Op::CNEWI => false,
        op => op.effect() == Effect::Pure,
    }
}
