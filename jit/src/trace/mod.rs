//! Finished traces: the registry that has them by number, the machine that compiles and runs them, the instructions that enter them, and
//! their removal.

pub(crate) mod code;
pub(crate) mod entry;
mod flush;
mod invalidate;
pub mod machine;
pub mod patch;
pub(crate) mod proto_traces;
mod rare_side;
mod registry;
mod room;
mod shared_side;
pub(crate) mod tables;
mod tree;
mod variant;

pub use entry::{Cost, Entry, Exit, TraceStart};
pub use perilune_backend::Part;
pub use registry::{NewTrace, Registry};
