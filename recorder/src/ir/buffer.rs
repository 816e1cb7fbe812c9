//! The IR buffer: a trace under construction.
//!
//! [`IrBuffer::emit`] takes an instruction through the emission pipeline (FOLD, CSE, forwarding; `opt::pipeline`), which decides whether it
//! is appended. The caller uses the reference that is returned, which may be that of a constant or of an earlier instruction. LuaJIT does
//! the same with `emitir` and `lj_opt_fold`. The buffer knows the pipeline only as a function pointer, so that the IR does not depend on
//! the optimiser.
//!
//! Instructions of one operation are chained through `IrBuffer::prev`, newest first: a search visits only candidates, and stops at the
//! newest operand, since no equal instruction can be older than that.

use super::history::{History, Request};
use super::{Const, Ins, IrRef, Op, Origin, Snapshot, Trace, TraceExit, Ty, VmRef};
use crate::abort::Abort;
use crate::params::{Limits, OptFlags};
use perilune_vm::Value;

/// The result of an emission: the reference to use.
pub type Emit = Result<IrRef, Abort>;

/// The result of a guard that would always fail.
pub(crate) const GUARD_FAILS: Emit = Err(Abort::GuardAlwaysFails);

/// The emission pipeline: decides whether and how an instruction is appended.
pub type Pipeline = fn(&mut IrBuffer, Ins) -> Emit;

/// References have 15 bits on either side of the bias.
const MAX_REFS: usize = 0x7f00;

/// A trace under construction.
#[derive(Clone, Debug)]
pub struct IrBuffer {
    /// The trace so far.
    pub trace: Trace,
    /// Passes that run.
    pub flags: OptFlags,
    /// Limits.
    pub limits: Limits,
    /// The emission pipeline.
    pipeline: Pipeline,
    /// Newest instruction of each operation; 0 is the end.
    chain: [u16; Op::COUNT],
    /// For each instruction the next older one of its operation.
    prev: Vec<u16>,
    /// Newest constant of each kind.
    kchain: [u16; 9],
    kprev: Vec<u16>,
    /// By index of a num: the sum of ints that has the same low bits, if one was emitted (FOLD of TOBIT). So a chain of sums is analysed
    /// once, and not again for each partial sum.
    low_bits: Vec<IrRef>,
    /// Was a guard emitted since the last snapshot?
    guard_emitted: bool,
    /// The bytecode being recorded, see [`Trace::origins`].
    pub origin: Origin,
    /// Does the trace start at an exit that allocates ([`Trace::exit_allocates`])?
    pub after_allocation: bool,
    /// Objects that the exit has made, and the trace once more.
    pub made_again: Vec<MadeAgain>,
    /// Number of instructions that were requested, appended or not.
    pub requested: usize,
    /// The requested instructions, if the history is kept. `None` while passes run.
    pub history: Option<Box<History>>,
}

/// An object that a side trace makes once more, of what is in the one that its exit has made.
#[derive(Copy, Clone, Debug)]
pub struct MadeAgain {
    /// The new object.
    pub object: IrRef,
    /// The instructions up to this one (exclusive) fill it.
    pub end: IrRef,
    /// The slot with the object that the exit has made, as an operand of SLOAD.
    pub slot: IrRef,
}

fn kind_of(k: Const) -> usize {
    match k {
        Const::Pri(_) => 0,
        Const::Int(_) => 1,
        Const::Num(_) => 2,
        Const::Gc(_) => 3,
        Const::Ptr(_) => 4,
        Const::Vm(_) => 5,
        Const::Null(_) => 6,
        Const::Slot(..) => 7,
        Const::Word(..) => 8,
    }
}

