//! Syntax errors: LuaJIT's message, and the position of the token in the source.

use core::ops::Range;

/// Why a text was not compiled.
// One word, since it is part of the result of every function of the parser.
#[derive(Clone, Debug)]
pub struct SyntaxError(Option<Box<Diagnostic>>);

/// A message about a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// LuaJIT's message, with the chunk's name and the line.
    pub message: Vec<u8>,
    /// The line in the message, from 1.
    pub line: u32,
    /// The bytes of the token that caused the error; unknown for a text that came in pieces.
    pub token: Option<Range<usize>>,
}

impl SyntaxError {
    /// The reader of the text has failed, with its own error.
    pub(super) fn reader_failed() -> SyntaxError {
        SyntaxError(None)
    }
    /// The diagnostic; none if the reader of the text failed.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        self.0.as_deref()
    }
    /// The same, moved out.
    pub fn into_diagnostic(self) -> Option<Diagnostic> {
        self.0.map(|d| *d)
    }
    /// The message with its position; none if the reader of the text failed.
    pub fn message(&self) -> Option<&[u8]> {
        self.0.as_ref().map(|d| &*d.message)
    }
}

impl From<Diagnostic> for SyntaxError {
    fn from(d: Diagnostic) -> SyntaxError {
        SyntaxError(Some(Box::new(d)))
    }
}
