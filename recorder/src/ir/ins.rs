//! An instruction and a reference to one: 8 and 2 bytes, as in LuaJIT (`IRIns`, `IRRef1`).

use super::index::SlotIdx;
use super::op::{Effect, Mode, Op};
use super::ty::Ty;
use perilune_vm::helper::Helper;

/// Number of constants that fit below the bias, and the reference of [`Op::BASE`].
pub const REF_BIAS: u16 = 0x8000;

/// A reference to an instruction (at or above [`REF_BIAS`]) or a constant (below it).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct IrRef(pub u16);

impl IrRef {
    /// No reference (an unused operand).
    pub const NONE: IrRef = IrRef(0);
    /// The constant nil.
    pub const NIL: IrRef = IrRef(REF_BIAS - 1);
    /// The constant false.
    pub const FALSE: IrRef = IrRef(REF_BIAS - 2);
    /// The constant true.
    pub const TRUE: IrRef = IrRef(REF_BIAS - 3);
    /// The BASE instruction.
    pub const BASE: IrRef = IrRef(REF_BIAS);
    /// The first real instruction.
    pub const FIRST: IrRef = IrRef(REF_BIAS + 1);
    /// Does it name a constant?
    #[inline]
    pub const fn is_const(self) -> bool {
        self.0 < REF_BIAS
    }
    /// Index into [`super::Trace::ins`].
    #[inline]
    pub const fn ins_index(self) -> usize {
        (self.0 - REF_BIAS) as usize
    }
    /// Index into [`super::Trace::consts`].
    #[inline]
    pub const fn const_index(self) -> usize {
        (REF_BIAS - 1 - self.0) as usize
    }
    /// The reference of instruction `i`.
    #[inline]
    pub const fn of_ins(i: usize) -> IrRef {
        IrRef(REF_BIAS + i as u16)
    }
    /// The reference of constant `i`.
    #[inline]
    pub const fn of_const(i: usize) -> IrRef {
        IrRef(REF_BIAS - 1 - i as u16)
    }
    /// A stack slot as the literal operand of [`Op::SLOAD`] and the like.
    #[inline]
    pub const fn of_slot(slot: SlotIdx) -> IrRef {
        IrRef(slot.bits())
    }
    /// The stack slot that a literal operand names.
    #[inline]
    pub const fn slot(self) -> SlotIdx {
        SlotIdx::new(self.0 as usize)
    }
}

impl core::fmt::Debug for IrRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.is_const() { write!(f, "K{:03}", self.const_index()) } else { write!(f, "{:04}", self.ins_index()) }
    }
}

/// An instruction: 8 bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ins {
    /// Operation.
    pub op: Op,
    /// Type of the result (of the operands, for comparisons).
    pub ty: Ty,
    /// [`Ins::GUARD`], [`Ins::PHI`], [`Ins::MARK`], [`Ins::SINK`], [`Ins::STRESS`].
    pub flags: u8,
    /// Operand 1: reference or literal, by the op's mode.
    pub a: IrRef,
    /// Operand 2.
    pub b: IrRef,
}

impl Ins {
    /// Leaves through the current snapshot when its assertion or type check fails.
    pub const GUARD: u8 = 0x80;
    /// Operand of a PHI.
    pub const PHI: u8 = 0x40;
    /// Scratch mark of passes.
    pub const MARK: u8 = 0x20;
    /// Sunk: makes a new table that only exits need, or serves only to fill it (addresses, insertions, stores). It is not executed at its
    /// position: an exit executes its [`super::Trace::sunk`] instructions before it stores the slots, and none of them is a guard there.
    pub const SINK: u8 = 0x10;
    /// Exit stress, for tests: a guard that also fails when `Vm::exit_countdown` is over. On BASE, the stack check at the start fails.
    pub const STRESS: u8 = 0x08;
    /// An unguarded instruction.
    pub const fn new(op: Op, ty: Ty, a: IrRef, b: IrRef) -> Ins {
        Ins { op, ty, flags: if op.is_guard() { Ins::GUARD } else { 0 }, a, b }
    }
    /// The same with the guard bit.
    pub const fn guarded(mut self) -> Ins {
        self.flags |= Ins::GUARD;
        self
    }
    /// A call of a helper with its arguments, guarded if the helper can fail.
    pub const fn call(op: Op, helper: Helper, args: IrRef) -> Ins {
        let ins = Ins::new(op, Ty::of_abi(helper.ret()), args, IrRef(helper as u16));
        if helper.may_fail() { ins.guarded() } else { ins }
    }
    /// Is it sunk?
    pub const fn is_sunk(self) -> bool {
        self.flags & Ins::SINK != 0
    }
    /// Does it leave when the countdown of exit stress is over?
    pub const fn is_stressed(self) -> bool {
        self.flags & Ins::STRESS != 0
    }
    /// Is it a guard?
    pub const fn is_guard(self) -> bool {
        self.flags & Ins::GUARD != 0
    }
}

impl Ins {
    /// The newest instruction among the operands; [`IrRef::BASE`] when all are constants or literals.
    #[inline]
    pub fn newest_operand(&self) -> IrRef {
        let a = if self.op.mode_a() == Mode::Ref { self.a } else { IrRef::NONE };
        let b = if self.op.mode_b() == Mode::Ref { self.b } else { IrRef::NONE };
        a.max(b).max(IrRef::BASE)
    }
    /// The references among the operands that name instructions.
    #[inline]
    pub fn operands(&self) -> impl Iterator<Item = IrRef> + use<> {
        let a = if self.op.mode_a() == Mode::Ref && !self.a.is_const() { Some(self.a) } else { None };
        let b = if self.op.mode_b() == Mode::Ref && !self.b.is_const() { Some(self.b) } else { None };
        a.into_iter().chain(b)
    }
    /// Is it a call that makes a string of its arguments, so that equal calls have the same value?
    #[inline]
    pub fn makes_string_of_values(&self) -> bool {
        self.op == Op::CALLA && Helper::ALL.get(usize::from(self.b.0)).is_some_and(|h| h.makes_string_of_values())
    }
    /// May the instruction be removed when its value is not used?
    #[inline]
    pub fn is_removable(&self) -> bool {
        // The guard of an allocation only checks that there was memory; that of a sum, difference or product, that the result is an int.
        let is_weak = self.op.effect() == Effect::Alloc || matches!(self.op, Op::ADDOV | Op::SUBOV | Op::MULOV);
        (!self.is_guard() || is_weak) && self.op.effect() != Effect::Store && self.op != Op::BASE
    }
}
