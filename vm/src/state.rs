//! The VM state: what the interpreter, compiled code and the libraries share.

use crate::bc::Ins;
use crate::bc::Op;
use crate::error::{LuaError, LuaResult};
use crate::gc::Heap;
use crate::hooks::{Compiler, EnterFn, Mode};
use crate::host::HostState;
use crate::interp::hook::Hook;
use crate::interp::native::Unfinished;
use crate::interp::{Dispatching, Handler2, R};
use crate::object::{Gc, Str, Table, Thread};
use crate::sample::{Activity, Sampling};
use crate::stdlib::Prng;
use crate::value::Value;
use std::rc::Rc;

/// Number of hot counters. Places share them, so that in large programs few would run out too early, and often for places that are not hot.
pub const HOT_COUNTERS: usize = 1024;

/// Called when the program ends the process, see [`Vm::at_exit`].
pub type AtExit = Box<dyn FnOnce(&mut Vm, i32)>;

/// One Lua state. Single-threaded; boxed and pinned, since compiled code and objects know its address.
///
/// The fields up to `scratch` are read and written by compiled code at fixed offsets ([`crate::layout`]).
#[repr(C)]
pub struct Vm {
    /// Base of the frame of the running builtin; of the frame to resume when compiled code has left.
    pub base: *mut Value,
    /// End of the values of the running builtin.
    pub top: *mut Value,
    /// A frame may extend up to here before the stack must grow.
    pub stack_limit: *mut Value,
    /// The running coroutine.
    pub cur: Gc<Thread>,
    /// The dispatch table: [`Vm::handlers`].
    pub dispatch: *const Handler2,
    /// Number of values of an open result list (CALLM, RETM, TSETM, CAT ...).
    pub multres: u32,
    /// Does a sample wait? See [`Vm::sample_waits`].
    pub(crate) sample_waits_flag: bool,
    /// What is being done. See [`Vm::begin_activity`].
    pub(crate) activity: Activity,
    /// Trace being entered or left last; 0 when none.
    pub jit_trace: u32,
    /// Where compiled code leaves the base of the frame to resume.
    pub jit_base: *mut Value,
    /// Entry to compiled code.
    pub enter: EnterFn,
    /// Code address by trace number (index 0 unused).
    pub trace_code: *mut usize,
    /// Times each trace was entered from the interpreter, by its number.
    pub trace_entered: *mut u64,
    /// Code address by exit id: one of the next two.
    pub exit_table: *mut usize,
    /// The exit stub, or a side trace.
    pub exits_linked: *mut usize,
    /// The exit stub, always, for while a sample waits; or null.
    pub exits_leaving: *mut usize,
    /// Where compiled code is that calls a helper, if somebody wants to know; else 0 ([`crate::gc::watch::Site`]).
    pub site: u32,
    /// While somebody does: depth of native calls at which compiled code runs.
    pub trace_depth: u32,
    /// Depth of native calls into the VM.
    pub native_depth: u32,
    /// Arguments and results of helpers called from compiled code.
    pub scratch: [u64; 16],
    /// Always nil: what a failed lookup points to.
    pub nil_slot: Value,
    /// Guards of exit stress still to pass before one leaves, and how many do between two that leave (for tests).
    pub exit_countdown: u32,
    /// See `exit_countdown`.
    pub exit_every: u32,
    /// Hot counters, see [`crate::object::Proto::hot_counter`].
    pub hotcount: [u16; HOT_COUNTERS],
    /// Heap, with the allocation counters and free lists that compiled code touches first.
    pub heap: Heap,

