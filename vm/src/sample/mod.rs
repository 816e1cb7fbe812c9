//! Sampling: at regular intervals of processor time, the VM records what runs.
//!
//! A timer (`timer`) interrupts the thread of the VM. The signal handler only counts, notes the VM's [`Activity`], and makes the
//! interpreter dispatch through the table of hooks. There, before the next instruction of a Lua function, the sample is delivered to the
//! [`Consumer`], which may inspect the whole VM. Further samples until then are added to the pending one.
//!
//! While a sample is pending, compiled code is left by the next exit that it takes, even if that has a side trace
//! (`CompiledState::exits_leaving`). A consumer that needs the position in compiled code ([`InCode::Located`]) gets the address where the
//! processor was, or, if a helper ran, the site that the code stored before the call (`CompiledState::site`). Code that is compiled while
//! samples are taken stores sites, and has a guard (PROF) in loops that may run for long without an exit. Apart from these guards, compiled
//! code has no cost until a sample comes.
//!
//! With [`InCode::Walked`] compiled code is not left: the signal handler walks the stack (`walk`), and the consumer gets many samples at
//! once.

mod clock;
mod divert;
mod interrupt;
mod session;
mod stack;
#[cfg(test)]
mod tests;
mod timer;
mod walk;

pub use walk::Stack;

pub use stack::{Callee, StackFrame, dump as dump_stack, dump_frames, frames};

use crate::Vm;
use crate::gc::Marker;
use crate::object::{Gc, Proto};
use crate::state::Activity;
use core::any::Any;
use session::Session;

/// Exit status of a process that Ctrl-C has ended, as in shells.
pub const INTERRUPTED: i32 = 130;

/// How samples in compiled code are delivered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum InCode {
    /// When compiled code is left.
    Late,
    /// When compiled code is left, with the position in the code; loops are left for a sample as well.
    Located,
    /// Later, with the position in the code and the stack at the sample; compiled code is not left ([`Consumer::compiled`]). Traces that
    /// were compiled before must have been flushed.
    Walked,
}

/// A position in compiled code.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CodePosition {
    /// The address of a machine instruction.
    Address(usize),
    /// A helper or a builtin runs; compiled code has stored this number before the call ([`crate::gc::watch::Site`]).
    Site(u32),
}

/// Marks a position that is a site.
const SITE: u64 = 1 << 63;

impl CodePosition {
    fn to_bits(self) -> u64 {
        match self {
            CodePosition::Address(a) => a as u64,
            CodePosition::Site(n) => SITE | u64::from(n),
        }
    }
    fn from_bits(bits: u64) -> Option<CodePosition> {
        match bits {
            0 => None,
            n if n & SITE != 0 => Some(CodePosition::Site(n as u32)),
            a => Some(CodePosition::Address(a as usize)),
        }
    }
}

/// Samples of one kind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Intervals that have passed: 1 or more.
    pub count: u32,
    /// The VM's activity: a letter of [`Activity`].
    pub activity: u8,
    /// Id of the builtin that ran, see [`crate::stdlib::Builtin`]; 0 if none did, 1 for one without an id.
    pub builtin: u32,
    /// The position in compiled code, if the sample was taken there and the position is still known.
    pub place: Option<CodePosition>,
}

/// The samples since the last call of the consumer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// By kind, the first one first. Empty if there is only an interrupt to deliver.
    pub parts: Vec<Part>,
}

impl Sample {
    /// Intervals that have passed.
    pub fn count(&self) -> u32 {
        self.parts.iter().fold(0, |n, p| n.saturating_add(p.count))
    }
    /// The VM's activity at the first of them: a letter of [`Activity`].
    pub fn activity(&self) -> u8 {
        self.parts.first().map_or(Activity::Interpreter as u8, |p| p.activity)
    }
}

/// Receives samples.
pub trait Consumer: Any {
    /// A sample, while `vm.base` and `vm.pc` are those of a Lua function. Hooks, events and recording are suspended meanwhile.
    fn sample(&self, vm: &mut Vm, sample: Sample);
    /// A sample in compiled code that was taken earlier ([`InCode::Walked`]), with its stack. The innermost function there is the one whose
    /// frame the trace counts slots from, without an instruction. The collector may be about to free functions, or the compiler may be
    /// about to free traces.
    fn compiled(&self, vm: &Vm, part: Part, stack: Stack) {
        let _ = (vm, part, stack);
    }
    /// The code of a function was loaded.
    fn loaded(&self, proto: Gc<Proto>) {
        let _ = proto;
    }
    /// The collector is about to free functions: facts that are stored by address must be forgotten.
    fn forget(&self) {}
    /// Marks the objects that it keeps.
    fn mark(&self, marker: &mut Marker) {
        let _ = marker;
    }
    /// Ctrl-C was pressed, see [`Vm::catch_interrupts`]; otherwise as for [`Consumer::sample`].
    fn interrupted(&self, vm: &mut Vm) {
        let _ = vm;
    }
    /// The state is about to be closed; finalizers have not run.
    fn closing(&self, vm: &mut Vm) {
        let _ = vm;
    }
    /// No more samples come: the process ends, the state is closed, or another consumer replaces this one.
    fn end(&self, vm: &mut Vm) {
        let _ = vm;
    }
}
