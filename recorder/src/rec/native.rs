//! Calls of builtins that the recorder cannot express in IR.
//!
//! The call is one instruction, NATIVE. It stores the state of the current snapshot to the stack, the builtin's frame included, and calls
//! the builtin there. Its results are not known before the interpreter has executed the call: the recorder looks at them at the next
//! instruction, and loads those that are used from the stack.

use super::on_trace::on_trace;
use super::stack::Cont;
use super::{AbortInfo, Flow, FrameKind, Rec, Recorder, Site, view};
use crate::abort::Abort;
use crate::ir::{Effect, IrRef, Link, NativeWrite, Op, SlotIdx, Snapshot, Ty, VmRef, native, xload};
use perilune_vm::interp::stack::NATIVE_MIN;
use perilune_vm::interp::{cont, frame};
use perilune_vm::object::{BcPos, Func, Gc, InsPtr};
use perilune_vm::stdlib::{Builtin, OnTrace};
use perilune_vm::{Value, Vm};

/// A call whose results are not known yet.
#[derive(Copy, Clone, Debug)]
pub(super) struct PendingCall {
    /// The builtin, and the call.
    f: Value,
    call: InsPtr,
    /// Where the interpreter returns to: the instruction, and the distance of the frame from the start of the stack.
    pc: InsPtr,
    frame: usize,
    /// First slot of the results, and their number, plus 1 (0: all).
    dest: SlotIdx,
    want: usize,
    /// The comparison whose metamethod it is.
    comparison: Option<Comparison>,
}

/// A comparison that calls a builtin as its metamethod: the result decides where the program goes on.
#[derive(Copy, Clone, Debug)]
struct Comparison {
    /// The comparison. A jump follows.
    pc: InsPtr,
    /// Is the jump taken if the result is true?
    if_true: bool,
}

impl Comparison {
    /// Where the interpreter goes on if the jump is taken, or is not.
    fn next(self, taken: bool) -> InsPtr {
        let jump = view::at(self.pc, 1);
        if taken { view::target(jump, jump.ins()) } else { view::at(self.pc, 2) }
    }
}

/// A boolean that a C function returns, which is not known before the interpreter has executed the call.
#[derive(Copy, Clone, Debug)]
pub(super) struct PendingBool {
    /// The boolean as an int.
    pub(super) value: IrRef,
    /// The slot that gets it.
    pub(super) dest: SlotIdx,
    /// The instruction after the call.
    pub(super) pc: InsPtr,
}

/// The calls of builtins that are being recorded.
#[derive(Debug, Default)]
pub(super) struct NativeCalls {
    /// Headers of builtins that are about to be dispatched: they were recorded with their calls.
    pub(super) headers: u32,
    /// Is the call being recorded that of an iterator?
    pub(super) iterating: bool,
    /// A builtin was called whose results are not known yet.
    pub(super) pending: Option<PendingCall>,
    /// A C function was called whose boolean is not known yet.
    pub(super) pending_bool: Option<PendingBool>,
    /// The result of a call of `select` that is about to be dispatched: it was recorded with the VARG in front of it.
    pub(super) selected: Option<IrRef>,
}

/// What happens to the result of a builtin that is a metamethod.
#[derive(Copy, Clone)]
pub(super) enum MetaResult {
    /// Nothing.
    Dropped,
    /// This local gets it.
    Local(usize),
    /// The instruction, a comparison, jumps if it is `if_true`.
    Jump { if_true: bool },
}

/// The frame of a builtin.
struct Frame {
    /// The slot of the first argument.
    at: SlotIdx,
    nargs: usize,
    link: u64,
    /// The first slot that the call overwrites, and the first slot of the results.
    first: SlotIdx,
    dest: SlotIdx,
    /// How many results the call takes, plus 1; 0 for all.
    want: usize,
    /// The instruction after the call, in the current function.
    back: InsPtr,
    /// Slots from the current frame up to the one that runs in the interpreter.
    down: usize,
    /// The comparison whose metamethod it is.
    comparison: Option<Comparison>,
}

