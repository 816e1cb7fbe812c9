//! What the recorder may ask about existing traces, and about the results of earlier recordings.

use crate::policy::proto_table::ProtoTable;
use crate::trace::Registry;
use perilune_recorder::ir::Link;
use perilune_recorder::rec::{Site, TraceDb, find_liveness};
use perilune_vm::TraceId;
use perilune_vm::bc::Ins;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::object::{BcAddr, BcPos, Gc, Proto};
use std::cell::RefCell;
use std::rc::Rc;

/// The recorder's view of the compiler while it records one instruction.
pub struct RecorderView<'a> {
    /// The traces.
    pub registry: &'a Registry,
    /// What is known about prototypes.
    pub protos: &'a RefCell<ProtoTable>,
    /// The instruction that is being recorded, and its feedback with what the number profile adds.
    pub current: Option<(BcPos, Site)>,
}

impl TraceDb for RecorderView<'_> {
    fn link_of(&self, n: TraceId) -> Option<Link> {
        let link = self.registry.get(n)?.trace.link;
        let newest = |n: TraceId| core::iter::successors(Some(n), |n| self.registry.get(*n)?.replaced_by).last();
        Some(match link {
            Link::Root(n) => Link::Root(newest(n)?),
            link => link,
        })
    }
    fn is_recorded_from(&self, n: TraceId, pc: BcAddr) -> bool {
        let get = |n| self.registry.get(n);
        let above = core::iter::successors(get(n), |e| get(e.trace.parent?.trace));
        above.into_iter().any(|e| e.path.contains(pc))
    }
    fn original_ins(&self, patched: Ins) -> Ins {
        self.registry.original_ins(patched)
    }
    fn site(&self, pos: BcPos) -> Site {
        match self.current {
            Some((current, expected)) if current == pos => expected,
            _ => self.protos.borrow().feedback(pos),
        }
    }
    fn liveness(&self, proto: Gc<Proto>) -> Option<Rc<Liveness>> {
        if let Some(known) = self.protos.borrow().liveness(proto) {
            return known;
        }
        let found = find_liveness(self, proto);
        self.protos.borrow_mut().set_liveness(proto, found.clone());
        found
    }
    fn loop_left(&self, pos: BcPos) -> bool {
        self.protos.borrow().get(pos).is_some_and(|r| r.leaves_loop)
    }
}
