//! Errors: of compiling, running and converting, of Rust functions, and values that Lua code has raised.

use super::lua::CLOSED;
use super::registry::RegistryKey;
use super::{Lua, Value};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// An error of any kind as a trait object; with the feature `error-send` it can go to other threads.
///
/// ```
/// use perilune::{Error, error::DynStdError};
///
/// let failed: Box<DynStdError> = "12x".parse::<i32>().unwrap_err().into();
/// assert_eq!(Error::external(failed).to_string(), "invalid digit found in string");
/// ```
#[cfg(not(feature = "error-send"))]
pub type DynStdError = dyn StdError;
/// An error of any kind as a trait object; with the feature `error-send` it can go to other threads.
///
/// ```
/// use perilune::{Error, error::DynStdError};
///
/// let failed: Box<DynStdError> = "12x".parse::<i32>().unwrap_err().into();
/// assert_eq!(Error::external(failed).to_string(), "invalid digit found in string");
/// ```
#[cfg(feature = "error-send")]
pub type DynStdError = dyn StdError + Send + Sync;

/// Result of what may fail.
///
/// ```
/// use perilune::{Lua, Result};
///
/// fn port(lua: &Lua) -> Result<u16> {
///     lua.load("8000 + 80").eval()
/// }
/// assert_eq!(port(&Lua::new())?, 8080);
/// # Ok::<(), perilune::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Variants and texts are those of mlua, where it has them.
///
/// ```
/// use perilune::{Error, Lua};
///
/// let lua = Lua::new();
/// let e = lua.load("local t = nil\nreturn t.x").set_name("@config.lua").exec().unwrap_err();
/// assert!(matches!(e, Error::RuntimeError(_)));
/// assert_eq!(e.message(), "config.lua:2: attempt to index local 't' (a nil value)");
/// assert!(e.traceback().is_some_and(|t| t.contains("config.lua:2: in main chunk")));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A chunk does not compile.
    SyntaxError {
        /// The message, with its position.
        message: String,
        /// Could more text make the chunk valid? An interactive prompt asks for more then.
        incomplete_input: bool,
    },
    /// An error that Lua code or a library function raised with a string, which is followed by the traceback if there is one.
    RuntimeError(String),
    /// A value other than a string that Lua code raised.
    LuaError(Arc<LuaError>),
    /// Memory, or the memory limit, is used up.
    MemoryError(String),
    /// Calls were too deep, or a stack too large: see [`Lua::set_stack_limit`] and [`Lua::set_native_depth_limit`]. (mlua has a
    /// `RuntimeError` there.)
    StackOverflow(String),
    /// The program was ended by an [`InterruptHandle`](super::limits::InterruptHandle).
    Interrupted(String),
    /// The time limit has passed.
    TimeLimitExceeded(String),
    /// The program has executed as many instructions as it may, see [`Lua::set_fuel`].
    OutOfFuel(String),
    /// Something was asked for that the options of the state do not allow.
    SafetyError(String),
    /// The state has no memory limit that could be set.
    MemoryControlNotAvailable,
    /// A function made by `create_function_mut` was called while it ran.
    RecursiveMutCallback,
    /// A function was called whose scope has ended, or whose state is being closed.
    CallbackDestructed,
    /// Too many arguments or results for the stack.
    StackError,
    /// Too many arguments for `Function::bind`.
    BindError,
    /// An argument cannot be used.
    BadArgument {
        /// The function.
        to: Option<String>,
        /// The position, counted from 1.
        pos: usize,
        /// The name of the parameter.
        name: Option<String>,
        /// What is wrong.
        cause: Arc<Error>,
    },
    /// A Lua value cannot become a Rust value.
    FromLuaConversionError {
        /// Name of the Lua type.
        from: &'static str,
        /// Name of the Rust type.
        to: String,
        /// More about it.
        message: Option<String>,
    },
    /// A coroutine that has ended or is running cannot be resumed.
    CoroutineUnresumable,
    /// A userdata does not hold a value of the wanted type.
    UserDataTypeMismatch,
    /// The value of a userdata was taken or destroyed.
    UserDataDestructed,
    /// A userdata is borrowed mutably.
    UserDataBorrowError,
    /// A userdata is borrowed.
    UserDataBorrowMutError,
    /// The metamethod cannot be set by a userdata type.
    MetaMethodRestricted(String),
    /// A field of the metatable has a type that it must not have.
    MetaMethodTypeError {
        /// The metamethod.
        method: String,
        /// The type found.
        type_name: &'static str,
        /// More about it.
        message: Option<String>,
    },
    /// A registry key was made by another state.
    MismatchedRegistryKey,
    /// A handle was used whose state is closed: the last [`Lua`] of it was dropped. Methods that have no `Result` panic instead.
    StateClosed {
        /// The method.
        used: &'static str,
    },
    /// A handle of another state was used.
    ForeignValue {
        /// What was used, by its Lua type.
        what: &'static str,
    },
    /// A Rust function called by Lua failed.
    CallbackError {
        /// The calls that were active.
        traceback: String,
        /// Its error.
        cause: Arc<Error>,
    },
    /// A panic that was resumed before came back again.
    PreviouslyResumedPanic,
    /// A value cannot be serialized.
    #[cfg(feature = "serde")]
    SerializeError(String),
    /// A value cannot be deserialized.
    #[cfg(feature = "serde")]
    DeserializeError(String),
    /// An error of other Rust code.
    ExternalError(Arc<DynStdError>),
    /// An error with more about what was done.
    WithContext {
        /// What was done.
        context: String,
        /// The error.
        cause: Arc<Error>,
    },
}

