//! The interpreter: one handler for each bytecode, from one table, under two drivers.
//!
//! A handler is an `extern "C"` function with the machine state in its arguments ([`R`]). It ends with a call in tail position of the next
//! handler through the dispatch table, which the Rust compiler turns into a jump ([`Tail`]). Under [`Loop`] the same handlers store their
//! state and return to a `loop { match }`: for builds in which such calls are not jumps, and for Miri.
//!
//! Lua-to-Lua calls, metamethods, iterators, `pcall` and coroutines never recurse in Rust: frames live on the Lua stack ([`frame`]), and a
//! metamethod's result returns through a continuation frame ([`cont`]). An error is a status that the dispatch returns; `run` unwinds the
//! frames.
//!
//! # Contract of all handlers and of `unsafe fn`s on [`R`]
//! `r.vm` is the running VM and no Rust reference to it is alive; `r.base` is the frame of the running Lua function on the stack
//! of `vm.cur`, with its whole frame size in bounds; `r.pc` points behind the current instruction inside its prototype; `r.kbase`
//! is the prototype's constants. The bytecode was produced by the compiler of this crate (or verified), so operands are in range.
#![allow(
    unsafe_code,
    reason = "the registers of the interpreter point into the running stack and the running function; handlers are called with nothing else"
)]
#![allow(unsafe_op_in_unsafe_fn, reason = "every handler's body is covered by the module's contract")]
#![allow(clippy::extra_unused_type_parameters, reason = "handlers that only fail, and what they share, are generic as well")]
#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "a comparison with NaN is false: its opposite is not another comparison")]
#![allow(non_snake_case, reason = "handlers are named after their bytecodes")]
#![allow(clippy::missing_safety_doc, reason = "the module's contract is the safety section of all handlers")]

mod arith;
mod call;
pub mod co;
pub mod co_native;
mod compare;
pub mod cont;
mod data;
pub mod defname;
pub mod errmsg;
mod exception;
pub mod fast;
pub mod frame;
pub mod frames;
pub mod hook;
mod jit;
mod loops;
mod meta_call;
pub mod native;
pub mod native_stack;
mod run;
mod slot;
pub mod stack;
pub mod stitch;
mod switch;
mod tables;
mod verify;

pub use run::Status;

use crate::Vm;
use crate::bc::{Ins, Op};
use crate::for_each_bytecode;
use crate::object::{Func, Gc};
use crate::value::Value;

/// A handler: the machine state in argument registers, a [`Status`] as result. Operand A and the instruction are the third and fourth argument
/// because these are in `rdx` and `rcx` on x86-64: the second byte of `rcx` can be moved to `rdx` by one instruction, and neither need be saved.
pub type Handler = unsafe extern "C" fn(*mut Vm, *const Ins, usize, u64, *mut Value, *const Value) -> u32;

/// A handler behind a pointer in the dispatch table (the type of [`Handler`] cannot name itself).
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct Handler2(pub Handler);

/// The machine state: handlers pass it along in registers. While a handler runs, `base` is the frame of the function that `pc` points into, on
/// the stack of the VM's current coroutine, and has room for all slots of its prototype, whose constants `kbase` points to.
#[derive(Copy, Clone)]
pub struct R {
    /// The VM.
    pub vm: *mut Vm,
    /// Next instruction.
    pub pc: *const Ins,
    /// Frame.
    pub base: *mut Value,
    /// Operand A of the current instruction; at a function header, which has no use for A, the number of arguments in front of 8 bits of any
    /// value (`at_header`).
    pub a: usize,
    /// Constants of the running prototype; at the header of a builtin that a Lua function has called, those of this function.
    pub kbase: *const Value,
    /// The current instruction, rotated by 16 bits so that D (or B and C) is lowest.
    pub ins: u64,
}

/// [`R::a`] at a function header.
#[inline(always)]
const fn at_header(nargs: usize) -> usize {
    nargs << 8
}

