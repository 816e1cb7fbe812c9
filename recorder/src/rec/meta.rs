//! Metamethods that are functions: called in a frame with a continuation, which handles the result.

use super::native::MetaResult;
use super::stack::Cont;
use super::{Flow, Frame, FrameKind, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, SlotIdx, Ty};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::interp::{cont, frame};
use perilune_vm::layout::Field;
use perilune_vm::meta::MM;
use perilune_vm::object::InsPtr;
use perilune_vm::{Value, Vm};

/// A reference with its current value.
pub(super) type Operand = (IrRef, Value);

impl Recorder {
    /// The metamethod of a value, guarded; nil if it has none.
    pub(super) fn metamethod(&mut self, vm: &Vm, (r, v): Operand, mm: MM) -> Rec<Operand> {
        let nil = (IrRef::NIL, Value::NIL);
        let (meta, kmeta) = if let Some(t) = v.as_table() {
            let kmeta = self.guard_meta(vm, r, t)?;
            let Some(meta) = t.meta.get() else { return Ok(nil) };
            (meta, kmeta)
        } else if let Some(u) = v.as_udata() {
            let f = self.field(r, Field::UdataMeta)?;
            match u.meta.get() {
                Some(meta) => (meta, self.guard_is(f, Value::table(meta))?),
                None => {
                    let null = self.b.knull(Ty::Tab);
                    self.b.emit(Op::EQ, Ty::Tab, f, null)?;
                    return Ok(nil);
                }
            }
        } else {
            let Some(meta) = Recorder::base_meta(vm, v) else { return Ok(nil) };
            (meta, self.b.kgc(Value::table(meta)))
        };
        self.method(vm, meta, kmeta, mm)
    }
    /// The metamethod that two values have in common; nil if there is none.
    fn shared_method(&mut self, vm: &Vm, x: Operand, y: Operand, mm: MM) -> Rec<Operand> {
        let f = self.metamethod(vm, x, mm)?;
        if f.1.is_nil() {
            return Ok(f);
        }
        let g = self.metamethod(vm, y, mm)?;
        let same = f.1 == g.1;
        // Only whether they are the same one matters here; which one it is matters where it is called.
        if f.0 != g.0 && self.ty(f.0) == self.ty(g.0) {
            self.b.compare(if same { Op::EQ } else { Op::NE }, f.0, g.0)?;
        }
        Ok(if same { f } else { (IrRef::NIL, Value::NIL) })
    }