/// A raised value that is not a string: see [`Error::LuaError`].
///
/// ```
/// use perilune::{Error, Lua, Table};
///
/// let lua = Lua::new();
/// let e = lua.load("error(setmetatable({ code = 404 }, { __tostring = function() return 'not found' end }))").exec().unwrap_err();
/// let Error::LuaError(raised) = e else { panic!("a value was raised") };
/// assert_eq!(raised.message(), "not found");
/// assert!(raised.traceback().starts_with("stack traceback:"));
/// let value: Table = lua.unpack(raised.value(&lua)?)?;
/// assert_eq!(value.get::<i32>("code")?, 404);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Debug)]
pub struct LuaError {
    pub(crate) message: String,
    pub(crate) traceback: String,
    pub(crate) value: RegistryKey,
}

impl LuaError {
    /// The value.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let Err(Error::LuaError(raised)) = lua.load("error({})").exec() else { panic!("it is an error with a value") };
    /// assert!(raised.value(&lua)?.is_table());
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// `lua` is another state than that which raised it.
    pub fn value(&self, lua: &Lua) -> Result<Value> {
        lua.registry_value(&self.value)
    }
    /// The value as `tostring` gives it.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let code = "error(setmetatable({}, { __tostring = function() return 'no moon' end }))";
    /// let Err(Error::LuaError(raised)) = Lua::new().load(code).exec() else { panic!("it is an error with a value") };
    /// assert_eq!(raised.message(), "no moon");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }
    /// The calls that were active when it was raised.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let Err(Error::LuaError(raised)) = lua.load("error({})").set_name("@moon.lua").exec() else { panic!("it is an error with a value") };
    /// assert!(raised.traceback().contains("moon.lua:1: in main chunk"));
    /// ```
    pub fn traceback(&self) -> &str {
        &self.traceback
    }
}

/// What begins a traceback.
const TRACEBACK: &str = "\nstack traceback:";

