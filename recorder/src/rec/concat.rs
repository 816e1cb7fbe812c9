//! Concatenation and allocation.

use super::meta::Operand;
use super::{Flow, Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{self, IrRef, Link, Op, SlotIdx, Ty};
use perilune_vm::bc::{Ins, TSETM_BIAS};
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;
use perilune_vm::object::InsPtr;
use perilune_vm::stdlib::buffer::is_buffer;
use perilune_vm::text::number::put_num;
use perilune_vm::text::put_int;
use perilune_vm::{Value, Vm};

/// Some string.
fn any_string(vm: &Vm) -> Value {
    vm.realm.meta_names[0].map_or(Value::NIL, Value::str)
}

/// The concatenation of constants. The trace keeps it alive, so that a text longer than any name of a field is left to the loop.
fn constant_text(parts: &[Value]) -> Option<Vec<u8>> {
    const MAX: usize = 256;
    let mut text = Vec::new();
    for v in parts {
        if let Some(s) = v.as_str() {
            text.extend_from_slice(s.bytes());
        } else if let Some(i) = v.as_int() {
            put_int(&mut text, i);
        } else {
            put_num(&mut text, v.as_number()?);
        }
        if text.len() > MAX {
            return None;
        }
    }
    Some(text)
}

impl Recorder {
    /// A string or number as a string.
    pub(super) fn to_str(&mut self, r: IrRef, v: Value) -> Rec<IrRef> {
        if v.is_str() {
            return Ok(r);
        }
        match self.ty(r) {
            Ty::Num => self.b.emit(Op::TOSTR, Ty::Str, r, IrRef(1)),
            ty if ty.is_int() => self.b.emit(Op::TOSTR, Ty::Str, r, IrRef(0)),
            _ => Err(Abort::BadType),
        }
    }

    /// A CAT of constants is a constant: the name of a field that is made of another name, for example. Returns whether it is one.
    pub(super) fn concat_constants(&mut self, vm: &mut Vm, ins: Ins) -> Rec<bool> {
        let mut parts = Vec::new();
        for i in ins.b()..=ins.c() {
            let (r, v) = self.operand(vm, i)?;
            if !r.is_const() {
                return Ok(false);
            }
            parts.push(v);
        }
        let Some(text) = constant_text(&parts) else { return Ok(false) };
        let r = self.b.kgc(Value::str(vm.new_str(&text)));
        self.set(ins.b(), r);
        self.set(ins.a(), r);
        Ok(true)
    }
    /// CAT.
    pub(super) fn cat(&mut self, vm: &Vm, ins: Ins) -> Rec<Flow> {
        let mut parts = Vec::new();
        for i in ins.b()..=ins.c() {
            let (r, v) = self.operand(vm, i)?;
            parts.push((r, v));
        }
        if parts.iter().all(|p| p.1.is_str() || p.1.is_number()) {
            return self.concat(vm, self.feedback.pc, parts);
        }
        // The CAT would call a builtin after a part of it is done: the interpreter executes the whole CAT instead.
        let before = self.state();
        match self.concat(vm, self.feedback.pc, parts) {
            Err(Abort::NyiFastFunc) if !self.start.pending => {
                self.restore(before);
                Ok(Flow::Stop(Link::Interp, self.feedback.pc))
            }
            done => done,
        }
    }
    /// Concatenates `parts`, the values of the slots from B of the CAT at `pc` on, from the right.
    pub(super) fn concat(&mut self, vm: &Vm, pc: InsPtr, mut parts: Vec<Operand>) -> Rec<Flow> {
        let ins = pc.ins();
        if parts.iter().any(|p| is_buffer(p.1)) {
            return self.nyi(ins.op());
        }
        let is_text = |p: Operand| p.1.is_str() || p.1.is_number();
        while let [.., x, y] = parts[..] {
            if !is_text(x) || !is_text(y) {
                return self.concat_method(vm, pc, x, y, ins.b() + parts.len() - 2);
            }
            let first = parts.iter().rposition(|p| !is_text(*p)).map_or(0, |i| i + 1);
            self.gc_step()?;
            let mut strings = Vec::with_capacity(parts.len() - first);
            for (r, v) in parts.drain(first..) {
                strings.push(self.to_str(r, v)?);
            }
            let r = self.join(&strings)?;
            if first > 0 {
                self.set(ins.b() + first, r);
            }
            // Only the type of the new string matters.
            parts.push((r, any_string(vm)));
        }
        let result = parts.first().map_or(IrRef::NIL, |p| p.0);
        self.set(ins.b(), result);
        self.set(ins.a(), result);
        self.snaps.needed |= pc != self.feedback.pc;
        Ok(Flow::Next)
    }
    /// Concatenates strings.
    pub(super) fn join(&mut self, strings: &[IrRef]) -> Rec<IrRef> {
        let null = self.b.knull(Ty::P64);
        let head = self.b.emit(Op::BUFHDR, Ty::P64, null, IrRef(0))?;
        let mut buf = head;
        for &s in strings {
            buf = self.b.emit(Op::BUFPUT, Ty::P64, buf, s)?;
        }
        self.b.emit(Op::BUFSTR, Ty::Str, buf, head)
    }

    /// TNEW.
    pub(super) fn tnew(&mut self, ins: Ins) -> Rec<()> {
        self.gc_step()?;
        let asize = ins.d() & 0x7ff;
        let asize = if asize == 0x7ff { 0x801 } else { asize };
        let r = self.b.emit(Op::TNEW, Ty::Tab, IrRef(asize as u16), IrRef((ins.d() >> 11) as u16))?;
        self.set(ins.a(), r);
        Ok(())
    }
    /// TDUP.
    pub(super) fn tdup(&mut self, ins: Ins) -> Rec<()> {
        self.gc_step()?;
        let (template, _) = self.kgc_operand(ins.d())?;
        let r = self.b.emit(Op::TDUP, Ty::Tab, template, IrRef::NONE)?;
        self.set(ins.a(), r);
        Ok(())
    }
    /// TSETM: the values are passed to the helper on the stack.
    pub(super) fn tsetm(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<()> {
        let (a, n) = (ins.a(), vm.multres as usize);
        let (table, v) = self.operand(vm, a - 1)?;
        let (_, first) = self.knum_operand(ins.d())?;
        if !v.is_table() || n > 100 {
            return self.nyi(ins.op());
        }
        for i in 0..n {
            self.get(vm, a + i)?;
        }
        let start = first.as_number().unwrap_or(0.0) - TSETM_BIAS;
        let is_short = n <= self.params.loopunroll as usize && start < f64::from(u16::MAX / 2);
        if is_short && self.b.is_op(table, Op::TNEW).is_some() && !self.has_other_numbers(table) {
            return self.fill_new_table(table, start as usize, (a, n));
        }
        // An exit would store the same values.
        self.snap(pc)?;
        self.gc_step()?;
        for at in (a..a + n).map(|i| self.base + i).collect::<Vec<_>>() {
            let (value, address) = (self.slots[at], self.slot_address(at)?);
            self.b.emit(Op::USTORE, self.ty(value), address, value)?;
        }
        let values = self.slot_address(self.base + a)?;
        let first = self.b.kint(start as i32);
        let n = self.b.kint(n as i32);
        self.b.call(Helper::TabSetList, &[table, first, values, n])?;
        self.list_is_stored(a);
        Ok(())
    }
    fn list_is_stored(&mut self, a: usize) {
        self.clear_from(self.base + a);
        self.open.top = SlotIdx::FUNC;
        self.open.count = 0;
        self.snaps.needed = true;
    }
    /// Has a number been looked up in the hash part of a table that the trace has made? It could be in the array part of a larger one.
    fn has_other_numbers(&self, table: IrRef) -> bool {
        let looks_up =
            |i: &ir::Ins| matches!(i.op, Op::HREF | Op::NEWREF) && i.a == table && matches!(self.ty(i.b), Ty::Int | Ty::Num);
        self.b.trace.ins[table.ins_index()..].iter().any(looks_up)
    }
    /// TSETM of a table that the trace has made: it is made with the size that it gets here, so that the stores are those of a table
    /// with so many elements, and need not happen if the table does not escape.
    fn fill_new_table(&mut self, table: IrRef, start: usize, (a, n): (usize, usize)) -> Rec<()> {
        let asize = &mut self.b.trace.ins[table.ins_index()].a;
        // As the interpreter has it, see `Vm::table_set_list`.
        if n > 0 && start + n > usize::from(asize.0) {
            *asize = IrRef((start + n + 1) as u16);
        }
        let array = self.field(table, Field::TabArray)?;
        for i in 0..n {
            let value = self.slots[self.base + a + i];
            let ty = self.ty(value);
            if ty == Ty::Nil {
                continue;
            }
            let key = self.b.kint((start + i) as i32);
            let slot = self.b.emit(Op::AREF, Ty::P64, array, key)?;
            self.b.emit(Op::ASTORE, ty, slot, value)?;
            self.table_barrier(table, key, ty.is_gc().then_some(value), false)?;
        }
        self.list_is_stored(a);
        Ok(())
    }
}
