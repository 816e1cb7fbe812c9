//! A trace as plain data: instructions, constants, snapshots, link.

use super::constant::Const;
use super::index::{SlotIdx, SnapId};
use super::ins::{Ins, IrRef};
use super::literal::sload;
use super::op::{Mode, Op};
use super::snapshot::Snapshot;
use super::ty::Ty;
use core::ops::Range;
use perilune_vm::TraceId;
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::gc::Marker;
use perilune_vm::helper::Helper;
use perilune_vm::object::{BcAddr, Gc, GcHeader};

/// How a trace ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Link {
    /// Not finished.
    None,
    /// Jumps to a root trace.
    Root(TraceId),
    /// Loops to its own LOOP (or, without one, to its start).
    Loop,
    /// Tail recursion: to its own start, same base.
    TailRec,
    /// Up-recursion: to its own start, with the base of the last snapshot.
    UpRec,
    /// Down-recursion: likewise, after returns.
    DownRec,
    /// Falls back to the interpreter.
    Interp,
    /// Returns to interpreted code.
    Return,
    /// Ends before a call that is not compiled, or of a function that is not inlined.
    Stitch,
}

impl Link {
    /// The name `jit.util.traceinfo` reports.
    pub const fn name(self) -> &'static str {
        match self {
            Link::None => "none",
            Link::Root(_) => "root",
            Link::Loop => "loop",
            Link::TailRec => "tail-recursion",
            Link::UpRec => "up-recursion",
            Link::DownRec => "down-recursion",
            Link::Interp => "interpreter",
            Link::Return => "return",
            Link::Stitch => "stitch",
        }
    }
}

/// An exit of a trace.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceExit {
    /// The trace.
    pub trace: TraceId,
    /// The exit, which has the number of its snapshot.
    pub exit: SnapId,
}

impl core::fmt::Display for TraceExit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.trace, self.exit)
    }
}

impl core::fmt::Debug for TraceExit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{self}")
    }
}

/// A trace. Snapshot `i` is exit `i`; the last snapshot is the state at the trace's end (for links other than a LOOP).
#[derive(Clone, Debug)]
pub struct Trace {
    /// Instructions; index 0 is BASE.
    pub ins: Vec<Ins>,
    /// Constants; 0, 1, 2 are nil, false, true.
    pub consts: Vec<Const>,
    /// Snapshots in order of `at`.
    pub snaps: Vec<Snapshot>,
    /// How it ends.
    pub link: Link,
    /// For a side trace: the exit of its parent that it continues at.
    pub parent: Option<TraceExit>,
    /// The first local of the frame that the trace is entered in: [`SlotIdx::BASE`], unless it is a side trace that keeps the frames which its
    /// parent has entered. Slots are counted from the lowest of these.
    pub entry: SlotIdx,
    /// Highest stack slot (exclusive) that any frame of the trace needs, for the stack check at its start.
    pub top_slot: u32,
    /// The first slot above those that the parent has checked the stack for; 0 if there is no such check.
    pub checked_slot: u32,
    /// Which bytecode each instruction was recorded for. An entry holds from the instruction with its index on.
    pub origins: Vec<(u16, Origin)>,
    /// The bytecodes of the calls that the trace has followed, see [`Origin::call`].
    pub calls: Vec<Origin>,
    /// Slots that builtins, and `next` in a loop, write.
    pub native_writes: Vec<NativeWrite>,
    /// Checks of the stack at switches to other coroutines.
    pub stack_checks: Vec<StackCheck>,
    /// The call or the return that the trace ends in front of, if compiled code may execute it.
    pub transfer: Option<Transfer>,
    /// Instead of the PROF in each iteration, it is enough to ask before the loop whether more iterations than this are left, if that can be
    /// told there.
    pub patience: Option<u32>,
}

/// A call or a return, of the frame of the last snapshot, that leads to a function which is only known when it is executed. Where that is
/// compiled, compiled code executes the instruction; otherwise the interpreter does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// A call of the function in slot `func`, counted from the base of the frame, with `nargs` arguments after its link.
    Call {
        /// The slot.
        func: u8,
        /// Number of arguments.
        nargs: u8,
        /// The return address; `None` for a tail call, whose frame replaces the running one.
        link: Option<BcAddr>,
    },
    /// A return of `count` values, from slot `first` on.
    Return {
        /// The slot.
        first: u8,
        /// Number of results.
        count: u8,
    },
}

/// Slots that a builtin, or `next` in a loop, writes in memory: the trace does not know their values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NativeWrite {
    /// The NATIVE, or the call of `next`.
    pub at: IrRef,
    /// The slots.
    pub slots: Range<SlotIdx>,
}

