//! What the traces of a prototype keep alive.
//!
//! Traces end with the prototype that their root trace starts in, their owner. Until then the collector reaches through it what they refer
//! to: constants, and the prototypes whose code they are made from. The traces of one owner mostly refer to the same objects, so each is
//! kept once. Side traces that lead through prototypes which nothing else reaches end earlier (`Jit::end_unreachable`).

use perilune_recorder::ir::Trace;
use perilune_vm::TraceId;
use perilune_vm::gc::Marker;
use perilune_vm::object::{Gc, GcHeader, Proto};
use std::collections::HashSet;

/// The traces of one prototype.
#[derive(Debug, Default)]
pub struct ProtoTraces {
    /// Their numbers, the first one first.
    traces: Vec<TraceId>,
    /// The objects that they keep, each once.
    objects: Vec<Gc<GcHeader>>,
    /// The same objects, to find them by address.
    known: HashSet<*const GcHeader>,
    /// The prototypes among them whose code is in a trace, without the owner.
    others: Vec<Gc<Proto>>,
}

impl ProtoTraces {
    /// Trace `n` lives as long as the first of `protos`, the prototypes whose code it is made from.
    pub fn add(&mut self, n: TraceId, trace: &Trace, protos: &[Gc<Proto>]) {
        self.traces.push(n);
        for p in protos.iter().skip(1) {
            if !self.others.contains(p) {
                self.others.push(*p);
            }
        }
        for o in trace.objects().chain(protos.iter().map(|p| p.header())) {
            if self.known.insert(o.as_ptr()) {
                self.objects.push(o);
            }
        }
    }
    /// Does a trace lead through a prototype that is not marked?
    pub fn lead_through_unmarked(&self) -> bool {
        self.others.iter().any(|p| p.hdr.is_white())
    }
    /// The numbers of the traces, the first one first.
    pub fn numbers(&self) -> &[TraceId] {
        &self.traces
    }
    /// Marks what the traces keep.
    pub fn mark(&self, marker: &mut Marker) {
        for o in &self.objects {
            marker.mark_object(*o);
        }
    }
}
