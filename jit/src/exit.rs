//! Side exits: back to the interpreter, and the start of side traces where they are hot.

use crate::Jit;
use crate::budget;
use crate::departure::Departure;
use crate::events::Event;
use crate::frame;
use crate::log::{self, Topic};
use crate::registry::{Exit, Registry};
use perilune_recorder::ir::{Snapshot, Trace};
use perilune_vm::hooks::{ExitId, Resume};
use perilune_vm::{Value, Vm};
use std::rc::Rc;

/// By what the heat of an exit must grow for another attempt when all that it has are used up.
const AGAIN: u32 = 16;

/// An exit that was taken, where more is to be done than to go on.
struct Taken {
    trace: u32,
    exit: u32,
    /// Slots in use in the frame.
    live: usize,
    /// Are handlers of `texit` to be told? Not of the end of a trace, where no guard failed.
    tell: bool,
    /// Is the collector to run?
    collect: bool,
    /// The trace, if a side trace is to begin here.
    hot: Option<Rc<Trace>>,
}

impl Jit {
    /// Compiled code was left by exit `id`; `may_record` says whether a side trace may start.
    pub(crate) fn take_exit(&self, vm: &mut Vm, id: ExitId, may_record: bool) -> Resume {
        let collect = vm.heap.collects_after_exit();
        let mut registry = self.registry.borrow_mut();
        // An exit that is only taken because a sample waits, or to collect garbage, is nothing to compile a trace for, which would only
        // leave as well. As for the traces that there will be, it was not taken.
        let for_sample = vm.sample_waits() && registry.is_for_sample(id);
        let aside = vm.has_left_to_collect() || for_sample;
        let Some(departure) = registry.departure(id) else {
            debug_assert!(false, "an exit that no trace has");
            return Resume::at(core::ptr::null(), 0);
        };
        let &Departure { trace, exit, root, gain, saves, is_last, is_end, live, stack, pc, mut multres, .. } = departure;
        frame::box_slots(vm, &departure.unboxed);
        if multres == Snapshot::OPEN {
            multres = vm.multres;
        }
        if stack != 0 && frame::lacks_stack(vm, stack) {
            drop(registry);
            return self.make_room(vm, (trace, root), (stack, live), Resume::at(pc, multres));
        }
        let retire = !aside && self.balance(&mut registry, root, gain);
        let may_record = may_record && !vm.heap.is_full();
        let hot = if aside { None } else { self.heat(&mut registry, (trace, exit), root, (is_last, is_end, saves), may_record) };
        drop(registry);
        if aside {
            vm.begin_detour();
        }
        let tell = !is_end && !for_sample && self.listens(vm, Event::Texit);
        if retire || tell || hot.is_some() || collect || log::on(Topic::Exit) {
            if retire {
                self.retire(root);
            }
            return self.attend(vm, Taken { trace, exit, live, tell, collect, hot }, Resume::at(pc, multres));
        }
        Resume::at(pc, multres)
    }
    /// The frames of the trace that was left do not fit the stack: makes room for them. A root trace is entered again then. Such an exit
    /// does not count, as no side trace can do without the room.
    #[cold]
    #[inline(never)]
    fn make_room(&self, vm: &mut Vm, (trace, root): (u32, u32), (stack, live): (usize, usize), resume: Resume) -> Resume {
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {trace} exit 0: {stack} slots do not fit the stack]");
        }
        vm.multres = resume.multres;
        frame::protect(vm, resume.pc, live);
        let fits = vm.make_stack(stack);
        Resume { enter: if fits && trace == root { trace } else { 0 }, ..resume }
    }
    /// Does what there is to do before the interpreter goes on.
    #[cold]
    #[inline(never)]
    fn attend(&self, vm: &mut Vm, taken: Taken, resume: Resume) -> Resume {
        if log::on(Topic::Exit) {
            eprintln!("[TRACE {} exit {}]", taken.trace, taken.exit);
        }
        vm.multres = resume.multres;
        vm.pc = resume.pc.wrapping_add(1);
        frame::protect(vm, resume.pc, taken.live);
        if taken.collect && vm.collect_after_exit().is_err() {
            return Resume { failed: true, ..resume };
        }
        if taken.tell {
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
    /// Adds what was gained to the balance of a root trace. True if it is to be retired.
    #[inline]
    fn balance(&self, registry: &mut Registry, root: u32, gain: i64) -> bool {
        let Some(r) = registry.get_mut(root) else { return false };
        if budget::does_not_pay(r.balance) && self.options.get().params.limits_compiling() && r.entered_in().is_some() {
            r.balance = 0;
            return true;
        }
        if !r.goes_round {
            r.balance = (r.balance + gain).min(budget::CREDIT);
        }
        false
    }
    /// Counts an exit. The trace, if a side trace is to begin.
    #[inline]
    fn heat(
        &self,
        registry: &mut Registry,
        (trace, exit): (u32, u32),
        root: u32,
        (is_last, is_end, saves): (bool, bool, i64),
        may_record: bool,
    ) -> Option<Rc<Trace>> {
        let params = self.options.get().params;
        self.budget.borrow_mut().left(saves);
        let sides = registry.get(root).map_or(0, |r| r.sides);
        let entry = registry.get_mut(trace)?;
        let x = entry.exits.get_mut(exit as usize)?;
        let mut hot = false;
        if !is_end {
            x.taken = x.taken.saturating_add(1);
            self.count(|c| c.deopt += 1);
            if may_record && x.heat != Exit::DONE {
                x.heat += 1;
                if sides < params.maxside && x.heat >= params.hotexit.max(x.next) {
                    let factor = self.budget.borrow().exit_factor(x.demand, sides, &params);
                    if x.heat >= params.hotexit.saturating_mul(factor) {
                        hot = true;
                        x.tries += 1;
                    }
                }
                if sides >= params.maxside || is_last && x.tries > params.tryside {
                    x.heat = Exit::DONE;
                } else if x.tries > params.tryside {
                    // What stood in the way then may be gone when the exit has become much hotter.
                    x.tries = params.tryside;
                    x.next = x.heat.saturating_mul(AGAIN);
                }
            }
        }
        if hot {
            return Some(Rc::clone(&entry.trace));
        }
        if is_last && x.heat == Exit::DONE {
            registry.close_end(trace);
        }
        None
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
