//! What the compiler knows about bytecode: one record for each prototype, which has one record for each position where traces start or that
//! a recording has followed. A record is removed when the collector frees its prototype ([`ProtoTable::remove`]), so that the table does
//! not grow with functions that are gone.

use super::cost::Size;
use super::number_fields::{Field, NumberProfile};
use super::replacement::Replacement;
use crate::trace::proto_traces::ProtoTraces;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::Trace;
use perilune_recorder::rec::{BranchSide, Site as Feedback};
use perilune_vm::TraceId;
use perilune_vm::bc::liveness::Liveness;
use perilune_vm::gc::Marker;
use perilune_vm::object::{BcPos, Gc, Proto};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The least penalty, in hot counts: LuaJIT's `PENALTY_MIN`.
const MIN_PENALTY: u32 = 36 * 2;
/// A position whose penalty would be so many times the first one is blacklisted: after ten failures, as in LuaJIT.
const MAX_PENALTY: u32 = 1 << 10;
/// Disabled traces after which a position is blacklisted. The last ones were 65,536 times as hot as the first: since each wait is four times
/// as long, all that were compiled in vain take a small part of the time.
const MAX_DISABLED: u32 = 8;

/// So often may a recording be aborted for another loop to be recorded first: as often as recordings may fail before their position is
/// blacklisted, since each costs as much. Loops that come to each other would wait for ever.
const MOST_WAITS: u32 = MAX_PENALTY.ilog2();

/// How often a trace that only returns is rejected from a function that recurses. If every other call recurses, one in a million such
/// functions gets no trace that recurses.
pub const RECURSION_RETRIES: u32 = 20;

/// What is known about one position. Hot counts are two for each iteration of a loop, one for each call.
#[derive(Clone, Debug, Default)]
pub struct BcRecord {
    /// What recordings found there.
    pub feedback: Feedback,
    /// Hot counts since the last recording began there.
    pub hot_count: u32,
    /// The size of the last recording from there that was too long or made a trace.
    pub size: Option<Size>,
    /// The next time that the hot counter underflows a recording begins, whatever the threshold.
    pub record_next: bool,
    /// The last recording began in this way: something else was hot enough for it, a loop around it or the trace that it replaces.
    pub recorded_at_once: bool,
    /// The hot counts that the last abort adds; 0 if there was none since the last trace.
    penalty: u32,
    /// How often a recording from there was aborted so that another loop is recorded first.
    waits: u32,
    /// The last recordings, two or more, were aborted because the loop ended while it was recorded; or it has few iterations each time.
    pub leaves_loop: bool,
    /// How often a root trace from there was recorded again because it followed a side of a branch that is rarely taken.
    pub usual_sides: u32,
    /// The next recording is such a one.
    pub replaces: Option<Replacement>,
    /// For a function that was found to recurse: how many more traces that only return are rejected.
    pub recursion_retries: u32,
    /// Number of traces from there that were disabled because they cost more time than they saved.
    pub disabled: u32,
    /// No trace starts there any more.
    pub blacklisted: bool,
    /// The root traces that start there, the newest one last. The older ones are no longer entered.
    pub roots: Vec<TraceId>,
}

impl BcRecord {
    /// Forgets aborts and disabled traces; feedback and traces stay.
    fn reset_penalty(&mut self) {
        *self = BcRecord { feedback: self.feedback, roots: core::mem::take(&mut self.roots), ..BcRecord::default() };
    }
}

/// What is known about a prototype.
#[derive(Debug, Default)]
struct ProtoRecord {
    /// By index of the instruction.
    positions: BTreeMap<u32, BcRecord>,
    /// Which slots are live where, if a recording has asked for it; the inner `None` means that the code cannot be analysed.
    liveness: Option<Option<Rc<Liveness>>>,
    /// Fields that were found to hold both integers and other numbers by loads of this prototype.
    number_fields: BTreeSet<Field>,
    /// The traces that live as long as the prototype.
    traces: ProtoTraces,
}

/// The records of all prototypes that live.
#[derive(Debug, Default)]
pub struct ProtoTable {
    protos: HashMap<*const Proto, ProtoRecord>,
    /// The number fields of all records together.
    pub(crate) number_profile: NumberProfile,
    /// Prototypes that got traces since [`ProtoTable::mark_new`] ran.
    new_owners: Vec<Gc<Proto>>,
    /// State of the generator of [`ProtoTable::random`].
    random: u32,
}

fn key(proto: Gc<Proto>) -> *const Proto {
    proto.as_ptr().cast_const()
}

