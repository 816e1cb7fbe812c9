//! Generic loops: ITERC, ITERN, ITERL.

use super::call::CallSite;
use super::loops::Event;
use super::{Flow, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, NativeWrite, Op, SlotIdx, Ty, VmRef, conv, sload};
use crate::opt;
use perilune_vm::bc::Ins;
use perilune_vm::helper::Helper;
use perilune_vm::object::{Gc, InsPtr, Table};
use perilune_vm::{Value, Vm};

impl Recorder {
    /// ITERL.
    pub(super) fn iterl(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Event> {
        let (r, v) = self.operand(vm, ins.a())?;
        if v.is_nil() {
            self.clear_from(self.base + ins.a() - 3);
            return Ok(Event::Leave);
        }
        // The call before it has as many results as the loop has variables.
        let variables = view::at(pc, -1).ins().b() - 1;
        self.clear_from(self.base + ins.a() + variables);
        self.set(ins.a() - 1, r);
        Ok(Event::Enter(view::target(pc, ins)))
    }

    /// ITERC: calls the iterator.
    pub(super) fn iterc(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let a = ins.a();
        let (f, v) = self.operand(vm, a - 3)?;
        let (state, control) = (self.get(vm, a - 2)?, self.get(vm, a - 1)?);
        self.set(a, f);
        self.set(a + 2, state);
        self.set(a + 3, control);
        self.native.iterating = true;
        let flow = self.call_value(vm, CallSite { pc, a, nargs: 2, want: ins.b() }, (f, v));
        self.native.iterating = false;
        flow
    }

    /// ISNEXT: the loop iterates over a table by `next`.
    pub(super) fn isnext(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        let a = ins.a();
        let ((f, v), (_, t), (_, k)) = (self.operand(vm, a - 3)?, self.operand(vm, a - 2)?, self.operand(vm, a - 1)?);
        let is_next = v.as_func().is_some_and(|f| f.ffid() == perilune_vm::stdlib::Builtin::Next.id());
        if !is_next || !t.is_table() || !k.is_nil() {
            return Err(Abort::Retry);
        }
        self.guard_is(f, v)?;
        let start = self.b.kptr(Value::key_index(0).bits());
        self.set(a - 1, start);
        Ok(Flow::Next)
    }
    /// The position in the control slot `at` of a loop over `next`. The slot's reference is the control value as it is in memory.
    fn position(&mut self, at: SlotIdx) -> Rec<IrRef> {
        let known = self.slots[at];
        if known == IrRef::NONE {
            let flags = IrRef(sload::KEYINDEX | sload::INHERIT);
            let index = self.b.emit(Op::SLOAD, Ty::Int, IrRef::of_slot(at), flags)?;
            self.slots[at] = self.control_value(index)?;
            return Ok(index);
        }
        opt::loops::position(&mut self.b, known).ok_or(Abort::NyiBytecode)
    }
    /// The control value of a position.
    fn control_value(&mut self, index: IrRef) -> Rec<IrRef> {
        let wide = self.b.emit(Op::CONV, Ty::U64, index, IrRef(conv::U64_INT))?;
        let tag = self.b.kptr(Value::key_index(0).bits());
        self.b.emit(Op::ADD, Ty::U64, wide, tag)
    }

    /// Does a loop over `next` end at this ITERN now?
    pub(super) fn ends_at(&self, vm: &Vm, ins: Ins) -> bool {
        let [table, control] = [2, 1].map(|i| view::slot(vm, (ins.a() - i) as isize));
        table.as_table().is_some_and(|t| t.next_index(control.bits() as u32).is_none())
    }
    /// ITERN: `next` over a table, by position. The key and the value are stored in their slots, as the interpreter does. Instructions that read
    /// them load them from there and check their types: a trace is for the types of what it reads, and where it reads it.
    pub(super) fn itern(&mut self, vm: &Vm, ins: Ins) -> Rec<bool> {
        let a = ins.a();
        let (table, v) = self.operand(vm, a - 2)?;
        let Some(t) = v.as_table() else { return Err(Abort::NyiBytecode) };
        let at = self.base + a - 1;
        let index = self.position(at)?;
        let now = view::slot(vm, a as isize - 1).bits() as u32;
        let to = self.slot_address(at + 1)?;
        self.snaps.needed = true;
        let Some((next, _)) = self.entry_from(t, table, (index, now), to)? else {
            self.clear_from(self.base + a - 3);
            return Ok(false);
        };
        self.b.trace.native_writes.push(NativeWrite { at: next, slots: at + 1..at + 3 });
        self.clear_from(self.base + a);
        let control = self.control_value(next)?;
        self.set(a - 1, control);
        for i in 0..2 {
            self.set_fresh(self.base + a + i);
        }
        Ok(true)
    }
    /// Looks for an entry of a table from position `index` on, `now` in this run, and stores its key and its value from the address `to` on.
    /// Guards that there is one, if there is one now: then its position, key and value.
    pub(super) fn entry_from(
        &mut self,
        t: Gc<Table>,
        table: IrRef,
        (index, now): (IrRef, u32),
        to: IrRef,
    ) -> Rec<Option<(IrRef, [Value; 2])>> {
        let next = self.b.call(Helper::TabNext, &[table, index, to])?;
        let end = self.b.kint(-1);
        let found = t.next_index(now);
        self.b.emit(if found.is_some() { Op::NE } else { Op::EQ }, Ty::Int, next, end)?;
        Ok(found.map(|(_, k, v)| (next, [k, v])))
    }
    /// The key (0) or the value (1) of the entry that was found, if it was stored in the VM's scratch words, and what it is now.
    pub(super) fn entry_part(&mut self, i: u16, now: Value) -> Rec<IrRef> {
        let (ty, scratch) = (Ty::of_value(now), self.b.kvm(VmRef::Scratch));
        let r = self.b.guard(Op::VLOAD, ty, scratch, IrRef(i))?;
        Ok(if ty.is_pri() { self.b.kvalue(now) } else { r })
    }
}