/// The stack of another coroutine is checked before a switch to it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StackCheck {
    /// The instruction that switches.
    pub switch: IrRef,
    /// The first slot above the checked ones, as the trace counts slots after the switch.
    pub top: u32,
}

/// The bytecode that an instruction was recorded for.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Origin {
    /// Its address.
    pub pc: BcAddr,
    /// The call that led to its frame: index in [`Trace::calls`], plus one. 0 for the frame that the trace counts slots from.
    pub call: u16,
}

impl Trace {
    /// The objects among the constants.
    pub fn objects(&self) -> impl Iterator<Item = Gc<GcHeader>> {
        self.consts.iter().filter_map(|k| if let Const::Gc(v) = k { v.as_gc() } else { None })
    }
    /// Marks them for the collector.
    pub fn mark(&self, marker: &mut Marker) {
        self.objects().for_each(|o| marker.mark_object(o));
    }
    /// All snapshots in order.
    pub fn snap_ids(&self) -> impl DoubleEndedIterator<Item = SnapId> + use<> {
        (0..self.snaps.len()).map(SnapId::new)
    }
    /// A snapshot of this trace.
    pub fn snap(&self, k: SnapId) -> &Snapshot {
        &self.snaps[k.index()]
    }
    /// Does the snapshot after `k` apply at instruction `i` already?
    pub fn next_snap_is_at(&self, k: SnapId, i: usize) -> bool {
        self.snaps.get(k.next().index()).is_some_and(|s| s.at.ins_index() <= i)
    }
    /// The instruction that a reference names; `None` for constants.
    #[inline]
    pub fn def(&self, r: IrRef) -> Option<&Ins> {
        if r.is_const() { None } else { self.ins.get(r.ins_index()) }
    }
    /// The constant that a reference names; `None` for instructions and for [`IrRef::NONE`].
    #[inline]
    pub fn konst(&self, r: IrRef) -> Option<Const> {
        if r.is_const() { self.consts.get(r.const_index()).copied() } else { None }
    }
    /// The type of a reference.
    #[inline]
    pub fn ty(&self, r: IrRef) -> Ty {
        match self.def(r) {
            Some(ins) => ins.ty,
            None => self.konst(r).map_or(Ty::Nil, Const::ty),
        }
    }
    /// Does a guard ask whether the call before it has done anything ([`Helper::says_if_done`])?
    pub fn asks_if_done(&self, guard: Ins) -> bool {
        let call = self.def(guard.a).filter(|call| guard.op == Op::NE && call.op == Op::CALLS);
        let helper = call.and_then(|call| Helper::ALL.get(usize::from(call.b.0)));
        helper.is_some_and(|helper| helper.says_if_done())
    }
    /// Does an instruction make a table or cdata?
    pub fn makes_object(&self, r: IrRef) -> bool {
        self.def(r).is_some_and(|i| matches!(i.op, Op::TNEW | Op::TDUP | Op::CNEW | Op::CNEWI))
    }
    /// May exit `k` allocate objects: those that were sunk, or strings and others that only exits need? Or may the exit in front of this side
    /// trace have done so, and exit `k` be taken before the collection step that follows?
    pub fn exit_allocates(&self, k: SnapId) -> bool {
        let next = self.snaps.get(k.index() + 1).map_or(self.ins.len(), |snap| snap.at.ins_index());
        let before_step = || self.ins[..next].iter().any(|i| i.op == Op::GCSTEP);
        let at_start = k == SnapId::FIRST && self.parent.is_some() && before_step();
        at_start || self.snap(k).restored().any(|s| self.def(s.value).is_some_and(|i| i.op.may_allocate()))
    }
    /// The slots that SYNC stores: those that hold tables and cdata of the trace are left to exits, since these may be sunk.
    pub fn synced(&self, k: SnapId) -> impl Iterator<Item = &super::SnapSlot> {
        self.snap(k).restored().filter(|s| !self.makes_object(s.value))
    }
    /// The new table or cdata that a sunk instruction makes or serves to fill.
    pub fn sunk_table(&self, i: usize) -> Option<usize> {
        let mut ins = self.ins[i];
        let mut i = i;
        while ins.is_sunk() {
            if self.makes_object(IrRef::of_ins(i)) {
                return Some(i);
            }
            i = self.def(ins.a).map(|_| ins.a.ins_index())?;
            ins = self.ins[i];
        }
        None
    }
    /// The sunk instructions that an exit through snapshot `k` executes, in order: they make the tables in its slots and the tables in
    /// those, and fill them with the values stored before the snapshot.
    pub fn sunk(&self, k: SnapId) -> Vec<IrRef> {
        let snap = self.snap(k);
        let end = snap.at.ins_index().min(self.ins.len());
        let is_sunk = |r: IrRef| self.def(r).is_some_and(|i| i.is_sunk());
        let mut needed: Vec<usize> = Vec::new();
        needed.extend(snap.restored().filter(|s| is_sunk(s.value)).map(|s| s.value.ins_index()));
        if needed.is_empty() {
            return Vec::new();
        }
        let sunk: Vec<usize> = (1..end).filter(|&i| self.ins[i].is_sunk()).collect();
        let mut at = 0;
        while at < needed.len() {
            for &i in &sunk {
                let ins = self.ins[i];
                let stores = ins.op.mode_b() == Mode::Ref && is_sunk(ins.b) && !needed.contains(&ins.b.ins_index());
                if stores && self.sunk_table(i) == Some(needed[at]) {
                    needed.push(ins.b.ins_index());
                }
            }
            at += 1;
        }
        let serves = |i: &usize| self.sunk_table(*i).is_some_and(|t| needed.contains(&t));
        sunk.into_iter().filter(serves).map(IrRef::of_ins).collect()
    }
    /// The address of the bytecode that an instruction was recorded for.
    pub fn origin(&self, i: usize) -> BcAddr {
        self.origin_at(i).pc
    }
    /// The bytecode that an instruction was recorded for.
    pub fn origin_at(&self, i: usize) -> Origin {
        let n = self.origins.partition_point(|o| usize::from(o.0) <= i);
        n.checked_sub(1).map_or(Origin::default(), |n| self.origins[n].1)
    }
    /// Says which bytecodes the instructions from index `first` on were recorded for, as many as there are in `new`.
    pub(crate) fn set_origins(&mut self, first: usize, new: impl Iterator<Item = Origin>) {
        let at = |i: usize| self.origins.partition_point(|o| usize::from(o.0) < i);
        let mut runs: Vec<(u16, Origin)> = Vec::new();
        let mut next = first;
        for origin in new {
            if runs.last().is_none_or(|o| o.1 != origin) {
                runs.push((next as u16, origin));
            }
            next += 1;
        }
        let range = at(first)..at(next);
        let after = self.origin_at(next);
        if range.end == self.origins.len() || usize::from(self.origins[range.end].0) != next {
            runs.push((next as u16, after));
        }
        self.origins.splice(range, runs);
    }
    /// The call that led to the frame of a bytecode, if the trace has followed it.
    pub fn called_from(&self, at: Origin) -> Option<Origin> {
        usize::from(at.call).checked_sub(1).and_then(|i| self.calls.get(i).copied())
    }
    /// Does the trace end in a jump to its own start, and not to the head of a loop in it?
    pub fn restarts(&self) -> bool {
        match self.link {
            Link::UpRec | Link::DownRec | Link::TailRec => true,
            Link::Loop => self.ins.iter().all(|i| i.op != Op::LOOP),
            _ => false,
        }
    }
    /// Does it loop, and does what it checks at its start differ from one run of the loop to the next, rather than between iterations?
    pub fn checks_start_once(&self) -> bool {
        self.repeats_no_check_of_start() || self.loops_with_function_of_local()
    }
    /// Does it loop, and does nothing leave an iteration to its start? Then what is checked there stays the same in all iterations. A carried sum
    /// overflows once in a loop: then it is a num.
    fn repeats_no_check_of_start(&self) -> bool {
        let Some(at) = self.ins.iter().position(|i| i.op == Op::LOOP) else { return false };
        let next = self.snaps.iter().map(|s| s.at.ins_index()).find(|&i| i > at).unwrap_or(self.ins.len());
        let leaves_once = |op: Op| matches!(op, Op::ADDOV | Op::SUBOV | Op::MULOV | Op::PROF);
        !self.ins[at + 1..next].iter().any(|i| i.is_guard() && !leaves_once(i.op))
    }
    /// Does it loop, and check once before the loop which Lua function a local has, as where a function is given to `map`, or iterates?
    fn loops_with_function_of_local(&self) -> bool {
        let Some(at) = self.ins.iter().position(|i| i.op == Op::LOOP) else { return false };
        let def = |r: IrRef| (!r.is_const()).then(|| self.ins[r.ins_index()]);
        let is_local = |r: IrRef| def(r).is_some_and(|i| i.op == Op::SLOAD && i.ty == Ty::Func && i.b.0 & sload::FRAME == 0);
        let is_lua = |r: IrRef| match self.konst(r) {
            Some(Const::Gc(v)) => v.as_func().is_some_and(|f| f.proto().is_some()),
            _ => false,
        };
        // Of a function of which there are many closures, the code is checked.
        let is_checked =
            |i: &Ins| is_local(i.a) && is_lua(i.b) || def(i.a).is_some_and(|code| code.op == Op::FLOAD && is_local(code.a));
        self.ins[..at].iter().any(|i| i.op == Op::EQ && i.is_guard() && is_checked(i))
    }
    /// Must the trace check at its start that its frames fit the stack?
    pub fn checks_stack(&self) -> bool {
        self.top_slot > self.checked_slot && !is_injected(Fault::StackUnchecked)
    }
    /// The first slot above those that the stack is checked for when the trace leaves by exit `k`, as a side trace there counts slots that
    /// begins with the frame to resume. 0 if there is no check before: the first exit is that of the check itself.
    pub fn checked_at(&self, k: SnapId) -> u32 {
        let Some(snap) = self.snaps.get(k.index()).filter(|_| k > SnapId::FIRST) else { return 0 };
        let checked = self.stack_checks.iter().rfind(|c| c.switch < snap.at).map(|c| c.top);
        checked.unwrap_or(self.top_slot.max(self.checked_slot)).saturating_sub(snap.base_slot.from_base() as u32)
    }
    /// The instructions whose guards leave by exit `k`; none if there is no such exit.
    pub fn guarded_by(&self, k: SnapId) -> Range<usize> {
        let at = |k: SnapId| self.snaps.get(k.index()).map_or(self.ins.len(), |s| s.at.ins_index());
        let from = if k == SnapId::FIRST { 1 } else { at(k) };
        from..at(k.next()).clamp(from, self.ins.len().max(from))
    }
    /// The value that guard `i` is about, for somebody who asks why it failed: the index for a check of bounds; the object for a check of one
    /// of its fields, or of what is at one of its keys; the operand otherwise.
    pub fn witness(&self, i: usize) -> Option<IrRef> {
        let ins = self.ins.get(i)?;
        let operands = [(ins.op.mode_a(), ins.a), (ins.op.mode_b(), ins.b)];
        let mut operands = operands.into_iter().filter(|(mode, r)| *mode == Mode::Ref && !r.is_const() && r.ins_index() < i);
        let found = if ins.op == Op::ABC { operands.next_back() } else { operands.next() };
        let mut r = found?.1;
        // An address leads to the object that it is in, in a few steps.
        while let Some(def) = self.def(r).filter(|d| matches!(d.op, Op::FLOAD | Op::AREF | Op::HREFK | Op::HREF | Op::NEWREF)) {
            r = Some(def.a).filter(|a| !a.is_const())?;
        }
        Some(r)
    }
    /// The last exit.
    pub fn last_exit(&self) -> SnapId {
        self.snap_ids().next_back().unwrap_or(SnapId::FIRST)
    }
    /// The call of a helper that a BUFFMT stands for, which depends on the type of the value.
    pub fn formatting(&self, ins: Ins) -> Ins {
        let value = self.def(ins.b).filter(|i| i.op == Op::CARG).map_or(IrRef::NIL, |carg| carg.b);
        let helper = match self.ty(value) {
            Ty::Str => Helper::BufFormatStr,
            Ty::Num => Helper::BufFormatNum,
            _ => Helper::BufFormatInt,
        };
        Ins { ty: Ty::Nil, ..Ins::call(Op::CALLS, helper, ins.b) }
    }
    /// Number of instructions that are executed: neither removed nor sunk.
    pub fn executed(&self) -> usize {
        self.ins.iter().skip(1).filter(|i| i.op != Op::NOP && !i.is_sunk()).count()
    }
    /// Reference of the instruction that comes next.
    #[inline]
    pub fn next_ref(&self) -> IrRef {
        IrRef::of_ins(self.ins.len())
    }
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            ins: vec![Ins::new(Op::BASE, Ty::P64, IrRef::NONE, IrRef::NONE)],
            consts: vec![Const::Pri(Ty::Nil), Const::Pri(Ty::False), Const::Pri(Ty::True)],
            snaps: Vec::new(),
            link: Link::None,
            parent: None,
            entry: SlotIdx::BASE,
            top_slot: 0,
            checked_slot: 0,
            origins: Vec::new(),
            native_writes: Vec::new(),
            stack_checks: Vec::new(),
            transfer: None,
            patience: None,
            calls: Vec::new(),
        }
    }
}
