//! Forwarding of values in tables: ALOAD, HLOAD, ASTORE, HSTORE, ALEN.

use super::{emit_store, forward, older_store};
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Const, Ins, IrRef, Op, Ty};
use crate::opt::alias::{self, Alias};
use perilune_vm::Value;
use perilune_vm::object::Table;

/// The newest store to table slots before `r`, of either kind.
fn newest_store(b: &IrBuffer, below: Option<IrRef>) -> IrRef {
    let first = |op: Op| {
        let mut r = b.newest(op);
        while below.is_some_and(|lim| r >= lim) {
            r = b.older(r);
        }
        r
    };
    first(Op::ASTORE).max(first(Op::HSTORE))
}

/// Walks both chains of stores, newest first.
struct Stores {
    array: IrRef,
    hash: IrRef,
}

impl Stores {
    fn new(b: &IrBuffer) -> Stores {
        Stores { array: b.newest(Op::ASTORE), hash: b.newest(Op::HSTORE) }
    }
    fn next(&mut self, b: &IrBuffer) -> IrRef {
        let r = self.array.max(self.hash);
        if r != IrRef::NONE {
            if r == self.array {
                self.array = b.older(r);
            } else {
                self.hash = b.older(r);
            }
        }
        r
    }
}

/// ALOAD, HLOAD.
pub fn load(b: &mut IrBuffer, ins: Ins) -> Emit {
    if !b.flags.fwd {
        return b.append(ins);
    }
    let address = ins.a;
    let table = alias::table_of(b, address);
    let called = match table {
        Some(t) => alias::invalidated(b, t, address, |c| c.values),
        None => alias::called(b, address, |c| c.values),
    };
    let mut lim = address.max(called);
    let mut stores = Stores::new(b);
    let mut conflict = called != IrRef::NONE;
    loop {
        let r = stores.next(b);
        if r <= lim {
            break;
        }
        let store = b.trace.ins[r.ins_index()];
        match alias::slots(b, address, store.a, true) {
            Alias::No => {}
            Alias::May => {
                lim = r;
                conflict = true;
                break;
            }
            Alias::Must => {
                if let Some(emit) = forward(b, ins, store.b, true) {
                    return emit;
                }
                lim = r;
                conflict = true;
                break;
            }
        }
    }
    if !conflict
        && let Some(t) = table
        && alias::is_new_table(b, t)
        && let Some(emit) = load_new(b, ins, t)
    {
        return emit;
    }
    let mut r = b.newest(ins.op);
    while r > lim {
        let other = b.trace.ins[r.ins_index()];
        if other.a == address
            && (other.is_guard() || !ins.is_guard())
            && let Some(emit) = forward(b, ins, r, false)
        {
            return emit;
        }
        r = b.older(r);
    }
    b.append(ins)
}

/// A load from a table that the trace made. The value is what was stored under the key, or what the table had from the start.
fn load_new(b: &mut IrBuffer, ins: Ins, table: IrRef) -> Option<Emit> {
    if alias::invalidated(b, table, table, |c| c.values) != IrRef::NONE {
        return None;
    }
    let mut stores = Stores::new(b);
    loop {
        let r = stores.next(b);
        if r <= table {
            break;
        }
        let store = b.trace.ins[r.ins_index()];
        match alias::slots(b, ins.a, store.a, false) {
            Alias::No => {}
            Alias::May => return None,
            Alias::Must => return forward(b, ins, store.b, true),
        }
    }
    let made = b.def(table)?;
    if made.op == Op::TNEW {
        return forward(b, ins, IrRef::NIL, true);
    }
    let address = b.def(ins.a)?;
    let template = b.as_gc(made.a)?.as_table()?;
    let key = match b.trace.konst(alias::key_of(b, address))? {
        Const::Int(k) => Value::int(k),
        Const::Num(k) => Value::num(f64::from_bits(k)),
        Const::Gc(k) => k,
        _ => return None,
    };
    let value = template.get(key);
    if value.is_gc() && !value.is_str() {
        return None;
    }
    let k = b.kvalue(value);
    forward(b, ins, k, true)
}

/// ASTORE, HSTORE.
pub fn store(b: &mut IrBuffer, ins: Ins) -> Emit {
    if !b.flags.fwd && !b.flags.dse {
        return b.append(ins);
    }
    let address = ins.a;
    // Calls, and stores of the other kind, that may change the location end the search.
    let called = match alias::table_of(b, address) {
        Some(t) => alias::invalidated(b, t, address, |c| c.values),
        None => alias::called(b, address, |c| c.values),
    };
    let mut lim = address.max(called);
    let other_kind = if ins.op == Op::ASTORE { Op::HSTORE } else { Op::ASTORE };
    let mut r = b.newest(other_kind);
    while r > lim {
        if alias::slots(b, address, b.trace.ins[r.ins_index()].a, true) != Alias::No {
            lim = r;
            break;
        }
        r = b.older(r);
    }
    let older = older_store(b, ins, lim, |other| alias::slots(b, address, other, true));
    emit_store(b, ins, &older)
}

