//! Guards and conversions for many bytecodes and builtins.

use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{FpMath, IrRef, Op, Ty, conv};
use crate::opt::narrow;
use perilune_vm::layout::Field;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// The type of a reference; integers of any width in memory are int.
    pub(super) fn ty(&self, r: IrRef) -> Ty {
        let ty = self.b.ty(r);
        if ty.is_int() { Ty::Int } else { ty }
    }
    /// A number as num.
    pub(super) fn to_num(&mut self, r: IrRef) -> Rec<IrRef> {
        match self.ty(r) {
            Ty::Num => Ok(r),
            ty if ty.is_int() => self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT)),
            Ty::Str => self.b.guard(Op::STRTO, Ty::Num, r, IrRef::NONE),
            _ => Err(Abort::BadType),
        }
    }
    /// A number, or a string that denotes one. Where it denotes an integer, it is an int, as in the interpreter: what is computed with it would
    /// otherwise be of another type than what the loop began with.
    pub(super) fn number(&mut self, r: IrRef, v: Value) -> Rec<(IrRef, Value)> {
        if v.is_number() {
            return Ok((r, v));
        }
        let n = v.as_str().and_then(perilune_vm::meta::str_to_number).ok_or(Abort::BadType)?;
        let r = self.to_num(r)?;
        Ok(match self.feedback.load_type(n) {
            Ty::Int => (self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK))?, n),
            _ => (r, Value::num(n.as_number().ok_or(Abort::BadType)?)),
        })
    }
    /// A number as int, guarded to be integral as it is now.
    pub(super) fn to_int(&mut self, r: IrRef, v: Value) -> Rec<(IrRef, i32)> {
        let (r, v) = self.number(r, v)?;
        let i = v.as_index().ok_or(Abort::BadType)?;
        if self.ty(r).is_int() {
            return Ok((r, i));
        }
        Ok((self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_INDEX))?, i))
    }
    /// A number as int, without its fraction if it has one now.
    pub(super) fn to_truncated(&mut self, r: IrRef, v: Value) -> Rec<(IrRef, i32)> {
        let (r, v) = self.number(r, v)?;
        match v.as_number() {
            Some(n) if n != n.trunc() => {
                let whole = self.b.emit(Op::FPMATH, Ty::Num, r, IrRef(FpMath::Trunc as u16))?;
                self.to_int(whole, Value::number(n.trunc()))
            }
            _ => self.to_int(r, v),
        }
    }
    /// A number modulo 2^32.
    pub(super) fn to_bits(&mut self, r: IrRef, v: Value) -> Rec<IrRef> {
        let (r, v) = self.number(r, v)?;
        if self.ty(r).is_int() {
            return Ok(r);
        }
        if let Some(bits) = narrow::bits_of_sum(&mut self.b, r, v.as_number().unwrap_or(f64::NAN))? {
            return Ok(bits);
        }
        self.b.emit(Op::TOBIT, Ty::Int, r, IrRef::NIL)
    }
    /// A field of an object.
    pub(super) fn field(&mut self, object: IrRef, field: Field) -> Rec<IrRef> {
        self.b.emit(Op::FLOAD, Ty::of_abi(field.ty()), object, IrRef(field as u16))
    }
    /// Guards that a reference is this object.
    pub(super) fn guard_is(&mut self, r: IrRef, v: Value) -> Rec<IrRef> {
        let k = self.b.kgc(v);
        if r != k {
            self.b.compare(Op::EQ, r, k)?;
        }
        Ok(k)
    }
    /// Guards that an int has this value.
    pub(super) fn guard_int(&mut self, r: IrRef, k: i32) -> Rec<()> {
        let k = self.b.kint(k);
        if r != k {
            self.b.emit(Op::EQ, Ty::Int, r, k)?;
        }
        Ok(())
    }
    /// Safepoint before an allocation or a call of a builtin. One in a trace is enough, as in LuaJIT: the length of a trace limits its
    /// allocations, and the next step of the collector takes them into account.
    pub(super) fn gc_step(&mut self) -> Rec<()> {
        if self.b.newest(Op::GCSTEP) == IrRef::NONE {
            self.b.emit_raw(Op::GCSTEP, Ty::Nil, IrRef::NONE, IrRef::NONE)?;
        }
        Ok(())
    }
    /// The metatable of a type other than table and userdata.
    pub(super) fn base_meta(vm: &Vm, v: Value) -> Option<perilune_vm::object::Gc<perilune_vm::object::Table>> {
        vm.realm.base_meta[v.type_index()]
    }
}