    // From here on nothing is touched by compiled code.
    /// The error on its way ([`LuaError`]).
    pub error: Value,
    /// Traceback text made at the point of the last error caught by the host, if any.
    pub error_traceback: Option<Vec<u8>>,
    /// The main coroutine.
    pub main: Gc<Thread>,
    /// Globals of the main coroutine.
    pub globals: Gc<Table>,
    /// Registry.
    pub registry: Gc<Table>,
    /// Default input and output file of the io library.
    pub io_defaults: [Value; 2],
    /// Metatables of the basic types, by [`Value::type_index`].
    pub base_meta: [Option<Gc<Table>>; 14],
    /// Names of the metamethods as strings, by number.
    pub meta_names: [Option<Gc<Str>>; 32],
    /// By exit id, see [`crate::hooks::PlainExit`].
    pub plain_exits: *mut crate::hooks::PlainExit,
    /// The attached compiler.
    pub compiler: Rc<dyn Compiler>,
    /// Is a VM event handler, hook or finalizer running? No recording then.
    pub no_record: u32,
    /// Current mode.
    pub mode: Mode,
    /// What the embedding API keeps here.
    pub host: HostState,
    /// Handlers of VM events by name: `(name, function)`.
    pub event_handlers: Vec<(Box<[u8]>, Value)>,
    /// Called once when the program ends the process, with its status.
    pub at_exit: Vec<AtExit>,
    /// Behind the current instruction of the innermost Lua frame, as of the last sync.
    pub pc: *const Ins,
    /// Scratch of concatenation and string helpers.
    pub buffer: Vec<u8>,
    /// There was no memory for all that compiled code has put into [`Vm::buffer`].
    pub buffer_cut: bool,
    /// Compiled patterns of the string library.
    pub(crate) patterns: crate::text::pattern::PatternCache,
    /// Is an error handler running?
    pub in_error: bool,
    /// Has the handler of the error on its way run already?
    pub error_handled: bool,
    /// Does the host want a traceback of uncaught errors?
    pub want_traceback: bool,
    /// Is the `loop { match }` driver in use?
    pub use_loop_driver: bool,
    /// Saved registers of that driver.
    pub loop_state: Option<R>,
    /// Instruction to execute once after an exit, see the interpreter.
    pub resume_ins: Ins,
    /// Arguments at the function header about to be recorded.
    pub record_nargs: u32,
    /// What a builtin called by compiled code has left for the interpreter.
    pub unfinished: Unfinished,
    /// Grows with whatever may take away what compiled code relies on that is not on the stack: the atomic phase of a collection,
    /// a flush of traces, Lua code called by a builtin.
    pub upheavals: u32,
    /// Calls of builtins by compiled code that have not come back: their code must stay where it is.
    pub traces_waiting: u32,
    /// What [`Vm::site`] numbers.
    pub sites: Vec<crate::gc::watch::Site>,
    /// What enters compiled code, but for watching.
    pub plain_enter: EnterFn,
    /// Builtin id of `next`.
    pub next_ffid: u32,
    /// Generator of `math.random`.
    pub prng: Prng,
    /// What is hooked.
    pub hook: Hook,
    /// Interrupts and the time limit.
    pub(crate) interrupts: crate::interrupt::Interrupts,
    /// Samples.
    pub sampling: Sampling,
    /// What [`Vm::handlers`] does.
    pub dispatching: Dispatching,
    /// A handler for each bytecode. Changed in place, so that a change is noticed at the next instruction.
    pub handlers: [Handler2; Op::COUNT],
    /// How often stacks were moved.
    pub(crate) stack_moves: u32,
    /// While compiled code runs that is sampled: the base of the frame that it counts slots from. Null while the stack has moved since.
    pub code_base: *mut Value,
    /// Does a callback run? See [`crate::callback`].
    pub(crate) in_callback: bool,
    /// How often all hot counters were reset; wraps around.
    pub(crate) hot_resets: u32,
}

impl Vm {
    /// Number of arguments of the running builtin.
    #[inline(always)]
    pub fn nargs(&self) -> usize {
        // SAFETY: base and top delimit the running builtin's part of one stack.
        unsafe { self.top.offset_from(self.base) as usize }
    }
    /// Argument `i` (0-based) of the running builtin; nil when absent.
    #[inline(always)]
    pub fn arg(&self, i: usize) -> Value {
        if i < self.nargs() {
            // SAFETY: in range.
            unsafe { *self.base.add(i) }
        } else {
            Value::NIL
        }
    }
    /// Sets argument `i` (0-based, must exist): keeps a value alive across a call into Lua.
    #[inline(always)]
    pub fn set_arg(&mut self, i: usize, v: Value) {
        assert!(i < self.nargs());
        // SAFETY: in range.
        unsafe { *self.base.add(i) = v }
    }
    /// Pushes a value for the caller. A builtin has room for at least 20 pushes; beyond that, [`Vm::reserve`] first.
    #[inline(always)]
    pub fn push(&mut self, v: Value) {
        debug_assert!(self.top < self.stack_end());
        // SAFETY: the callee's minimum stack was reserved before the builtin was called.
        unsafe {
            *self.top = v;
            self.top = self.top.add(1);
        }
    }
    /// Pops the topmost value.
    #[inline(always)]
    pub fn pop(&mut self) -> Value {
        debug_assert!(self.top > self.base);
        // SAFETY: by the assertion there is a value.
        unsafe {
            self.top = self.top.sub(1);
            *self.top
        }
    }
    /// Pushes the one result of a builtin.
    #[inline(always)]
    pub fn ret1(&mut self, v: Value) -> LuaResult<u32> {
        self.push(v);
        Ok(1)
    }
    /// End of the current stack's memory.
    #[inline]
    pub fn stack_end(&self) -> *mut Value {
        // SAFETY: `size` slots were allocated at `stack`.
        unsafe { self.cur.stack.get().add(self.cur.size.get() as usize) }
    }
    /// Parks `v` as the error value.
    #[cold]
    pub fn throw(&mut self, v: Value) -> LuaError {
        self.error = v;
        self.error_handled = false;
        LuaError::parked()
    }
}
