//! The history of a trace: the instructions that the recorder emitted, and the trace before the passes. Kept only for the trace explorer.
//!
//! FOLD, CSE and forwarding work during emission, so an instruction that they make superfluous is never in the trace. It is in
//! [`History::requests`].

use super::{Ins, IrRef, Trace};
use perilune_vm::object::BcAddr;

/// An instruction that the recorder emitted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The instruction; its operands are those of the trace.
    pub ins: Ins,
    /// The reference that was returned: an instruction of the trace or a constant; [`IrRef::NONE`] if there is no value.
    pub result: IrRef,
    /// Was an instruction appended? Otherwise the trace had an equal one.
    pub is_new: bool,
    /// Address of the bytecode being recorded, see [`Trace::origins`].
    pub origin: BcAddr,
}

/// How a trace was recorded and optimised.
#[derive(Clone, Default, Debug)]
pub struct History {
    /// The requested instructions in order, without those that rules of FOLD requested in turn.
    pub requests: Vec<Request>,
    /// The trace as recorded, before the passes on a finished trace.
    pub recorded: Trace,
}