/// How a handler calls the next one.
pub trait Driver: 'static {
    /// Do handlers go on by calls in tail position, so that none has a frame?
    const IN_TAIL: bool;
    /// Executes an instruction with its operand A, a function header with a number of arguments (`at_header`). `WAY` is one of the ways
    /// (`way`) out of a handler.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    unsafe fn go<const WAY: u8>(r: R, ins: Ins, a: usize) -> u32;
    /// The handler in the plain dispatch table.
    fn plain(op: Op) -> Handler;
    /// That of a fast function, by its number.
    fn plain_fast(i: usize) -> Handler;
}

/// The ways out of one handler. Each has a jump of its own to the next handler: the processor predicts the target of an indirect jump from what
/// the same jump did before.
mod way {
    /// The usual one.
    pub const NEXT: u8 = 0;
    /// A jump was taken.
    pub const TAKEN: u8 = 1;
    /// A jump was not taken.
    pub const NOT_TAKEN: u8 = 2;
    /// Not integers: doubles.
    pub const DOUBLE: u8 = 3;
}

/// Number of entries of a dispatch table: the bytecodes, and behind them the fast functions.
const HANDLERS: usize = Op::COUNT + fast::COUNT;

/// A dispatch table.
pub(crate) type HandlerTable = [Handler2; HANDLERS];

/// What the dispatch table does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Dispatching {
    /// Instructions are executed.
    Plain,
    /// The same, and hot counters rest: there is no compiler, or it is off.
    CompilerOff,
    /// The compiler records each instruction first.
    Recording,
    /// Hooks, interrupts and samples are checked before each instruction.
    Hooked,
    /// Each takes fuel.
    Counted,
}

impl Dispatching {
    /// The table, for the driver in use.
    pub(crate) fn handlers(self, loop_driver: bool) -> HandlerTable {
        match (self, loop_driver) {
            (Dispatching::Plain, false) => TAIL_TABLE,
            (Dispatching::Plain, true) => LOOP_TABLE,
            (Dispatching::CompilerOff, false) => without_counters::<Tail>(TAIL_TABLE),
            (Dispatching::CompilerOff, true) => without_counters::<Loop>(LOOP_TABLE),
            (Dispatching::Recording, false) => [Handler2(record_step::<Tail>); HANDLERS],
            (Dispatching::Recording, true) => [Handler2(record_step::<Loop>); HANDLERS],
            (Dispatching::Hooked, false) => [Handler2(hook_step::<Tail>); HANDLERS],
            (Dispatching::Hooked, true) => [Handler2(hook_step::<Loop>); HANDLERS],
            (Dispatching::Counted, false) => [Handler2(fuel_step::<Tail>); HANDLERS],
            (Dispatching::Counted, true) => [Handler2(fuel_step::<Loop>); HANDLERS],
        }
    }
}

/// Calls in tail position.
pub struct Tail;
/// State in memory, `loop { match }`.
pub struct Loop;

impl Driver for Tail {
    const IN_TAIL: bool = true;
    #[inline(always)]
    unsafe fn go<const WAY: u8>(r: R, ins: Ins, a: usize) -> u32 {
        // The opcode is taken from the word before it is rotated: one instruction less.
        let table = (&raw const (*r.vm).interp.handlers).cast::<Handler2>();
        let h = (*table.add((ins.0 & 0xff) as usize)).0;
        let r = r.with(ins, a);
        // No instruction, but another text for each way: the compiler would merge the ways out of a handler into one.
        #[cfg(not(miri))]
        core::arch::asm!(
            "/* {} {} {} {} */", const WAY, in(reg) h as usize, in(reg) r.a, in(reg) r.ins,
            options(nomem, nostack, preserves_flags)
        );
        r.to(h)
    }
    #[inline(always)]
    fn plain(op: Op) -> Handler {
        TAIL_TABLE[op as usize].0
    }
    #[inline(always)]
    fn plain_fast(i: usize) -> Handler {
        TAIL_TABLE[Op::COUNT + i].0
    }
}

impl Driver for Loop {
    const IN_TAIL: bool = false;
    #[inline(always)]
    unsafe fn go<const WAY: u8>(r: R, ins: Ins, a: usize) -> u32 {
        (*r.vm).interp.loop_state = Some(r.with(ins, a));
        Status::CONTINUE
    }
    #[inline(always)]
    fn plain(op: Op) -> Handler {
        LOOP_TABLE[op as usize].0
    }
    #[inline(always)]
    fn plain_fast(i: usize) -> Handler {
        LOOP_TABLE[Op::COUNT + i].0
    }
}