impl Error {
    /// An error with a message, for Rust functions to return.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let open = lua.create_function(|_, name: String| Err::<(), _>(Error::runtime(format!("no file '{name}'"))))?;
    /// assert_eq!(open.call::<()>("a.txt").unwrap_err().message(), "no file 'a.txt'");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn runtime(message: impl fmt::Display) -> Error {
        Error::RuntimeError(message.to_string())
    }
    /// An error of other Rust code.
    ///
    /// ```
    /// use perilune::Error;
    ///
    /// let e = Error::external("12x".parse::<i32>().unwrap_err());
    /// assert_eq!(e.to_string(), "invalid digit found in string");
    /// ```
    pub fn external(e: impl Into<Box<DynStdError>>) -> Error {
        match e.into().downcast::<Error>() {
            Ok(e) => *e,
            Err(e) => Error::ExternalError(e.into()),
        }
    }
    /// The error of other Rust code, if it is a `T`.
    ///
    /// ```
    /// use perilune::Error;
    /// use std::num::ParseIntError;
    ///
    /// let e = Error::external("12x".parse::<i32>().unwrap_err());
    /// assert!(e.downcast_ref::<ParseIntError>().is_some());
    /// assert!(e.downcast_ref::<std::io::Error>().is_none());
    /// ```
    pub fn downcast_ref<T: StdError + 'static>(&self) -> Option<&T> {
        match self {
            Error::ExternalError(e) => e.downcast_ref(),
            Error::WithContext { cause, .. } => cause.downcast_ref(),
            _ => None,
        }
    }
    /// The error that this one wraps: that of a Rust function that Lua called, or the one that a context was added to.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let f = lua.create_function(|_, ()| Err::<(), _>(Error::runtime("no")))?;
    /// let e = f.call::<()>(()).unwrap_err();
    /// assert!(matches!(e.parent(), Some(Error::RuntimeError(text)) if text == "no"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn parent(&self) -> Option<&Error> {
        match self {
            Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } => Some(cause),
            _ => None,
        }
    }
    /// This error, the errors that it wraps, and their sources.
    ///
    /// ```
    /// use perilune::{Error, Lua};
    ///
    /// let lua = Lua::new();
    /// let f = lua.create_function(|_, ()| Err::<(), _>(Error::external(std::fmt::Error)))?;
    /// let e = f.call::<()>(()).unwrap_err();
    /// assert!(e.chain().any(|e| e.is::<std::fmt::Error>()));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        /// An error of other Rust code stands for itself, without the variant around it.
        fn shown<'a>(e: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
            match e.downcast_ref::<Error>() {
                Some(Error::ExternalError(e)) => &**e,
                _ => e,
            }
        }
        fn next<'a>(e: &&'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
            match e.downcast_ref::<Error>() {
                Some(Error::CallbackError { cause, .. } | Error::WithContext { cause, .. }) => Some(shown(&**cause)),
                _ => (**e).source(),
            }
        }
        core::iter::successors(Some(shown(self)), next)
    }
    /// Bytes of the texts and errors that it owns, about: for the collector.
    pub(super) fn owned_bytes(&self) -> usize {
        match self {
            Error::RuntimeError(text) => text.len(),
            Error::CallbackError { traceback: text, cause } | Error::WithContext { context: text, cause } => {
                text.len() + size_of::<Error>() + cause.owned_bytes()
            }
            _ => 0,
        }
    }
    /// The error without those that only say where it passed.
    fn innermost(&self) -> &Error {
        match self {
            Error::CallbackError { cause, .. } => cause.innermost(),
            _ => self,
        }
    }
    /// The message, with its position if it has one, without kind and traceback.
    ///
    /// ```
    /// let e = perilune::Lua::new().load("error('no luck')").set_name("@game.lua").exec().unwrap_err();
    /// assert_eq!(e.message(), "game.lua:1: no luck");
    /// assert!(e.to_string().starts_with("runtime error: game.lua:1: no luck\nstack traceback:"));
    /// ```
    pub fn message(&self) -> String {
        match self.innermost() {
            Error::SyntaxError { message, .. } => message.clone(),
            Error::RuntimeError(text)
            | Error::MemoryError(text)
            | Error::StackOverflow(text)
            | Error::SafetyError(text)
            | Error::Interrupted(text)
            | Error::TimeLimitExceeded(text)
            | Error::OutOfFuel(text) => text.split_once(TRACEBACK).map_or(&**text, |t| t.0).to_owned(),
            Error::LuaError(e) => e.message.clone(),
            other => other.to_string(),
        }
    }
    /// The calls that were active when the error was raised; `None` for errors outside Lua code.
    ///
    /// ```
    /// let e = perilune::Lua::new().load("local function f() error('no') end\nf()").set_name("@game.lua").exec().unwrap_err();
    /// assert!(e.traceback().unwrap().contains("game.lua:2: in main chunk"));
    /// assert!(perilune::Error::runtime("no").traceback().is_none());
    /// ```
    pub fn traceback(&self) -> Option<&str> {
        match self {
            Error::RuntimeError(text)
            | Error::MemoryError(text)
            | Error::StackOverflow(text)
            | Error::Interrupted(text)
            | Error::TimeLimitExceeded(text)
            | Error::OutOfFuel(text) => text.find(TRACEBACK).map(|at| &text[at + 1..]),
            Error::LuaError(e) => (!e.traceback.is_empty()).then_some(&*e.traceback),
            Error::CallbackError { traceback, cause } => cause.traceback().or(Some(traceback)),
            Error::WithContext { cause, .. } => cause.traceback(),
            _ => None,
        }
    }
    pub(crate) fn conversion(from: &'static str, to: impl Into<String>) -> Error {
        Error::FromLuaConversionError { from, to: to.into(), message: None }
    }
    pub(crate) fn conversion_because(from: &'static str, to: impl Into<String>, why: impl Into<String>) -> Error {
        Error::FromLuaConversionError { from, to: to.into(), message: Some(why.into()) }
    }
    /// A message of the compiler.
    pub(crate) fn syntax(message: &[u8]) -> Error {
        let message = String::from_utf8_lossy(message).into_owned();
        let incomplete_input = message.ends_with("<eof>") || message.ends_with("'<eof>'");
        Error::SyntaxError { message, incomplete_input }
    }
}

