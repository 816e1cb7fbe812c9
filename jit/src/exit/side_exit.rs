//! Side exits: back to the interpreter, and the start of side traces where they are hot.

use crate::Jit;
use crate::exit::descriptor::ExitFacts;
use crate::frame;
use crate::policy::cost;
use crate::trace::{Exit, Registry, TraceStart};
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use perilune_recorder::ir::{Snapshot, Trace, TraceExit};
use perilune_vm::hooks::Resume;
use perilune_vm::{ExitId, TraceId, Value, Vm};
use std::rc::Rc;

/// Attempts at a side trace, each when the exit is twice as hot as before: what stood in the way of one may be gone at the next.
const MOST_TRIES: u32 = 20;

/// An exit that was taken, where more is to be done than to go on.
struct ExitWork {
    /// Are handlers of `texit` to be told? Not of the end of a trace, where no guard failed.
    tell: bool,
    /// Is the collector to run?
    collect: bool,
    /// The trace, if a side trace is to begin here.
    hot: Option<Rc<Trace>>,
}

/// What an exit changes the balance of a root trace by.
pub(super) struct Charge {
    pub root: TraceId,
    pub gain: i64,
}

impl Registry {
    /// The root trace whose balance an exit changes, and by how much; `None` if it changes none.
    #[inline]
    pub(super) fn charge(&self, vm: &Vm, facts: &ExitFacts) -> Option<Charge> {
        let &ExitFacts { exit, root, gain, is_end, .. } = facts;
        let is_final = || is_end || self.exit(exit).is_some_and(|x| x.heat == Exit::DONE || x.tries > 0);
        if gain < 0 && !is_final() {
            return None;
        }
        if self.get(root)?.goes_round {
            return None;
        }
        let (entered, before) = match TraceId::new(vm.jit_trace).and_then(|n| self.get(n)) {
            Some(e) if e.root != root => (e.root, e.length()),
            _ => (root, 0),
        };
        (!self.get(entered)?.goes_round).then_some(Charge { root: entered, gain: before + gain })
    }
}

