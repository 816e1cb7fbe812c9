//! Arithmetic and comparison of cdata.

use super::index::constant;
use super::{ir_type, types};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty};
use crate::rec::meta::Operand;
use crate::rec::{Rec, Recorder};
use perilune_vm::Vm;
use perilune_vm::ffi::arith::{self, Arith, Place};
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable, Ct, POINTER_SIZE};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::meta::MM;
use perilune_vm::object::InsPtr;

impl Recorder {
    /// An operand of arithmetic: its value as a number, or its address. Its type is guarded.
    fn arith_operand(&mut self, types: &CTypeTable, (r, v): Operand, operand: arith::Operand) -> Rec<IrRef> {
        let Some(c) = v.as_cdata() else {
            return Ok(if operand.place == Place::Nil { self.b.knull(Ty::P64) } else { r });
        };
        self.guard_ctype(r, c)?;
        let ct = types.get(operand.ctype);
        let scalar = if ct.info.is_num() { Scalar::of(ct.info, ct.size) } else { None };
        let address = match operand.place {
            Place::Pointer => return self.pointer(r),
            Place::Target => self.pointer(r)?,
            // The box of a literal, or of a result.
            _ if matches!(scalar, Some(Scalar::I64 | Scalar::U64)) => {
                return self.field(r, perilune_vm::layout::Field::CdataInt64);
            }
            _ => self.payload(types, r, c.ctype())?,
        };
        match scalar {
            Some(scalar) => self.b.emit(Op::XLOAD, ir_type(scalar), address, IrRef(0)),
            None => Ok(address),
        }
    }

    /// Arithmetic of which an operand is cdata, by the operator of the FFI; `None` if it has none for these types.
    pub(in crate::rec) fn cdata_arith(&mut self, vm: &Vm, mm: MM, x: Operand, y: Operand) -> Rec<Option<IrRef>> {
        let types = types(vm)?;
        let (Some(a), Some(b)) = (arith::operand(types, x.1), arith::operand(types, y.1)) else { return Ok(None) };
        let Some(plan) = arith::plan(types, mm, a.ctype, b.ctype) else { return Ok(None) };
        let (rx, ry) = (self.arith_operand(types, x, a)?, self.arith_operand(types, y, b)?);
        match plan {
            Arith::Int64(id) => {
                let ty = if id == CTypeId::INT64 { Ty::I64 } else { Ty::U64 };
                let (rx, ry) = (self.to_word(rx, ty)?, self.to_word(ry, ty)?);
                let op = match mm {
                    MM::Add => Op::ADD,
                    MM::Sub => Op::SUB,
                    MM::Mul => Op::MUL,
                    MM::Div => Op::DIV,
                    MM::Mod => Op::MOD,
                    MM::Pow => Op::POW,
                    _ => Op::NEG,
                };
                let value = self.b.emit(op, ty, rx, if op == Op::NEG { IrRef::NONE } else { ry })?;
                self.new_box(id, value).map(Some)
            }
            Arith::Offset { pointer, size, result } => {
                // A type that is new is made by the interpreter.
                let id = types.interned(result, POINTER_SIZE).ok_or(Abort::BadType)?;
                let (base, index) = if pointer == 0 { (rx, ry) } else { (ry, rx) };
                let index = self.to_word(index, Ty::I64)?;
                let size = self.b.kword(u64::from(size), Ty::I64);
                let bytes = self.b.emit(Op::MUL, Ty::I64, index, size)?;
                let op = if mm == MM::Sub { Op::SUB } else { Op::ADD };
                let address = self.b.emit(op, Ty::P64, base, bytes)?;
                self.new_box(id, address).map(Some)
            }
            Arith::Difference(size) => {
                let bytes = self.b.emit(Op::SUB, Ty::I64, rx, ry)?;
                let size = self.b.kword(u64::from(size), Ty::I64);
                let elements = self.b.emit(Op::DIV, Ty::I64, bytes, size)?;
                self.word_to_num(elements).map(Some)
            }
            Arith::Addresses => Ok(None),
        }
    }
    fn word_to_num(&mut self, word: IrRef) -> Rec<IrRef> {
        let how = crate::ir::conv::pack(Ty::Num, Ty::I64, 0);
        self.b.emit(Op::CONV, Ty::Num, word, IrRef(how))
    }