/// More about an error: in parentheses, if there is more.
fn note(f: &mut fmt::Formatter<'_>, message: &Option<String>) -> fmt::Result {
    message.as_ref().map_or(Ok(()), |m| write!(f, " ({m})"))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::SyntaxError { message, .. } => write!(f, "syntax error: {message}"),
            Error::RuntimeError(text) | Error::StackOverflow(text) => write!(f, "runtime error: {text}"),
            Error::LuaError(e) if e.traceback.is_empty() => write!(f, "runtime error: {}", e.message),
            Error::LuaError(e) => write!(f, "runtime error: {}\n{}", e.message, e.traceback),
            Error::MemoryError(text) => write!(f, "memory error: {text}"),
            Error::Interrupted(text) | Error::TimeLimitExceeded(text) | Error::OutOfFuel(text) => f.write_str(text),
            Error::SafetyError(text) => write!(f, "safety error: {text}"),
            Error::MemoryControlNotAvailable => f.write_str("memory control is not available"),
            Error::RecursiveMutCallback => f.write_str("mutable callback called recursively"),
            Error::CallbackDestructed => f.write_str("a destructed callback or destructed userdata method was called"),
            Error::StackError => {
                f.write_str("out of Lua stack, too many arguments to a Lua function or too many return values from a callback")
            }
            Error::BindError => f.write_str("too many arguments to Function::bind"),
            Error::BadArgument { to, pos, name, cause } => {
                match name {
                    Some(name) => write!(f, "bad argument `{name}`")?,
                    None => write!(f, "bad argument #{pos}")?,
                }
                if let Some(to) = to {
                    write!(f, " to `{to}`")?;
                }
                write!(f, ": {cause}")
            }
            Error::FromLuaConversionError { from, to, message } => {
                write!(f, "error converting Lua {from} to {to}")?;
                note(f, message)
            }
            Error::CoroutineUnresumable => f.write_str("coroutine is non-resumable"),
            Error::UserDataTypeMismatch => f.write_str("userdata is not expected type"),
            Error::UserDataDestructed => f.write_str("userdata has been destructed"),
            Error::UserDataBorrowError => f.write_str("error borrowing userdata"),
            Error::UserDataBorrowMutError => f.write_str("error mutably borrowing userdata"),
            Error::MetaMethodRestricted(method) => write!(f, "metamethod {method} is restricted"),
            Error::MetaMethodTypeError { method, type_name, message } => {
                write!(f, "metamethod {method} has unsupported type {type_name}")?;
                note(f, message)
            }
            Error::MismatchedRegistryKey => f.write_str("RegistryKey used from different Lua state"),
            Error::StateClosed { used } => write!(f, "{CLOSED}: {used} was called with a handle of it"),
            Error::ForeignValue { what } => write!(f, "a {what} of another Lua state was used"),
            Error::CallbackError { traceback, cause } => {
                // Each callback on the way adds a traceback; the innermost one says where the error came from.
                let (mut cause, mut traceback) = (cause, traceback);
                while let Error::CallbackError { traceback: inner, cause: next } = &**cause {
                    (cause, traceback) = (next, inner);
                }
                writeln!(f, "{cause}")?;
                writeln!(f, "{}", traceback.trim_end())
            }
            Error::PreviouslyResumedPanic => f.write_str("previously resumed panic returned again"),
            #[cfg(feature = "serde")]
            Error::SerializeError(text) => write!(f, "serialize error: {text}"),
            #[cfg(feature = "serde")]
            Error::DeserializeError(text) => write!(f, "deserialize error: {text}"),
            Error::ExternalError(e) => e.fmt(f),
            Error::WithContext { context, cause } => write!(f, "{context}\n{cause}"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            // What Display shows already is no source.
            Error::ExternalError(e) => e.source(),
            Error::WithContext { cause, .. } => cause.source(),
            _ => None,
        }
    }
}