/// ALEN: depends on all values under integer keys.
pub fn len(b: &mut IrBuffer, mut ins: Ins) -> Emit {
    // A copy for the loop may have other instructions before it.
    ins.b = IrRef::NIL;
    if !b.flags.fwd {
        return b.append(ins);
    }
    let table = ins.a;
    let mut lim = alias::invalidated(b, table, table, |c| c.values || c.keys).max(table);
    let mut r = newest_store(b, None);
    while r > lim {
        if may_change_len(b, table, b.trace.ins[r.ins_index()]) {
            lim = r;
            break;
        }
        r = newest_store(b, Some(r));
    }
    let mut r = b.newest(Op::ALEN);
    while r > lim {
        // The second operand has no influence on the result.
        if b.trace.ins[r.ins_index()].a == table {
            return Ok(r);
        }
        r = b.older(r);
    }
    if let Some(n) = len_of_new(b, table, lim == table) {
        return Ok(b.kint(n));
    }
    if is_appended(b, table) {
        ins.b = b.kint(1);
    }
    b.append(ins)
}

/// The length of a table that the trace made, if no value has been stored under an integer since. Were no keys added either, it is
/// `unchanged`.
fn len_of_new(b: &IrBuffer, table: IrRef, unchanged: bool) -> Option<i32> {
    let made = b.def(table).filter(|i| matches!(i.op, Op::TNEW | Op::TDUP))?;
    if alias::invalidated(b, table, table, |c| c.values) != IrRef::NONE {
        return None;
    }
    let mut r = newest_store(b, None);
    while r > table {
        if may_change_len(b, table, b.trace.ins[r.ins_index()]) {
            return None;
        }
        r = newest_store(b, Some(r));
    }
    if made.op == Op::TNEW {
        return Some(0);
    }
    let template = b.as_gc(made.a)?.as_table()?;
    // A key that is added may move others from one part of a table to the other. That shows where there are two lengths to choose from.
    (unchanged || has_one_len(&template)).then(|| template.len() as i32)
}

/// Has a table values under 1 to n, and under no other number?
fn has_one_len(t: &Table) -> bool {
    let mut numbers = 0;
    let mut at = 0;
    while let Some((next, key, _)) = t.next_index(at) {
        numbers += u32::from(key.is_number());
        at = next;
    }
    numbers == t.len()
}

/// After the copy for the loop: in the iterations that follow, what is in front of the ALEN of a table that the iteration before took the length
/// of as well is the rest of the loop. Appending may not be all that happens there.
pub fn check_appended(b: &mut IrBuffer, body: usize) {
    let (body, mut r) = (IrRef::of_ins(body), b.newest(Op::ALEN));
    while r > body {
        let (ins, older) = (b.trace.ins[r.ins_index()], b.older(r));
        if ins.b != IrRef::NIL && older < body && !is_appended(b, ins.a) {
            b.trace.ins[r.ins_index()].b = IrRef::NIL;
        }
        r = older;
    }
}

/// Has nothing happened to a table since its length was taken by the newest ALEN, but that one element was appended: that `t[#t + 1]` was set?
/// Then its length is found from the length before.
fn is_appended(b: &IrBuffer, table: IrRef) -> bool {
    let len = b.newest(Op::ALEN);
    // Another name might be one of the same table.
    if len == IrRef::NONE || b.trace.ins[len.ins_index()].a != table {
        return false;
    }
    if alias::invalidated(b, table, len, |c| c.values || c.keys).max(alias::called(b, len, |_| false)) > len {
        return false;
    }
    let mut appended = false;
    let mut r = newest_store(b, None);
    while r > len {
        let store = b.trace.ins[r.ins_index()];
        if may_change_len(b, table, store) {
            if !appends(b, table, len, store) {
                return false;
            }
            appended = true;
        }
        r = newest_store(b, Some(r));
    }
    appended
}
/// Does a store append an element to a table of a length?
fn appends(b: &IrBuffer, table: IrRef, len: IrRef, store: Ins) -> bool {
    let Some(address) = b.is_op(store.a, Op::AREF) else { return false };
    let is_next = b.def(address.b).is_some_and(|i| {
        matches!(i.op, Op::ADD | Op::ADDOV) && i.ty == Ty::Int && i.a == len && b.trace.konst(i.b) == Some(Const::Int(1))
    });
    is_next && store.ty != Ty::Nil && alias::table_of(b, store.a) == Some(table)
}

fn may_change_len(b: &IrBuffer, table: IrRef, store: Ins) -> bool {
    let Some(address) = b.def(store.a) else { return true };
    let key = b.ty(alias::key_of(b, address));
    let integer = matches!(key, Ty::Int | Ty::Num | Ty::U64);
    integer && alias::table_of(b, store.a).is_none_or(|t| alias::tables(b, table, t) != Alias::No)
}
