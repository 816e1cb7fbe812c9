//! The finished traces, by number, and the tables by which the VM enters and leaves them.

use super::code::{Code, Placed};
use super::entry::{Account, Cost, Entry, Exit, Runs, TraceStart};
use super::shared_side::SidesByPc;
use super::tables::{self, MAX_TRACES, Tables};
use crate::exit::descriptor::ExitDescriptor;
use crate::exit::table::ExitTable;
use crate::policy::proto_table::ProtoTable;
use perilune_recorder::ir::{Link, Op, SnapId, Trace, TraceExit};
use perilune_recorder::rec::FinishedTrace;
use perilune_vm::TraceId;
use perilune_vm::bc::Ins;
use perilune_vm::object::{BcPos, Gc, Proto, ProtoFlags};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// A trace that is gone, or a tree that lost a member, whose code can be freed.
pub struct Freed {
    /// The trace, for its own code.
    pub trace: Option<TraceId>,
    /// The code.
    pub code: Code,
}

/// A trace that was compiled and is about to be entered into the registry.
pub struct NewTrace {
    /// Its number.
    pub id: TraceId,
    /// The recording.
    pub done: FinishedTrace,
    /// Where it starts, for a root trace.
    pub start: Option<TraceStart>,
    /// The traces with the same start.
    pub replaced: Vec<TraceId>,
    /// Its machine code and exits.
    pub placed: Placed,
    /// What making it took.
    pub cost: Cost,
}

/// All traces.
#[derive(Debug)]
pub struct Registry {
    /// By number; 0 is never used.
    entries: Vec<Option<Entry>>,
    /// Traces by the address of their code.
    by_code: BTreeMap<usize, TraceId>,
    /// All numbers below are taken.
    free_from: usize,
    /// Number of traces.
    alive: usize,
    /// Code and times entered by number: what compiled code and the interpreter read and count.
    pub(super) running: RunningTables,
    /// The exits of all traces.
    pub(crate) exits: ExitTable,
    /// Side traces by the position that they start at.
    pub(crate) sides_by_pc: SidesByPc,
}

/// The tables by trace number that [`perilune_vm::state::CompiledState`] points to. Never reallocated.
#[derive(Debug)]
pub(super) struct RunningTables {
    /// Address of the code.
    code: Vec<usize>,
    /// Times entered from the interpreter.
    entered: Vec<u64>,
    /// Runs left of side traces, see `tree`.
    pub(super) side_countdown: Vec<i32>,
    /// Times that removed traces were entered, all together.
    entered_before: u64,
    /// One more than the highest number that was ever used.
    most: usize,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let trace_code = core::mem::take(&mut self.running.code);
        let entered = core::mem::take(&mut self.running.entered);
        let side_countdown = core::mem::take(&mut self.running.side_countdown);
        let exit_table = self.exits.take_code();
        tables::keep(Tables { trace_code, entered, side_countdown, exit_table }, self.running.most, self.exits.most);
    }
}

impl Default for Registry {
    fn default() -> Registry {
        let Tables { trace_code, entered, side_countdown, exit_table } = tables::take();
        Registry {
            entries: vec![None],
            by_code: BTreeMap::new(),
            free_from: 1,
            alive: 0,
            running: RunningTables { code: trace_code, entered, side_countdown, entered_before: 0, most: 0 },
            exits: ExitTable::new(exit_table),
            sides_by_pc: SidesByPc::default(),
        }
    }
}

