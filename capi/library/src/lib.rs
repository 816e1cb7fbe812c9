//! Perilune as a shared and a static library for C. All functions are those of [`perilune_capi`].
#![forbid(unsafe_code)]

pub use perilune_capi as api;
