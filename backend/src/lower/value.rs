//! Constants, the Cranelift types of IR types, and boxing of values.

use super::{Lower, Res};
use crate::unboxed::value_ty;
use crate::{BackendError, unboxed};
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use perilune_recorder::ir::{Const, IrRef, SlotIdx, Ty};
use perilune_vm::hooks::Unboxed;
use perilune_vm::value as v;

/// Memory that traces touch is mapped and aligned.
pub(super) const MEM: MemFlagsData = MemFlagsData::trusted();

/// Upper half of an integer value.
pub(super) const INT_HIGH: i32 = (v::INT_BITS >> 32) as i32;

/// The Cranelift type of an IR type; none for the types that are values.
pub(super) fn repr(ty: Ty) -> Option<Type> {
    match ty {
        Ty::Nil | Ty::False | Ty::True => None,
        Ty::Num => Some(types::F64),
        Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 | Ty::Int | Ty::U32 => Some(types::I32),
        Ty::LightUd | Ty::Str | Ty::Thread | Ty::Proto | Ty::Func | Ty::Cdata | Ty::Tab | Ty::Udata => Some(types::I64),
        Ty::P32 | Ty::P64 | Ty::I64 | Ty::U64 | Ty::SoftFp => Some(types::I64),
        Ty::Float => Some(types::F32),
    }
}

