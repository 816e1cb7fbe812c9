//! Where loops can be left for samples to be told of ([`perilune_vm::sample`]).

use super::{Rec, Recorder};
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};

impl Recorder {
    /// Before the instruction at `pc`: if it may end a loop, leaves the trace there if a sample waits, once in each trace. Whatever goes
    /// round by an exit can be left there anyway.
    pub(super) fn profile(&mut self, vm: &Vm, pc: *const Ins, ins: Ins) -> Rec<()> {
        let ends_loop = matches!(
            ins.op(),
            Bc::FORL | Bc::IFORL | Bc::ITERL | Bc::IITERL | Bc::LOOP | Bc::ILOOP | Bc::ITERN | Bc::CALLT | Bc::CALLMT
        );
        if ends_loop && vm.sampling.by_address() && self.b.newest(Op::PROF) == IrRef::NONE {
            self.snap(pc)?;
            self.b.emit_raw(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        }
        Ok(())
    }
}
