//! What may go wrong, in words.

use std::io;
use std::path::Path;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The output could not be written.
    Output(io::Error),
    /// Something with a file or a script.
    Other(String),
}

/// Result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl core::fmt::Display for Failure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Failure::Output(e) => write!(f, "cannot write: {e}"),
            Failure::Other(text) => f.write_str(text),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure::Output(e)
    }
}

/// A failure about a file.
pub fn about(file: &Path, what: impl core::fmt::Display) -> Failure {
    Failure::Other(format!("{}: {what}", file.display()))
}
