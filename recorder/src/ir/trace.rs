//! A trace as plain data: instructions, constants, snapshots, link.

use super::op::{Effect, Mode, Op};
use super::ty::Ty;
use core::ops::Range;
use perilune_vm::fault::{Fault, is_injected};
use perilune_vm::gc::Marker;
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::object::{Gc, GcHeader};
use perilune_vm::{TraceId, Value};

/// Flags of [`Op::SLOAD`]'s operand 2 (LuaJIT's values).
pub mod sload {
    /// The value and its type come from the parent trace's exit: already checked.
    pub const PARENT: u16 = 1;
    /// A frame slot (function or link).
    pub const FRAME: u16 = 2;
    /// The type is checked.
    pub const TYPECHECK: u16 = 4;
    /// A number is converted to the instruction's type.
    pub const CONVERT: u16 = 8;
    /// The slot is not written by the trace.
    pub const READONLY: u16 = 16;
    /// The type is inherited by side traces.
    pub const INHERIT: u16 = 32;
    /// A `next` loop's hidden control value.
    pub const KEYINDEX: u16 = 64;
}

/// Operand 2 of [`Op::CONV`]: source type in bits 0-4, destination type in bits 5-9, mode above.
pub mod conv {
    use super::Ty;
    /// Sign-extend (int to i64).
    pub const SEXT: u16 = 0x800;
    /// Plain conversion.
    pub const NONE: u16 = 1 << 12;
    /// num to int that must be exact (-0 gives 0): an index.
    pub const INDEX: u16 = 2 << 12;
    /// num to int that must be exact and not -0: a number narrowed.
    pub const CHECK: u16 = 3 << 12;
    /// Packs the operand.
    pub const fn pack(dst: Ty, src: Ty, mode: u16) -> u16 {
        (src as u16) | (dst as u16) << 5 | mode
    }
    /// int to num.
    pub const NUM_INT: u16 = pack(Ty::Num, Ty::Int, 0);
    /// int to a word, zero-extended.
    pub const U64_INT: u16 = pack(Ty::U64, Ty::Int, 0);
    /// num to int by exact check, for an index.
    pub const INT_NUM_INDEX: u16 = pack(Ty::Int, Ty::Num, INDEX);
    /// num to int by exact check.
    pub const INT_NUM_CHECK: u16 = pack(Ty::Int, Ty::Num, CHECK);
}

/// Flags of [`Op::XLOAD`]'s operand 2.
pub mod xload {
    /// The memory never changes (bytes of a string).
    pub const READONLY: u16 = 1;
}

/// Operand 2 of [`Op::NATIVE`].
pub mod native {
    /// Number of arguments.
    pub const ARGS: u16 = 0xff;
    /// The builtin writes to no table, upvalue or metatable.
    pub const READS: u16 = 0x100;
}

/// Number of constants that fit below the bias, and the reference of [`Op::BASE`].
pub const REF_BIAS: u16 = 0x8000;

/// A reference to an instruction (at or above [`REF_BIAS`]) or a constant (below it).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct IrRef(pub u16);

impl IrRef {
    /// No reference (an unused operand).
    pub const NONE: IrRef = IrRef(0);
    /// The constant nil.
    pub const NIL: IrRef = IrRef(REF_BIAS - 1);
    /// The constant false.
    pub const FALSE: IrRef = IrRef(REF_BIAS - 2);
    /// The constant true.
    pub const TRUE: IrRef = IrRef(REF_BIAS - 3);
    /// The BASE instruction.
    pub const BASE: IrRef = IrRef(REF_BIAS);
    /// The first real instruction.
    pub const FIRST: IrRef = IrRef(REF_BIAS + 1);
    /// Does it name a constant?
    #[inline]
    pub const fn is_const(self) -> bool {
        self.0 < REF_BIAS
    }
    /// Index into [`Trace::ins`].
    #[inline]
    pub const fn ins_index(self) -> usize {
        (self.0 - REF_BIAS) as usize
    }
    /// Index into [`Trace::consts`].
    #[inline]
    pub const fn const_index(self) -> usize {
        (REF_BIAS - 1 - self.0) as usize
    }
    /// The reference of instruction `i`.
    #[inline]
    pub const fn of_ins(i: usize) -> IrRef {
        IrRef(REF_BIAS + i as u16)
    }
    /// The reference of constant `i`.
    #[inline]
    pub const fn of_const(i: usize) -> IrRef {
        IrRef(REF_BIAS - 1 - i as u16)
    }
}

