//! What the traces of a function keep alive.
//!
//! Traces end with the function that their root trace starts in. Until then the collector reaches through it what they refer to:
//! constants, and the functions whose code they are made from. The traces of one function mostly refer to the same objects, so
//! each is kept once. Side traces that lead through functions which nothing else reaches end before (`Jit::end_unreachable`).

use perilune_recorder::ir::Trace;
use perilune_vm::TraceId;
use perilune_vm::gc::Marker;
use perilune_vm::object::{Gc, GcHeader, Proto};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The traces of one function.
#[derive(Debug, Default)]
struct TracesOfProto {
    /// Their numbers.
    traces: Vec<TraceId>,
    /// The objects that they keep, each once.
    objects: Vec<Gc<GcHeader>>,
    known: HashSet<*const GcHeader>,
    /// The functions among them that traces lead through, but for the one that has the traces.
    others: Vec<Gc<Proto>>,
}

/// The traces of each function that has some.
#[derive(Debug, Default)]
pub struct TracesByProto {
    by_proto: HashMap<*const Proto, TracesOfProto>,
    /// Functions that got traces since [`TracesByProto::mark_new`] ran.
    new: RefCell<Vec<Gc<Proto>>>,
}

impl TracesByProto {
    /// Trace `n` begins to live as long as the first of `protos`, whose code it is made from.
    pub fn add(&mut self, n: TraceId, trace: &Trace, protos: &[Gc<Proto>]) {
        let Some(&owner) = protos.first() else { return };
        self.new.get_mut().push(owner);
        let own = self.by_proto.entry(owner.as_ptr()).or_default();
        own.traces.push(n);
        for p in &protos[1..] {
            if !own.others.contains(p) {
                own.others.push(*p);
            }
        }
        for o in trace.objects().chain(protos.iter().map(|p| p.header())) {
            if own.known.insert(o.as_ptr()) {
                own.objects.push(o);
            }
        }
    }
    /// Do traces of a function lead through one that is not marked?
    pub fn lead_through_unmarked(&self, proto: Gc<Proto>) -> bool {
        self.by_proto.get(&proto.as_ptr().cast_const()).is_some_and(|o| o.others.iter().any(|p| p.hdr.is_white()))
    }
    /// The traces of a function, the first one first.
    pub fn of(&self, proto: Gc<Proto>) -> &[TraceId] {
        self.by_proto.get(&proto.as_ptr().cast_const()).map_or(&[], |o| &o.traces)
    }
    /// The traces of a function, which lose it.
    pub fn remove(&mut self, proto: Gc<Proto>) -> Vec<TraceId> {
        self.new.get_mut().retain(|p| *p != proto);
        self.by_proto.remove(&proto.as_ptr().cast_const()).map_or(Vec::new(), |o| o.traces)
    }
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.by_proto.clear();
        self.new.get_mut().clear();
    }
    /// Marks what the traces of a function keep; it was just marked.
    pub fn mark(&self, proto: Gc<Proto>, marker: &mut Marker) {
        for o in self.by_proto.get(&proto.as_ptr().cast_const()).into_iter().flat_map(|o| &o.objects) {
            marker.mark_object(*o);
        }
    }
    /// Has the same done for functions that got traces since the last time: they may have been marked before.
    pub fn mark_new(&self, marker: &mut Marker) {
        for p in self.new.take() {
            if !p.hdr.is_white() {
                marker.mark_traces_of(p);
            }
        }
    }
}
