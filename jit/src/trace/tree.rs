//! Hot trees become one function.
//!
//! A trace and its side traces are compiled one by one, and reach each other through memory: an exit stores the slots, jumps through the
//! exit table, and the side trace loads them again. Compiled together, side exits are jumps, and links to the root trace pass the slots
//! that it loads first in registers (`backend/src/lower/start.rs`).
//!
//! Rent or buy: each run of a side trace counts down (`CompiledState::side_countdown`). A side trace that has run often enough to pay
//! for its own compilation becomes a member of the tree's function, with the traces above it. The function is compiled when the runs of
//! new members pay for all of it. The code of single traces stays: other traces and exits that are shared enter it, and it takes over when
//! a member dies.

use super::code::Code;
use super::entry::{Runs, TreeCode};
use super::machine::Refused;
use super::{Entry, Registry};
use crate::Jit;
use crate::policy::clock::now;
use crate::view::log::{self, Topic};
use perilune_backend::TraceTree;
use perilune_recorder::ir::{SnapId, Trace};
use perilune_vm::state::Activity;
use perilune_vm::{TraceId, Vm};
use std::time::Duration;

/// The side traces that would become members, and what that takes.
struct Plan {
    members: Vec<TraceId>,
    /// Runs of those that are not yet.
    runs: u64,
    /// Instructions of all members and the root trace.
    instructions: usize,
}

impl Registry {
    /// Sets the countdown of a side trace.
    fn set_countdown(&mut self, n: TraceId, runs: u64) {
        let before = self.runs(n);
        let set = i32::try_from(runs).unwrap_or(i32::MAX);
        if let Some(e) = self.get_mut(n) {
            e.runs = Runs { before, set };
            self.running.side_countdown[n.index()] = set;
        }
    }
    /// Counts a new side trace from now on.
    pub(crate) fn start_countdown(&mut self, n: TraceId, per_instruction: u32) {
        let needed = self.get(n).map_or(0, |e| needed(&e.trace, per_instruction));
        self.set_countdown(n, needed);
    }
    /// Counted runs of a side trace.
    pub(super) fn runs(&self, n: TraceId) -> u64 {
        let Some(e) = self.get(n) else { return 0 };
        e.runs.before + u64::try_from(i64::from(e.runs.set) - i64::from(self.running.side_countdown[n.index()])).unwrap_or(0)
    }
    /// Has a side trace left by its first exit because its countdown was over?
    #[inline]
    pub(crate) fn is_counted_down(&self, n: TraceId) -> bool {
        self.running.side_countdown[n.index()] < 0
    }
    /// The exits of a trace with the side traces that were recorded there, and not only linked to them.
    pub(super) fn own_sides(&self, n: TraceId) -> impl Iterator<Item = (SnapId, TraceId)> {
        let exits = self.get(n).map_or(&[][..], |e| &e.exits);
        exits.iter().enumerate().filter_map(move |(k, x)| {
            let parent = self.get(x.side?)?.trace.parent?;
            (parent.trace == n && parent.exit.index() == k).then_some((parent.exit, x.side?))
        })
    }
    /// Adds the side traces below a trace that have run often enough, and those that lead there.
    fn add_members(&self, n: TraceId, per_instruction: u32, members: &mut Vec<TraceId>) {
        for (_, side) in self.own_sides(n) {
            let Some(e) = self.get(side) else { continue };
            let without = members.len();
            members.push(side);
            self.add_members(side, per_instruction, members);
            if members.len() == without + 1 && self.runs(side) < needed(&e.trace, per_instruction) {
                members.pop();
            }
        }
    }
    fn plan(&self, root: &Entry, per_instruction: u32) -> Plan {
        let mut members = Vec::new();
        self.add_members(root.root, per_instruction, &mut members);
        let is_new = |n: &&TraceId| root.tree.as_ref().is_none_or(|t| !t.members.contains(n));
        let runs = members.iter().filter(is_new).map(|&n| self.runs(n)).sum();
        let of = |n: &TraceId| self.get(*n).map_or(0, |e| e.trace.ins.len());
        Plan { runs, instructions: root.trace.ins.len() + members.iter().map(of).sum::<usize>(), members }
    }
    /// The tree below a trace with these members.
    fn tree<'a>(&'a self, n: TraceId, e: &'a Entry, members: &[TraceId]) -> TraceTree<'a> {
        let mut tree = TraceTree::single(&e.trace, n, e.exit_base);
        for (k, side) in self.own_sides(n).filter(|(_, side)| members.contains(side)) {
            tree.sides.extend(self.get(side).map(|e| (k, self.tree(side, e, members))));
        }
        tree
    }
    /// The root trace is entered in the function of its tree. The function that it replaces, if there is one.
    fn set_tree(&mut self, root: TraceId, tree: TreeCode) -> Option<Code> {
        for &n in &tree.members {
            self.set_countdown(n, u64::MAX);
        }
        self.enter_at(root, tree.code.address);
        let e = self.get_mut(root)?;
        Some(e.tree.replace(tree)?.code)
    }
    /// The root trace is entered in its own code again. The function of the tree, whose members may be gone.
    pub(super) fn drop_tree(&mut self, root: TraceId) -> Option<Code> {
        let e = self.get_mut(root)?;
        let (tree, own) = (e.tree.take()?, e.code.address);
        self.enter_at(root, own);
        Some(tree.code)
    }
}

