//! Alias analysis: whether two references may name the same memory, and what memory a call may change (LuaJIT's `aa_table`, `aa_ahref` in
//! `lj_opt_mem`).

use crate::ir::buffer::IrBuffer;
use crate::ir::{Const, Ins, IrRef, Op, Ty};
use perilune_vm::helper::{Helper, HelperEffect};
use perilune_vm::layout::Field;

/// May two references name the same memory?
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Alias {
    /// Never.
    No,
    /// Unknown.
    May,
    /// Always.
    Must,
}

/// What an instruction may invalidate, besides the one location that a store names.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Clobber {
    /// Address and size of the array part of the table.
    pub array: bool,
    /// Address and mask of the hash part of the table, and which key is in which node.
    pub nodes: bool,
    /// Results of looking up keys in the table.
    pub keys: bool,
    /// Values in the table.
    pub values: bool,
    /// The VM's scratch words.
    pub scratch: bool,
    /// Which upvalues are open.
    pub upvalues: bool,
    /// Everything.
    pub all: bool,
}

const NOTHING: Clobber =
    Clobber { array: false, nodes: false, keys: false, values: false, scratch: false, upvalues: false, all: false };
/// Effects of inserting a key: array and hash part may move.
const INSERTION: Clobber = Clobber { array: true, nodes: true, keys: true, ..NOTHING };
const SCRATCH: Clobber = Clobber { scratch: true, ..NOTHING };

/// What a helper invalidates, in the table that is its first argument if it works on a table. No load of a trace reads what barriers, the
/// string buffer, buffer objects and the random number generator write. Any other helper with effects invalidates everything.
pub const fn clobber(helper: Helper) -> Clobber {
    match helper {
        Helper::TabNewKey | Helper::TabTryNewKey => INSERTION,
        Helper::TabInsert => Clobber { values: true, ..INSERTION },
        Helper::TabSetList => Clobber { values: true, ..INSERTION },
        Helper::TabRemove => Clobber { values: true, scratch: true, ..INSERTION },
        Helper::TabClear => Clobber { nodes: true, keys: true, values: true, ..NOTHING },
        Helper::TabNext | Helper::StrToNum | Helper::GcStep => SCRATCH,
        Helper::CloseUpvals => Clobber { upvalues: true, ..NOTHING },
        Helper::BarrierTable | Helper::BarrierUpval | Helper::Random => NOTHING,
        // The XBAR after them says what they change.
        Helper::MemCopy | Helper::MemFill | Helper::MemRepeat => NOTHING,
        Helper::Errno | Helper::SetErrno | Helper::CdataFinalizer => NOTHING,
        Helper::BufReset | Helper::BufPut | Helper::BufPutInt | Helper::BufPutNum => NOTHING,
        Helper::BufFormatStr | Helper::BufFormatInt | Helper::BufFormatNum => NOTHING,
        // The XBAR after them covers pointers into the buffer.
        Helper::BufferPut | Helper::BufferPutInt | Helper::BufferPutNum | Helper::BufferPutPart | Helper::BufferPutBuffer => {
            NOTHING
        }
        Helper::BufferPutBytes | Helper::BufferStart | Helper::BufferReserve | Helper::BufferSpareLen | Helper::BufferCommit => {
            NOTHING
        }
        Helper::BufferLen | Helper::BufferText | Helper::BufferSkip | Helper::BufferReset | Helper::BufferSet => NOTHING,
        _ => match helper.effect() {
            HelperEffect::Pure | HelperEffect::Load | HelperEffect::Alloc => NOTHING,
            HelperEffect::Store => Clobber { all: true, ..NOTHING },
        },
    }
}

/// The helper that a call names.
pub fn helper_of(ins: Ins) -> Option<Helper> {
    Helper::ALL.get(usize::from(ins.b.0)).copied()
}

/// What a CALLS invalidates.
fn clobber_of(ins: Ins) -> Clobber {
    helper_of(ins).map_or(Clobber { all: true, ..NOTHING }, clobber)
}

/// The first argument of a call.
fn first_argument(b: &IrBuffer, ins: Ins) -> IrRef {
    let mut r = ins.a;
    for _ in 1..helper_of(ins).map_or(0, |h| h.args().len()) {
        match b.is_op(r, Op::CARG) {
            Some(carg) => r = carg.a,
            None => break,
        }
    }
    r
}

