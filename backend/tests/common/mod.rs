//! A bench for running hand-built traces: a builder, a made-up VM, and helpers that write down how they were called.
//!
//! Everything that runs here is also compiled for the other targets.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod helpers;

use perilune_backend::exit_abi::ExitArg;
use perilune_backend::thunk::ThunkAddrs;
use perilune_backend::unboxed::unboxed;
use perilune_backend::{Backend, BackendError, CompileRequest, CompiledCode, Compiler, Config, TraceTree, isa};
use perilune_recorder::ir::{Const, Ins, IrRef, Link, Op, SlotIdx, SnapId, SnapSlot, Snapshot, Trace, Ty};
use perilune_vm::hooks::Unboxed;
use perilune_vm::layout::ofs;
use perilune_vm::{ExitId, TraceId, Value, Vm};

/// The trace under test, and its first exit.
pub const TRACE: TraceId = TraceId::new(3).unwrap();
pub const EXIT_BASE: ExitId = ExitId::new(10);

/// The trace with a number.
pub fn trace_id(n: u32) -> TraceId {
    TraceId::new(n).unwrap()
}

/// The exit with an index.
pub fn exit_id(n: u32) -> ExitId {
    ExitId::new(n)
}

/// Slots between frames, whatever the return address.
pub const DELTA: u32 = 5;

/// Operations on two integers that neither overflow nor fail.
pub const INT_OPS: [Op; 13] =
    [Op::ADD, Op::SUB, Op::MUL, Op::MIN, Op::MAX, Op::BAND, Op::BOR, Op::BXOR, Op::BSHL, Op::BSHR, Op::BSAR, Op::BROL, Op::BROR];

/// The value with these bits, an object's address among them if the tag says so.
pub fn value_of(bits: u64) -> Value {
    // SAFETY: what runs here looks at memory of the test, and follows no object that is not there.
    unsafe { Value::from_bits(bits) }
}

/// Builds a trace.
pub struct Build {
    pub t: Trace,
}

impl Build {
    pub fn new() -> Build {
        let mut b = Build { t: Trace::default() };
        b.snap(&[]);
        b.t.link = Link::Interp;
        b
    }
    pub fn konst(&mut self, k: Const) -> IrRef {
        if let Some(i) = self.t.consts.iter().position(|c| *c == k) {
            return IrRef::of_const(i);
        }
        self.t.consts.push(k);
        IrRef::of_const(self.t.consts.len() - 1)
    }
    pub fn int(&mut self, k: i32) -> IrRef {
        self.konst(Const::Int(k))
    }
    pub fn num(&mut self, k: f64) -> IrRef {
        self.konst(Const::Num(k.to_bits()))
    }
    pub fn word(&mut self, k: u64) -> IrRef {
        self.konst(Const::Ptr(k))
    }
    pub fn emit(&mut self, op: Op, ty: Ty, a: IrRef, b: IrRef) -> IrRef {
        self.t.ins.push(Ins::new(op, ty, a, b));
        IrRef::of_ins(self.t.ins.len() - 1)
    }
    pub fn guarded(&mut self, op: Op, ty: Ty, a: IrRef, b: IrRef) -> IrRef {
        self.t.ins.push(Ins::new(op, ty, a, b).guarded());
        IrRef::of_ins(self.t.ins.len() - 1)
    }
    /// An unguarded stack load.
    pub fn slot(&mut self, n: u16, ty: Ty) -> IrRef {
        self.emit(Op::SLOAD, ty, IrRef(n), IrRef(0))
    }
    /// Slots as integers, untyped words and nums are loaded raw.
    pub fn slots(&mut self, tys: &[Ty]) -> Vec<IrRef> {
        tys.iter().enumerate().map(|(i, &ty)| self.slot(2 + i as u16, ty)).collect()
    }
    /// A snapshot from here on: `(slot, value)`.
    pub fn snap(&mut self, slots: &[(u16, IrRef)]) {
        let slots: Vec<SnapSlot> =
            slots.iter().map(|&(slot, value)| SnapSlot { slot: SlotIdx::new(slot.into()), flags: 0, value }).collect();
        let at = IrRef::of_ins(self.t.ins.len());
        self.t.snaps.push(Snapshot {
            at,
            base_slot: SlotIdx::BASE,
            nslots: SlotIdx::new(20),
            pc: perilune_vm::object::BcAddr::default(),
            multres: 0,
            decides: false,
            fuel: 0,
            done: 0,
            slots,
        });
    }
    /// Ends the trace with a last snapshot.
    pub fn end(mut self, slots: &[(u16, IrRef)], link: Link) -> Trace {
        self.snap(slots);
        self.t.link = link;
        self.t
    }
    /// Ends the trace with its results from slot 10 on.
    pub fn results(self, values: &[IrRef]) -> Trace {
        let slots: Vec<(u16, IrRef)> = values.iter().enumerate().map(|(i, &v)| (10 + i as u16, v)).collect();
        self.end(&slots, Link::Interp)
    }
}

/// A VM that compiled code can run on: its fields are where the layout says, nothing else is there.
pub struct Machine {
    pub vm: Vec<u64>,
    pub stack: Vec<u64>,
    pub exits: Vec<usize>,
    pub codes: Vec<usize>,
    pub backend: Backend,
    /// Do exits leave values unboxed?
    pub unboxed: bool,
    /// Are runs counted down, and does the tree check whether it is to be left?
    pub counts_runs: bool,
    pub interruptible: bool,
    /// What the exit that leads to the next trace passes.
    pub exit_args: Vec<ExitArg>,
    /// What the exit that leads to the next trace left so.
    pub left: Vec<Unboxed>,
    others: Vec<Compiler>,
}

