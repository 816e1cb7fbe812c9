//! Operations on cdata (LuaJIT's `lj_crecord`).
//!
//! What an operation does is decided by the types of its operands alone, by the same functions as in the interpreter
//! ([`perilune_vm::ffi`]). So the recorder guards the types, and emits code for the decision. The metatable of cdata is taken for
//! immutable, as in LuaJIT.

mod aggregate;
mod arith;
mod bits;
mod call;
mod convert;
mod foreign;
mod index;
mod initializer;
mod lib;
mod new;
mod peek;

use super::{Rec, Recorder};
use crate::abort::Abort;
use crate::ir::{IrRef, Op, Ty, conv};
use perilune_vm::Vm;
use perilune_vm::ffi::ctype::{CTypeId, CTypeTable};
use perilune_vm::ffi::scalar::Scalar;
use perilune_vm::layout::Field;
use perilune_vm::object::{Cdata, Gc, Placement};

/// The C types.
fn types(vm: &Vm) -> Rec<&CTypeTable> {
    vm.ffi.as_ref().map(|ffi| &ffi.types).ok_or(Abort::BadType)
}

/// Where the payload of cdata of a type is.
fn placement(types: &CTypeTable, id: CTypeId) -> Placement {
    let (info, size) = types.info(id);
    Placement::of(size.filter(|_| !info.is_variable()), info.align_log())
}

/// The type of a scalar in IR.
const fn ir_type(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool | Scalar::U8 => Ty::U8,
        Scalar::I8 => Ty::I8,
        Scalar::I16 => Ty::I16,
        Scalar::U16 => Ty::U16,
        Scalar::I32 => Ty::Int,
        Scalar::U32 => Ty::U32,
        Scalar::I64 => Ty::I64,
        Scalar::U64 => Ty::U64,
        Scalar::F32 => Ty::Float,
        Scalar::F64 => Ty::Num,
        Scalar::Pointer => Ty::P64,
    }
}

impl Recorder {
    /// Guards the type of a cdata.
    pub(super) fn guard_ctype(&mut self, r: IrRef, c: Gc<Cdata>) -> Rec<()> {
        let id = self.field(r, Field::CdataCtypeId)?;
        self.guard_int(id, c.ctype().0 as i32)
    }
    /// Guards the type that a cdata stands for.
    fn guard_type(&mut self, r: IrRef, id: CTypeId) -> Rec<()> {
        let of = self.field(r, Field::CdataInt)?;
        self.guard_int(of, id.0 as i32)
    }
    /// The address of the payload of a cdata of a type.
    fn payload(&mut self, types: &CTypeTable, r: IrRef, id: CTypeId) -> Rec<IrRef> {
        // Where the offset differs from object to object, the operation is not recorded.
        let offset = placement(types, id).offset().ok_or(Abort::BadType)?;
        let offset = self.b.kword(offset as u64, Ty::I64);
        self.b.emit(Op::ADD, Ty::P64, r, offset)
    }
    /// The address that a pointer or reference is.
    fn pointer(&mut self, r: IrRef) -> Rec<IrRef> {
        self.field(r, Field::CdataPtr)
    }
    /// A number as a 64-bit integer of this type.
    fn to_word(&mut self, r: IrRef, ty: Ty) -> Rec<IrRef> {
        let from = self.b.ty(r);
        if from.is_word() {
            return Ok(r);
        }
        if from.is_int() {
            let (source, mode) = if from == Ty::U32 { (from, 0) } else { (Ty::Int, conv::SEXT) };
            return self.b.emit(Op::CONV, ty, r, IrRef(conv::pack(ty, source, mode)));
        }
        self.b.emit(Op::CONV, ty, r, IrRef(conv::pack(ty, from, 0)))
    }
    /// A box of a scalar.
    pub(in crate::rec) fn new_box(&mut self, id: CTypeId, value: IrRef) -> Rec<IrRef> {
        self.gc_step()?;
        let id = self.b.kint(id.0 as i32);
        self.b.emit(Op::CNEWI, Ty::Cdata, id, value)
    }
}
