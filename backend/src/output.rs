//! The result of a compilation: machine code, the purpose of each part of it, and listings.

use core::ops::Range;
use core::time::Duration;
use perilune_recorder::ir::SnapId;

/// Listings of a compilation, made on request.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Cranelift IR.
    pub clif: String,
    /// Machine code.
    pub asm: String,
    /// Code offset and instruction index (of the root trace), ascending by offset.
    pub map: Vec<(u32, u16)>,
}

/// Code that has not been placed in memory.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The bytes; position-independent.
    pub code: Vec<u8>,
    /// Where the loop is, if the root trace has one.
    pub body: Option<Range<u32>>,
    /// The purpose of each part of the code.
    pub map: CodeMap,
    /// See [`crate::CompileRequest::listing`].
    pub listing: Option<Listing>,
    /// Processor time that another thread has spent on it (`codegen.rs`).
    pub elsewhere: Duration,
}

/// The map of a trace's code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeMap {
    /// Bytes of instructions; constants follow.
    pub text: u32,
    /// Offset of the code of each exit of the root trace; 0 for one that has none.
    pub exits: Vec<u32>,
    /// The purpose of the code from each offset on, ascending; empty unless [`crate::CompileRequest::parts`] is set.
    pub parts: Vec<(u32, Part)>,
}

/// The purpose of a piece of code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// An instruction of the root trace, by its index.
    Ins(usize),
    /// An exit of the root trace.
    Exit(SnapId),
    /// Something else.
    Other,
}

/// A compiled tree.
#[derive(Clone, Debug)]
pub struct CompiledCode {
    /// Address of the entry: what `vm.trace_code` and a linked exit hold.
    pub entry: usize,
    /// Bytes of code.
    pub size: usize,
    /// Offset of the loop's head, if the root trace has one.
    pub loop_offset: Option<u32>,
    /// The purpose of each part of the code.
    pub map: CodeMap,
    /// See [`crate::CompileRequest::listing`].
    pub listing: Option<Listing>,
    /// Processor time that another thread has spent on it (`codegen.rs`).
    pub elsewhere: Duration,
}
