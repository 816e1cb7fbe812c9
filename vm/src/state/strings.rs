//! Buffers and caches of string operations.

use crate::text::pattern::PatternCache;

/// What compiled code does with the scratch buffer.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Scratch {
    /// It appends texts.
    #[default]
    Open,
    /// It begins a text. The buffer still has the bytes of the string that was made last.
    Begun,
    /// Memory ran out, or an interrupt waited, while it appended a text, so that the end is missing.
    Cut,
}

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
