//! What sunk objects consist of: a side trace after an exit that makes one makes it anew, so that it can be sunk there as well.

use super::constant::Const;
use super::index::{SlotIdx, SnapId};
use super::ins::{Ins, IrRef};
use super::op::{Effect, Op};
use super::trace::Trace;
use super::ty::Ty;
use perilune_vm::layout::Field;
use perilune_vm::object::Placement;

/// Where a value is in an object.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Bytes from the start of a cdata.
    Offset(i64),
    /// The index in the array part of a table.
    Array(i32),
    /// The number of a node of the hash part, whose key is known.
    Node(u32),
    /// The metatable.
    Meta,
}

/// A value in an object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// Where it is.
    pub place: Place,
    /// How it is in memory.
    pub ty: Ty,
}

/// What is stored in an object that an exit makes.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Stored {
    /// Where.
    pub content: Content,
    /// The key, of a node.
    pub key: Option<Const>,
    /// The value, where it is a constant that side traces need not load.
    pub konst: Option<Const>,
}

/// How an object is made.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Maker {
    /// The box of a scalar, of the type with this number (CNEWI).
    Box(i32),
    /// A cdata, of the type with this number and of so many bytes (CNEW).
    Struct(i32, i32),
    /// A copy of a template (TDUP).
    Copy(Const),
    /// An empty table, with the operands of TNEW.
    Table(u16, u16),
}

/// An object that an exit makes.
#[derive(Clone, PartialEq, Debug)]
pub struct Made {
    /// How it is made.
    pub maker: Maker,
    /// What was stored in it, in ascending order. All other memory of it is as it was made.
    pub contents: Vec<Stored>,
    /// The first slot that has the object. Slots may share one.
    pub first: SlotIdx,
}

impl Made {
    /// The type of the object.
    pub fn ty(&self) -> Ty {
        match self.maker {
            Maker::Box(_) | Maker::Struct(..) => Ty::Cdata,
            Maker::Copy(_) | Maker::Table(..) => Ty::Tab,
        }
    }
}

impl Trace {
    /// The object that exit `k` makes for the slots that have `object`, with the values of its contents. None if it makes none, if its
    /// contents overlap, or if they are objects that the exit makes, or if another such object has it. The side trace there counts slots with the
    /// frame to resume at `entry`.
    pub fn made(&self, k: SnapId, object: IrRef, entry: SlotIdx) -> Option<(Made, Vec<IrRef>)> {
        let new = self.def(object).filter(|i| i.is_sunk())?;
        let maker = self.maker(*new)?;
        let snap = self.snap(k);
        let first = snap.slots.iter().find(|s| s.value == object && s.is_restored())?.slot;
        let first = snap.slot_in_side_trace(first, entry)?;
        let end = snap.at.ins_index().min(self.ins.len());
        if self.ins[object.ins_index()..end].iter().any(|i| i.is_sunk() && i.op.effect() == Effect::Store && i.b == object) {
            return None;
        }
        if let Maker::Box(_) = maker {
            let content = Content { place: Place::Offset(Placement::Small.offset()? as i64), ty: in_memory(self.ty(new.b)) };
            return Some((Made { maker, contents: vec![Stored { content, key: None, konst: None }], first }, vec![new.b]));
        }
        let mut stored: Vec<(Stored, IrRef)> = Vec::new();
        for i in object.ins_index() + 1..end {
            let ins = self.ins[i];
            if !ins.is_sunk() || self.sunk_table(i) != Some(object.ins_index()) {
                continue;
            }
            match ins.op {
                Op::XSTORE | Op::HSTORE | Op::ASTORE | Op::FSTORE => {
                    let what = self.stored(object, ins)?;
                    match stored.iter_mut().find(|s| s.0.content.place == what.content.place) {
                        // Parts of cdata that are stored as different types overlap.
                        Some(s) if ins.op == Op::XSTORE && s.0.content != what.content => return None,
                        Some(s) => *s = (what, ins.b),
                        None => stored.push((what, ins.b)),
                    }
                }
                Op::ADD | Op::FLOAD | Op::FREF | Op::HREFK | Op::AREF | Op::TBAR => {}
                // A key that the template lacks.
                _ => return None,
            }
        }
        stored.sort_by_key(|s| s.0.content.place);
        let apart = |s: &[(Stored, IrRef)]| match (s[0].0.content, s[1].0.content) {
            (Content { place: Place::Offset(a), ty }, Content { place: Place::Offset(b), .. }) => a + ty.size() <= b,
            _ => true,
        };
        let (contents, values) = if stored.windows(2).all(apart) { stored.into_iter().unzip() } else { return None };
        Some((Made { maker, contents, first }, values))
    }
    /// How an instruction makes an object.
    fn maker(&self, new: Ins) -> Option<Maker> {
        let int = |r: IrRef| match self.konst(r) {
            Some(Const::Int(k)) => Some(k),
            _ => None,
        };
        Some(match new.op {
            Op::CNEWI => Maker::Box(int(new.a)?),
            Op::CNEW => Maker::Struct(int(new.a)?, int(new.b)?),
            Op::TDUP => Maker::Copy(self.konst(new.a)?),
            Op::TNEW => Maker::Table(new.a.0, new.b.0),
            _ => return None,
        })
    }
    /// What a store puts into `object`.
    fn stored(&self, object: IrRef, store: Ins) -> Option<Stored> {
        let (base, place) = self.place(store.a)?;
        if base != object || self.def(store.b).is_some_and(|value| value.is_sunk()) {
            return None;
        }
        if store.op == Op::XSTORE {
            return Some(Stored { content: Content { place, ty: store.ty }, key: None, konst: None });
        }
        let key = match self.def(store.a).and_then(|i| self.konst(i.b)) {
            Some(Const::Slot(key, _)) => Some(self.konst(key)?),
            _ => None,
        };
        let ty = self.ty(store.b);
        let konst = if ty.is_pri() { Some(Const::Pri(ty)) } else { self.konst(store.b) };
        let ty = in_memory(ty);
        let is_value = !matches!(ty, Ty::P64 | Ty::U64 | Ty::I64 | Ty::U32);
        let is_known = konst.is_none_or(|k| matches!(k, Const::Pri(_) | Const::Int(_) | Const::Num(_) | Const::Gc(_)));
        (is_value && is_known).then_some(Stored { content: Content { place, ty }, key, konst })
    }
    /// Where an address leads to, as an object and the place in it.
    pub fn place(&self, address: IrRef) -> Option<(IrRef, Place)> {
        let ins = self.def(address)?;
        let part = |r: IrRef, field: Field| self.def(r).filter(|i| i.op == Op::FLOAD && i.b.0 == field as u16).map(|i| i.a);
        match ins.op {
            Op::ADD if ins.ty == Ty::P64 => match self.konst(ins.b)? {
                Const::Word(k, _) => Some((ins.a, Place::Offset(k as i64))),
                _ => None,
            },
            Op::HREFK => match self.konst(ins.b)? {
                Const::Slot(_, node) => Some((part(ins.a, Field::TabNode)?, Place::Node(node))),
                _ => None,
            },
            Op::AREF => match self.konst(ins.b)? {
                Const::Int(k) => Some((part(ins.a, Field::TabArray)?, Place::Array(k))),
                _ => None,
            },
            Op::FREF if ins.b.0 == Field::TabMeta as u16 => Some((ins.a, Place::Meta)),
            _ => None,
        }
    }
}

/// The type of a value in memory: a narrow int is stored with 32 bits.
fn in_memory(ty: Ty) -> Ty {
    if ty.is_int() && ty != Ty::U32 { Ty::Int } else { ty }
}
