//! Sunk cdata that a side trace in the same function takes apart: it gets what is in them in registers, and the exit does not make them.
//!
//! A side trace makes anew what its exit has made (`Recorder::new_side`), and loads the contents from the object in the slot. If it uses the
//! slot for nothing else, these loads are the values that the exit would have stored.

use super::start::comes_back;
use super::value::repr;
use super::{Lower, Res};
use crate::request::TraceTree;
use cranelift_codegen::ir::Value;
use perilune_recorder::ir::{Content, Ins, IrRef, Op, SlotIdx, SnapId, Trace, TraceExit, Ty, sload};

/// A scalar in the object that a slot would hold.
#[derive(Copy, Clone)]
pub(super) struct KnownContent {
    /// The slot, from the frame to resume.
    slot: SlotIdx,
    content: Content,
    value: Value,
}

/// Does a side trace use the object in a slot only for its contents?
fn takes_contents(side: &Trace, slot: SlotIdx, contents: &[Content]) -> bool {
    let is_load = |i: &Ins| i.op == Op::SLOAD && i.a.slot() == slot;
    let mut objects = (1..side.ins.len()).filter(|&i| is_load(&side.ins[i]));
    let Some(object) = objects.next().map(IrRef::of_ins) else { return true };
    if objects.next().is_some() || side.ins[object.ins_index()].b.0 != sload::PARENT {
        return false;
    }
    let address = |r: IrRef| side.address(r).filter(|(base, _)| *base == object).map(|(_, offset)| offset);
    let is_taken = |ins: &Ins, r: IrRef| {
        if r == object {
            return ins.op == Op::ADD;
        }
        let Some(offset) = address(r) else { return true };
        ins.op == Op::XLOAD && contents.contains(&Content { offset, ty: ins.ty })
    };
    let by_exits = side.snaps.iter().flat_map(|s| &s.slots).any(|s| s.value == object || address(s.value).is_some());
    !by_exits && side.ins.iter().all(|ins| ins.operands().all(|r| is_taken(ins, r)))
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
            let Some((made, values)) = trace.made(k, s.value) else { continue };
            let fits = |(c, r): (&Content, &IrRef)| self.ty(*r).is_ok_and(|ty| repr(ty) == repr(c.ty));
            if made.contents.iter().zip(&values).all(fits) && takes_contents(side.trace, made.first, &made.contents) {
                taken.push(s.value);
            }
        }
        taken
    }
    /// What is in these objects.
    pub(super) fn contents_of(&mut self, k: SnapId, taken: &[IrRef]) -> Res<Vec<KnownContent>> {
        let mut known = Vec::new();
        for &object in taken {
            let Some((made, values)) = self.cur.trace.made(k, object) else { continue };
            for (content, r) in made.contents.into_iter().zip(values) {
                let value = self.val(r)?;
                let value = self.narrow(value, content.ty);
                known.push(KnownContent { slot: made.first, content, value });
            }
        }
        Ok(known)
    }
    /// The value of a load from an object that the exit in front of this trace has not made.
    pub(super) fn known_content(&self, ins: Ins) -> Option<Value> {
        if self.cur.contents.is_empty() {
            return None;
        }
        let (object, offset) = self.cur.trace.address(ins.a)?;
        let slot = self.cur.trace.def(object).filter(|i| i.op == Op::SLOAD)?.a.slot();
        let content = Content { offset, ty: ins.ty };
        self.cur.contents.iter().find(|c| c.slot == slot && c.content == content).map(|c| c.value)
    }
    /// Is the object in a slot one that the exit has not made?
    pub(super) fn is_taken_apart(&self, slot: SlotIdx, ty: Ty) -> bool {
        ty == Ty::Cdata && self.cur.contents.iter().any(|c| c.slot == slot)
    }
}