impl Frame {
    /// The frame for a call in a Lua function that continues at `back`.
    fn of_call(at: SlotIdx, nargs: usize, back: InsPtr, down: usize) -> Frame {
        let link = back.addr().get();
        let want = view::at(back, -1).ins().b();
        Frame { at, nargs, link, first: at - 2, dest: at - 2, want, back, down, comparison: None }
    }
    /// The frame for a metamethod of the instruction at `pc` of the function with its frame at `base`. The arguments are `delta` slots above
    /// that, after the continuation. The result of a comparison is left in the first slot of the continuation (see `place` of
    /// `vm/src/interp/native.rs`).
    fn of_metamethod(base: SlotIdx, delta: usize, nargs: usize, result: MetaResult, pc: InsPtr, down: usize) -> Frame {
        let (at, link) = (base + delta, frame::link(delta, frame::CONT).bits());
        let first = at - 4;
        let (dest, want, comparison) = match result {
            MetaResult::Dropped => (at, 1, None),
            MetaResult::Local(dest) => (base + dest, 2, None),
            MetaResult::Jump { if_true } => (first, 2, Some(Comparison { pc, if_true })),
        };
        Frame { at, nargs, link, first, dest, want, back: view::at(pc, 1), down, comparison }
    }
}

/// Bytes from the start of the running stack to the running frame.
pub(super) fn frame_at(vm: &Vm) -> usize {
    (vm.base as usize).wrapping_sub(vm.cur.stack.get() as usize)
}

impl Recorder {
    /// Calls builtin `f`, whose reference is `r`.
    fn call_native(&mut self, vm: &Vm, pc: InsPtr, (r, f): (IrRef, Gc<Func>), call: Frame) -> Rec<()> {
        let Frame { at, nargs, link, first, dest, want, back, down, comparison } = call;
        if (at + nargs).index() > usize::from(u8::MAX) {
            return Err(Abort::TooDeep);
        }
        self.gc_step()?;
        let klink = self.b.kptr(link);
        self.set_abs(at - 2, r);
        self.set_abs(at - 1, klink);
        self.open.top = at + nargs;
        // Room for the values that the builtin pushes.
        self.top_slot = self.top_slot.max(at + nargs + NATIVE_MIN);
        let builtin = Builtin::from_id(f.ffid());
        let sees_all = builtin.is_none_or(Builtin::sees_frames);
        self.snaps.seen_from = if sees_all { SlotIdx::FUNC } else { first };
        self.snap(pc)?;
        self.snaps.seen_from = SlotIdx::END;
        let reads = builtin.is_some_and(|b| !b.writes());
        let how = nargs as u16 | if reads { native::READS } else { 0 };
        let done = self.b.emit(Op::NATIVE, Ty::Nil, IrRef::of_slot(at), IrRef(how))?;
        self.b.trace.native_writes.push(NativeWrite { at: done, slots: first..SlotIdx::END });
        if dest < first {
            self.b.trace.native_writes.push(NativeWrite { at: done, slots: dest..dest + want.saturating_sub(1) });
        }
        self.all_stored();
        self.open.top = SlotIdx::FUNC;
        self.open.count = 0;
        self.clear_from(first);
        for i in 0..want.saturating_sub(1) {
            self.set_fresh(dest + i);
        }
        let frame = frame_at(vm) - down * size_of::<Value>();
        self.native.pending = Some(PendingCall { f: Value::func(f), call: pc, pc: back, frame, dest, want, comparison });
        self.native.headers += 1;
        self.snaps.needed = true;
        Ok(())
    }
    /// Notes that a slot has a value in memory that the trace does not know.
    pub(super) fn set_fresh(&mut self, at: SlotIdx) {
        self.need(at + 1);
        self.slots.write_fresh(at);
    }
    /// The value in a slot that a builtin has written.
    pub(super) fn get_fresh(&mut self, at: SlotIdx, ty: Ty) -> Rec<IrRef> {
        self.b.guard(Op::VLOAD, ty, IrRef::BASE, IrRef(at.from_base() as u16))
    }

