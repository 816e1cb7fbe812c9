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
//! On by default; a program that embeds Perilune wants `default-features = false`, and what it needs of these:
//!
//! - `observe`: [`observe`], and the library `misc` of Lua;
//! - `disasm`: machine code as text, for `-jdump` and the trace explorer;
//! - `cli`: what only the command needs.
//!
//! Off by default:
//!
//! - `async`: asynchronous functions and methods, for any executor;
//! - `serde`: Lua values as serde sees data;
//! - `bstr`: conversions of `bstr::BString` and `&bstr::BStr`;
//! - `error-send`: errors are `Send` and `Sync`;
//! - `anyhow`: errors of anyhow become errors of Lua, and the other way round;
//! - `c-modules`: scripts may load modules in C, if the program says so, and the C API is there for code in Rust;
//! - `macros`: `derive(UserData)`, `derive(FromLua)`, `userdata_impl` and `chunk!`;
//! - `userdata-wrappers`: userdata in the locks of `parking_lot`.
//!
//! A build without optimisation runs Lua about thirty times as slowly. For a debug build of a program that embeds Perilune, put this into its
//! `Cargo.toml`:
//!
//! ```toml
//! [profile.dev.package.perilune-vm]
//! opt-level = 3
//! ```
#![deny(unsafe_code)]

mod api;

pub use api::app_data::{AppDataRef, AppDataRefMut};
#[cfg(feature = "async")]
pub use api::async_thread::{AsyncCallFuture, AsyncThread};
pub use api::chunk::{AsChunk, Chunk, ChunkMode};
pub use api::convert::{FromLua, IntoLua};
pub use api::environment::LuaType;
pub use api::error::{DynStdError, Error, LuaError, Result};
pub use api::external::{ErrorContext, ExternalError, ExternalResult};
pub use api::function::{Function, FunctionInfo};
pub use api::hook::{HookTriggers, VmState};
pub use api::limits::InterruptHandle;
pub use api::lua::{Lua, WeakLua};
pub use api::multi::{FromLuaMulti, IntoLuaMulti, MultiValue, Variadic};
#[cfg(feature = "async")]
pub use api::native::LuaNativeAsyncFn;
pub use api::native::{LuaNativeFn, LuaNativeFnMut};
pub use api::object::ObjectLike;
pub use api::options::LuaOptions;
pub use api::registry::RegistryKey;
pub use api::scope::Scope;
#[cfg(feature = "serde")]
pub use api::serde::{LuaSerdeExt, de::DeserializeOptions, ser::SerializeOptions, value::SerializableValue};
pub use api::string::{BorrowedBytes, BorrowedStr, LuaString};
pub use api::sync::{MaybeSend, MaybeSync};
pub use api::table::Table;
pub use api::table_iter::{TablePairs, TableSequence};
pub use api::thread::{Thread, ThreadStatus};
pub use api::thread_events::{ThreadEvent, ThreadTriggers};
pub use api::userdata::{
    AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMetatable, UserDataMetatablePairs, UserDataMethods, UserDataOwned,
    UserDataRef, UserDataRefMut, UserDataRegistry,
};
pub use api::value::{Integer, LightUserData, Nil, Number, Other, Value};
#[cfg(feature = "bstr")]
pub use bstr::BString;
pub use either::Either;
pub use perilune_vm::stdlib::StdLib;

/// The C API for code in Rust, with the feature `c-modules`: see [`Lua::create_c_function`] and [`Lua::exec_raw`].
#[cfg(feature = "c-modules")]
pub use perilune_capi::ffi;
#[cfg(feature = "c-modules")]
pub use perilune_capi::ffi::{lua_CFunction, lua_State};

pub mod prelude;

/// Source text and bytecode.
pub mod chunk {
    pub use crate::api::chunk::{AsChunk, Chunk, ChunkMode};
}

/// Active calls and hooks.
pub mod debug {
    pub use crate::api::debug::{Debug, DebugEvent, DebugNames, DebugSource, DebugStack};
    pub use crate::api::hook::{HookTriggers, VmState};
}

/// Errors.
pub mod error {
    pub use crate::api::error::{DynStdError, Error, LuaError, Result};
    pub use crate::api::external::{ErrorContext, ExternalError, ExternalResult};
}

/// Functions.
pub mod function {
    #[cfg(feature = "async")]
    pub use crate::api::async_thread::AsyncCallFuture;
    pub use crate::api::function::{Function, FunctionInfo};
    #[cfg(feature = "async")]
    pub use crate::api::native::LuaNativeAsyncFn;
    pub use crate::api::native::{LuaNativeFn, LuaNativeFnMut};
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
    pub use crate::api::options::LuaOptions;
}

/// Strings.
pub mod string {
    pub use crate::api::string::{BorrowedBytes, BorrowedStr, LuaString};
}

/// Tables.
pub mod table {
    pub use crate::api::table::Table;
    pub use crate::api::table_iter::{TablePairs, TableSequence};
}

/// Coroutines.
pub mod thread {
    #[cfg(feature = "async")]
    pub use crate::api::async_thread::AsyncThread;
    pub use crate::api::thread::{Thread, ThreadStatus};
    pub use crate::api::thread_events::{ThreadEvent, ThreadTriggers};
}

/// Rust values that Lua code holds.
pub mod userdata {
    pub use crate::api::userdata::{
        AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMetatable, UserDataMetatablePairs, UserDataMethods,
        UserDataOwned, UserDataRef, UserDataRefMut, UserDataRegistry,
    };
}