    /// What is recorded for an operation of a builtin; `None` if the builtin must be called.
    pub(super) fn without_builtin<T>(&mut self, record: impl FnOnce(&mut Recorder) -> Rec<Option<T>>) -> Rec<Option<T>> {
        match record(self) {
            Err(Abort::BadType) => Ok(None),
            done => done,
        }
    }
    /// The function that the metatable of the type of a cdata has for an operator, which replaces the builtin that finds it. The type is
    /// guarded.
    pub(super) fn cdata_method(&mut self, vm: &Vm, mm: MM, operands: &[Operand]) -> Rec<Option<Operand>> {
        for (r, v) in operands {
            let Some(c) = v.as_cdata() else { continue };
            self.guard_ctype(*r, c)?;
            let method = vm.operator_method(c, mm);
            if method.as_func().is_some_and(|f| f.proto().is_some()) {
                self.native.headers += 1;
                return Ok(Some((self.b.kgc(method), method)));
            }
            if !method.is_nil() {
                return Ok(None);
            }
        }
        Ok(None)
    }
    /// Calls a metamethod from the current instruction.
    pub(super) fn call_metamethod(&mut self, vm: &Vm, f: Operand, args: &[Operand], id: u64) -> Rec<Flow> {
        self.call_metamethod_at(vm, self.feedback.pc, f, args, id)
    }
    /// Calls a metamethod from the instruction at `pc` of the current frame.
    fn call_metamethod_at(&mut self, vm: &Vm, pc: InsPtr, f: Operand, args: &[Operand], id: u64) -> Rec<Flow> {
        let Some(func) = f.1.as_func() else { return self.nyi(Bc::CALL) };
        let native = func.proto().is_none();
        let result = match id & 7 {
            cont::TO_A => MetaResult::Local(pc.ins().a()),
            // The last call that the CAT makes.
            cont::CONCAT if (id >> 3) as usize == pc.ins().b() => MetaResult::Local(pc.ins().a()),
            cont::CONCAT if native => return self.nyi_func(f.1),
            cont::JUMP_IF => MetaResult::Jump { if_true: true },
            cont::JUMP_IF_NOT => MetaResult::Jump { if_true: false },
            _ => MetaResult::Dropped,
        };
        if native && self.is_for_stitch(func) {
            return if id & 7 == cont::CONCAT { self.nyi_func(f.1) } else { self.stop_in_front(pc, func, Link::Interp) };
        }
        let r = self.specialize(f.0, func)?;
        if let MetaResult::Local(a) = result
            && native
            && let Some(&[value]) = self.builtin_of_args(vm, func, args.to_vec(), 2)?.as_deref()
        {
            self.set(a, value);
            self.native.headers += 1;
            return Ok(Flow::Next);
        }
        let old = self.base;
        let size = self.proto.framesize() as usize;
        let new = old + size + 4;
        self.clear_from(old + size);
        self.need(new + args.len());
        let (kid, kpc) = (self.b.kptr(id), self.b.kptr(view::at(pc, 1).addr().get()));
        let link = self.b.kptr(frame::link(size + 4, frame::CONT).bits());
        for (i, r) in [kid, kpc, r, link].into_iter().enumerate() {
            self.set_abs(new - 4 + i, r);
        }
        for (i, a) in args.iter().enumerate() {
            self.set_abs(new + i, a.0);
        }
        let Some(proto) = func.proto() else {
            return self.native_metamethod(vm, pc, (r, func), size + 4, args.len(), result).map(|()| Flow::Next);
        };
        self.stack.frames.push(Frame { base: old, proto: self.proto, kind: FrameKind::Cont(Cont { id, pc }) });
        self.base = new;
        self.enter_callee(proto);
        Ok(Flow::Next)
    }

    /// Continues after a metamethod, in the frame that called it. `first` is the value of its first result, if it is known; slot `running`
    /// is at `vm.base`.
    pub(super) fn continue_with(
        &mut self,
        vm: &Vm,
        cont: Cont,
        running: isize,
        results: &[IrRef],
        first: Option<Value>,
    ) -> Rec<Flow> {
        self.clear_from(self.base + self.proto.framesize() as usize);
        self.open.top = SlotIdx::FUNC;
        self.open.count = 0;
        self.snaps.needed = true;
        let result = results.first().copied().unwrap_or(IrRef::NIL);
        let ins = cont.pc.ins();
        match cont.id & 7 {
            cont::TO_A => self.set(ins.a(), result),
            cont::CONCAT => {
                let (slot, bottom) = ((cont.id >> 3) as usize, ins.b());
                self.set(slot, result);
                if slot == bottom {
                    self.set(ins.a(), result);
                    return Ok(Flow::Next);
                }
                let mut parts = Vec::with_capacity(slot - bottom + 1);
                for i in bottom..slot {
                    let at = self.base + i;
                    // A load would need a guard, whose exit would have to restore a frame that has been left.
                    if self.slots[at] == IrRef::NONE {
                        return Err(Abort::NyiReturn);
                    }
                    parts.push((self.slots[at], view::slot(vm, at.index() as isize - running)));
                }
                parts.push((result, first.ok_or(Abort::NyiReturn)?));
                self.snaps.needed = false;
                return self.concat(vm, cont.pc, parts);
            }
            // Comparisons have jumped by the type of the result.
            _ => {}
        }
        Ok(Flow::Next)
    }

