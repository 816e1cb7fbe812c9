//! What a recording may ask of the traces that there are, and of what earlier recordings found.

use crate::trace::Registry;
use perilune_recorder::ir::Link;
use perilune_recorder::rec::{Site, TraceDb, find_liveness};
use perilune_vm::TraceId;
use perilune_vm::bc::Ins;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::object::{Gc, Proto};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What the recorder may ask.
pub struct RecorderView<'a> {
    /// The traces.
    pub registry: &'a Registry,
    /// Was the loop at a place left soon, again and again?
    pub left: &'a dyn Fn(*const Ins) -> bool,
    /// What recordings found at a place.
    pub site: &'a dyn Fn(*const Ins) -> Site,
    /// Which slots matter, by function.
    pub live: &'a RefCell<HashMap<*const Proto, Option<Rc<Liveness>>>>,
}

impl TraceDb for RecorderView<'_> {
    fn link_of(&self, n: TraceId) -> Option<Link> {
        self.registry.get(n).map(|e| e.trace.link)
    }
    fn original_ins(&self, patched: Ins) -> Ins {
        self.registry.original_ins(patched)
    }
    fn site(&self, pc: *const Ins) -> Site {
        (self.site)(pc)
    }
    fn liveness(&self, proto: Gc<Proto>) -> Option<Rc<Liveness>> {
        let key: *const Proto = &raw const *proto;
        if let Some(known) = self.live.borrow().get(&key) {
            return known.clone();
        }
        let found = find_liveness(self, proto);
        self.live.borrow_mut().insert(key, found.clone());
        found
    }
    fn loop_left(&self, pc: *const Ins) -> bool {
        (self.left)(pc)
    }
}
