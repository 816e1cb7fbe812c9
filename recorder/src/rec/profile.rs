//! Places where a sample may be taken ([`perilune_vm::sample`]).

use super::{Rec, Recorder};
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::Ins;
use perilune_vm::sample::Grain;

impl Recorder {
    /// Before the instruction at `pc`: leaves the trace there for a sample, if samples are taken and the place is another than before.
    pub(super) fn profile(&mut self, vm: &Vm, pc: *const Ins) -> Rec<()> {
        let Some(grain) = vm.sampling.grain() else { return Ok(()) };
        let line = match grain {
            Grain::Function => 0,
            Grain::Line => self.proto.pc_of(pc).map_or(0, |at| self.proto.line(at)),
        };
        let place = Some((self.proto, line));
        if core::mem::replace(&mut self.sampled, place) != place {
            self.snap(pc)?;
            self.b.emit_raw(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
            self.needsnap = true;
        }
        Ok(())
    }
}
