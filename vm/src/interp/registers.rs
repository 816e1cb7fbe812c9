//! What the interpreter keeps in registers, and the form of its dispatch tables. The state of the VM holds both; the handlers are apart from
//! them, so that it names none.

use super::fast_list::COUNT;
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::value::Value;

/// A handler: the machine state in argument registers, a [`super::Status`] as result. Operand A and the instruction are the third and fourth argument
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
    /// Operand A of the current instruction; at a function header, which has no use for A, the number of arguments in front of 8 bits
    /// (`at_header`): operand A of the CALL or CALLM that has called the function, or any value if something else has.
    pub a: usize,
    /// Constants of the running prototype; at the header of a builtin that a Lua function has called, those of this function.
    pub kbase: *const Value,
    /// The current instruction, rotated by 16 bits so that D (or B and C) is lowest.
    pub ins: u64,
}

/// Number of entries of a dispatch table: the bytecodes, and after them the fast functions.
pub const HANDLERS: usize = Op::COUNT + COUNT;

/// A dispatch table.
pub type HandlerTable = [Handler2; HANDLERS];

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
    /// Each is counted by its opcode.
    Tallied,
}
