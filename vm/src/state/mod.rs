//! The VM state, which the interpreter, compiled code and the libraries share.
//!
//! [`Vm`] holds the registers of the machine and its parts, each of which is in a file with the code that uses it.

mod builtin;
mod callback;
mod compiled;
mod depth;
mod errors;
mod exit_request;
mod fuel;
mod interp;
mod realm;
mod running;
mod scratch;
mod strings;

pub use callback::CallbackState;
pub use compiled::{CodeNeeds, CompiledState, Unfinished};
pub(crate) use depth::DepthLimits;
pub use errors::ErrorState;
pub(crate) use fuel::Fuel;
pub(crate) use interp::Within;
pub use interp::{FIELD_NODES, HOT_COUNTERS, InterpState};
pub use realm::Realm;
pub use running::{Activity, RunState};
pub use strings::{Scratch, StringState};

use crate::bc::Ins;
use crate::compilation_cache::CompilationCache;
use crate::error::LuaError;
use crate::ffi::Ffi;
use crate::gc::Heap;
use crate::hooks::{Compiler, Observer};
use crate::host::HostState;
use crate::interrupt::Interrupts;
use crate::object::{Gc, Proto, Str, Thread};
use crate::value::Value;
use core::marker::PhantomPinned;
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
    /// The attached observer.
    pub(crate) observer: Option<Rc<dyn Observer>>,
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
    /// Its words may be read by address while a reference to it is in use: by signal handlers, and by the heap for its watcher. A reference
    /// to what is not `Unpin` allows that.
    pub(crate) pinned: PhantomPinned,
}

impl Vm {
    /// Raises an error with the value `v`.
    #[cold]
    pub fn throw(&mut self, v: Value) -> LuaError {
        self.errors.value = v;
        self.errors.handled = false;
        self.forget_exception();
        LuaError::parked()
    }
    /// The error that is being raised, for native code that learned of it in another way.
    pub fn raised(&self) -> LuaError {
        LuaError::parked()
    }
}
