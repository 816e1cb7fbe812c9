//! Slots and snapshots.

use super::{Rec, Recorder, view};
use crate::ir::{IrRef, Op, SnapSlot, Ty, sload};
use perilune_vm::bc::Ins;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::{Value, Vm};

/// When exits store more slots than this, all together, they are stored on the way once: code of exits takes time to compile.
const MAX_TO_STORE: usize = 300;

impl Recorder {
    /// Makes room for the frame of a prototype at the current base.
    pub(super) fn enter_frame(&mut self, proto: Gc<Proto>) {
        self.proto = proto;
        self.need(self.base + proto.framesize() as usize);
        self.top_slot = self.top_slot.max(self.base + proto.framesize() as usize);
    }
    pub(super) fn need(&mut self, top: usize) {
        if self.slots.len() < top {
            self.slots.resize(top, IrRef::NONE);
            self.modified.resize(top, false);
            self.stored.resize(top, false);
            self.fresh.resize(top, false);
        }
        self.top_slot = self.top_slot.max(top);
    }
    /// End of the slots of the current frame.
    pub(super) fn frame_top(&self) -> usize {
        (self.base + self.proto.framesize() as usize).max(self.open_top)
    }

    /// The value in local `i`.
    pub(super) fn get(&mut self, vm: &Vm, i: usize) -> Rec<IrRef> {
        self.get_abs(self.base + i, view::slot(vm, i as isize))
    }
    /// The value in slot `at`, which is `v` now.
    pub(super) fn get_abs(&mut self, at: usize, v: Value) -> Rec<IrRef> {
        self.need(at + 1);
        let known = self.slots[at];
        if known != IrRef::NONE {
            return Ok(known);
        }
        let ty = Ty::of_value(v);
        if self.fresh[at] {
            let r = self.get_fresh(at, ty)?;
            self.slots[at] = if ty.is_pri() { self.b.kvalue(v) } else { r };
            return Ok(self.slots[at]);
        }
        let r = self.b.guard(Op::SLOAD, ty, IrRef(at as u16), IrRef(sload::TYPECHECK | sload::INHERIT))?;
        self.slots[at] = if ty.is_pri() { self.b.kvalue(v) } else { r };
        Ok(self.slots[at])
    }
    /// The value in local `i` with what it is now.
    pub(super) fn operand(&mut self, vm: &Vm, i: usize) -> Rec<(IrRef, Value)> {
        let v = view::slot(vm, i as isize);
        Ok((self.get(vm, i)?, v))
    }
    /// Assigns local `i`.
    pub(super) fn set(&mut self, i: usize, r: IrRef) {
        self.set_abs(self.base + i, r);
    }
    pub(super) fn set_abs(&mut self, at: usize, r: IrRef) {
        self.need(at + 1);
        self.slots[at] = r;
        self.modified[at] = true;
        self.stored[at] = false;
        self.fresh[at] = false;
    }
    /// Forgets what is in the slots from `at` on: nobody will read them before they are written.
    pub(super) fn clear_from(&mut self, at: usize) {
        for i in at..self.slots.len() {
            self.slots[i] = IrRef::NONE;
            self.modified[i] = false;
            self.stored[i] = false;
            self.fresh[i] = false;
        }
    }

    /// The slots of the last snapshot have been stored.
    pub(super) fn all_stored(&mut self) {
        for i in 0..self.frame_top().min(self.slots.len()) {
            if core::mem::take(&mut self.modified[i]) {
                self.stored[i] = true;
            }
        }
        self.to_store = 0;
    }
    /// Stores the slots of the snapshot just taken, if exits have become long.
    pub(super) fn sync(&mut self) -> Rec<()> {
        if self.to_store > MAX_TO_STORE && self.b.flags.sync {
            self.b.emit(Op::SYNC, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
            self.all_stored();
        }
        Ok(())
    }
    /// Takes a snapshot of the state now, to go on at `pc`.
    pub(super) fn snap(&mut self, pc: *const Ins) -> Rec<()> {
        self.snap_below(pc, usize::MAX)
    }
    /// The same when the slots from `top` on are dead there.
    pub(super) fn snap_below(&mut self, pc: *const Ins, top: usize) -> Rec<()> {
        let top = self.frame_top().min(self.slots.len()).min(top);
        let mut slots = Vec::with_capacity(16);
        for at in 0..top {
            let value = self.slots[at];
            if value == IrRef::NONE {
                continue;
            }
            let mut flags = if self.modified[at] { 0 } else { SnapSlot::NORESTORE };
            if self.stored[at] || self.fresh[at] {
                flags |= SnapSlot::STORED;
            }
            if self.is_frame_slot(at) {
                flags |= SnapSlot::FRAME;
            }
            slots.push(SnapSlot { slot: at as u16, flags, value });
        }
        self.needsnap = false;
        self.to_store += slots.iter().filter(|s| s.flags & SnapSlot::NORESTORE == 0).count();
        self.b.snapshot(pc.expose_provenance() as u64, self.base as u16, top as u16, slots, self.multres)
    }
    fn is_frame_slot(&self, at: usize) -> bool {
        let of = |base: usize| at + 2 == base || at + 1 == base;
        of(self.base) || self.frames.iter().any(|f| of(f.base))
    }
}
