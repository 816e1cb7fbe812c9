//! Trace IR to Cranelift IR.
//!
//! One function per tree: the parameters are the VM, the base and an exit number, which is not used. Values are SSA values, held in a table
//! by instruction index; the base is an SSA value too. A trace is straight-line code with cold exits:
//!
//! ```text
//! entry(vm, base, n) -> start(base) -> ... -> head(phis...) -> ... --+
//!                                    guards: exit k (cold) -> shared (cold): exit_table[id](vm, base', id)
//! ```
//!
//! Constants are emitted at each use: without its mid-end, Cranelift would keep a shared one in a register.

mod arith;
mod barrier;
mod call;
mod cell;
mod chunk;
mod contents;
mod conv;
mod coroutine;
mod counted;
mod exit;
mod foreign;
mod fuel;
mod href;
mod invariant;
mod known;
mod link;
mod load;
mod long_loop;
mod memory;
mod plan;
mod remainder;
mod rotate;
mod start;
mod transfer;
mod value;
mod witness;

use crate::exit_abi::ExitArg;
use crate::request::{CompileRequest, TraceTree};
use crate::source_loc::{location, side_location};
use crate::thunk::ThunkAddrs;
use crate::{BackendError, exit_abi, thunk};
use chunk::Chunk;
use contents::KnownContent;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{Block, Function, SigRef, Type, Value, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::packed_option::PackedOption;
use fuel::Fuel;
use known::KnownSlot;
use perilune_recorder::ir::{Ins, IrRef, Op, SnapId, Trace, Ty};
use perilune_vm::helper::Helper;
use plan::{Class, Plan};
use rotate::GuardBranch;
use start::Start;

type Res<T> = Result<T, BackendError>;

/// The environment of lowering.
pub(crate) struct Env<'a> {
    /// The target.
    pub isa: &'a dyn TargetIsa,
    /// Code that traces call on cold paths.
    pub thunks: &'a ThunkAddrs,
    /// Addresses of the helpers.
    pub helper: fn(Helper) -> usize,
}

/// A side trace to be lowered in the place of an exit.
struct Pending<'a> {
    tree: &'a TraceTree<'a>,
    /// The block of the exit, to which the side trace is appended.
    block: Block,
    /// Base of the side trace's first frame.
    base: Value,
    /// What the parent knows of the slots.
    known: Vec<KnownSlot>,
    /// What is in the objects that the exit has not made.
    contents: Vec<KnownContent>,
    fuel: Fuel,
}

/// The trace being lowered.
struct Current<'a> {
    tree: &'a TraceTree<'a>,
    trace: &'a Trace,
    plan: Plan,
    /// Index of the instruction being lowered.
    at: usize,
    /// Index of the instruction being emitted, which may belong to an exit.
    emitting: usize,
    /// Address and offset of the value in memory whose type the instruction being emitted checks.
    checked: Option<(Value, i32)>,
    /// Values by instruction index.
    values: Vec<PackedOption<Value>>,
    /// Instructions whose value is only known in the exit being emitted.
    cold: Vec<usize>,
    /// Floored quotients that are computed already, after their operands.
    quotients: Vec<(IrRef, IrRef, Value)>,
    /// Reciprocals of the divisors that do not change in the loop.
    reciprocals: Vec<(IrRef, Value)>,
    /// Are sunk instructions being emitted in an exit?
    rebuilding: bool,
    /// The base at the start of the trace, or after the last switch to another coroutine.
    base: Value,
    /// See [`exit_abi::is_direct`].
    direct: bool,
    /// Bytes from there to the base that slots are counted from: the frames that a side trace keeps are below it, and RETF leaves frames.
    moved: i32,
    /// The snapshot in force and its exit, once there is one.
    snap: SnapId,
    exit: Option<Block>,
    /// The guard emitted last.
    last_guard: Option<GuardBranch>,
    fuel: Fuel,
    /// Where the trace starts.
    start: Start,
    /// Head of the loop and the right-hand sides of its PHIs.
    head: Option<(Block, Vec<IrRef>)>,
    /// The loop, if it is split into chunks.
    chunk: Option<Chunk>,
    /// Index of the PROF in the loop that was asked in front of it.
    asked: Option<usize>,
    /// Index of the last instruction that called a helper or a C function.
    called: Option<usize>,
    /// Constants that are in registers in the loop.
    hoisted: Vec<(IrRef, Value)>,
    /// May nums come from memory outside of the VM?
    loads_nums: bool,
    /// Slots whose values are known, so that they are not loaded.
    known: Vec<KnownSlot>,
    /// What is in the objects that the exit in front of it has not made.
    contents: Vec<KnownContent>,
    /// Is something emitted whose exits are emitted again, with other values?
    starting: bool,
    /// The side traces that were lowered at their exits, by index.
    attached: Vec<usize>,
}