impl core::fmt::Debug for IrRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.is_const() { write!(f, "K{:03}", self.const_index()) } else { write!(f, "{:04}", self.ins_index()) }
    }
}

/// An instruction: 8 bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ins {
    /// Operation.
    pub op: Op,
    /// Type of the result (of the operands, for comparisons).
    pub ty: Ty,
    /// [`Ins::GUARD`], [`Ins::PHI`], [`Ins::MARK`], [`Ins::SINK`], [`Ins::STRESS`].
    pub flags: u8,
    /// Operand 1: reference or literal, by the op's mode.
    pub a: IrRef,
    /// Operand 2.
    pub b: IrRef,
}

impl Ins {
    /// Leaves through the snapshot in force when its assertion or type check fails.
    pub const GUARD: u8 = 0x80;
    /// Operand of a PHI.
    pub const PHI: u8 = 0x40;
    /// Scratch mark of passes.
    pub const MARK: u8 = 0x20;
    /// Sunk: a new table that only exits need, or what serves only to fill it (addresses, insertions, stores). Not executed in
    /// its place. An exit executes those of [`Trace::sunk`] before it stores the slots; none of them is a guard then.
    pub const SINK: u8 = 0x10;
    /// Exit stress, for tests: a guard that also leaves, whatever it would find, when `Vm::exit_countdown` is over. On BASE it is
    /// the stack check at the start that leaves.
    pub const STRESS: u8 = 0x08;
    /// An unguarded instruction.
    pub const fn new(op: Op, ty: Ty, a: IrRef, b: IrRef) -> Ins {
        Ins { op, ty, flags: if op.is_guard() { Ins::GUARD } else { 0 }, a, b }
    }
    /// The same with the guard bit.
    pub const fn guarded(mut self) -> Ins {
        self.flags |= Ins::GUARD;
        self
    }
    /// A call of a helper with its arguments, guarded if the helper can fail.
    pub const fn call(op: Op, helper: Helper, args: IrRef) -> Ins {
        let ins = Ins::new(op, Ty::of_word(helper.ret()), args, IrRef(helper as u16));
        if helper.may_fail() { ins.guarded() } else { ins }
    }
    /// Is it sunk?
    pub const fn is_sunk(self) -> bool {
        self.flags & Ins::SINK != 0
    }
    /// Does it leave when the countdown of exit stress is over?
    pub const fn is_stressed(self) -> bool {
        self.flags & Ins::STRESS != 0
    }
    /// Is it a guard?
    pub const fn is_guard(self) -> bool {
        self.flags & Ins::GUARD != 0
    }
}

impl Ins {
    /// The newest instruction among the operands; [`IrRef::BASE`] when all are constants or literals.
    #[inline]
    pub fn newest_operand(&self) -> IrRef {
        let a = if self.op.mode_a() == Mode::Ref { self.a } else { IrRef::NONE };
        let b = if self.op.mode_b() == Mode::Ref { self.b } else { IrRef::NONE };
        a.max(b).max(IrRef::BASE)
    }
    /// The references among the operands that name instructions.
    #[inline]
    pub fn operands(&self) -> impl Iterator<Item = IrRef> + use<> {
        let a = if self.op.mode_a() == Mode::Ref && !self.a.is_const() { Some(self.a) } else { None };
        let b = if self.op.mode_b() == Mode::Ref && !self.b.is_const() { Some(self.b) } else { None };
        a.into_iter().chain(b)
    }
    /// May the instruction go when nobody uses its value?
    #[inline]
    pub fn is_removable(&self) -> bool {
        // What is not made needs no memory.
        let guards_memory = self.op.effect() == Effect::Alloc;
        (!self.is_guard() || guards_memory) && self.op.effect() != Effect::Store && self.op != Op::BASE
    }
}

/// A field of the VM state that a trace takes the address of.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum VmRef {
    /// `Vm::nil_slot`: what a failed HREF gives.
    NilSlot,
    /// `Vm::scratch`: results of helpers.
    Scratch,
    /// `Vm::multres`: the number of values in an open list.
    Multres,
    /// `Vm::native_depth`: how deep native calls are nested.
    Depth,
}

