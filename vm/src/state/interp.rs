//! The part of the VM that drives the interpreter: dispatch table, mode, hooks and hot counters.

use crate::bc::Ins;
use crate::hooks::Mode;
use crate::interp::native_stack::Bounds;
use crate::interp::{BytecodeCounts, Dispatching, HandlerTable, R};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};

/// Number of hot counters. Loops and functions share them by hash; with fewer counters, code that is not hot would often underflow in large
/// programs.
pub const HOT_COUNTERS: usize = 1024;

/// Number of entries of [`InterpState::field_nodes`]: the field accesses of a program's hot part, in 8 KB of the first-level cache at most.
pub const FIELD_NODES: usize = 4096;

/// The hook of a VM, see [`crate::interp::hook`].
#[derive(Debug)]
pub struct Hook {
    /// The events that call the hook: bits.
    pub mask: u8,
    /// Instructions between two count events.
    pub count: i32,
    /// Instructions until the next one.
    pub(crate) remaining: i32,
    /// After the last instruction that was examined.
    pub(crate) last: *const Ins,
    /// Where that was.
    pub(crate) within: Within,
    /// The same for what waits until that has returned or yielded.
    pub(crate) waiting: Vec<(Within, *const Ins)>,
    /// Is the hook function running? Then there are no events.
    pub(crate) running: bool,
    /// Is it a hook of the host, and not one that the program has set?
    pub of_host: bool,
    /// The hook of the host that is to be set before the next instruction.
    pub(crate) asked: AskedHook,
}

/// A hook of the host that was asked for at any time, as by a signal handler or another thread.
#[derive(Default, Debug)]
pub(crate) struct AskedHook {
    pub waits: AtomicBool,
    /// What the host calls.
    pub function: AtomicUsize,
    pub mask: AtomicU8,
    pub count: AtomicI32,
    /// After the instruction that was running.
    pub last: AtomicPtr<Ins>,
    /// Where that was.
    pub thread: AtomicU64,
    pub depth: AtomicU32,
}

/// A run of instructions that nothing else interrupts but what it calls or resumes.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Within {
    /// Address of the coroutine, which may have been freed.
    pub thread: u64,
    /// Depth of native calls.
    pub depth: u32,
}

impl Default for Hook {
    fn default() -> Hook {
        let (last, within, waiting) = (core::ptr::null(), Within::default(), Vec::new());
        Hook {
            mask: 0,
            count: 0,
            remaining: 0,
            last,
            within,
            waiting,
            running: false,
            of_host: false,
            asked: AskedHook::default(),
        }
    }
}

/// State of the interpreter besides its registers.
#[repr(C)]
pub struct InterpState {
    /// Depth of native calls into the VM.
    pub native_depth: u32,
    /// Number of arguments at the function header about to be recorded.
    pub record_nargs: u32,
    /// Hot counters, see [`crate::object::Proto::hot_counter`].
    pub hotcount: [u16; HOT_COUNTERS],
    /// Which node of a table the instructions that access fields last found theirs in, by their addresses.
    pub field_nodes: [u16; FIELD_NODES],
    /// Current mode.
    pub mode: Mode,
    /// The kind of handlers in the dispatch table.
    pub dispatching: Dispatching,
    /// Are loops and calls counted? Only while there is a compiler that is on.
    pub counts_hotness: bool,
    /// Is the `loop { match }` driver in use?
    pub use_loop_driver: bool,
    /// Saved registers of that driver.
    pub loop_state: Option<R>,
    /// Instruction to execute once after an exit instead of the one in the bytecode.
    pub resume_ins: Ins,
    /// The debug hook.
    pub hook: Hook,
    /// A handler for each opcode. Changed in place, so that a change takes effect at the next instruction.
    pub(crate) handlers: HandlerTable,
    /// How often bytecodes were interpreted, while that is counted.
    pub(crate) bytecode_counts: Option<Box<BytecodeCounts>>,
    /// The native stack that the calls from Rust are on.
    pub(crate) native_stack: Bounds,
}

impl Default for InterpState {
    fn default() -> InterpState {
        InterpState {
            native_depth: 0,
            record_nargs: 0,
            hotcount: [u16::MAX; HOT_COUNTERS],
            field_nodes: [0; FIELD_NODES],
            mode: Mode::Interpret,
            dispatching: Dispatching::CompilerOff,
            counts_hotness: false,
            use_loop_driver: cfg!(any(miri, debug_assertions)),
            loop_state: None,
            resume_ins: Ins(0),
            hook: Hook::default(),
            handlers: Dispatching::CompilerOff.handlers(false),
            bytecode_counts: None,
            native_stack: Bounds::NOT_FOUND,
        }
    }
}
