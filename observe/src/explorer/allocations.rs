//! Allocations by line: counted while the explorer watches, if that is asked for.

use super::answer::{Allocations, LineAllocations};
use super::function::Functions;
use crate::flush_traces;
use foldhash::fast::FixedState;
use perilune_vm::gc::watch::{Change, Origin, Watcher};
use perilune_vm::object::{Gc, Object, Proto};
use perilune_vm::{TraceId, Vm};
use std::any::Any;
use std::collections::HashMap;

/// What a line has allocated.
#[derive(Copy, Clone, Default)]
struct Counts {
    allocations: u64,
    bytes: u64,
}

/// Counts what is allocated.
#[derive(Default)]
struct Counter {
    /// The chunks that functions are from.
    chunks: Vec<Vec<u8>>,
    by_name: HashMap<Vec<u8>, usize>,
    /// The chunk of each function that is alive, by address.
    functions: HashMap<u64, usize, FixedState>,
    /// By chunk and line.
    lines: HashMap<(usize, u32), Counts, FixedState>,
    /// What is not a function of Lua: the compiler, the host.
    elsewhere: Counts,
}

impl Counter {
    fn line(&mut self, proto: Gc<Proto>, line: u32) -> &mut Counts {
        match self.functions.get(&proto.addr()) {
            Some(&chunk) => self.lines.entry((chunk, line)).or_default(),
            None => &mut self.elsewhere,
        }
    }
}

impl Watcher for Counter {
    fn change(&mut self, place: Origin, change: Change) -> bool {
        let bytes = match change {
            Change::Alloc { size, .. } => size,
            Change::Realloc { old, new, .. } if new > old => new - old,
            Change::Realloc { .. } | Change::Free { .. } => return true,
        };
        let counts = match place {
            Origin::Lua(proto, line) => self.line(proto, line),
            Origin::Trace(site) => self.line(site.proto, site.line),
            Origin::Native(_) | Origin::Internal => &mut self.elsewhere,
        };
        counts.allocations += 1;
        counts.bytes += bytes as u64;
        true
    }
    fn proto(&mut self, proto: Gc<Proto>) {
        let name = proto.chunkname.bytes();
        let chunk = self.by_name.get(name).copied().unwrap_or_else(|| {
            self.chunks.push(name.to_vec());
            self.by_name.insert(name.to_vec(), self.chunks.len() - 1);
            self.chunks.len() - 1
        });
        self.functions.insert(proto.addr(), chunk);
    }
    fn trace(&mut self, _: TraceId, _: Gc<Proto>, _: u32) {}
    fn end(&mut self) {}
}

/// Counts allocations from now on, for the reports of the explorer. Traces that there are are flushed, since code has to say where it
/// allocates. False if somebody else watches the heap.
pub fn count_allocations(vm: &mut Vm) -> bool {
    let mut counter = Counter::default();
    vm.heap.for_each_object(|o| {
        if let Some(Object::Proto(p)) = o.typed() {
            counter.proto(p);
        }
    });
    flush_traces(vm);
    vm.watch(Box::new(counter)).is_ok()
}

/// Has allocations counted no more.
pub(super) fn stop(vm: &mut Vm) {
    if with_counter(vm, |_| ()).is_some() {
        vm.take_watcher();
        flush_traces(vm);
    }
}

fn with_counter<R>(vm: &mut Vm, f: impl FnOnce(&Counter) -> R) -> Option<R> {
    vm.with_watcher(|w| (w as &dyn Any).downcast_ref::<Counter>().map(f)).flatten()
}

/// Adds what was counted to a report.
pub(super) fn add(vm: &mut Vm, functions: &mut Functions) -> Option<Allocations> {
    with_counter(vm, |counter| {
        let mut lines: Vec<LineAllocations> = Vec::with_capacity(counter.lines.len());
        for (&(chunk, line), counts) in &counter.lines {
            let file = functions.file(&counter.chunks[chunk]);
            lines.push(LineAllocations { file, line, allocations: counts.allocations, bytes: counts.bytes });
        }
        lines.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.file, a.line).cmp(&(b.file, b.line))));
        let sum = |f: fn(&LineAllocations) -> u64| lines.iter().map(f).sum::<u64>();
        Allocations {
            allocations: sum(|l| l.allocations) + counter.elsewhere.allocations,
            bytes: sum(|l| l.bytes) + counter.elsewhere.bytes,
            lines,
        }
    })
}
