//! Side traces: they start at an exit of another trace, and inherit what that trace knows about the slots (LuaJIT's `lj_snap_replay`).

use super::{Rec, RecParams, Recorder, TreePosition, view};
use crate::abort::Abort;
use crate::ir::buffer::MadeAgain;
use crate::ir::{Const, Ins, IrRef, Made, Maker, Op, Place, SlotIdx, SnapId, SnapSlot, Snapshot, Stored, Trace, Ty, sload};
use perilune_vm::layout::Field;
use perilune_vm::object::{Gc, InsPtr, Proto};
use perilune_vm::{TraceId, Vm};

/// What the parent of a side trace knows about a slot.
#[derive(Clone, PartialEq, Debug)]
pub enum Inherited {
    /// The slot holds this constant.
    Const(Const),
    /// The slot holds a value of this type.
    Value {
        /// The type.
        ty: Ty,
        /// Is it the value that the slot had before the parent ran?
        kept: bool,
    },
    /// The slot holds a table or a cdata that the exit has made, which nothing else knows.
    Made(Made),
}

/// The slots of an exit, as a side trace there counts them that is entered with its frame at `entry`, with what the side trace may rely on.
pub fn inherited(parent: &Trace, exit: SnapId, entry: SlotIdx) -> impl Iterator<Item = (SlotIdx, Option<Inherited>)> + '_ {
    let base = parent.snap(exit).base_slot;
    let known = move |s: &SnapSlot| match parent.konst(s.value) {
        // The frames that are kept have the links and continuations that the parent has put there.
        Some(Const::Ptr(_)) if s.slot >= base || entry == SlotIdx::BASE => None,
        Some(Const::Slot(..) | Const::Vm(_) | Const::Null(_)) => None,
        Some(k) => Some(Inherited::Const(k)),
        None => match parent.ty(s.value) {
            ty if ty.is_pri() => Some(Inherited::Const(Const::Pri(ty))),
            Ty::Cdata | Ty::Tab if let Some((made, _)) = parent.made(exit, s.value, entry) => Some(Inherited::Made(made)),
            Ty::P64 | Ty::U64 | Ty::I64 => None,
            ty => {
                let kept = !s.is_restored();
                Some(Inherited::Value { ty: if ty.is_int() { Ty::Int } else { ty }, kept })
            }
        },
    };
    let exit = parent.snap(exit);
    exit.slots.iter().filter_map(move |s| Some((exit.slot_in_side_trace(s.slot, entry)?, known(s))))
}

impl Recorder {
    /// Starts a side trace at the exit of `parent` that `place` names. `vm.base` is the frame of the exit, whose slots are stored.
    pub fn new_side(
        vm: &Vm,
        params: &RecParams,
        parent: &Trace,
        resume_pc: InsPtr,
        place: TreePosition,
    ) -> Result<Recorder, Abort> {
        let Some(proto) = view::func(vm, 0).proto() else { return Err(Abort::NyiReturn) };
        let exit = place.parent.ok_or(Abort::Error)?.exit;
        let mut r = Recorder::new(vm, params, proto, place);
        r.start.pc = resume_pc;
        r.start.first_pc = resume_pc;
        r.unroll.iterations = 0;
        r.keep_frames(vm, parent, exit);
        let checked = parent.checked_at(exit);
        r.b.trace.checked_slot = if checked == 0 { 0 } else { checked + r.base.from_base() as u32 };
        r.enter_frame(proto);
        r.inherit(parent, exit)?;
        if r.open.count == Snapshot::OPEN {
            r.open_results(vm, resume_pc)?;
        }
        r.snap(resume_pc)?;
        if parent.exit_allocates(exit) {
            r.b.after_allocation = true;
            r.gc_step()?;
        }
        r.take_fuel()?;
        Ok(r)
    }

    /// Starts a side trace at the exit of a trace that has followed returns and ended in front of the return at `pc`. It inherits no slots,
    /// so that it may reach its start again in a frame further down.
    pub fn new_returning(vm: &Vm, params: &RecParams, pc: InsPtr, place: TreePosition) -> Result<Recorder, Abort> {
        let Some(proto) = view::func(vm, 0).proto() else { return Err(Abort::NyiReturn) };
        let mut r = Recorder::new(vm, params, proto, place);
        r.start.pc = pc;
        r.start.first_pc = pc;
        r.unroll.iterations = 0;
        r.start.returning = true;
        r.enter_frame(proto);
        r.snap(pc)?;
        r.take_fuel()?;
        Ok(r)
    }

    /// Starts a trace at `pc`, after a call that another trace is stitched at. `vm.base` is the frame.
    pub fn new_stitched(vm: &Vm, params: &RecParams, proto: Gc<Proto>, pc: InsPtr, id: TraceId) -> Result<Recorder, Abort> {
        let mut r = Recorder::new(vm, params, proto, TreePosition::root(id));
        r.start.pc = pc;
        r.start.first_pc = pc;
        r.unroll.iterations = 0;
        r.enter_frame(proto);
        if view::at(pc, -1).ins().b() == 0 {
            r.open_results(vm, pc)?;
        }
        r.snap(pc)?;
        r.take_fuel()?;
        Ok(r)
    }
    /// The trace begins with an open list, whose length is in the VM.
    fn open_results(&mut self, vm: &Vm, pc: InsPtr) -> Rec<()> {
        self.open.count = vm.multres;
        self.open.top = self.frame_top() + vm.multres as usize;
        self.need(self.open.top);
        self.open_list(vm, pc)
    }

