//! Finished traces: the registry that has them by number, the machine that compiles and runs them, the instructions that enter them, and
//! what ends them.

mod flush;
pub mod machine;
mod owned;
pub mod patch;
pub mod registry;
mod share;
mod tables;
