//! The FFI: types and values of C.

pub mod int64;
