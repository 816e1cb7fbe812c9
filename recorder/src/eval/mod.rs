//! The evaluator: runs a trace in plain Rust on the memory of a VM.
//!
//! It does what machine code does, from the stack check to the stores of an exit. So recorded and optimised traces can run without a
//! backend: under Miri, in tests of passes, and as the reference that the backend is compared with. It is slow.
//!
//! A value is a word, as [`Ty`] says: the bits of a num, an int zero-extended, the address of an object.
#![allow(unsafe_code, reason = "a trace is run only on the VM that it was recorded on, or that fits it")]

mod access;
mod coroutine;
mod memory;
mod ops;

use crate::ir::{Const, Effect, Ins, IrRef, Link, Op, SlotIdx, SnapId, Trace, Ty, VmRef};
use crate::opt::overflow;
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::value as v;
use perilune_vm::{TraceId, Value, Vm};

/// How a run ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Left through this snapshot: its slots are stored, and the interpreter resumes at its pc.
    Exit(SnapId),
    /// Continues in a root trace.
    Root(TraceId),
    /// Continues at the trace's own start (recursion, or a loop without LOOP).
    Again,
    /// The run has executed as many instructions as it may. Nothing was stored.
    OutOfFuel,
}

/// The end of a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Exit {
    /// How it ended.
    pub outcome: Outcome,
    /// Base of the frame to continue in.
    pub base: *mut Value,
    /// Instructions executed.
    pub executed: u64,
    /// Of those, instructions after LOOP.
    pub in_loop: u64,
    /// How often LOOP was passed, the first time included.
    pub iterations: u64,
}

/// How to run traces.
#[derive(Copy, Clone)]
pub struct Config {
    /// Addresses of the helpers.
    pub helper: fn(Helper) -> usize,
    /// Slots between the base of a frame and its caller's, from the frame's return address (for RETF).
    pub frame_delta: fn(pc: u64) -> u32,
    /// Instructions that a run may execute.
    pub fuel: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { helper: Helper::address, frame_delta: memory::frame_delta, fuel: u64::MAX }
    }
}

/// Runs a trace that is entered in the frame at `base`.
///
/// # Safety
/// The trace is well formed ([`crate::ir::verify`]), and was recorded on this VM or fits it as if it had been: each address that a guard
/// lets pass is one of an object, a table part, a stack or the VM. No Rust reference to that memory is in use.
pub unsafe fn run(trace: &Trace, vm: *mut Vm, base: *mut Value) -> Exit {
    // SAFETY: the contract of this function.
    unsafe { run_with(&Config::default(), trace, vm, base) }
}

/// Would a trace leave by its first exit on the frame at `base`, before it has any effect? Memory is not changed.
///
/// # Safety
/// As for [`run`].
pub unsafe fn leaves_early(config: &Config, trace: &Trace, vm: *mut Vm, base: *mut Value) -> bool {
    // SAFETY: the contract of this function.
    unsafe { Eval::new(config, trace, vm, base) }.leaves_early()
}

/// Runs a trace on the frame at `base`, as a configuration says.
///
/// # Safety
/// As for [`run`].
pub unsafe fn run_with(config: &Config, trace: &Trace, vm: *mut Vm, base: *mut Value) -> Exit {
    // SAFETY: the contract of this function.
    let mut eval = unsafe { Eval::new(config, trace, vm, base) };
    let outcome = eval.run();
    Exit {
        outcome,
        base: core::ptr::with_exposed_provenance_mut(eval.base as usize),
        executed: eval.executed,
        in_loop: eval.in_loop,
        iterations: eval.iterations,
    }
}

/// The result of an instruction: its value, or that the trace is left.
type Step = Result<u64, Leave>;

/// A guard failed.
struct Leave;

struct Eval<'a> {
    t: &'a Trace,
    config: &'a Config,
    vm: *mut Vm,
    vm_address: u64,
    base: u64,
    values: Vec<u64>,
    /// See [`overflow::wide`].
    wide: Vec<bool>,
    /// The snapshot that guards leave through now.
    snap: SnapId,
    executed: u64,
    in_loop: u64,
    iterations: u64,
    /// The trace was left in a builtin. The slots were stored before its call.
    in_native: bool,
    /// Index of the FUEL whose segment is being executed.
    fuel: Option<usize>,
}

fn guard(ok: bool) -> Result<(), Leave> {
    if ok { Ok(()) } else { Err(Leave) }
}

