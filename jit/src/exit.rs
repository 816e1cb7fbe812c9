//! Side exits: back to the interpreter, and the start of side traces where they are hot.

use crate::Jit;
use crate::budget;
use crate::departure::Departure;
use crate::events::Event;
use crate::frame;
use crate::log::{self, Topic};
use crate::registry::Exit;
use perilune_recorder::ir::{Snapshot, Trace};
use perilune_vm::gc::Phase;
use perilune_vm::hooks::{ExitId, Resume};
use perilune_vm::{Value, Vm};
use std::rc::Rc;

/// An exit that was taken.
struct Taken {
    trace: u32,
    exit: u32,
    resume: Resume,
    /// Slots in use in the frame.
    live: usize,
    /// The trace has ended; no guard failed.
    end: bool,
    /// The trace, if a side trace is to begin here.
    hot: Option<Rc<Trace>>,
    /// Root trace of a tree that does not pay.
    retire: Option<u32>,
}

impl Jit {
    /// Compiled code was left by exit `id`; `may_record` says whether a side trace may start.
    pub(crate) fn take_exit(&self, vm: &mut Vm, id: ExitId, may_record: bool) -> Resume {
        // An exit to collect garbage is nothing to compile a trace for: it would only leave as well.
        let collect = vm.heap.is_full() || vm.heap.gc_due() && matches!(vm.heap.phase(), Phase::Atomic | Phase::Finalize);
        // Nor is one for a sample to be taken.
        let sample = vm.sample_waits();
        let Some(mut taken) = self.taken(vm, id, may_record && !collect, sample) else {
            debug_assert!(false, "an exit that no trace has");
            return Resume { pc: core::ptr::null(), multres: 0, failed: false };
        };
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {} exit {}]", taken.trace, taken.exit);
        }
        if taken.resume.multres == Snapshot::OPEN {
            taken.resume.multres = vm.multres;
        }
        let resume = taken.resume;
        if let Some(root) = taken.retire {
            self.retire(root);
        }
        let collect = collect || vm.heap.collects_always();
        let tell = !taken.end && !sample && self.listens(vm, Event::Texit);
        if !tell && taken.hot.is_none() && !collect {
            return resume;
        }
        vm.multres = resume.multres;
        vm.pc = resume.pc.wrapping_add(1);
        frame::protect(vm, resume.pc, taken.live);
        if collect && vm.safepoint().is_err() {
            return Resume { failed: true, ..resume };
        }
        if tell {
            let zero = Value::int(0);
            self.send(vm, Event::Texit, &[Value::int(taken.trace as i32), Value::int(taken.exit as i32), zero, zero]);
        }
        self.cancelled.set(false);
        // The handler, or the collector, may have made an end of the trace.
        if let Some(trace) = taken.hot
            && self.is_on()
            && self.registry.borrow().has(taken.trace, &trace)
        {
            self.start_side(vm, taken.trace, taken.exit, resume.pc);
        }
        resume
    }

    fn taken(&self, vm: &mut Vm, id: ExitId, may_record: bool, sample: bool) -> Option<Taken> {
        let mut registry = self.registry.borrow_mut();
        let departure = registry.departure(id)?;
        let resume = departure.resume();
        let &Departure { trace, exit, root, gain, is_end: end, live, .. } = departure;
        frame::box_slots(vm, &departure.unboxed);
        let params = self.options.get().params;
        let factor = {
            let mut budget = self.budget.borrow_mut();
            budget.left();
            budget.factor(&params)
        };
        let (mut sides, mut retire) = (0, None);
        if let Some(r) = registry.get_mut(root) {
            sides = r.sides;
            if budget::does_not_pay(r.balance) && params.limits_compiling() && r.entered_in().is_some() {
                retire = Some(root);
                r.balance = 0;
            } else if !r.goes_round {
                r.balance = (r.balance + gain).min(budget::CREDIT);
            }
        }
        let entry = registry.get_mut(trace)?;
        let x = entry.exits.get_mut(exit as usize)?;
        let hotexit = params.hotexit.saturating_mul(factor.max(x.demand));
        let mut hot = None;
        if !end && !sample {
            x.taken = x.taken.saturating_add(1);
            self.count(|c| c.deopt += 1);
            if may_record && x.heat != Exit::DONE {
                x.heat += 1;
                if sides < params.maxside && x.heat >= hotexit.max(x.next) {
                    hot = Some(Rc::clone(&entry.trace));
                    x.tries += 1;
                }
                if sides >= params.maxside || x.tries > params.tryside {
                    x.heat = Exit::DONE;
                }
            }
        }
        if x.heat == Exit::DONE && hot.is_none() && exit as usize + 1 == entry.exits.len() {
            registry.close_end(trace);
        }
        Some(Taken { trace, exit, resume, live, end, hot, retire })
    }
    /// Takes a root trace that does not pay out of use. Its place must become hotter before it is tried again.
    fn retire(&self, root: u32) {
        let registry = self.registry.borrow();
        let Some(e) = registry.get(root) else { return };
        registry.disarm_one(root);
        if let Some((proto, at, _)) = e.start {
            self.budget.borrow_mut().retire(proto.code_ptr().wrapping_add(at).cast_const());
        } else if let Some((proto, stitch)) = e.stitch
            && let Some(pad) = proto.pad_at(stitch)
        {
            pad.give_up();
        }
        self.count(|c| c.retired += 1);
        self.tell(|w| w.retired(root));
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {root} retired]");
        }
    }
}
