//! FOLD: boxes of C scalars, which do not change.

use super::{Fold, Rule, is};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, Op};
use perilune_vm::layout::Field;

/// FLOAD from a cdata.
pub(super) fn field(b: &mut IrBuffer, ins: Ins) -> Rule {
    let of_type = ins.b.0 == Field::CdataCtypeId as u16;
    if let Some(k) = b.as_gc(ins.a).and_then(|v| v.as_cdata()) {
        if of_type {
            return is(b.kint(k.ctype().0 as i32));
        }
        return match k.int64() {
            // The value of a literal.
            Some(bits) => is(b.kword(bits, ins.ty)),
            None => Ok(Fold::Keep),
        };
    }
    match b.def(ins.a) {
        // The type of what the trace makes.
        Some(Ins { op: Op::CNEW | Op::CNEWI, a, .. }) if of_type => is(a),
        // The value in a box is what was put into it.
        Some(Ins { op: Op::CNEWI, b: value, .. }) if !of_type && b.ty(value).is_word() == ins.ty.is_word() => is(value),
        _ => Ok(Fold::Keep),
    }
}
