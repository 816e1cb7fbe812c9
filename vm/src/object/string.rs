//! Interned strings.

use super::GcHeader;
use core::cell::Cell;

/// An interned, immutable byte string. The bytes follow the struct, and a NUL after them.
///
/// Header: `word` is the hash, `b0` is non-zero for reserved words of the lexer.
#[repr(C)]
pub struct Str {
    /// Object header; `word` is the hash of the whole string.
    pub hdr: GcHeader,
    /// Next string in the same intern chain.
    pub next: Cell<*mut Str>,
    /// Length in bytes.
    pub len: Cell<u32>,
    pub(crate) pad: u32,
}

/// Offset of the bytes from the start of the object.
pub const STR_DATA: usize = core::mem::size_of::<Str>();
const _: () = assert!(STR_DATA == 24);

impl Str {
    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a string object is allocated with `len` bytes after the struct.
        unsafe {
            let p = core::ptr::with_exposed_provenance::<u8>(core::ptr::from_ref(self).expose_provenance() + STR_DATA);
            core::slice::from_raw_parts(p, self.len.get() as usize)
        }
    }
    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.get() as usize
    }
    /// Is it the empty string?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len.get() == 0
    }
    /// The hash.
    #[inline]
    pub fn hash(&self) -> u32 {
        self.hdr.word.get()
    }
    /// The bytes as text, lossily.
    pub fn to_str_lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

impl core::fmt::Debug for Str {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.to_str_lossy())
    }
}
