//! Slots of the current frame, and snapshots of them (LuaJIT's `lj_snap_add`).

use super::window::Window;
use super::{FrameKind, OpenList, Rec, Recorder, view};
use crate::ir::{Const, Effect, IrRef, Op, SlotIdx, SnapSlot, Snapshot, Trace, Ty, sload};
use core::ops::Range;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::object::{BcAddr, Gc, InsPtr, Proto};
use perilune_vm::{Value, Vm};
use std::rc::Rc;

/// What the next snapshots depend on, besides frames and slots.
#[derive(Debug)]
pub(super) struct Snapshots {
    /// Must the next instruction take a snapshot?
    pub(super) needed: bool,
    /// Slots that the exits since the last NATIVE or SYNC have to store, all together.
    to_store: usize,
    /// A builtin reads the slots from here on, also those that are dead for the function itself.
    pub(super) seen_from: SlotIdx,
    /// By function: which slots are live where.
    pub(super) live: Vec<(Gc<Proto>, Option<Rc<Liveness>>)>,
    /// The strings that were converted to a C pointer.
    pub(super) addressed: Vec<IrRef>,
}

/// How a slot is dead.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Dead {
    /// It is that of a local variable in scope, which keeps its object from being collected.
    Variable,
    /// It is not.
    Temporary,
}

impl Snapshots {
    pub(super) fn new() -> Snapshots {
        Snapshots { needed: false, to_store: 0, seen_from: SlotIdx::END, live: Vec::new(), addressed: Vec::new() }
    }
}

/// Frames and slots at one time.
pub(super) struct SavedState {
    base: SlotIdx,
    proto: Gc<Proto>,
    frames: Vec<super::Frame>,
    slots: Window,
    needs_snapshot: bool,
    open: OpenList,
}

impl Recorder {
    /// Frames and slots as they are now.
    pub(super) fn state(&self) -> SavedState {
        SavedState {
            base: self.base,
            proto: self.proto,
            frames: self.stack.frames.clone(),
            slots: self.slots.clone(),
            needs_snapshot: self.snaps.needed,
            open: self.open,
        }
    }
    /// Restores frames and slots, and so drops what was recorded since then, which must be without effect.
    pub(super) fn restore(&mut self, state: SavedState) {
        let SavedState { base, proto, frames, slots, needs_snapshot, open } = state;
        self.slots.restore(slots);
        (self.base, self.proto, self.stack.frames) = (base, proto, frames);
        (self.snaps.needed, self.open) = (needs_snapshot, open);
    }
    /// Makes room for the frame of a prototype at the current base.
    pub(super) fn enter_frame(&mut self, proto: Gc<Proto>) {
        self.proto = proto;
        self.need(self.base + proto.framesize() as usize);
        self.top_slot = self.top_slot.max(self.base + proto.framesize() as usize);
    }
    pub(super) fn need(&mut self, top: SlotIdx) {
        self.slots.extend_to(top);
        self.top_slot = self.top_slot.max(top);
    }
    /// End of the slots of the current frame.
    pub(super) fn frame_top(&self) -> SlotIdx {
        (self.base + self.proto.framesize() as usize).max(self.open.top)
    }

