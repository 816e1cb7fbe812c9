//! LOOP: copies the recorded iteration into a loop body.
//!
//! The trace has recorded one iteration, which becomes the code before the loop. After the LOOP marker every instruction is emitted once
//! more, with its operands substituted: a load of a stack slot by the value that the slot has at the end of the iteration, every other
//! reference by its copy. Because of the emission pipeline, the copy of an invariant instruction is the instruction itself, guards
//! included, and values travel through memory and slots from one iteration to the next without being stored and loaded.
//!
//! ```text
//! 0001 int SLOAD #2           the substitution in the copy: 0001 -> 0003
//! 0002 guard LE 0001 0000       (limit is invariant)        0002 -> 0005
//! 0003 int ADD 0001 +1                                      0003 -> 0006
//! 0004 ------ LOOP ------
//! 0005 guard LE 0003 0000
//! 0006 int ADD 0003 +1
//! 0007 int PHI 0003 0006
//! ```
//!
//! In the body a reference to an instruction before LOOP is its value in the previous iteration: 0003 above is the induction variable at
//! the start of the iteration. So each such reference that is used, and whose copy is another instruction, needs a PHI, which makes the
//! copy's value the previous one. PHIs are found at the end, by following live values, so that a loop-carried value that is not used costs
//! nothing.
//!
//! Snapshots are copied as well. A slot that the iteration has not yet written has its value from the last snapshot, the state at the end
//! of the previous iteration.

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Const, Effect, Ins, IrRef, Mode, Op, SlotIdx, SnapSlot, Snapshot, Ty, conv, sload};
use crate::opt::abc;
use crate::opt::dce;
use crate::opt::sink::Sink;
use crate::opt::widen;
use perilune_vm::fault::{Fault, is_injected};

/// Greatest number of loop-carried values.
const MAX_PHI: usize = 100;

/// Runs the pass on a trace that ends where its loop closes. On an error the trace is unchanged.
pub fn run(b: &mut IrBuffer) -> Result<(), Abort> {
    let invar = b.trace.ins.len();
    let nsnaps = b.trace.snaps.len();
    let Some(last) = b.trace.snaps.last().cloned() else { return Ok(()) };
    if last.base_slot != b.trace.snaps[0].base_slot || b.trace.ins.iter().any(|i| i.op.moves_base() || i.op == Op::LOOP) {
        return Ok(());
    }
    let (guard_emitted, limits) = (b.guard_emitted(), b.limits);
    // The limits apply to the recorded instructions, so the copy may have as many again.
    b.limits.maxrecord = limits.maxrecord.saturating_mul(2);
    b.limits.maxsnap = limits.maxsnap.saturating_mul(2);
    // Dead instructions are not copied, and the body must not use them. If the loop does not close, they are restored.
    let removed = dce::take(b);
    let widen = widen::candidates(b);
    let mut result = unroll(b, nsnaps, &last, &widen);
    if result.is_err() && !widen.is_empty() {
        undo(b, invar, nsnaps, &last, guard_emitted);
        result = unroll(b, nsnaps, &last, &[]);
    }
    b.limits = limits;
    if result.is_err() {
        undo(b, invar, nsnaps, &last, guard_emitted);
        for (i, ins) in removed {
            b.trace.ins[i] = ins;
        }
        b.rebuild_chains();
    }
    result
}

/// The position of a loop over `next`, from its control value: the control value is the position with a tag added.
pub(crate) fn position(b: &mut IrBuffer, control: IrRef) -> Option<IrRef> {
    if let Some(Const::Ptr(word)) = b.trace.konst(control) {
        return Some(b.kint(word as u32 as i32));
    }
    let wide = b.is_op(control, Op::ADD).filter(|i| i.ty == Ty::U64)?;
    b.is_op(wide.a, Op::CONV).filter(|i| i.b.0 == conv::U64_INT).map(|i| i.a)
}

fn unroll(b: &mut IrBuffer, nsnaps: usize, last: &Snapshot, widen: &[bool]) -> Result<(), Abort> {
    if !widen.is_empty() {
        widen::convert_operands(b, widen)?;
        b.trace.snaps[nsnaps - 1].at = b.trace.next_ref();
    }
    let invar = b.trace.ins.len();
    let (subst, checked_once) = (Vec::with_capacity(invar), Vec::with_capacity(invar));
    Unroll { b, invar, nsnaps, subst, checked_once, last, widen, texts: Vec::new() }.run()
}

/// Removes the body.
fn undo(b: &mut IrBuffer, invar: usize, nsnaps: usize, last: &Snapshot, guard_emitted: bool) {
    b.rollback(invar);
    b.rebuild_chains();
    b.trace.snaps.truncate(nsnaps);
    b.trace.snaps[nsnaps - 1] = last.clone();
    b.set_guard_emitted(guard_emitted);
    for ins in &mut b.trace.ins {
        ins.flags &= !Ins::PHI;
    }
}

