//! Loops whose trace follows the side of a branch that is rarely taken: a root trace, or a variant of it (`variant`).
//!
//! The iteration that is recorded decides which side of a branch the trace follows. The trace of the other side jumps to the start of the
//! first one: what only that side changes goes through memory in each iteration, and the loop is never reached for which invariants were
//! hoisted. Where the other side is taken most of the time, the first one is recorded again, from an iteration that takes that side.
//!
//! This is decided when the side trace has run often enough to pay for a compilation, before trees are considered (`tree`).

use super::code::Code;
use super::entry::TreeCode;
use super::{Entry, Registry, TraceStart, patch};
use crate::Jit;
use crate::policy::replacement::Replacement;
use crate::view::log::{self, Topic};
use perilune_recorder::ir::{Link, SnapId, Snapshot, TraceExit};
use perilune_recorder::rec::BranchSide;
use perilune_vm::interp::hook::is_header;
use perilune_vm::object::BcPos;
use perilune_vm::{TraceId, Vm};
use std::collections::HashSet;

/// Iterations that each run of a loop is taken to have where nothing is known of them: a side in front of the loop is to be taken far more often
/// than the loop is entered. 146 programs that were not made for it take as long with 4 and with 64 (0.99, 1.00).
const LONG: u64 = 16;
/// Recordings after the first one at most: what is usual may change while the program runs.
const MOST: u32 = 2;

/// A count of exits above any threshold.
const HOT_AT_ONCE: u32 = 1 << 30;

impl Registry {
    /// The exit that a side trace continues at. Where side traces start at one another's first exits, for values of other types, it is that of
    /// the first of them.
    fn exit_above(&self, side: TraceId) -> Option<TraceExit> {
        let mut parent = self.get(side)?.trace.parent?;
        while parent.exit == SnapId::FIRST
            && let Some(e) = self.get(parent.trace).filter(|e| e.start.is_none() && !e.is_variant)
        {
            parent = e.trace.parent?;
        }
        Some(parent)
    }
    /// The exit of a root trace or variant where a side trace continues that is what the loop usually does. The exit is in front of the loop, and the
    /// side trace comes back to it.
    fn usual_exit(&self, side: TraceId) -> Option<TraceExit> {
        let e = self.get(side)?;
        let at = self.exit_above(side)?;
        let TraceExit { trace: n, exit } = at;
        let (root, above) = (self.get(e.root)?, self.get(n)?);
        let is_in_front = exit != SnapId::FIRST && exit < above.account.loop_snap;
        // The rare side may also lead somewhere else, to an inner loop for instance.
        let starts_loop = above.is_variant || above.start.is_some_and(|s| !is_header(s.original.op()));
        let is_loop = starts_loop && e.trace.link == Link::Root(n);
        // How often members of a tree run is not counted.
        let is_counted = |t: &TreeCode| n != e.root && !self.own_sides(n).any(|(_, s)| t.members.contains(&s));
        let is_entered = |e: &Entry| e.replaced_by.is_none() && !e.is_invalid;
        if !is_in_front || !is_loop || !root.tree.as_ref().is_none_or(is_counted) || !is_entered(root) || !is_entered(above) {
            return None;
        }
        // How many iterations a run had that came as far as the loop is not known, unless the loop asks again which side to take.
        let asked = above.trace.snap(exit);
        let repeats = |s: &Snapshot| s.pc == asked.pc && s.base_slot == asked.base_slot;
        let is_asked_again = above.trace.snaps.iter().skip(above.account.loop_snap.index()).any(repeats);
        let iterations = |k: SnapId| if k >= above.account.loop_snap && !is_asked_again { LONG } else { 1 };
        let sides = self.own_sides(n).map(|(k, s)| self.runs(s) * iterations(k));
        let exits = above.exits.iter().enumerate().map(|(k, x)| u64::from(x.taken) * iterations(SnapId::new(k)));
        let passed = self.own_sides(side).filter(|(k, _)| *k == SnapId::FIRST).map(|(_, next)| self.runs(next)).sum();
        let usual = self.runs(side).saturating_sub(passed);
        // As often as the trace is left in all other ways: then half of the iterations that leave it follow this side.
        (usual >= sides.chain(exits).sum::<u64>().saturating_sub(usual)).then_some(at)
    }
    /// The exit that the variant `n` was recorded at, if a new one may be recorded there in its place. That is counted.
    fn replaces_variant(&mut self, n: TraceId, side: Option<BranchSide>) -> Option<TraceExit> {
        let parent = self.get(n)?.trace.parent?;
        let exit = self.exit_mut(parent).filter(|x| x.side == Some(n) && x.replaced < MOST)?;
        exit.replaced += 1;
        exit.replaces = Some(Replacement::new(side));
        Some(parent)
    }
    /// A recording begins at an exit. If it is to replace a variant: the side of a branch that it must follow, if that is known. It need not after
    /// many tries: the old variant is gone.
    pub(crate) fn variant_to_follow(&mut self, exit: TraceExit) -> Option<BranchSide> {
        self.exit_mut(exit)?.replaces.as_mut().filter(|r| r.may_repeat())?.begin()
    }
    /// What enters a root trace leaves at once, as by its first exit, which is hot.
    fn lead_out(&mut self, n: TraceId, leaving: Code) {
        self.enter_at(n, leaving.address);
        let Some(e) = self.get_mut(n) else { return };
        e.tree = Some(TreeCode { code: leaving, members: Vec::new() });
        if let Some(first) = e.exits.first_mut() {
            (first.hot_count, first.next_check, first.tries) = (HOT_AT_ONCE, 0, 0);
        }
    }
    /// Makes the instruction at a position enter the newest root trace from there again.
    fn rearm(&self, pos: BcPos, newest: TraceId) {
        if self.get(newest).is_some_and(|e| !e.is_invalid && e.start.is_some_and(|start| start.pos == pos)) {
            patch::arm(pos, newest);
        }
    }
}

