//! Buffers and caches of string operations.

use super::Scratch;
use crate::text::pattern::PatternCache;

/// The buffers that string operations keep between calls, so that they need not allocate each time.
#[derive(Default)]
pub struct StringState {
    /// Scratch buffer of concatenation and string helpers.
    pub buffer: Vec<u8>,
    /// What compiled code does with the buffer.
    pub scratch: Scratch,
    /// Compiled patterns of the string library.
    pub(crate) patterns: PatternCache,
}
