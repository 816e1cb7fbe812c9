//! The bits of a value: 17 for the tag, 47 for the payload. [`crate::value`] says what they mean.

/// Number of payload bits.
pub const PAYLOAD_BITS: u32 = 47;
/// Mask of the payload.
pub const PAYLOAD_MASK: u64 = (1 << PAYLOAD_BITS) - 1;

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $n:expr;)*) => {
        $($(#[$doc])* pub const $name: u64 = (!($n as u64)) & 0x1ffff;)*
    };
}

tags! {
    /// nil
    TAG_NIL = 0u64;
    /// false
    TAG_FALSE = 1u64;
    /// true
    TAG_TRUE = 2u64;
    /// light userdata
    TAG_LIGHTUD = 3u64;
    /// string
    TAG_STR = 4u64;
    /// upvalue (never seen by Lua code)
    TAG_UPVAL = 5u64;
    /// coroutine
    TAG_THREAD = 6u64;
    /// function prototype
    TAG_PROTO = 7u64;
    /// function
    TAG_FUNC = 8u64;
    /// trace (reserved)
    TAG_TRACE = 9u64;
    /// cdata
    TAG_CDATA = 10u64;
    /// table
    TAG_TAB = 11u64;
    /// full userdata
    TAG_UDATA = 12u64;
    /// 32-bit integer
    TAG_INT = 13u64;
}

/// The smallest bit pattern that is not a double.
pub const FIRST_TAGGED: u64 = TAG_INT << PAYLOAD_BITS;
/// The bit pattern of integer zero; or-ing a `u32` in gives the integer.
pub const INT_BITS: u64 = FIRST_TAGGED;

const _: () = assert!(FIRST_TAGGED == 0xfff9_0000_0000_0000);
