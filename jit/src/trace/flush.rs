//! Flushing and removing traces.

use crate::Jit;
use crate::trace::Entry;
use crate::trace::registry::Freed;
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use crate::view::watch::Fate;
use perilune_vm::object::{Gc, Proto, ProtoFlags};
use perilune_vm::{TraceId, Value, Vm};

impl Jit {
    /// Flushes all traces, and forgets aborts and the time that was spent.
    pub fn flush_all(&self, vm: &mut Vm) {
        self.cancel(vm);
        self.drop_traces(vm);
        self.policy.borrow_mut().renew();
        self.stats.aborts.borrow_mut().clear();
    }
    /// Flushes the traces, if there are any: because a watcher of the heap or a sampler is attached or detached, or because a value has
    /// changed that traces take for a constant. Positions that are hot get traces again.
    pub fn flush_if_any(&self, vm: &mut Vm) {
        if self.is_recording() || self.registry.borrow().alive() != 0 {
            self.flush_again(vm);
        }
    }
    /// Flushes all traces, and sends the event even if there are none. Feedback and the time that was spent are kept.
    pub fn flush_again(&self, vm: &mut Vm) {
        self.cancel(vm);
        self.drop_traces(vm);
    }
    /// The same while no recording is under way.
    pub(crate) fn drop_traces(&self, vm: &mut Vm) {
        self.report_gone(None);
        vm.forget_places();
        self.registry.borrow_mut().clear();
        vm.compiled.invalidations = vm.compiled.invalidations.wrapping_add(1);
        if vm.compiled.native_calls == 0 {
            self.machine.borrow_mut().reset();
        }
        self.protos.borrow_mut().flush();
        self.count(|c| {
            c.flushed += 1;
            c.mcode = 0;
        });
        if log::on(Topic::Trace) {
            eprintln!("[TRACE flush]");
        }
        if self.listens(vm, Event::Trace) {
            let what = Value::str(vm.new_str(b"flush"));
            self.send(vm, Event::Trace, &[what]);
        }
    }
    /// Removes the traces of a prototype that is being freed. Their code stays while compiled code waits for a builtin: the builtin may
    /// return to it.
    pub(crate) fn collect_traces(&self, proto: Gc<Proto>, waiting: bool) {
        if proto.flags.get() & ProtoFlags::TRACED != 0 {
            self.report_gone(Some(proto));
        }
        let numbers = self.protos.borrow_mut().take_traces(proto);
        // Nothing leads to these traces any more: what a trace is linked to starts in a function that the trace keeps.
        let freed = self.registry.borrow_mut().remove(&numbers);
        self.collected(freed, waiting);
    }
    /// Removes side traces of an owner that lead through prototypes which the program cannot reach any more. Where a function that lives
    /// long calls or returns to functions that do not, its traces would keep these alive for ever.
    pub(crate) fn end_unreachable(&self, owner: Gc<Proto>) {
        let sides = self.registry.borrow().unreachable_sides(&self.protos.borrow(), owner);
        if sides.is_empty() {
            return;
        }
        if self.is_watched() {
            self.for_each_entry(|n, e, entered| {
                if sides.contains(&n) {
                    self.notify(|w| w.gone(n, e, entered, Fate::Collected));
                }
            });
        }
        let stub = self.machine.borrow().exit_stub();
        let freed = self.registry.borrow_mut().remove_sides(&mut self.protos.borrow_mut(), owner, &sides, stub);
        self.collected(freed, false);
    }
    fn collected(&self, freed: Vec<Freed>, waiting: bool) {
        for Freed { trace, code } in freed {
            let Some(n) = trace else {
                self.free_tree(code, waiting);
                continue;
            };
            if !waiting {
                self.machine.borrow_mut().free(code);
            }
            self.count(|c| {
                c.collected += 1;
                c.mcode -= code.size as u64;
            });
            if log::on(Topic::Trace) {
                eprintln!("[TRACE {n} collected]");
            }
        }
    }
    /// Makes nothing enter root trace `n`. Traces that are linked to it still lead there.
    pub fn flush_root(&self, vm: &mut Vm, n: TraceId) {
        self.cancel(vm);
        self.registry.borrow().disarm_one(n);
    }
    /// Makes nothing enter the traces that start in a function.
    pub fn flush_proto(&self, proto: Gc<Proto>) {
        let of_proto = |_: TraceId, e: &Entry| e.entered_in() == Some(proto);
        self.registry.borrow().disarm(of_proto);
    }
}
