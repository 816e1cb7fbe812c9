//! Guards that let samples and Ctrl-C interrupt a loop ([`perilune_vm::sample`]).

use super::trace_db::TraceDb;
use super::{Rec, Recorder, view};
use crate::ir::{Const, IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::InsPtr;

/// A counted loop gets a guard only if it will execute more instructions than this, which takes some tenths of a second. Samples and Ctrl-C
/// can wait for the end of shorter loops; time limits and interrupts of the host cannot.
const MANY: f64 = 4e9;
/// So many instructions take about a millisecond, a tenth of the time within which a limit ends a program: loops that are never longer need no
/// guard.
const FEW: f64 = 1e6;
/// Shorter loops count as having so many instructions.
const SHORTEST: usize = 40;

impl Recorder {
    /// Called before the instruction at `pc`: at the end of a loop that may run for long, emits a guard that leaves when a sample waits.
    /// Loops that are left through exits in each iteration need none.
    pub(super) fn profile(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<()> {
        if !vm.sampling.leaves_loops() {
            return Ok(());
        }
        // A limit holds however long the loop is when the trace runs: its length now says nothing then.
        let any = vm.is_interruptible();
        // At the start of a loop that is compiled already, only this loop's own trace becomes a loop; other traces link to the existing
        // one.
        let is_compiled = matches!(ins.op(), Bc::JFORL | Bc::JITERL | Bc::JLOOP);
        let ins = if is_compiled && self.start.is_root { db.original_ins(ins) } else { ins };
        let may_last = match ins.op() {
            Bc::FORL | Bc::IFORL if any => !self.is_always_short(pc, ins),
            Bc::ITERL | Bc::IITERL | Bc::LOOP | Bc::ILOOP if any => true,
            Bc::FORL | Bc::IFORL => self.is_long(iterations_left(vm, ins)),
            // The size of the table bounds a loop over it.
            Bc::ITERL | Bc::IITERL => view::at(pc, -1).ins().op() != Bc::ITERN,
            Bc::LOOP | Bc::ILOOP => self.rounds_left(vm).is_none_or(|n| self.is_long(n)),
            _ => false,
        };
        if may_last { self.leave_for_samples(vm, pc) } else { Ok(()) }
    }
    /// Does the FORL at `pc` close a loop whose start, limit and step are constants of the function, with few iterations?
    fn is_always_short(&self, pc: InsPtr, ins: Ins) -> bool {
        let fori = view::at(view::target(pc, ins), -1);
        let constant = |i: usize, back: isize| self.for_constant(fori, back, ins.a() + i).map(f64::from);
        let (Some(start), Some(stop), Some(step)) = (constant(0, 3), constant(1, 2), constant(2, 1)) else { return false };
        (stop - start) / step * self.b.trace.ins.len().max(SHORTEST) as f64 <= FEW
    }
    /// Do so many iterations of the recorded code take long?
    fn is_long(&self, iterations: f64) -> bool {
        iterations * self.b.trace.ins.len().max(SHORTEST) as f64 > MANY
    }
    /// Number of remaining iterations, for a loop that ends when a local passes another value and that adds a constant to the local in each
    /// iteration: estimated from the condition that was just recorded.
    fn rounds_left(&self, vm: &Vm) -> Option<f64> {
        let condition = self.b.trace.ins.iter().rev().find(|i| i.is_guard() && i.op.is_comparison())?;
        let (a, b) = (self.number_now(vm, condition.a)?, self.number_now(vm, condition.b)?);
        let approach = match condition.op {
            Op::LT | Op::LE => self.step(condition.a) - self.step(condition.b),
            Op::GT | Op::GE => self.step(condition.b) - self.step(condition.a),
            _ => return None,
        };
        (approach > 0.0).then(|| (a - b).abs() / approach)
    }
    /// The local of the running function that holds a value.
    fn local_of(&self, r: IrRef) -> Option<usize> {
        (0..self.proto.framesize() as usize).find(|&i| self.slots.get(self.base + i) == Some(r))
    }
    /// The current value of a reference, if it is a constant or in a local.
    fn number_now(&self, vm: &Vm, r: IrRef) -> Option<f64> {
        if r.is_const() { self.known(r) } else { view::slot(vm, self.local_of(r)? as isize).as_number() }
    }
    fn known(&self, r: IrRef) -> Option<f64> {
        match self.b.trace.konst(r)? {
            Const::Int(k) => Some(f64::from(k)),
            Const::Num(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    /// The constant that an iteration adds to a local; 0 if there is none.
    fn step(&self, r: IrRef) -> f64 {
        let step = || {
            let sum = self.b.trace.def(r)?;
            let k = self.known(sum.b)?;
            let before = self.b.trace.def(sum.a).filter(|i| i.op == Op::SLOAD)?;
            if before.a.slot() != self.base + self.local_of(r)? {
                return None;
            }
            match sum.op {
                Op::ADD | Op::ADDOV => Some(k),
                Op::SUB | Op::SUBOV => Some(-k),
                _ => None,
            }
        };
        step().unwrap_or(0.0)
    }
    /// Emits a guard that leaves when a sample waits, once in each trace. It leaves through the last snapshot like any other guard, so
    /// that later guards have the same exits as without it.
    pub(super) fn leave_for_samples(&mut self, vm: &Vm, pc: InsPtr) -> Rec<()> {
        if vm.sampling.leaves_loops() && self.b.newest(Op::PROF) == IrRef::NONE {
            if self.snaps.needed {
                self.snap(pc)?;
            }
            self.b.emit_raw(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        }
        Ok(())
    }
}

/// Number of remaining iterations of the counted loop that `ins` closes.
fn iterations_left(vm: &Vm, ins: Ins) -> f64 {
    let number = |i: usize| view::slot(vm, (ins.a() + i) as isize).as_number().unwrap_or(f64::NAN);
    (number(1) - number(0)) / number(2)
}
