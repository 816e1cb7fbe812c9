//! The effects of an instruction on the slots of its frame.

use super::{Check, ensure};
use crate::bc::{Ins, KGc, Op, ProtoData, UvDesc};
use crate::object::Proto;

/// A set of slots.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(in crate::bc) struct Slots([u64; 4]);

impl Slots {
    /// The slots from `from` up to but not including `to`.
    pub(in crate::bc) fn range(from: usize, to: usize) -> Slots {
        let mut s = Slots::default();
        for i in from..to.min(256) {
            s.0[i / 64] |= 1 << (i % 64);
        }
        s
    }
    /// A slot and those above.
    pub(in crate::bc) fn from(slot: usize) -> Slots {
        Slots::range(slot, 256)
    }
    /// One slot.
    pub(in crate::bc) fn one(slot: usize) -> Slots {
        Slots::range(slot, slot + 1)
    }
    pub(in crate::bc) fn or(self, o: Slots) -> Slots {
        self.zip(o, |a, b| a | b)
    }
    pub(in crate::bc) fn and(self, o: Slots) -> Slots {
        self.zip(o, |a, b| a & b)
    }
    pub(in crate::bc) fn minus(self, o: Slots) -> Slots {
        self.zip(o, |a, b| a & !b)
    }
    /// Is a slot in the set?
    pub(in crate::bc) fn has(self, slot: usize) -> bool {
        slot < 256 && self.0[slot / 64] >> (slot % 64) & 1 != 0
    }
    pub(in crate::bc) fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }
    pub(in crate::bc) fn meets(self, o: Slots) -> bool {
        !self.and(o).is_empty()
    }
    /// Are all of them in `o`?
    pub(in crate::bc) fn within(self, o: Slots) -> bool {
        self.minus(o).is_empty()
    }
    fn zip(self, o: Slots, f: impl Fn(u64, u64) -> u64) -> Slots {
        Slots(core::array::from_fn(|i| f(self.0[i], o.0[i])))
    }
}

/// The effect of an instruction.
#[derive(Copy, Clone, Default)]
pub(in crate::bc) struct Effect {
    /// Slots that it reads.
    pub(in crate::bc) reads: Slots,
    /// Slots that another frame or an unknown number of values overwrites.
    pub(in crate::bc) kills: Slots,
    /// Slots that have a value afterwards; for a conditional store, on the path where it happens.
    pub(in crate::bc) writes: Slots,
    /// The store happens only if the jump is taken.
    pub(in crate::bc) if_taken: bool,
    /// It reads the slots from here on, as many as the instruction before has left values in.
    pub(in crate::bc) takes: Option<u8>,
    /// It leaves a variable number of values from this slot on.
    pub(in crate::bc) gives: Option<u8>,
}

/// Operand modes of slots, as in [`Op::MODES`].
const DST: u16 = 1;
const VAR: u16 = 3;

/// The facts about a function that the effects depend on.
pub(in crate::bc) trait Frame {
    /// Slots of its frame.
    fn framesize(&self) -> usize;
    /// The slots that the closure made from object constant `d` refers to.
    fn captured(&self, d: usize) -> Slots;
}

fn locals(upvalues: &[UvDesc]) -> Slots {
    let locals = upvalues.iter().filter(|d| d.local);
    locals.fold(Slots::default(), |s, d| s.or(Slots::one(usize::from(d.index))))
}

impl Frame for ProtoData {
    fn framesize(&self) -> usize {
        usize::from(self.framesize)
    }
    fn captured(&self, d: usize) -> Slots {
        let Some(KGc::Proto(child)) = self.kgc.get(d) else { return Slots::default() };
        locals(&child.upvalues)
    }
}

impl Frame for Proto {
    fn framesize(&self) -> usize {
        Proto::framesize(self) as usize
    }
    fn captured(&self, d: usize) -> Slots {
        let child = self.kgc(d).and_then(|v| v.as_proto());
        child.map_or(Slots::default(), |child| locals(&child.upvalues))
    }
}

/// The slots from `from` up to but not including `to`, which must be inside of the frame.
fn slots(p: &dyn Frame, from: usize, to: usize) -> Check<Slots> {
    ensure(from <= to && to <= p.framesize())?;
    Ok(Slots::range(from, to))
}

/// The slots of the upvalues that an FNEW makes for its child.
pub(in crate::bc) fn captured(p: &dyn Frame, ins: Ins) -> Slots {
    p.captured(ins.d())
}

