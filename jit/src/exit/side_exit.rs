//! Side exits: compiled code returns to the interpreter, and a hot exit starts a side trace.
//!
//! What an exit restores is in `jit/src/exit/descriptor.rs`; `jit/src/frame.rs` makes Lua values of the slots.

use crate::Jit;
use crate::exit::descriptor::ExitFacts;
use crate::frame;
use crate::policy::cost;
use crate::trace::{Entry, Exit, Registry, TraceStart};
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use perilune_recorder::ir::{SnapId, Snapshot, Trace, TraceExit};
use perilune_vm::bc::Op;
use perilune_vm::hooks::Resume;
use perilune_vm::object::BcPos;
use perilune_vm::state::Activity;
use perilune_vm::{ExitId, TraceId, Value, Vm};
use std::rc::Rc;

/// The most recordings of a side trace at one exit. Each waits for twice the hot count of the one before: the reason of an abort may not
/// hold any more by then.
const MAX_TRIES: u32 = 20;

/// What is to be done at an exit before the interpreter continues.
struct ExitWork {
    /// Is the event `texit` sent? It is not sent for the end of a trace, where no guard failed.
    tell: bool,
    /// Is the collector to run?
    collect: bool,
    /// The trace, if a side trace is to begin here.
    hot: Option<Rc<Trace>>,
    /// The side trace that left because its countdown is over.
    counted_down: Option<TraceId>,
}

/// How an exit changes [`crate::trace::entry::Account::saved`] of a root trace.
pub(super) struct Charge {
    pub root: TraceId,
    pub saving: i64,
}

impl Registry {
    /// How many traces with the same start are passed before this exit is taken: each of them was recorded at the first exit of the one
    /// before, because what they check at their start differs from run to run.
    #[inline]
    pub(crate) fn chain(&self, exit: TraceExit) -> usize {
        let next = |exit: &TraceExit| self.get(exit.trace)?.trace.parent;
        core::iter::successors(Some(exit), next).take_while(|exit| exit.exit == SnapId::FIRST).count()
    }
    /// Are so many traces with the same start passed before this exit is taken that there is to be no further one?
    fn chain_is_full(&self, exit: TraceExit) -> bool {
        let n = self.chain(exit);
        let most = |e: &Entry| if e.trace.checks_start_once() { cost::MAX_CHECKED_ONCE } else { cost::MAX_CHAIN };
        n >= cost::MAX_CHAIN && self.get(exit.trace).is_none_or(|e| n >= most(e))
    }
    /// The side trace that is left here because its countdown is over.
    #[inline]
    fn counted_down(&self, facts: &ExitFacts) -> Option<TraceId> {
        let TraceExit { trace, exit } = facts.exit;
        (exit == SnapId::FIRST && self.is_counted_down(trace)).then_some(trace)
    }
    /// The root trace that was entered, and the instructions that entering it has saved (or lost) when it is left by an exit. `None` where
    /// that does not count: at an exit that may still get a side trace, or in a tree whose traces may have run several iterations of a
    /// loop.
    #[inline]
    pub(super) fn charge(&self, vm: &Vm, facts: &ExitFacts) -> Option<Charge> {
        let &ExitFacts { exit, root, saving, is_end, .. } = facts;
        let is_final = || {
            is_end && !awaits_trace(vm, facts)
                || self.exit(exit).is_some_and(|x| x.hot_count == Exit::DONE || x.tries > 0 && !x.too_expensive)
        };
        if saving < 0 && !is_final() {
            return None;
        }
        if self.get(root)?.account.goes_round {
            return None;
        }
        let (entered, before) = match TraceId::new(vm.compiled.trace).and_then(|n| self.get(n)) {
            Some(e) if e.root != root => (e.root, e.length()),
            _ => (root, 0),
        };
        (!self.get(entered)?.account.goes_round).then_some(Charge { root: entered, saving: before + saving })
    }
}

/// Is the exit in front of a call of a function that has no trace yet, but may still get one? Then the trace calls it itself
/// ([`perilune_recorder::ir::Transfer`]).
fn awaits_trace(vm: &Vm, facts: &ExitFacts) -> bool {
    let call = facts.pc.ins();
    let called = || frame::local(vm, call.a()).as_func()?.proto()?.ins(0);
    matches!(call.op(), Op::CALL | Op::CALLT) && called().is_some_and(|header| header.op() == Op::FUNCF)
}