/// State of the lowering of one function.
pub(crate) struct Lower<'a> {
    pos: FuncCursor<'a>,
    env: &'a Env<'a>,
    vm: Value,
    cur: Current<'a>,
    pending: Vec<Pending<'a>>,
    /// The block that the first trace of the tree starts in.
    root: Block,
    /// The starts of traces that others below them jump to.
    starts: Vec<(&'a TraceTree<'a>, Start)>,
    req: &'a CompileRequest<'a>,
    shared: Option<Block>,
    trace_sigs: Vec<(Vec<Type>, SigRef)>,
    sigs: Vec<(Helper, SigRef)>,
}

/// Do traces of a tree load nums from memory outside of the VM, or get them from C functions?
fn loads_nums(tree: &TraceTree<'_>) -> bool {
    let foreign = |i: &Ins| matches!(i.op, Op::XLOAD | Op::CALLXS) && i.ty.is_float();
    tree.trace.ins.iter().any(foreign) || tree.sides.iter().any(|(_, side)| loads_nums(side))
}

/// Lowers a tree into an empty function.
pub(crate) fn lower<'a>(func: &'a mut Function, env: &'a Env<'a>, req: &'a CompileRequest<'a>) -> Res<()> {
    let more: Vec<Type> = req.exit_args.iter().filter_map(|p| value::repr(p.ty)).collect();
    func.signature = thunk::trace_signature(&more);
    let mut pos = FuncCursor::new(func);
    let entry = pos.func.dfg.make_block();
    pos.insert_block(entry);
    let vm = pos.func.dfg.append_block_param(entry, types::I64);
    let base = pos.func.dfg.append_block_param(entry, types::I64);
    pos.func.dfg.append_block_param(entry, types::I64);
    let mut known = Vec::new();
    for (&ExitArg { slot, ty }, &repr) in req.exit_args.iter().zip(&more) {
        known.push(KnownSlot { at: slot * 8, ty, value: pos.func.dfg.append_block_param(entry, repr), word: None });
    }
    let start = pos.func.dfg.make_block();
    let cur = Current::new(&req.tree, start, base, known);
    let mut lower = Lower {
        pos,
        env,
        vm,
        cur,
        pending: Vec::new(),
        root: start,
        starts: Vec::new(),
        req,
        shared: None,
        trace_sigs: Vec::new(),
        sigs: Vec::new(),
    };
    lower.tree()
}

impl<'a> Current<'a> {
    fn new(tree: &'a TraceTree<'a>, start: Block, base: Value, known: Vec<KnownSlot>) -> Current<'a> {
        Current {
            tree,
            trace: tree.trace,
            plan: Plan::new(tree.trace),
            at: 0,
            emitting: 0,
            checked: None,
            values: vec![None.into(); tree.trace.ins.len()],
            cold: Vec::new(),
            quotients: Vec::new(),
            reciprocals: Vec::new(),
            rebuilding: false,
            base,
            direct: exit_abi::is_direct(tree.trace),
            moved: -8 * tree.trace.entry.from_base(),
            snap: SnapId::FIRST,
            exit: None,
            last_guard: None,
            fuel: Fuel::default(),
            start: Start::new(start),
            head: None,
            chunk: None,
            asked: None,
            called: None,
            hoisted: Vec::new(),
            loads_nums: false,
            known,
            contents: Vec::new(),
            starting: false,
            attached: Vec::new(),
        }
    }
}

