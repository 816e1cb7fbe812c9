//! FOLD: keys of tables, and loads whose result does not depend on stores.

use super::{Fold, Rule, again, holds, is};
use crate::ir::buffer::IrBuffer;
use crate::ir::{Const, Ins, IrRef, Op, Ty, VmRef};

/// HREF, NEWREF: a number key in its canonical form.
pub(super) fn key(b: &mut IrBuffer, ins: Ins) -> Rule {
    if let Some(k) = b.as_num(ins.b) {
        let i = k as i32;
        if f64::from(i) == k {
            // t[1.0]  =>  t[1]
            let i = b.kint(i);
            return again(Ins { b: i, ..ins });
        }
    } else if let Some(i) = b.int_source(ins.b) {
        // t[num(i)]  =>  t[i]
        return again(Ins { b: i, ..ins });
    }
    Ok(Fold::Keep)
}

/// HLOAD from the slot that always holds nil.
pub(super) fn load(b: &mut IrBuffer, ins: Ins) -> Rule {
    if b.trace.konst(ins.a) != Some(Const::Vm(VmRef::NilSlot)) {
        return Ok(Fold::Keep);
    }
    match ins.ty {
        Ty::Nil => is(IrRef::NIL),
        _ if ins.is_guard() => holds(false),
        _ => Ok(Fold::Keep),
    }
}

/// TBAR, OBAR: a value that is not collectable, or that lives as long as the trace, needs no barrier.
pub(super) fn barrier(b: &mut IrBuffer, ins: Ins) -> Rule {
    let ty = b.ty(ins.b);
    if ins.op == Op::OBAR && !ty.is_gc() && ty != Ty::U64 {
        return holds(true);
    }
    Ok(Fold::Keep)
}