/// The newest instruction after `lim` that may invalidate, in table `tab`, what `what` selects; [`IrRef::NONE`] if none does.
pub fn invalidated(b: &IrBuffer, tab: IrRef, lim: IrRef, what: impl Fn(Clobber) -> bool) -> IrRef {
    let mut found = IrRef::NONE;
    if what(INSERTION) {
        let mut r = b.newest(Op::NEWREF);
        while r > lim {
            if tables(b, tab, b.trace.ins[r.ins_index()].a) != Alias::No {
                found = r;
                break;
            }
            r = b.older(r);
        }
    }
    let mut r = b.newest(Op::CALLS);
    while r > lim && r > found {
        let ins = b.trace.ins[r.ins_index()];
        let c = clobber_of(ins);
        if c.all || what(c) && tables(b, tab, first_argument(b, ins)) != Alias::No {
            found = r;
            break;
        }
        r = b.older(r);
    }
    found.max(native(b, lim))
}
/// The newest NATIVE after `lim` that may change any memory.
fn native(b: &IrBuffer, lim: IrRef) -> IrRef {
    let mut r = b.newest(Op::NATIVE);
    while r > lim && b.trace.ins[r.ins_index()].b.0 & crate::ir::native::READS != 0 {
        r = b.older(r);
    }
    if r > lim { r } else { IrRef::NONE }
}

/// The newest switch to another coroutine after `lim`: stacks may have changed or moved since.
fn switched(b: &IrBuffer, lim: IrRef) -> IrRef {
    let newest = b.newest(Op::RESUME).max(b.newest(Op::YIELD)).max(b.newest(Op::COEND));
    if newest > lim { newest } else { IrRef::NONE }
}

/// The newest call or switch after `lim` that invalidates what `what` selects, in any table.
pub fn called(b: &IrBuffer, lim: IrRef, what: impl Fn(Clobber) -> bool) -> IrRef {
    let other = native(b, lim).max(switched(b, lim));
    let mut r = b.newest(Op::CALLS);
    while r > lim {
        let c = clobber_of(b.trace.ins[r.ins_index()]);
        if c.all || what(c) {
            return r.max(other);
        }
        r = b.older(r);
    }
    other
}

/// The newest instruction after which all memory outside of the VM may have changed, besides calls of helpers: code in C has run.
pub fn foreign(b: &IrBuffer) -> IrRef {
    b.newest(Op::CALLXS).max(b.newest(Op::XBAR))
}

/// The newest instruction after `lim` that may have opened or closed an upvalue.
pub fn upvalues_changed(b: &IrBuffer, lim: IrRef) -> IrRef {
    let closed = called(b, lim, |c| c.upvalues);
    let mut r = b.newest(Op::CALLA);
    while r > lim.max(closed) {
        if helper_of(b.trace.ins[r.ins_index()]) == Some(Helper::FuncNew) {
            return r;
        }
        r = b.older(r);
    }
    closed
}

/// Is the reference a table that the trace makes?
pub fn is_new_table(b: &IrBuffer, r: IrRef) -> bool {
    b.def(r).is_some_and(|i| matches!(i.op, Op::TNEW | Op::TDUP))
}

/// Is there an instruction `op` after `start` that passes the test?
fn any_after(b: &IrBuffer, op: Op, start: IrRef, test: impl Fn(IrRef, Ins) -> bool) -> bool {
    let mut r = b.newest(op);
    while r > start {
        if test(r, b.trace.ins[r.ins_index()]) {
            return true;
        }
        r = b.older(r);
    }
    false
}

/// May the reference to a new table have been stored in memory, between the allocation and `stop`?
fn escapes(b: &IrBuffer, new: IrRef, stop: IrRef) -> bool {
    let stored = [Op::ASTORE, Op::HSTORE, Op::USTORE, Op::FSTORE, Op::XSTORE, Op::NEWREF, Op::CARG];
    let anywhere = |op: Op, test: &dyn Fn(Ins) -> bool| any_after(b, op, new, |r, i| r < stop && test(i));
    stored.iter().any(|&op| anywhere(op, &|i| i.b == new))
        || anywhere(Op::CARG, &|i| i.a == new)
        || anywhere(Op::CALLS, &|i| i.a == new && clobber_of(i).all)
        || anywhere(Op::NATIVE, &|_| true)
        || anywhere(Op::COSAVE, &|_| true)
}

/// Has only this trace inserted keys into a table that it makes, all of them constant strings? Then the same keys are in the same nodes
/// each time that the trace comes here: they follow from the template, and from which values are nil when the table grows. So no value may be
/// of unknown type, be stored under an unknown key, or be removed by the collector; an array part would also count.
pub fn has_known_keys(b: &IrBuffer, table: IrRef) -> bool {
    let all_after = |op: Op, test: &dyn Fn(Ins) -> bool| !any_after(b, op, table, |_, i| !test(i));
    let has_array = match b.def(table) {
        Some(Ins { op: Op::TNEW, a, .. }) => a.0 != 0,
        Some(Ins { op: Op::TDUP, a, .. }) => b.as_gc(a).and_then(|v| v.as_table()).is_none_or(|template| template.asize() != 0),
        _ => return false,
    };
    !has_array
        && b.newest(Op::GCSTEP) < table
        && !escapes(b, table, IrRef(u16::MAX))
        && all_after(Op::NEWREF, &|i| i.a != table || i.b.is_const() && b.ty(i.b) == Ty::Str)
        && all_after(Op::HREF, &|i| i.a != table || i.b.is_const())
        && all_after(Op::HSTORE, &|i| i.ty != Ty::U64 || table_of(b, i.a) != Some(table))
        && all_after(Op::CALLS, &|i| first_argument(b, i) != table || !clobber_of(i).nodes)
}

