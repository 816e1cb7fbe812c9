//! Upvalues.

use super::{Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::object::{Gc, UpVal};
use perilune_vm::{Value, Vm};

impl Recorder {
    fn nth_upvalue(vm: &Vm, i: usize) -> Rec<Gc<UpVal>> {
        view::func(vm, 0).upvalues().get(i).map(core::cell::Cell::get).ok_or(Abort::Error)
    }
    /// The address of an upvalue's value.
    fn upvalue_ref(&mut self, vm: &Vm, i: usize, uv: Gc<UpVal>) -> Rec<IrRef> {
        let f = self.func_ref(vm)?;
        if uv.is_closed() {
            return self.b.guard(Op::UREFC, Ty::P64, f, IrRef((i as u16) << 8));
        }
        // Open: its slot must not be one that the trace keeps in registers, now or in another run.
        let slot = (uv.v.get() as isize - vm.base as isize) / 8 + self.base as isize;
        let cur = vm.cur.stack.get() as usize;
        let in_stack = (uv.v.get() as usize).wrapping_sub(cur) < vm.cur.size.get() as usize * 8;
        if !in_stack || slot >= 0 || self.may_own(i) {
            return Err(Abort::NyiBytecode);
        }
        self.b.guard(Op::UREFO, Ty::P64, f, IrRef((i as u16) << 8))
    }
    /// May a frame of the trace be the one that an upvalue of the current function belongs to? Only functions with children have
    /// open upvalues.
    fn may_own(&self, _: usize) -> bool {
        let child = |p: Gc<perilune_vm::object::Proto>| p.flags.get() & perilune_vm::object::ProtoFlags::CHILD != 0;
        self.protos.iter().any(|&p| child(p))
    }

    /// UGET.
    pub(super) fn uget(&mut self, vm: &Vm, i: usize) -> Rec<IrRef> {
        let uv = Recorder::nth_upvalue(vm, i)?;
        let v = uv.get();
        let f = self.func_ref(vm)?;
        if f.is_const() && uv.hdr.b1.get() != 0 && !v.is_nil() {
            // Assigned once and for all.
            return Ok(self.b.kvalue(v));
        }
        let address = self.upvalue_ref(vm, i, uv)?;
        let ty = self.load_type(v)?;
        let r = self.b.guard(Op::ULOAD, ty, address, IrRef::NONE)?;
        Ok(if ty.is_pri() { self.b.kvalue(v) } else { r })
    }

    /// USETV and the like.
    pub(super) fn uset(&mut self, vm: &Vm, i: usize, value: (IrRef, Value)) -> Rec<()> {
        let uv = Recorder::nth_upvalue(vm, i)?;
        let address = self.upvalue_ref(vm, i, uv)?;
        let ty = self.ty(value.0);
        self.b.emit(Op::USTORE, ty, address, value.0)?;
        if ty.is_gc() {
            if !uv.is_closed() {
                // Stacks have no barrier: they are traversed again in the atomic phase.
                self.needsnap = true;
                return Ok(());
            }
            self.b.emit(Op::OBAR, Ty::Nil, address, value.0)?;
        }
        self.needsnap = true;
        Ok(())
    }
}
