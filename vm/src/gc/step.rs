//! Collection steps, and the operations of `collectgarbage`.

use super::heap::POSTPONED;
use super::mark::PART;
use super::{Heap, Phase};
use crate::Vm;
use crate::errno;
use crate::error::LuaResult;
use crate::interrupt::{Cause, Interrupted, Poll};
use crate::object::Gc;
use crate::state::Activity;
use std::time::Instant;

/// A step is due after this many bytes allocated.
const STEP: usize = 16 << 10;

impl Heap {
    /// Recomputes the threshold from the goal, the limit and the switches.
    pub(super) fn update_threshold(&mut self) {
        let goal = if self.pacing.stopped || self.finalizers.running {
            usize::MAX
        } else if self.pacing.stress != 0 {
            0
        } else {
            self.pacing.goal
        };
        if super::reserve::is_short() || self.cells.blocks.host.is_over() {
            self.threshold = 0;
            return;
        }
        self.threshold = match self.limit.least() {
            Some(limit) => goal.min(limit.saturating_add(1)),
            None => goal,
        };
    }
    fn set_goal(&mut self, goal: usize) {
        self.pacing.goal = goal;
        self.update_threshold();
    }
    /// The cycle is complete: sets the goal, so that the heap grows by the pause before the next cycle.
    fn rest(&mut self) {
        self.pacing.debt = 0;
        // After a complete cycle, the use of memory when it was short means nothing any more.
        self.limit.recovered = 0;
        super::pages::give_rest(Poll::At(&self.interrupt));
        self.set_goal((self.pacing.estimate / 100).saturating_mul(self.pacing.pause as usize).max(super::heap::MIN_GOAL));
    }
    /// Ends a cycle before it is known what is dead: a sweep without a change of the whites frees nothing.
    fn abandon_marking(&mut self) {
        self.cycle.marker.reset();
        self.begin_sweep();
    }
    /// The work that `bytes` of allocation cause.
    fn work_for(&self, bytes: usize) -> usize {
        if self.pacing.stepmul == 0 { usize::MAX >> 1 } else { (bytes / 100).saturating_mul(self.pacing.stepmul as usize).max(1) }
    }
}

