//! Source text to bytecode: lexer, and a single-pass parser that emits as it goes.

mod emit;
mod expr;
pub mod lex;
pub mod number;
mod parse;
mod scope;
mod stmt;

pub use lex::SyntaxError;
pub use parse::compile;
