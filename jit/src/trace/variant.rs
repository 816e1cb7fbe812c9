//! Variants of a loop: side traces at the first exit of its root trace, which start where that does, with values of other types or other
//! functions.
//!
//! Where a trace below a variant comes back to the start of the loop, the instruction there names the root trace. Jumping to it would fail
//! what it checks and pass all variants again, in each such iteration. So the trace is linked to the nearest variant above it whose checks
//! hold for what is in the slots when it is recorded. Since the trace is below the variant, it does not outlive it.

use super::Registry;
use super::machine::leaves_early;
use crate::Jit;
use perilune_recorder::ir::{Link, Trace, TraceExit};
use perilune_recorder::rec::FinishedTrace;
use perilune_recorder::rec::variant::in_next_iteration;
use perilune_vm::{TraceId, Vm};
use std::rc::Rc;

impl Registry {
    /// The variants of the root trace `root` above an exit, with their numbers: the nearest first.
    fn variants_above(&self, exit: TraceExit, root: TraceId) -> Vec<(TraceId, Rc<Trace>)> {
        let above = core::iter::successors(Some(exit.trace), |&n| Some(self.get(n)?.trace.parent?.trace));
        let entries = above.take_while(|&n| n != root).filter_map(|n| Some((n, self.get(n)?)));
        entries.filter(|(_, e)| e.is_variant && e.replaced_by.is_none()).map(|(n, e)| (n, Rc::clone(&e.trace))).collect()
    }
    /// A variant is entered no longer: traces that are linked to it continue in the root trace.
    pub(super) fn replace_variant(&mut self, n: TraceId) {
        let Some(root) = self.get(n).filter(|e| e.is_variant).map(|e| e.root) else { return };
        let newest = self.get(root).and_then(|e| e.replaced_by).unwrap_or(root);
        self.replace(n, newest, self.code_entered(newest));
    }
}

impl Jit {
    /// Links a finished side trace that comes back to the start of its root trace to a variant above it instead, if that can run now.
    pub(crate) fn link_to_variant(&self, vm: &mut Vm, done: &mut FinishedTrace) {
        let Some(parent) = done.trace.parent.filter(|_| done.trace.link == Link::Root(done.root)) else { return };
        let variants = self.registry.borrow().variants_above(parent, done.root);
        in_next_iteration(vm, done.end_pc, |vm| {
            if let Some((n, _)) = variants.into_iter().find(|(_, variant)| !leaves_early(vm, variant)) {
                done.trace.link = Link::Root(n);
            }
        });
    }
}
