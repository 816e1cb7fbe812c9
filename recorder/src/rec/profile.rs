//! Where loops can be left for samples to be told of ([`perilune_vm::sample`]).

use super::{Rec, Recorder, view};
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};

/// A counted loop has no guard unless it is to execute so many instructions, some tenths of a second of them: it comes to its end soon
/// enough, for samples, which need not be told of at once, and for Ctrl-C, which comes the same way.
const MANY: f64 = 4e9;
/// What the shortest loop is taken for: so many instructions.
const SHORTEST: usize = 40;

impl Recorder {
    /// Before the instruction at `pc`: if a loop may end there that need not come to its end, leaves the trace if a sample waits.
    /// Whatever goes round by an exit can be left there anyway.
    pub(super) fn profile(&mut self, vm: &Vm, pc: *const Ins, ins: Ins) -> Rec<()> {
        let may_last = match ins.op() {
            Bc::FORL | Bc::IFORL => iterations_left(vm, ins) * self.b.trace.ins.len().max(SHORTEST) as f64 > MANY,
            // A table has no more pairs than memory.
            Bc::ITERL | Bc::IITERL => view::ins(view::at(pc, -1)).op() != Bc::ITERN,
            Bc::LOOP | Bc::ILOOP => true,
            _ => false,
        };
        if may_last { self.leave_for_samples(vm, pc) } else { Ok(()) }
    }
    /// Leaves the trace there if a sample waits; once in each trace. Like any other guard it goes back to the last snapshot, so that
    /// those behind it have the exits that they have otherwise.
    pub(super) fn leave_for_samples(&mut self, vm: &Vm, pc: *const Ins) -> Rec<()> {
        if vm.sampling.leaves_loops() && self.b.newest(Op::PROF) == IrRef::NONE {
            if self.needsnap {
                self.snap(pc)?;
            }
            self.b.emit_raw(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        }
        Ok(())
    }
}

/// How often the counted loop that `ins` closes goes round from here on.
fn iterations_left(vm: &Vm, ins: Ins) -> f64 {
    let number = |i: usize| view::slot(vm, (ins.a() + i) as isize).as_number().unwrap_or(f64::NAN);
    (number(1) - number(0)) / number(2)
}
