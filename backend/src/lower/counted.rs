//! Counted loops: loops whose counter moves by the same step each time.

use perilune_recorder::ir::{Const, Effect, Ins, IrRef, Op, Trace, Ty};

/// A loop whose counter is an integer that moves by the same step each time, up to an end that stays the same.
pub(super) struct Counted {
    /// Index of the PROF in the loop.
    pub prof: usize,
    /// Index of the test of the counter.
    pub test: usize,
    /// The counter in front of the loop.
    pub first: IrRef,
    pub step: IrRef,
    pub stop: IrRef,
    pub up: bool,
}

/// The loop of a trace whose LOOP is at `head`, if it is counted and has a PROF, and its last comparison tests the counter.
pub(super) fn counted(trace: &Trace, head: usize) -> Option<Counted> {
    let mut body = trace.ins.iter().enumerate().skip(head);
    let prof = body.clone().find(|(_, i)| i.op == Op::PROF)?.0;
    let (guard, test) = body.rfind(|(_, i)| i.op.is_comparison())?;
    let is_fixed = |r: IrRef| r.is_const() || r.ins_index() < head && !trace.ins.iter().any(|i| i.op == Op::PHI && i.a == r);
    let next = trace.def(test.a)?;
    let phi = trace.ins.iter().find(|i| i.op == Op::PHI && i.a == next.a && i.b == test.a)?;
    let counts = matches!(next.op, Op::ADD | Op::ADDOV) && is_fixed(next.b) && is_fixed(test.b);
    let compares = matches!(test.op, Op::LE | Op::GE) && test.ty == Ty::Int;
    let loop_ = Counted { prof, test: guard, first: phi.a, step: next.b, stop: test.b, up: test.op == Op::LE };
    (counts && compares).then_some(loop_)
}

/// Does the counter move on in each iteration? It does not if the step is 0, or if a constant step leads away from the end.
pub(super) fn moves(trace: &Trace, head: usize, counted: &Counted) -> bool {
    let int = |r: IrRef| match trace.konst(r) {
        Some(Const::Int(k)) => Some(k),
        _ => None,
    };
    if let Some(step) = int(counted.step) {
        return if counted.up { step > 0 } else { step < 0 };
    }
    let forward = if counted.up { Op::GT } else { Op::LT };
    trace.ins[..head].iter().any(|i| i.is_guard() && i.op == forward && i.a == counted.step && int(i.b) == Some(0))
}

/// Does nothing come between the PROF of a counted loop and the test of its counter but what computes that?
pub(super) fn asks_at_its_end(trace: &Trace, counted: &Counted) -> bool {
    let only_counts = |i: &Ins| i.op.effect() == Effect::Pure && i.ty == Ty::Int || i.op == Op::USE;
    counted.prof < counted.test && trace.ins[counted.prof + 1..counted.test].iter().all(only_counts)
}
