//! The graph of objects, written as a stream: as the JSON that Luau's tools read ([`dump`]), and as a snapshot for the memory panel
//! of Chrome's developer tools ([`snapshot`]).
//!
//! Both begin with a full collection, so that only what is reachable is there. A snapshot needs an index from addresses to positions, about
//! two percent of the heap, and four bytes for the id of each object; both are kept for the next snapshot.

mod chrome;
mod graph;
mod ids;
mod index;
mod interner;
mod luau;
pub(crate) mod names;
mod values;

use perilune_vm::Vm;
use perilune_vm::interrupt::Poll;
use std::io::{self, Write};

/// Writes the JSON dump that Luau's `heapsnapshot.py`, `heapgraph.py` and `heapstat.py` read. `to` should have a buffer.
///
/// # Errors
/// Writing fails, or an interrupt waits.
pub fn dump(vm: &mut Vm, to: &mut dyn Write, poll: Poll<'_>) -> io::Result<()> {
    collect(vm);
    luau::write(vm, to, poll)?;
    to.flush()
}

/// Writes a `.heapsnapshot`. `to` should have a buffer.
///
/// # Errors
/// Writing fails, or an interrupt waits.
pub fn snapshot(vm: &mut Vm, to: &mut dyn Write, poll: Poll<'_>) -> io::Result<()> {
    collect(vm);
    let ids = ids::Ids::take(vm, poll)?;
    let written = chrome::write(vm, &ids, to, poll);
    ids.keep(vm);
    written?;
    to.flush()
}

/// Frees what is unreachable; a finalizer is no place for that.
fn collect(vm: &mut Vm) {
    if !vm.heap.is_finalizing() {
        vm.full_gc();
    }
}
