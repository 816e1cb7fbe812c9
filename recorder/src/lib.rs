//! Bytecode to trace IR: the IR, the recorder, the optimiser, and an evaluator of the IR.
//!
//! From the bottom up: [`ir`] (a trace as data, and under construction), [`opt`] (the emission pipeline and the passes), [`rec`] (the
//! recorder, which emits IR for bytecode) and [`eval`] (runs IR without compiling it).
//!
//! IR is text that can be read back, in the columns of LuaJIT's dump:
//!
//! ```
//! use perilune_recorder::ir::parse::{Objects, parse};
//! use perilune_recorder::ir::print::{Names, print};
//! use perilune_recorder::ir::{Op, verify::verify};
//! use perilune_vm::Value;
//!
//! struct NoObjects;
//! impl Objects for NoObjects {
//!     fn string(&mut self, _: &[u8]) -> Value { Value::NIL }
//!     fn object(&mut self, _: &str, _: u32) -> Option<Value> { None }
//! }
//! impl Names for NoObjects {
//!     fn object(&self, _: Value) -> String { String::new() }
//! }
//!
//! let text = "\
//! ....        SNAP   #0   pc=1 [ ---- ---- ]
//! 0001 >  int SLOAD  #2    T
//! 0002 >  int ADDOV  0001  +1
//! link interpreter
//! ";
//! let trace = parse(text, &mut NoObjects).expect("well written");
//! assert!(verify(&trace).is_ok());
//! assert_eq!(trace.ins[2].op, Op::ADDOV);
//! assert_eq!(print(&trace, &NoObjects), text);
//! ```
#![deny(unsafe_code)]

pub mod abort;
pub mod eval;
pub mod ir;
pub mod opt;
pub mod params;
pub mod rec;