    /// A builtin that reports memory in use must see what the trace has allocated, even if no instruction uses it: some programs allocate
    /// until the number rises.
    pub(super) fn keep_allocations_for(&mut self, f: Gc<Func>) -> Rec<()> {
        if !Builtin::from_id(f.ffid()).is_some_and(Builtin::watches_memory) {
            return Ok(());
        }
        for i in 1..self.b.trace.ins.len() {
            if self.b.trace.ins[i].op.effect() == Effect::Alloc {
                self.b.emit_raw(Op::USE, Ty::Nil, IrRef::of_ins(i), IrRef::NONE)?;
            }
        }
        Ok(())
    }
    /// Ends the trace before a call that is stitched.
    pub(super) fn stop_before(&mut self, pc: InsPtr, f: Gc<Func>) -> Rec<Flow> {
        let n = self.b.trace.ins.len() - 1;
        if self.start.pending || n < self.params.minstitch as usize {
            return self.nyi_func(Value::func(f));
        }
        self.info = AbortInfo::Func(Value::func(f));
        let back = on_trace(f) != OnTrace::End;
        Ok(Flow::Stop(if back { Link::Stitch } else { Link::Interp }, pc))
    }

    /// A call in the current frame: the function is in local `a`.
    pub(super) fn native(&mut self, vm: &Vm, pc: InsPtr, f: (IrRef, Gc<Func>), a: usize, nargs: usize) -> Rec<()> {
        let call = Frame::of_call(self.base + a + 2, nargs, view::at(pc, 1), 0);
        self.call_native(vm, pc, f, call)
    }
    /// A protected call of a builtin: the frame of `pcall` or `xpcall` is that of a call in local `a`, and the called builtin follows after
    /// `skip` slots.
    pub(super) fn protected_native(
        &mut self,
        vm: &Vm,
        pc: InsPtr,
        f: (IrRef, Gc<Func>),
        (a, skip): (usize, usize),
        nargs: usize,
        kind: u64,
    ) -> Rec<()> {
        let outer = Frame::of_call(self.base + a + 2, 0, view::at(pc, 1), 0);
        let (at, link) = (outer.at + skip + 2, frame::link(skip + 2, kind).bits());
        let klink = self.b.kptr(outer.link);
        self.set_abs(outer.at - 1, klink);
        self.call_native(vm, pc, f, Frame { at, nargs, link, ..outer })
    }
    /// A builtin as metamethod of the instruction at `pc`. Its continuation and arguments are `delta` slots above the current frame.
    pub(super) fn native_metamethod(
        &mut self,
        vm: &Vm,
        pc: InsPtr,
        f: (IrRef, Gc<Func>),
        delta: usize,
        nargs: usize,
        result: MetaResult,
    ) -> Rec<()> {
        self.call_native(vm, pc, f, Frame::of_metamethod(self.base, delta, nargs, result, pc, 0))
    }
    /// Can a builtin replace the current frame, which was entered on the trace? That of a vararg function is the upper one of two.
    pub(super) fn is_replaceable(&self) -> bool {
        let mut frames = self.stack.frames.iter().rev().skip_while(|f| f.kind == FrameKind::Vararg);
        frames.next().is_some_and(|f| match f.kind {
            FrameKind::Call => true,
            FrameKind::Cont(cont) => matches!(cont.id & 7, cont::TO_A | cont::DROP),
            FrameKind::Vararg | FrameKind::Protected => false,
        })
    }
    /// A tail call in a frame that is replaceable: the frame of the builtin replaces it.
    pub(super) fn tail_native(&mut self, vm: &Vm, pc: InsPtr, (r, f): (IrRef, Gc<Func>), a: usize, nargs: usize) -> Rec<()> {
        let (running, mut at) = (self.base, self.base);
        let args: Vec<IrRef> = (0..nargs).map(|i| self.slots[at + a + 2 + i]).collect();
        while let Some(vararg) = self.stack.frames.pop_if(|f| f.kind == FrameKind::Vararg) {
            at = vararg.base;
        }
        let Some(below) = self.stack.frames.pop() else { return self.nyi_func(Value::func(f)) };
        let link = view::slot(vm, at.index() as isize - running.index() as isize - 1).bits();
        let (delta, down) = (at - below.base, running - below.base);
        let call = match below.kind {
            FrameKind::Call if link & 3 == frame::LUA => Frame::of_call(at, nargs, view::pc_of_link(link), down),
            FrameKind::Cont(Cont { id, pc }) => {
                let result = if id & 7 == cont::TO_A { MetaResult::Local(pc.ins().a()) } else { MetaResult::Dropped };
                Frame::of_metamethod(below.base, delta, nargs, result, pc, down)
            }
            _ => return self.nyi_func(Value::func(f)),
        };
        self.clear_from(at - 2);
        self.base = below.base;
        self.enter_frame(below.proto);
        for (i, r) in args.into_iter().enumerate() {
            self.set_abs(at + i, r);
        }
        self.call_native(vm, pc, (r, f), call)
    }