    /// The value in local `i`.
    pub(super) fn get(&mut self, vm: &Vm, i: usize) -> Rec<IrRef> {
        self.get_abs(self.base + i, view::slot(vm, i as isize))
    }
    /// The value in slot `at`, which is `v` now.
    pub(super) fn get_abs(&mut self, at: SlotIdx, v: Value) -> Rec<IrRef> {
        self.need(at + 1);
        let known = self.slots[at];
        if known != IrRef::NONE {
            return Ok(known);
        }
        let ty = if v.is_int() && self.start.nums.contains(&at) { Ty::Num } else { Ty::of_value(v) };
        if self.slots.is_fresh(at) {
            let r = self.get_fresh(at, ty)?;
            self.slots[at] = if ty.is_pri() { self.b.kvalue(v) } else { r };
            return Ok(self.slots[at]);
        }
        let r = self.b.guard(Op::SLOAD, ty, IrRef::of_slot(at), IrRef(sload::TYPECHECK | sload::INHERIT))?;
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
    pub(super) fn set_abs(&mut self, at: SlotIdx, r: IrRef) {
        self.need(at + 1);
        self.slots.assign(at, r);
    }
    /// Forgets the values of the slots from `at` on, which are not read before they are written again.
    pub(super) fn clear_from(&mut self, at: SlotIdx) {
        self.slots.forget_from(at);
    }

    /// The slots of the last snapshot have been stored.
    pub(super) fn all_stored(&mut self) {
        self.stored(|_, _| true);
    }
    /// Those slots of the last snapshot have been stored whose values are selected.
    fn stored(&mut self, which: impl Fn(&Trace, IrRef) -> bool) {
        for s in self.b.trace.snaps.last().iter().flat_map(|snap| &snap.slots).filter(|s| which(&self.b.trace, s.value)) {
            self.slots.mark_stored(s.slot);
        }
        self.snaps.to_store = 0;
    }
    /// Stores the slots of the snapshot just taken, if exits have become long.
    pub(super) fn sync(&mut self) -> Rec<()> {
        if self.snaps.to_store > self.params.maxstore as usize && self.b.flags.sync {
            self.b.emit(Op::SYNC, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
            self.stored(|trace, value| !trace.makes_object(value));
        }
        Ok(())
    }
    /// Takes a snapshot of the current state, to resume at `pc`.
    pub(super) fn snap(&mut self, pc: InsPtr) -> Rec<()> {
        self.snap_below(pc, SlotIdx::END)
    }
    /// Takes a snapshot to resume at `pc`, where the slots from `top` on are dead.
    pub(super) fn snap_below(&mut self, pc: InsPtr, top: SlotIdx) -> Rec<()> {
        let top = self.frame_top().min(self.slots.top()).min(top);
        let mut slots = Vec::with_capacity(16);
        let dead = self.dead(pc, top);
        for (at, dead) in dead.into_iter().enumerate().map(|(at, dead)| (SlotIdx::new(at), dead)) {
            let value = self.slots[at];
            if value == IrRef::NONE || dead.is_some_and(|dead| !self.is_kept(dead, at)) {
                continue;
            }
            let mut flags = if self.slots.is_modified(at) { 0 } else { SnapSlot::NORESTORE };
            if dead.is_some() && value != IrRef::NIL {
                flags |= SnapSlot::HELD;
            }
            if self.slots.is_written_in_memory(at) {
                flags |= SnapSlot::STORED;
            }
            if self.is_frame_slot(at) {
                flags |= SnapSlot::FRAME;
            }
            slots.push(SnapSlot { slot: at, flags, value });
        }
        self.snaps.needed = false;
        self.snaps.to_store += slots.iter().filter(|s| s.is_restored()).count();
        self.b.add_snapshot(Snapshot {
            at: self.b.trace.next_ref(),
            base_slot: self.base,
            nslots: top,
            pc: pc.addr(),
            multres: self.open.count,
            decides: false,
            done: self.bytecodes,
            fuel: self.fuel_at(pc),
            slots,
        })
    }
    /// Is a dead slot part of a snapshot all the same?
    fn is_kept(&self, dead: Dead, at: SlotIdx) -> bool {
        let value = self.slots[at];
        if value == IrRef::NIL {
            // The old value in memory would keep an object alive.
            return true;
        }
        if dead == Dead::Temporary || !self.slots.is_modified(at) {
            return false;
        }
        match self.ty(value) {
            Ty::Str => self.snaps.addressed.contains(&value),
            // A C pointer may lead to its bytes.
            Ty::Cdata => !value.is_const(),
            // What was loaded is reachable from where it was.
            ty => ty.is_gc() && self.b.def(value).is_some_and(|i| i.op.effect() != Effect::Load),
        }
    }
    /// By slot below `top`: whether and how it is dead when the interpreter resumes at `pc`.
    pub(super) fn dead(&self, pc: InsPtr, top: SlotIdx) -> Vec<Option<Dead>> {
        let mut dead = vec![None; top.index()];
        self.find_dead(&mut dead, self.proto, pc.addr(), self.base..top);
        // The frames below resume after their calls.
        let mut end = self.base;
        for f in self.stack.frames.iter().rev() {
            let link = self.b.trace.konst(self.slots[end - 1]);
            if let (FrameKind::Call, Some(Const::Ptr(pc))) = (f.kind, link) {
                self.find_dead(&mut dead, f.proto, BcAddr::new(pc), f.base..end - 2);
            }
            end = f.base;
        }
        dead
    }
    fn find_dead(&self, dead: &mut [Option<Dead>], proto: Gc<Proto>, pc: BcAddr, frame: Range<SlotIdx>) {
        let known = self.snaps.live.iter().find(|l| l.0 == proto).and_then(|l| l.1.as_ref());
        let (Some(live), Some(pc)) = (known, proto.pc_of(pc)) else { return };
        for at in frame.start.index()..frame.end.index().min(dead.len()) {
            let slot = at - frame.start.index();
            if at < self.snaps.seen_from.index() && !live.is_live(pc, slot) {
                dead[at] = Some(if live.is_variable(pc, slot) { Dead::Variable } else { Dead::Temporary });
            }
        }
    }
    fn is_frame_slot(&self, at: SlotIdx) -> bool {
        let of = |base: SlotIdx| at + 2 == base || at + 1 == base;
        of(self.base) || self.stack.frames.iter().any(|f| of(f.base))
    }
}
