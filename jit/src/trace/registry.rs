//! The finished traces, by number, and the tables by which the VM enters and leaves them.

use super::by_proto::TracesByProto;
use super::entry::{Cost, Entry, Exit, TraceStart};
use super::machine::{Code, Placed};
use super::shared_side::SidesByPc;
use super::tables::{self, MAX_EXITS, MAX_TRACES, Tables};
use super::tree::Runs;
use crate::exit::descriptor::ExitDescriptor;
use perilune_backend::code::Ranges;
use perilune_recorder::ir::{Link, Op, SnapId, Trace, TraceExit};
use perilune_recorder::rec::FinishedTrace;
use perilune_vm::bc::Ins;
use perilune_vm::gc::Marker;
use perilune_vm::hooks::PlainExit;
use perilune_vm::object::{BcPos, Gc, Proto, ProtoFlags};
use perilune_vm::{ExitId, TraceId};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

/// Does a trace of this tree go on in its root? (A plain loop is known by its snapshots, if it was copied behind itself.)
fn comes_back(link: Link, root: TraceId) -> bool {
    matches!(link, Link::UpRec | Link::DownRec | Link::TailRec) || link == Link::Root(root)
}

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
    /// Where it is entered, for a root trace.
    pub start: Option<TraceStart>,
    /// The traces with the same start.
    pub replaced: Vec<TraceId>,
    /// Its machine code and exits.
    pub placed: Placed,
    /// What making it took.
    pub cost: Cost,
    /// The parameter `hottree`.
    pub hottree: u32,
}

/// All traces.
#[derive(Debug)]
pub struct Registry {
    /// By number; 0 is never used.
    entries: Vec<Option<Entry>>,
    /// By exit id.
    descriptors: Vec<Option<ExitDescriptor>>,
    /// By exit id: what [`perilune_vm::Vm`] points to. See [`crate::plain_exits`].
    pub(crate) plain_exits: Vec<PlainExit>,
    /// Code by trace number and by exit id: what [`perilune_vm::Vm`] points to. Never reallocated.
    trace_code: Vec<usize>,
    /// Times entered by trace number; those of traces that are gone together.
    entered: Vec<u64>,
    entered_before: u64,
    /// By trace number, see `tree`.
    pub(super) side_countdown: Vec<i32>,
    /// Exits of traces that are gone, as far as they are not counted elsewhere.
    pub(crate) taken_before: u64,
    exit_table: Vec<usize>,
    /// The same with the exit stub for all of them, while samples are taken; or empty.
    leaving: Vec<usize>,
    /// Exit ids in use.
    exits: Ranges,
    by_proto: TracesByProto,
    /// Traces by the address of their code.
    codes: BTreeMap<usize, TraceId>,
    pub(crate) sides_by_pc: SidesByPc,
    /// Numbers below are taken.
    free_from: usize,
    alive: usize,
    /// How many traces and exits there were at most.
    most: (usize, usize),
}

impl Drop for Registry {
    fn drop(&mut self) {
        let [trace_code, exit_table] = [&mut self.trace_code, &mut self.exit_table].map(core::mem::take);
        let entered = core::mem::take(&mut self.entered);
        let side_countdown = core::mem::take(&mut self.side_countdown);
        tables::give(Tables { trace_code, entered, side_countdown, exit_table }, self.most.0, self.most.1);
    }
}

impl Default for Registry {
    fn default() -> Registry {
        let Tables { trace_code, entered, side_countdown, exit_table } = tables::take();
        Registry {
            entries: vec![None],
            descriptors: Vec::new(),
            plain_exits: Vec::new(),
            trace_code,
            entered,
            entered_before: 0,
            side_countdown,
            taken_before: 0,
            exit_table,
            leaving: Vec::new(),
            exits: Ranges::new(MAX_EXITS),
            by_proto: TracesByProto::default(),
            codes: BTreeMap::new(),
            sides_by_pc: SidesByPc::default(),
            free_from: 1,
            alive: 0,
            most: (0, 0),
        }
    }
}

