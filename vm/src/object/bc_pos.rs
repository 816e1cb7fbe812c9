//! Positions in bytecode.

use super::{Gc, Proto};
use crate::bc::Ins;

/// A position in bytecode: an instruction of a prototype, by its index.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BcPos {
    /// The prototype.
    pub proto: Gc<Proto>,
    /// Index of the instruction; 0 is the function header.
    pub index: u32,
}

impl BcPos {
    /// The position of the instruction at an address, if that lies in the prototype; for the copy of a call in a
    /// [`crate::interp::stitch::Pad`] the position of the call.
    pub fn of_address(proto: Gc<Proto>, pc: *const Ins) -> Option<BcPos> {
        proto.pc_of(pc).map(|index| BcPos { proto, index: index as u32 })
    }
    /// The instruction, if there is one.
    pub fn ins(self) -> Option<Ins> {
        self.proto.ins(self.index as usize)
    }
    /// The address of the instruction.
    pub fn address(self) -> *const Ins {
        self.proto.code_ptr().wrapping_add(self.index as usize).cast_const()
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
        self.proto.hot_counter(self.address())
    }
}
