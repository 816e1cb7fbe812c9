//! The trace IR: a linear list of small typed instructions with constants and snapshots beside it, LuaJIT's in spirit and names.

mod op;
mod trace;
mod ty;

pub use op::{Effect, FpMath, Mode, Op};
pub use trace::{Const, Ins, IrRef, Link, REF_BIAS, SnapSlot, Snapshot, Trace, VmRef, conv, sload, xload};
pub use ty::Ty;
