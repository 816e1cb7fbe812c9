//! Sunk objects that a side trace in the same function takes apart: it gets what is in them in registers, and the exit does not make them.
//!
//! A side trace makes anew what its exit has made (`Recorder::new_side`), and loads the contents from the object in the slot. If it uses the
//! slot for nothing else, these loads are the values that the exit would have stored.

use super::start::comes_back;
use super::value::repr;
use super::{Lower, Res};
use crate::request::TraceTree;
use cranelift_codegen::ir::Value;
use perilune_recorder::ir::{Content, Ins, IrRef, Op, Place, SlotIdx, SnapId, Stored, Trace, TraceExit, Ty, sload};
use perilune_vm::layout::Field;

/// A value in the object that a slot would hold.
#[derive(Copy, Clone)]
pub(super) struct KnownContent {
    /// The slot.
    slot: SlotIdx,
    content: Content,
    value: Value,
}

/// What an instruction loads from an object.
fn loaded(trace: &Trace, ins: Ins) -> Option<(IrRef, Content)> {
    let (object, place) = match ins.op {
        Op::XLOAD | Op::HLOAD | Op::ALOAD if !ins.is_guard() => trace.place(ins.a)?,
        Op::FLOAD if ins.b.0 == Field::TabMeta as u16 => (ins.a, Place::Meta),
        _ => return None,
    };
    Some((object, Content { place, ty: ins.ty }))
}
/// Is it the address of the array part or of the nodes of a table?
fn is_part(ins: Ins) -> bool {
    ins.op == Op::FLOAD && (ins.b.0 == Field::TabArray as u16 || ins.b.0 == Field::TabNode as u16)
}

/// Does a side trace use the object in a slot only for its contents?
fn takes_contents(side: &Trace, slot: SlotIdx, contents: &[Stored]) -> bool {
    let is_load = |i: &Ins| i.op == Op::SLOAD && i.a.slot() == slot;
    let mut objects = (1..side.ins.len()).filter(|&i| is_load(&side.ins[i]));
    let Some(object) = objects.next().map(IrRef::of_ins) else { return true };
    if objects.next().is_some() || side.ins[object.ins_index()].b.0 != sload::PARENT {
        return false;
    }
    let is_address = |r: IrRef| side.place(r).is_some_and(|(base, _)| base == object);
    let is_part_of = |r: IrRef| side.def(r).is_some_and(|i| is_part(*i) && i.a == object);
    let is_taken = |i: usize, ins: &Ins, r: IrRef| {
        let content = || loaded(side, *ins).is_some_and(|(base, c)| base == object && contents.iter().any(|s| s.content == c));
        if r == object {
            return is_part(*ins) || is_address(IrRef::of_ins(i)) || content();
        }
        (!is_part_of(r) || is_address(IrRef::of_ins(i))) && (!is_address(r) || content())
    };
    let by_exits =
        side.snaps.iter().flat_map(|s| &s.slots).any(|s| s.value == object || is_address(s.value) || is_part_of(s.value));
    !by_exits && side.ins.iter().enumerate().all(|(i, ins)| ins.operands().all(|r| is_taken(i, ins, r)))
}

impl<'a> Lower<'a> {
    /// The objects that exit `k` makes which `side`, the side trace there, takes apart.
    pub(super) fn taken_apart(&self, k: SnapId, side: &TraceTree<'_>) -> Vec<IrRef> {
        let (trace, snap) = (self.cur.trace, self.cur.trace.snap(k));
        // The side trace was recorded at this exit, and not only linked to it, and does not come back to its start.
        if side.trace.parent != Some(TraceExit { trace: self.cur.tree.id, exit: k }) || comes_back(side) {
            return Vec::new();
        }
        let mut taken = Vec::new();
        for s in snap.restored().filter(|s| !taken.contains(&s.value)).collect::<Vec<_>>() {
            let Some((made, values)) = trace.made(k, s.value, side.trace.entry) else { continue };
            let fits =
                |(s, r): (&Stored, &IrRef)| s.konst.is_some() || self.ty(*r).is_ok_and(|ty| repr(ty) == repr(s.content.ty));
            if made.contents.iter().zip(&values).all(fits) && takes_contents(side.trace, made.first, &made.contents) {
                taken.push(s.value);
            }
        }
        taken
    }
    /// What is in these objects, as the side trace counts slots.
    pub(super) fn contents_of(&mut self, k: SnapId, side: &Trace, taken: &[IrRef]) -> Res<Vec<KnownContent>> {
        let mut known = Vec::new();
        for &object in taken {
            let Some((made, values)) = self.cur.trace.made(k, object, side.entry) else { continue };
            for (Stored { content, .. }, r) in made.contents.into_iter().zip(values).filter(|(s, _)| s.konst.is_none()) {
                let value = self.val(r)?;
                let value = self.narrow(value, content.ty);
                known.push(KnownContent { slot: made.first, content, value });
            }
        }
        Ok(known)
    }
    /// The value of a load from an object that the exit in front of this trace has not made. Addresses in it are never used.
    pub(super) fn known_content(&mut self, ins: Ins) -> Option<Value> {
        if self.cur.contents.is_empty() {
            return None;
        }
        let trace = self.cur.trace;
        let slot = |object: IrRef| trace.def(object).filter(|i| i.op == Op::SLOAD).map(|i| i.a.slot());
        if is_part(ins) {
            return slot(ins.a).filter(|s| self.is_taken_apart(*s, Ty::Tab)).map(|_| self.k64(0));
        }
        let (object, content) = loaded(trace, ins)?;
        let slot = slot(object)?;
        self.cur.contents.iter().find(|c| c.slot == slot && c.content == content).map(|c| c.value)
    }
    /// Is the object in a slot one that the exit has not made?
    pub(super) fn is_taken_apart(&self, slot: SlotIdx, ty: Ty) -> bool {
        matches!(ty, Ty::Cdata | Ty::Tab) && self.cur.contents.iter().any(|c| c.slot == slot)
    }
}
