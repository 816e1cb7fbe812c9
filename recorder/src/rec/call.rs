//! Calls: Lua functions are inlined, builtins are recorded as IR.

use super::meta::Operand;
use super::on_trace::on_trace;
use super::protect::Protector;
use super::{AbortInfo, Flow, Frame, FrameKind, Rec, Recorder, view};
use crate::abort::Abort;
use crate::ir::{IrRef, Link, Op, SlotIdx, Ty};
use perilune_vm::bc::{Ins, Op as Bc};
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::layout::Field;
use perilune_vm::meta::MM;
use perilune_vm::object::{Func, Gc, InsPtr, Proto};
use perilune_vm::stdlib::{Builtin, OnTrace};
use perilune_vm::{Value, Vm};

/// A call in the current frame.
#[derive(Copy, Clone)]
pub(super) struct CallSite {
    /// The instruction.
    pub(super) pc: InsPtr,
    /// The local that the function is in. Its arguments are in those after the link, from `a + 2` on.
    pub(super) a: usize,
    /// Number of arguments.
    pub(super) nargs: usize,
    /// Number of results that the instruction takes, plus 1; 0 for all.
    pub(super) want: usize,
}

impl Recorder {
    /// Number of arguments of a call instruction.
    pub(super) fn call_args(&self, vm: &Vm, ins: Ins) -> usize {
        match ins.op() {
            Bc::CALL => ins.c() - 1,
            Bc::CALLM => ins.c() + vm.multres as usize,
            Bc::CALLT => ins.d() - 1,
            _ => ins.d() + vm.multres as usize,
        }
    }

    /// Guards that the called function is this one.
    pub(super) fn specialize(&mut self, r: IrRef, f: Gc<Func>) -> Rec<IrRef> {
        if r.is_const() || self.closure(r).is_some() || is_injected(Fault::CalleeUnchecked) {
            return Ok(r);
        }
        // Of one prototype there may be many closures, and the host may have made many functions: that it is one of them is guarded.
        let is_one_of_many = match f.proto() {
            Some(p) => self.feedback.one_of_many(f, p),
            None => f.is_of_host(),
        };
        if is_one_of_many {
            let pc = self.field(r, Field::FuncPc)?;
            let k = self.b.kptr(f.pc.get().expose_provenance() as u64);
            self.b.emit(Op::EQ, Ty::P64, pc, k)?;
            return Ok(r);
        }
        if !f.native_upvalues().is_empty() && on_trace(f) == OnTrace::Call {
            // There are many functions of this builtin, each with its own state: the id of the builtin is guarded.
            let id = self.field(r, Field::FuncFfid)?;
            self.guard_int(id, f.ffid() as i32)?;
            return Ok(r);
        }
        self.guard_is(r, Value::func(f))
    }

