//! The state behind all handles: how Rust code reaches the VM, and how errors come out of it.
//!
//! There is one entrance, [`State::enter`], which refuses a second one inside it. Code of the host (closures that Lua calls, conversions,
//! writers, `Drop` of payloads) runs outside: either no VM function is active, or it was left by [`State::leave`].
#![allow(
    unsafe_code,
    reason = "one thread at a time uses a state (`sync`), and `current` is null while a reference to the VM is in use"
)]

use super::app_data::AppData;
use super::error::{Error, LuaError, Result};
use super::failure::{self, Failure};
use super::handle::Handle;
use super::hook::Hooks;
use super::lua::{Lua, WeakLua};
use super::options::LuaOptions;
use super::passing::Frame;
use super::registry::{Names, Released};
use super::sync::{Lock, Shared, WeakShared};
use super::thread_events::ThreadEvents;
use super::userdata::Types;
use perilune_vm::Vm;
use perilune_vm::host::{Host, Roots};
use perilune_vm::interrupt::Cause;
use perilune_vm::meta::MM;
use perilune_vm::stdlib::StdLib;
use perilune_vm::value::Value as Raw;
use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

/// A new VM with the libraries and the compiler, for the command. `no_env`: the environment's variables are ignored.
///
/// # Safety
/// A VM's fields and methods are not a safe interface: who uses them must keep to what is documented with them.
pub unsafe fn new_vm(no_env: bool) -> Box<Vm> {
    new_vm_with(StdLib::ALL, no_env)
}

/// A new VM with some libraries and the compiler. `no_env`: the environment's variables are ignored.
pub(super) fn new_vm_with(libs: StdLib, no_env: bool) -> Box<Vm> {
    let mut vm = Vm::new();
    if no_env {
        let registry = vm.realm.registry;
        vm.set_field(registry, b"LUA_NOENV", Raw::TRUE);
    }
    perilune_jit::install(&mut vm);
    open_libs(&mut vm, libs);
    vm
}

/// Makes libraries available.
pub(super) fn open_libs(vm: &mut Vm, libs: StdLib) {
    vm.open_selected_libs(libs);
    if libs.contains(StdLib::JIT) {
        perilune_jit::stdlib::open(vm);
    }
    #[cfg(feature = "observe")]
    if libs.contains(StdLib::MISC) {
        perilune_observe::library::open(vm);
    }
}

/// The VM of a state, for the command.
///
/// # Safety
/// The VM lives as long as the state. While it is used through this pointer, the state and its handles must not be used.
pub unsafe fn vm_of(lua: &Lua) -> *mut Vm {
    lua.0.parts.owner
}

/// What all handles of a state lead to. [`Lua`] owns it; handles refer to it weakly.
pub struct State {
    lock: Lock,
    parts: Parts,
    /// What interrupts this state, once it was asked for: who wants to end a program does not wait for the lock, which the program holds.
    #[cfg(feature = "send")]
    pub(super) remote: std::sync::OnceLock<perilune_vm::interrupt::Remote>,
}

#[cfg(feature = "send")]
// SAFETY: the parts are used only by the thread that holds the lock (`State::deref`), or by the one that drops the state, which is the last
// to have it. What is in them is moved between threads so: closures, futures, values of userdata and application data, which are `Send` by
// the bounds of the functions that they came through; counted pointers, all of which are within the parts and the VM; and the VM, which is
// told of the threads that use it (`State::lock`).
unsafe impl Send for State {}
#[cfg(feature = "send")]
// SAFETY: as above.
unsafe impl Sync for State {}

impl Deref for State {
    type Target = Parts;
    #[inline(always)]
    #[track_caller]
    fn deref(&self) -> &Parts {
        assert!(self.lock.is_held(), "a Lua state is used without its lock");
        &self.parts
    }
}

/// The lock of a state, held until this is dropped. Without the feature `send` there is none.
#[must_use = "the lock is given up when this is dropped"]
pub struct Locked {
    #[cfg(feature = "send")]
    state: Shared<State>,
    /// A lock belongs to its thread.
    #[cfg(feature = "send")]
    _thread: core::marker::PhantomData<*mut ()>,
}

#[cfg(feature = "send")]
impl Drop for Locked {
    fn drop(&mut self) {
        if self.state.lock.is_last() {
            self.state.enter(|vm| vm.leave_thread());
        }
        // SAFETY: `State::lock` took it, on this thread: this type is not `Send`.
        unsafe { self.state.lock.release() };
    }
}

