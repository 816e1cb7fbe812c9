//! The trace IR: a linear list of small typed instructions with constants and snapshots beside it, LuaJIT's in spirit and names.
//!
//! [`mod@print`] and [`parse`] are its text form, [`verify`] says what a well-formed trace is.

mod op;
pub mod parse;
pub mod print;
mod trace;
mod ty;
pub mod verify;

pub use op::{Effect, FpMath, Mode, Op};
pub use trace::{
    Const, Ins, IrRef, Link, Origin, REF_BIAS, SnapSlot, Snapshot, Trace, TraceExit, VmRef, conv, native, sload, xload,
};
pub use ty::Ty;
