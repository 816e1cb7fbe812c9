//! What sunk cdata consist of: a side trace after an exit that makes one makes it anew, so that it can be sunk there as well.

use super::constant::Const;
use super::index::{SlotIdx, SnapId};
use super::ins::IrRef;
use super::op::Op;
use super::trace::Trace;
use super::ty::Ty;
use perilune_vm::object::Placement;

/// A scalar in a cdata.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// Bytes from the start of the object.
    pub offset: i64,
    /// How it is in memory.
    pub ty: Ty,
}

/// A cdata that an exit makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// The number of its type.
    pub ctype: i32,
    /// The size of its payload; none for the box of a scalar (CNEWI).
    pub size: Option<i32>,
    /// What was stored in it, in ascending order. All other memory of it is zero.
    pub contents: Vec<Content>,
    /// The first slot that has the object. Slots may share one.
    pub first: SlotIdx,
}

impl Trace {
    /// The cdata that exit `k` makes for the slots that have `object`, with the values of its contents. None if it makes none, or if its
    /// contents overlap.
    pub fn made(&self, k: SnapId, object: IrRef) -> Option<(Made, Vec<IrRef>)> {
        let new = self.def(object).filter(|i| i.is_sunk() && matches!(i.op, Op::CNEW | Op::CNEWI))?;
        let snap = self.snap(k);
        let first = snap.slots.iter().find(|s| s.value == object && s.is_restored())?.slot;
        let first = snap.slot_in_side_trace(first)?;
        let int = |r: IrRef| match self.konst(r) {
            Some(Const::Int(k)) => Some(k),
            _ => None,
        };
        let ctype = int(new.a)?;
        let mut stored: Vec<(Content, IrRef)> = Vec::new();
        if new.op == Op::CNEWI {
            let ty = self.ty(new.b);
            // A narrow int is stored with 32 bits.
            let ty = if ty.is_int() && ty != Ty::U32 { Ty::Int } else { ty };
            let offset = Placement::Small.offset()? as i64;
            stored.push((Content { offset, ty }, new.b));
            return Some((Made { ctype, size: None, contents: vec![stored[0].0], first }, vec![new.b]));
        }
        for i in object.ins_index() + 1..snap.at.ins_index().min(self.ins.len()) {
            let ins = self.ins[i];
            if ins.op != Op::XSTORE || !ins.is_sunk() || self.sunk_table(i) != Some(object.ins_index()) {
                continue;
            }
            let (base, offset) = self.address(ins.a)?;
            if base != object || self.def(ins.b).is_some_and(|value| value.is_sunk()) {
                return None;
            }
            let content = Content { offset, ty: ins.ty };
            match stored.iter_mut().find(|s| s.0 == content) {
                Some(s) => s.1 = ins.b,
                None => stored.push((content, ins.b)),
            }
        }
        stored.sort_by_key(|s| s.0.offset);
        let apart = stored.windows(2).all(|s| s[0].0.offset + s[0].0.ty.size() <= s[1].0.offset);
        let size = Some(int(new.b)?);
        let (contents, values) = stored.into_iter().unzip();
        apart.then_some((Made { ctype, size, contents, first }, values))
    }
    /// An address inside of an object, as the object and the offset in it.
    pub fn address(&self, address: IrRef) -> Option<(IrRef, i64)> {
        match self.def(address) {
            Some(i) if i.op == Op::ADD && i.ty == Ty::P64 => match self.konst(i.b)? {
                Const::Word(k, _) => Some((i.a, k as i64)),
                _ => None,
            },
            _ => None,
        }
    }
}