    fn inherit(&mut self, parent: &Trace, exit: SnapId) -> Rec<()> {
        let snap = parent.snaps.get(exit.index()).ok_or(Abort::Error)?;
        self.open.count = snap.multres;
        if snap.multres > 0 && snap.multres != Snapshot::OPEN {
            self.open.top = self.base + (snap.nslots - snap.base_slot);
            self.need(self.open.top);
        }
        for (at, known) in inherited(parent, exit, self.base) {
            self.need(at + 1);
            self.slots[at] = match known {
                None => continue,
                Some(Inherited::Made(made)) => {
                    let new = if made.first == at { self.made_again(&made)? } else { self.slots[made.first] };
                    self.set_abs(at, new);
                    continue;
                }
                Some(Inherited::Const(k)) => self.b.konst(k),
                Some(Inherited::Value { ty, kept }) => {
                    // A value that the parent loaded as a num may be an int in memory, but a value that it stores may not.
                    let convert = if ty == Ty::Num && kept { sload::CONVERT } else { 0 };
                    self.b.emit(Op::SLOAD, ty, IrRef::of_slot(at), IrRef(sload::PARENT | convert))?
                }
            };
        }
        Ok(())
    }

    /// Makes an object that the exit has made once more, of what is in that one: where the new one can be sunk, the exit need not make any.
    /// Otherwise it is the one that the exit has made ([`crate::opt::sink`]).
    fn made_again(&mut self, made: &Made) -> Rec<IrRef> {
        let ty = made.ty();
        let old = self.b.emit(Op::SLOAD, ty, IrRef::of_slot(made.first), IrRef(sload::PARENT))?;
        let mut values = Vec::with_capacity(made.contents.len());
        for stored in &made.contents {
            values.push(match stored.konst {
                Some(k) => self.b.konst(k),
                None => self.content(old, stored)?,
            });
        }
        let new = match made.maker {
            Maker::Box(ctype) => {
                let (ctype, &[value]) = (self.b.kint(ctype), &values[..]) else { return Err(Abort::Error) };
                self.b.emit(Op::CNEWI, ty, ctype, value)?
            }
            Maker::Struct(ctype, size) => {
                let (ctype, size) = (self.b.kint(ctype), self.b.kint(size));
                self.b.emit(Op::CNEW, ty, ctype, size)?
            }
            Maker::Copy(template) => {
                let template = self.b.konst(template);
                self.b.emit(Op::TDUP, ty, template, IrRef::NONE)?
            }
            Maker::Table(asize, hbits) => self.b.emit(Op::TNEW, ty, IrRef(asize), IrRef(hbits))?,
        };
        if !matches!(made.maker, Maker::Box(_)) {
            for (stored, &value) in made.contents.iter().zip(&values) {
                let at = self.place(new, stored)?;
                let store = match stored.content.place {
                    Place::Offset(_) => Op::XSTORE,
                    Place::Array(_) => Op::ASTORE,
                    Place::Node(_) => Op::HSTORE,
                    Place::Meta => Op::FSTORE,
                };
                self.b.emit(store, stored.content.ty, at, value)?;
            }
        }
        let slot = IrRef::of_slot(made.first);
        self.b.made_again.push(MadeAgain { object: new, end: self.b.trace.next_ref(), slot });
        Ok(new)
    }
    /// What is in the object that the exit has made.
    fn content(&mut self, object: IrRef, stored: &Stored) -> Rec<IrRef> {
        let ty = stored.content.ty;
        let load = match stored.content.place {
            Place::Offset(_) => Op::XLOAD,
            Place::Array(_) => Op::ALOAD,
            Place::Node(_) => Op::HLOAD,
            Place::Meta => return self.b.emit(Op::FLOAD, ty, object, IrRef(Field::TabMeta as u16)),
        };
        let at = self.place(object, stored)?;
        self.b.emit(load, ty, at, IrRef(0))
    }
    /// The address of a place in an object.
    fn place(&mut self, object: IrRef, stored: &Stored) -> Rec<IrRef> {
        match stored.content.place {
            Place::Offset(offset) => {
                let offset = self.b.kword(offset as u64, Ty::I64);
                self.b.emit(Op::ADD, Ty::P64, object, offset)
            }
            Place::Array(index) => {
                let (array, index) = (self.field(object, Field::TabArray)?, self.b.kint(index));
                self.b.emit(Op::AREF, Ty::P64, array, index)
            }
            Place::Node(node) => {
                let key = self.b.konst(stored.key.ok_or(Abort::Error)?);
                let (nodes, key) = (self.field(object, Field::TabNode)?, self.b.kslot(key, node));
                // The key is there: no guard.
                self.b.emit_ins(Ins { flags: 0, ..Ins::new(Op::HREFK, Ty::P64, nodes, key) })
            }
            Place::Meta => self.b.emit(Op::FREF, Ty::P64, object, IrRef(Field::TabMeta as u16)),
        }
    }
}
