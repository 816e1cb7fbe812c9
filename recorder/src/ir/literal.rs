//! Operands that are literals: flags and modes of single operations, with LuaJIT's values where it has them.

use super::ty::Ty;

/// Flags of [`super::Op::SLOAD`]'s operand 2 (LuaJIT's values).
pub mod sload {
    /// The value and its type come from the parent trace's exit: already checked.
    pub const PARENT: u16 = 1;
    /// A frame slot (function or link).
    pub const FRAME: u16 = 2;
    /// The type is checked.
    pub const TYPECHECK: u16 = 4;
    /// A number is converted to the instruction's type.
    pub const CONVERT: u16 = 8;
    /// The trace does not write the slot.
    pub const READONLY: u16 = 16;
    /// Side traces inherit the type.
    pub const INHERIT: u16 = 32;
    /// A `next` loop's hidden control value.
    pub const KEYINDEX: u16 = 64;
}

/// Operand 2 of [`super::Op::CONV`]: source type in bits 0-4, destination type in bits 5-9, mode above.
pub mod conv {
    use super::Ty;
    /// Sign-extend (int to i64).
    pub const SEXT: u16 = 0x800;
    /// Plain conversion.
    pub const NONE: u16 = 1 << 12;
    /// num to int that must be exact, for an index (-0 becomes 0); to i64, any num, of which NaN becomes 0.
    pub const INDEX: u16 = 2 << 12;
    /// num to int that must be exact and not -0, for a narrowed number.
    pub const CHECK: u16 = 3 << 12;
    /// num that must be integral, with a magnitude of at most [`MOST`], to its low 32 bits.
    pub const BITS: u16 = 4 << 12;
    /// All bits of the mode.
    pub const MODE: u16 = 7 << 12;
    /// See [`BITS`]: sums of such nums and ints are exact, and so is their TOBIT.
    pub const MOST: f64 = (1u64 << 49) as f64;
    /// Packs the operand.
    pub const fn pack(dst: Ty, src: Ty, mode: u16) -> u16 {
        (src as u16) | (dst as u16) << 5 | mode
    }
    /// int to num.
    pub const NUM_INT: u16 = pack(Ty::Num, Ty::Int, 0);
    /// int to a word, zero-extended.
    pub const U64_INT: u16 = pack(Ty::U64, Ty::Int, 0);
    /// int to i64, sign-extended.
    pub const I64_INT: u16 = pack(Ty::I64, Ty::Int, SEXT);
    /// num to i64, truncated, for an index of cdata (NaN becomes 0).
    pub const I64_NUM_INDEX: u16 = pack(Ty::I64, Ty::Num, INDEX);
    /// num to int by exact check, for an index.
    pub const INT_NUM_INDEX: u16 = pack(Ty::Int, Ty::Num, INDEX);
    /// num to int by exact check.
    pub const INT_NUM_CHECK: u16 = pack(Ty::Int, Ty::Num, CHECK);
    /// num to the low bits of an int by exact check.
    pub const INT_NUM_BITS: u16 = pack(Ty::Int, Ty::Num, BITS);
}

/// Literal of UREFO and UREFC: the index of the upvalue times 256, and a flag.
pub mod uref {
    /// Upvalues have been joined: one of another index may be the same variable.
    pub const JOINED: u16 = 1;
}

/// Flags of [`super::Op::XLOAD`]'s operand 2.
pub mod xload {
    /// The memory never changes (bytes of a string).
    pub const READONLY: u16 = 1;
    /// Loaded each time, also where its value seems to be known (`volatile`).
    pub const VOLATILE: u16 = 2;
    /// A part of a copy, or the container of a bitfield: its bytes may have been stored as any type.
    pub const UNTYPED: u16 = 4;
}

/// Operand 2 of [`super::Op::NATIVE`].
pub mod native {
    /// Number of arguments.
    pub const ARGS: u16 = 0xff;
    /// The builtin writes to no table, upvalue or metatable.
    pub const READS: u16 = 0x100;
}