/// The effect of an instruction; all slots that it uses must be inside of the frame.
pub(in crate::bc) fn effect(p: &dyn Frame, ins: Ins) -> Check<Effect> {
    let (op, a) = (ins.op(), ins.a());
    if let Some(e) = special(p, ins)? {
        return Ok(e);
    }
    let mut e = Effect::default();
    let modes = Op::MODES[op as usize];
    match modes & 7 {
        DST => e.writes = slots(p, a, a + 1)?,
        VAR => e.reads = slots(p, a, a + 1)?,
        _ => {}
    }
    if modes >> 3 & 15 == VAR {
        e.reads = e.reads.or(slots(p, ins.b(), ins.b() + 1)?);
    }
    if modes >> 7 & 15 == VAR {
        let slot = if op.has_b() { ins.c() } else { ins.d() };
        e.reads = e.reads.or(slots(p, slot, slot + 1)?);
    }
    e.if_taken = matches!(op, Op::ISTC | Op::ISFC);
    if op == Op::FNEW {
        // A local function may refer to itself.
        e.reads = captured(p, ins).minus(Slots::one(a));
        ensure(e.reads.within(Slots::range(0, p.framesize())))?;
    }
    Ok(e)
}

/// Instructions that use several slots.
fn special(p: &dyn Frame, ins: Ins) -> Check<Option<Effect>> {
    let (a, b, c, d) = (ins.a(), ins.b(), ins.c(), ins.d());
    let mut e = Effect::default();
    match ins.op() {
        Op::CAT => {
            ensure(b < c)?;
            e.reads = slots(p, b, c + 1)?;
            e.writes = e.reads.or(slots(p, a, a + 1)?);
        }
        Op::KNIL => {
            ensure(a <= d)?;
            e.writes = slots(p, a, d + 1)?;
        }
        Op::TSETM => {
            ensure(a >= 1)?;
            e.reads = slots(p, a - 1, a)?;
            e.takes = Some(a as u8);
        }
        Op::CALL | Op::CALLM => call(p, ins, if ins.op() == Op::CALL { c } else { c + 1 }, &mut e)?,
        Op::CALLT | Op::CALLMT => call(p, ins, if ins.op() == Op::CALLT { d } else { d + 1 }, &mut e)?,
        Op::VARG => results(p, a, b, &mut e)?,
        Op::ITERC | Op::ITERN => {
            ensure(a >= 3)?;
            slots(p, a, a + 4)?;
            e.reads = slots(p, a - 3, a)?;
            e.kills = Slots::from(a);
            results(p, a, b, &mut e)?;
        }
        Op::ISNEXT => {
            ensure(a >= 3)?;
            e.reads = slots(p, a - 3, a)?;
            e.writes = Slots::one(a - 1);
        }
        Op::ITERL => {
            ensure(a >= 1)?;
            e.reads = slots(p, a, a + 1)?;
            e.writes = Slots::one(a - 1);
            e.if_taken = true;
        }
        Op::FORI => {
            slots(p, a, a + 4)?;
            e.reads = Slots::range(a, a + 3);
            e.writes = Slots::range(a, a + 4);
        }
        Op::FORL => {
            e.reads = slots(p, a, a + 3)?;
            e.writes = slots(p, a, a + 4)?;
            e.if_taken = true;
        }
        Op::RETM => {
            e.reads = slots(p, a, a + d)?;
            e.takes = Some((a + d) as u8);
        }
        Op::RET => e.reads = slots(p, a, a + d - 1)?,
        Op::RET1 => e.reads = slots(p, a, a + 1)?,
        // The variables outside of the loop are below: a trace takes no other slot along.
        Op::LOOP => e.kills = Slots::from(a),
        Op::RET0 | Op::UCLO | Op::JMP => {}
        _ => return Ok(None),
    }
    Ok(Some(e))
}

/// A call with `n - 1` arguments, and for some the values of the instruction before.
fn call(p: &dyn Frame, ins: Ins, n: usize, e: &mut Effect) -> Check {
    let a = ins.a();
    // The function, the link, and the arguments.
    let end = a + 1 + n;
    slots(p, a, end)?;
    e.reads = Slots::one(a).or(Slots::range(a + 2, end));
    if matches!(ins.op(), Op::CALLM | Op::CALLMT) {
        e.takes = Some(end as u8);
    }
    e.kills = Slots::from(a);
    if matches!(ins.op(), Op::CALL | Op::CALLM) {
        results(p, a, ins.b(), e)?;
    }
    Ok(())
}

/// `b - 1` results from slot `a` on, or all.
fn results(p: &dyn Frame, a: usize, b: usize, e: &mut Effect) -> Check {
    if b == 0 {
        slots(p, a, a)?;
        e.kills = Slots::from(a);
        e.gives = Some(a as u8);
    } else {
        e.writes = slots(p, a, a + b - 1)?;
    }
    Ok(())
}
