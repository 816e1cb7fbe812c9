//! The embedding API: mlua's names and shapes, on our VM.
#![cfg_attr(
    not(feature = "error-send"),
    allow(clippy::arc_with_non_send_sync, reason = "errors are shared as in mlua; with the feature they are `Send` and `Sync`")
)]

pub mod app_data;
#[cfg(feature = "async")]
pub mod async_thread;
#[cfg(feature = "async")]
pub mod asynchronous;
#[cfg(feature = "c-modules")]
pub mod c_modules;
pub mod callback;
#[cfg(feature = "macros")]
pub mod captured;
pub mod chunk;
pub mod convert;
pub mod debug;
pub mod environment;
pub mod error;
pub mod external;
mod failure;
pub mod function;
mod handle;
pub mod hook;
pub mod limits;
pub mod lua;
mod lua_convert;
pub mod memory;
pub mod multi;
pub mod native;
pub mod object;
#[cfg(feature = "observe")]
pub mod observe;
pub mod options;
pub mod passing;
mod path;
mod pretty;
pub mod registry;
pub mod sandbox;
pub mod scope;
#[cfg(feature = "serde")]
pub mod serde;
pub mod state;
pub mod string;
pub mod sync;
pub mod table;
pub mod table_iter;
pub mod thread;
pub mod thread_events;
mod type_name;
pub mod userdata;
pub mod value;

pub(crate) use error::Error;
pub(crate) use lua::Lua;
pub(crate) use value::Value;

/// Keeps traits from being implemented elsewhere.
pub trait Sealed {}
impl Sealed for Error {}
impl<T> Sealed for error::Result<T> {}
impl Sealed for Lua {}
impl Sealed for table::Table {}
impl Sealed for userdata::AnyUserData {}
