//! The state that the Lua programs of a VM share: globals, registry, metatables of the basic types, state of libraries.

use crate::object::{Gc, Str, Table, Thread};
use crate::stdlib::Prng;
use crate::value::Value;

/// The state that all coroutines and chunks share.
pub struct Realm {
    /// The main coroutine.
    pub main: Gc<Thread>,
    /// Globals of the main coroutine.
    pub globals: Gc<Table>,
    /// Registry.
    pub registry: Gc<Table>,
    /// Metatables of the basic types, by [`Value::type_index`].
    pub base_meta: [Option<Gc<Table>>; 14],
    /// Names of the metamethods as strings, by number.
    pub meta_names: [Option<Gc<Str>>; 32],
    /// What `tostring` makes of nil, false and true, by [`Value::type_index`].
    pub pri_names: [Option<Gc<Str>>; 3],
    /// Default input and output file of the io library.
    pub io_defaults: [Value; 2],
    /// Generator of `math.random`.
    pub prng: Prng,
    /// Builtin id of `next`.
    pub next_ffid: u32,
    /// Has a table ever been made read-only?
    pub has_readonly: bool,
    /// May programs open the FFI?
    pub ffi_allowed: bool,
    /// Do `load` and the like refuse bytecode?
    pub text_only: bool,
}

impl Realm {
    /// A realm with its main coroutine; globals and registry are both `table` until they are made.
    pub(crate) fn new(main: Gc<Thread>, table: Gc<Table>, next_ffid: u32) -> Realm {
        Realm {
            main,
            globals: table,
            registry: table,
            base_meta: [None; 14],
            meta_names: [None; 32],
            pri_names: [None; 3],
            io_defaults: [Value::NIL; 2],
            prng: Prng::default(),
            next_ffid,
            has_readonly: false,
            ffi_allowed: false,
            text_only: false,
        }
    }
}
