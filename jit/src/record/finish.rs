//! The end of a recording that became a trace: the trace is compiled, registered, and entered from its start.
//!
//! Next on the way of a hot loop: `jit/src/trace/machine.rs`.

use super::abort::Failure;
use super::{Origin, Recording};
use crate::Jit;
use crate::policy::clock::now;
use crate::policy::cost;
use crate::trace::code::{Code, Placed};
use crate::trace::machine::{Refused, Watched};
use crate::trace::{Cost, NewTrace, TraceStart};
use crate::view::events::Event;
use crate::view::log::{self, Topic};
use perilune_backend::CodeMap;
use perilune_backend::exit_abi::exit_args;
use perilune_recorder::abort::Abort;
use perilune_recorder::ir::{Link, Transfer};
use perilune_recorder::rec::FinishedTrace;
use perilune_vm::bc::Op;
use perilune_vm::object::BcPos;
use perilune_vm::state::Activity;
use perilune_vm::{TraceId, Value, Vm};

/// Has a trace that ends in front of a call to be stitched resume at the stitch stub of the call.
fn resume_at_stub(done: &mut FinishedTrace, id: TraceId) {
    if done.trace.link != Link::Stitch {
        return;
    }
    let is_lua = done.stitch.and_then(|f| f.as_func()?.proto()).is_some();
    if let Some(last) = done.trace.snaps.last_mut()
        && let Some(at) = done.last.pc_of(last.pc)
        && done.last.ins(at + 1).is_some_and(|back| is_lua || !ends_loop(back.op()))
        && let Some(stub) = done.last.make_stitch_stub(at, id)
    {
        last.pc = stub.entry();
        if is_lua && let Some(call) = done.last.ins(at).filter(|call| call.op() == Op::CALL) {
            let (func, nargs) = (call.a() as u8, (call.c() - 1) as u8);
            done.trace.transfer = Some(Transfer::Call { func, nargs, link: Some(stub.stitch()) });
        }
    }
}
/// What a trace does itself that ends in front of a return or a tail call.
fn transfer_from(done: &FinishedTrace) -> Option<Transfer> {
    let last = done.last.ins(done.last.pc_of(done.trace.snaps.last()?.pc)?)?;
    let returns = |count: usize| Transfer::Return { first: last.a() as u8, count: count as u8 };
    match (done.trace.link, last.op()) {
        (Link::Return, Op::RET0) => Some(returns(0)),
        (Link::Return, Op::RET1) => Some(returns(1)),
        (Link::Return, Op::RET) => Some(returns(last.d() - 1)),
        // A vararg function has another frame below, which is left as well.
        (Link::Interp, Op::CALLT) if !done.last.is_vararg() => {
            Some(Transfer::Call { func: last.a() as u8, nargs: (last.d() - 1) as u8, link: None })
        }
        _ => None,
    }
}
/// Is it an instruction that enters traces of a loop? Then nothing needs to be stitched.
fn ends_loop(op: Op) -> bool {
    matches!(op, Op::FORL | Op::IFORL | Op::JFORL | Op::ITERL | Op::IITERL | Op::JITERL | Op::LOOP | Op::ILOOP | Op::JLOOP)
}
/// Makes the instruction at `pos` enter trace `n`.
fn armed(pos: BcPos, n: TraceId) -> Option<TraceStart> {
    let original = pos.ins()?;
    crate::trace::patch::arm(pos, n).then_some(TraceStart { pos, original })
}

