//! CSE: common subexpression elimination by the chains of equal operations (LuaJIT's `lj_opt_cse`).

use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op};

/// The newest instruction equal to `ins` and newer than `lim`.
///
/// Equal means the same operation, type and operands. A guard can replace an instruction without the guard bit, but not the other way
/// round, except where the guard bit is missing because the guard would always hold.
#[inline]
pub fn find(b: &IrBuffer, ins: Ins, lim: IrRef) -> Option<IrRef> {
    let lim = lim.max(ins.newest_operand());
    let known = matches!(ins.op, Op::ADDOV | Op::SUBOV | Op::MULOV);
    let mut r = b.newest(ins.op);
    while r > lim {
        let other = b.trace.ins[r.ins_index()];
        if other.a == ins.a && other.b == ins.b && other.ty == ins.ty && (other.is_guard() || !ins.is_guard() || known) {
            return Some(r);
        }
        r = b.older(r);
    }
    None
}

/// An equal instruction newer than `lim`, or the instruction itself, appended.
#[inline]
pub fn reuse_or_append(b: &mut IrBuffer, ins: Ins, lim: IrRef) -> Emit {
    if b.flags.cse
        && let Some(r) = find(b, ins, lim)
    {
        return Ok(r);
    }
    b.append(ins)
}
