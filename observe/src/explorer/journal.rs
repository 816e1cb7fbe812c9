//! The watcher: notes what the compiler makes and gives up.

use super::answer::Moment;
use super::code::{self, Step};
use super::failure::{Failures, ValueNames};
use super::function::Functions;
use super::report::{Abort, Callee, Code, FailedGuard, Fate, Kind, Left, LeftOut, Link, Parent, Pass, Place, Trace};
use super::timeline::Clock;
use perilune_jit::stdlib::function_name;
use perilune_jit::trace::Entry;
use perilune_jit::view::watch::{self, Compiled, Start, Watcher};
use perilune_recorder::ir::{Link as End, SnapId};
use perilune_vm::gc::Phase;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::{TraceId, Value, Vm};
use std::collections::HashMap;

/// More traces are not noted.
const TRACES: usize = 50_000;
/// More places where recordings were aborted are not noted.
const ABORTS: usize = 20_000;
/// When the code of traces takes as many lines, that of further ones is left out.
const LINES: usize = 4_000_000;

/// A recording under way.
#[derive(Clone)]
struct Recording {
    number: TraceId,
    start: Option<Place>,
    parent: Option<Parent>,
    path: Vec<Step>,
}

/// What was noted.
#[derive(Clone, Default)]
pub struct Journal {
    /// The functions and their texts.
    pub functions: Functions,
    /// The traces, in the order of their ids.
    pub traces: Vec<Trace>,
    /// What they are made of.
    pub code: Vec<Option<Code>>,
    /// The aborted recordings.
    pub aborts: Vec<Abort>,
    /// What there was no room for.
    pub left_out: LeftOut,
    /// Times that everything was flushed.
    pub flushes: u32,
    recording: Option<Recording>,
    /// The traces that there are: ids by number.
    alive: HashMap<TraceId, u32>,
    known_aborts: HashMap<Abort, usize>,
    /// The guards that failed, by trace id and exit.
    failures: HashMap<(u32, usize), Vec<Failures>>,
    names: ValueNames,
    /// What happened when.
    pub clock: Clock,
    /// Collections up to the last event.
    collections: u64,
    lines: usize,
}

impl Journal {
    /// The id of a trace that there is.
    fn id(&self, number: TraceId) -> Option<u32> {
        self.alive.get(&number).copied()
    }
    fn trace(&mut self, number: TraceId) -> Option<&mut Trace> {
        let id = self.id(number)?;
        self.traces.get_mut(id as usize - 1)
    }
    fn place(&mut self, func: Value, pc: usize) -> Option<Place> {
        let proto = func.as_func()?.proto()?;
        Some(self.functions.place(proto, pc))
    }
    /// Notes how a trace has been used.
    pub fn update(&mut self, number: TraceId, entry: &Entry, entered: u64) {
        let used = entry.exits.iter().enumerate().filter(|(_, x)| x.taken != 0 || x.side.is_some());
        let id = self.id(number).unwrap_or(0);
        let left = used.map(|(exit, x)| Left {
            exit,
            taken: x.taken,
            to: x.side.and_then(|n| self.id(n)),
            guards: self.failed_at(id, exit),
        });
        let left = left.collect();
        let replaced_by = entry.replaced_by.and_then(|n| self.id(n));
        let Some(trace) = self.trace(number) else { return };
        trace.left = left;
        trace.replaced_by = replaced_by;
        trace.entries = entered;
        if trace.entered.is_some() {
            trace.entered = Some(entry.is_entered(number));
        }
    }
    /// The counts of now, with the collections since the last event.
    fn moment(&mut self, vm: &Vm) -> &mut Moment {
        let collections = vm.heap.counts().steps[Phase::Atomic as usize];
        let new = collections - core::mem::replace(&mut self.collections, collections);
        let moment = self.clock.now();
        moment.collections += new;
        moment
    }
    fn failed_at(&self, id: u32, exit: usize) -> Vec<FailedGuard> {
        let mut list: Vec<FailedGuard> = self.failures.get(&(id, exit)).into_iter().flatten().map(Failures::report).collect();
        list.sort_by(|a, b| b.failed.cmp(&a.failed).then_with(|| a.number.cmp(&b.number)));
        list
    }
    fn add(&mut self, t: &Compiled<'_>, recording: Recording) {
        let id = self.traces.len() as u32 + 1;
        let entry = t.entry;
        let microseconds = |d: core::time::Duration| d.as_nanos() as f64 / 1000.0;
        let kind = match recording.parent {
            None => Kind::Root,
            Some(Parent { exit: None, .. }) => Kind::Stitch,
            Some(_) => Kind::Side,
        };
        self.alive.insert(t.number, id);
        let link = match entry.trace.link {
            End::Root(n) => self.id(n),
            End::Loop | End::TailRec | End::UpRec | End::DownRec => Some(id),
            End::None | End::Interp | End::Return | End::Stitch => None,
        };
        let pass = |p: &perilune_recorder::opt::Pass| Pass { name: p.name, before: p.before, after: p.after };
        self.traces.push(Trace {
            id,
            number: t.number.get(),
            kind,
            parent: recording.parent,
            root: self.id(entry.root),
            link: Link { kind: entry.trace.link.name(), trace: link },
            stitch: t.stitch.and_then(|f| f.as_func()).map(|f| Callee { name: function_name(f), builtin: f.proto().is_none() }),
            start: recording.start,
            fate: Fate::Alive,
            entered: (kind != Kind::Side).then_some(true),
            disabled: false,
            replaced_by: None,
            entries: 0,
            instructions: entry.trace.executed(),
            mcode: entry.code.size,
            exits: entry.exits.len(),
            left: Vec::new(),
            passes: entry.cost.passes.iter().map(pass).collect(),
            record_us: microseconds(entry.cost.record),
            optimise_us: microseconds(entry.cost.optimise),
            lower_us: microseconds(entry.cost.lower),
        });
        let code = (self.lines < LINES).then(|| code::describe(t, &recording.path, &mut self.functions, &self.names));
        match &code {
            Some(c) => self.lines += c.bytecode.len() + c.asked.len() + c.emitted.len() + c.optimised.len() + c.machine.len(),
            None => self.left_out.code += 1,
        }
        self.code.push(code);
    }
}