impl Jit {
    /// Compiled code was left by exit `id`; `may_record` says whether a side trace may start.
    pub(crate) fn take_exit(&self, vm: &mut Vm, id: ExitId, may_record: bool) -> Resume {
        let collect = vm.heap.collects_after_exit();
        let mut registry = self.registry.borrow_mut();
        let Some(descriptor) = registry.exits.descriptor(id) else {
            debug_assert!(false, "an exit that no trace has");
            return Resume::at(core::ptr::null(), 0);
        };
        let facts = descriptor.facts;
        frame::box_slots(vm, &descriptor.unboxed);
        // Exits that are taken for the collector or on request must not become hot: a side trace would leave at once for the same
        // reason. While compiled code is to be left any exit may be one of them, so that none is counted.
        let on_request = vm.is_exit_requested();
        let counted_down = registry.counted_down(&facts);
        let uncounted = on_request || vm.heap.must_leave_code() || counted_down.is_some();
        if vm.compiled.failed_guard != 0
            && let Some(failed) = vm.compiled.take_failed_guard(id).filter(|_| !uncounted)
        {
            self.report_left(vm, &registry, failed, facts.exit);
        }
        let multres = if facts.multres == Snapshot::OPEN { vm.multres } else { facts.multres };
        let resume = Resume::at(facts.pc.as_ptr(), multres);
        if facts.stack != 0 && frame::lacks_stack(vm, facts.stack) {
            drop(registry);
            return self.make_room(vm, &facts, resume);
        }
        let may_record = may_record && !vm.heap.is_full();
        let times = if uncounted { 0 } else { 1 + registry.exits.settle_plain(id) };
        let hot = if uncounted { None } else { self.count_exit(vm, &mut registry, &facts, may_record, times) };
        let unprofitable = if uncounted { None } else { self.add_saving(vm, &mut registry, &facts, times) };
        let tell = !facts.is_end && !on_request && counted_down.is_none() && self.listens(vm, Event::Texit);
        let has_trace_work = unprofitable.is_some() || hot.is_some() || counted_down.is_some();
        let has_work = has_trace_work || tell || collect || log::on(Topic::Exit);
        if !has_work {
            self.allow_plain_exit(vm, &mut registry, id);
        }
        drop(registry);
        if has_work {
            if let Some(entered) = unprofitable {
                self.disable_root(entered);
            }
            return self.finish_exit(vm, &facts, ExitWork { tell, collect, hot, counted_down }, resume);
        }
        resume
    }
    /// The frames of the trace that was left do not fit the stack: enlarges the stack, and enters a root trace again. Such an exit is not
    /// counted, since a side trace would need the same room.
    #[cold]
    #[inline(never)]
    fn make_room(&self, vm: &mut Vm, facts: &ExitFacts, resume: Resume) -> Resume {
        let TraceExit { trace, exit } = facts.exit;
        let stack = facts.stack;
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {trace} exit {exit}: {stack} slots do not fit the stack]");
        }
        vm.multres = resume.multres;
        frame::protect(vm, facts.pc, facts.live);
        let fits = vm.make_stack(stack);
        Resume { enter: (fits && trace == facts.root).then_some(trace), ..resume }
    }
    /// Does the work at an exit.
    #[cold]
    #[inline(never)]
    fn finish_exit(&self, vm: &mut Vm, facts: &ExitFacts, work: ExitWork, resume: Resume) -> Resume {
        let TraceExit { trace, exit } = facts.exit;
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {trace} exit {exit}]");
        }
        vm.multres = resume.multres;
        vm.pc = resume.pc.wrapping_add(1);
        frame::protect(vm, facts.pc, facts.live);
        if work.collect && vm.collect_after_exit().is_err() {
            return Resume { failed: true, ..resume };
        }
        if work.tell {
            let zero = Value::int(0);
            self.send(vm, Event::Texit, &[Value::int(trace.get() as i32), Value::int(exit.number() as i32), zero, zero]);
        }
        if let Some(side) = work.counted_down {
            let before = vm.begin_activity(Activity::Compiler);
            self.consider_tree(vm, side);
            vm.begin_activity(before);
        }
        self.recording.cancelled.set(false);
        // The handler or the collector may have removed the trace.
        if let Some(parent) = work.hot
            && self.is_on()
            && self.registry.borrow().has(trace, &parent)
        {
            self.start_side(vm, facts.exit, facts.pc);
        }
        resume
    }
    /// Adds what an exit, taken `times` times, has saved to the account of the root trace that was entered. Returns this root trace if it
    /// has lost so much that it must be disabled.
    #[inline]
    fn add_saving(&self, vm: &Vm, registry: &mut Registry, facts: &ExitFacts, times: u32) -> Option<TraceId> {
        let Charge { root, saving } = registry.charge(vm, facts)?;
        let r = registry.get_mut(root)?;
        let account = &mut r.account;
        account.saved = (account.saved + i64::from(times) * saving).min(cost::MAX_LOSS);
        if account.saved >= -cost::MAX_LOSS || !self.may_disable(vm) {
            return None;
        }
        account.saved = 0;
        r.entered_in().is_some().then_some(root)
    }
    /// Adds the operations on cdata since the last exit to its hot count.
    #[inline]
    fn count_ffi_operations(&self, vm: &Vm, registry: &mut Registry, facts: &ExitFacts) {
        if let Some(ffi) = &mut self.policy.borrow_mut().ffi
            && let Some((exit, times)) = ffi.exit_taken(vm, facts.exit)
            && let Some(x) = registry.exit_mut(exit).filter(|x| x.hot_count != Exit::DONE)
        {
            x.hot_count += times;
        }
    }
    /// Counts an exit, taken `times` times. Returns its trace if a side trace is to be recorded.
    #[inline]
    fn count_exit(&self, vm: &Vm, registry: &mut Registry, facts: &ExitFacts, may_record: bool, times: u32) -> Option<Rc<Trace>> {
        self.count_ffi_operations(vm, registry, facts);
        let entry = registry.get_mut(facts.exit.trace)?;
        let x = entry.exits.get_mut(facts.exit.exit.index())?;
        if facts.is_end {
            return None;
        }
        x.taken = x.taken.saturating_add(times);
        self.count(|c| c.deopt += u64::from(times));
        if !may_record || x.hot_count == Exit::DONE {
            return None;
        }
        x.hot_count += times;
        if x.hot_count < x.next_check {
            return None;
        }
        let tries = x.tries;
        let sides = registry.get(facts.root).map_or(0, |r| r.sides);
        let is_full = sides >= self.settings.options.get().params.maxside || registry.chain_is_full(facts.exit);
        let entry = registry.get_mut(facts.exit.trace)?;
        let x = entry.exits.get_mut(facts.exit.exit.index())?;
        if is_full || tries >= MAX_TRIES {
            // No side trace is recorded any more.
            x.hot_count = Exit::DONE;
            return None;
        }
        let thresholds = self.thresholds(vm);
        let threshold = self.threshold_now(cost::Counted::Exits, thresholds.hotexit, tries, x.size, thresholds.literal);
        if x.hot_count < threshold {
            // Thresholds rise slowly. So this one is computed again when half of the missing hot count is reached, and after `hotexit`
            // exits at the latest, since thresholds change faster when a program has just started.
            x.next_check = x.hot_count + (threshold - x.hot_count).div_ceil(2).min(thresholds.hotexit);
            return None;
        }
        x.tries += 1;
        x.next_check = 0;
        Some(Rc::clone(&entry.trace))
    }
    /// Disables an unprofitable root trace: it is no longer entered. Its position must become four times as hot before another one is
    /// recorded.
    fn disable_root(&self, root: TraceId) {
        let registry = self.registry.borrow();
        let Some(e) = registry.get(root) else { return };
        registry.disarm_one(root);
        if let Some(TraceStart { pos, .. }) = e.start {
            let hot = self.settings.options.get().params.hotloop.saturating_mul(2);
            if self.protos.borrow_mut().note_disabled(pos, hot) {
                crate::trace::patch::blacklist(pos);
            }
        } else if let Some(stub) = e.stitch.as_ref().and_then(BcPos::stitch_stub) {
            stub.blacklist();
        }
        self.count(|c| c.disabled += 1);
        self.notify(|w| w.disabled(root));
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {root} given up]");
        }
    }
}
