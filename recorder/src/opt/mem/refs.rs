//! Forwarding of addresses of table slots, of barriers, and of loads from the VM's own memory.

use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Const, Ins, IrRef, Op, VmRef};
use crate::opt::alias::{self, Alias, Clobber};
use crate::opt::cse;

/// CSE for an instruction whose result calls may invalidate.
pub fn shared_until(b: &mut IrBuffer, ins: Ins, what: impl Fn(Ins, Clobber) -> bool) -> Emit {
    let lim = alias::called(b, ins.newest_operand(), |c| what(ins, c));
    cse::reuse_or_append(b, ins, lim)
}

/// HREF: the result of a lookup is valid until keys are inserted into the table, or cleared.
pub fn href(b: &mut IrBuffer, ins: Ins) -> Emit {
    let table = ins.a;
    let changed = alias::invalidated(b, table, table.max(IrRef::BASE), |c| c.keys);
    if b.flags.fwd {
        // The last inserted slot belongs to this key.
        if let Some(Ins { op: Op::NEWREF, a, b: key, .. }) = b.def(changed)
            && a == table
            && alias::keys(b, key, ins.b) == Alias::Must
        {
            return Ok(changed);
        }
        if is_absent(b, ins) {
            return Ok(b.kvm(VmRef::NilSlot));
        }
    }
    cse::reuse_or_append(b, ins, changed)
}

/// Does a new table lack a key that is no number?
fn is_absent(b: &IrBuffer, ins: Ins) -> bool {
    let (table, key) = (ins.a, ins.b);
    let lacks = match b.def(table) {
        Some(Ins { op: Op::TNEW, .. }) => !b.ty(key).is_number() && b.ty(key) != crate::ir::Ty::U64,
        Some(Ins { op: Op::TDUP, a, .. }) => match (b.as_gc(a).and_then(|v| v.as_table()), b.as_gc(key)) {
            (Some(template), Some(key)) => template.find(key).is_none(),
            _ => false,
        },
        _ => false,
    };
    if !lacks {
        return false;
    }
    if alias::invalidated(b, table, table, |c| c.keys && c.values) != IrRef::NONE {
        return false;
    }
    let mut r = b.newest(Op::NEWREF);
    while r > table {
        let new = b.trace.ins[r.ins_index()];
        if alias::tables(b, table, new.a) != Alias::No && alias::keys(b, new.b, key) != Alias::No {
            return false;
        }
        r = b.older(r);
    }
    true
}

/// Is the key of an HREF in the table for certain? Keys that were inserted, or came with the template, stay until they are cleared or
/// moved.
pub fn is_present(b: &IrBuffer, href: IrRef) -> bool {
    let Some(ins) = b.is_op(href, Op::HREF) else { return false };
    let table = ins.a;
    let gone = alias::invalidated(b, table, table, |c| c.keys && c.values);
    let mut r = b.newest(Op::NEWREF);
    while r > gone.max(table) {
        let new = b.trace.ins[r.ins_index()];
        if r < href && new.a == table && alias::keys(b, new.b, ins.b) == Alias::Must {
            return true;
        }
        r = b.older(r);
    }
    let template = b.is_op(table, Op::TDUP).and_then(|i| b.as_gc(i.a)).and_then(|v| v.as_table());
    match (template, b.trace.konst(ins.b)) {
        (Some(t), Some(Const::Gc(key))) if gone == IrRef::NONE => t.find(key).is_some(),
        _ => false,
    }
}

/// Is the node of an HREFK that of its key in the template that its table was made from?
fn is_of_template(b: &IrBuffer, hrefk: Ins) -> bool {
    let made = b.is_op(hrefk.a, Op::FLOAD).and_then(|nodes| b.is_op(nodes.a, Op::TDUP));
    let template = made.and_then(|made| b.as_gc(made.a)).and_then(|v| v.as_table());
    let (Some(template), Some(Const::Slot(key, node))) = (template, b.trace.konst(hrefk.b)) else { return false };
    let Some(Const::Gc(key)) = b.trace.konst(key) else { return false };
    template.nodes().get(node as usize).is_some_and(|n| n.key.get() == key)
}

/// HREFK: the key stays in its node as long as the address of the nodes is valid (see [`super::field`]). In a new table made from a
/// template it is there from the start.
pub fn hrefk(b: &mut IrBuffer, mut ins: Ins) -> Emit {
    if b.flags.fwd
        && let Some(nodes) = b.is_op(ins.a, Op::FLOAD)
        && let Some(Const::Slot(key, _)) = b.trace.konst(ins.b)
    {
        let table = nodes.a;
        let changed = alias::invalidated(b, table, table.max(IrRef::BASE), |c| c.nodes);
        if let Some(Ins { op: Op::NEWREF, a, b: inserted, .. }) = b.def(changed)
            && a == table
            && inserted == key
        {
            return Ok(changed);
        }
        if changed == IrRef::NONE && is_of_template(b, ins) {
            ins.flags &= !Ins::GUARD;
        }
    }
    cse::reuse_or_append(b, ins, IrRef::BASE)
}

/// The newest instruction during which the collector may have marked objects: builtins have safepoints as well.
fn collected(b: &IrBuffer) -> IrRef {
    b.newest(Op::GCSTEP).max(b.newest(Op::NATIVE))
}

/// TBAR: a second barrier for the same value, or after one for whatever was stored, is superfluous until a collection step blackens the
/// table again, and a new table is not black.
pub fn table_barrier(b: &mut IrBuffer, ins: Ins) -> Emit {
    let step = collected(b);
    let before = |value| cse::find(b, Ins { b: value, ..ins }, step).is_some();
    if b.flags.fwd && (alias::is_new_table(b, ins.a) && ins.a > step || before(IrRef::NIL) || before(ins.b)) {
        return Ok(IrRef::NONE);
    }
    b.append(ins)
}

/// OBAR: likewise, for the same value.
pub fn upvalue_barrier(b: &mut IrBuffer, ins: Ins) -> Emit {
    let step = collected(b);
    if b.flags.fwd && cse::find(b, ins, step).is_some() {
        return Ok(IrRef::NONE);
    }
    b.append(ins)
}

/// VLOAD: scratch words are valid until a helper writes new ones.
pub fn scratch_load(b: &mut IrBuffer, ins: Ins) -> Emit {
    if !matches!(b.trace.konst(ins.a), Some(Const::Vm(_))) {
        // A slot that a builtin has written, or an argument of a vararg function: the trace does not store to it.
        return if ins.a == IrRef::BASE { b.append(ins) } else { shared_until(b, ins, |_, c| c.all) };
    }
    let called = alias::called(b, IrRef::BASE, |c| c.scratch);
    let lim = called.max(b.newest(Op::GCSTEP)).max(b.newest(Op::STRTO));
    cse::reuse_or_append(b, ins, lim)
}

/// CALLL: may read any memory.
pub fn reading_call(b: &mut IrBuffer, ins: Ins) -> Emit {
    let stores = [Op::ASTORE, Op::HSTORE, Op::USTORE, Op::FSTORE, Op::XSTORE, Op::NEWREF];
    let lim = stores.iter().map(|&op| b.newest(op)).max().unwrap_or(IrRef::NONE);
    let lim = lim.max(alias::called(b, IrRef::BASE, |c| c != Clobber::default())).max(alias::foreign(b));
    cse::reuse_or_append(b, ins, lim)
}