pub const BASE: usize = 16;

impl Machine {
    pub fn new() -> Machine {
        let backend = Backend::new(&Config { code_size: 1 << 20, helper: helpers::address }).unwrap();
        let others = [("aarch64-unknown-linux-gnu", &[][..]), ("x86_64-unknown-linux-gnu", &["has_sse3"][..])];
        let others = others.map(|(t, f)| Compiler::new(isa::foreign(t, f).unwrap(), helpers::address)).into();
        let mut m = Machine {
            vm: vec![0; size_of::<Vm>().div_ceil(8)],
            stack: vec![Value::NIL.bits(); 64],
            exits: vec![backend.exit_stub(); 100],
            codes: vec![0; 10],
            backend,
            unboxed: false,
            counts_runs: false,
            interruptible: false,
            exit_args: Vec::new(),
            left: Vec::new(),
            others,
        };
        m.set(ofs::VM_EXIT_TABLE, m.exits.as_ptr() as u64);
        m.set(ofs::VM_TRACE_CODE, m.codes.as_ptr() as u64);
        for limit in [ofs::VM_STACK_LIMIT, ofs::VM_CODE_STACK_LIMIT] {
            m.set(limit, m.stack.as_ptr_range().end as u64);
        }
        m.set(ofs::VM_NIL_SLOT, Value::NIL.bits());
        m
    }
    pub fn set(&mut self, at: usize, word: u64) {
        self.vm[at / 8] = word;
    }
    pub fn set_byte(&mut self, at: usize, byte: u8) {
        let mut word = self.vm[at / 8].to_ne_bytes();
        word[at % 8] = byte;
        self.vm[at / 8] = u64::from_ne_bytes(word);
    }
    pub fn get(&self, at: usize) -> u64 {
        self.vm[at / 8]
    }
    /// Stack slot by its number in the trace.
    pub fn slot(&mut self, n: usize) -> &mut u64 {
        &mut self.stack[BASE + n - 2]
    }
    pub fn slot_value(&mut self, n: usize) -> Value {
        value_of(*self.slot(n))
    }
    /// Compiles for this machine, and for the others.
    pub fn compile(&mut self, tree: TraceTree<'_>) -> Result<CompiledCode, BackendError> {
        let req = CompileRequest {
            unboxed_exits: self.unboxed,
            unboxed: &self.left,
            exit_args: &self.exit_args,
            key_hash: |_| 1,
            counts_runs: self.counts_runs,
            interruptible: self.interruptible,
            listing: std::env::var_os("SHOW").is_some(),
            ..CompileRequest::new(tree, |_| DELTA)
        };
        for other in &mut self.others {
            other.emit(&req, &ThunkAddrs::placeholder())?;
        }
        let code = self.backend.compile(&req)?;
        if let Some(l) = &code.listing {
            eprintln!("{}\n{}", l.clif, l.asm);
        }
        Ok(code)
    }
    /// Installs a trace under an id.
    pub fn install(&mut self, trace: &Trace, id: TraceId, exit_base: ExitId) -> CompiledCode {
        let code = self.compile(TraceTree::single(trace, id, exit_base)).unwrap();
        self.codes[id.index()] = code.entry;
        code
    }
    /// Enters a trace: the exit taken and the base it left, in slots from the old one.
    pub fn enter(&mut self, id: TraceId) -> (u64, isize) {
        let (vm, base) = (self.vm.as_mut_ptr().cast::<Vm>(), self.stack[BASE..].as_mut_ptr());
        // SAFETY: the code touches the made-up VM only at offsets of the layout, and the stack.
        let exit = unsafe { (self.backend.enter())(vm, base.cast(), id.get()) };
        let left = self.get(ofs::VM_JIT_BASE) as isize;
        (exit, (left - base as isize) / 8)
    }
    /// Compiles and runs a trace: the exit taken, counted from the trace's first.
    pub fn run(&mut self, trace: &Trace) -> u64 {
        self.install(trace, TRACE, EXIT_BASE);
        let (exit, base) = self.enter(TRACE);
        assert_eq!(base, 0);
        let exit = exit - u64::from(EXIT_BASE.get());
        if self.unboxed {
            for u in unboxed(trace, SnapId::new(exit as usize)) {
                let slot = self.slot((u.slot + 2) as usize);
                *slot = u.boxed(*slot);
            }
        }
        exit
    }
}

/// Runs a trace on stack slots from 2 on: exit and slot 10 and following.
pub fn run(trace: &Trace, slots: &[Value]) -> (u64, [Value; 4]) {
    let mut m = Machine::new();
    m.unboxed = true;
    for (i, v) in slots.iter().enumerate() {
        *m.slot(2 + i) = v.bits();
    }
    let exit = m.run(trace);
    let out = [10, 11, 12, 13].map(|i| m.slot_value(i));
    (exit, out)
}

/// The result of one instruction on two stack slots, or none if it left.
pub fn binary(op: Op, ty: Ty, tys: [Ty; 2], a: Value, b: Value) -> Option<Value> {
    let mut t = Build::new();
    let s = t.slots(&tys);
    let r = t.emit(op, ty, s[0], s[1]);
    let trace = if ty.is_pri() || op.is_comparison() || op == Op::ABC { t.results(&[]) } else { t.results(&[r]) };
    let (exit, out) = run(&trace, &[a, b]);
    (exit == 1).then_some(out[0])
}