/// May two table references be the same table?
pub fn tables(b: &IrBuffer, x: IrRef, y: IrRef) -> Alias {
    if x == y {
        return Alias::Must;
    }
    if x.is_const() && y.is_const() {
        return Alias::No;
    }
    match (is_new_table(b, x), is_new_table(b, y)) {
        (true, true) => Alias::No,
        // An older reference is another table. A newer one may have been loaded from where the new table was stored.
        (true, false) if y < x || !escapes(b, x, y) => Alias::No,
        (false, true) if x < y || !escapes(b, y, x) => Alias::No,
        _ => Alias::May,
    }
}

/// The table that a slot's address belongs to.
pub fn table_of(b: &IrBuffer, address: IrRef) -> Option<IrRef> {
    let ins = b.def(address)?;
    let through = |field: Field| b.is_op(ins.a, Op::FLOAD).filter(|f| f.b.0 == field as u16).map(|f| f.a);
    match ins.op {
        Op::AREF => through(Field::TabArray),
        Op::HREFK => through(Field::TabNode),
        Op::HREF | Op::NEWREF => Some(ins.a),
        _ => None,
    }
}

/// The key that a slot's address belongs to.
pub fn key_of(b: &IrBuffer, ins: Ins) -> IrRef {
    match b.trace.konst(ins.b) {
        Some(Const::Slot(key, _)) if ins.op == Op::HREFK => key,
        _ => ins.b,
    }
}

/// Which part of the table the slot is in.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Part {
    Array,
    Hash,
    Either,
}

fn part_of(b: &IrBuffer, ins: Ins) -> Part {
    match ins.op {
        Op::AREF => Part::Array,
        Op::HREFK => Part::Hash,
        _ => match b.ty(ins.b) {
            Ty::Int | Ty::Num | Ty::U64 => Part::Either,
            _ => Part::Hash,
        },
    }
}

/// An int as base and constant offset.
fn split(b: &IrBuffer, r: IrRef) -> (IrRef, i32) {
    match b.def(r) {
        Some(Ins { op: Op::ADD | Op::ADDOV, a, b: c, ty: Ty::Int, .. }) => match b.as_int(c) {
            Some(k) => (a, k),
            None => (r, 0),
        },
        _ => (r, 0),
    }
}

/// May two keys be equal?
pub fn keys(b: &IrBuffer, x: IrRef, y: IrRef) -> Alias {
    if x == y {
        return Alias::Must;
    }
    let number = |r: IrRef| b.as_int(r).map(f64::from).or_else(|| b.as_num(r));
    if x.is_const() && y.is_const() {
        return if number(x).is_some() && number(x) == number(y) { Alias::Must } else { Alias::No };
    }
    let (tx, ty) = (b.ty(x), b.ty(y));
    if tx.is_number() && ty.is_number() {
        // i + k1 and i + k2
        let ((bx, ox), (by, oy)) = (split(b, x), split(b, y));
        return if bx == by && ox != oy { Alias::No } else { Alias::May };
    }
    let unknown = |t: Ty| t == Ty::U64;
    if tx == ty || unknown(tx) || unknown(ty) { Alias::May } else { Alias::No }
}

/// May two addresses of table slots (AREF, HREFK, HREF, NEWREF) be the slot of one key in one table? `apart` says that both are valid at
/// the same time, so that a slot of the array part and one of the hash part are different.
pub fn slots(b: &IrBuffer, x: IrRef, y: IrRef, apart: bool) -> Alias {
    if x == y {
        return Alias::Must;
    }
    let (Some(ix), Some(iy)) = (b.def(x), b.def(y)) else {
        // The nil slot is never stored to.
        return Alias::No;
    };
    let is_slot = |i: Ins| matches!(i.op, Op::AREF | Op::HREFK | Op::HREF | Op::NEWREF);
    if !is_slot(ix) || !is_slot(iy) {
        return Alias::May;
    }
    if apart && matches!((part_of(b, ix), part_of(b, iy)), (Part::Array, Part::Hash) | (Part::Hash, Part::Array)) {
        return Alias::No;
    }
    let same_key = keys(b, key_of(b, ix), key_of(b, iy));
    if same_key == Alias::No {
        return Alias::No;
    }
    match (table_of(b, x), table_of(b, y)) {
        (Some(tx), Some(ty)) => match tables(b, tx, ty) {
            Alias::Must => same_key,
            other => other,
        },
        _ => Alias::May,
    }
}
