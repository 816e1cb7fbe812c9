//! Bytecode to trace IR: the IR, the recorder, the optimiser, and an evaluator of the IR.
//!
//! From below: [`ir`] (a trace as data, and under construction), [`opt`] (the emission pipeline and the passes), [`rec`] (the recorder,
//! which emits what bytecode does) and [`eval`] (runs IR without compiling it).
#![deny(unsafe_code)]

pub mod abort;
pub mod eval;
pub mod ir;
pub mod opt;
pub mod params;
pub mod rec;