    /// CALL, CALLM.
    pub(super) fn call(&mut self, vm: &Vm, call: CallSite) -> Rec<Flow> {
        let callee = self.operand(vm, call.a)?;
        let not_inlined = self.feedback.site.has_many_callees() && !self.is_given_to_loop(callee.0);
        if self.ends_before_call(callee.1, not_inlined) {
            return Ok(Flow::Stop(Link::Stitch, call.pc));
        }
        self.call_value(vm, call, callee)
    }
    /// Does the trace start at its loop for values of other types than the trace before it, and is it a function that all iterations call? That
    /// is one from a local of the loop, as one that is given to `map` or `each`, or one that the trace before it checks in front of the loop.
    /// Then such a check says which one it is. (A root trace would keep the function alive for as long as the loop's.)
    fn is_given_to_loop(&self, callee: IrRef) -> bool {
        self.start.is_root
            && self.start.body.is_some()
            && self.b.trace.parent.is_some()
            && self.at_start_depth()
            && (self.start.place.checked_once || self.b.is_op(callee, Op::SLOAD).is_some())
    }
    /// Ends the trace in front of a call of this function, if the function should not be inlined, and if the trace may end there. Returns
    /// whether it does.
    fn ends_before_call(&mut self, f: Value, not_inlined: bool) -> bool {
        let is_lua = f.as_func().is_some_and(|f| f.proto().is_some());
        let may_end = self.b.trace.parent.is_some() || !self.start.pending;
        let ends = not_inlined && is_lua && may_end;
        if ends {
            self.info = AbortInfo::Func(f);
        }
        ends
    }
    /// Calls a function, which need not be in its local yet, or an object with `__call`.
    pub(super) fn call_value(&mut self, vm: &Vm, call: CallSite, (r, v): Operand) -> Rec<Flow> {
        let CallSite { pc, a, nargs, .. } = call;
        let Some(f) = v.as_func() else { return self.call_object(vm, call, (r, v)) };
        let Some(proto) = f.proto() else {
            let kind = Protector::of(f);
            if let Some(flow) = self.builtin_metamethod(vm, call, (r, f))? {
                return Ok(flow);
            }
            self.keep_allocations_for(f)?;
            if kind.is_none() && self.switch(vm, super::coroutine::Call { pc, f: (r, f), a, nargs, tail: false })? {
                return Ok(Flow::Next);
            }
            if kind.is_none() && self.is_for_stitch(f) {
                // The interpreter executes the call.
                return self.stop_before(pc, f);
            }
            let r = self.specialize(r, f)?;
            let done = match kind {
                Some(kind) => self.protected_call(vm, call, kind),
                None => self.builtin(vm, call, (r, f)).map(|()| Flow::Next),
            };
            return if matches!(done, Err(Abort::NyiFastFunc)) { self.stop_before(pc, f) } else { done };
        };
        let func = self.specialize(r, f)?;
        let base = self.base;
        self.stack.frames.push(Frame { base, proto: self.proto, kind: FrameKind::Call });
        self.base = base + a + 2;
        self.need(self.base + nargs);
        let link = self.b.kptr(view::at(pc, 1).addr().get());
        self.set_abs(self.base - 2, func);
        self.set_abs(self.base - 1, link);
        self.enter_callee(proto);
        Ok(Flow::Next)
    }
    /// A call of `tostring`, `pairs` or `ipairs` with an object that has a metamethod for it becomes a call of that; `None` for any other
    /// call. Only cdata have metamethods for `pairs` and `ipairs`.
    fn builtin_metamethod(&mut self, vm: &Vm, call: CallSite, (r, f): (IrRef, Gc<Func>)) -> Rec<Option<Flow>> {
        let mm = match Builtin::from_id(f.ffid()) {
            Some(Builtin::Tostring) => MM::ToString,
            Some(Builtin::Pairs) => MM::Pairs,
            Some(Builtin::Ipairs) => MM::Ipairs,
            _ => return Ok(None),
        };
        if call.nargs == 0 || self.native.iterating {
            return Ok(None);
        }
        let x = self.operand(vm, call.a + 2)?;
        let method = match self.cdata_method(vm, mm, &[x])? {
            None if mm == MM::ToString && !x.1.is_str() => Some(self.metamethod(vm, x, mm)?),
            found => found,
        };
        let Some(method) =
            method.filter(|m| m.1.as_func().is_some_and(|g| Builtin::from_id(g.ffid()) != Some(Builtin::Tostring)))
        else {
            return Ok(None);
        };
        self.specialize(r, f)?;
        let flow = self.call_value(vm, CallSite { nargs: 1, ..call }, method)?;
        self.native.headers += 1;
        Ok(Some(flow))
    }
    /// Calls the `__call` of an object, with the object as its first argument.
    fn call_object(&mut self, vm: &Vm, call: CallSite, object: Operand) -> Rec<Flow> {
        let CallSite { pc, a, nargs, .. } = call;
        if object.1.is_cdata()
            && let Some(flow) = self.cdata_call(vm, call, object)?
        {
            return Ok(flow);
        }
        let (r, v) = self.metamethod(vm, object, MM::Call)?;
        let Some(f) = v.as_func() else { return self.nyi(Bc::CALL) };
        if f.proto().is_none() && self.is_for_stitch(f) {
            return self.stop_in_front(pc, f, Link::Interp);
        }
        self.insert_argument(call, object.0);
        if f.proto().is_none() {
            let r = self.specialize(r, f)?;
            return self.native(vm, pc, (r, f), a, nargs + 1).map(|()| Flow::Next);
        }
        self.call_value(vm, CallSite { nargs: nargs + 1, ..call }, (r, Value::func(f)))
    }
    /// Makes room for an object in front of the arguments of a call.
    pub(super) fn insert_argument(&mut self, call: CallSite, object: IrRef) {
        let first = self.base + call.a + 2;
        self.need(first + call.nargs + 1);
        for i in (0..call.nargs).rev() {
            let arg = self.slots[first + i];
            self.set_abs(first + i + 1, arg);
        }
        self.set_abs(first, object);
    }
    /// Enters the frame at the current base, for a function that is about to run.
    pub(super) fn enter_callee(&mut self, proto: Gc<Proto>) {
        self.open.top = SlotIdx::FUNC;
        self.open.count = 0;
        self.note_proto(proto);
        self.enter_frame(proto);
        self.snaps.needed = true;
    }
    pub(super) fn note_proto(&mut self, proto: Gc<Proto>) {
        if !self.deps.protos.contains(&proto) {
            self.deps.protos.push(proto);
        }
    }

