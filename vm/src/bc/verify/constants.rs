//! Operands that are not slots: constants, upvalues, literals.

use super::{Check, ensure};
use crate::bc::undump::UndumpError;
use crate::bc::{Ins, KGc, KNum, Op, ProtoData, TSETM_BIAS};

/// Operand modes, as in [`Op::MODES`].
mod mode {
    pub const UV: u16 = 5;
    pub const PRI: u16 = 8;
    pub const NUM: u16 = 9;
    pub const STR: u16 = 10;
    pub const TAB: u16 = 11;
    pub const FUNC: u16 = 12;
    pub const CDATA: u16 = 14;
}

/// Is the operation one that the parser emits?
fn is_source_op(op: Op) -> bool {
    use Op::*;
    let builtin = matches!(op, ISTYPE | ISNUM | TGETR | TSETR);
    let patched = matches!(op, JFORI | IFORL | JFORL | IITERL | JITERL | ILOOP | JLOOP);
    !builtin && !patched && op < FUNCF
}

/// The largest index that a table constructor can have reached: each entry takes an instruction or is in a template.
pub(super) fn most_entries(p: &ProtoData) -> usize {
    let template = |k: &KGc| if let KGc::Table(t) = k { t.array.len() } else { 0 };
    p.bc.len() + p.kgc.iter().map(template).max().unwrap_or(0)
}

/// Checks the operation and the operands of an instruction; `most` is the number of [`most_entries`].
pub(super) fn check(p: &ProtoData, ins: Ins, most: usize) -> Check {
    let op = ins.op();
    ensure(is_source_op(op))?;
    let modes = Op::MODES[op as usize];
    if modes & 7 == mode::UV {
        ensure(ins.a() < p.upvalues.len())?;
    }
    let cd = if op.has_b() { ins.c() } else { ins.d() };
    let object = || p.kgc.get(cd).ok_or(UndumpError::Malformed);
    match modes >> 7 & 15 {
        mode::UV => ensure(cd < p.upvalues.len())?,
        mode::PRI => ensure(cd <= 2)?,
        mode::NUM => ensure(cd < p.knum.len())?,
        mode::STR => ensure(matches!(object()?, KGc::Str(_)))?,
        mode::TAB => ensure(matches!(object()?, KGc::Table(_)))?,
        mode::CDATA => ensure(matches!(object()?, KGc::Cdata(_)))?,
        mode::FUNC => ensure(matches!(object()?, KGc::Proto(_)))?,
        _ => {}
    }
    match op {
        // The parser counts entries, and each takes an instruction.
        Op::TNEW => ensure(ins.d() >> 11 <= 1 || 1 << ((ins.d() >> 11) - 1) <= p.bc.len()),
        Op::TSETM => ensure(tsetm_index(p, cd).is_some_and(|i| i >= 1.0 && i <= most as f64)),
        Op::VARG => ensure(p.is_vararg && ins.c() == usize::from(p.num_params)),
        Op::CALL => ensure(ins.c() >= 1),
        Op::CALLT | Op::RET => ensure(ins.d() >= 1),
        Op::RET0 => ensure(ins.d() == 1),
        Op::RET1 => ensure(ins.d() == 2),
        Op::ITERC => ensure(ins.b() >= 2 && ins.c() == 3),
        Op::ITERN => ensure(matches!(ins.b(), 2 | 3) && ins.c() == 3),
        _ => Ok(()),
    }
}

/// The first index that a TSETM stores to.
fn tsetm_index(p: &ProtoData, k: usize) -> Option<f64> {
    let Some(KNum::Num(n)) = p.knum.get(k) else { return None };
    let index = n - TSETM_BIAS;
    (index == index.trunc()).then_some(index)
}