impl Vm {
    /// A safepoint: collects if that is due. All objects that must survive are reachable from a root, and [`Vm::top`] is above everything
    /// live on the running stack. Fails with "not enough memory" if the heap stays above its limit.
    #[inline(always)]
    pub fn safepoint(&mut self) -> LuaResult<()> {
        if self.heap.gc_due() { self.safepoint_slow() } else { Ok(()) }
    }
    #[cold]
    #[inline(never)]
    fn safepoint_slow(&mut self) -> LuaResult<()> {
        let _errno = errno::keep();
        let h = &self.heap;
        if !h.pacing.stopped && !h.finalizers.running {
            if h.pacing.stress != 0 {
                self.stress();
            } else if h.total >= h.pacing.goal {
                self.timed_step();
            }
        }
        self.drop_payloads();
        self.enforce_limit(0)
    }
    /// Does the work that is due for the allocations since the last step. True when that completed a cycle.
    fn timed_step(&mut self) -> bool {
        let start = Instant::now();
        let complete = self.due_step();
        self.heap.pauses.note(start);
        complete
    }
    fn due_step(&mut self) -> bool {
        let h = &mut self.heap;
        if h.total > h.pacing.goal {
            h.pacing.debt += h.total - h.pacing.goal;
            h.pacing.goal = h.total;
        }
        h.pacing.postponed = 0;
        let budget = h.work_for(STEP);
        if self.work(budget) {
            self.heap.rest();
            return true;
        }
        self.next_step_due();
        false
    }
    fn next_step_due(&mut self) {
        let h = &mut self.heap;
        if h.pacing.debt < STEP {
            h.set_goal(h.total + STEP);
        } else {
            h.pacing.debt -= STEP;
            h.set_goal(h.total);
        }
    }
    /// Works until `budget` is used up (false) or a cycle is complete (true).
    fn work(&mut self, mut budget: usize) -> bool {
        let before = self.begin_activity(Activity::Collector);
        self.note_running();
        let complete = loop {
            let done = self.one_step(budget);
            if self.heap.cycle.phase == Phase::Pause {
                break true;
            }
            if done >= budget {
                break false;
            }
            budget -= done;
        };
        self.begin_activity(before);
        complete
    }
    /// The smallest unit of work in the current phase.
    pub(super) fn one_step(&mut self, budget: usize) -> usize {
        self.heap.counts.steps[self.heap.cycle.phase as usize] += 1;
        match self.heap.cycle.phase {
            Phase::Pause => {
                self.start_cycle();
                self.heap.cycle.phase = Phase::Propagate;
                256
            }
            Phase::Propagate => {
                let pace = self.heap.cycle.marker.pace();
                let done = self.heap.cycle.marker.propagate(budget.saturating_mul(pace)) / pace;
                if !self.heap.cycle.marker.is_done(self.heap.total) {
                    return done;
                }
                let searched = self.search_udata();
                if searched.is_none() {
                    self.heap.cycle.phase = Phase::Atomic;
                }
                done + searched.unwrap_or(0)
            }
            Phase::Atomic => self.atomic(),
            Phase::Settle => self.heap.settle_step(),
            Phase::Sweep => match self.heap.sweep_step() {
                Some(done) => done,
                None if self.heap.cells.blocks.trim() => {
                    self.end_sweep();
                    0
                }
                None => PART / 8,
            },
            Phase::Finalize => {
                let done = self.finalize_step(self.heap.work_for(STEP));
                // The finalizer may have moved the stack or run coroutines.
                self.note_running();
                done
            }
        }
    }
    fn end_sweep(&mut self) {
        let h = &mut self.heap;
        h.cycle.phase = if h.finalizers.due.is_empty() { Phase::Pause } else { Phase::Finalize };
        h.finalizers.set_pace((h.pacing.estimate + h.finalizers.retained) / STEP);
    }
    /// Steps for compiled code, whose live values are not all on the stack: no atomic phase and no finalizers. True when one of
    /// them has been due for a while (or the limit is reached): the trace must leave.
    pub fn gc_step_on_trace(&mut self) -> bool {
        let h = &mut self.heap;
        let stress = h.pacing.stress;
        if h.is_full() || stress == 1 || h.total < h.pacing.goal && stress == 0 || h.finalizers.running || h.pacing.stopped {
            // Due only because of the limit or of stress.
            return h.gc_due();
        }
        let start = Instant::now();
        h.pacing.debt += h.total.saturating_sub(h.pacing.goal);
        h.set_goal(h.total);
        // A trace has one safepoint, however much it allocates between two of them.
        let more = (h.pacing.debt - h.pacing.debt % STEP).min(PART / 8);
        let mut budget = if stress == 0 { h.work_for(more.max(STEP)) } else { stress as usize };
        let before = self.begin_activity(Activity::Collector);
        self.note_running();
        let leave = loop {
            if matches!(self.heap.cycle.phase, Phase::Atomic | Phase::Finalize) {
                break !self.postpone();
            }
            let done = self.one_step(budget);
            if self.heap.cycle.phase == Phase::Pause {
                self.heap.rest();
                break self.heap.is_full();
            }
            if done >= budget {
                self.heap.pacing.debt -= more;
                self.next_step_due();
                break self.heap.is_full();
            }
            budget -= done;
        };
        self.begin_activity(before);
        self.heap.pauses.note(start);
        leave
    }
    /// Postpones the work that compiled code must be left for. False if it was postponed often enough.
    fn postpone(&mut self) -> bool {
        let h = &mut self.heap;
        if h.pacing.stress != 0 || h.pacing.postponed == POSTPONED || h.is_full() {
            return false;
        }
        h.pacing.postponed += 1;
        h.set_goal(h.total + STEP);
        true
    }
    /// Compiled code was left: does the work that was postponed. Otherwise as [`Vm::safepoint`].
    pub fn collect_after_exit(&mut self) -> LuaResult<()> {
        let postponed = core::mem::take(&mut self.heap.pacing.postponed);
        for _ in 1..postponed {
            self.heap.set_goal(self.heap.total);
            self.safepoint()?;
        }
        if postponed != 0 {
            self.heap.set_goal(self.heap.total);
        }
        self.safepoint()
    }
    /// An error was caught: what was made for it is garbage soon, and a loop of calls that fail may have no other safepoint. That memory is
    /// short is said at the next safepoint.
    pub(crate) fn collect_after_error(&mut self) {
        if self.heap.collects_after_exit() {
            // Finalizers, and the error of a limit, change these.
            let (value, results, top) = (self.errors.value, self.multres, self.stack_offset(self.top));
            let _ = self.collect_after_exit();
            self.errors.value = value;
            self.multres = results;
            debug_assert_eq!(self.stack_offset(self.top), top, "a collection leaves the stack as it was");
        }
    }
    /// Finishes marking without the program running meanwhile, so that the dead are known. An interrupt that lasts ends the cycle, and
    /// nothing is freed.
    fn atomic(&mut self) -> usize {
        let Ok(work) = self.finish_marking() else {
            self.heap.abandon_marking();
            // How much of it is alive is not known: the next cycle begins when the heap has grown by the pause.
            self.heap.pacing.estimate = self.heap.total;
            return PART;
        };
        let h = &mut self.heap;
        h.watchpoints.sweep();
        let compiler = self.compiler.clone();
        let waiting = self.compiled.native_calls != 0;
        h.remove_dead_protos(|p| compiler.free_proto(p, waiting));
        h.limit.growth = h.cycle.marker.growth.max(h.limit.grown).max(h.largest_alive());
        h.cycle.marker.reset();
        h.current_white ^= u64::from(super::color::WHITES);
        // What is alive for a finalizer alone does not make this a heap that may grow for longer.
        h.pacing.estimate = h.total.saturating_sub(h.finalizers.retained);
        h.cycle.phase = Phase::Settle;
        work
    }
    /// Marks what is not marked yet, and clears weak tables; returns a measure of the work.
    fn finish_marking(&mut self) -> Result<usize, Interrupted> {
        self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
        // The value that the guard failed for may be freed.
        self.compiled.failed_guard = 0;
        self.heap.cycle.marker.atomic = true;
        self.compilation_cache.age();
        self.heap.remark_open_upvals();
        self.mark_roots();
        let mut work = self.propagate_all()?;
        // Weak tables are traversed again: the objects that they hold strongly may have changed.
        let m = &mut self.heap.cycle.marker;
        let weak = core::mem::take(&mut m.weak);
        m.gray.extend(weak.into_iter().map(|(t, _)| t.header()));
        let (again, threads) = (core::mem::take(&mut m.gray_again), core::mem::take(&mut m.stacks.running));
        m.stacks.check_again();
        m.gray.extend(again);
        m.gray.extend(threads.into_iter().map(Gc::header));
        work += self.propagate_with_traces()?;
        self.separate_udata(false);
        let h = &mut self.heap;
        for due in &h.finalizers.due {
            due.mark(&mut h.cycle.marker);
        }
        let reached = self.propagate_with_traces()?;
        self.heap.finalizers.retained = reached;
        self.heap.cycle.marker.clear_weak(Poll::Lasting(&self.interrupts.flag))?;
        Ok(work)
    }
    /// A complete collection: when it returns, everything that was unreachable when it was called is freed, and finalizers
    /// have been called. While an interrupt waits it may end before, between two steps.
    pub fn full_gc(&mut self) {
        self.compilation_cache.clear();
        self.note_running();
        if matches!(self.heap.cycle.phase, Phase::Propagate | Phase::Atomic) {
            self.heap.abandon_marking();
        }
        self.heap.settle();
        if self.heap.cycle.phase == Phase::Sweep {
            self.heap.sweep_all();
        }
        self.heap.cycle.phase = Phase::Pause;
        while !self.work(PART) {
            if self.interrupt_waits().is_some_and(Cause::lasts) {
                self.next_step_due();
                return;
            }
        }
        self.heap.rest();
        self.drop_payloads();
    }
    /// Bytes in use.
    pub fn gc_count(&self) -> usize {
        self.heap.total
    }
    /// Stops automatic collection.
    pub fn gc_stop(&mut self) {
        self.heap.pacing.stopped = true;
        self.heap.update_threshold();
    }
    /// Restarts automatic collection.
    pub fn gc_restart(&mut self) {
        self.heap.pacing.stopped = false;
        let total = self.heap.total;
        self.heap.set_goal(total);
    }
    /// Is automatic collection running?
    pub fn gc_is_running(&self) -> bool {
        !self.heap.pacing.stopped
    }
    /// Sets how far the heap grows between two cycles, in percent; returns the old setting.
    pub fn gc_set_pause(&mut self, pause: u32) -> u32 {
        core::mem::replace(&mut self.heap.pacing.pause, pause)
    }
    /// Sets how fast the collector works relative to allocation, in percent; returns the old setting.
    pub fn gc_set_stepmul(&mut self, stepmul: u32) -> u32 {
        core::mem::replace(&mut self.heap.pacing.stepmul, stepmul)
    }
    /// Works as if `kbytes` (or a little, if 0) had been allocated. True when that completed a cycle.
    pub fn gc_step(&mut self, kbytes: usize) -> bool {
        if self.heap.finalizers.running {
            return true;
        }
        if self.heap.pacing.stress == 1 {
            // Small steps would never complete a cycle between the collections.
            self.full_gc();
            return true;
        }
        let budget = self.heap.work_for(kbytes.max(1).saturating_mul(1024));
        if self.work(budget) {
            self.heap.rest();
            return true;
        }
        self.next_step_due();
        false
    }
    /// Collects at every safepoint, for tests: 1 is a full collection, a larger number is a step of this many bytes' work, so that program
    /// and collector alternate, also while the entries of one table are traversed; 0 is the usual behaviour. Builds with debug assertions also verify the heap, after each collection or when
    /// a step has ended a phase.
    pub fn gc_set_stress(&mut self, how: u32) {
        self.heap.pacing.stress = how;
        self.heap.cycle.marker.slices.set_stress(how > 1);
        self.heap.update_threshold();
    }
    /// Does the work that [`Vm::gc_set_stress`] has asked for.
    fn stress(&mut self) {
        let before = self.heap.cycle.phase;
        if self.heap.pacing.stress == 1 {
            self.full_gc();
        } else if self.work(self.heap.pacing.stress as usize) {
            self.heap.rest();
        }
        if cfg!(debug_assertions) && (self.heap.pacing.stress == 1 || self.heap.cycle.phase != before) {
            self.verify_heap();
        }
    }
}
