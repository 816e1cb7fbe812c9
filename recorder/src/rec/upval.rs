//! Upvalues: UGET and USETV (LuaJIT's `rec_upvalue`).

use super::{Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::uref;
use crate::ir::{IrRef, Op, SlotIdx, Ty};
use perilune_vm::object::{Gc, UpVal};
use perilune_vm::{Value, Vm};

/// Where the value of an upvalue is.
enum UpvalueLocation {
    /// At an address.
    Address(IrRef),
    /// In a slot of the trace.
    Slot(SlotIdx),
}

/// More slots than any trace has.
const MOST_SLOTS: usize = 1024;

impl Recorder {
    fn nth_upvalue(vm: &Vm, i: usize) -> Rec<Gc<UpVal>> {
        view::func(vm, 0).upvalues().get(i).map(core::cell::Cell::get).ok_or(Abort::Error)
    }
    /// The function and index that stand for an upvalue of the current function. An upvalue of a function that the trace makes is one of
    /// its parent's, unless it is a local of the parent.
    fn upvalue_owner(&mut self, vm: &Vm, i: usize) -> Rec<(IrRef, usize)> {
        let (mut f, mut i) = (self.func_ref(vm)?, i);
        while let Some(made) = self.closure(f) {
            match made.proto.upvalues.get(i) {
                Some(d) if !d.local => (f, i) = (made.parent, usize::from(d.index)),
                Some(_) => break,
                None => return Err(Abort::Error),
            }
        }
        Ok((f, i))
    }
    /// Where the value of upvalue `i` of function `f` is; the upvalue is `uv` now.
    fn upvalue_location(&mut self, vm: &Vm, (f, i): (IrRef, usize), uv: Gc<UpVal>) -> Rec<UpvalueLocation> {
        let joined = if vm.compiled.upvalues_joined { uref::JOINED } else { 0 };
        let operand = IrRef((i as u16) << 8 | joined);
        if let Some(made) = self.closure(f) {
            // Whether the trace has closed it does not depend on the run.
            return Ok(if uv.is_closed() {
                UpvalueLocation::Address(self.b.emit(Op::UREFC, Ty::P64, f, operand)?)
            } else {
                UpvalueLocation::Slot(made.base + usize::from(made.proto.upvalues[i].index))
            });
        }
        if uv.is_closed() {
            return self.b.guard(Op::UREFC, Ty::P64, f, operand).map(UpvalueLocation::Address);
        }
        let address = self.b.guard(Op::UREFO, Ty::P64, f, operand)?;
        if !self.may_own() {
            return Ok(UpvalueLocation::Address(address));
        }
        let slot = (uv.v.get() as isize).wrapping_sub(vm.base as isize) / 8 + self.base.index() as isize;
        if let Ok(slot) = usize::try_from(slot)
            && slot < MOST_SLOTS
        {
            // A local of a frame of the trace: its value is that of the slot.
            let slot = SlotIdx::new(slot);
            if slot >= self.slots.top() {
                return Err(Abort::NyiBytecode);
            }
            let expected = self.slot_address(slot)?;
            self.b.emit(Op::EQ, Ty::P64, address, expected)?;
            return Ok(UpvalueLocation::Slot(slot));
        }
        // When the trace runs, it must not be a slot that the trace keeps in registers either.
        let first = self.slot_address(SlotIdx::FUNC)?;
        let distance = self.b.emit(Op::SUB, Ty::P64, address, first)?;
        let size = self.b.kptr(MOST_SLOTS as u64 * 8);
        self.b.emit(Op::UGE, Ty::P64, distance, size)?;
        Ok(UpvalueLocation::Address(address))
    }
    /// May a frame of the trace be the one that an upvalue of the current function belongs to? Only functions with children have
    /// open upvalues.
    fn may_own(&self) -> bool {
        let child = |p: Gc<perilune_vm::object::Proto>| p.flags.get() & perilune_vm::object::ProtoFlags::CHILD != 0;
        self.deps.protos.iter().any(|&p| child(p))
    }

    /// UGET.
    pub(super) fn uget(&mut self, vm: &Vm, i: usize) -> Rec<IrRef> {
        let uv = Recorder::nth_upvalue(vm, i)?;
        let v = uv.get();
        let owner = self.upvalue_owner(vm, i)?;
        if owner.0.is_const() && uv.hdr.b1.get() != 0 && !v.is_nil() {
            // Assigned only once, before the closure was made.
            return Ok(self.b.kvalue(v));
        }
        let address = match self.upvalue_location(vm, owner, uv)? {
            UpvalueLocation::Address(address) => address,
            UpvalueLocation::Slot(at) => return self.get_abs(at, v),
        };
        let ty = self.feedback.load_type(v);
        let r = self.b.guard(Op::ULOAD, ty, address, IrRef::NONE)?;
        Ok(if ty.is_pri() { self.b.kvalue(v) } else { r })
    }

    /// USETV and the like.
    pub(super) fn uset(&mut self, vm: &Vm, i: usize, value: (IrRef, Value)) -> Rec<()> {
        let uv = Recorder::nth_upvalue(vm, i)?;
        let owner = self.upvalue_owner(vm, i)?;
        let address = match self.upvalue_location(vm, owner, uv)? {
            UpvalueLocation::Address(address) => address,
            UpvalueLocation::Slot(at) => {
                self.set_abs(at, value.0);
                return Ok(());
            }
        };
        let ty = self.ty(value.0);
        self.b.emit(Op::USTORE, ty, address, value.0)?;
        if ty.is_gc() {
            if !uv.is_closed() {
                // Stacks have no barrier: they are traversed again in the atomic phase.
                self.snaps.needed = true;
                return Ok(());
            }
            self.b.emit(Op::OBAR, Ty::Nil, address, value.0)?;
        }
        self.snaps.needed = true;
        Ok(())
    }
}