impl Lower<'_> {
    /// A 32-bit constant.
    pub(super) fn k32(&mut self, k: i32) -> Value {
        self.pos.ins().iconst(types::I32, i64::from(k as u32))
    }
    /// A 64-bit constant.
    pub(super) fn k64(&mut self, k: u64) -> Value {
        self.pos.ins().iconst(types::I64, k as i64)
    }
    /// An address plus a constant.
    pub(super) fn offset(&mut self, base: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return base;
        }
        self.pos.ins().iadd_imm_s(base, bytes)
    }
    /// A 64-bit field of the VM.
    pub(super) fn vm_field(&mut self, at: usize) -> Value {
        self.pos.ins().load(types::I64, MEM, self.vm, at as i32)
    }

    pub(super) fn konst(&self, r: IrRef) -> Res<Const> {
        self.cur.trace.consts.get(r.const_index()).copied().ok_or(self.bad("missing constant"))
    }

    /// The IR type of a reference.
    pub(super) fn ty(&self, r: IrRef) -> Res<Ty> {
        unboxed::ty(self.cur.trace, r).ok_or_else(|| self.bad("missing instruction or constant"))
    }

    /// The unboxed value of a reference.
    pub(super) fn val(&mut self, r: IrRef) -> Res<Value> {
        if r == IrRef::BASE {
            return Ok(self.slot_address(SlotIdx::BASE));
        }
        if !r.is_const() {
            let value = self.cur.values.get(r.ins_index()).and_then(|v| v.expand());
            return value.ok_or_else(|| self.bad("operand without a value"));
        }
        if let Some(&(_, value)) = self.cur.hoisted.iter().find(|h| h.0 == r) {
            return Ok(value);
        }
        Ok(match self.konst(r)? {
            Const::Int(k) => self.k32(k),
            Const::Num(bits) => self.pos.ins().f64const(f64::from_bits(bits)),
            Const::Gc(value) if value_ty(value) == Ty::U64 => self.k64(value.bits()),
            Const::Gc(value) => self.k64(value.payload()),
            Const::Ptr(word) | Const::Word(word, _) => self.k64(word),
            Const::Vm(field) => self.offset(self.vm, field.offset() as i64),
            Const::Null(_) => self.k64(0),
            Const::Pri(_) | Const::Slot(..) => return Err(self.bad("constant without a value")),
        })
    }

    /// The value of a reference, which must have the given representation.
    fn typed(&mut self, r: IrRef, ty: Type, what: &'static str) -> Res<Value> {
        let value = self.val(r)?;
        if self.pos.func.dfg.value_type(value) == ty { Ok(value) } else { Err(self.bad(what)) }
    }
    /// The value of a num reference.
    pub(super) fn num(&mut self, r: IrRef) -> Res<Value> {
        self.typed(r, types::F64, "operand is not a num")
    }
    /// The value of an int reference.
    pub(super) fn int(&mut self, r: IrRef) -> Res<Value> {
        self.typed(r, types::I32, "operand is not an int")
    }
    /// The value of a pointer or word reference.
    pub(super) fn word(&mut self, r: IrRef) -> Res<Value> {
        self.typed(r, types::I64, "operand is not a word")
    }

    /// A reference as a boxed value.
    pub(super) fn boxed(&mut self, r: IrRef) -> Res<Value> {
        match unboxed::known_word(self.cur.trace, r) {
            Some(word) => Ok(self.k64(word)),
            None => {
                let (value, ty) = (self.val(r)?, self.ty(r)?);
                Ok(self.box_value(value, ty))
            }
        }
    }

    /// Boxes a value of an IR type.
    pub(super) fn box_value(&mut self, value: Value, ty: Ty) -> Value {
        if ty == Ty::Num {
            let value = self.canonical(value);
            return self.pos.ins().bitcast(types::I64, MemFlagsData::new(), value);
        }
        let (wide, tag) = if ty.is_int() {
            (self.pos.ins().uextend(types::I64, value), v::INT_BITS)
        } else if let Some(tag) = ty.tag() {
            (value, tag << v::PAYLOAD_BITS)
        } else {
            return value;
        };
        let tag = self.k64(tag);
        self.pos.ins().bor(wide, tag)
    }

    /// A num with the bits of Lua's own NaN if it is one. In memory outside of the VM a NaN may have any bits, also those of a tagged value,
    /// and arithmetic keeps them.
    pub(super) fn canonical(&mut self, value: Value) -> Value {
        if !self.cur.loads_nums {
            return value;
        }
        let nan = self.pos.ins().f64const(f64::NAN);
        let is_number = self.pos.ins().fcmp(FloatCC::Ordered, value, value);
        self.pos.ins().select(is_number, value, nan)
    }

    /// Stores a num that may have the bits of another value on the hot path, where NaNs are rare: see [`Lower::canonical`].
    fn store_num(&mut self, value: Value, addr: Value, at: i32) {
        self.pos.ins().store(MEM, value, addr, at);
        let is_number = self.pos.ins().fcmp(FloatCC::Ordered, value, value);
        let (next, not) = self.split_cold(is_number);
        self.enter(not);
        let nan = self.pos.ins().f64const(f64::NAN);
        self.pos.ins().store(MEM, nan, addr, at);
        self.jump(next, &[]);
        self.enter(next);
    }

    /// Stores a reference, boxed, to memory.
    pub(super) fn store_boxed(&mut self, r: IrRef, addr: Value, at: i32) -> Res<()> {
        let value = match unboxed::known_word(self.cur.trace, r) {
            Some(word) => self.k64(word),
            None if self.ty(r)? == Ty::Num => {
                let value = self.num(r)?;
                if self.cur.loads_nums && self.pos.current_block().is_some_and(|block| !self.pos.func.layout.is_cold(block)) {
                    self.store_num(value, addr, at);
                    return Ok(());
                }
                self.canonical(value)
            }
            None => self.boxed(r)?,
        };
        self.pos.ins().store(MEM, value, addr, at);
        Ok(())
    }

    /// Stores a reference, boxed, to a stack slot in an exit. An int is stored in two halves, which needs no register and fewer
    /// instructions to compile; type-checked loads read halves as well, so that a side trace does not wait for the stores.
    pub(super) fn store_slot(&mut self, r: IrRef, at: i32) -> Res<()> {
        let base = self.cur.base;
        if r.is_const() || !self.ty(r)?.is_int() {
            return self.store_boxed(r, base, at);
        }
        let (low, high) = (self.int(r)?, self.k32(INT_HIGH));
        self.pos.ins().store(MEM, low, base, at);
        self.pos.ins().store(MEM, high, base, at + 4);
        Ok(())
    }

    /// Stores a reference to a stack slot, unboxed if the runtime or the side trace can box it, see [`unboxed`].
    pub(super) fn store_unboxed(&mut self, r: IrRef, at: i32) -> Res<()> {
        if unboxed::known_word(self.cur.trace, r).is_some() {
            return Ok(());
        }
        if self.ty(r)?.tag().is_none() && !self.ty(r)?.is_int() {
            return self.store_boxed(r, self.cur.base, at);
        }
        let value = self.val(r)?;
        self.pos.ins().store(MEM, value, self.cur.base, at);
        Ok(())
    }

    /// Boxes the slots that the exit to this trace has left unboxed.
    pub(super) fn box_slots(&mut self, slots: &[Unboxed]) {
        let base = self.cur.base;
        for s in slots {
            let at = s.slot * 8;
            match s.kept {
                0 => {
                    let k = self.k64(s.bits);
                    self.pos.ins().store(MEM, k, base, at);
                }
                Unboxed::INT => {
                    let high = self.k32((s.bits >> 32) as i32);
                    self.pos.ins().store(MEM, high, base, at + 4);
                }
                _ => {
                    let known = self.cur.known.iter().find(|k| k.at == s.slot * 8).map(|k| k.value);
                    let stored = known.unwrap_or_else(|| self.pos.ins().load(types::I64, MEM, base, at));
                    let k = self.k64(s.bits);
                    let value = self.pos.ins().bor(stored, k);
                    self.pos.ins().store(MEM, value, base, at);
                }
            }
        }
    }

    pub(super) fn bad(&self, what: &'static str) -> BackendError {
        BackendError::Malformed(self.cur.at, what)
    }
}