impl Registry {
    /// Points a VM to the tables.
    pub fn connect(&mut self, vm: &mut perilune_vm::Vm) {
        vm.compiled.trace_code = self.running.code.as_mut_ptr();
        vm.compiled.trace_entered = self.running.entered.as_mut_ptr();
        vm.compiled.side_countdown = self.running.side_countdown.as_mut_ptr();
        self.exits.connect(vm);
    }
    /// A number for a new trace, the lowest that is free; `None` when `max` traces live.
    pub fn free_number(&mut self, max: u32) -> Option<TraceId> {
        let max = (max as usize).min(MAX_TRACES - 1);
        if self.alive >= max {
            return None;
        }
        let free = (self.free_from..self.entries.len()).find(|&i| self.entries[i].is_none());
        self.free_from = free.unwrap_or(self.entries.len());
        TraceId::new(self.free_from as u32)
    }
    /// Number of traces.
    pub fn alive(&self) -> usize {
        self.alive
    }
    /// Times that traces were entered from the interpreter.
    pub fn entered(&self) -> u64 {
        self.running.entered_before + self.running.entered[..self.entries.len()].iter().sum::<u64>()
    }
    /// The same of trace `n`.
    pub fn entries_of(&self, n: TraceId) -> u64 {
        self.running.entered.get(n.index()).copied().unwrap_or(0)
    }
    /// Adds a trace under a number from [`Registry::free_number`], with exits from `ExitTable::free`. Its exits lead to
    /// `stub`.
    pub fn insert(&mut self, table: &mut ProtoTable, new: NewTrace, stub: usize) {
        let NewTrace { id: n, done, start, replaced, placed, cost } = new;
        let Placed { code, map, first_exit: exit_base } = placed;
        self.running.most = self.running.most.max(n.index() + 1);
        self.running.code[n.index()] = code.address;
        self.by_code.insert(code.address, n);
        for old in replaced {
            self.replace(old, n, code.address);
        }
        if let Some(parent) = done.trace.parent
            && let Some(e) = self.get(parent.trace)
        {
            let pc = e.trace.snap(parent.exit).pc;
            self.link_exit(parent, n, code.address);
            // A trace that starts over does not start at the exit.
            if parent.exit != SnapId::FIRST && done.start_pc.addr() == pc {
                self.sides_by_pc.add(pc, n);
            }
            let comes_back = self.comes_back(done.trace.link, done.root);
            if let Some(root) = self.get_mut(done.root) {
                root.sides += 1;
                root.account.goes_round |= comes_back;
                root.account.instructions[usize::from(done.stale)] += done.trace.ins.len() as u32;
            }
        }
        if self.entries.len() <= n.index() {
            self.entries.resize_with(n.index() + 1, || None);
        }
        let parent = done.trace.parent.and_then(|p| Some((self.get(p.trace)?, p.exit)));
        let above = parent.map_or(0, |(p, k)| p.account.above + u32::from(p.trace.snap(k).done));
        let head = done.trace.ins.iter().position(|i| i.op == Op::LOOP).unwrap_or(usize::MAX);
        let loop_snap = SnapId::new(done.trace.snaps.iter().filter(|s| s.at.ins_index() <= head).count());
        let goes_round = done.trace.restarts() || self.comes_back(done.trace.link, done.root);
        let is_root = done.root == n;
        let exits = vec![Exit::default(); done.trace.snaps.len()];
        let mut protos = done.protos;
        if let Some(root) = self.get(done.root).map(Entry::owner) {
            protos.retain(|p| *p != root);
            protos.insert(0, root);
        }
        protos[0].flags.set(protos[0].flags.get() | ProtoFlags::TRACED);
        table.add_trace(n, &done.trace, &protos);
        let entry = Entry {
            account: Account { above, loop_snap, goes_round, saved: 0, instructions: [done.trace.ins.len() as u32, 0] },
            root: done.root,
            replaced_by: None,
            returns: done.trace.ins.iter().any(|i| i.op == Op::RETF),
            trace: Rc::new(done.trace),
            start,
            stitch: None,
            protos,
            watched: done.watched.into(),
            path: done.path,
            is_invalid: false,
            is_unlinked: false,
            is_variant: done.from_start && !is_root,
            exit_base,
            exits,
            sides: 0,
            code,
            map,
            tree: None,
            runs: Runs::default(),
            cost,
        };
        let descriptors = (0..entry.exits.len()).map(|k| ExitDescriptor::new(n, &entry, SnapId::new(k)));
        self.exits.insert(exit_base, descriptors, stub);
        self.entries[n.index()] = Some(entry);
        self.alive += 1;
    }
    /// An exit leads to a side trace, whose code is at an address.
    pub(crate) fn link_exit(&mut self, parent: TraceExit, side: TraceId, code: usize) {
        let Some(e) = self.get_mut(parent.trace) else { return };
        let exit = &mut e.exits[parent.exit.index()];
        (exit.side, exit.hot_count, exit.replaces) = (Some(side), Exit::DONE, None);
        let id = e.exit_base.exit(parent.exit.number());
        self.exits.link(id, code);
    }
    /// Removes traces that no other trace and no instruction leads to; what can be freed.
    pub fn remove(&mut self, numbers: &[TraceId]) -> Vec<Freed> {
        let mut freed = Vec::with_capacity(numbers.len());
        for &n in numbers {
            if let Some(root) = self.get(n).map(|e| e.root)
                && self.get(root).is_some_and(|r| r.tree.as_ref().is_some_and(|t| root == n || t.members.contains(&n)))
            {
                freed.extend(self.drop_tree(root).map(|code| Freed { trace: None, code }));
            }
            let Some(e) = self.entries[n.index()].take() else { continue };
            self.exits.remove(e.exit_base.index()..e.exit_base.index() + e.exits.len());
            self.running.code[n.index()] = 0;
            self.by_code.remove(&e.code.address);
            self.running.entered_before += core::mem::take(&mut self.running.entered[n.index()]);
            self.alive -= 1;
            self.free_from = self.free_from.min(n.index());
            freed.push(Freed { trace: Some(n), code: e.code });
        }
        self.sides_by_pc.remove(&freed.iter().filter_map(|f| f.trace).collect());
        freed
    }
    /// Side traces of an owner that lead through prototypes which are not marked, and the side traces of those.
    pub fn unreachable_sides(&self, table: &ProtoTable, owner: Gc<Proto>) -> HashSet<TraceId> {
        let mut found = HashSet::new();
        let Some(traces) = table.traces(owner).filter(|t| t.lead_through_unmarked()) else { return found };
        for &n in traces.numbers() {
            if let Some(e) = self.get(n)
                && let Some(parent) = e.trace.parent
                && (found.contains(&parent.trace) || e.protos.iter().any(|p| *p != owner && p.hdr.is_white()))
            {
                found.insert(n);
            }
        }
        found
    }
    /// Removes side traces of an owner, with all their side traces. The exits that lead there lead to `stub` again.
    pub fn remove_sides(
        &mut self,
        table: &mut ProtoTable,
        owner: Gc<Proto>,
        sides: &HashSet<TraceId>,
        stub: usize,
    ) -> Vec<Freed> {
        let (gone, kept): (Vec<TraceId>, Vec<TraceId>) = table.take_traces(owner).into_iter().partition(|n| sides.contains(n));
        for n in &gone {
            self.uncount_side(*n);
        }
        let freed = self.remove(&gone);
        for n in kept {
            let Some(e) = self.entries[n.index()].as_mut() else { continue };
            table.add_trace(n, &e.trace, &e.protos);
            for (k, x) in e.exits.iter_mut().enumerate().filter(|(_, x)| x.side.is_some_and(|s| sides.contains(&s))) {
                (x.side, x.hot_count) = (None, 0);
                self.exits.link(e.exit_base.exit(k as u32), stub);
            }
        }
        freed
    }
    /// Makes the stitch stub of a call enter trace `n`.
    pub fn stitch(&mut self, n: TraceId, call: BcPos) {
        if let Some(stub) = call.stitch_stub()
            && let Some(e) = self.get_mut(n)
        {
            e.stitch = Some(call);
            stub.set_trace(Some(n));
        }
    }
    /// Traces linked to a root trace that is no longer entered continue in the new one with the same start.
    pub(super) fn replace(&mut self, old: TraceId, new: TraceId, code: usize) {
        if let Some(e) = self.get_mut(old) {
            e.replaced_by = Some(new);
            self.running.code[old.index()] = code;
        }
    }
    /// The address at which trace `n` is entered.
    pub(super) fn code_entered(&self, n: TraceId) -> usize {
        self.running.code[n.index()]
    }
    /// Root trace `n`, and those that it has replaced, are entered at an address.
    pub(super) fn enter_at(&mut self, n: TraceId, code: usize) {
        self.running.code[n.index()] = code;
        for (old, e) in self.entries.iter().enumerate() {
            if e.as_ref().is_some_and(|e| e.replaced_by == Some(n)) {
                self.running.code[old] = code;
            }
        }
    }
    /// Does a trace of the tree of `root` continue in its root or in a variant? (A plain loop that was unrolled is known by its snapshots.)
    fn comes_back(&self, link: Link, root: TraceId) -> bool {
        match link {
            Link::UpRec | Link::DownRec | Link::TailRec => true,
            Link::Root(n) => n == root || self.get(n).is_some_and(|e| e.root == root),
            _ => false,
        }
    }
    /// All traces that are valid, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TraceId, &Entry)> {
        let all = self.entries.iter().enumerate().filter_map(|(n, e)| Some((TraceId::new(n as u32)?, e.as_ref()?)));
        all.filter(|(_, e)| !e.is_invalid)
    }
    /// All traces, to be changed, and the exits.
    pub(super) fn entries_and_exits(&mut self) -> (impl Iterator<Item = &mut Entry>, &mut ExitTable) {
        (self.entries.iter_mut().flatten(), &mut self.exits)
    }
    /// The trace of a number.
    pub fn get(&self, n: TraceId) -> Option<&Entry> {
        self.entries.get(n.index())?.as_ref()
    }
    /// The trace whose code contains an address.
    pub fn at_code(&self, address: usize) -> Option<(TraceId, &Entry)> {
        let (_, &n) = self.by_code.range(..=address).next_back()?;
        let e = self.get(n)?;
        e.code.contains(address).then_some((n, e))
    }
    /// Is `trace` (still) trace `n`?
    pub fn has(&self, n: TraceId, trace: &Rc<Trace>) -> bool {
        self.get(n).is_some_and(|e| Rc::ptr_eq(&e.trace, trace))
    }
    /// The trace of a number, to be changed.
    pub fn get_mut(&mut self, n: TraceId) -> Option<&mut Entry> {
        self.entries.get_mut(n.index())?.as_mut()
    }
    /// The counters of an exit, and its side trace.
    pub fn exit(&self, exit: TraceExit) -> Option<&Exit> {
        self.get(exit.trace)?.exits.get(exit.exit.index())
    }
    /// The same, to be changed.
    pub fn exit_mut(&mut self, exit: TraceExit) -> Option<&mut Exit> {
        self.get_mut(exit.trace)?.exits.get_mut(exit.exit.index())
    }
    /// Restores the start instructions of root traces: of all, or of those that `which` selects. The traces stay, because others may be
    /// linked to them.
    pub fn disarm(&self, which: impl Fn(TraceId, &Entry) -> bool) {
        for (n, e) in self.iter() {
            if which(n, e) {
                e.disarm(n);
            }
        }
    }
    /// The same for root trace `n`, if there is one.
    pub fn disarm_one(&self, n: TraceId) {
        if let Some(e) = self.get(n) {
            e.disarm(n);
        }
    }
    /// The same; returns its start, if that is not after a call.
    pub fn disarm_root(&self, n: TraceId) -> Option<BcPos> {
        self.disarm_one(n);
        Some(self.get(n)?.start?.pos)
    }
    /// Removes all traces.
    pub fn clear(&mut self) {
        self.disarm(|_, _| true);
        self.running.entered_before = self.entered();
        self.running.entered[..self.entries.len()].fill(0);
        self.entries.truncate(1);
        self.exits.clear();
        self.by_code.clear();
        self.sides_by_pc.clear();
        self.free_from = 1;
        self.alive = 0;
    }
    /// The instruction that `patched`, which enters a root trace, has replaced.
    pub fn original_ins(&self, patched: Ins) -> Ins {
        let start = patched.trace().and_then(|n| self.get(n)?.start);
        start.map_or(Ins::ad(perilune_vm::bc::Op::JMP, 0, 0x8000), |s| s.original)
    }
}