    /// Arithmetic on a value that is not a number.
    pub(super) fn arith_method(&mut self, vm: &Vm, mm: MM, x: Operand, y: Operand) -> Rec<Flow> {
        if x.1.is_cdata() || y.1.is_cdata() {
            if let Some(result) = self.without_builtin(|rec| rec.cdata_arith(vm, mm, x, y))? {
                self.set(self.feedback.pc.ins().a(), result);
                self.native.headers += 1;
                return Ok(Flow::Next);
            }
            if let Some(f) = self.cdata_method(vm, mm, &[x, y])? {
                return self.call_metamethod(vm, f, &[x, y], cont::TO_A);
            }
        }
        let mut f = self.metamethod(vm, x, mm)?;
        if f.1.is_nil() {
            f = self.metamethod(vm, y, mm)?;
        }
        if f.1.is_nil() {
            return Err(Abort::MissingMetamethod);
        }
        self.call_metamethod(vm, f, &[x, y], cont::TO_A)
    }
    /// `..` of two values one of which is neither string nor number.
    pub(super) fn concat_method(&mut self, vm: &Vm, pc: InsPtr, x: Operand, y: Operand, slot: usize) -> Rec<Flow> {
        let mut f = match self.cdata_method(vm, MM::Concat, &[x, y])? {
            Some(f) => f,
            None => self.metamethod(vm, x, MM::Concat)?,
        };
        if f.1.is_nil() {
            f = self.metamethod(vm, y, MM::Concat)?;
        }
        if f.1.is_nil() {
            return Err(Abort::MissingMetamethod);
        }
        self.call_metamethod_at(vm, pc, f, &[x, y], cont::CONCAT | (slot as u64) << 3)
    }
    /// ISLT to ISGT on objects.
    pub(super) fn order_method(&mut self, vm: &Vm, ins: Ins, x: Operand, y: Operand) -> Rec<Flow> {
        let strict = matches!(ins.op(), Bc::ISLT | Bc::ISGE);
        let negated = matches!(ins.op(), Bc::ISGE | Bc::ISGT);
        let mm = if strict { MM::Lt } else { MM::Le };
        let jump = |not: bool| if not { cont::JUMP_IF_NOT } else { cont::JUMP_IF };
        if x.1.is_cdata() || y.1.is_cdata() {
            if self.cdata_compare(vm, self.feedback.pc, (mm, negated), x, y)? {
                return Ok(Flow::Next);
            }
            if let Some(f) = self.cdata_method(vm, mm, &[x, y])? {
                return self.call_metamethod(vm, f, &[x, y], jump(negated));
            }
        }
        if x.1.type_name() != y.1.type_name() {
            return Err(Abort::MissingMetamethod);
        }
        let f = self.shared_method(vm, x, y, mm)?;
        if !f.1.is_nil() {
            return self.call_metamethod(vm, f, &[x, y], jump(negated));
        }
        let f = if strict { f } else { self.shared_method(vm, x, y, MM::Lt)? };
        if f.1.is_nil() {
            return Err(Abort::MissingMetamethod);
        }
        self.call_metamethod(vm, f, &[y, x], jump(!negated))
    }
    /// Equality of two objects that differ: calls the metamethod that they share; `None` if there is none.
    pub(super) fn equal_method(&mut self, vm: &Vm, negated: bool, x: Operand, y: Operand) -> Rec<Option<Flow>> {
        let f = self.shared_method(vm, x, y, MM::Eq)?;
        if f.1.is_nil() {
            return Ok(None);
        }
        self.call_equal(vm, negated, f, x, y).map(Some)
    }
    /// Calls a metamethod that decides an equality.
    pub(super) fn call_equal(&mut self, vm: &Vm, negated: bool, f: Operand, x: Operand, y: Operand) -> Rec<Flow> {
        let id = if negated { cont::JUMP_IF_NOT } else { cont::JUMP_IF };
        self.call_metamethod(vm, f, &[x, y], id)
    }
}
