//! The targets, named by what they give bytes to. [`crate::for_each_target`] lists them.

pub mod api;
pub mod buffer;
pub mod bytecode;
pub mod bytecode_edits;
pub mod declarations;
pub mod format;
pub mod heap_files;
pub mod ir;
pub mod memprof;
pub mod numbers;
pub mod parser;
pub mod patterns;
