//! Errors.

use std::fmt;

/// Result of whatever may fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error: of compiling, of running, of converting a value, or of a Rust function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    traceback: Option<String>,
}

impl Error {
    /// An error with a message, for Rust functions to return.
    pub fn runtime(message: impl fmt::Display) -> Error {
        Error { message: message.to_string(), traceback: None }
    }
    pub(crate) fn traced(message: &[u8], traceback: &[u8]) -> Error {
        let traceback = (!traceback.is_empty()).then(|| String::from_utf8_lossy(traceback).into_owned());
        Error { message: String::from_utf8_lossy(message).into_owned(), traceback }
    }
    pub(crate) fn conversion(from: &str, to: &str) -> Error {
        Error::runtime(format_args!("error converting Lua {from} to {to}"))
    }
    /// The message, with its position if it has one.
    pub fn message(&self) -> &str {
        &self.message
    }
    /// The calls that were active when the error was raised; `None` for errors outside Lua code.
    pub fn traceback(&self) -> Option<&str> {
        self.traceback.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.traceback {
            Some(t) => write!(f, "\n{t}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
