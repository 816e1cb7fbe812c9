//! What a trace executes is counted, and taken from the fuel in advance ([`crate::ir::Trace::fuel_back`]).

use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::object::InsPtr;

/// The count.
#[derive(Debug)]
pub(super) struct Fuel {
    /// Are instructions counted?
    counts: bool,
    /// Instructions executed before the current one, headers of builtins included.
    pub(super) executed: u32,
    /// The instruction being recorded; none between two.
    pub(super) current: Option<InsPtr>,
    /// Must a FUEL follow the next snapshot?
    pub(super) is_due: bool,
}

impl Fuel {
    pub(super) fn new(vm: &Vm) -> Fuel {
        let counts = vm.counts_fuel();
        Fuel { counts, executed: 0, current: None, is_due: counts }
    }
}

impl Recorder {
    /// The count when the interpreter resumes at `pc`: with the current instruction, unless that is executed again.
    pub(super) fn fuel_at(&self, pc: InsPtr) -> u32 {
        let again = self.fuel.current.is_none_or(|current| current == pc);
        self.fuel.executed + u32::from(!again)
    }
    /// The guard that comes next decides a branch. Its exit resumes after the current instruction, also where that is a loop without a body,
    /// which branches to itself.
    pub(super) fn decide(&mut self) {
        self.b.decide();
        self.decided_after(1);
    }
    /// The exit of the newest snapshot resumes when so many instructions more than up to now have been executed.
    pub(super) fn decided_after(&mut self, instructions: u32) {
        if let Some(snap) = self.b.trace.snaps.last_mut() {
            snap.fuel = self.fuel.executed + instructions;
        }
    }
    /// Takes the fuel of the instructions from here on, if that is due. A snapshot has just been taken.
    pub(super) fn take_fuel(&mut self) -> Rec<()> {
        if core::mem::take(&mut self.fuel.is_due) {
            let count = self.literal()?;
            self.b.emit_raw(Op::FUEL, Ty::Nil, count, count)?;
        }
        Ok(())
    }
    /// The instructions whose fuel was taken end here: at the first one after a builtin that was called, or at the end of the trace.
    pub(super) fn end_fuel(&mut self) -> Rec<()> {
        let newest = self.b.newest(Op::FUEL);
        if newest != IrRef::NONE {
            self.b.trace.ins[newest.ins_index()].b = self.literal()?;
        }
        Ok(())
    }
    /// A builtin was called. It sees, and takes, fuel of its own: its caller's is settled.
    pub(super) fn fuel_after_native(&mut self) -> Rec<()> {
        self.fuel.is_due = self.fuel.counts;
        self.end_fuel()
    }
    fn literal(&self) -> Rec<IrRef> {
        u16::try_from(self.fuel.executed).map(IrRef).map_err(|_| Abort::TooLong)
    }
}
