//! The graph of objects, written as a stream: as the JSON that Luau's tools read ([`dump`]), and as a snapshot for the memory panel
//! of Chrome's developer tools ([`snapshot`]).
//!
//! Both begin with a full collection, so that only what is reachable is there. Beside the heap they need about two percent of its
//! size, for an index from addresses to positions.

mod chrome;
mod graph;
mod index;
mod luau;
mod names;

use perilune_vm::Vm;
use std::io::{self, Write};

/// Writes the JSON dump that Luau's `heapsnapshot.py`, `heapgraph.py` and `heapstat.py` read. `to` should have a buffer.
pub fn dump(vm: &mut Vm, to: &mut dyn Write) -> io::Result<()> {
    collect(vm);
    luau::write(vm, to)?;
    to.flush()
}

/// Writes a `.heapsnapshot`. `to` should have a buffer.
pub fn snapshot(vm: &mut Vm, to: &mut dyn Write) -> io::Result<()> {
    collect(vm);
    chrome::write(vm, to)?;
    to.flush()
}

/// Frees what is unreachable; a finalizer is no place for that.
fn collect(vm: &mut Vm) {
    if !vm.heap.is_finalizing() {
        vm.full_gc();
    }
}