/// How often a trace must run for compiling it once more to pay.
fn needed(trace: &Trace, per_instruction: u32) -> u64 {
    u64::from(per_instruction) * trace.ins.len() as u64
}

impl Jit {
    /// The countdown of a side trace is over: compiles its tree as one function if that pays by now, and counts on otherwise.
    pub(crate) fn consider_tree(&self, vm: &mut Vm, side: TraceId) {
        let per_instruction = self.settings.options.get().params.hottree;
        if self.records_usual_side(vm, side) {
            return self.registry.borrow_mut().start_countdown(side, per_instruction);
        }
        let (root, plan) = {
            let registry = self.registry.borrow();
            let Some(root) = registry.get(side).map(|e| e.root) else { return };
            let Some(e) = registry.get(root) else { return };
            (root, (e.replaced_by.is_none() && !e.is_invalid).then(|| registry.plan(e, per_instruction)))
        };
        // A root trace that is no longer entered needs none.
        let Some(plan) = plan else { return self.registry.borrow_mut().set_countdown(side, u64::MAX) };
        let needed = u64::from(per_instruction) * plan.instructions as u64;
        // Code that waits for a builtin to return must stay where it is.
        if plan.runs < needed || plan.members.is_empty() || vm.compiled.native_calls != 0 {
            // A quarter at least, so that few questions are asked.
            return self.registry.borrow_mut().set_countdown(side, needed.saturating_sub(plan.runs).max(needed / 4));
        }
        self.compile_tree(vm, root, side, plan);
    }
    fn compile_tree(&self, vm: &mut Vm, root: TraceId, side: TraceId, plan: Plan) {
        let begun = now();
        let params = self.settings.options.get().params;
        let limit = (params.maxmcode as usize).saturating_mul(1024);
        let before = vm.begin_activity(Activity::Assembler);
        let compiled = {
            let registry = self.registry.borrow();
            let Some(e) = registry.get(root) else { return };
            let tree = registry.tree(root, e, &plan.members);
            self.machine.borrow_mut().compile_tree(vm, tree, self.is_watched(), limit)
        };
        vm.begin_activity(before);
        let took = now().saturating_sub(begun) + self.machine.borrow_mut().take_elsewhere();
        self.policy.borrow_mut().spend(took);
        match compiled {
            Ok(code) => self.enter_tree(root, TreeCode { code, members: plan.members }, took),
            Err(Refused::Full) => self.drop_traces(vm),
            // Asked again when the same runs are over again.
            Err(Refused::Interrupted) => self.registry.borrow_mut().start_countdown(side, params.hottree),
            Err(Refused::Abort(..)) => {
                let mut registry = self.registry.borrow_mut();
                plan.members.iter().for_each(|&n| registry.set_countdown(n, u64::MAX));
            }
        }
    }
    fn enter_tree(&self, root: TraceId, tree: TreeCode, took: Duration) {
        if log::on(Topic::Trace) {
            eprintln!(
                "[TRACE {root} is compiled with {} side traces, {} bytes, in {took:?}]",
                tree.members.len(),
                tree.code.size
            );
        }
        let new = tree.code.size;
        let old = self.registry.borrow_mut().set_tree(root, tree);
        self.count(|c| {
            c.trees += 1;
            c.compile_ns += took.as_nanos() as u64;
            c.mcode += new as u64;
        });
        if let Some(old) = old {
            self.free_tree(old, false);
        }
    }
    /// Frees the function of a tree, unless it waits for a builtin.
    pub(super) fn free_tree(&self, code: Code, waiting: bool) {
        if !waiting {
            self.machine.borrow_mut().free(code);
        }
        self.count(|c| c.mcode -= code.size as u64);
    }
}
