//! The FFI: declarations of C, values of C types, calls of C functions.

pub mod classify;
pub mod int64;
