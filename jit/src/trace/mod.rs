//! Finished traces: the registry that has them by number, the machine that compiles and runs them, the instructions that enter them, and
//! what ends them.

mod by_proto;
mod entry;
mod flush;
pub mod machine;
pub mod patch;
mod registry;
mod shared_side;
mod tables;
mod tree;

pub use entry::{Cost, Entry, Exit, TraceStart};
pub use perilune_backend::Part;
pub use registry::{NewTrace, Registry};
