//! Bytecode to trace IR: the IR, the recorder, the optimiser, and an evaluator of the IR.
#![deny(unsafe_code)]

pub mod abort;
pub mod build;
pub mod eval;
pub mod history;
pub mod ir;
pub mod opt;
pub mod rec;