impl ProtoTable {
    /// The record of a position, if there is one.
    pub fn get(&self, pos: BcPos) -> Option<&BcRecord> {
        self.protos.get(&key(pos.proto))?.positions.get(&pos.index)
    }
    /// The record of a position, made if there is none.
    pub fn at(&mut self, pos: BcPos) -> &mut BcRecord {
        self.protos.entry(key(pos.proto)).or_default().positions.entry(pos.index).or_default()
    }
    /// What recordings found at a position.
    pub fn feedback(&self, pos: BcPos) -> Feedback {
        self.get(pos).map(|r| r.feedback).unwrap_or_default()
    }
    /// The records in a prototype, by index of the instruction.
    pub fn of_proto(&mut self, proto: Gc<Proto>) -> impl Iterator<Item = (u32, &mut BcRecord)> {
        self.protos.get_mut(&key(proto)).into_iter().flat_map(|p| &mut p.positions).map(|(index, record)| (*index, record))
    }
    /// Which slots of a prototype are live where, if that has been analysed; the inner `None` means that the code cannot be analysed.
    pub fn liveness(&self, proto: Gc<Proto>) -> Option<Option<Rc<Liveness>>> {
        self.protos.get(&key(proto))?.liveness.clone()
    }
    /// Keeps the result of a liveness analysis.
    pub fn set_liveness(&mut self, proto: Gc<Proto>, liveness: Option<Rc<Liveness>>) {
        self.protos.entry(key(proto)).or_default().liveness = Some(liveness);
    }
    /// A prototype is being freed: its record goes.
    pub fn remove(&mut self, proto: Gc<Proto>) {
        if let Some(record) = self.protos.remove(&key(proto)) {
            self.number_profile.remove(&record.number_fields);
        }
        self.new_owners.retain(|p| *p != proto);
    }
    /// Loads of a prototype have found that fields hold both integers and other numbers.
    pub fn add_number_fields(&mut self, proto: Gc<Proto>, fields: Vec<Field>) {
        if self.number_profile.is_full() {
            self.number_profile.clear();
            self.protos.values_mut().for_each(|p| p.number_fields.clear());
        }
        let record = self.protos.entry(key(proto)).or_default();
        self.number_profile.add(&mut record.number_fields, fields);
    }
    /// Trace `n` lives as long as the first of `protos`, the prototypes whose code it is made from.
    pub fn add_trace(&mut self, n: TraceId, trace: &Trace, protos: &[Gc<Proto>]) {
        let Some(&owner) = protos.first() else { return };
        self.new_owners.push(owner);
        self.protos.entry(key(owner)).or_default().traces.add(n, trace, protos);
    }
    /// The traces that live as long as a prototype.
    pub fn traces(&self, owner: Gc<Proto>) -> Option<&ProtoTraces> {
        self.protos.get(&key(owner)).map(|p| &p.traces)
    }
    /// Removes the traces from a prototype's record; returns their numbers.
    pub fn take_traces(&mut self, owner: Gc<Proto>) -> Vec<TraceId> {
        self.new_owners.retain(|p| *p != owner);
        let record = self.protos.get_mut(&key(owner));
        record.map(|p| core::mem::take(&mut p.traces).numbers().to_vec()).unwrap_or_default()
    }
    /// Has the collector mark what the traces keep alive whose owners got traces since the last call: such an owner may have been marked
    /// before it had them.
    pub fn mark_new(&mut self, marker: &mut Marker) {
        for p in self.new_owners.drain(..) {
            if !p.hdr.is_white() {
                marker.mark_traces_of(p);
            }
        }
    }
    /// Marks what the traces of a prototype keep; it was just marked.
    pub fn mark_traces(&self, owner: Gc<Proto>, marker: &mut Marker) {
        if let Some(traces) = self.traces(owner) {
            traces.mark(marker);
        }
    }
    /// Notes that a root trace starts at a position. Returns the root traces that started there before.
    pub fn add_root(&mut self, pos: BcPos, root: TraceId) -> Vec<TraceId> {
        let record = self.at(pos);
        record.replaces = None;
        let before = record.roots.clone();
        record.roots.push(root);
        before
    }
    /// A root trace from a position is to be recorded again, so that it follows this side of a branch, at most `most` times. Whether it may be.
    pub fn record_again(&mut self, pos: BcPos, side: Option<BranchSide>, most: u32) -> bool {
        let record = self.at(pos);
        if record.usual_sides >= most || record.blacklisted {
            return false;
        }
        record.usual_sides += 1;
        (record.replaces, record.record_next) = (Some(Replacement::new(side)), true);
        true
    }
    /// A recording from a position was aborted: the root trace that it was to replace, if there is one.
    pub fn recorded_in_vain(&mut self, pos: BcPos) -> Option<TraceId> {
        let record = self.at(pos);
        record.replaces.take().and_then(|_| record.roots.last().copied())
    }
    /// A recording from a position begins. If it is to replace a trace: the side of a branch that it must follow, if that is known.
    pub fn side_to_follow(&mut self, pos: BcPos) -> Option<BranchSide> {
        self.at(pos).replaces.as_mut()?.begin()
    }
    /// A recording from a position was aborted. Is it to be repeated at once? If it was to replace a trace, not more than some times.
    pub fn is_repeated(&mut self, pos: BcPos, reason: Abort) -> bool {
        match self.at(pos).replaces {
            Some(replacement) => matches!(reason, Abort::Retry | Abort::LeavingLoop) && replacement.may_repeat(),
            None => reason == Abort::Retry,
        }
    }
    /// All traces are flushed: forgets where they started, and all aborts. Blacklisted positions stay so.
    pub fn flush(&mut self) {
        self.new_owners.clear();
        self.protos.values_mut().for_each(|p| p.traces = ProtoTraces::default());
        for record in self.protos.values_mut().flat_map(|p| p.positions.values_mut()) {
            let blacklisted = record.blacklisted;
            record.reset_penalty();
            record.blacklisted = blacklisted;
            record.roots.clear();
        }
    }
    /// Forgets the aborts in a prototype; blacklisted positions get another chance.
    pub fn reset_penalties(&mut self, proto: Gc<Proto>) {
        for (_, record) in self.of_proto(proto) {
            record.reset_penalty();
        }
    }
    /// A random number below 16, which LuaJIT also adds to penalties: without it, events that recur in the program at regular distances
    /// might always be met at the same position.
    pub fn random(&mut self) -> u32 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random >> 28
    }
    /// A recording was aborted at a loop without a trace, which is as hot as what was recorded: it is recorded the next time that it comes
    /// round. Not if it has had a trace, is unrolled, or was aborted more than once, with a penalty greater than `first`. Returns whether the
    /// next recording may find a trace there.
    pub fn record_loop_first(&mut self, pos: BcPos, first: u32) -> bool {
        let record = self.at(pos);
        let in_vain = record.penalty > first.max(MIN_PENALTY) || record.leaves_loop || record.blacklisted;
        if in_vain || record.record_next || !record.roots.is_empty() {
            return false;
        }
        record.record_next = true;
        true
    }
    /// A loop is to be unrolled into other traces, unless that has been tried. Returns the hot counts until it is recorded by itself.
    pub fn unroll_first(&mut self, pos: BcPos, wait: u32) -> Option<u32> {
        let record = self.at(pos);
        if record.leaves_loop || record.penalty != 0 || record.record_next || !record.roots.is_empty() {
            return None;
        }
        (record.leaves_loop, record.penalty, record.hot_count) = (true, wait, 0);
        Some(wait)
    }
    /// A recording that started at a position was aborted; `for_now` if it is for another loop to be recorded first. Returns the hot counts
    /// until the next recording, at least `first`; `None` when the position is blacklisted.
    pub fn penalize(&mut self, pos: BcPos, reason: Abort, first: u32, for_now: bool) -> Option<u32> {
        let random = self.random();
        let record = self.at(pos);
        let again = record.penalty != 0;
        let for_now = for_now && record.waits < MOST_WAITS;
        record.waits += u32::from(for_now);
        let first = first.max(MIN_PENALTY);
        let penalty = match record.penalty {
            0 => first,
            penalty if for_now => penalty,
            penalty => penalty.saturating_mul(2) + random,
        };
        record.penalty = penalty;
        record.hot_count = 0;
        record.leaves_loop = again && reason == Abort::LeavingLoop;
        if penalty > first.saturating_mul(MAX_PENALTY) {
            record.blacklisted = true;
            return None;
        }
        Some(penalty)
    }
    /// A trace from a position was disabled because it cost more time than it saved: the next one waits four times as long as `hot` counts.
    /// Returns true if the position is blacklisted from now on.
    pub fn note_disabled(&mut self, pos: BcPos, hot: u32) -> bool {
        let record = self.at(pos);
        record.disabled += 1;
        record.hot_count = 0;
        record.penalty = record.penalty.max(hot).saturating_mul(4);
        record.blacklisted = record.disabled > MAX_DISABLED;
        record.blacklisted
    }
    /// The hot counts that the last abort at a position adds; 0 if there was none.
    pub fn penalty(&self, pos: BcPos) -> u32 {
        self.get(pos).map_or(0, |r| r.penalty)
    }
}