impl<'a> Eval<'a> {
    /// # Safety
    /// As for [`run`], as long as it is used.
    unsafe fn new(config: &'a Config, trace: &'a Trace, vm: *mut Vm, base: *mut Value) -> Eval<'a> {
        Eval {
            t: trace,
            config,
            vm,
            vm_address: vm.expose_provenance() as u64,
            base: (base.expose_provenance() as u64).wrapping_sub(8 * trace.entry.from_base() as u64),
            values: vec![0; trace.ins.len()],
            wide: overflow::wide(trace),
            snap: SnapId::FIRST,
            executed: 0,
            in_loop: 0,
            iterations: 0,
            in_native: false,
            fuel: None,
        }
    }

    /// See [`leaves_early`].
    fn leaves_early(&mut self) -> bool {
        let end = self.t.snaps.get(1).map_or(self.t.ins.len(), |s| s.at.ins_index());
        for (i, &ins) in self.t.ins[..end].iter().enumerate().skip(1) {
            match ins.op {
                Op::NOP | Op::PHI | Op::CARG | Op::USE | Op::GCSTEP | Op::PROF | Op::FUEL => continue,
                _ if ins.is_sunk() => continue,
                Op::RETF => {}
                Op::SNEW | Op::TOSTR | Op::STRTO | Op::BUFHDR | Op::CALLN | Op::CALLL => return false,
                op if matches!(op.effect(), Effect::Store | Effect::Alloc) => return false,
                _ => {}
            }
            match self.step(i, ins) {
                Ok(value) => self.values[i] = value,
                Err(Leave) => return true,
            }
        }
        false
    }
}