impl Registry {
    /// Points a VM to the tables.
    pub fn connect(&mut self, vm: &mut perilune_vm::Vm) {
        vm.compiled.trace_code = self.trace_code.as_mut_ptr();
        vm.compiled.trace_entered = self.entered.as_mut_ptr();
        vm.compiled.side_countdown = self.side_countdown.as_mut_ptr();
        vm.compiled.exits_linked = self.exit_table.as_mut_ptr();
        vm.compiled.exit_table = vm.compiled.exits_linked;
    }
    /// Provides the table by which compiled code leaves at any exit, for samples.
    pub fn provide_leaving(&mut self, vm: &mut perilune_vm::Vm, stub: usize) {
        if self.leaving.is_empty() {
            self.leaving = vec![0; MAX_EXITS];
            self.leaving[..self.descriptors.len()].fill(stub);
            vm.compiled.exits_leaving = self.leaving.as_mut_ptr();
        }
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
        self.entered_before + self.entered[..self.entries.len()].iter().sum::<u64>()
    }
    /// The same of trace `n`.
    pub fn entries_of(&self, n: TraceId) -> u64 {
        self.entered.get(n.index()).copied().unwrap_or(0)
    }
    /// The first of `n` ids for the exits of a new trace, of which nobody is the owner yet.
    pub fn free_exits(&self, n: usize) -> Option<ExitId> {
        self.exits.find(n).map(|id| ExitId::new(id as u32))
    }
    /// Adds a trace under a number from [`Registry::free_number`], with exits from [`Registry::free_exits`]. Its exits lead to
    /// `stub`.
    pub fn insert(&mut self, new: NewTrace, stub: usize) {
        let NewTrace { id: n, done, start, replaced, placed: (code, map, exit_base), cost, hottree } = new;
        let ids = exit_base.index()..exit_base.index() + done.trace.snaps.len();
        self.exits.take(ids.start, ids.len());
        self.most = (self.most.0.max(n.index() + 1), self.most.1.max(ids.end));
        self.exit_table[ids.clone()].fill(stub);
        if let Some(leaving) = self.leaving.get_mut(ids.clone()) {
            leaving.fill(stub);
        }
        if self.descriptors.len() < ids.end {
            self.descriptors.resize(ids.end, None);
            self.plain_exits.resize(ids.end, PlainExit::NONE);
        }
        self.trace_code[n.index()] = code.0;
        self.codes.insert(code.0, n);
        for old in replaced {
            self.replace(old, n, code.0);
        }
        if let Some(parent) = done.trace.parent
            && let Some(e) = self.get(parent.trace)
        {
            let pc = e.trace.snap(parent.exit).pc;
            self.link_exit(parent, n, code.0);
            // A variant begins elsewhere.
            if parent.exit != SnapId::FIRST && done.start_pc.expose_provenance() as u64 == pc {
                self.sides_by_pc.add(done.start_pc, n);
            }
            if let Some(root) = self.get_mut(done.root) {
                root.sides += 1;
                root.goes_round |= comes_back(done.trace.link, done.root);
            }
        }
        if self.entries.len() <= n.index() {
            self.entries.resize_with(n.index() + 1, || None);
        }
        let parent = done.trace.parent.and_then(|p| Some((self.get(p.trace)?, p.exit)));
        let above = parent.map_or(0, |(p, k)| p.above + u32::from(p.trace.snap(k).done));
        let head = done.trace.ins.iter().position(|i| i.op == Op::LOOP).unwrap_or(usize::MAX);
        let loop_snap = done.trace.snaps.iter().filter(|s| s.at.ins_index() <= head).count() as u32;
        let goes_round = done.trace.restarts() || comes_back(done.trace.link, done.root);
        let exits = vec![Exit::default(); done.trace.snaps.len()];
        let mut protos = done.protos;
        if let Some(root) = self.get(done.root).map(Entry::owner) {
            protos.retain(|p| *p != root);
            protos.insert(0, root);
        }
        protos[0].flags.set(protos[0].flags.get() | ProtoFlags::TRACED);
        self.by_proto.add(n, &done.trace, &protos);
        let entry = Entry {
            above,
            loop_snap,
            goes_round,
            saved: 0,
            root: done.root,
            replaced_by: None,
            returns: done.trace.ins.iter().any(|i| i.op == Op::RETF),
            trace: Rc::new(done.trace),
            start,
            stitch: None,
            protos,
            exit_base,
            exits,
            sides: 0,
            code,
            map,
            tree: None,
            runs: Runs::default(),
            cost,
        };
        for (k, id) in ids.enumerate() {
            self.descriptors[id] = Some(ExitDescriptor::new(n, &entry, SnapId::new(k)));
        }
        self.entries[n.index()] = Some(entry);
        self.alive += 1;
        self.start_countdown(n, hottree);
    }
    /// An exit leads to a side trace, whose code is at an address.
    pub(crate) fn link_exit(&mut self, parent: TraceExit, side: TraceId, code: usize) {
        let Some(e) = self.get_mut(parent.trace) else { return };
        let exit = &mut e.exits[parent.exit.index()];
        (exit.side, exit.hot_count) = (Some(side), Exit::DONE);
        let id = e.exit_base.exit(parent.exit.number());
        self.exit_table[id.index()] = code;
    }
    /// Removes the traces that end with a function; numbers and places of code of those that there were. Nothing leads to them any
    /// more: what a trace is linked to starts in a function that the trace keeps.
    pub fn remove_traces(&mut self, proto: Gc<Proto>) -> Vec<Freed> {
        let numbers = self.by_proto.remove(proto);
        if numbers.is_empty() {
            return Vec::new();
        }
        self.take_out(&numbers)
    }
    /// Takes traces out that nothing leads to.
    fn take_out(&mut self, numbers: &[TraceId]) -> Vec<Freed> {
        let mut freed = Vec::with_capacity(numbers.len());
        for &n in numbers {
            if let Some(root) = self.get(n).map(|e| e.root)
                && self.get(root).is_some_and(|r| r.tree.as_ref().is_some_and(|t| root == n || t.members.contains(&n)))
            {
                freed.extend(self.drop_tree(root).map(|code| Freed { trace: None, code }));
            }
            let Some(e) = self.entries[n.index()].take() else { continue };
            let ids = e.exit_base.index()..e.exit_base.index() + e.exits.len();
            self.exits.give(ids.start, ids.len());
            self.exit_table[ids.clone()].fill(0);
            self.forget_plain_exits(ids.clone());
            self.descriptors[ids].fill(None);
            self.trace_code[n.index()] = 0;
            self.codes.remove(&e.code.0);
            self.entered_before += core::mem::take(&mut self.entered[n.index()]);
            self.alive -= 1;
            self.free_from = self.free_from.min(n.index());
            freed.push(Freed { trace: Some(n), code: e.code });
        }
        self.sides_by_pc.remove(&freed.iter().filter_map(|f| f.trace).collect());
        freed
    }
    /// Side traces of a function's traces that lead through functions which are not marked, and those behind them.
    pub fn unreachable_sides(&self, owner: Gc<Proto>) -> HashSet<TraceId> {
        let mut found = HashSet::new();
        if !self.by_proto.lead_through_unmarked(owner) {
            return found;
        }
        for &n in self.by_proto.of(owner) {
            if let Some(e) = self.get(n)
                && let Some(parent) = e.trace.parent
                && (found.contains(&parent.trace) || e.protos.iter().any(|p| *p != owner && p.hdr.is_white()))
            {
                found.insert(n);
            }
        }
        found
    }
    /// Removes side traces of a function's traces, with all that are behind them. The exits that lead there lead to `stub` again.
    pub fn remove_sides(&mut self, owner: Gc<Proto>, sides: &HashSet<TraceId>, stub: usize) -> Vec<Freed> {
        let (gone, left): (Vec<TraceId>, Vec<TraceId>) = self.by_proto.of(owner).iter().partition(|n| sides.contains(n));
        for n in &gone {
            if let Some(root) = self.get(*n).map(|e| e.root)
                && let Some(root) = self.get_mut(root)
            {
                root.sides -= 1;
            }
        }
        let freed = self.take_out(&gone);
        self.by_proto.remove(owner);
        for n in left {
            let Some(e) = self.entries[n.index()].as_mut() else { continue };
            self.by_proto.add(n, &e.trace, &e.protos);
            for (k, x) in e.exits.iter_mut().enumerate().filter(|(_, x)| x.side.is_some_and(|s| sides.contains(&s))) {
                (x.side, x.hot_count) = (None, 0);
                self.exit_table[e.exit_base.index() + k] = stub;
            }
        }
        freed
    }
    /// Makes the STITCH at an address enter trace `n`.
    pub fn stitch(&mut self, n: TraceId, proto: Gc<Proto>, stitch: *const Ins) {
        if let Some(pad) = proto.pad_at(stitch)
            && let Some(e) = self.get_mut(n)
        {
            e.stitch = Some((proto, stitch));
            pad.set_trace(Some(n));
        }
    }
    /// Traces linked to a root trace that is no longer entered continue in the new one with the same start.
    fn replace(&mut self, old: TraceId, new: TraceId, code: usize) {
        if let Some(e) = self.get_mut(old) {
            e.replaced_by = Some(new);
            self.trace_code[old.index()] = code;
        }
    }
    /// Root trace `n`, and those that it has replaced, are entered at an address.
    pub(super) fn enter_at(&mut self, n: TraceId, code: usize) {
        self.trace_code[n.index()] = code;
        for (old, e) in self.entries.iter().enumerate() {
            if e.as_ref().is_some_and(|e| e.replaced_by == Some(n)) {
                self.trace_code[old] = code;
            }
        }
    }
    /// All traces with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (TraceId, &Entry)> {
        self.entries.iter().enumerate().filter_map(|(n, e)| Some((TraceId::new(n as u32)?, e.as_ref()?)))
    }
    /// Trace `n`.
    pub fn get(&self, n: TraceId) -> Option<&Entry> {
        self.entries.get(n.index())?.as_ref()
    }
    /// The trace whose code has an address.
    pub fn at_code(&self, address: usize) -> Option<(TraceId, &Entry)> {
        let (_, &n) = self.codes.range(..=address).next_back()?;
        let e = self.get(n)?;
        (address < e.code.0 + e.code.1).then_some((n, e))
    }
    /// Is `trace` (still) trace `n`?
    pub fn has(&self, n: TraceId, trace: &Rc<Trace>) -> bool {
        self.get(n).is_some_and(|e| Rc::ptr_eq(&e.trace, trace))
    }
    /// Trace `n`.
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
    /// The ids of all exits, some of which may not be in use.
    pub fn exit_ids(&self) -> impl Iterator<Item = ExitId> + use<> {
        (0..self.descriptors.len() as u32).map(ExitId::new)
    }
    /// What is known of an exit, to be changed.
    pub fn descriptor_mut(&mut self, id: ExitId) -> Option<&mut ExitDescriptor> {
        self.descriptors.get_mut(id.index())?.as_mut()
    }
    /// What is known of an exit.
    pub fn descriptor(&self, id: ExitId) -> Option<&ExitDescriptor> {
        self.descriptors.get(id.index())?.as_ref()
    }
    /// Takes the start instructions of root traces back, of all or of those that `which` names. The traces stay: others may be
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
    /// The same; the place that it starts at, if that is not behind a call.
    pub fn disarm_root(&self, n: TraceId) -> Option<BcPos> {
        self.disarm_one(n);
        Some(self.get(n)?.start?.pos)
    }
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.disarm(|_, _| true);
        self.entered_before = self.entered();
        self.entered[..self.entries.len()].fill(0);
        self.entries.truncate(1);
        self.forget_plain_exits(0..self.descriptors.len());
        self.descriptors.clear();
        self.plain_exits.clear();
        self.exits.clear();
        self.by_proto.clear();
        self.codes.clear();
        self.sides_by_pc.clear();
        self.free_from = 1;
        self.alive = 0;
    }
    /// Marks what traces made since the last time keep, if their function is marked.
    pub fn mark(&self, marker: &mut Marker) {
        self.by_proto.mark_new(marker);
    }
    /// Marks what the traces of a function refer to.
    pub fn mark_traces(&self, proto: Gc<Proto>, marker: &mut Marker) {
        self.by_proto.mark(proto, marker);
    }
    /// The instruction that `patched`, which enters a root trace, has replaced.
    pub fn original_ins(&self, patched: Ins) -> Ins {
        let start = patched.trace().and_then(|n| self.get(n)?.start);
        start.map_or(Ins::ad(perilune_vm::bc::Op::JMP, 0, 0x8000), |s| s.original)
    }
}
