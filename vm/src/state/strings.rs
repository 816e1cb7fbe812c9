//! Buffers and caches of string operations.

use crate::text::pattern::PatternCache;

/// The buffers that string operations keep between calls, so that they need not allocate each time.
#[derive(Default)]
pub struct StringState {
    /// Scratch buffer of concatenation and string helpers.
    pub buffer: Vec<u8>,
    /// Did memory run out while compiled code appended to the buffer, so that the end is missing?
    pub buffer_cut: bool,
    /// Compiled patterns of the string library.
    pub(crate) patterns: PatternCache,
}
