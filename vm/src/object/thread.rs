//! Coroutines.

use super::{Gc, GcHeader, Table, UpVal};
use crate::Vm;
use crate::value::Value;
use core::cell::Cell;
use core::ffi::c_void;

/// State of a coroutine.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ThreadStatus {
    /// Not started: the function and its arguments are on the stack.
    Fresh,
    /// Suspended in a yield.
    Suspended,
    /// Running now.
    Running,
    /// Resumed another coroutine and waits for it.
    Normal,
    /// Finished, or died of an error.
    Dead,
}

impl ThreadStatus {
    /// Can such a coroutine be resumed?
    #[inline(always)]
    pub const fn is_resumable(self) -> bool {
        matches!(self, ThreadStatus::Fresh | ThreadStatus::Suspended)
    }
}

/// What leads from a coroutine to its VM, for native code that knows the coroutine only. All coroutines of a VM share it.
#[derive(Debug)]
#[repr(C)]
pub struct ThreadLink {
    /// The VM, derived from the innermost reference to it that is in use: native code may use it until it returns. Null if no native code
    /// may use it.
    pub current: Cell<*mut Vm>,
    /// Where an error of native code goes: a stack pointer of the innermost protected call of native code, or null.
    pub jump: Cell<*mut u8>,
    /// Address of the function that calls functions in C, or 0.
    wrapper: Cell<usize>,
    /// Has the VM functions in C, and no wrapper that calls them? Then the interpreter is entered by border calls, so that it can call them
    /// directly.
    calls_functions: Cell<bool>,
    /// The depth of native calls into the interpreter of the last one that was entered by a border call; the greatest number while there
    /// is a wrapper.
    pub depth: Cell<u32>,
}

impl ThreadLink {
    pub(crate) const fn new() -> ThreadLink {
        ThreadLink {
            current: Cell::new(core::ptr::null_mut()),
            jump: Cell::new(core::ptr::null_mut()),
            wrapper: Cell::new(0),
            calls_functions: Cell::new(false),
            depth: Cell::new(u32::MAX),
        }
    }
    /// Address of the function that calls functions in C, or 0.
    #[inline]
    pub fn wrapper(&self) -> usize {
        self.wrapper.get()
    }
    /// Sets the function that calls functions in C; 0 if none does.
    pub fn set_wrapper(&self, address: usize) {
        self.wrapper.set(address);
        self.calls_functions.set(address == 0);
        if address != 0 {
            self.depth.set(u32::MAX);
        }
    }
    /// The VM has a function in C now.
    pub(crate) fn has_function(&self) {
        self.calls_functions.set(self.wrapper.get() == 0);
    }
    /// Is the interpreter to be entered by a border call?
    #[inline(always)]
    pub(crate) fn is_entered_by_border(&self) -> bool {
        self.calls_functions.get()
    }
    /// The interpreter that was entered by a border call has been left; `depth` is that of the one before.
    #[inline(always)]
    pub(crate) fn leave(&self, depth: u32) {
        if self.calls_functions.get() {
            self.depth.set(depth);
        }
    }
}

/// [`Thread::native_depth`] of a coroutine that has not run since the collector marked its stack. The VM never calls so deep.
const MARKED: u32 = u32::MAX;

/// A coroutine: its stack and its open upvalues. The running coroutine's `base` and `top` live in the [`crate::Vm`].
///
/// Header: `b0` is 1 while it is on the heap's list of coroutines that have open upvalues.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    /// Object header.
    pub hdr: GcHeader,
    /// First slot of the stack.
    pub stack: Cell<*mut Value>,
    /// Slots allocated.
    pub size: Cell<u32>,
    /// State.
    pub status: Cell<ThreadStatus>,
    /// Does an error handler run on it? An error that is raised meanwhile calls no handler.
    pub in_handler: Cell<bool>,
    /// How many error handlers run on it, each for an error of the one before.
    pub handlers: Cell<u32>,
    /// Base of the current frame, while not running.
    pub base: Cell<*mut Value>,
    /// Open upvalues, from the highest stack slot down. (The field lies between `base` and `top`, so that these two are not loaded
    /// together: a switch has just stored one of them, and the processor would wait for that store.)
    pub open: Cell<*mut UpVal>,
    /// Top of the stack, while not running.
    pub top: Cell<*mut Value>,
    /// Environment of the thread.
    pub env: Cell<Gc<Table>>,
    /// The coroutine that resumed this one.
    pub resumer: Cell<Option<Gc<Thread>>>,
    /// Saved instruction pointer, while suspended or normal.
    pub pc: Cell<*const crate::bc::Ins>,
    /// Depth of native calls into the VM when it was resumed: it may only yield at that depth. While it does not run, the collector keeps
    /// `MARKED` here. A resume, also one in compiled code, stores the depth, which clears that mark without a test.
    pub native_depth: Cell<u32>,
    /// Number of suspended coroutines below it, each of which waits for the one above.
    pub nesting: Cell<u32>,
    /// The way to the VM.
    pub link: *const ThreadLink,
    /// Words for programs in C, which coroutines inherit from the one that makes them.
    pub host: [Cell<*mut c_void>; 2],
}

impl Thread {
    /// Slots above the limit that frames of metamethods and results may use without a check.
    pub const EXTRA: u32 = 40;

    /// A frame may extend up to here before the stack must grow.
    #[inline(always)]
    pub fn limit(&self) -> *mut Value {
        self.stack.get().wrapping_add((self.size.get() - Thread::EXTRA) as usize)
    }
    /// Does its stack stay as it is until somebody resumes it?
    pub(crate) fn is_idle(&self) -> bool {
        !matches!(self.status.get(), ThreadStatus::Running | ThreadStatus::Normal)
    }
    /// The collector has marked what the stack of this idle coroutine refers to.
    pub(crate) fn stack_was_marked(&self) {
        debug_assert!(self.is_idle(), "the depth of a coroutine that runs is needed");
        self.native_depth.set(MARKED);
    }
    /// Is everything that it refers to as it was when the collector marked it, but for variables that closures share?
    pub(crate) fn is_stack_marked(&self) -> bool {
        self.native_depth.get() == MARKED
    }
    /// Must be called when its stack or environment changes while it does not run.
    pub(crate) fn stack_changed(&self) {
        if self.is_stack_marked() {
            self.native_depth.set(0);
        }
    }
}