impl Jit {
    /// Compiles a finished trace, registers it, and makes its start enter it.
    pub(super) fn finish(&self, vm: &mut Vm, mut done: FinishedTrace) {
        let Some(Recording { number, start, origin, at, spent, .. }) = self.end_recording(vm) else { return };
        if self.misses_recursion(vm, origin, done.trace.link) {
            return self.fail(vm, number, at, Origin::Nowhere, Abort::TooShort.into(), Some(&done.trace));
        }
        if self.is_too_expensive(vm, origin, &done) {
            return self.fail(vm, number, at, Origin::Nowhere, Abort::CodeTooLong.into(), Some(&done.trace));
        }
        let begun = now();
        crate::view::sites::report_trace(vm, &done, number);
        done.trace.transfer = transfer_from(&done);
        resume_at_stub(&mut done, number);
        if vm.counts_fuel() {
            // The interpreter takes the fuel of calls, returns and function headers.
            done.trace.transfer = None;
        }
        self.link_to_variant(vm, &mut done);
        self.stress_exits(vm, &mut done.trace);
        let before = vm.begin_activity(Activity::Assembler);
        let placed = self.place(vm, &done, number);
        vm.begin_activity(before);
        let placed = match placed {
            Ok(placed) => placed,
            Err(Refused::Abort(reason, info)) => {
                let failure = Failure { reason, info, error: None };
                return self.fail(vm, number, at, origin, failure, Some(&done.trace));
            }
            Err(Refused::Interrupted) => {
                self.forget_attempt(&done.trace);
                return self.fail(vm, number, at, Origin::Nowhere, Abort::Error.into(), Some(&done.trace));
            }
            Err(Refused::Full) => {
                self.drop_traces(vm);
                return self.fail(vm, number, at, Origin::Nowhere, Abort::CodeFull.into(), Some(&done.trace));
            }
        };
        for &field in &done.watched {
            vm.heap.use_watched(field);
        }
        let compile = now().saturating_sub(begun) + self.machine.borrow_mut().take_elsewhere();
        let code = placed.code;
        self.policy.borrow_mut().spend(compile);
        self.count(|c| {
            c.closed += 1;
            c.compiled += u64::from(code.size != 0);
            c.mcode += code.size as u64;
            c.compile_ns += compile.as_nanos() as u64;
        });
        if log::on(Topic::Ir) {
            eprintln!("---- TRACE {number} IR\n{}", done.trace);
        }
        if log::on(Topic::Time) {
            let n = done.trace.ins.len();
            let stores = cost::slots(&done.trace);
            eprintln!(
                "---- TRACE {number}: {n} instructions, {stores} slots in snapshots, {} bytes, recorded in {spent:?}, compiled in {compile:?}",
                code.size
            );
        }
        let first = match origin {
            Origin::Root(pos) => armed(pos, number),
            _ => None,
        };
        let (link, stitch) = (done.trace.link, done.stitch);
        let optimise = done.optimised;
        let passes = core::mem::take(&mut done.passes);
        let history = done.history.take();
        let cost = Cost { record: spent.saturating_sub(optimise), optimise, lower: compile, passes };
        let stub = self.machine.borrow().exit_stub();
        if vm.must_check_in_loops() {
            self.registry.borrow_mut().exits.provide_leaving(vm, stub);
        }
        let replaced = first.map(|start| self.protos.borrow_mut().add_root(start.pos, number)).unwrap_or_default();
        let new = NewTrace { id: number, done, start: first, replaced, placed, cost };
        self.registry.borrow_mut().insert(&mut self.protos.borrow_mut(), new, stub);
        self.registry.borrow_mut().start_countdown(number, self.settings.options.get().params.hottree);
        self.registry.borrow_mut().exits.connect_plain(vm);
        if let Origin::Stitch(call) = origin {
            self.registry.borrow_mut().stitch(number, call);
        }
        self.report_code(number);
        self.report_compiled(vm, number, stitch, history);
        if log::on(Topic::Trace) {
            eprintln!("[TRACE {number} stop {link:?}]");
        }
        if self.listens(vm, Event::Trace) {
            let what = Value::str(vm.new_str(b"stop"));
            let outer = self.recording.announcing.replace(true);
            self.send(vm, Event::Trace, &[what, Value::int(number.get() as i32), stitch.unwrap_or(start)]);
            self.recording.announcing.set(outer);
        }
    }
    fn place(&self, vm: &mut Vm, done: &FinishedTrace, number: TraceId) -> Result<Placed, Refused> {
        let options = self.settings.options.get();
        let base = self.registry.borrow().exits.free(done.trace.snaps.len()).ok_or(Refused::Full)?;
        if options.params.eval != 0 {
            vm.set_enter(crate::trace::machine::evaluate);
            return Ok(Placed { code: Code::default(), map: CodeMap::default(), first_exit: base });
        }
        let limit = (options.params.maxmcode as usize).saturating_mul(1024);
        let sites = crate::view::sites::of(vm, done, number);
        let from_exit = done.trace.parent.and_then(|parent| {
            let registry = self.registry.borrow();
            let (e, k) = (registry.get(parent.trace)?, parent.exit);
            Some((e.unboxed(k), exit_args(&e.trace, k, &done.trace)))
        });
        let (unboxed, exit_args) = from_exit.unwrap_or_default();
        let request = (&done.trace, number, &*sites);
        vm.deliver_walked();
        let watched = Watched { by_explorer: self.is_watched(), readers: options.params.code_readers() };
        let (code, map) = self.machine.borrow_mut().compile(vm, request, (&unboxed, &exit_args), watched, base, limit)?;
        Ok(Placed { code, map, first_exit: base })
    }
}
