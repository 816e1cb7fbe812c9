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
//! of `vm.cur`, with its whole frame size in bounds; `r.pc` points after the current instruction inside its prototype; `r.kbase`
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
mod bytecode_counts;
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
mod fast_base;
mod fast_list;
pub mod frame;
pub mod frames;
mod handler;
pub mod hook;
mod jit;
mod loops;
mod meta_call;
pub mod native;
pub mod native_stack;
mod protected;
mod registers;
mod returns;
mod run;
mod slot;
pub mod stack;
pub mod stitch;
mod switch;
mod tables;
mod tally;
mod verify;

pub(crate) use bytecode_counts::BytecodeCounts;
pub(crate) use handler::op;
pub use handler::{Driver, Status};
pub(crate) use registers::HandlerTable;
pub use registers::{Dispatching, Handler, R};

use crate::Vm;
use crate::bc::{Ins, Op};
use crate::for_each_bytecode;
use handler::{at_header, way};
use registers::{HANDLERS, Handler2};

impl Dispatching {
    /// The table, for the driver in use.
    pub(crate) fn handlers(self, loop_driver: bool) -> HandlerTable {
        match (self, loop_driver) {
            (Dispatching::Plain, false) => TAIL_TABLE,
            (Dispatching::Plain, true) => LOOP_TABLE,
            (Dispatching::CompilerOff, false) => without_counters::<Tail>(TAIL_TABLE),
            (Dispatching::CompilerOff, true) => without_counters::<Loop>(LOOP_TABLE),
            (Dispatching::Recording, false) => stepping(Handler2(record_step::<Tail>), Handler2(record_fast::<Tail>)),
            (Dispatching::Recording, true) => [Handler2(record_step::<Loop>); HANDLERS],
            (Dispatching::Hooked, false) => stepping(Handler2(hook_step::<Tail>), Handler2(hook_fast::<Tail>)),
            (Dispatching::Hooked, true) => [Handler2(hook_step::<Loop>); HANDLERS],
            (Dispatching::Counted, false) => stepping(Handler2(fuel_step::<Tail>), Handler2(fuel_fast::<Tail>)),
            (Dispatching::Counted, true) => [Handler2(fuel_step::<Loop>); HANDLERS],
            (Dispatching::Tallied, false) => stepping(Handler2(tally_step::<Tail>), Handler2(tally_fast::<Tail>)),
            (Dispatching::Tallied, true) => [Handler2(tally_step::<Loop>); HANDLERS],
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

use arith::*;
use call::*;
use compare::*;
use data::*;
use fast::FASTFN;
use hook::{hook_fast, hook_step};
use jit::*;
use loops::*;
use returns::*;
use stitch::STITCH;
use switch::*;
use tables::*;
use tally::{tally_fast, tally_step};

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
                    Dispatching::Tallied => r.to(tally_step::<Loop>),
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

/// A table with a handler for all bytecodes, and another one for the headers of fast functions.
fn stepping(step: Handler2, fast: Handler2) -> HandlerTable {
    core::array::from_fn(|i| if i < Op::COUNT { step } else { fast })
}

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