impl Jit {
    /// Compiled code was left by exit `id`; `may_record` says whether a side trace may start.
    pub(crate) fn take_exit(&self, vm: &mut Vm, id: ExitId, may_record: bool) -> Resume {
        let collect = vm.heap.collects_after_exit();
        let mut registry = self.registry.borrow_mut();
        // Exits that are taken for the collector or for a sample must not become hot: a side trace would leave at once for the same
        // reason. While a sample waits any exit may be one of them, so that none is counted.
        let for_sample = vm.sample_waits();
        let uncounted = for_sample || vm.heap.must_leave_code();
        let times = if uncounted { 0 } else { 1 + registry.settle_plain_exit(id) };
        let Some(descriptor) = registry.descriptor(id) else {
            debug_assert!(false, "an exit that no trace has");
            return Resume::at(core::ptr::null(), 0);
        };
        let facts = descriptor.facts;
        frame::box_slots(vm, &descriptor.unboxed);
        let multres = if facts.multres == Snapshot::OPEN { vm.multres } else { facts.multres };
        let resume = Resume::at(facts.pc, multres);
        if facts.stack != 0 && frame::lacks_stack(vm, facts.stack) {
            drop(registry);
            return self.make_room(vm, &facts, resume);
        }
        let may_record = may_record && !vm.heap.is_full();
        let hot = if uncounted { None } else { self.heat(vm, &mut registry, &facts, may_record, times) };
        let loses = if uncounted { None } else { self.balance(vm, &mut registry, &facts, times) };
        let tell = !facts.is_end && !for_sample && self.listens(vm, Event::Texit);
        let attended = loses.is_some() || tell || hot.is_some() || collect || log::on(Topic::Exit);
        if !attended {
            self.allow_plain_exit(vm, &mut registry, id);
        }
        drop(registry);
        if attended {
            if let Some(entered) = loses {
                self.give_up_root(entered);
            }
            return self.attend(vm, &facts, ExitWork { tell, collect, hot }, resume);
        }
        resume
    }
    /// The frames of the trace that was left do not fit the stack: makes room for them. A root trace is entered again then. Such an exit
    /// does not count, as no side trace can do without the room.
    #[cold]
    #[inline(never)]
    fn make_room(&self, vm: &mut Vm, facts: &ExitFacts, resume: Resume) -> Resume {
        let TraceExit { trace, exit } = facts.exit;
        let stack = facts.stack;
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {trace} exit {exit}: {stack} slots do not fit the stack]");
        }
        vm.multres = resume.multres;
        frame::protect(vm, resume.pc, facts.live);
        let fits = vm.make_stack(stack);
        Resume { enter: (fits && trace == facts.root).then_some(trace), ..resume }
    }
    /// Does what there is to do before the interpreter goes on.
    #[cold]
    #[inline(never)]
    fn attend(&self, vm: &mut Vm, facts: &ExitFacts, work: ExitWork, resume: Resume) -> Resume {
        let TraceExit { trace, exit } = facts.exit;
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {trace} exit {exit}]");
        }
        vm.multres = resume.multres;
        vm.pc = resume.pc.wrapping_add(1);
        frame::protect(vm, resume.pc, facts.live);
        if work.collect && vm.collect_after_exit().is_err() {
            return Resume { failed: true, ..resume };
        }
        if work.tell {
            let zero = Value::int(0);
            self.send(vm, Event::Texit, &[Value::int(trace.get() as i32), Value::int(exit.number() as i32), zero, zero]);
        }
        self.cancelled.set(false);
        // The handler, or the collector, may have made an end of the trace.
        if let Some(parent) = work.hot
            && self.is_on()
            && self.registry.borrow().has(trace, &parent)
        {
            self.start_side(vm, facts.exit, resume.pc);
        }
        resume
    }
    /// Adds what was gained to the balance of the root trace that was entered, be it another one than that which was left. An exit at
    /// which no side trace has been tried yet has not lost. The trace that is to be given up, if one is.
    #[inline]
    fn balance(&self, vm: &Vm, registry: &mut Registry, facts: &ExitFacts, times: u32) -> Option<TraceId> {
        let Charge { root, gain } = registry.charge(vm, facts)?;
        let r = registry.get_mut(root)?;
        r.balance = (r.balance + i64::from(times) * gain).min(cost::LOSS);
        if r.balance >= -cost::LOSS || !self.gives_up_what_loses(vm) {
            return None;
        }
        r.balance = 0;
        r.entered_in().is_some().then_some(root)
    }
    /// Counts an exit. The trace, if a side trace is to begin.
    #[inline]
    fn heat(&self, vm: &Vm, registry: &mut Registry, facts: &ExitFacts, may_record: bool, times: u32) -> Option<Rc<Trace>> {
        let sides = registry.get(facts.root).map_or(0, |r| r.sides);
        let entry = registry.get_mut(facts.exit.trace)?;
        let x = entry.exits.get_mut(facts.exit.exit.index())?;
        if facts.is_end {
            return None;
        }
        x.taken = x.taken.saturating_add(times);
        self.count(|c| c.deopt += u64::from(times));
        if !may_record || x.heat == Exit::DONE {
            return None;
        }
        x.heat += times;
        if x.heat < x.next {
            return None;
        }
        let maxside = self.options.get().params.maxside;
        let thresholds = self.thresholds(vm);
        if sides >= maxside || x.tries >= MOST_TRIES {
            // No side trace is tried any more.
            x.heat = Exit::DONE;
            return None;
        }
        let wanted = self.wanted(thresholds.hotexit, x.tries, cost::of_trace(None).max(x.compile_cost), thresholds.literal);
        if x.heat < wanted {
            // As pressure changes slowly, it is not looked at again before half of the rest is done; but of a program that has just begun
            // nothing is known yet.
            x.next = x.heat + (wanted - x.heat).div_ceil(2).min(thresholds.hotexit);
            return None;
        }
        x.tries += 1;
        x.next = 0;
        Some(Rc::clone(&entry.trace))
    }
    /// Takes a root trace that loses out of use: its place must become four times as hot before it is tried again, and the second time it
    /// is given up for good.
    fn give_up_root(&self, root: TraceId) {
        let registry = self.registry.borrow();
        let Some(e) = registry.get(root) else { return };
        registry.disarm_one(root);
        if let Some(TraceStart { pos, .. }) = e.start {
            let hot = self.options.get().params.hotloop.saturating_mul(2);
            if self.protos.borrow_mut().note_disabled(pos, hot) {
                crate::trace::patch::blacklist(pos);
            }
        } else if let Some((proto, stitch)) = e.stitch
            && let Some(pad) = proto.pad_at(stitch)
        {
            pad.give_up();
        }
        self.count(|c| c.disabled += 1);
        self.tell(|w| w.disabled(root));
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {root} given up]");
        }
    }
}