impl IrBuffer {
    /// The sum of ints that has the low bits of a num, if [`IrBuffer::set_low_bits`] was called for it, and the sum is still in the trace.
    pub(crate) fn low_bits(&self, num: IrRef) -> Option<IrRef> {
        let sum = self.low_bits.get(num.ins_index()).filter(|_| !num.is_const());
        let r = *sum.filter(|r| **r != IrRef::NONE)?;
        self.def(r).is_some_and(|i| i.ty == Ty::Int && i.op != Op::NOP).then_some(r)
    }
    /// See [`IrBuffer::low_bits`].
    pub(crate) fn set_low_bits(&mut self, num: IrRef, sum: IrRef) {
        if num.is_const() || sum.is_const() {
            return;
        }
        if self.low_bits.len() <= num.ins_index() {
            self.low_bits.resize(self.trace.ins.len(), IrRef::NONE);
        }
        self.low_bits[num.ins_index()] = sum;
    }
    /// An empty trace.
    pub fn new(flags: OptFlags, limits: Limits, pipeline: Pipeline) -> IrBuffer {
        let mut b = IrBuffer {
            trace: Trace::default(),
            flags,
            limits,
            pipeline,
            chain: [0; Op::COUNT],
            prev: vec![0],
            kchain: [0; 9],
            kprev: vec![0; 3],
            low_bits: Vec::new(),
            guard_emitted: false,
            origin: Origin::default(),
            after_allocation: false,
            made_again: Vec::new(),
            requested: 0,
            history: None,
        };
        b.trace.ins.reserve(256);
        b
    }
    /// Continues an existing trace, for passes.
    pub fn from_trace(trace: Trace, flags: OptFlags, limits: Limits, pipeline: Pipeline) -> IrBuffer {
        let mut b = IrBuffer::new(flags, limits, pipeline);
        b.kprev.clear();
        for (i, &k) in trace.consts.iter().enumerate() {
            b.kprev.push(core::mem::replace(&mut b.kchain[kind_of(k)], IrRef::of_const(i).0));
        }
        b.trace = trace;
        b.rebuild_chains();
        let last = b.trace.snaps.last().map_or(IrRef::BASE, |s| s.at);
        b.guard_emitted = b.trace.ins[last.ins_index().min(b.trace.ins.len())..].iter().any(|i| i.is_guard());
        b
    }

    /// A constant.
    pub fn konst(&mut self, k: Const) -> IrRef {
        let head = &mut self.kchain[kind_of(k)];
        let mut r = *head;
        while r != 0 {
            let i = IrRef(r).const_index();
            if self.trace.consts[i] == k {
                return IrRef(r);
            }
            r = self.kprev[i];
        }
        let new = IrRef::of_const(self.trace.consts.len());
        self.kprev.push(core::mem::replace(head, new.0));
        self.trace.consts.push(k);
        new
    }
    /// An int.
    pub fn kint(&mut self, k: i32) -> IrRef {
        self.konst(Const::Int(k))
    }
    /// A num; all NaNs are one.
    pub fn knum(&mut self, k: f64) -> IrRef {
        self.konst(Const::Num(if k.is_nan() { f64::NAN } else { k }.to_bits()))
    }
    /// An object (or light userdata).
    pub fn kgc(&mut self, k: Value) -> IrRef {
        debug_assert!(k.is_gc() || Ty::of_value(k) == Ty::LightUd);
        self.konst(Const::Gc(k))
    }
    /// Any Lua value.
    pub fn kvalue(&mut self, k: Value) -> IrRef {
        match Ty::of_value(k) {
            Ty::Nil => IrRef::NIL,
            Ty::False => IrRef::FALSE,
            Ty::True => IrRef::TRUE,
            Ty::Int => self.kint(k.as_int_unchecked()),
            Ty::Num => self.knum(k.as_num_unchecked()),
            _ => self.kgc(k),
        }
    }
    /// A raw word or address.
    pub fn kptr(&mut self, k: u64) -> IrRef {
        self.konst(Const::Ptr(k))
    }
    /// A 64-bit integer of type i64, u64 or p64.
    pub fn kword(&mut self, k: u64, ty: Ty) -> IrRef {
        self.konst(if ty == Ty::P64 { Const::Ptr(k) } else { Const::Word(k, ty) })
    }
    /// The null pointer as a value of a type.
    pub fn knull(&mut self, ty: Ty) -> IrRef {
        self.konst(Const::Null(ty))
    }
    /// An address inside the VM.
    pub fn kvm(&mut self, k: VmRef) -> IrRef {
        self.konst(Const::Vm(k))
    }
    /// Key and node index of an HREFK.
    pub fn kslot(&mut self, key: IrRef, slot: u32) -> IrRef {
        self.konst(Const::Slot(key, slot))
    }