/// The name that mlua has for [`LuaString`], too.
#[doc(hidden)]
pub use api::string::LuaString as String;

/// Memory profiler, heap dumps and snapshots, metrics, inspection. The methods of [`Lua`] lead there.
#[cfg(feature = "observe")]
pub use perilune_observe as observe;

/// The system's allocator with a reserve behind it, so that the end of memory is an error of the Lua program: for a program's
/// `#[global_allocator]`.
pub use perilune_vm::gc::reserve::Allocator;

/// Implements [`FromLua`](trait@FromLua) for a type that is `Clone`: a clone of the value of a userdata.
///
/// ```
/// use perilune::{AnyUserData, FromLua, Lua};
///
/// #[derive(Clone, FromLua)]
/// struct Color(u8, u8, u8);
///
/// let lua = Lua::new();
/// let red = lua.create_function(|_, color: Color| Ok(color.0))?;
/// assert_eq!(red.call::<u8>(AnyUserData::wrap(Color(255, 0, 10)))?, 255);
/// # Ok::<(), perilune::Error>(())
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::FromLua;

/// Implements [`UserData`](trait@UserData) for a type, with its named fields, which must be `Clone`; [`userdata_impl`] adds functions.
///
/// A field is read and written. `#[lua(get)]` makes it read only, `#[lua(set)]` write only, `#[lua(skip)]` leaves it out, and
/// `#[lua(name = "...")]` names it for Lua code.
///
/// ```
/// use perilune::{Lua, UserData};
///
/// #[derive(UserData)]
/// struct Player {
///     name: String,
///     #[lua(get)]
///     score: u32,
/// }
///
/// #[perilune::userdata_impl]
/// impl Player {
///     #[lua(infallible)]
///     fn win(&mut self, points: u32) {
///         self.score += points;
///     }
///     #[lua(meta)]
///     fn __tostring(&self) -> perilune::Result<String> {
///         Ok(format!("{}: {}", self.name, self.score))
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("player", Player { name: "Ada".into(), score: 1 })?;
/// lua.load("player:win(2) player.name = 'Bo' assert(tostring(player) == 'Bo: 3')").exec()?;
/// assert!(lua.load("player.score = 9").exec().is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::UserData;

/// Adds the functions and constants of an `impl` block to a type that derives [`UserData`](derive@UserData). A type can have several blocks.
///
/// A function with `self` becomes a method, one without a function; its first other parameter may be `&Lua`. Parameters of a reference type
/// take userdata (`&str` and `&[u8]` take strings); others are converted. Functions return [`Result`], or any value with
/// `#[lua(infallible)]`; what they return may borrow from `self` (`&str`). Other words in `#[lua(...)]`: `getter` and `setter` make a function
/// a field that is computed; `field` one whose value is made once, and which the function returns as it is, without a [`Result`]; `meta` a
/// metamethod; `skip` leaves it out, and `name = "..."` names it for Lua code. Constants become fields; they may be values of the type.
///
/// ```
/// use perilune::{Lua, UserData};
///
/// #[derive(UserData)]
/// struct Point(f64, f64);
///
/// #[perilune::userdata_impl]
/// impl Point {
///     #[lua(infallible)]
///     fn new(x: f64, y: f64) -> Point {
///         Point(x, y)
///     }
///     #[lua(infallible)]
///     fn distance(&self, to: &Point) -> f64 {
///         (self.0 - to.0).hypot(self.1 - to.1)
///     }
///     #[lua(getter, infallible)]
///     fn x(&self) -> f64 {
///         self.0
///     }
/// }
///
/// let lua = Lua::new();
/// lua.globals().set("Point", lua.create_proxy::<Point>()?)?;
/// lua.load("local p = Point.new(3, 4) assert(p:distance(Point.new(0, 0)) == 5 and p.x == 3)").exec()?;
/// # Ok::<(), perilune::Error>(())
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::userdata_impl;

/// Lua source text within Rust: something to [`load`](Lua::load). `$name` stands for the value of a Rust variable, which is moved into the
/// chunk and must implement [`IntoLua`].
///
/// The text is made of Rust tokens: comments begin with `--` and contain no quotes, and strings are in double quotes. Line numbers in
/// messages count from the first line.
///
/// ```
/// use perilune::{Lua, chunk};
///
/// let lua = Lua::new();
/// let (name, times) = ("moon", 3);
/// let text: String = lua.load(chunk! { return string.rep($name, $times, "-") }).eval()?;
/// assert_eq!(text, "moon-moon-moon");
/// # Ok::<(), perilune::Error>(())
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::chunk;

/// What expanded macros use.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use crate::api::captured::{chunk, plain_chunk};
    pub use inventory;
}

#[doc(hidden)]
pub use api::state::{new_vm, vm_of};

/// The programs of the README and of the book are compiled and run with the tests of the documentation.
#[cfg(doctest)]
mod book {
    macro_rules! pages {
        ($($name:ident $file:literal)*) => {
            $(#[doc = include_str!(concat!("../", $file))] struct $name;)*
        };
    }
    pages! {
        Readme "README.md"
        Start "docs/start-embed.md"
        Script "docs/embedding/script.md"
        Functions "docs/embedding/functions.md"
        UserData "docs/embedding/userdata.md"
        Errors "docs/embedding/errors.md"
        Async "docs/embedding/async.md"
        Limits "docs/embedding/limits.md"
        Inside "docs/embedding/inside.md"
    }
}