    /// Loads the arguments of a call before the frame moves.
    pub(super) fn load_args(&mut self, vm: &Vm, from: usize, n: usize) -> Rec<()> {
        if n > 100 {
            return Err(Abort::TooDeep);
        }
        for i in 0..n {
            self.get(vm, from + i)?;
        }
        Ok(())
    }

    /// CALLT, CALLMT.
    pub(super) fn tail_call(&mut self, vm: &Vm, pc: InsPtr, ins: Ins) -> Rec<Flow> {
        let (a, nargs) = (ins.a(), self.call_args(vm, ins));
        let (r, v) = self.operand(vm, a)?;
        // A vararg function has another frame below, which is left as well.
        let may_call = ins.op() == Bc::CALLT && !self.proto.is_vararg();
        let is_long = self.unroll.tail_calls >= self.params.loopunroll;
        if self.ends_before_call(v, may_call && (is_long || self.feedback.site.has_many_tail_callees())) {
            return Ok(Flow::Stop(Link::Interp, pc));
        }
        self.load_args(vm, a + 2, nargs)?;
        let mut args: Vec<IrRef> = (0..nargs).map(|i| self.slots[self.base + a + 2 + i]).collect();
        let (r, f) = match v.as_func() {
            Some(f) => (r, f),
            None => {
                let found = match v.is_cdata() {
                    true => self.cdata_tail_call(vm, (a, nargs), (r, v))?,
                    false => Err(None),
                };
                let found = match found {
                    Ok(flow) => return Ok(flow),
                    Err(found) => found,
                };
                args.insert(0, r);
                let (r, m) = match found {
                    Some(f) => f,
                    None => self.metamethod(vm, (r, v), MM::Call)?,
                };
                let Some(f) = m.as_func() else { return self.nyi(ins.op()) };
                if f.proto().is_none() {
                    // A trace of a function that only returns is not linked to: callers record the function themselves.
                    let link = if self.may_return(vm) { Link::Interp } else { Link::Return };
                    return self.stop_in_front(pc, f, link);
                }
                (r, f)
            }
        };
        let Some(proto) = f.proto() else {
            return self.tail_builtin(vm, pc, f, a, r, nargs);
        };
        let func = self.specialize(r, f)?;
        if let Some(top) = self.stack.frames.last().copied().filter(|f| f.kind == FrameKind::Vararg) {
            self.stack.frames.pop();
            self.base = top.base;
        } else if self.stack.frames.is_empty() && self.proto.is_vararg() {
            if self.start.is_root || self.has_switched() {
                // The frame that the call replaces is below the start of the trace. Callers record the function themselves.
                return if self.start.pending { self.nyi(ins.op()) } else { Ok(Flow::Stop(Link::Return, pc)) };
            }
            self.leave_vararg_frame(vm)?;
        }
        self.clear_from(self.base);
        self.set_abs(self.base - 2, func);
        for (i, r) in args.into_iter().enumerate() {
            self.set_abs(self.base + i, r);
        }
        self.unroll.tail_calls += 1;
        if self.unroll.tail_calls > self.params.loopunroll {
            return Err(Abort::LoopUnroll);
        }
        self.enter_callee(proto);
        Ok(Flow::Next)
    }
    /// A builtin in tail position: called in place, then its results are returned.
    fn tail_builtin(&mut self, vm: &Vm, pc: InsPtr, f: Gc<Func>, a: usize, r: IrRef, nargs: usize) -> Rec<Flow> {
        if self.comes_back(pc) {
            return Ok(Flow::Stop(Link::DownRec, pc));
        }
        if self.switch(vm, super::coroutine::Call { pc, f: (r, f), a, nargs, tail: true })? {
            return Ok(Flow::Next);
        }
        let (kind, below) = (Protector::of(f), self.stack.leaves_start());
        if !self.may_return(vm) || kind.is_some() && below {
            return self.stop_in_front(pc, f, Link::Return);
        }
        if kind.is_none() && self.is_for_stitch(f) {
            return self.stop_in_front(pc, f, Link::Interp);
        }
        let r = self.specialize(r, f)?;
        if let Some(kind) = kind {
            return match self.protected_tail_call(vm, kind, a, nargs) {
                Err(Abort::NyiFastFunc) => self.stop_in_front(pc, f, Link::Interp),
                done => done,
            };
        }
        // The links must be checked before the builtin, which may have an effect.
        if below && !self.check_below(vm)? {
            return self.stop_in_front(pc, f, Link::Return);
        }
        let Some(results) = self.try_builtin(vm, f, (a, nargs), 0)? else {
            if !self.is_replaceable() {
                return self.stop_in_front(pc, f, Link::Return);
            }
            return self.tail_native(vm, pc, (r, f), a, nargs).map(|()| Flow::Next);
        };
        self.place_builtin(a, &results, 0);
        self.return_results(vm, results, None, below)
    }
    /// Ends the trace in front of a call that the interpreter executes: in tail position, or of a metamethod.
    pub(super) fn stop_in_front(&mut self, pc: InsPtr, f: Gc<Func>, link: Link) -> Rec<Flow> {
        if self.start.pending { self.nyi_func(Value::func(f)) } else { Ok(Flow::Stop(link, pc)) }
    }

