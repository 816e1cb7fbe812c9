//! Traces that are invalid because a field which they take for a constant was stored to: they are not entered again.
//!
//! Only the traces that rely on the field are invalid ([`Entry::watched`]), and they are not freed: one of them may be waiting for the builtin
//! that has stored to the field. A root trace is no longer entered from its start. Other traces may be linked to it: what they enter is the
//! code of a trace that leaves by its first exit at once, until another root trace from there takes its place. Its side traces are reached from
//! nowhere else. Where a side trace alone is invalid, the exits that led there lead to the interpreter, and may get another one.

use super::code::Code;
use super::entry::TreeCode;
use super::machine::Refused;
use super::{Entry, Exit, Registry};
use crate::Jit;
use crate::view::log::{self, Topic};
use crate::view::watch::Fate;
use perilune_backend::TraceTree;
use perilune_recorder::ir::{Link, Trace};
use perilune_vm::object::{ChangedFields, WatchedField};
use perilune_vm::{TraceId, Vm};
use std::collections::HashSet;

impl Registry {
    /// The valid traces that take one of the changed fields for a constant, and the side traces of such root traces.
    fn relying_on(&self, changed: ChangedFields) -> Vec<TraceId> {
        let relies = |e: &Entry| e.watched.iter().any(|&field| changed.contains(field));
        let is_invalid = |e: &Entry| relies(e) || self.get(e.root).is_some_and(relies);
        self.iter().filter(|(_, e)| is_invalid(e)).map(|(n, _)| n).collect()
    }
    /// A root trace is entered no longer, and no side trace is recorded at its exits. Traces that are linked to it enter `leaving` instead.
    fn invalidate_root(&mut self, n: TraceId, leaving: Code) {
        self.disarm_one(n);
        self.enter_at(n, leaving.address);
        if let Some(e) = self.get_mut(n) {
            e.tree = Some(TreeCode { code: leaving, members: Vec::new() });
        }
    }
    /// Exits lead to these side traces no longer.
    pub(super) fn unlink_sides(&mut self, sides: &HashSet<TraceId>, stub: usize) {
        if sides.is_empty() {
            return;
        }
        let (entries, exits) = self.entries_and_exits();
        for e in entries {
            for (k, x) in e.exits.iter_mut().enumerate().filter(|(_, x)| x.side.is_some_and(|side| sides.contains(&side))) {
                (x.side, x.hot_count, x.next_check, x.tries) = (None, 0, 0, 0);
                exits.link(e.exit_base.exit(k as u32), stub);
            }
        }
        self.sides_by_pc.remove(sides);
        for &side in sides {
            self.replace_variant(side);
            self.uncount_side(side);
        }
    }
    /// A side trace does not count among those of its root trace any more, if it did: an invalid one may have been unlinked before.
    pub(super) fn uncount_side(&mut self, side: TraceId) {
        let Some(e) = self.get_mut(side).filter(|e| !e.is_unlinked) else { return };
        e.is_unlinked = true;
        let root = e.root;
        if let Some(root) = self.get_mut(root) {
            root.sides -= 1;
        }
    }
    /// The fields that traces take for constants which are invalid, and no valid trace does.
    fn unused_fields(&self, invalid: &[TraceId]) -> Vec<WatchedField> {
        let used: HashSet<WatchedField> = self.iter().flat_map(|(_, e)| &e.watched).copied().collect();
        let fields = invalid.iter().filter_map(|&n| self.get(n)).flat_map(|e| &e.watched).copied();
        fields.filter(|field| !used.contains(field)).collect()
    }
    /// No side traces are recorded at the exits of a trace any more.
    fn end_sides(&mut self, n: TraceId) {
        let Some(e) = self.get_mut(n) else { return };
        e.is_invalid = true;
        for x in &mut e.exits {
            x.hot_count = Exit::DONE;
        }
    }
}

/// A trace that leaves at once as another one does by its first exit.
fn leaving_at_once(t: &Trace) -> Trace {
    let snaps = t.snaps.iter().take(1).cloned().collect();
    Trace { consts: t.consts.clone(), snaps, link: Link::Interp, ..Trace::default() }
}

impl Jit {
    /// Fields have changed that traces may take for constants. Such traces are not entered again.
    pub(crate) fn invalidate(&self, vm: &mut Vm, changed: ChangedFields) {
        self.cancel(vm);
        let invalid = self.registry.borrow().relying_on(changed);
        if invalid.is_empty() {
            return;
        }
        // A trace that waits for a builtin leaves when the builtin returns.
        vm.compiled.invalidations = vm.compiled.invalidations.wrapping_add(1);
        let is_root = |n: TraceId| self.registry.borrow().get(n).is_some_and(|e| e.root == n);
        let (roots, sides): (Vec<TraceId>, Vec<TraceId>) = invalid.iter().partition(|&&n| is_root(n));
        self.drop_trees_of(vm, roots.iter().chain(&sides));
        for &n in &roots {
            // Without room for a few bytes of code all traces go.
            let Ok(leaving) = self.compile_leaving(vm, n) else { return self.drop_traces(vm) };
            self.registry.borrow_mut().invalidate_root(n, leaving);
        }
        let stub = self.machine.borrow().exit_stub();
        self.registry.borrow_mut().unlink_sides(&sides.iter().copied().collect(), stub);
        for &n in &invalid {
            self.report_invalid(n);
            self.registry.borrow_mut().end_sides(n);
        }
        for field in self.registry.borrow().unused_fields(&invalid) {
            vm.heap.stop_using(field);
        }
    }
    /// The functions of trees that have one of the traces are entered no longer.
    pub(super) fn drop_trees_of<'a>(&self, vm: &Vm, traces: impl Iterator<Item = &'a TraceId>) {
        for &n in traces {
            let mut registry = self.registry.borrow_mut();
            let Some(root) = registry.get(n).map(|e| e.root) else { continue };
            let has = |e: &Entry| e.tree.as_ref().is_some_and(|t| root == n || t.members.contains(&n));
            let code = if registry.get(root).is_some_and(has) { registry.drop_tree(root) } else { None };
            drop(registry);
            if let Some(code) = code {
                self.free_tree(code, vm.compiled.native_calls != 0);
            }
        }
    }
    pub(super) fn compile_leaving(&self, vm: &mut Vm, n: TraceId) -> Result<Code, Refused> {
        if self.settings.options.get().params.eval != 0 {
            return Ok(Code::default());
        }
        let Some((trace, exits)) = self.registry.borrow().get(n).map(|e| (leaving_at_once(&e.trace), e.exit_base)) else {
            return Ok(Code::default());
        };
        let limit = (self.settings.options.get().params.maxmcode as usize).saturating_mul(1024);
        let code = self.machine.borrow_mut().compile_leaving(vm, TraceTree::single(&trace, n, exits), limit)?;
        self.count(|c| c.mcode += code.size as u64);
        Ok(code)
    }
    fn report_invalid(&self, n: TraceId) {
        self.count(|c| c.invalidated += 1);
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {n} is invalid]");
        }
        let registry = self.registry.borrow();
        if let Some(e) = registry.get(n) {
            self.notify(|w| w.gone(n, e, registry.entries_of(n), Fate::Invalidated));
        }
    }
}