struct Unroll<'a> {
    b: &'a mut IrBuffer,
    /// Number of instructions before LOOP.
    invar: usize,
    /// Number of snapshots before LOOP.
    nsnaps: usize,
    /// The copy of each instruction before LOOP.
    subst: Vec<IrRef>,
    /// By instruction before LOOP: does its copy check nothing?
    checked_once: Vec<bool>,
    /// State at the end of the recorded iteration.
    last: &'a Snapshot,
    /// By instruction: is its copy computed in doubles (see [`widen`])? Empty if none is.
    widen: &'a [bool],
    /// The BUFHDR of each text so far that is the same in all iterations.
    texts: Vec<usize>,
}

impl Unroll<'_> {
    fn run(mut self) -> Result<(), Abort> {
        self.subst.push(IrRef::BASE);
        self.checked_once.push(true);
        self.b.emit_raw(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        let mut snap = 1;
        for i in 1..self.invar {
            while snap < self.nsnaps && self.b.trace.snaps[snap].at.ins_index() <= i {
                self.copy_snapshot(snap)?;
                snap += 1;
            }
            self.b.origin = self.b.trace.origin_at(i);
            let before = self.b.trace.ins.len();
            let r = self.copy(i)?;
            self.subst.push(r);
            self.checked_once.push(!self.b.trace.ins[before..].iter().any(|ins| ins.is_guard()));
        }
        if !self.b.guard_emitted() && self.b.trace.snaps.len() > self.nsnaps {
            // No guard leaves through this snapshot.
            self.b.trace.snaps.pop();
        }
        crate::opt::mem::table::check_appended(self.b, self.invar);
        self.restore_objects();
        self.emit_phis()?;
        crate::opt::hoist::run(self.b, &self.subst, &self.checked_once);
        Ok(())
    }

    fn substitute(&self, mode: Mode, r: IrRef) -> IrRef {
        if mode == Mode::Ref && !r.is_const() { self.subst[r.ins_index()] } else { r }
    }

    /// Emits the copy of instruction `i`.
    fn copy(&mut self, i: usize) -> Result<IrRef, Abort> {
        let ins = self.b.trace.ins[i];
        let this = IrRef::of_ins(i);
        if ins.op == Op::SLOAD {
            return self.copy_slot(this, ins);
        }
        let (x, y) = (self.substitute(ins.op.mode_a(), ins.a), self.substitute(ins.op.mode_b(), ins.b));
        let is_value = ins.op.effect() == Effect::Pure || ins.makes_string_of_values();
        if ins.op == Op::NOP || is_value && x == ins.a && y == ins.b || self.is_of_invariant_text(i) {
            return Ok(this);
        }
        if x == ins.a && (ins.op == Op::USE || ins.op == Op::ABC && ins.ty == abc::INVARIANT) {
            return Ok(IrRef::NONE);
        }
        if self.widen.get(i) == Some(&true) {
            return widen::copy(self.b, ins.op, x, y);
        }
        if ins.op == Op::CONV && ins.b.0 == conv::NUM_INT && self.b.ty(x) == Ty::Num {
            return Ok(x);
        }
        let r = self.b.emit_ins(Ins { a: x, b: y, flags: ins.flags & Ins::GUARD, ..ins })?;
        let has_value = r != IrRef::NONE && !ins.op.is_comparison() && !matches!(ins.op, Op::CARG | Op::ABC);
        if has_value && ins.op.effect() != Effect::Store { self.converted(r, ins.ty) } else { Ok(r) }
    }

    /// Does instruction `i` belong to the buffer of a text all of whose parts are invariant? Its string is the same in all iterations.
    fn is_of_invariant_text(&mut self, i: usize) -> bool {
        let ins = &self.b.trace.ins;
        match ins[i].op {
            Op::BUFHDR => {
                if self.is_invariant_text(i) {
                    self.texts.push(i);
                }
                self.texts.last() == Some(&i)
            }
            Op::BUFPUT | Op::BUFNUM | Op::BUFFMT | Op::BUFSTR => {
                let mut head = i;
                while ins[head].op != Op::BUFHDR {
                    head = ins[head].a.ins_index();
                }
                self.texts.last() == Some(&head)
            }
            _ => false,
        }
    }
    /// Are all parts of the text that the BUFHDR `head` begins invariant? The instructions of different texts do not mix.
    fn is_invariant_text(&self, head: usize) -> bool {
        let mut buffer = head;
        for (i, part) in self.b.trace.ins.iter().enumerate().take(self.invar).skip(head + 1) {
            match part.op {
                Op::BUFHDR => return false,
                Op::BUFSTR => return part.a.ins_index() == buffer,
                Op::BUFPUT | Op::BUFNUM | Op::BUFFMT if part.a.ins_index() != buffer || !self.is_invariant(part.b) => {
                    return false;
                }
                Op::BUFPUT | Op::BUFNUM | Op::BUFFMT => buffer = i,
                _ => {}
            }
        }
        false
    }
    /// Is a reference the same in all iterations? Its instruction may be one that has not been copied yet.
    fn is_invariant(&self, r: IrRef) -> bool {
        if r.is_const() {
            return true;
        }
        let i = r.ins_index();
        match self.subst.get(i) {
            Some(copy) => *copy == r,
            None => {
                let ins = self.b.trace.ins[i];
                ins.op == Op::CARG && ins.operands().all(|r| self.is_invariant(r))
            }
        }
    }

    /// The copy of an SLOAD: the value that the iteration has assigned to the slot.
    fn copy_slot(&mut self, this: IrRef, ins: Ins) -> Result<IrRef, Abort> {
        let slots = &self.last.slots;
        let Ok(at) = slots.binary_search_by_key(&ins.a.slot(), |s| s.slot) else { return Ok(this) };
        let value = slots[at].value;
        if ins.b.0 & sload::KEYINDEX != 0 {
            return position(self.b, value).ok_or(Abort::TypeInstability);
        }
        if ins.b.0 & sload::CONVERT != 0 && ins.ty == Ty::Int && self.b.ty(value) == Ty::Num {
            return self.b.guard(Op::CONV, Ty::Int, value, IrRef(conv::INT_NUM_CHECK));
        }
        self.converted(value, ins.ty)
    }

    /// A value converted to the type of the one that it replaces.
    fn converted(&mut self, r: IrRef, ty: Ty) -> Result<IrRef, Abort> {
        let from = self.b.ty(r);
        if from == ty || from.is_int() && ty.is_int() || from.is_word() && ty.is_word() {
            Ok(r)
        } else if ty == Ty::Num && from.is_int() {
            self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT))
        } else {
            Err(Abort::TypeInstability)
        }
    }

    /// Does the slot in memory keep its value through all iterations? Where NATIVE or SYNC stores slots, memory must also have the value at
    /// the end of an iteration.
    fn stays(&self, s: SnapSlot) -> bool {
        let same = self.b.def(s.value).is_none_or(|i| i.op == Op::SLOAD && i.a.slot() == s.slot);
        let stores = [Op::NATIVE, Op::SYNC].iter().any(|&op| self.b.newest(op) != IrRef::NONE);
        same && (!stores || self.is_in_memory(s.slot))
    }
    fn is_in_memory(&self, slot: SlotIdx) -> bool {
        let slots = &self.last.slots;
        slots.binary_search_by_key(&slot, |s| s.slot).is_ok_and(|at| !slots[at].is_restored())
    }

    /// The copy of a value in a snapshot. A slot that had a num at the beginning, and has an int since the previous iteration, has that int
    /// and not what it was converted to: exits would lead to traces for ints.
    fn in_slot(&self, value: IrRef) -> IrRef {
        let copy = self.subst[value.ins_index()];
        let was_loaded = self.b.trace.ins[value.ins_index()].op == Op::SLOAD;
        self.b.int_source(copy).filter(|_| was_loaded && copy != value).unwrap_or(copy)
    }

    /// Copies snapshot `k`, combined with the state at the end of the previous iteration.
    fn copy_snapshot(&mut self, k: usize) -> Result<(), Abort> {
        let old = &self.b.trace.snaps[k];
        let mut slots = Vec::with_capacity(old.slots.len() + self.last.slots.len());
        // A slot that a builtin has written in this iteration has no longer the value from the end of the previous one.
        let written = |slot| {
            !is_injected(Fault::WrittenByBuiltins)
                && self.b.trace.native_writes.iter().any(|w| w.at < old.at && w.slots.contains(&slot))
        };
        let mut before = self.last.slots.iter().filter(|s| s.slot < old.nslots && !written(s.slot)).peekable();
        let from_last = |mut s: SnapSlot| {
            if s.flags & SnapSlot::STORED == 0 && !self.stays(s) {
                s.flags &= !SnapSlot::NORESTORE;
            }
            s
        };
        for &s in &old.slots {
            while let Some(p) = before.next_if(|p| p.slot <= s.slot) {
                if p.slot < s.slot {
                    slots.push(from_last(*p));
                }
            }
            let mut copy = s;
            if !s.value.is_const() {
                copy.value = self.in_slot(s.value);
            }
            if s.flags & SnapSlot::STORED == 0 && (copy.value != s.value || !self.stays(copy)) {
                copy.flags &= !SnapSlot::NORESTORE;
            }
            slots.push(copy);
        }
        slots.extend(before.map(|s| from_last(*s)));
        let snap = Snapshot {
            at: self.b.trace.next_ref(),
            base_slot: old.base_slot,
            nslots: old.nslots,
            pc: old.pc,
            multres: old.multres,
            decides: old.decides,
            done: old.done,
            fuel: old.fuel,
            slots,
        };
        self.b.add_snapshot(snap)
    }

    /// Has exits restore the slots for which a SYNC of the loop has an object that the previous iteration has made, which it does not store. In the
    /// part before the loop, other values were in these slots.
    fn restore_objects(&mut self) {
        let trace = &mut self.b.trace;
        let mut left = Vec::new();
        for sync in (self.invar..trace.ins.len()).filter(|&i| trace.ins[i].op == Op::SYNC) {
            let snap = trace.snaps.iter().rfind(|s| s.at.ins_index() <= sync);
            let slots = snap.iter().flat_map(|snap| snap.restored());
            left.extend(slots.filter(|s| trace.makes_object(s.value)).map(|s| s.slot));
        }
        if left.is_empty() || is_injected(Fault::TablesLeftOut) {
            return;
        }
        // The first guards leave through the snapshot before LOOP.
        for s in trace.snaps[self.nsnaps - 1..].iter_mut().flat_map(|snap| &mut snap.slots) {
            if s.flags & SnapSlot::STORED != 0 && left.contains(&s.slot) {
                s.flags &= !(SnapSlot::NORESTORE | SnapSlot::STORED);
            }
        }
    }

    /// Decides which new tables are sunk, and adds PHIs for the live loop-carried values.
    fn emit_phis(&mut self) -> Result<(), Abort> {
        let mut sink = Sink::new(self.b);
        let mut carried = loop {
            sink.settle(self.b);
            match self.carried(&sink) {
                Ok(carried) => break carried,
                Err(table) => sink.forbid(table),
            }
        };
        // The copy was widened, but the body needs the int of the previous iteration.
        if carried.iter().any(|&i| self.widen.get(i) == Some(&true) && self.b.ty(self.subst[i]) == Ty::Num) {
            return Err(Abort::TypeInstability);
        }
        sink.apply(self.b);
        if carried.len() > MAX_PHI {
            return Err(Abort::TooManyPhis);
        }
        carried.sort_unstable();
        for i in carried {
            let (left, right) = (IrRef::of_ins(i), self.subst[i]);
            let ty = self.b.ty(left);
            let of_right = self.b.ty(right);
            debug_assert!(of_right == ty || of_right.is_int() && ty.is_int() || of_right.is_word() && ty.is_word());
            self.b.trace.ins[i].flags |= Ins::PHI;
            if !right.is_const() {
                self.b.trace.ins[right.ins_index()].flags |= Ins::PHI;
            }
            self.b.emit_raw(Op::PHI, ty, left, right)?;
        }
        Ok(())
    }

    /// The live loop-carried values. An error is a table that cannot be sunk although it seemed so.
    fn carried(&self, sink: &Sink) -> Result<Vec<usize>, IrRef> {
        let ins = &self.b.trace.ins;
        let mut live = vec![false; ins.len()];
        let roots = self.invar..ins.len();
        let mut work: Vec<IrRef> = roots.filter(|&i| !ins[i].is_removable() && !sink.is_sunk(i)).map(IrRef::of_ins).collect();
        for snap in &self.b.trace.snaps[self.nsnaps - 1..] {
            work.extend(snap.slots.iter().map(|s| s.value).filter(|r| !r.is_const()));
        }
        let mut carried = Vec::new();
        while let Some(r) = work.pop() {
            let i = r.ins_index();
            if core::mem::replace(&mut live[i], true) {
                continue;
            }
            if sink.is_sunk_table(r) {
                // The table of the previous iteration is filled with the values of the previous iteration.
                if i < self.invar && self.subst[i] != r && !sink.is_sunk_table(self.subst[i]) {
                    return Err(r);
                }
                work.extend(sink.stored_to(self.b, i));
                continue;
            }
            if i >= self.invar || ins[i].op == Op::CARG {
                // A CARG has no value itself.
                work.extend(ins[i].operands());
                continue;
            }
            let next = self.subst[i];
            if next != r && !ins[i].ty.is_pri() {
                if sink.is_sunk_table(next) {
                    return Err(next);
                }
                carried.push(i);
                if !next.is_const() {
                    work.push(next);
                }
            }
        }
        Ok(carried)
    }
}