    /// The type of a reference.
    #[inline]
    pub fn ty(&self, r: IrRef) -> Ty {
        self.trace.ty(r)
    }
    /// The instruction that a reference names.
    #[inline]
    pub fn def(&self, r: IrRef) -> Option<Ins> {
        self.trace.def(r).copied()
    }
    /// The int constant that a reference names.
    #[inline]
    pub fn as_int(&self, r: IrRef) -> Option<i32> {
        match self.trace.konst(r) {
            Some(Const::Int(k)) => Some(k),
            _ => None,
        }
    }
    /// The 64-bit integer or address that a reference names, if it is a constant.
    #[inline]
    pub fn as_word(&self, r: IrRef) -> Option<u64> {
        match self.trace.konst(r) {
            Some(Const::Word(k, _) | Const::Ptr(k)) => Some(k),
            Some(Const::Null(ty)) if ty.is_word() => Some(0),
            Some(Const::Gc(v)) if Ty::of_value(v) == Ty::LightUd => Some(v.payload()),
            _ => None,
        }
    }
    /// The num constant that a reference names.
    #[inline]
    pub fn as_num(&self, r: IrRef) -> Option<f64> {
        match self.trace.konst(r) {
            Some(Const::Num(k)) => Some(f64::from_bits(k)),
            _ => None,
        }
    }
    /// The object constant that a reference names.
    #[inline]
    pub fn as_gc(&self, r: IrRef) -> Option<Value> {
        match self.trace.konst(r) {
            Some(Const::Gc(k)) => Some(k),
            _ => None,
        }
    }
    /// Newest instruction of an operation; [`IrRef::NONE`] when there is none.
    #[inline]
    pub fn newest(&self, op: Op) -> IrRef {
        IrRef(self.chain[op as usize])
    }
    /// The next older instruction of the same operation.
    #[inline]
    pub fn older(&self, r: IrRef) -> IrRef {
        IrRef(self.prev[r.ins_index()])
    }

    /// Emits an instruction through all enabled stages. Comparisons and some other operations are always guards. An instruction without a
    /// value that turns out to be superfluous returns [`IrRef::NONE`].
    #[inline]
    pub fn emit(&mut self, op: Op, ty: Ty, a: IrRef, b: IrRef) -> Emit {
        self.emit_ins(Ins::new(op, ty, a, b))
    }
    /// The same with the guard bit (a load that checks the type).
    #[inline]
    pub fn guard(&mut self, op: Op, ty: Ty, a: IrRef, b: IrRef) -> Emit {
        self.emit_ins(Ins::new(op, ty, a, b).guarded())
    }
    /// Emits a comparison of two references of one type.
    #[inline]
    pub fn compare(&mut self, op: Op, a: IrRef, b: IrRef) -> Emit {
        let ty = self.ty(a);
        self.emit_ins(Ins::new(op, ty, a, b))
    }
    /// Emits a call of a helper with its arguments.
    pub fn call(&mut self, helper: perilune_vm::helper::Helper, args: &[IrRef]) -> Emit {
        use perilune_vm::helper::HelperEffect;
        let op = match helper.effect() {
            HelperEffect::Pure => Op::CALLN,
            HelperEffect::Load => Op::CALLL,
            HelperEffect::Store => Op::CALLS,
            HelperEffect::Alloc => Op::CALLA,
        };
        let mut chain = args.first().copied().unwrap_or(IrRef::NIL);
        for &arg in args.iter().skip(1) {
            chain = self.emit(Op::CARG, Ty::Nil, chain, arg)?;
        }
        self.emit_ins(Ins::call(op, helper, chain))
    }
    /// Emits an instruction through all enabled stages.
    pub fn emit_ins(&mut self, ins: Ins) -> Emit {
        self.requested += 1;
        if self.history.is_none() {
            return (self.pipeline)(self, ins);
        }
        self.emit_logged(ins, self.pipeline)
    }
    /// Emits an instruction, and adds the request to the history.
    fn emit_logged(&mut self, ins: Ins, emit: Pipeline) -> Emit {
        let Some(mut history) = self.history.take() else { return emit(self, ins) };
        let before = self.trace.next_ref();
        let made = emit(self, ins);
        if let Ok(result) = made {
            let is_new = !result.is_const() && result >= before;
            history.requests.push(Request { ins, result, is_new, origin: self.origin.pc });
        }
        self.history = Some(history);
        made
    }
    /// Appends an instruction without the pipeline.
    pub fn emit_raw(&mut self, op: Op, ty: Ty, a: IrRef, b: IrRef) -> Emit {
        self.requested += 1;
        let ins = Ins::new(op, ty, a, b);
        self.emit_logged(ins, IrBuffer::append)
    }
    /// Appends an instruction without the pipeline.
    pub fn append(&mut self, ins: Ins) -> Emit {
        let n = self.trace.ins.len();
        if n >= (self.limits.maxrecord as usize).min(MAX_REFS)
            || self.trace.consts.len() > (self.limits.maxirconst as usize).saturating_add(3).min(MAX_REFS)
        {
            return Err(Abort::TooLong);
        }
        let r = IrRef::of_ins(n);
        self.guard_emitted |= ins.is_guard();
        self.prev.push(core::mem::replace(&mut self.chain[ins.op as usize], r.0));
        self.trace.ins.push(ins);
        if self.trace.origins.last().is_none_or(|o| o.1 != self.origin) {
            self.trace.origins.push((n as u16, self.origin));
        }
        Ok(r)
    }