    /// Guards the number of results of a call that takes all. Until then the number is only known at run time: the builtin has left it in
    /// the VM.
    pub(super) fn open_list(&mut self, vm: &Vm, pc: InsPtr) -> Rec<()> {
        self.open.count = Snapshot::OPEN;
        self.snap(pc)?;
        self.open.count = vm.multres;
        let at = self.b.kvm(VmRef::Multres);
        let count = self.b.emit(Op::XLOAD, Ty::Int, at, IrRef(xload::VOLATILE))?;
        self.guard_int(count, self.open.count as i32)
    }

    /// An error is being thrown. If the builtin whose results are pending threw it, the feedback will make the next recording stitch the
    /// call. Returns the call and its feedback.
    pub fn thrown(&mut self) -> Option<(BcPos, Site)> {
        let call = self.native.pending.take()?;
        Some((self.bc_pos(call.call)?, Site { leaves: true, ..self.feedback.site }))
    }

    /// A builtin did not simply return: the next recording stitches the call.
    pub(super) fn leaves<T>(&mut self, call: PendingCall) -> Rec<T> {
        self.feedback.pc = call.call;
        self.feedback.site.leaves = true;
        if self.b.trace.parent.is_some() { self.nyi_func(call.f) } else { Err(Abort::Retry) }
    }
    /// The first instruction after a builtin was called: its results are known now.
    pub(super) fn after_native(&mut self, vm: &Vm, pc: InsPtr, call: PendingCall) -> Rec<()> {
        let returned = match call.comparison {
            None => pc == call.pc,
            Some(c) => pc == c.next(true) || pc == c.next(false),
        };
        if !returned || frame_at(vm) != call.frame {
            return self.leaves(call);
        }
        if let Some(c) = call.comparison {
            return self.after_comparison(pc, c, call.dest);
        }
        if call.want != 0 {
            return Ok(());
        }
        let n = vm.multres as usize;
        if call.dest + n > SlotIdx::BASE + super::MAX_SLOTS {
            // More results than a trace has slots.
            return self.leaves(call);
        }
        self.open_list(vm, pc)?;
        for i in 0..n {
            self.set_fresh(call.dest + i);
        }
        self.open.top = call.dest + n;
        Ok(())
    }
    /// The first instruction after a comparison has called a builtin, whose result is in slot `dest`: guards which way it went.
    fn after_comparison(&mut self, pc: InsPtr, c: Comparison, dest: SlotIdx) -> Rec<()> {
        let taken = pc == c.next(true);
        if c.next(true) != c.next(false) {
            self.other_branch(c.pc, taken)?;
            // The comparison and its call are over.
            self.decided_after(0);
            self.get_fresh(dest, if taken == c.if_true { Ty::True } else { Ty::False })?;
        }
        self.clear_from(dest);
        Ok(())
    }
}
