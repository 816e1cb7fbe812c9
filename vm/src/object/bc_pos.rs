//! Positions in bytecode: by prototype and index, by address, and as a pointer that can be read.
#![allow(unsafe_code, reason = "an InsPtr points to an instruction of a prototype that lives")]

use super::{Gc, Proto};
use crate::bc::{Ins, Op};
use core::ops::Range;

/// A position in bytecode: an instruction of a prototype, by its index.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BcPos {
    /// The prototype.
    pub proto: Gc<Proto>,
    /// Index of the instruction; 0 is the function header.
    pub index: u32,
}

/// The address of a bytecode instruction as a number, as traces keep it. It does not tell whether the instruction still exists: a prototype
/// turns it into a position ([`BcPos::of_address`]) or into a pointer ([`Proto::ins_ptr`]). 0 stands for no address.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct BcAddr(u64);

/// A pointer to an instruction: one of the code of a prototype that lives, or of one of its stitch stubs.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct InsPtr(*const Ins);

impl BcPos {
    /// The position of the instruction at an address, if that lies in the prototype; for the copy of a call in a
    /// [`super::StitchStub`] the position of the call.
    pub fn of_address(proto: Gc<Proto>, address: impl Into<BcAddr>) -> Option<BcPos> {
        proto.pc_of(address).map(|index| BcPos { proto, index: index as u32 })
    }
    /// The instruction, if there is one.
    pub fn ins(self) -> Option<Ins> {
        self.proto.ins(self.index as usize)
    }
    /// The instructions of the loop that this FORL, ITERL or LOOP belongs to; none for other instructions, also those that enter traces.
    pub fn loop_range(self) -> Option<Range<u32>> {
        let ins = self.ins()?;
        let target = self.index.checked_add_signed(ins.j() + 1);
        match ins.op() {
            Op::FORL | Op::ITERL => Some(target?..self.index + 1),
            Op::LOOP => Some(self.index..target?),
            _ => None,
        }
    }
    /// A pointer to the instruction.
    ///
    /// # Panics
    /// The prototype has no such instruction.
    pub fn ptr(self) -> InsPtr {
        assert!(self.pc() < self.proto.code_len(), "an instruction of the prototype");
        InsPtr(self.proto.code_ptr().wrapping_add(self.pc()).cast_const())
    }
    /// The index of the instruction.
    pub fn pc(self) -> usize {
        self.index as usize
    }
    /// The line; that of the definition for a function header, 0 when unknown.
    pub fn line(self) -> u32 {
        if self.index == 0 { self.proto.first_line } else { self.proto.line(self.pc()) }
    }
    /// The hot counter of the instruction.
    pub fn hot_counter(self) -> usize {
        self.proto.hot_counter(self.ptr())
    }
}

impl BcAddr {
    /// From a number.
    pub const fn new(address: u64) -> BcAddr {
        BcAddr(address)
    }
    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<*const Ins> for BcAddr {
    fn from(pc: *const Ins) -> BcAddr {
        BcAddr(pc.expose_provenance() as u64)
    }
}

impl From<InsPtr> for BcAddr {
    fn from(p: InsPtr) -> BcAddr {
        p.0.into()
    }
}

impl InsPtr {
    /// Takes a raw pointer.
    ///
    /// # Safety
    /// It points to an instruction of a prototype, or of one of its stitch stubs, that lives as long as the result is used.
    #[inline(always)]
    pub const unsafe fn new(pc: *const Ins) -> InsPtr {
        InsPtr(pc)
    }
    /// The instruction, as it is patched now.
    #[inline(always)]
    pub fn ins(self) -> Ins {
        // SAFETY: the contract of `new`. Instructions are plain words, and only the thread of the VM patches them.
        unsafe { *self.0 }
    }
    /// The pointer `d` instructions further on.
    ///
    /// # Safety
    /// There is such an instruction in the same code or stub.
    #[inline(always)]
    pub unsafe fn offset(self, d: isize) -> InsPtr {
        InsPtr(self.0.wrapping_offset(d))
    }
    /// The raw pointer.
    #[inline(always)]
    pub const fn as_ptr(self) -> *const Ins {
        self.0
    }
    /// The address, for a trace to keep.
    pub fn addr(self) -> BcAddr {
        self.into()
    }
}
