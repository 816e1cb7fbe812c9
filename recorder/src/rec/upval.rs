//! Upvalues.

use super::{Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use perilune_vm::object::{Gc, UpVal};
use perilune_vm::{Value, Vm};

/// Where the value of an upvalue is.
enum Place {
    /// At an address.
    Address(IrRef),
    /// In a slot of the trace.
    Slot(usize),
}

impl Recorder {
    fn nth_upvalue(vm: &Vm, i: usize) -> Rec<Gc<UpVal>> {
        view::func(vm, 0).upvalues().get(i).map(core::cell::Cell::get).ok_or(Abort::Error)
    }
    /// Where an upvalue's value is.
    fn upvalue_place(&mut self, vm: &Vm, i: usize, uv: Gc<UpVal>) -> Rec<Place> {
        let f = self.func_ref(vm)?;
        let operand = IrRef((i as u16) << 8);
        if uv.is_closed() {
            return self.b.guard(Op::UREFC, Ty::P64, f, operand).map(Place::Address);
        }
        let slot = (uv.v.get() as isize - vm.base as isize) / 8 + self.base as isize;
        let cur = vm.cur.stack.get() as usize;
        let in_stack = (uv.v.get() as usize).wrapping_sub(cur) < vm.cur.size.get() as usize * 8;
        let may_own = self.may_own();
        if !in_stack || may_own && self.retdepth > 0 {
            return Err(Abort::NyiBytecode);
        }
        if slot >= 0 {
            // A local of a frame of the trace: the slot's value is what the trace knows of it.
            let slot = slot as usize;
            if slot >= self.slots.len() || !may_own {
                return Err(Abort::NyiBytecode);
            }
            let address = self.b.guard(Op::UREFO, Ty::P64, f, operand)?;
            let offset = self.b.kptr((slot as u64).wrapping_sub(2).wrapping_mul(8));
            let expected = if slot == 2 { IrRef::BASE } else { self.b.emit(Op::ADD, Ty::P64, IrRef::BASE, offset)? };
            self.b.emit(Op::EQ, Ty::P64, address, expected)?;
            return Ok(Place::Slot(slot));
        }
        let address = self.b.guard(Op::UREFO, Ty::P64, f, operand)?;
        if may_own {
            // In another run it must not be a slot that the trace keeps in registers either.
            self.b.emit(Op::ULT, Ty::P64, address, IrRef::BASE)?;
        }
        Ok(Place::Address(address))
    }
    /// May a frame of the trace be the one that an upvalue of the current function belongs to? Only functions with children have
    /// open upvalues.
    fn may_own(&self) -> bool {
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
        let address = match self.upvalue_place(vm, i, uv)? {
            Place::Address(address) => address,
            Place::Slot(at) => return self.get_abs(at, v),
        };
        let ty = self.load_type(v)?;
        let r = self.b.guard(Op::ULOAD, ty, address, IrRef::NONE)?;
        Ok(if ty.is_pri() { self.b.kvalue(v) } else { r })
    }

    /// USETV and the like.
    pub(super) fn uset(&mut self, vm: &Vm, i: usize, value: (IrRef, Value)) -> Rec<()> {
        let uv = Recorder::nth_upvalue(vm, i)?;
        let address = match self.upvalue_place(vm, i, uv)? {
            Place::Address(address) => address,
            Place::Slot(at) => {
                self.set_abs(at, value.0);
                return Ok(());
            }
        };
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
