//! The start of a recording: at a hot instruction, after a call, or at an exit.
//!
//! Next on the way of a hot loop: `jit/src/record/recording.rs`.

use super::{Origin, Recording};
use crate::Jit;
use crate::frame;
use crate::policy::cost;
use crate::trace::{Exit, TraceStart};
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use crate::view::watch::Start;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::{Link, Op, SlotIdx, SnapId, TraceExit, Ty};
use perilune_recorder::rec::{Recorder, TreePosition};
use perilune_vm::bc::Op as Bc;
use perilune_vm::hooks::Mode;
use perilune_vm::object::{BcPos, InsPtr, ProtoFlags};
use perilune_vm::{TraceId, Value, Vm};
use std::rc::Rc;
use std::time::Instant;

impl Jit {
    /// Starts a root trace at a hot position.
    pub(crate) fn start_root(&self, vm: &mut Vm, pos: BcPos) {
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), pos.pc());
        self.report_start(vm, number, func, at, None);
        let begun = Instant::now();
        let params = self.settings.options.get().recorder(self.is_watched());
        let side = self.protos.borrow_mut().side_to_follow(pos);
        let recorder = Recorder::new_root(vm, &params, pos.proto, pos.ptr(), number).map(|r| r.following(side));
        self.begin(vm, number, func, at, Origin::Root(pos), recorder, begun);
    }
    /// A call that a trace ended in front of has returned to the STITCH at `stitch`. Starts a trace after the call if it is hot.
    pub(crate) fn hot_stitch(&self, vm: &mut Vm, stitch: InsPtr) {
        let Some(proto) = frame::proto(vm) else { return };
        let Some(stub) = proto.stitch_stub_at(stitch) else { return };
        let call = BcPos { proto, index: stub.call_index() };
        let back = call.next();
        if proto.flags.get() & ProtoFlags::NOJIT != 0 {
            return stub.blacklist();
        }
        let thresholds = self.thresholds(vm);
        let heat = stub.count();
        // Reading the clock takes as long as a hundred instructions: it is not read at each return.
        let is_looked_at = thresholds.literal || heat.is_multiple_of(thresholds.hotexit.div_ceil(8));
        if !self.may_record(vm) || heat < thresholds.hotexit || !is_looked_at {
            return;
        }
        // The size of a recording that was too long is not kept.
        let (counted, failures) = (cost::Counted::Exits, stub.failures());
        if heat < self.threshold_now(counted, thresholds.hotexit, failures, None, thresholds.literal) {
            return;
        }
        let parent = stub.parent();
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), back.pc());
        self.report_start(vm, number, func, at, Some((parent, None)));
        let begun = Instant::now();
        let params = self.settings.options.get().recorder(self.is_watched());
        let recorder = Recorder::new_stitched(vm, &params, proto, back.ptr(), number);
        self.begin(vm, number, func, at, Origin::Stitch(call), recorder, begun);
    }
    /// Starts a side trace at an exit. The frame is that at `vm.base`, and the trace continues at `pc`.
    pub(crate) fn start_side(&self, vm: &mut Vm, exit: TraceExit, pc: InsPtr) {
        let Some(proto) = frame::proto(vm) else { return };
        if self.records_again_at(vm, exit) {
            return;
        }
        let known = self.registry.borrow().get(exit.trace).map(|e| (Rc::clone(&e.trace), e.root));
        let Some((trace, root)) = known else { return };
        let variant = if exit.exit == SnapId::FIRST { self.restart_position(exit.trace) } else { None };
        let returning = self.ends_in_returns(&trace, exit.exit, pc);
        if variant.is_none() && !returning && self.link_to_shared_side(vm, exit, (proto, pc.addr())) {
            return;
        }
        let Some(number) = self.number(vm) else { return };
        let (func, at) = (frame::func(vm), proto.pc_of(pc).unwrap_or(0));
        self.report_start(vm, number, func, at, Some((exit.trace, Some(exit.exit))));
        let begun = Instant::now();
        let params = self.settings.options.get().recorder(self.is_watched());
        // The handler may have removed the parent.
        let gone = !self.registry.borrow().has(exit.trace, &trace);
        let tolerated = self.registry.borrow().get(root).map_or(0, |e| e.account.tolerated());
        let checked_once = trace.checks_start_once();
        let loops_anyway = self.registry.borrow().chain(exit) <= cost::MAX_LEFT_VARIANTS;
        let place = TreePosition { checked_once, loops_anyway, ..TreePosition::side(number, root, exit, tolerated) };
        let recorder = match variant {
            _ if gone => Err(Abort::Error),
            Some(TraceStart { pos, original }) => Recorder::new_restart(vm, &params, pos.proto, (pos.ptr(), original), place),
            None if returning => Recorder::new_returning(vm, &params, pc, place),
            None => Recorder::new_side(vm, &params, &trace, pc, place),
        };
        let recorder = match exit.exit {
            SnapId::FIRST => {
                let side = variant.and_then(|_| self.registry.borrow_mut().variant_to_follow(exit));
                recorder.map(|r| r.expecting_nums(self.nums_at_start(exit.trace)).following(side))
            }
            _ => recorder,
        };
        self.begin(vm, number, func, at, Origin::Side, recorder, begun);
    }
    /// Has a trace followed as many returns as it may, and stopped at exit `exit` in front of the return at `pc`?
    fn ends_in_returns(&self, trace: &perilune_recorder::ir::Trace, exit: SnapId, pc: InsPtr) -> bool {
        let last = trace.snaps.last().is_some_and(|s| exit.index() + 1 == trace.snaps.len() && s.multres == 0);
        let returns = trace.ins.iter().filter(|i| i.op == Op::RETF).count();
        last && trace.link == Link::Return && returns > 1 && matches!(pc.ins().op(), Bc::RET | Bc::RET0 | Bc::RET1 | Bc::CALLT)
    }
    /// Where a trace for values of other types starts at the first exit of `parent`: at the start of a loop, if `parent` starts there as
    /// well and not too many other traces do.
    fn restart_position(&self, parent: TraceId) -> Option<TraceStart> {
        let registry = self.registry.borrow();
        let mut n = parent;
        if registry.get(parent)?.exits.first()?.failed_restarts >= Exit::MAX_RESTARTS {
            return None;
        }
        let most = match registry.get(parent)?.trace.checks_start_once() {
            true => cost::MAX_CHECKED_ONCE,
            false => cost::MAX_VARIANTS,
        };
        for _ in 0..most {
            let e = registry.get(n)?;
            if let Some(start) = e.start {
                return (!matches!(start.original.op(), Bc::FUNCF | Bc::FUNCV)).then_some(start);
            }
            n = e.trace.parent.filter(|p| p.exit == SnapId::FIRST)?.trace;
        }
        None
    }
    /// The slots that `parent`, or a trace before it with the same start, loads as nums.
    fn nums_at_start(&self, parent: TraceId) -> Vec<SlotIdx> {
        let registry = self.registry.borrow();
        let mut slots = Vec::new();
        let mut next = Some(parent);
        for _ in 0..cost::MAX_CHAIN.max(cost::MAX_CHECKED_ONCE) {
            let Some(e) = next.and_then(|n| registry.get(n)) else { break };
            let loads = e.trace.ins.iter().filter(|i| i.op == Op::SLOAD && i.ty == Ty::Num && i.is_guard()).map(|i| i.a.slot());
            slots.extend(loads);
            next = e.trace.parent.filter(|p| p.exit == SnapId::FIRST).map(|p| p.trace);
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }
    /// A number for a new trace. If there is none, all traces are flushed.
    fn number(&self, vm: &mut Vm) -> Option<TraceId> {
        let max = self.settings.options.get().params.maxtrace;
        let free = self.registry.borrow_mut().free_number(max);
        if free.is_some() {
            return free;
        }
        self.drop_traces(vm);
        None
    }
    #[allow(clippy::too_many_arguments, reason = "all that a recording consists of")]
    fn begin(
        &self,
        vm: &mut Vm,
        number: TraceId,
        start: Value,
        at: usize,
        origin: Origin,
        recorder: Result<Recorder, Abort>,
        begun: Instant,
    ) {
        self.count(|c| c.started += 1);
        self.publish();
        if self.recording.cancelled.replace(false) {
            return self.fail(vm, number, (start, at), origin, Abort::Error.into(), None);
        }
        match recorder {
            Ok(recorder) => {
                let recording = Recording { recorder, number, start, origin, at: (start, at), spent: begun.elapsed() };
                *self.recording.current.borrow_mut() = Some(recording);
                vm.set_mode(Mode::Record);
            }
            Err(reason) => self.fail(vm, number, (start, at), origin, reason.into(), None),
        }
    }
    fn report_start(&self, vm: &mut Vm, number: TraceId, func: Value, pc: usize, parent: Option<(TraceId, Option<SnapId>)>) {
        if log::on(Topic::Trace) {
            let line = func.as_func().and_then(|f| f.proto()).map_or(0, |p| p.line(pc));
            eprintln!("[TRACE {number} start at line {line}, parent {parent:?}]");
        }
        self.notify(|w| w.started(&Start { number, func, pc, parent }));
        if !self.listens(vm, Event::Trace) {
            return;
        }
        let what = Value::str(vm.new_str(b"start"));
        let mut args = vec![what, Value::int(number.get() as i32), func, Value::int(pc as i32)];
        if let Some((parent, exit)) = parent {
            args.extend([Value::int(parent.get() as i32), Value::int(exit.map_or(-1, |k| k.number() as i32))]);
        }
        self.send(vm, Event::Trace, &args);
    }
}