impl Eval<'_> {
    fn run(&mut self) -> Outcome {
        // The first exit may make what these instructions load.
        let first = self.t.snap(SnapId::FIRST).at.ins_index();
        for i in 1..first {
            let ins = self.t.ins[i];
            if ins.op != Op::NOP && !ins.is_sunk() {
                match self.step(i, ins) {
                    Ok(value) => self.values[i] = value,
                    Err(Leave) => return self.leave(),
                }
            }
        }
        if self.t.checks_stack() {
            let fits = self.slot_address(SlotIdx::new(self.t.top_slot as usize)) <= self.vm_field(ofs::VM_CODE_STACK_LIMIT);
            if self.countdown(self.t.ins[0]).is_err() || !fits {
                return self.leave();
            }
        }
        let mut head = None;
        let mut i = first;
        loop {
            while i < self.t.ins.len() {
                self.advance(i);
                let ins = self.t.ins[i];
                if ins.op == Op::LOOP {
                    head = Some((i, self.snap));
                    self.iterations = 1;
                } else if !matches!(ins.op, Op::NOP | Op::PHI | Op::CARG | Op::USE) && !ins.is_sunk() {
                    self.executed += 1;
                    self.in_loop += u64::from(head.is_some());
                    if self.executed > self.config.fuel {
                        return Outcome::OutOfFuel;
                    }
                    match self.countdown(ins).and_then(|()| self.step(i, ins)) {
                        Ok(value) => self.values[i] = value,
                        Err(Leave) => return self.leave(),
                    }
                }
                i += 1;
            }
            let Some((at, snap)) = head.filter(|_| self.t.link == Link::Loop) else { return self.link() };
            self.carry();
            self.iterations += 1;
            self.snap = snap;
            i = at + 1;
        }
    }

    /// Leaves if the instruction is stressed and the countdown of exit stress is over.
    fn countdown(&mut self, ins: Ins) -> Result<(), Leave> {
        if !ins.is_stressed() {
            return Ok(());
        }
        let (at, every) = (self.vm_address + ofs::VM_EXIT_COUNTDOWN as u64, self.vm_address + ofs::VM_EXIT_EVERY as u64);
        let left = memory::load32(at).wrapping_sub(1);
        memory::store32(at, if left == 0 { memory::load32(every) } else { left });
        guard(left != 0)
    }

    fn advance(&mut self, i: usize) {
        while self.t.next_snap_is_at(self.snap, i) {
            self.snap = self.snap.next();
        }
    }

    /// Assigns the PHIs: all loop-carried values at once.
    fn carry(&mut self) {
        let phis = self.t.ins.iter().filter(|i| i.op == Op::PHI);
        let new: Vec<(usize, u64)> = phis.map(|p| (p.a.ins_index(), self.val(p.b))).collect();
        for (left, value) in new {
            self.values[left] = value;
        }
    }

    fn link(&mut self) -> Outcome {
        self.snap = SnapId::new(self.t.snaps.len().saturating_sub(1));
        let outcome = self.leave();
        match self.t.link {
            Link::Root(n) => Outcome::Root(n),
            Link::Loop | Link::TailRec | Link::UpRec | Link::DownRec => Outcome::Again,
            Link::None | Link::Interp | Link::Return | Link::Stitch => outcome,
        }
    }

    /// Leaves through the current snapshot.
    fn leave(&mut self) -> Outcome {
        if !core::mem::take(&mut self.in_native) {
            self.store_state();
        }
        if let Some(taken) = self.fuel.take() {
            let at = self.vm_address + ofs::VM_FUEL as u64;
            memory::store64(at, memory::load64(at).wrapping_add(self.t.fuel_back(self.snap, taken).into()));
        }
        let snap = self.t.snap(self.snap);
        self.base = self.slot_address(snap.base_slot);
        Outcome::Exit(self.snap)
    }
    /// Stores the state of the current snapshot.
    fn store_state(&mut self) {
        for r in self.t.sunk(self.snap) {
            let i = r.ins_index();
            let Ok(value) = self.step(i, self.t.ins[i]) else { unreachable!("a sunk instruction is no guard") };
            self.values[i] = value;
        }
        let snap = self.t.snap(self.snap);
        for s in snap.restored() {
            memory::store64(self.slot_address(s.slot), self.boxed(s.value));
        }
    }

    fn slot_address(&self, slot: SlotIdx) -> u64 {
        self.base.wrapping_add_signed(i64::from(slot.from_base()) * 8)
    }
    fn vm_field(&self, at: usize) -> u64 {
        memory::load64(self.vm_address + at as u64)
    }

    /// The word of a reference.
    fn val(&self, r: IrRef) -> u64 {
        match self.t.konst(r) {
            None if r == IrRef::BASE => self.base,
            None if r.is_const() => 0,
            None => self.values[r.ins_index()],
            Some(k) => match k {
                Const::Int(k) => u64::from(k as u32),
                Const::Num(k) | Const::Ptr(k) | Const::Word(k, _) => k,
                Const::Gc(k) => k.payload(),
                Const::Vm(VmRef::NilSlot) => self.vm_address + ofs::VM_NIL_SLOT as u64,
                Const::Vm(VmRef::Scratch) => self.vm_address + ofs::VM_SCRATCH as u64,
                Const::Vm(VmRef::Multres) => self.vm_address + ofs::VM_MULTRES as u64,
                Const::Vm(VmRef::Depth) => self.vm_address + ofs::VM_NATIVE_DEPTH as u64,
                Const::Pri(_) | Const::Null(_) | Const::Slot(..) => 0,
            },
        }
    }
    fn int(&self, r: IrRef) -> i32 {
        self.val(r) as i32
    }
    fn num(&self, r: IrRef) -> f64 {
        f64::from_bits(self.val(r))
    }
    /// A reference as a boxed value.
    fn boxed(&self, r: IrRef) -> u64 {
        match self.t.konst(r) {
            Some(Const::Gc(k)) => k.bits(),
            Some(Const::Null(ty)) if ty.tag().is_some() => Value::NIL.bits(),
            _ => box_word(self.val(r), self.t.ty(r)),
        }
    }

    /// Calls a helper.
    fn call(&mut self, helper: Helper, args: &[u64]) -> u64 {
        // SAFETY: the contract of [`Eval::new`]; the trace is well formed, so that the words are what the helper takes.
        unsafe { memory::call(helper, (self.config.helper)(helper), self.vm, args) }
    }

    fn step(&mut self, i: usize, ins: Ins) -> Step {
        match ins.op {
            Op::GCSTEP => {
                if self.vm_field(ofs::VM_GC_TOTAL) >= self.vm_field(ofs::VM_GC_THRESHOLD) {
                    let due = self.call(Helper::GcStep, &[]);
                    guard(due as i32 == 0)?;
                }
                Ok(0)
            }
            Op::PROF => {
                guard(self.vm_field(ofs::VM_EXIT_REQUESTED) as u8 == 0)?;
                Ok(0)
            }
            Op::FUEL => {
                self.fuel = None;
                let at = self.vm_address + ofs::VM_FUEL as u64;
                let left = memory::load64(at).checked_sub(u64::from(ins.b.0 - ins.a.0));
                guard(left.is_some())?;
                memory::store64(at, left.unwrap_or(0));
                self.fuel = Some(i);
                Ok(0)
            }
            Op::RETF => {
                let pc = self.val(ins.b);
                guard(!ins.is_guard() || memory::load64(self.base - 8) == pc)?;
                self.base -= 8 * u64::from((self.config.frame_delta)(pc));
                Ok(0)
            }
            Op::SYNC => {
                for s in self.t.synced(self.snap) {
                    memory::store64(self.slot_address(s.slot), self.boxed(s.value));
                }
                Ok(0)
            }
            Op::COROOM | Op::COSAVE | Op::RESUME | Op::YIELD | Op::COEND => coroutine::step(self, ins),
            Op::NATIVE => {
                self.fuel = None;
                self.store_state();
                let frame = self.slot_address(ins.a.slot());
                self.in_native =
                    self.call(Helper::NativeCall, &[frame, u64::from(ins.b.0 & crate::ir::native::ARGS)]) as i32 != 0;
                guard(!self.in_native)?;
                Ok(0)
            }
            op if op.is_comparison() || op == Op::ABC => ops::compare(self, ins),
            Op::ADDOV | Op::SUBOV => ops::sum(self, i, ins),
            Op::MULOV if self.wide[i] => ops::sum(self, i, ins),
            op if (Op::BNOT..=Op::MULOV).contains(&op) => ops::arith(self, ins),
            Op::CONV => ops::conv(self, ins),
            Op::TOBIT => Ok(u64::from(perilune_vm::meta::tobit(self.num(ins.a)) as u32)),
            _ => access::step(self, ins),
        }
    }
}

/// Boxes a word of a type.
fn box_word(word: u64, ty: Ty) -> u64 {
    match ty.pri_value() {
        Some(value) => value.bits(),
        // A NaN from memory outside of the VM may have any bits.
        None if ty == Ty::Num && f64::from_bits(word).is_nan() => f64::NAN.to_bits(),
        None if ty.is_int() => v::INT_BITS | word,
        None => ty.tag().map_or(word, |tag| tag << v::PAYLOAD_BITS | word),
    }
}
