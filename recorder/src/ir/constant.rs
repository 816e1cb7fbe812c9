//! Constants of a trace.

use super::ins::IrRef;
use super::ty::Ty;
use perilune_vm::Value;
use perilune_vm::layout::ofs;

/// A field of the VM state that a trace takes the address of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum VmRef {
    /// `CompiledState::nil_slot`: the address that a failed HREF returns.
    NilSlot,
    /// `CompiledState::scratch`: results of helpers.
    Scratch,
    /// `Vm::multres`: the number of values in an open list.
    Multres,
    /// `InterpState::native_depth`: how deep native calls are nested.
    Depth,
}

impl VmRef {
    /// Offset of the field in the VM state, bytes.
    pub const fn offset(self) -> usize {
        match self {
            VmRef::NilSlot => ofs::VM_NIL_SLOT,
            VmRef::Scratch => ofs::VM_SCRATCH,
            VmRef::Multres => ofs::VM_MULTRES,
            VmRef::Depth => ofs::VM_NATIVE_DEPTH,
        }
    }
}

/// A constant.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Const {
    /// nil, false, true: always constants 0, 1 and 2.
    Pri(Ty),
    /// An int.
    Int(i32),
    /// A num, by its bits.
    Num(u64),
    /// An object: the tagged value.
    Gc(Value),
    /// A raw word: frame link, pc, address.
    Ptr(u64),
    /// A 64-bit integer of type i64 or u64.
    Word(u64, Ty),
    /// An address inside the VM state.
    Vm(VmRef),
    /// The null pointer, with a type (`tab` for a missing metatable).
    Null(Ty),
    /// Key (a constant reference) and node index of an HREFK.
    Slot(IrRef, u32),
}

impl Const {
    /// The type of the constant; `P64` for addresses, `Nil` for a [`Const::Slot`].
    #[inline]
    pub const fn ty(self) -> Ty {
        match self {
            Const::Pri(ty) | Const::Null(ty) | Const::Word(_, ty) => ty,
            Const::Int(_) => Ty::Int,
            Const::Num(_) => Ty::Num,
            Const::Gc(value) => Ty::of_value(value),
            Const::Ptr(_) | Const::Vm(_) => Ty::P64,
            Const::Slot(..) => Ty::Nil,
        }
    }
}
