//! The FFI: C types, C data, and the `ffi` library.
//!
//! Two layers. What is known of C alone does not know the VM: the table of types ([`ctype`]), its keywords, types as text ([`repr`]), and where
//! calling conventions have arguments ([`classify`]).
//! Above it are conversions, operators and the library. Decisions (which conversion, which field at what offset, which type an operation is
//! done in) are functions of the table of types, so that the interpreter and the trace recorder share them.

pub mod arith;
pub mod bitfield;
pub(crate) mod bits;
pub mod call;
pub mod callback;
mod callback_entries;
pub mod classify;
pub mod clib;
pub mod conversion;
pub mod convert;
pub mod ctype;
mod direct;
pub mod index;
pub(crate) mod init;
pub mod inline_cache;
pub mod int64;
pub mod keyword;
pub mod layout;
pub mod lib;
pub mod load;
mod load_temporary;
pub mod metatype;
pub mod open;
pub mod parse;
pub mod repr;
pub mod scalar;
pub mod state;
mod temporary;

pub use state::Ffi;