impl<'a> Lower<'a> {
    /// The root trace, then the side traces attached to its exits, and so on.
    fn tree(&mut self) -> Res<()> {
        let loads_nums = loads_nums(&self.req.tree);
        self.cur.loads_nums = loads_nums;
        self.trace()?;
        while let Some(side) = self.pending.pop() {
            let start = self.pos.func.dfg.make_block();
            self.enter(side.block);
            self.cur = Current::new(side.tree, start, side.base, side.known);
            self.cur.contents = side.contents;
            self.cur.fuel = side.fuel;
            self.cur.loads_nums = loads_nums;
            self.pos.set_srcloc(side_location());
            self.trace()?;
        }
        Ok(())
    }

    /// Is the current trace the first of the tree?
    fn is_root(&self) -> bool {
        self.cur.start.block == self.root
    }

    /// Lowers the current trace into the current block.
    fn trace(&mut self) -> Res<()> {
        let start = self.cur.start.block;
        self.pos.func.layout.append_block(start);
        let is_root = self.is_root();
        let comes_back = start::comes_back(self.cur.tree);
        if is_root {
            self.box_slots(self.req.unboxed);
        }
        if comes_back {
            self.settle_fuel();
        }
        let base = self.cur.base;
        self.jump(start, &[base]);
        self.cur.base = self.block_param(start, types::I64);
        if comes_back {
            // The trace, or one below it, jumps back to its start with other values in the slots.
            self.cur.known.clear();
        }
        self.enter(start);
        if comes_back {
            self.keep_start()?;
        }
        // The first exit may make what these instructions load.
        let first = self.cur.trace.snap(SnapId::FIRST).at.ins_index();
        for i in 1..first {
            if self.cur.plan.class[i] == Class::Hot && !self.cur.start.loads(i) {
                self.cur.at = i;
                self.instruction(i)?;
            }
        }
        self.store_base();
        self.stack_check()?;
        if is_root && self.req.counts_runs {
            self.count_run()?;
        }
        let mut checked = 0;
        for i in first..self.cur.trace.ins.len() {
            self.cur.at = i;
            self.advance_snapshot(i);
            if self.cur.plan.class[i] != Class::Hot || i == checked || self.cur.start.loads(i) {
                continue;
            }
            if is_root {
                self.pos.set_srcloc(location(i));
            }
            if self.checked_lookup(i)? || self.checked_load(i)? {
                checked = i + 1;
                continue;
            }
            self.instruction(i)?;
        }
        self.link()
    }

    /// Makes the last snapshot at or before instruction `i` the current one.
    fn advance_snapshot(&mut self, i: usize) {
        while self.cur.trace.next_snap_is_at(self.cur.snap, i) {
            self.cur.snap = self.cur.snap.next();
            self.cur.exit = None;
        }
    }

    fn is_cold(&self, r: IrRef) -> bool {
        !r.is_const() && self.cur.plan.class[r.ins_index()] == Class::Cold
    }

    /// Emits one instruction and remembers its value.
    fn instruction(&mut self, i: usize) -> Res<()> {
        if self.req.interrupt.is_some_and(|flag| flag.get().is_some()) {
            return Err(BackendError::Interrupted);
        }
        let ins = self.cur.trace.ins[i];
        self.countdown(ins)?;
        self.cur.emitting = i;
        let value = self.dispatch(ins)?;
        self.cur.checked = None;
        self.cur.values[i] = value.into();
        Ok(())
    }

