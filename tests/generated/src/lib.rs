//! Programs made from a grammar, run in all modes and compared.
//!
//! - [`grammar`]: makes the program of a seed; [`program`]: its statements, and leaving some of them out.
//! - [`modes`]: the ways of running it; [`run`]: runs it in a fresh state.
//! - [`worker`]: a process that runs many programs; [`supervise`]: starts workers, and attributes what they die of.
//! - [`reduce`]: makes a program that shows a fault smaller; [`findings`]: groups and writes what was found.
//! - [`luajit`]: runs programs with LuaJIT.

pub mod findings;
pub mod grammar;
pub mod luajit;
pub mod modes;
pub mod program;
pub mod reduce;
pub mod run;
pub mod supervise;
pub mod worker;
