//! Closures that the trace makes, and the closing of upvalues.
//!
//! An open upvalue is the address of a stack slot, whose value a trace keeps in a register and not in memory. That is sound because no code
//! reads the slot in memory while the trace runs: accesses through upvalues are either recognised as accesses to a slot ([`super::upval`])
//! or guarded to access no slot of the trace, and exits store assigned slots. Only closing an upvalue reads the value from memory, so
//! captured slots are stored before it.

use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, SlotIdx, Ty};
use perilune_vm::Vm;
use perilune_vm::bc::Ins;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::object::{Gc, InsPtr, Proto};

/// A function that the trace makes.
#[derive(Copy, Clone, Debug)]
pub(super) struct Closure {
    func: IrRef,
    /// First local of the frame that makes it, where it finds its upvalues.
    pub(super) base: SlotIdx,
    /// The function that makes it.
    pub(super) parent: IrRef,
    pub(super) proto: Gc<Proto>,
}

impl Recorder {
    /// The closure that the trace has made as `func`, if it has.
    pub(super) fn closure(&self, func: IrRef) -> Option<Closure> {
        self.closures.iter().rev().find(|c| c.func == func).copied()
    }
    /// The address of a slot.
    pub(super) fn slot_address(&mut self, at: SlotIdx) -> Rec<IrRef> {
        self.b.emit(Op::SREF, Ty::P64, IrRef::of_slot(at), IrRef::NONE)
    }

    /// FNEW.
    pub(super) fn fnew(&mut self, vm: &Vm, ins: Ins) -> Rec<()> {
        self.gc_step()?;
        let (kproto, v) = self.kgc_operand(ins.d())?;
        let proto = v.as_proto().ok_or(Abort::Error)?;
        let (parent, base) = (self.func_ref(vm)?, self.base);
        let frame = self.slot_address(base)?;
        let func = self.b.call(Helper::FuncNew, &[kproto, parent, frame])?;
        self.closures.push(Closure { func, base, parent, proto });
        self.set(ins.a(), func);
        Ok(())
    }

    /// UCLO: if no upvalue is to be closed now, a guard that there is none.
    pub(super) fn uclo(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<()> {
        let (level, first) = (self.base + ins.a(), vm.base.wrapping_add(ins.a()));
        let head = vm.cur.open_upvals().next();
        if head.is_none_or(|uv| uv.v.get() < first) {
            let thread = self.b.emit(Op::LREF, Ty::Thread, IrRef::NONE, IrRef::NONE)?;
            let open = self.field(thread, Field::ThreadOpen)?;
            let null = self.b.knull(Ty::P64);
            if head.is_none() {
                return self.b.emit(Op::EQ, Ty::P64, open, null).map(|_| ());
            }
            self.b.emit(Op::NE, Ty::P64, open, null)?;
            let (highest, level) = (self.field(open, Field::UpvalV)?, self.slot_address(level)?);
            return self.b.emit(Op::ULT, Ty::P64, highest, level).map(|_| ());
        }
        let captured = self.captured(vm, level)?;
        // An exit between the stores would store the same values again.
        self.snap(pc)?;
        for (at, value) in captured {
            let (ty, address) = (self.ty(value), self.slot_address(at)?);
            self.b.emit(Op::USTORE, ty, address, value)?;
        }
        let level = self.slot_address(level)?;
        self.b.call(Helper::CloseUpvals, &[level])?;
        self.snaps.needed = true;
        Ok(())
    }
    /// The slots from `level` on that closures of this frame may capture, with their values. A slot that the trace has not assigned is up
    /// to date in memory in the recorded iteration, but a later iteration may begin with another value.
    fn captured(&mut self, vm: &Vm, level: SlotIdx) -> Rec<Vec<(SlotIdx, IrRef)>> {
        let proto = self.proto;
        let children = (0..).map_while(|i| proto.kgc(i)).filter_map(|k| k.as_proto());
        let mut locals: Vec<usize> = Vec::new();
        for child in children {
            locals.extend(child.upvalues.iter().filter(|d| d.local).map(|d| usize::from(d.index)));
        }
        locals.sort_unstable();
        locals.dedup();
        let mut captured = Vec::with_capacity(locals.len());
        for local in locals {
            let (at, address) = (self.base + local, vm.base.wrapping_add(local));
            if at < level || at >= self.slots.top() {
                continue;
            }
            if self.slots[at] == IrRef::NONE {
                let is_open = vm.cur.open_upvals().any(|uv| uv.v.get() == address);
                if !is_open || !self.start.is_root || !self.at_start_depth() {
                    continue;
                }
                self.get(vm, local)?;
            }
            captured.push((at, self.slots[at]));
        }
        Ok(captured)
    }
}