    /// Emits one instruction.
    fn dispatch(&mut self, ins: Ins) -> Res<Option<Value>> {
        match ins.op {
            Op::LT | Op::GE | Op::LE | Op::GT | Op::ULT | Op::UGE | Op::ULE | Op::UGT | Op::EQ | Op::NE => {
                self.compare(ins).map(|()| None)
            }
            Op::ABC => self.bounds_check(ins).map(|()| None),
            Op::RETF => self.return_frame(ins).map(|()| None),
            Op::NOP | Op::BASE | Op::USE | Op::PHI | Op::CARG => Ok(None),
            Op::LOOP => self.loop_head().map(|()| None),
            Op::GCSTEP => self.gc_step().map(|()| None),
            Op::FUEL => self.fuel(ins).map(|()| None),
            Op::PROF => self.prof_in_loop().map(|()| None),
            Op::BNOT | Op::BSWAP | Op::BAND | Op::BOR | Op::BXOR => self.bits(ins).map(Some),
            Op::BSHL | Op::BSHR | Op::BSAR | Op::BROL | Op::BROR => self.bits(ins).map(Some),
            Op::ADD | Op::SUB | Op::MUL | Op::DIV | Op::MOD | Op::POW | Op::NEG | Op::ABS | Op::LDEXP | Op::MIN | Op::MAX => {
                match ins.ty {
                    Ty::Num => self.num_arith(ins),
                    Ty::P64 | Ty::I64 | Ty::U64 => self.word_arith(ins),
                    _ => self.int_arith(ins),
                }
                .map(Some)
            }
            Op::FPMATH => self.fp_math(ins).map(Some),
            Op::ADDOV | Op::SUBOV | Op::MULOV => self.overflow_arith(ins).map(Some),
            Op::AREF
            | Op::HREFK
            | Op::HREF
            | Op::NEWREF
            | Op::UREFO
            | Op::UREFC
            | Op::FREF
            | Op::STRREF
            | Op::LREF
            | Op::SREF => self.reference(ins).map(Some),
            Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::VLOAD | Op::SLOAD | Op::FLOAD | Op::XLOAD | Op::ALEN => self.load(ins),
            Op::ASTORE | Op::HSTORE | Op::USTORE | Op::FSTORE | Op::XSTORE => self.store(ins).map(|()| None),
            Op::SNEW
            | Op::XSNEW
            | Op::TNEW
            | Op::TDUP
            | Op::CNEW
            | Op::CNEWI
            | Op::BUFHDR
            | Op::BUFPUT
            | Op::BUFNUM
            | Op::BUFFMT
            | Op::BUFSTR
            | Op::TOSTR
            | Op::STRTO => self.object(ins),
            Op::TBAR => self.table_barrier(ins).map(|()| None),
            Op::OBAR => self.upvalue_barrier(ins).map(|()| None),
            Op::CONV => self.conv(ins).map(Some),
            Op::TOBIT => self.tobit(ins).map(Some),
            Op::CALLN | Op::CALLA | Op::CALLL | Op::CALLS => self.call(ins),
            Op::NATIVE => self.native(ins).map(|()| None),
            Op::COROOM | Op::COSAVE | Op::RESUME | Op::YIELD | Op::COEND => self.coroutine(ins).map(|()| None),
            Op::SYNC => self.synchronise().map(|()| None),
            Op::CALLXS => self.foreign_call(ins),
            Op::XBAR => Ok(None),
            Op::PVAL | Op::HIOP | Op::RENAME | Op::TMPREF => Err(BackendError::Unsupported(ins.op)),
            Op::KPRI | Op::KINT | Op::KGC | Op::KPTR | Op::KKPTR | Op::KNULL | Op::KNUM | Op::KINT64 | Op::KSLOT => {
                Err(self.bad("constant among the instructions"))
            }
        }
    }
}
