//! The trace IR: a linear list of small typed instructions with constants and snapshots beside it, LuaJIT's in spirit and names.
//!
//! [`mod@print`] and [`parse`] are its text form, [`verify`] says what a well-formed trace is.

pub mod buffer;
mod constant;
mod fuel;
pub mod history;
mod index;
mod ins;
mod literal;
mod made;
mod op;
pub mod parse;
pub mod print;
mod snapshot;
mod trace;
mod ty;
pub mod verify;
pub mod word;

pub use constant::{Const, VmRef};
pub use index::{SlotIdx, SnapId};
pub use ins::{Ins, IrRef, REF_BIAS};
pub use literal::{conv, native, sload, uref, xload};
pub use made::{Content, Made, Maker, Place, Stored};
pub use op::{Effect, FpMath, Mode, Op};
pub use snapshot::{SnapSlot, Snapshot};
pub use trace::{Link, NativeWrite, Origin, StackCheck, Trace, TraceExit, Transfer};
pub use ty::Ty;
