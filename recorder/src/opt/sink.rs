//! SINK: allocations that only exits need are made in the exits (LuaJIT's `lj_opt_sink`).
//!
//! The same holds for new cdata. A box of a scalar (CNEWI) has nothing but that value, and a struct (CNEW) is filled by stores at constant
//! offsets. In a loop the value of a box is carried instead of the box: `s = s + 1LL` keeps `s` in a register.
//!
//! A new table can be sunk if the trace only stores to it under constant keys: loads have been forwarded from those stores and checks have
//! been folded, so that its remaining uses are in snapshots. It may also be stored into another table that is sunk. Then neither the
//! allocation nor the stores are executed at their positions; an exit whose snapshot names the table makes and fills it
//! ([`crate::ir::Trace::sunk`]). A table that no snapshot names is removed.
//!
//! In a loop, a snapshot of the body may name the table that the recorded iteration made, which means the one of the previous iteration. It
//! needs no PHI, but the values stored to it do, and it can be sunk only if its copy can. A table that is a loop-carried *value*, such as
//! the previous element of a list, is not sunk.

use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Mode, Op, SnapSlot, Ty, sload};
use perilune_vm::layout::Field;

/// The tables of a trace and whether they can be sunk.
pub struct Sink {
    /// By instruction: the new table or cdata that it makes, or serves to fill; 0 if there is none. What is said of tables here holds for
    /// cdata as well.
    table: Vec<u16>,
    /// By instruction: is it a new table that cannot be sunk?
    forbidden: Vec<bool>,
    /// Is the pass on?
    on: bool,
}

/// Runs the pass on a trace that does not loop within itself.
pub fn run(b: &mut IrBuffer) {
    let mut sink = Sink::new(b);
    if let Some(last) = b.trace.snaps.last() {
        // The end of the trace is always reached, and stores these values.
        for s in &last.slots {
            sink.forbid(s.value);
        }
    }
    sink.settle(b);
    sink.apply(b);
    take_old(b);
}

/// Objects that are made once more and are not sunk are those that the exit has made.
fn take_old(b: &mut IrBuffer) {
    let again = core::mem::take(&mut b.made_again);
    if again.is_empty() {
        return;
    }
    for again in again {
        let new = b.trace.ins[again.object.ins_index()];
        if new.is_sunk() || !b.trace.makes_object(again.object) {
            continue;
        }
        let old = Ins::new(Op::SLOAD, new.ty, again.slot, IrRef(sload::PARENT));
        b.trace.ins[again.object.ins_index()] = old;
        for i in again.object.ins_index() + 1..again.end.ins_index() {
            if matches!(b.trace.ins[i].op, Op::XSTORE | Op::HSTORE | Op::ASTORE | Op::FSTORE) {
                nop(b, i);
            }
        }
    }
    b.rebuild_chains();
}

impl Sink {
    /// Finds the new tables of a trace; none if the pass is off.
    pub fn new(b: &IrBuffer) -> Sink {
        Sink::with_uses(b, |_| true)
    }
    /// The same, where slots of snapshots count as uses only if `counts` says so.
    pub(super) fn with_uses(b: &IrBuffer, counts: fn(&SnapSlot) -> bool) -> Sink {
        let n = b.trace.ins.len();
        let f = b.flags;
        let on = f.sink && f.fold && f.cse && f.dce && f.fwd;
        let some = on && [Op::TNEW, Op::TDUP, Op::CNEW, Op::CNEWI].iter().any(|&op| b.newest(op) != IrRef::NONE);
        let mut sink = Sink { table: vec![0; if some { n } else { 0 }], forbidden: vec![false; n], on };
        if some {
            for i in 1..n {
                sink.table[i] = sink.belongs(b, i);
            }
            sink.find_uses(b, counts);
        }
        sink
    }

    /// The table that an instruction makes or serves to fill, from the instruction alone.
    fn belongs(&self, b: &IrBuffer, i: usize) -> u16 {
        let ins = b.trace.ins[i];
        let of = |r: IrRef| if r.is_const() { 0 } else { self.table[r.ins_index()] };
        let is_table = |r: IrRef| !r.is_const() && usize::from(self.table[r.ins_index()]) == r.ins_index();
        let field = |f: Field| ins.b.0 == f as u16;
        let from = |op: Op| b.is_op(ins.a, op).is_some();
        match ins.op {
            Op::TNEW | Op::TDUP | Op::CNEW | Op::CNEWI => i as u16,
            Op::ADD if is_table(ins.a) && ins.b.is_const() => of(ins.a),
            Op::XSTORE if is_table(ins.a) || from(Op::ADD) => of(ins.a),
            Op::FLOAD if is_table(ins.a) && (field(Field::TabArray) || field(Field::TabNode)) => of(ins.a),
            Op::FREF if is_table(ins.a) && (field(Field::TabMeta) || field(Field::TabNomm)) => of(ins.a),
            Op::HREF | Op::NEWREF if is_table(ins.a) && ins.b.is_const() => of(ins.a),
            Op::AREF if from(Op::FLOAD) && ins.b.is_const() => of(ins.a),
            // Without a guard the key is known to be in its node.
            Op::HREFK if from(Op::FLOAD) && !ins.is_guard() => of(ins.a),
            Op::ASTORE | Op::HSTORE | Op::FSTORE => of(ins.a),
            Op::TBAR if is_table(ins.a) => of(ins.a),
            _ => 0,
        }
    }

