//! Bit operations on 64 bits, of which an operand is cdata.

use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty, conv};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::ctype::CTypeId;
use perilune_vm::ffi::scalar::Scalar;

impl Recorder {
    /// A number that is an operand, and whether it is a `uint64_t`. For a number of Lua that is none.
    fn wide_operand(&mut self, vm: &Vm, (r, v): Operand) -> Rec<(IrRef, Option<bool>)> {
        if v.is_cdata() {
            let (value, scalar, _) = self.cdata_number(types(vm)?, (r, v))?;
            return Ok((self.typed(value, scalar)?, Some(scalar == Scalar::U64)));
        }
        if v.is_number() { Ok((r, None)) } else { Err(Abort::BadType) }
    }
    /// A value in a reference of its own type, which says how it is extended.
    fn typed(&mut self, value: IrRef, scalar: Scalar) -> Rec<IrRef> {
        let ty = ir_type(scalar);
        if ty == Ty::U32 && self.b.ty(value) != ty {
            return self.b.emit(Op::CONV, ty, value, IrRef(conv::pack(ty, Ty::Int, 0)));
        }
        Ok(value)
    }
    fn wide_result(&mut self, value: IrRef, ty: Ty) -> Rec<IrRef> {
        self.new_box(if ty == Ty::U64 { CTypeId::UINT64 } else { CTypeId::INT64 }, value)
    }
    /// The low 32 bits of a cdata.
    pub(in crate::rec) fn wide_low(&mut self, vm: &Vm, operand: Operand) -> Rec<IrRef> {
        let (value, _) = self.wide_operand(vm, operand)?;
        let word = self.to_word(value, Ty::I64)?;
        self.b.emit(Op::CONV, Ty::Int, word, IrRef(conv::pack(Ty::Int, Ty::I64, 0)))
    }
    /// BNOT, BSWAP; BAND, BOR, BXOR of several operands.
    pub(in crate::rec) fn wide_logic(&mut self, vm: &Vm, op: Op, operands: &[Operand]) -> Rec<IrRef> {
        let mut values = Vec::with_capacity(operands.len());
        let mut unsigned = false;
        for operand in operands {
            let (value, is_unsigned) = self.wide_operand(vm, *operand)?;
            unsigned |= is_unsigned == Some(true);
            values.push(value);
        }
        let ty = if unsigned { Ty::U64 } else { Ty::I64 };
        let mut result = IrRef::NONE;
        for (i, value) in values.into_iter().enumerate() {
            let value = self.to_word(value, ty)?;
            result = match op {
                Op::BNOT | Op::BSWAP => self.b.emit(op, ty, value, IrRef::NONE)?,
                _ if i > 0 => self.b.emit(op, ty, result, value)?,
                _ => value,
            };
        }
        self.wide_result(result, ty)
    }
    /// A shift or rotation of a cdata, or by one. An operator truncates the number of bits if it shifts a cdata, where a function of the bit
    /// library rounds it.
    pub(in crate::rec) fn wide_shift(&mut self, vm: &Vm, op: Op, x: Operand, n: Operand, is_operator: bool) -> Rec<IrRef> {
        let truncates = is_operator && x.1.is_cdata() && self.b.ty(n.0) == Ty::Num;
        let count = if n.1.is_cdata() || truncates { self.wide_low(vm, n)? } else { self.to_bits(n.0, n.1)? };
        if !x.1.is_cdata() {
            let value = self.to_bits(x.0, x.1)?;
            return self.b.emit(op, Ty::Int, value, count);
        }
        let (value, unsigned) = self.wide_operand(vm, x)?;
        let ty = if unsigned == Some(true) { Ty::U64 } else { Ty::I64 };
        let value = self.to_word(value, ty)?;
        let result = self.b.emit(op, ty, value, count)?;
        self.wide_result(result, ty)
    }
}
