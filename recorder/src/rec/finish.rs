//! The end of a recording: the last snapshot, the passes, and the result for the trace registry.

use super::{AbortInfo, FinishedTrace, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::verify::verify_effects;
use crate::ir::{IrRef, Link, Op, SlotIdx, Trace};
use crate::opt;
use perilune_vm::Vm;
use perilune_vm::object::InsPtr;
use std::time::Instant;

/// A trace with a guard behind an effect is a bug of the recorder.
fn debug_verify_effects(trace: &Trace) {
    if cfg!(debug_assertions)
        && let Err(e) = verify_effects(trace)
    {
        panic!("{e}\n{trace}");
    }
}

impl Recorder {
    /// Ends the trace, which continues at `pc`, when the instruction at `end_pc` is about to run; `None` if another iteration is to be recorded.
    pub(super) fn finish(&mut self, link: Link, pc: InsPtr, end_pc: InsPtr) -> Rec<Option<FinishedTrace>> {
        if self.feedback.stale && self.b.trace.ins.len() > self.start.place.tolerated as usize {
            return Err(Abort::Retry);
        }
        let looping = self.closes_loop(link);
        if looping {
            self.forget_fresh()?;
        }
        self.snap(pc)?;
        self.end_fuel()?;
        debug_verify_effects(&self.b.trace);
        let begun = Instant::now();
        let passes = match opt::finish(&mut self.b, looping) {
            Ok(passes) => passes,
            Err(Abort::TypeInstability | Abort::GuardAlwaysFails) if looping && self.unroll.iterations > 0 => {
                self.unroll.iterations -= 1;
                self.snaps.needed = true;
                return Ok(None);
            }
            Err(e) => return Err(e),
        };
        self.end_segment();
        let optimised = begun.elapsed();
        let mut trace = core::mem::take(&mut self.b.trace);
        debug_verify_effects(&trace);
        trace.link = link;
        trace.top_slot = self.switches.first_top.index() as u32;
        if matches!(link, Link::UpRec | Link::DownRec | Link::TailRec) || link == Link::Loop && self.has_switched() {
            // The trace starts again in other frames, whose stack is not checked yet.
            trace.checked_slot = 0;
        }
        let (start_pc, first_pc, root) = (self.start.pc, self.start.first_pc, self.start.place.root);
        let protos = core::mem::take(&mut self.deps.protos);
        let stitch = match self.info {
            AbortInfo::Func(f) if link == Link::Stitch => Some(f),
            _ => None,
        };
        let (last, history) = (self.proto, self.b.history.take());
        let watched = core::mem::take(&mut self.deps.watched);
        Ok(Some(FinishedTrace {
            trace,
            start_pc,
            first_pc,
            end_pc,
            from_start: self.start.is_root && !(end_pc == start_pc && matches!(link, Link::Root(_))),
            root,
            protos,
            last,
            stitch,
            stale: self.feedback.stale,
            passes,
            optimised,
            watched,
            path: core::mem::take(&mut self.following.path),
            history,
        }))
    }

    /// Does a trace that ends with this link end an iteration of a loop, in the frame that it started in?
    pub(super) fn closes_loop(&self, link: Link) -> bool {
        link == Link::Loop && self.base == SlotIdx::BASE && self.stack.returned == 0 && !self.has_switched()
    }

    /// Loads the slots that the iteration has read at its start and that have been written in memory since, as the variables of a loop are that
    /// a builtin returns. The trace ends with this link, in front of `pc`.
    pub(super) fn load_carried(&mut self, vm: &Vm, link: Link, pc: InsPtr) -> Rec<()> {
        if !self.closes_loop(link) {
            return Ok(());
        }
        let mut r = self.b.newest(Op::SLOAD);
        while r != IrRef::NONE {
            let at = self.b.trace.ins[r.ins_index()].a.slot();
            r = self.b.older(r);
            if self.slots.is_fresh(at) && self.slots[at] == IrRef::NONE {
                if self.snaps.needed {
                    self.snap(pc)?;
                }
                self.get_abs(at, view::slot(vm, at.from_base() as isize))?;
            }
        }
        Ok(())
    }

    /// Forgets the values that were loaded from slots that have been written in memory: an iteration before they are written again would have
    /// them, but so would the exits after that. Where a slot was read at the start of the iteration, its value at the end is known.
    fn forget_fresh(&mut self) -> Rec<()> {
        let mut is_carried = vec![false; self.slots.top().index()];
        let mut r = self.b.newest(Op::SLOAD);
        while r != IrRef::NONE {
            let at = self.b.trace.ins[r.ins_index()].a.slot();
            if self.slots.is_fresh(at) {
                if self.slots[at] == IrRef::NONE {
                    return Err(Abort::Error);
                }
                is_carried[at.index()] = true;
            }
            r = self.b.older(r);
        }
        for (i, is_carried) in is_carried.into_iter().enumerate() {
            let at = SlotIdx::new(i);
            if self.slots.is_fresh(at) && !is_carried {
                self.slots.write_fresh(at);
            }
        }
        Ok(())
    }
}
