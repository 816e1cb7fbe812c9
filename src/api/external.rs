//! Errors of other Rust code as errors of Lua, and what was done when an error came.

use super::error::{DynStdError, Error, Result};
use std::fmt;
use std::sync::Arc;

/// Errors of other Rust code as errors of Lua.
///
/// ```
/// use perilune::ExternalError;
///
/// assert_eq!(std::fmt::Error.into_lua_err().to_string(), std::fmt::Error.to_string());
/// ```
pub trait ExternalError {
    /// Converts.
    ///
    /// ```
    /// use perilune::ExternalError;
    ///
    /// assert_eq!("no moon".into_lua_err().message(), "no moon");
    /// ```
    fn into_lua_err(self) -> Error;
}
impl<E: Into<Box<DynStdError>>> ExternalError for E {
    fn into_lua_err(self) -> Error {
        Error::external(self)
    }
}

/// Results of other Rust code as results of Lua.
///
/// ```
/// use perilune::{ExternalResult, Lua};
///
/// let lua = Lua::new();
/// let parse = lua.create_function(|_, text: String| text.parse::<f64>().into_lua_err())?;
/// assert_eq!(parse.call::<f64>("2.5")?, 2.5);
/// assert_eq!(parse.call::<f64>("x").unwrap_err().message(), "invalid float literal");
/// # Ok::<(), perilune::Error>(())
/// ```
pub trait ExternalResult<T> {
    /// Converts.
    ///
    /// ```
    /// use perilune::ExternalResult;
    ///
    /// assert_eq!("7".parse::<u8>().into_lua_err()?, 7);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn into_lua_err(self) -> Result<T>;
}
impl<T, E: ExternalError> ExternalResult<T> for Result<T, E> {
    fn into_lua_err(self) -> Result<T> {
        self.map_err(ExternalError::into_lua_err)
    }
}

/// Says more about an error.
///
/// ```
/// use perilune::{Error, ErrorContext};
///
/// let e = Error::runtime("no such file").context("reading the configuration");
/// assert_eq!(e.to_string(), "reading the configuration\nruntime error: no such file");
/// ```
pub trait ErrorContext: super::Sealed {
    /// Adds what was done, or says it instead of what was said before.
    ///
    /// ```
    /// use perilune::{Error, ErrorContext};
    ///
    /// assert_eq!(Error::runtime("no moon").context("at night").to_string(), "at night\nruntime error: no moon");
    /// ```
    fn context<C: fmt::Display>(self, context: C) -> Self;
    /// The same, made only if there is an error.
    ///
    /// ```
    /// use perilune::{Error, ErrorContext, Result};
    ///
    /// let failed: Result<()> = Err(Error::runtime("no such file"));
    /// let e = failed.with_context(|e| format!("reading 3 files ({})", e.message())).unwrap_err();
    /// assert_eq!(e.to_string(), "reading 3 files (no such file)\nruntime error: no such file");
    /// ```
    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Self;
}
impl ErrorContext for Error {
    fn context<C: fmt::Display>(self, context: C) -> Error {
        let context = context.to_string();
        let cause = match self {
            Error::WithContext { cause, .. } => cause,
            e => Arc::new(e),
        };
        Error::WithContext { context, cause }
    }
    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Error {
        let context = f(&self).to_string();
        self.context(context)
    }
}
impl<T> ErrorContext for Result<T> {
    fn context<C: fmt::Display>(self, context: C) -> Result<T> {
        self.map_err(|e| e.context(context))
    }
    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Result<T> {
        self.map_err(|e| e.with_context(f))
    }
}

macro_rules! external {
    ($($t:ty)*) => {$(
        impl From<$t> for Error {
            fn from(e: $t) -> Error {
                Error::external(e)
            }
        }
    )*};
}
external! { std::io::Error std::str::Utf8Error std::net::AddrParseError }

/// The error of Lua that it was made of, or else an [`Error::ExternalError`].
///
/// ```
/// use perilune::{Error, Lua};
///
/// fn port(text: &str) -> anyhow::Result<u16> {
///     Ok(text.parse()?)
/// }
/// let lua = Lua::new();
/// lua.globals().set("port", lua.create_function(|_, text: String| Ok(port(&text)?))?)?;
/// assert_eq!(lua.load("port('80')").eval::<u16>()?, 80);
/// assert!(lua.load("port('x')").exec().unwrap_err().message().contains("invalid digit"));
/// # Ok::<(), Error>(())
/// ```
#[cfg(feature = "anyhow")]
impl From<anyhow::Error> for Error {
    fn from(e: anyhow::Error) -> Error {
        e.downcast().unwrap_or_else(Error::external)
    }
}

#[cfg(feature = "serde")]
impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::SerializeError(message.to_string())
    }
}
#[cfg(feature = "serde")]
impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::DeserializeError(message.to_string())
    }
}