impl R {
    #[inline(always)]
    pub(crate) fn i(self) -> Ins {
        Ins((self.ins as u32).rotate_left(16))
    }
    /// Registers at the entry to the interpreter; the first handler loads the others.
    ///
    /// # Safety
    /// `base` is the current frame of the VM.
    unsafe fn at_entry(vm: *mut Vm, base: *mut Value) -> R {
        R { vm, pc: core::ptr::null(), base, a: 0, kbase: base, ins: 0 }
    }
    /// With another current instruction, and a number of arguments if it is a function header.
    #[inline(always)]
    fn with_ins(self, ins: Ins, nargs: usize) -> R {
        self.with(ins, ins.a() | at_header(nargs))
    }
    /// With another current instruction and its [`R::a`].
    #[inline(always)]
    fn with(mut self, ins: Ins, a: usize) -> R {
        self.a = a;
        self.ins = u64::from(ins.0.rotate_right(16));
        self
    }
    #[inline(always)]
    unsafe fn ra(self) -> *mut Value {
        self.base.add(self.a)
    }
    #[inline(always)]
    unsafe fn rb(self) -> *mut Value {
        self.base.add(self.b())
    }
    #[inline(always)]
    unsafe fn rc(self) -> *mut Value {
        self.base.add(self.c())
    }
    #[inline(always)]
    unsafe fn rd(self) -> *mut Value {
        self.base.add(self.d())
    }
    #[inline(always)]
    fn a(self) -> usize {
        self.a
    }
    /// Operand B, from the code: only registers that must be saved could take it from `ins` together with the others. Instructions with a B are
    /// never replaced by another form.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    unsafe fn b(self) -> usize {
        usize::from(*self.pc.cast::<u8>().sub(1))
    }
    #[inline(always)]
    fn c(self) -> usize {
        (self.ins & 0xff) as usize
    }
    #[inline(always)]
    fn d(self) -> usize {
        (self.ins & 0xffff) as usize
    }
    /// Number of arguments, at a function header.
    #[inline(always)]
    fn nargs(self) -> usize {
        self.a >> 8
    }
    /// Address of a number constant.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    unsafe fn kn(self, i: usize) -> *const Value {
        self.kbase.add(i)
    }
    /// Number constant.
    #[inline(always)]
    unsafe fn knum(self, i: usize) -> Value {
        *self.kn(i)
    }
    /// Object constant.
    #[inline(always)]
    unsafe fn kgc(self, i: usize) -> Value {
        // In this form the address takes one register less.
        *self.kbase.offset(!(i as isize)).sub(1)
    }
    /// The function of the frame.
    #[inline(always)]
    unsafe fn func(self) -> Gc<Func> {
        Gc::from_addr((*self.base.sub(2)).payload())
    }
    /// Continues with the instruction at `pc`.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    unsafe fn next<D: Driver>(self) -> u32 {
        self.next_by::<D, { way::NEXT }>()
    }
    /// The same by one of the ways out of a handler.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    unsafe fn next_by<D: Driver, const WAY: u8>(mut self) -> u32 {
        let ins = *self.pc;
        self.pc = self.pc.add(1);
        D::go::<WAY>(self, ins, ins.a())
    }
    /// Takes the jump in the instruction at `pc`.
    #[inline(always)]
    unsafe fn branch<D: Driver>(mut self) -> u32 {
        let j = *self.pc;
        self.pc = self.pc.add(1).offset(j.j() as isize);
        self.next_by::<D, { way::TAKEN }>()
    }
    /// Skips the jump at `pc`.
    #[inline(always)]
    unsafe fn skip<D: Driver>(mut self) -> u32 {
        self.pc = self.pc.add(1);
        self.next_by::<D, { way::NOT_TAKEN }>()
    }
    /// Takes the jump of the current instruction.
    #[inline(always)]
    unsafe fn jump<D: Driver>(mut self) -> u32 {
        self.pc = self.pc.offset(self.d() as isize - 0x8000);
        self.next_by::<D, { way::TAKEN }>()
    }
    /// Calls a cold handler in tail position.
    #[inline(always)]
    unsafe fn to(self, h: Handler) -> u32 {
        h(self.vm, self.pc, self.a, self.ins, self.base, self.kbase)
    }
    /// Makes the state visible to everything outside the handlers.
    #[inline(always)]
    unsafe fn sync(self) {
        (*self.vm).base = self.base;
        (*self.vm).pc = self.pc;
    }
    /// Frame size of the running prototype.
    #[inline(always)]
    unsafe fn framesize(self) -> usize {
        match self.func().proto() {
            Some(p) => p.framesize() as usize,
            None => 0,
        }
    }
    /// Syncs and sets `top` to the end of the frame: before anything that pushes frames or may collect.
    #[inline]
    unsafe fn sync_top(self) {
        self.sync();
        (*self.vm).top = self.base.add(self.framesize());
    }
}

