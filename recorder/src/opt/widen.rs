//! Widening: arithmetic on ints in a loop's body that is cheaper on nums.
//!
//! Perilune has dual numbers, so arithmetic on ints is recorded as such, with a guard against overflow. Where the result is only converted
//! to nums, or used in arithmetic whose results are, doubles compute the same without the guard. The operands are converted instead, which
//! costs nothing in the loop for constants and invariants. A value in a snapshot must stay an int: a side trace that starts there would
//! otherwise be recorded for nums.

use crate::abort::Abort;
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op, Ty, conv};
use crate::opt::narrow;

fn is_candidate(ins: Ins) -> bool {
    ins.is_guard() && matches!(ins.op, Op::ADDOV | Op::SUBOV | Op::MULOV)
}

/// By instruction of the recorded iteration: may its copy be computed in doubles? Empty when none may.
pub fn candidates(b: &IrBuffer) -> Vec<bool> {
    let chosen = [Op::ADDOV, Op::SUBOV, Op::MULOV].iter().all(|&op| b.newest(op) == IrRef::NONE);
    if chosen || b.newest(Op::CONV) == IrRef::NONE || !b.flags.narrow || !b.flags.fold {
        return Vec::new();
    }
    let t = &b.trace;
    let (mut widen, mut needed, mut used) = (vec![false; t.ins.len()], vec![false; t.ins.len()], vec![false; t.ins.len()]);
    for s in t.snaps.iter().flat_map(|snap| &snap.slots).filter(|s| !s.value.is_const()) {
        needed[s.value.ins_index()] = true;
    }
    for (i, ins) in t.ins.iter().enumerate().rev() {
        widen[i] = is_candidate(*ins) && used[i] && !needed[i];
        let takes_num = widen[i] || ins.op == Op::CONV && ins.b.0 == conv::NUM_INT;
        for r in ins.operands() {
            used[r.ins_index()] = true;
            needed[r.ins_index()] |= !takes_num;
        }
    }
    if widen.contains(&true) { widen } else { Vec::new() }
}

/// Converts int operands of candidates before the loop, where conversions of invariants stay.
pub fn convert_operands(b: &mut IrBuffer, widen: &[bool]) -> Result<(), Abort> {
    for i in 1..widen.len() {
        if widen[i] {
            for r in b.trace.ins[i].operands().filter(|r| !widen[r.ins_index()]) {
                narrow::to_num(b, r)?;
            }
        }
    }
    Ok(())
}

/// The copy of a candidate with other operands.
pub fn copy(b: &mut IrBuffer, op: Op, x: IrRef, y: IrRef) -> Emit {
    let (x, y) = (narrow::to_num(b, x)?, narrow::to_num(b, y)?);
    let op = match op {
        Op::ADDOV => Op::ADD,
        Op::SUBOV => Op::SUB,
        _ => Op::MUL,
    };
    b.emit(op, Ty::Num, x, y)
}