    /// Makes the trace a side trace of an exit.
    pub fn set_parent(&mut self, parent: TraceExit) {
        self.trace.parent = Some(parent);
        let base = &mut self.trace.ins[0];
        (base.a, base.b) = (IrRef(parent.trace.operand()), IrRef(parent.exit.number() as u16));
    }
    /// Was a guard emitted since the last snapshot? If not, there is no need for another one.
    pub fn guard_emitted(&self) -> bool {
        self.guard_emitted
    }
    /// Must a snapshot be taken before the state changes? Only if there is none that guards emitted from here on could leave through.
    pub fn needs_snapshot(&self) -> bool {
        self.guard_emitted || self.trace.snaps.is_empty()
    }
    /// The next guard decides a branch, see [`Snapshot::decides`].
    pub fn decide(&mut self) {
        if let Some(last) = self.trace.snaps.last_mut() {
            last.decides = true;
        }
    }
    /// Adds a snapshot, which applies from `snap.at` on, the next instruction. It replaces the last one if no guard was emitted since;
    /// snapshot 0, the state at the start of the trace, is never replaced.
    pub fn add_snapshot(&mut self, mut snap: Snapshot) -> Result<(), Abort> {
        debug_assert!(snap.slots.is_sorted_by(|a, b| a.slot < b.slot));
        if let Some(last) = self.trace.snaps.last() {
            let at = core::mem::replace(&mut snap.at, last.at);
            if snap == *last {
                return Ok(());
            }
            snap.at = at;
            if !self.guard_emitted && self.trace.snaps.len() > 1 {
                self.trace.snaps.pop();
            }
        }
        if self.trace.snaps.len() >= self.limits.maxsnap as usize {
            return Err(Abort::TooManySnapshots);
        }
        self.guard_emitted = false;
        self.trace.snaps.push(snap);
        Ok(())
    }

    /// Removes an instruction: it becomes a NOP.
    pub(crate) fn remove(&mut self, r: IrRef) {
        let op = self.trace.ins[r.ins_index()].op;
        let next = self.prev[r.ins_index()];
        if self.chain[op as usize] == r.0 {
            self.chain[op as usize] = next;
        } else {
            let mut p = self.newest(op);
            while p > r {
                if self.older(p) == r {
                    self.prev[p.ins_index()] = next;
                    break;
                }
                p = self.older(p);
            }
        }
        self.prev[r.ins_index()] = 0;
        self.trace.ins[r.ins_index()] = Ins::new(Op::NOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    }
    /// Removes all instructions from `n` on. (Instructions that were made NOPs do not come back.)
    pub(crate) fn rollback(&mut self, n: usize) {
        self.trace.origins.retain(|o| usize::from(o.0) < n);
        self.trace.native_writes.retain(|w| w.at.ins_index() < n);
        self.low_bits.truncate(n);
        for sum in self.low_bits.iter_mut().filter(|r| **r != IrRef::NONE && r.ins_index() >= n) {
            *sum = IrRef::NONE;
        }
        while self.trace.ins.len() > n {
            let r = IrRef::of_ins(self.trace.ins.len() - 1);
            let prev = self.prev.pop().unwrap_or(0);
            if let Some(ins) = self.trace.ins.pop()
                && self.chain[ins.op as usize] == r.0
            {
                self.chain[ins.op as usize] = prev;
            }
        }
    }
    /// Rebuilds the chains after a pass that changed instructions in place.
    pub(crate) fn rebuild_chains(&mut self) {
        self.chain = [0; Op::COUNT];
        self.low_bits.clear();
        self.prev.clear();
        self.prev.push(0);
        for (i, ins) in self.trace.ins.iter().enumerate().skip(1) {
            if ins.op == Op::NOP {
                self.prev.push(0);
            } else {
                self.prev.push(core::mem::replace(&mut self.chain[ins.op as usize], IrRef::of_ins(i).0));
            }
        }
    }
    pub(crate) fn set_guard_emitted(&mut self, on: bool) {
        self.guard_emitted = on;
    }
}
