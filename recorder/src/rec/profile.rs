//! Places where a sample may be taken ([`perilune_vm::sample`]).

use super::{Rec, Recorder, view};
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::sample::Grain;

impl Recorder {
    /// Before the instruction at `pc`: leaves the trace there if a sample waits, where samples are taken.
    pub(super) fn profile(&mut self, vm: &Vm, pc: *const Ins, ins: Ins) -> Rec<()> {
        let due = match vm.sampling.grain() {
            None => false,
            Some(Grain::Function) => self.leaves_function(vm, ins),
            Some(Grain::Line) => {
                let line = self.proto.pc_of(pc).map_or(0, |at| self.proto.line(at));
                let place = Some((self.proto, line));
                core::mem::replace(&mut self.sampled, place) != place
            }
        };
        if due {
            self.snap(pc)?;
            self.b.emit_raw(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        }
        Ok(())
    }
    /// Does the instruction go on in another function, so that what has run so far is this one's? Or does a loop end in which there
    /// was no such instruction?
    fn leaves_function(&self, vm: &Vm, ins: Ins) -> bool {
        match ins.op() {
            Bc::CALL | Bc::CALLM | Bc::CALLT | Bc::CALLMT => {
                view::slot(vm, ins.a() as isize).as_func().is_none_or(|f| f.proto().is_some())
            }
            Bc::RET | Bc::RET0 | Bc::RET1 | Bc::RETM => true,
            Bc::FORL | Bc::IFORL | Bc::ITERL | Bc::IITERL | Bc::LOOP | Bc::ILOOP | Bc::ITERN => {
                self.b.newest(Op::PROF) == IrRef::NONE
            }
            _ => false,
        }
    }
}