    /// An operand that is compared with a value: a string is the constant of that name, if the value is of an enumeration.
    fn named(&mut self, types: &CTypeTable, (r, v): Operand, with: perilune_vm::Value) -> Rec<Operand> {
        let Some(c) = with.as_cdata() else { return Ok((r, v)) };
        Ok(self.named_constant(types, types.raw_ref(c.ctype()), (r, v))?.unwrap_or((r, v)))
    }
    /// The constant of an enumeration that a string names, which is guarded.
    pub(super) fn named_constant(&mut self, types: &CTypeTable, id: CTypeId, (r, v): Operand) -> Rec<Option<Operand>> {
        let Some(name) = v.as_str().filter(|_| types.get(id).info.is_enum()) else { return Ok(None) };
        let found = types.member(id, name.bytes()).filter(|m| types.get(m.id).info.is_ct(Ct::Constval));
        let Some(found) = found else { return Ok(None) };
        self.guard_is(r, v)?;
        let value = constant(types, found.id);
        Ok(Some((self.b.kvalue(value), value)))
    }
    /// What [`arith::identity`] compares. The type is guarded.
    fn identity(&mut self, types: &CTypeTable, (r, v): Operand) -> Rec<Option<IrRef>> {
        if v.is_nil() {
            return Ok(Some(self.b.knull(Ty::P64)));
        }
        if v.is_str() {
            let first = self.b.kword(perilune_vm::layout::ofs::STR_DATA as u64, Ty::I64);
            return self.b.emit(Op::ADD, Ty::P64, r, first).map(Some);
        }
        let Some(c) = v.as_cdata() else { return Ok(None) };
        self.guard_ctype(r, c)?;
        let info = types.raw(c.ctype()).info;
        let address = match info.is_ref() || info.is_ptr() {
            true => self.pointer(r)?,
            false => self.payload(types, r, c.ctype())?,
        };
        if info.is_ref() && types.raw(info.child()).info.is_ptr() {
            return self.b.emit(Op::XLOAD, Ty::P64, address, IrRef(0)).map(Some);
        }
        Ok(Some(address))
    }
    /// An equality that the types do not decide: by a metamethod, which is left to the caller, or by identity. Whether it has been recorded.
    fn compare_identity(&mut self, vm: &Vm, pc: InsPtr, negated: bool, x: Operand, y: Operand) -> Rec<bool> {
        let has_method = |v: perilune_vm::Value| v.as_cdata().is_some_and(|c| !vm.operator_method(c, MM::Eq).is_nil());
        if has_method(x.1) || has_method(y.1) {
            return Ok(false);
        }
        let types = types(vm)?;
        let yes = arith::identity(types, x.1).is_some_and(|address| arith::identity(types, y.1) == Some(address));
        if let (Some(rx), Some(ry)) = (self.identity(types, x)?, self.identity(types, y)?) {
            self.decide_by(pc, if yes { Op::EQ } else { Op::NE }, Ty::P64, (rx, ry), yes != negated)?;
        } else {
            // Values of such types are never equal.
            self.native.headers += 1;
        }
        Ok(true)
    }
    /// Guards the outcome of a comparison, after which the jump is taken or not.
    fn decide_by(&mut self, pc: InsPtr, op: Op, ty: Ty, (x, y): (IrRef, IrRef), taken: bool) -> Rec<()> {
        self.other_branch(pc, taken)?;
        // The comparison, and the header of the builtin.
        self.decided_after(2);
        self.b.emit(op, ty, x, y)?;
        self.native.headers += 1;
        Ok(())
    }

    /// A comparison of which an operand is cdata: guards its outcome. The jump that follows is taken if the outcome is not `negated`.
    /// Whether the operator of the FFI has been recorded.
    pub(in crate::rec) fn cdata_compare(
        &mut self,
        vm: &Vm,
        pc: InsPtr,
        (mm, negated): (MM, bool),
        x: Operand,
        y: Operand,
    ) -> Rec<bool> {
        let types = types(vm)?;
        let (x, y) = (self.named(types, x, y.1)?, self.named(types, y, x.1)?);
        let operands = arith::operand(types, x.1).zip(arith::operand(types, y.1));
        let plan = operands.and_then(|(a, b)| arith::plan(types, mm, a.ctype, b.ctype));
        let (Some((a, b)), Some(plan)) = (operands, plan) else {
            return if mm == MM::Eq { self.compare_identity(vm, pc, negated, x, y) } else { Ok(false) };
        };
        let ty = match plan {
            Arith::Int64(CTypeId::INT64) => Ty::I64,
            Arith::Int64(_) => Ty::U64,
            Arith::Addresses => Ty::P64,
            _ => return Ok(false),
        };
        let Some(yes) = arith::holds(types, mm, x.1, y.1) else { return Ok(false) };
        let (rx, ry) = (self.arith_operand(types, x, a)?, self.arith_operand(types, y, b)?);
        let (rx, ry) = (self.to_word(rx, ty)?, self.to_word(ry, ty)?);
        let op = match (mm, yes) {
            (MM::Lt, true) => Op::LT,
            (MM::Lt, false) => Op::GE,
            (MM::Le, true) => Op::LE,
            (MM::Le, false) => Op::GT,
            (_, true) => Op::EQ,
            (_, false) => Op::NE,
        };
        self.decide_by(pc, op, ty, (rx, ry), yes != negated)?;
        Ok(true)
    }
}
