//! Text helpers without the VM: numbers to text, format specifications, pattern matching, plain search.

pub mod append;
pub mod case;
pub mod chunk;
pub mod class;
pub mod float;
pub mod format;
pub mod ldexp;
pub mod number;
pub(crate) mod parts;
pub mod pattern;
pub mod search;
pub mod spec;
#[cfg(test)]
mod tests;

pub use append::{PIECE, append, low_bytes, put_int};
pub use number::NumText;
pub use search::{compare, find_byte, find_plain, same, until_nul};