impl Watcher for Journal {
    fn proto_made(&mut self, proto: Gc<Proto>) {
        self.functions.note(proto, &mut self.left_out);
        self.names.note(proto);
    }
    fn proto_freed(&mut self, proto: Gc<Proto>) {
        self.functions.forget(proto);
        self.names.forget(proto);
    }
    fn started(&mut self, start: &Start) {
        let parent = start.parent.map(|(number, exit)| Parent {
            number: number.get(),
            trace: self.id(number),
            exit: exit.map(SnapId::number),
        });
        let place = self.place(start.func, start.pc);
        self.recording = Some(Recording { number: start.number, start: place, parent, path: Vec::new() });
    }
    fn recorded(&mut self, func: Value, pc: Option<usize>, depth: usize) {
        let step = match (pc, func.as_func()) {
            (Some(pc), _) => self.place(func, pc).map(|place| Step::Ins(place, depth)),
            (None, Some(f)) => Some(Step::Builtin(function_name(f), depth)),
            (None, None) => None,
        };
        if let Some(r) = &mut self.recording {
            r.path.extend(step);
        }
    }
    fn compiled(&mut self, trace: &Compiled<'_>) {
        let Some(recording) = self.recording.take().filter(|r| r.number == trace.number) else { return };
        self.moment(trace.vm).compiled += 1;
        if self.traces.len() < TRACES {
            self.add(trace, recording);
        } else {
            self.left_out.traces += 1;
            self.alive.remove(&trace.number);
        }
    }
    fn aborted(&mut self, at: (Value, usize), reason: &str) {
        let recording = self.recording.take();
        self.clock.now().aborted += 1;
        let at = self.place(at.0, at.1);
        let (start, parent) = recording.map_or((None, None), |r| (r.start, r.parent));
        let abort = Abort { start, parent, at, reason: reason.to_owned(), count: 0 };
        if let Some(i) = self.known_aborts.get(&abort) {
            self.aborts[*i].count += 1;
        } else if self.aborts.len() < ABORTS {
            self.known_aborts.insert(abort.clone(), self.aborts.len());
            self.aborts.push(Abort { count: 1, ..abort });
        } else {
            self.left_out.aborts += 1;
        }
    }
    fn left(&mut self, vm: &Vm, failed: &watch::FailedGuard<'_>) {
        let Some(id) = self.id(failed.number) else { return };
        self.moment(vm).exits += 1;
        let list = self.failures.entry((id, failed.exit.index())).or_default();
        let i = list.iter().position(|f| f.index() == failed.guard).unwrap_or_else(|| {
            let guard = failed.entry.guard(failed.guard, &self.names.of_objects(vm));
            let place = guard.pos.map(|pos| self.functions.place(pos.proto, pos.pc()));
            list.push(Failures::new(guard, place));
            list.len() - 1
        });
        list[i].add(vm, &mut self.names, failed.witness);
    }
    fn disabled(&mut self, number: TraceId) {
        if let Some(t) = self.trace(number) {
            t.disabled = true;
        }
    }
    fn gone(&mut self, number: TraceId, entry: &Entry, entered: u64, why: watch::Fate) {
        self.update(number, entry, entered);
        if let Some(t) = self.trace(number) {
            t.fate = match why {
                watch::Fate::Flushed => Fate::Flushed,
                watch::Fate::Collected => Fate::Collected,
                watch::Fate::Invalidated => Fate::Invalidated,
            };
        }
    }
    fn flushed(&mut self) {
        self.flushes += 1;
        self.clock.now().flushes += 1;
        self.alive.clear();
    }
}
