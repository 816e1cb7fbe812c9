//! Forwarding of fields of objects: FLOAD, FSTORE.

use super::{Older, emit_store, forward, older_store};
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op, Ty};
use crate::opt::alias::{self, Alias};
use crate::opt::cse;
use perilune_vm::layout::Field;
use perilune_vm::object::ShapeId;

fn field_of(ins: Ins) -> Option<Field> {
    Field::ALL.get(usize::from(ins.b.0)).copied()
}

/// May field `field` of `object` be the one at the address `fref`?
fn aliases(b: &IrBuffer, field: IrRef, object: IrRef, fref: IrRef) -> Alias {
    match b.is_op(fref, Op::FREF) {
        Some(f) if f.b != field => Alias::No,
        Some(f) if f.a == object => Alias::Must,
        Some(f) if b.ty(object) == Ty::Tab => alias::tables(b, object, f.a),
        _ => Alias::May,
    }
}

/// FLOAD.
pub fn load(b: &mut IrBuffer, ins: Ins) -> Emit {
    let object = ins.a;
    let Some(field) = field_of(ins) else { return b.append(ins) };
    let boxed = matches!(field, Field::CdataCtypeId | Field::CdataPtr | Field::CdataInt64 | Field::CdataInt);
    if boxed || matches!(field, Field::StrLen | Field::FuncPc | Field::FuncFfid) {
        return cse::reuse_or_append(b, ins, IrRef::BASE);
    }
    if !b.flags.fwd {
        return b.append(ins);
    }
    let floor = object.max(IrRef::BASE);
    let changed = match field {
        Field::TabArray | Field::TabAsize => alias::invalidated(b, object, floor, |c| c.array),
        Field::TabNode | Field::TabHmask | Field::TabShape => alias::invalidated(b, object, floor, |c| c.nodes),
        Field::ThreadOpen | Field::UpvalV => alias::upvalues_changed(b, floor),
        _ => alias::called(b, floor, |_| false),
    };
    let mut lim = floor.max(changed);
    let mut r = b.newest(Op::FSTORE);
    while r > lim {
        let store = b.trace.ins[r.ins_index()];
        match aliases(b, ins.b, object, store.a) {
            Alias::No => {}
            Alias::May => {
                lim = r;
                break;
            }
            Alias::Must => {
                if let Some(emit) = forward(b, ins, store.b, true) {
                    return emit;
                }
                lim = r;
                break;
            }
        }
        r = b.older(r);
    }
    if lim == floor
        && let Some(k) = of_new_table(b, object, field)
    {
        return Ok(k);
    }
    cse::reuse_or_append(b, ins, lim)
}

/// A field of a table that the trace has made and not changed since.
fn of_new_table(b: &mut IrBuffer, table: IrRef, field: Field) -> Option<IrRef> {
    let made = b.def(table)?;
    let (asize, hmask, shape) = match made.op {
        Op::TNEW => {
            let hbits = u32::from(made.b.0);
            (u32::from(made.a.0), if hbits == 0 { 0 } else { (1u32 << hbits) - 1 }, ShapeId::of_empty(hbits))
        }
        Op::TDUP => {
            let template = b.as_gc(made.a)?.as_table()?;
            (template.asize(), template.hmask.get(), template.shape.get())
        }
        _ => return None,
    };
    match field {
        Field::TabMeta => Some(b.knull(Ty::Tab)),
        Field::TabAsize => Some(b.kint(asize as i32)),
        Field::TabHmask => Some(b.kint(hmask as i32)),
        Field::TabShape => Some(b.kint(shape.number() as i32)),
        _ => None,
    }
}

/// FSTORE.
pub fn store(b: &mut IrBuffer, ins: Ins) -> Emit {
    let Some(fref) = b.is_op(ins.a, Op::FREF) else { return b.append(ins) };
    if !b.flags.fwd && !b.flags.dse {
        return b.append(ins);
    }
    let lim = ins.a.max(alias::called(b, ins.a, |_| false));
    let older = older_store(b, ins, lim, |other| aliases(b, fref.b, fref.a, other));
    if let Older::Same(r) = older {
        // Unlike loads of values, loads of fields are no guards.
        let read = b.trace.ins[r.ins_index() + 1..].iter().any(|i| i.op == Op::FLOAD && i.b == fref.b);
        if read && b.trace.ins[r.ins_index()].b != ins.b {
            return b.append(ins);
        }
    }
    emit_store(b, ins, &older)
}
