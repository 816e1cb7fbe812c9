//! The history of a trace: the instructions that the recorder emitted, and the trace before the passes. Kept only for the trace explorer.
//!
//! FOLD, CSE and forwarding work during emission, so an instruction that they make superfluous is never in the trace. It is in
//! [`History::requests`].

use super::{Ins, IrRef, Trace};

/// An instruction that recording asked for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The instruction; its operands are those of the trace.
    pub ins: Ins,
    /// What is used in its place: an instruction of the trace or a constant. [`IrRef::NONE`] if nothing is.
    pub result: IrRef,
    /// Was that instruction made for it? Otherwise it was there before.
    pub is_new: bool,
    /// Address of the bytecode being recorded, see [`Trace::origins`].
    pub origin: u64,
}

/// How a trace came into being.
#[derive(Clone, Default, Debug)]
pub struct History {
    /// What was asked for, in order. What rules of FOLD emit in turn is left out.
    pub requests: Vec<Request>,
    /// The trace as recorded, before the passes that work on the whole of it.
    pub recorded: Trace,
}