impl VmRef {
    /// Offset of the field in the VM state, bytes.
    pub const fn offset(self) -> usize {
        match self {
            VmRef::NilSlot => ofs::VM_NIL_SLOT,
            VmRef::Scratch => ofs::VM_SCRATCH,
            VmRef::Multres => ofs::VM_MULTRES,
            VmRef::Depth => ofs::VM_NATIVE_DEPTH,
        }
    }
}

/// A constant.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Const {
    /// nil, false, true: always constants 0, 1 and 2.
    Pri(Ty),
    /// An int.
    Int(i32),
    /// A num, by its bits.
    Num(u64),
    /// An object: the tagged value.
    Gc(Value),
    /// A raw word: frame link, pc, address.
    Ptr(u64),
    /// An address inside the VM state.
    Vm(VmRef),
    /// The null pointer, with a type (`tab` for a missing metatable).
    Null(Ty),
    /// Key (a constant reference) and node index of an HREFK.
    Slot(IrRef, u32),
}

/// A slot of a snapshot.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SnapSlot {
    /// Slot number, see [`Op::SLOAD`].
    pub slot: u16,
    /// [`SnapSlot::FRAME`] and the like.
    pub flags: u8,
    /// The value.
    pub value: IrRef,
}

impl SnapSlot {
    /// A frame's function or link.
    pub const FRAME: u8 = 1;
    /// Part of a continuation frame.
    pub const CONT: u8 = 2;
    /// The slot in memory already has this value: nothing to store.
    pub const NORESTORE: u8 = 4;
    /// It has, because the slots were stored (NATIVE, SYNC) since the trace began.
    pub const STORED: u8 = 8;
}

impl Snapshot {
    /// [`Snapshot::multres`] where the count is only known by what a builtin has left in the VM.
    pub const OPEN: u32 = u32::MAX;
}

/// What the interpreter must see if the trace leaves at a guard at or after `at` (up to the next snapshot).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The first instruction this snapshot is in force for.
    pub at: IrRef,
    /// Slot number of the first local of the frame to resume (2 for the start frame): the new base is
    /// `base + 8 * (base_slot - 2)`.
    pub base_slot: u16,
    /// Slots up to here (exclusive) may be live.
    pub nslots: u16,
    /// Address of the instruction to resume at.
    pub pc: u64,
    /// Count for an instruction taking an open list, see `perilune_vm::hooks::Resume`.
    pub multres: u32,
    /// Its guard decides a branch: `pc` is the way that the trace does not go, and not the start of what the guard belongs to.
    pub decides: bool,
    /// Bytecode instructions that have run before, as many as were recorded.
    pub done: u16,
    /// The modified slots, ascending.
    pub slots: Vec<SnapSlot>,
}

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
    /// Ends before a call that is not compiled.
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
    /// The number of the exit in the trace, which is that of its snapshot.
    pub exit: u32,
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
    /// Highest stack slot (exclusive) that any frame of the trace needs, for the stack check at its start.
    pub top_slot: u32,
    /// Up to where (exclusive) the trace that leads here has checked the stack; 0 if it has not.
    pub checked_slot: u32,
    /// Which bytecode each instruction was recorded for: index of the first instruction of a run, and the bytecode.
    pub origins: Vec<(u16, Origin)>,
    /// The bytecodes of the calls that the trace has followed, see [`Origin::call`].
    pub calls: Vec<Origin>,
    /// Slots that builtins have written, unknown to the trace: the NATIVE, first slot and end.
    pub written: Vec<(IrRef, Range<u16>)>,
    /// Behind each switch to another coroutine: up to where (exclusive) the stack is checked.
    pub rooms: Vec<(IrRef, u32)>,
}

/// The bytecode that an instruction was recorded for.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Origin {
    /// Its address; 0 if none is known.
    pub pc: u64,
    /// The call that led to its frame: index in [`Trace::calls`], plus one. 0 for the frame that the trace counts slots from.
    pub call: u16,
}

