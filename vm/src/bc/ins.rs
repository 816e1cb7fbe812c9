//! The 32-bit instruction word: opcode in bits 0-7, A in 8-15, then D in 16-31, or C in 16-23 and B in 24-31.

use super::Op;
use crate::ids::TraceId;

/// An instruction.
#[derive(Copy, Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ins(pub u32);

/// A jump of distance 0: jump operands are biased by this, relative to the next instruction.
pub const JUMP_BIAS: i32 = 0x8000;

impl Ins {
    /// With A, B and C operands.
    #[inline]
    pub const fn abc(op: Op, a: u8, b: u8, c: u8) -> Ins {
        Ins(op as u32 | (a as u32) << 8 | (c as u32) << 16 | (b as u32) << 24)
    }
    /// With A and D operands.
    #[inline]
    pub const fn ad(op: Op, a: u8, d: u16) -> Ins {
        Ins(op as u32 | (a as u32) << 8 | (d as u32) << 16)
    }
    /// With A and a jump distance, relative to the next instruction.
    #[inline]
    pub const fn aj(op: Op, a: u8, offset: i32) -> Ins {
        Ins::ad(op, a, (offset + JUMP_BIAS) as u16)
    }
    /// The opcode. Those after the last are of [`Op::FASTFN`], whose headers tell their builtins by them.
    #[inline(always)]
    pub const fn op(self) -> Op {
        match Op::from_u8(self.0 as u8) {
            Some(op) => op,
            None => Op::FASTFN,
        }
    }
    /// Operand A.
    #[inline(always)]
    pub const fn a(self) -> usize {
        (self.0 >> 8 & 0xff) as usize
    }
    /// Operand B.
    #[inline(always)]
    pub const fn b(self) -> usize {
        (self.0 >> 24) as usize
    }
    /// Operand C.
    #[inline(always)]
    pub const fn c(self) -> usize {
        (self.0 >> 16 & 0xff) as usize
    }
    /// Operand D.
    #[inline(always)]
    pub const fn d(self) -> usize {
        (self.0 >> 16) as usize
    }
    /// Jump distance, relative to the next instruction.
    #[inline(always)]
    pub const fn j(self) -> i32 {
        (self.0 >> 16) as i32 - JUMP_BIAS
    }
    /// The trace that a compiled loop or function header, or a STITCH, enters: operand D. `None` for a STITCH without a trace.
    #[inline]
    pub const fn trace(self) -> Option<TraceId> {
        TraceId::new(self.d() as u32)
    }
    /// The same with another opcode.
    #[inline]
    pub const fn with_op(self, op: Op) -> Ins {
        Ins(self.0 & !0xff | op as u32)
    }
    /// The same with another A.
    #[inline]
    pub const fn with_a(self, a: u8) -> Ins {
        Ins(self.0 & !0xff00 | (a as u32) << 8)
    }
    /// The same with another B.
    #[inline]
    pub const fn with_b(self, b: u8) -> Ins {
        Ins(self.0 & 0x00ff_ffff | (b as u32) << 24)
    }
    /// The same with another D.
    #[inline]
    pub const fn with_d(self, d: u16) -> Ins {
        Ins(self.0 & 0xffff | (d as u32) << 16)
    }
}

impl core::fmt::Debug for Ins {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let op = self.op();
        if op.has_b() {
            write!(f, "{:6} {:3} {:3} {:3}", op.name(), self.a(), self.b(), self.c())
        } else {
            write!(f, "{:6} {:3} {:7}", op.name(), self.a(), self.d())
        }
    }
}

/// The constant of a TSETM is the first index plus this.
pub const TSETM_BIAS: f64 = 4_503_599_627_370_496.0;
