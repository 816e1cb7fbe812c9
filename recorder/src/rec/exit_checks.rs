//! Guards that check in a loop whether compiled code is to be left, for samples, interrupts and limits ([`Vm::is_exit_requested`]).

use super::iterations::for_constant;
use super::trace_db::TraceDb;
use super::{Rec, Recorder, view};
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::object::InsPtr;

/// So many instructions take some tenths of a second, for which samples and Ctrl-C can wait. Time limits and interrupts of the host cannot.
const MANY: f64 = 4e9;
/// So many instructions take about a millisecond, a tenth of the time within which a limit ends a program: loops that are never longer need no
/// guard.
const FEW: f64 = 1e6;
/// Shorter loops count as having so many instructions.
const SHORTEST: usize = 40;

impl Recorder {
    /// Called before the instruction at `pc`: at the end of a loop that may run for long, emits a guard that leaves on request.
    /// Loops that are left through exits in each iteration need none.
    pub(super) fn check_exits(&mut self, vm: &Vm, db: &dyn TraceDb, pc: InsPtr, ins: Ins) -> Rec<()> {
        // A side trace runs no loop: code that comes to it again and again comes through an exit each time. On request exits lead to the
        // interpreter; those that lead to a side trace within a tree do not, but the side trace itself is left at its end then.
        if !vm.must_check_in_loops() || !self.start.is_root {
            return Ok(());
        }
        // Other traces than this loop's own one link to the existing one, if the loop is compiled already.
        let is_compiled = matches!(ins.op(), Bc::JFORL | Bc::JITERL | Bc::JLOOP);
        let ins = if is_compiled { db.original_ins(ins) } else { ins };
        let may_last = match ins.op() {
            Bc::FORL | Bc::IFORL => !self.is_always_short(pc, ins),
            // The size of the table bounds a loop over it, for which samples and Ctrl-C can wait; limits cannot.
            Bc::ITERL | Bc::IITERL => vm.is_interruptible() || view::at(pc, -1).ins().op() != Bc::ITERN,
            Bc::LOOP | Bc::ILOOP => true,
            _ => false,
        };
        if !may_last {
            return Ok(());
        }
        // A counted loop that is short now, but need not be so the next time, is spared the guard in each iteration.
        let many = (MANY / self.b.trace.ins.len().max(SHORTEST) as f64) as u32;
        let is_short = matches!(ins.op(), Bc::FORL | Bc::IFORL) && iterations_left(vm, ins) <= f64::from(many);
        let patience = (is_short && !vm.is_interruptible()).then_some(many);
        // A guard in each iteration has a snapshot of its own: with that of an earlier guard, values that the iteration has replaced would
        // stay alive beside the new ones up to its end.
        self.snaps.needed |= patience.is_none() && self.b.newest(Op::PROF) == IrRef::NONE;
        self.leave_on_request(vm, pc)?;
        self.b.trace.patience = patience;
        Ok(())
    }
    /// Does the FORL at `pc` close a loop whose start, limit and step are constants of the function, with few iterations?
    fn is_always_short(&self, pc: InsPtr, ins: Ins) -> bool {
        let fori = view::at(view::target(pc, ins), -1);
        let constant = |i: usize, back: isize| for_constant(&self.proto, fori, back, ins.a() + i).map(f64::from);
        let (Some(start), Some(stop), Some(step)) = (constant(0, 3), constant(1, 2), constant(2, 1)) else { return false };
        (stop - start) / step * self.b.trace.ins.len().max(SHORTEST) as f64 <= FEW
    }
    /// Emits a guard that leaves on request, once in each trace. It leaves through the last snapshot like any other guard.
    pub(super) fn leave_on_request(&mut self, vm: &Vm, pc: InsPtr) -> Rec<()> {
        if vm.must_check_in_loops() && self.b.newest(Op::PROF) == IrRef::NONE {
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