/// The parts of a state.
pub struct Parts {
    owner: *mut Vm,
    /// Is the VM closed when this is dropped? Otherwise it owns this.
    owned: bool,
    /// The VM, for who enters next: derived from the reference of the function that was left, if one was. Null while it is entered.
    current: Cell<*mut Vm>,
    /// Values of handles.
    pub roots: Rc<Roots>,
    /// Values of registry keys that were dropped, maybe on other threads.
    pub released: Arc<Released>,
    /// Registry values by name.
    pub(super) names: Names,
    /// Application data.
    pub(super) app_data: AppData,
    /// The callback for events of coroutines.
    pub(super) thread_events: ThreadEvents,
    /// The builtins that resume a coroutine with values, and with an error, once they were needed.
    pub(super) resume_functions: (Cell<Option<u32>>, Cell<Option<u32>>),
    /// Hooks.
    pub(super) hooks: Hooks,
    /// The metatable of arrays, once it was made.
    #[cfg(feature = "serde")]
    pub(super) array_metatable: Cell<Option<u32>>,
    /// What futures and those who poll them tell one another.
    #[cfg(feature = "async")]
    pub(super) asynchronous: super::asynchronous::Async,
    /// The metatable of raised errors of Rust, in [`State::roots`].
    failure_meta: u32,
    /// Are unsafe libraries refused?
    pub safe: bool,
    /// Metatables of userdata types.
    pub(super) types: Types,
}

/// Sets a cell back, also when a panic passes.
struct Restore<'a>(&'a Cell<*mut Vm>, *mut Vm);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

