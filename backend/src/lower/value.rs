//! Constants, the representation of types, boxing.

use super::{Lower, Res};
use crate::BackendError;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use perilune_recorder::ir::{Const, IrRef, Ty};
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
        Ty::P32 | Ty::P64 | Ty::I64 | Ty::U64 | Ty::Float | Ty::SoftFp => Some(types::I64),
    }
}

/// The tag of an untagged pointer's type.
pub(super) fn pointer_tag(ty: Ty) -> Option<u64> {
    match ty {
        Ty::LightUd => Some(v::TAG_LIGHTUD),
        Ty::Str => Some(v::TAG_STR),
        Ty::Thread => Some(v::TAG_THREAD),
        Ty::Proto => Some(v::TAG_PROTO),
        Ty::Func => Some(v::TAG_FUNC),
        Ty::Cdata => Some(v::TAG_CDATA),
        Ty::Tab => Some(v::TAG_TAB),
        Ty::Udata => Some(v::TAG_UDATA),
        Ty::Nil | Ty::False | Ty::True | Ty::P32 | Ty::P64 | Ty::Float | Ty::Num | Ty::I8 | Ty::U8 => None,
        Ty::I16 | Ty::U16 | Ty::Int | Ty::U32 | Ty::I64 | Ty::U64 | Ty::SoftFp => None,
    }
}

/// The value that a type is.
pub(super) fn pri_word(ty: Ty) -> Option<u64> {
    match ty {
        Ty::Nil => Some(v::Value::NIL.0),
        Ty::False => Some(v::Value::FALSE.0),
        Ty::True => Some(v::Value::TRUE.0),
        _ => None,
    }
}

/// The type of a tagged value held by a constant.
fn value_ty(value: v::Value) -> Ty {
    match value.tag() {
        v::TAG_LIGHTUD => Ty::LightUd,
        v::TAG_STR => Ty::Str,
        v::TAG_THREAD => Ty::Thread,
        v::TAG_PROTO => Ty::Proto,
        v::TAG_FUNC => Ty::Func,
        v::TAG_TAB => Ty::Tab,
        v::TAG_UDATA => Ty::Udata,
        _ => Ty::U64,
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
        if !r.is_const() {
            return match self.cur.trace.ins.get(r.ins_index()) {
                Some(ins) => Ok(ins.ty),
                None => Err(self.bad("missing instruction")),
            };
        }
        Ok(match self.konst(r)? {
            Const::Pri(ty) | Const::Null(ty) => ty,
            Const::Int(_) => Ty::Int,
            Const::Num(_) => Ty::Num,
            Const::Gc(value) => value_ty(value),
            Const::Ptr(_) | Const::Vm(_) => Ty::P64,
            Const::Slot(..) => Ty::Nil,
        })
    }

    /// The unboxed value of a reference.
    pub(super) fn val(&mut self, r: IrRef) -> Res<Value> {
        if r == IrRef::BASE {
            return Ok(self.cur.base);
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
            Const::Gc(value) if value_ty(value) == Ty::U64 => self.k64(value.0),
            Const::Gc(value) => self.k64(value.payload()),
            Const::Ptr(word) => self.k64(word),
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

    /// The boxed bits of a constant, where they are known now.
    pub(super) fn boxed_const(&self, r: IrRef) -> Res<Option<u64>> {
        if !r.is_const() {
            return Ok(pri_word(self.ty(r)?));
        }
        Ok(match self.konst(r)? {
            Const::Pri(ty) => pri_word(ty),
            Const::Int(k) => Some(v::Value::int(k).0),
            Const::Num(bits) => Some(bits),
            Const::Gc(value) => Some(value.0),
            Const::Ptr(word) => Some(word),
            Const::Null(Ty::P64 | Ty::I64 | Ty::U64) => Some(0),
            Const::Null(_) => Some(v::Value::NIL.0),
            Const::Vm(_) => None,
            Const::Slot(..) => return Err(self.bad("constant without a value")),
        })
    }

    /// A reference as a boxed value.
    pub(super) fn boxed(&mut self, r: IrRef) -> Res<Value> {
        match self.boxed_const(r)? {
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
            return self.pos.ins().bitcast(types::I64, MemFlagsData::new(), value);
        }
        let (wide, tag) = if ty.is_int() {
            (self.pos.ins().uextend(types::I64, value), v::INT_BITS)
        } else if let Some(tag) = pointer_tag(ty) {
            (value, tag << v::PAYLOAD_BITS)
        } else {
            return value;
        };
        let tag = self.k64(tag);
        self.pos.ins().bor(wide, tag)
    }

    /// Stores a reference, boxed, to memory.
    pub(super) fn store_boxed(&mut self, r: IrRef, addr: Value, at: i32) -> Res<()> {
        let value = match self.boxed_const(r)? {
            Some(word) => self.k64(word),
            None if self.ty(r)? == Ty::Num => self.num(r)?,
            None => self.boxed(r)?,
        };
        self.pos.ins().store(MEM, value, addr, at);
        Ok(())
    }

    /// Stores a reference, boxed, to a stack slot on the way out. An int goes in two halves, which needs no register and fewer
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

    pub(super) fn bad(&self, what: &'static str) -> BackendError {
        BackendError::Malformed(self.cur.at, what)
    }
}
