//! Perilune: the LuaJIT dialect of Lua on a tracing JIT, to be embedded.
//!
//! ```
//! use perilune::Lua;
//!
//! let lua = Lua::new();
//! let sum: i64 = lua.load("local s = 0 for i = 1, 100 do s = s + i end return s").eval()?;
//! assert_eq!(sum, 5050);
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! Rust closures become Lua functions, and Lua functions are called from Rust:
//!
//! ```
//! use perilune::{Function, Lua};
//!
//! let lua = Lua::new();
//! let greet = lua.create_function(|_, (name, times): (String, usize)| Ok(format!("hello {name}! ").repeat(times)))?;
//! lua.globals().set("greet", greet)?;
//! let twice: Function = lua.load("return function(name) return greet(name, 2) end").eval()?;
//! assert_eq!(twice.call::<String>("moon")?, "hello moon! hello moon! ");
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! An error has a message, and a traceback from where it was raised:
//!
//! ```
//! let lua = perilune::Lua::new();
//! let e = lua.load("local t = nil\nreturn t.x").set_name("@config.lua").exec().unwrap_err();
//! assert_eq!(e.message(), "config.lua:2: attempt to index local 't' (a nil value)");
//! assert!(e.traceback().is_some_and(|t| t.contains("config.lua:2: in main chunk")));
//! ```
//!
//! # Features
//!
//! All are on by default; a program that embeds Perilune wants `default-features = false`, and what it needs of these:
//!
//! - `observe`: [`observe`], and the library `misc` of Lua;
//! - `disasm`: machine code as text, for `-jdump` and the trace explorer;
//! - `cli`: what only the command needs.
//!
//! A build without optimisation runs Lua about thirty times as slowly. For a debug build of a program that embeds Perilune, put this into its
//! `Cargo.toml`:
//!
//! ```toml
//! [profile.dev.package.perilune-vm]
//! opt-level = 3
//! ```

mod api;

pub use api::app_data::{AppDataRef, AppDataRefMut};
#[cfg(feature = "async")]
pub use api::asynchronous::{AsyncCall, AsyncThread};
pub use api::chunk::{AsChunk, Chunk};
pub use api::convert::{FromLua, IntoLua};
pub use api::debug::{HookTriggers, VmState};
pub use api::environment::LuaType;
pub use api::error::{DynStdError, Error, ErrorContext, ExternalError, ExternalResult, LuaError, Result};
pub use api::function::Function;
pub use api::limits::InterruptHandle;
pub use api::lua::{Lua, WeakLua};
pub use api::multi::{FromLuaMulti, IntoLuaMulti, MultiValue, Variadic};
pub use api::registry::RegistryKey;
#[cfg(feature = "serde")]
pub use api::serde::{LuaSerdeExt, de::DeserializeOptions, ser::SerializeOptions, value::SerializableValue};
pub use api::string::{BorrowedBytes, BorrowedStr, LuaString};
pub use api::table::{Pairs, Sequence, Table};
pub use api::thread::{Thread, ThreadEvent, ThreadStatus, ThreadTriggers};
pub use api::userdata::AnyUserData;
pub use api::value::{Integer, LightUserData, Nil, Number, Other, Value};

/// Active calls and hooks.
pub mod debug {
    pub use crate::api::debug::{Debug, DebugEvent, DebugNames, DebugSource, DebugStack, HookTriggers, VmState};
}

/// Lua values as serde sees data.
#[cfg(feature = "serde")]
pub mod serde {
    pub use crate::api::serde::LuaSerdeExt;
    /// Lua values as Rust values.
    pub mod de {
        pub use crate::api::serde::de::{DeserializeOptions as Options, Deserializer};
    }
    /// Rust values as Lua values.
    pub mod ser {
        pub use crate::api::serde::ser::{SerializeOptions as Options, Serializer};
    }
    pub use crate::api::serde::de::{DeserializeOptions, Deserializer};
    pub use crate::api::serde::ser::{SerializeOptions, Serializer};
}

/// A state and its settings.
pub mod state {
    pub use crate::api::lua::{Lua, WeakLua};
    pub use crate::api::memory::{GcIncParams, GcMode};
}

/// Memory profiler, heap dumps and snapshots, metrics, inspection. The methods of [`Lua`] lead there.
#[cfg(feature = "observe")]
pub use perilune_observe as observe;

/// The system's allocator with a reserve behind it, so that the end of memory is an error of the Lua program: for a program's
/// `#[global_allocator]`.
pub use perilune_vm::gc::reserve::Allocator;

#[doc(hidden)]
pub use api::state::{new_vm, vm_of};

/// The programs of the book are compiled and run with the tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../docs/start-embed.md")]
struct Book;
