//! What a watcher of the heap is told ([`super::watch`]).

use super::block::FreeCell;
use super::size::NUM_CLASSES;
use crate::ids::TraceId;
use crate::object::{Gc, Proto};
use core::any::Any;

/// A change of the heap: addresses, and sizes in bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Memory was allocated.
    Alloc {
        /// Where.
        at: usize,
        /// Bytes.
        size: usize,
    },
    /// Memory was freed.
    Free {
        /// Where.
        at: usize,
        /// Bytes.
        size: usize,
    },
    /// Memory changed its size, and perhaps its address.
    Realloc {
        /// Where it was.
        from: usize,
        /// Bytes it had.
        old: usize,
        /// Where it is.
        to: usize,
        /// Bytes it has.
        new: usize,
    },
}

/// What was running when the heap changed.
#[derive(Copy, Clone, Debug)]
pub enum Origin {
    /// The collector, the compiler, or the host.
    Internal,
    /// A Lua function, or a builtin that it called: its prototype and the line.
    Lua(Gc<Proto>, u32),
    /// A builtin that was not called by a Lua function: the address of its code.
    Native(usize),
    /// Compiled code.
    Trace(Site),
}

/// A position in compiled code.
#[derive(Copy, Clone, Debug)]
pub struct Site {
    /// The trace.
    pub trace: TraceId,
    /// The function whose code was compiled there. Not kept alive: only its address counts.
    pub proto: Gc<Proto>,
    /// The line.
    pub line: u32,
    /// Index of the first instruction of the trace that it stands for.
    pub ins: u16,
}

/// A watcher of the heap. It must not touch the heap that it watches.
pub trait Watcher: Any {
    /// The heap has changed (for a free: is about to). If it returns false, it is not called again, see [`crate::Vm::take_watcher`].
    fn change(&mut self, place: Origin, change: Change) -> bool;
    /// A prototype was made; the memory that it owns is not allocated yet.
    fn proto(&mut self, proto: Gc<Proto>);
    /// A trace was compiled, which starts at this line of a function.
    fn trace(&mut self, id: TraceId, proto: Gc<Proto>, line: u32);
    /// The heap goes away with all its objects.
    fn end(&mut self);
}

/// The state of watching.
pub(super) struct Watch {
    pub watcher: Box<dyn Watcher>,
    /// Is the watcher still called?
    pub on: bool,
    /// Address of the VM that the heap is part of.
    pub vm: usize,
    /// The real free lists.
    pub hidden: [*mut FreeCell; NUM_CLASSES],
}

impl core::fmt::Debug for Watch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Watch").field("on", &self.on).finish_non_exhaustive()
    }
}