impl State {
    /// A state around a VM.
    pub fn new(vm: Box<Vm>, options: LuaOptions, safe: bool) -> Shared<State> {
        // SAFETY: nobody else uses the VM.
        unsafe { State::around(Box::into_raw(vm), options, safe, true) }
    }
    /// A state around a VM.
    ///
    /// # Safety
    /// The VM lives as long as the state, and is not used otherwise while the state uses it. If it is `owned`, it was made by `Box`.
    pub(super) unsafe fn around(owner: *mut Vm, options: LuaOptions, safe: bool, owned: bool) -> Shared<State> {
        // SAFETY: the caller's promise; the reference is gone before the state is used.
        let (roots, failure_meta) = unsafe {
            let vm = &mut *owner;
            let roots = Rc::clone(&vm.host.roots);
            let failure_meta = roots.add(Raw::table(failure::metatable(vm)));
            (roots, failure_meta)
        };
        let parts = Parts {
            owner,
            owned,
            current: Cell::new(owner),
            roots,
            released: Arc::default(),
            names: Names::default(),
            app_data: AppData::default(),
            thread_events: ThreadEvents::default(),
            resume_functions: Default::default(),
            hooks: Hooks::default(),
            #[cfg(feature = "serde")]
            array_metatable: Cell::new(None),
            #[cfg(feature = "async")]
            asynchronous: super::asynchronous::Async::default(),
            failure_meta,
            types: Types::default(),
            safe,
        };
        #[cfg(feature = "async")]
        parts.asynchronous.pool_size.set(options.thread_pool_size);
        let state = Shared::new(State {
            lock: Lock::default(),
            parts,
            #[cfg(feature = "send")]
            remote: std::sync::OnceLock::new(),
        });
        let _lock = State::lock(&state);
        let host: Rc<dyn Host> = Rc::new(Payloads::new(&state, !owned));
        state.enter(|vm| {
            vm.host.host = Some(host);
            vm.host.panics_pass = !options.catch_rust_panics;
        });
        state
    }
    /// Keeps other threads from using the state until the result is dropped. It waits while another thread does, unless this one does already.
    #[cfg(feature = "send")]
    pub fn lock(self: &Shared<State>) -> Locked {
        if self.lock.acquire() {
            self.enter(|vm| vm.enter_thread());
        }
        Locked { state: Shared::clone(self), _thread: core::marker::PhantomData }
    }
    /// A state is used by its thread only.
    #[cfg(not(feature = "send"))]
    #[inline(always)]
    pub fn lock(self: &Shared<State>) -> Locked {
        Locked {}
    }
    /// Runs `f` on the VM.
    ///
    /// # Panics
    /// The VM has been entered and not left.
    #[inline]
    pub fn enter<R>(&self, f: impl FnOnce(&mut Vm) -> R) -> R {
        let vm = self.current.replace(core::ptr::null_mut());
        assert!(!vm.is_null(), "the Lua state is used while it runs a function that must not reach it");
        let _restore = Restore(&self.current, vm);
        // SAFETY: no other thread uses the state, and `current` is null while this reference is in use, but for functions that were given a
        // reborrow of it and have left it.
        f(unsafe { &mut *vm })
    }
    /// Runs code of the host, which may enter again, in a function that was given the VM.
    #[inline]
    pub fn leave<R>(&self, vm: &mut Vm, f: impl FnOnce() -> R) -> R {
        let outer = self.current.replace(vm);
        let _restore = Restore(&self.current, outer);
        f()
    }
    /// Calls `f` with a state, if it is not closed. `f` runs no code of the host.
    #[cfg(feature = "send")]
    pub(super) fn with_alive<R>(weak: &WeakLua, f: impl FnOnce(&State) -> R) -> Option<R> {
        weak.0.upgrade().map(|state| f(&state))
    }
    /// Calls `f` with a state, if it is not closed. `f` runs no code of the host.
    #[cfg(not(feature = "send"))]
    #[inline]
    pub(super) fn with_alive<R>(weak: &WeakLua, f: impl FnOnce(&State) -> R) -> Option<R> {
        if weak.0.strong_count() == 0 {
            return None;
        }
        // SAFETY: the state is not dropped while `f` runs, which drops no `Lua`: no other thread can, as they are not `Send`.
        Some(f(unsafe { &*weak.0.as_ptr() }))
    }
    /// Roots a value.
    #[inline]
    pub fn add_root(&self, v: Raw) -> u32 {
        self.released.release(&self.roots);
        self.roots.add(v)
    }
    /// Calls a value, protected. The state lives until the call is over, whatever is dropped meanwhile.
    pub fn call(self: &Shared<State>, f: Raw, args: &[Raw]) -> Result<Vec<Raw>> {
        let state = Shared::clone(self);
        match state.enter(|vm| vm.pcall_traced(f, args)) {
            Ok(results) => Ok(results),
            Err((e, traceback)) => Err(state.error_of(e, &traceback)),
        }
    }
    /// Calls a value, protected, with the arguments of a frame, instead of which the results are on their way then. The state lives until
    /// the call is over.
    #[inline]
    pub(super) fn call_passed(self: &Shared<State>, f: Raw, frame: &Frame<'_>) -> Result<()> {
        match self.enter(|vm| vm.pcall_passed(f, &self.roots, frame.from)) {
            Ok(()) => Ok(()),
            Err((e, traceback)) => {
                let error = self.error_of(e, &traceback);
                // Failing calls of functions that allocate nothing else have no other safepoint. That memory is short is said at the next one.
                let _ = self.step();
                Err(error)
            }
        }
    }
    /// Runs `f`, whose error is the VM's [`Vm::error`].
    pub fn try_enter<R>(self: &Shared<State>, f: impl FnOnce(&mut Vm) -> perilune_vm::error::LuaResult<R>) -> Result<R> {
        match self.enter(|vm| f(vm).map_err(|_| core::mem::replace(&mut vm.errors.value, Raw::NIL))) {
            Ok(r) => Ok(r),
            Err(e) => Err(self.error_of(e, b"")),
        }
    }
    /// An error value as an [`Error`].
    ///
    /// # Panics
    /// The value carries a panic, which is resumed.
    pub fn error_of(self: &Shared<State>, e: Raw, traceback: &[u8]) -> Error {
        if let Some(error) = e.as_udata().and_then(failure::take) {
            return error;
        }
        let with_traceback = |message: &[u8]| {
            let mut text = String::from_utf8_lossy(message).into_owned();
            if !traceback.is_empty() {
                text.push('\n');
                text.push_str(&String::from_utf8_lossy(traceback));
            }
            text
        };
        // Whatever the error has become on its way, it is that of the interrupt.
        match self.enter(|vm| vm.interrupt_waits()) {
            Some(cause @ Cause::Host) => return Error::Interrupted(with_traceback(cause.message().as_bytes())),
            Some(cause @ Cause::Time) => return Error::TimeLimitExceeded(with_traceback(cause.message().as_bytes())),
            _ if self.enter(|vm| vm.is_out_of_fuel()) => {
                return Error::OutOfFuel(with_traceback(perilune_vm::fuel::MESSAGE.as_bytes()));
            }
            _ => {}
        }
        match e.as_str() {
            Some(s) if self.enter(|vm| s == vm.heap.no_memory()) => Error::MemoryError(with_traceback(s.bytes())),
            Some(s) if self.enter(|vm| e == vm.errors.overflow) => Error::StackOverflow(with_traceback(s.bytes())),
            Some(s) => Error::RuntimeError(with_traceback(s.bytes())),
            None if e.is_number() => Error::RuntimeError(with_traceback(self.enter(|vm| vm.number_str(e)).bytes())),
            None => {
                let value = Released::key(&self.released, self.add_root(e));
                let message = match self.tostring(e) {
                    Ok(message) => message,
                    // A limit was reached on the way.
                    Err(limit @ (Error::Interrupted(_) | Error::TimeLimitExceeded(_) | Error::OutOfFuel(_))) => return limit,
                    Err(_) => format!("(error object is a {} value)", e.type_name()),
                };
                let traceback = String::from_utf8_lossy(traceback).into_owned();
                Error::LuaError(Arc::new(LuaError { message, traceback, value }))
            }
        }
    }
    /// The text that `tostring` gives for a value, which is rooted.
    pub fn tostring(self: &Shared<State>, v: Raw) -> Result<String> {
        let metamethod = self.enter(|vm| vm.metamethod(v, MM::ToString));
        let text = if v.is_str() || metamethod.is_nil() {
            v
        } else {
            let text = self.call(metamethod, &[v])?.first().copied().unwrap_or(Raw::NIL);
            if !text.is_str() {
                return Err(Error::runtime("'tostring' must return a string"));
            }
            text
        };
        let mut out = Vec::new();
        perilune_vm::stdlib::tostring::put_value(&mut out, text);
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
    /// The metatable of raised errors of Rust.
    pub(super) fn failure_meta(&self) -> Raw {
        self.roots.get(self.failure_meta)
    }
    /// An error as a value: the one that Lua code raised, or a userdata.
    pub(super) fn error_value(&self, vm: &mut Vm, e: Error) -> Raw {
        if let Error::LuaError(raised) = &e
            && let Some(v) = self.released.value(&raised.value, &self.roots)
        {
            return v;
        }
        failure::new(vm, self.failure_meta(), Failure::Error(e))
    }
    /// Lets the collector work if it is due: everything alive must be rooted.
    pub fn step(self: &Shared<State>) -> Result<()> {
        self.try_enter(|vm| if vm.heap.gc_due() { vm.safepoint() } else { Ok(()) })
    }
    /// A handle of a value.
    pub(super) fn handle(self: &Shared<State>, v: Raw) -> Handle {
        Handle::new(self, v)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if !self.parts.owned {
            return;
        }
        // Finalizers run.
        // SAFETY: made by `Box::into_raw` in `new`. No `Lua` is left, and no code that uses the VM runs: its callers hold a `Lua`.
        let mut vm = unsafe { Box::from_raw(self.parts.owner) };
        // Finalizers can be interrupted.
        if cfg!(feature = "send") {
            vm.enter_thread();
        }
        drop(vm);
    }
}

/// Drops what dead userdata held. The VM has it.
pub(super) struct Payloads {
    state: WeakShared<State>,
    /// The state, counted only if the VM owns it.
    lua: ManuallyDrop<Lua>,
    counted: bool,
}

impl Payloads {
    fn new(state: &Shared<State>, counted: bool) -> Payloads {
        let address = if counted { Shared::into_raw(Shared::clone(state)) } else { Shared::as_ptr(state) };
        // SAFETY: it is dropped only if it was counted. What is not counted is used only while the state lives, which owns the VM.
        let lua = ManuallyDrop::new(Lua(unsafe { Shared::from_raw(address) }));
        Payloads { state: Shared::downgrade(state), lua, counted }
    }
    /// The state of a VM, if there is one.
    ///
    /// # Panics
    /// The state is being closed: its finalizers run.
    ///
    /// # Safety
    /// The VM and its state outlive `'a`. No reference to the VM is in use.
    #[cfg(feature = "c-modules")]
    pub(super) unsafe fn lua_of<'a>(vm: *mut Vm) -> Option<&'a Lua> {
        // SAFETY: the caller's promise.
        let host = unsafe { &*vm }.host.host.as_ref()?;
        let payloads: &Payloads = host.as_any().downcast_ref()?;
        assert!(payloads.state.strong_count() > 0, "{}", super::lua::CLOSED);
        Some(&payloads.lua)
    }
}

impl Drop for Payloads {
    fn drop(&mut self) {
        if self.counted {
            // SAFETY: it is not used any more.
            unsafe { ManuallyDrop::drop(&mut self.lua) };
        }
    }
}

impl Host for Payloads {
    fn outside(&self, vm: &mut Vm, code: &mut dyn FnMut()) {
        match self.state.upgrade() {
            Some(state) => state.leave(vm, code),
            None => code(),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
    fn is_panic(&self, e: Raw) -> bool {
        e.as_udata().is_some_and(failure::is_panic)
    }
    fn drop_payload(&self, vm: &mut Vm, payload: Box<dyn Any>) {
        let drop = AssertUnwindSafe(|| drop(payload));
        // A panic has been reported by its hook; there is nobody to resume it in.
        let _ = match self.state.upgrade() {
            Some(state) => state.leave(vm, || catch_unwind(drop)),
            None => catch_unwind(drop),
        };
    }
}