/// Defines a handler, generic over the driver.
macro_rules! op {
    ($($(#[$m:meta])* $name:ident<$d:ident>($r:ident) $body:block)*) => {
        $(
        $(#[$m])*
        pub(super) unsafe extern "C" fn $name<$d: $crate::interp::Driver>(
            vm: *mut $crate::Vm,
            pc: *const $crate::bc::Ins,
            a: usize,
            ins: u64,
            base: *mut $crate::value::Value,
            kbase: *const $crate::value::Value,
        ) -> u32 {
            #[allow(unused_mut, reason = "some handlers update the state in place")]
            let mut $r = $crate::interp::R { vm, pc, base, a, kbase, ins };
            $body
        }
        )*
    };
}
pub(crate) use op;

use arith::*;
use call::*;
use compare::*;
use data::*;
use fast::FASTFN;
use hook::hook_step;
use jit::*;
use loops::*;
use stitch::STITCH;
use switch::*;
use tables::*;

macro_rules! define_tables {
    ($($(#[$doc:meta])* ($name:ident $(, $mode:ident)*))*) => {
        /// The handlers of a driver.
        const fn table<D: Driver>() -> HandlerTable {
            let ops: [Handler2; Op::COUNT] = [$(Handler2($name::<D>),)*];
            let builtins = fast::handlers::<D>();
            let mut table = [ops[0]; HANDLERS];
            let mut i = 0;
            while i < HANDLERS {
                table[i] = if i < Op::COUNT { ops[i] } else { builtins[i - Op::COUNT] };
                i += 1;
            }
            table
        }
        /// Runs the `loop { match }` driver until a status other than CONTINUE.
        pub(crate) unsafe fn drive_loop(vm: *mut Vm, mut status: u32) -> u32 {
            while status == Status::CONTINUE {
                let Some(r) = (*vm).interp.loop_state.take() else { return Status::CONTINUE };
                // Volatile: a signal handler may have changed it.
                status = match (&raw const (*vm).interp.dispatching).read_volatile() {
                    Dispatching::Recording => r.to(record_step::<Loop>),
                    Dispatching::Hooked => r.to(hook_step::<Loop>),
                    Dispatching::Counted => r.to(fuel_step::<Loop>),
                    Dispatching::CompilerOff => jit::execute_once::<Loop>(r),
                    Dispatching::Plain => match r.i().op() as u8 {
                        $(x if x == Op::$name as u8 => r.to($name::<Loop>),)*
                        _ => Status::CONTINUE,
                    },
                };
            }
            status
        }
    };
}
for_each_bytecode!(define_tables);

/// A table with the handlers that do not count instead of those that count.
fn without_counters<D: Driver>(mut table: HandlerTable) -> HandlerTable {
    for op in [Op::FORL, Op::ITERL, Op::LOOP, Op::FUNCF, Op::FUNCV] {
        table[op as usize] = Handler2(D::plain(uncounted(Ins::ad(op, 0, 0)).op()));
    }
    table[Op::ITERN as usize] = Handler2(ITERN_uncounted::<D>);
    table
}

static TAIL_TABLE: HandlerTable = table::<Tail>();
static LOOP_TABLE: HandlerTable = table::<Loop>();
