//! Lua patterns.
//!
//! A pattern is compiled once into a [`Program`]: a list of nodes, each of which has facts about what can follow it. The [`Matcher`] runs a
//! program against a subject, and the [`PatternCache`] of a VM keeps the programs of recently used patterns.
//!
//! A malformed part of a pattern is an error only once matching reaches it: it becomes a node that fails with the error, and the program
//! ends there.

pub mod cache;
mod compile;
mod follow;
pub mod item;
pub mod matcher;
pub mod program;
#[cfg(test)]
mod reference;
mod set;
#[cfg(test)]
mod tests;

pub use cache::PatternCache;
pub use matcher::Matcher;
pub use program::Program;

/// Most captures in a pattern.
pub const MAX_CAPTURES: usize = 32;
/// Deepest nesting of a match: each start or end of a capture and each repetition nests the rest of the pattern one level deeper, and so
/// does an optional item that is present.
const MAX_DEPTH: u32 = 200;

/// An error of a pattern.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PatternError {
    /// `%` at the end.
    EndsWithPercent,
    /// A set without its end.
    MissingBracket,
    /// `%f` without a set.
    MissingFrontierSet,
    /// `%b` without its two characters.
    Unbalanced,
    /// `)` without `(`.
    InvalidCapture,
    /// A reference to a capture that does not exist or is not finished.
    InvalidIndex,
    /// `(` without `)`.
    Unfinished,
    /// More than [`MAX_CAPTURES`].
    TooManyCaptures,
    /// Nested too deeply.
    TooComplex,
    /// The program is interrupted.
    Interrupted,
}

impl PatternError {
    /// The text of the error.
    pub const fn message(self) -> &'static str {
        match self {
            PatternError::EndsWithPercent => "malformed pattern (ends with '%')",
            PatternError::MissingBracket => "malformed pattern (missing ']')",
            PatternError::MissingFrontierSet => "missing '[' after '%f' in pattern",
            PatternError::Unbalanced => "unbalanced pattern",
            PatternError::InvalidCapture => "invalid pattern capture",
            PatternError::InvalidIndex => "invalid capture index",
            PatternError::Unfinished => "unfinished capture",
            PatternError::TooManyCaptures => "too many captures",
            PatternError::TooComplex => "pattern too complex",
            PatternError::Interrupted => crate::interrupt::Cause::Key.message(),
        }
    }
}

/// A finished capture.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Capture {
    /// A part of the subject, from offset to offset.
    Range(usize, usize),
    /// A position, counted from 1.
    Position(usize),
}
