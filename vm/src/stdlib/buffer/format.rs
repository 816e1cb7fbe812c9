//! The format of encoded values.

/// Tags. A string is tagged by its length, from [`STR`](tag::STR) on.
pub mod tag {
    /// nil; false and true follow.
    pub const NIL: u32 = 0;
    /// false
    pub const FALSE: u32 = 1;
    /// true
    pub const TRUE: u32 = 2;
    /// The light userdata 0.
    pub const NULL: u32 = 3;
    /// A light userdata of 32 bits.
    pub const LIGHTUD32: u32 = 4;
    /// A light userdata of 64 bits.
    pub const LIGHTUD64: u32 = 5;
    /// A 32-bit integer.
    pub const INT: u32 = 6;
    /// A double.
    pub const NUM: u32 = 7;
    /// An empty table. Added to this: 1 with a hash part; 2 with an array part from 0, or 4 from 1.
    pub const TAB: u32 = 8;
    /// Added to the tag of a table that has a hash part.
    pub const TAB_HASH: u32 = 1;
    /// Added to the tag of a table that has an array part from 0.
    pub const TAB_FROM_0: u32 = 2;
    /// Added to the tag of a table that has an array part from 1.
    pub const TAB_FROM_1: u32 = 4;
    /// A table with a metatable of the dictionary.
    pub const DICT_MT: u32 = 0x0e;
    /// A string of the dictionary.
    pub const DICT_STR: u32 = 0x0f;
    /// An `int64_t`. This and the next two are cdata.
    pub const INT64: u32 = 0x10;
    /// A `uint64_t`.
    pub const UINT64: u32 = 0x11;
    /// A complex number.
    pub const COMPLEX: u32 = 0x12;
    /// A string of length 0.
    pub const STR: u32 = 0x20;
}

/// Tables may be nested this deep.
pub const MAX_DEPTH: u32 = 100;

/// Lengths below this take one byte.
pub const ONE_BYTE: u32 = 0xe0;
/// Lengths below this take two bytes.
pub const TWO_BYTES: u32 = 0x1fe0;
