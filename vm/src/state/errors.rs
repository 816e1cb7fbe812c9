//! The error that is being raised, and its handling.

use crate::value::Value;

/// State of error handling.
#[derive(Debug)]
pub struct ErrorState {
    /// The value of the error that is being raised ([`LuaError`](crate::LuaError)).
    pub value: Value,
    /// The message of the last stack overflow, by which the host tells it from other errors.
    pub overflow: Value,
    /// Traceback of the last error caught by the host, made where it was raised.
    pub traceback: Option<Vec<u8>>,
    /// Has the handler of the error that is being raised run already?
    pub handled: bool,
    /// Does the host want a traceback of uncaught errors?
    pub want_traceback: bool,
    /// Address of the exception of C++ that the error which is being raised stands for, or 0.
    pub(crate) exception: usize,
}

impl Default for ErrorState {
    fn default() -> ErrorState {
        ErrorState {
            value: Value::NIL,
            overflow: Value::NIL,
            traceback: None,
            handled: false,
            want_traceback: false,
            exception: 0,
        }
    }
}
