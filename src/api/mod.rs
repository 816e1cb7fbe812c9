//! The embedding API.

pub mod callback;
pub mod chunk;
pub mod convert;
pub mod error;
pub mod function;
pub mod lua;
pub mod multi;
#[cfg(feature = "observe")]
pub mod observe;
pub mod state;
pub mod string;
pub mod table;
pub mod value;