impl Trace {
    /// The objects among the constants.
    pub fn objects(&self) -> impl Iterator<Item = Gc<GcHeader>> {
        self.consts.iter().filter_map(|k| if let Const::Gc(v) = k { v.as_gc() } else { None })
    }
    /// Keeps them.
    pub fn mark(&self, marker: &mut Marker) {
        self.objects().for_each(|o| marker.mark_object(o));
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
    /// The new table that a sunk instruction is, or serves to fill.
    pub fn sunk_table(&self, i: usize) -> Option<usize> {
        let mut ins = self.ins[i];
        let mut i = i;
        while ins.is_sunk() {
            if matches!(ins.op, Op::TNEW | Op::TDUP) {
                return Some(i);
            }
            i = self.def(ins.a).map(|_| ins.a.ins_index())?;
            ins = self.ins[i];
        }
        None
    }
    /// The sunk instructions that an exit through snapshot `k` executes, in order: they make the tables that its slots name, and
    /// the tables in those, and fill them with what was stored before the snapshot.
    pub fn sunk(&self, k: usize) -> Vec<IrRef> {
        let snap = &self.snaps[k];
        let end = snap.at.ins_index().min(self.ins.len());
        let is_sunk = |r: IrRef| self.def(r).is_some_and(|i| i.is_sunk());
        let mut needed: Vec<usize> = Vec::new();
        let restored = snap.slots.iter().filter(|s| s.flags & SnapSlot::NORESTORE == 0);
        needed.extend(restored.filter(|s| is_sunk(s.value)).map(|s| s.value.ins_index()));
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
    /// The address of the bytecode that an instruction was recorded for; 0 if none is known.
    pub fn origin(&self, i: usize) -> u64 {
        self.place(i).pc
    }
    /// The bytecode that an instruction was recorded for.
    pub fn place(&self, i: usize) -> Origin {
        let n = self.origins.partition_point(|o| usize::from(o.0) <= i);
        n.checked_sub(1).map_or(Origin::default(), |n| self.origins[n].1)
    }
    /// The call that led to the frame of a bytecode, if the trace has followed it.
    pub fn called_from(&self, at: Origin) -> Option<Origin> {
        usize::from(at.call).checked_sub(1).and_then(|i| self.calls.get(i).copied())
    }
    /// Must the trace check at its start that its frames fit the stack?
    pub fn checks_stack(&self) -> bool {
        self.top_slot > self.checked_slot && !is_injected(Fault::StackUnchecked)
    }
    /// Up to where (exclusive) the stack is checked when the trace leaves by exit `k`, in slots of what begins there. The first
    /// exit is that of the check itself.
    pub fn checked_at(&self, k: u32) -> u32 {
        let Some(snap) = self.snaps.get(k as usize).filter(|_| k > 0) else { return 0 };
        let room = self.rooms.iter().rfind(|r| r.0 < snap.at).map(|r| r.1);
        room.unwrap_or(self.top_slot.max(self.checked_slot)).saturating_sub(u32::from(snap.base_slot) - 2)
    }
    /// The instructions whose guards leave by exit `k`; none if there is no such exit.
    pub fn guarded_by(&self, k: usize) -> Range<usize> {
        let at = |k: usize| self.snaps.get(k).map_or(self.ins.len(), |s| s.at.ins_index());
        let from = if k == 0 { 1 } else { at(k) };
        from..at(k + 1).clamp(from, self.ins.len().max(from))
    }
    /// Is exit `k` taken for samples only?
    pub fn is_for_samples(&self, k: usize) -> bool {
        let mut guards =
            self.guarded_by(k).map(|i| self.ins[i]).filter(|i| i.is_guard() && i.op != Op::NOP && !i.is_sunk()).peekable();
        guards.peek().is_some() && guards.all(|i| i.op == Op::PROF)
    }
    /// The last exit that is not taken for samples only.
    pub fn last_exit(&self) -> usize {
        (0..self.snaps.len()).rev().find(|k| !self.is_for_samples(*k)).unwrap_or(0)
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

impl Const {
    /// The type of the constant; `P64` for addresses, `Nil` for a [`Const::Slot`].
    #[inline]
    pub const fn ty(self) -> Ty {
        match self {
            Const::Pri(ty) | Const::Null(ty) => ty,
            Const::Int(_) => Ty::Int,
            Const::Num(_) => Ty::Num,
            Const::Gc(value) => Ty::of_value(value),
            Const::Ptr(_) | Const::Vm(_) => Ty::P64,
            Const::Slot(..) => Ty::Nil,
        }
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
            top_slot: 0,
            checked_slot: 0,
            origins: Vec::new(),
            written: Vec::new(),
            rooms: Vec::new(),
            calls: Vec::new(),
        }
    }
}