impl Jit {
    /// A side trace has run often. Has the root trace or variant above it recorded again if that follows a side of a branch which is rarely
    /// taken.
    pub(super) fn records_usual_side(&self, vm: &mut Vm, side: TraceId) -> bool {
        let (start, usual);
        {
            let registry = self.registry.borrow();
            let Some(TraceExit { trace: above, exit }) = registry.usual_exit(side) else { return false };
            let (Some(e), Some(s)) = (registry.get(above), registry.get(side)) else { return false };
            (start, usual) = ((above, e.start), e.path.other_side(e.trace.snap(exit), &s.path));
        }
        match start {
            (root, Some(start)) => self.records_root_again(vm, root, start, usual),
            (variant, None) => self.records_variant_again(vm, variant, usual),
        }
    }
    fn records_variant_again(&self, vm: &Vm, variant: TraceId, usual: Option<BranchSide>) -> bool {
        let Some(exit) = self.registry.borrow_mut().replaces_variant(variant, usual) else { return false };
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {variant} follows a side that is rarely taken: recorded again]");
        }
        self.drop_trees_of(vm, core::iter::once(&variant));
        let stub = self.machine.borrow().exit_stub();
        let mut registry = self.registry.borrow_mut();
        registry.unlink_sides(&HashSet::from_iter([variant]), stub);
        if let Some(exit) = registry.exit_mut(exit) {
            exit.hot_count = HOT_AT_ONCE;
        }
        true
    }
    fn records_root_again(&self, vm: &mut Vm, root: TraceId, start: TraceStart, usual: Option<BranchSide>) -> bool {
        if !self.protos.borrow_mut().record_again(start.pos, usual, MOST) {
            return false;
        }
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {root} follows a side that is rarely taken: recorded again]");
        }
        self.registry.borrow().disarm_one(root);
        self.set_counter(vm, start.pos, 1);
        self.lead_out(vm, root);
        true
    }
    /// Has a root trace that is to be recorded again left by its first exit whenever other traces jump to it: they may execute the
    /// instruction that enters it themselves, so that the interpreter never comes there.
    fn lead_out(&self, vm: &mut Vm, root: TraceId) {
        let params = self.settings.options.get().params;
        let has_room = self.registry.borrow().get(root).is_some_and(|e| e.sides < params.maxside);
        if params.eval != 0 || !has_room {
            return;
        }
        if let Ok(leaving) = self.compile_leaving(vm, root) {
            self.registry.borrow_mut().lead_out(root, leaving);
        }
    }
    /// An exit is hot. If it is where a trace leaves that is to be recorded again, that is done now.
    pub(crate) fn records_again_at(&self, vm: &mut Vm, exit: TraceExit) -> bool {
        let found = self
            .registry
            .borrow()
            .get(exit.trace)
            .filter(|e| exit.exit == SnapId::FIRST && e.leads_out())
            .and_then(|e| Some(e.start?.pos));
        let Some(pos) = found else { return false };
        if self.protos.borrow_mut().at(pos).replaces.is_some_and(Replacement::may_repeat) {
            self.start_root(vm, pos);
        } else {
            self.ends_leading_out(vm, exit.trace);
        }
        true
    }
    /// A root trace that was to be recorded again is entered in its own code again.
    fn ends_leading_out(&self, vm: &Vm, root: TraceId) {
        let mut registry = self.registry.borrow_mut();
        let code =
            if registry.get(root).is_some_and(|e| e.leads_out() && !e.is_invalid) { registry.drop_tree(root) } else { None };
        drop(registry);
        if let Some(code) = code {
            self.free_tree(code, vm.compiled.native_calls != 0);
        }
    }
    /// A recording from a position was aborted. Was it to replace a root trace? That is entered again then.
    pub(crate) fn keeps_old_root(&self, vm: &Vm, pos: BcPos) -> bool {
        let Some(newest) = self.protos.borrow_mut().recorded_in_vain(pos) else { return false };
        self.registry.borrow().rearm(pos, newest);
        self.ends_leading_out(vm, newest);
        true
    }
}
