//! The VM state, which the interpreter, compiled code and the libraries share.
//!
//! [`Vm`] holds the registers of the machine and its parts, each of which is in a file with the code that uses it.
#![allow(unsafe_code, reason = "`base` and `top` delimit the values of the running builtin on the running stack")]

mod compiled;
mod errors;
mod interp;
mod realm;
mod running;
mod strings;

pub use compiled::{CompiledState, Unfinished};
pub use errors::ErrorState;
pub use interp::{FIELD_NODES, HOT_COUNTERS, InterpState};
pub use realm::Realm;
pub use running::{Activity, RunState};
pub use strings::StringState;

use crate::bc::Ins;
use crate::callback::CallbackState;
use crate::compilation_cache::CompilationCache;
use crate::error::{LuaError, LuaResult};
use crate::ffi::Ffi;
use crate::fuel::Fuel;
use crate::gc::Heap;
use crate::hooks::Compiler;
use crate::host::HostState;
use crate::interp::stack::DepthLimits;
use crate::interrupt::Interrupts;
use crate::object::{Func, Gc, Proto, Str, Thread};
use crate::sample::Sampling;
use crate::value::Value;
use std::rc::Rc;

/// One Lua state. Single-threaded; boxed and pinned, since compiled code and objects know its address.
///
/// Compiled code reads and writes the fields up to `heap` at fixed offsets ([`crate::layout`]).
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
    /// After the current instruction of the innermost Lua frame, as of the last sync.
    pub pc: *const Ins,
    /// Number of values of an open result list (CALLM, RETM, TSETM, CAT ...).
    pub multres: u32,
    /// What the VM does, and whether compiled code is to be left.
    pub(crate) running: RunState,
    /// The part that compiled code and its exits use.
    pub compiled: CompiledState,
    /// Samples; the fields that signal handlers read and write.
    pub sampling: Sampling,
    /// The state of the interpreter.
    pub interp: InterpState,
    /// Heap, with the allocation counters and free lists that compiled code touches first.
    pub heap: Heap,
    /// Globals, registry, metatables of the basic types.
    pub realm: Realm,
    /// The error that is being raised.
    pub errors: ErrorState,
    /// Callbacks that are running.
    pub callback: CallbackState,
    /// The attached compiler.
    pub compiler: Rc<dyn Compiler>,
    /// The embedding API's part.
    pub host: HostState,
    /// The FFI, once it is open.
    pub ffi: Option<Box<Ffi>>,
    /// Buffers of string operations.
    pub strings: StringState,
    /// Interrupts and the time limit.
    pub(crate) interrupts: Interrupts,
    /// The limit of instructions. Compiled code counts them here if there is one.
    pub(crate) fuel: Fuel,
    /// Limits of the depth of calls.
    pub(crate) depth: DepthLimits,
    /// Prototypes of texts that were compiled more than once.
    pub compilation_cache: CompilationCache<Gc<Str>, Gc<Proto>>,
}

impl Vm {
    /// The running builtin.
    #[inline(always)]
    pub fn callee(&self) -> Gc<Func> {
        debug_assert!(!self.base.is_null());
        // SAFETY: the slots below the base of a frame hold its function and its link; the frame of the host has a function as well.
        unsafe { crate::interp::frame::func_of(self.base) }
    }
    /// Number of arguments of the running builtin.
    #[inline(always)]
    pub fn nargs(&self) -> usize {
        // SAFETY: base and top delimit the running builtin's part of one stack.
        unsafe { self.top.offset_from(self.base) as usize }
    }
    /// The arguments of the running builtin.
    #[inline(always)]
    pub fn args(&self) -> &[Value] {
        // SAFETY: the running builtin's part of the stack, which is not written while the VM is borrowed.
        unsafe { core::slice::from_raw_parts(self.base, self.nargs()) }
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
    /// Raises an error with the value `v`.
    #[cold]
    pub fn throw(&mut self, v: Value) -> LuaError {
        self.errors.value = v;
        self.errors.handled = false;
        self.forget_exception();
        LuaError::parked()
    }
}