    /// Forbids tables that are used for anything else than being filled.
    fn find_uses(&mut self, b: &IrBuffer, counts: fn(&SnapSlot) -> bool) {
        for (i, ins) in b.trace.ins.iter().enumerate() {
            let (mine, mut operands) = (self.table[i], ins.operands());
            let first = ins.op.mode_a() == Mode::Ref && !ins.a.is_const();
            if first && let Some(r) = operands.next() {
                let used = self.table[r.ins_index()];
                if used != 0 && used != mine {
                    self.forbidden[usize::from(used)] = true;
                }
            }
            if ins.op.stores_state() {
                // These instructions store all slots of the snapshot, but SYNC those without new objects.
                let snap = b.trace.snaps.iter().rfind(|s| s.at.ins_index() <= i).filter(|_| ins.op != Op::SYNC);
                for s in snap.iter().flat_map(|s| &s.slots).filter(|s| counts(s)) {
                    self.forbid(s.value);
                }
            }
            for r in operands {
                let used = usize::from(self.table[r.ins_index()]);
                // Only the table itself is a value that may be stored.
                if used != 0 && (mine == 0 || used != r.ins_index()) {
                    self.forbidden[used] = true;
                }
            }
        }
    }

    /// Marks a table as one that cannot be sunk. Tables stored into it are only affected by [`Sink::settle`].
    pub fn forbid(&mut self, r: IrRef) {
        if !r.is_const() {
            self.forbidden[r.ins_index()] = true;
        }
    }

    /// Forbids tables that are stored into tables which cannot be sunk, until nothing changes.
    pub fn settle(&mut self, b: &IrBuffer) {
        if self.table.is_empty() {
            return;
        }
        let mut again = true;
        while again {
            again = false;
            for (i, ins) in b.trace.ins.iter().enumerate() {
                let into = usize::from(self.table[i]);
                if into == 0 || !self.forbidden[into] || ins.op.mode_b() != Mode::Ref || ins.b.is_const() {
                    continue;
                }
                let stored = ins.b.ins_index();
                if self.table[stored] != 0 && !self.forbidden[stored] {
                    self.forbidden[stored] = true;
                    again = true;
                }
            }
        }
    }

    /// Is instruction `i` sunk?
    pub fn is_sunk(&self, i: usize) -> bool {
        match self.table.get(i) {
            Some(&t) => t != 0 && !self.forbidden[usize::from(t)],
            None => false,
        }
    }
    /// Is the reference a new table that is sunk?
    pub fn is_sunk_table(&self, r: IrRef) -> bool {
        !r.is_const() && self.is_sunk(r.ins_index()) && usize::from(self.table[r.ins_index()]) == r.ins_index()
    }
    /// The values stored to a sunk table.
    pub fn stored_to<'a>(&'a self, b: &'a IrBuffer, table: usize) -> impl Iterator<Item = IrRef> + 'a {
        let serves = move |i: &usize| usize::from(self.table[*i]) == table;
        let value = |i: usize| {
            let ins = b.trace.ins[i];
            let holds = matches!(ins.op, Op::ASTORE | Op::HSTORE | Op::FSTORE | Op::XSTORE | Op::CNEWI);
            holds.then_some(ins.b).filter(|r| !r.is_const())
        };
        (table..self.table.len()).filter(serves).filter_map(value)
    }

    /// Marks sunk instructions, and removes those that no exit needs.
    pub fn apply(&self, b: &mut IrBuffer) {
        let sunk: Vec<usize> = (0..self.table.len()).filter(|&i| self.is_sunk(i)).collect();
        if sunk.is_empty() {
            // Objects that are not used have been removed before, and are not copied into a loop.
            if self.on {
                drop_steps(b);
            }
            return;
        }
        for &i in &sunk {
            let flags = &mut b.trace.ins[i].flags;
            *flags = *flags & !Ins::GUARD | Ins::SINK;
        }
        let mut needed = vec![false; b.trace.ins.len()];
        for k in b.trace.snap_ids() {
            for r in b.trace.sunk(k) {
                needed[r.ins_index()] = true;
            }
        }
        for i in sunk {
            if !needed[i] || b.trace.ins[i].op == Op::TBAR {
                nop(b, i);
            }
        }
        drop_steps(b);
        b.rebuild_chains();
    }
}

fn nop(b: &mut IrBuffer, i: usize) {
    b.trace.ins[i] = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
}

/// Removes collection steps where nothing allocates, before LOOP and after it separately. After an exit that allocates, the first one stays.
fn drop_steps(b: &mut IrBuffer) {
    if b.newest(Op::GCSTEP) == IrRef::NONE {
        return;
    }
    let head = b.newest(Op::LOOP);
    let split = if head == IrRef::NONE { b.trace.ins.len() } else { head.ins_index() };
    for (part, entered) in [(1..split, b.after_allocation), (split..b.trace.ins.len(), false)] {
        if !entered && !b.trace.ins[part.clone()].iter().any(|i| !i.is_sunk() && i.op.may_allocate()) {
            for i in part {
                if b.trace.ins[i].op == Op::GCSTEP {
                    nop(b, i);
                }
            }
        }
    }
}