    /// FUNCF: missing arguments are nil; recursion is limited.
    pub(super) fn func_header(&mut self, vm: &Vm, pc: InsPtr) -> Rec<Flow> {
        let nargs = vm.interp.record_nargs as usize;
        for i in nargs..self.proto.num_params() as usize {
            self.set(i, IrRef::NIL);
        }
        self.clear_from(self.base + self.proto.num_params() as usize);
        if let Some(link) = self.check_unroll(pc)? {
            let first = view::at(pc, 1);
            if link == Link::TailRec {
                self.leave_on_request(vm, first)?;
            }
            return Ok(Flow::Stop(link, first));
        }
        Ok(Flow::Next)
    }
    /// Counts activations of the current function.
    fn check_unroll(&mut self, pc: InsPtr) -> Rec<Option<Link>> {
        let count = self.stack.activations(self.proto);
        if pc == self.start.pc && self.comes_round() {
            return Ok(Some(Link::UpRec));
        }
        if pc == self.start.pc {
            if count + self.unroll.tail_calls > self.params.recunroll {
                let link = if self.at_start_depth() { Link::TailRec } else { Link::UpRec };
                return if self.stack.returned == 0 { Ok(Some(link)) } else { Err(Abort::CallUnroll) };
            }
        } else if count > self.params.callunroll {
            return Err(Abort::CallUnroll);
        }
        Ok(None)
    }

    /// FUNCV: the frame moves above its arguments.
    pub(super) fn vararg_header(&mut self, vm: &Vm, pc: InsPtr) -> Rec<Flow> {
        let nargs = vm.interp.record_nargs as usize;
        self.clear_from(self.base + nargs);
        let params = self.proto.num_params() as usize;
        let (old, new) = (self.base, self.base + nargs + 2);
        self.need(new);
        let mut args = Vec::with_capacity(params);
        for i in 0..params {
            args.push(if i < nargs { self.get(vm, i)? } else { IrRef::NIL });
        }
        for i in 0..params.min(nargs) {
            self.set_abs(old + i, IrRef::NIL);
        }
        let func = self.slots[old - 2];
        let link = self.b.kptr(((nargs as u64 + 2) << 3) | 3);
        self.stack.frames.push(Frame { base: old, proto: self.proto, kind: FrameKind::Vararg });
        self.base = new;
        self.set_abs(new - 2, func);
        self.set_abs(new - 1, link);
        for (i, r) in args.into_iter().enumerate() {
            self.set_abs(new + i, r);
        }
        self.enter_frame(self.proto);
        self.snaps.needed = true;
        if let Some(link) = self.check_unroll(pc)? {
            return Ok(Flow::Stop(link, view::at(pc, 1)));
        }
        Ok(Flow::Next)
    }
}
