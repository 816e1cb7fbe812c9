//! The state behind all handles, and rooted values.
#![allow(unsafe_code, reason = "handles are not `Send`, and no other reference to the VM is in use while one reaches it")]

use super::error::{Error, Result};
use perilune_vm::Vm;
use perilune_vm::value::Value as Raw;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A new state with the libraries and the compiler. `no_env`: the environment's variables are ignored.
pub fn new_vm(no_env: bool) -> Box<Vm> {
    let mut vm = Vm::new();
    if no_env {
        let registry = vm.realm.registry;
        vm.set_field(registry, b"LUA_NOENV", Raw::TRUE);
    }
    vm.open_libs();
    perilune_jit::attach(&mut vm);
    #[cfg(feature = "observe")]
    perilune_observe::library::open(&mut vm);
    vm
}

/// The VM of a state, for the command. It lives as long as some handle.
pub fn vm_of(lua: &super::lua::Lua) -> *mut Vm {
    lua.0.owner
}

/// The state that all handles share; it is closed when the last of them goes.
pub struct State {
    owner: *mut Vm,
    /// How to reach the VM now: while a Rust function runs, by way of the reference that it was called with.
    current: Cell<*mut Vm>,
    /// Free slots among the roots.
    free: RefCell<Vec<usize>>,
}

impl State {
    pub fn new() -> Rc<State> {
        let owner = Box::into_raw(new_vm(false));
        Rc::new(State { owner, current: Cell::new(owner), free: RefCell::new(Vec::new()) })
    }
    /// Runs `f` on the VM. `f` must not reach the VM through a handle, except in functions that Lua calls.
    pub fn with<R>(&self, f: impl FnOnce(&mut Vm) -> R) -> R {
        // SAFETY: handles are not `Send`; by the contract above no other reference is in use during `f`, and Rust functions
        // called by Lua set `current` to what is derived from their own reference.
        f(unsafe { &mut *self.current.get() })
    }
    /// Runs `f` inside a Rust function that Lua called.
    pub fn inside<R>(&self, vm: &mut Vm, f: impl FnOnce() -> R) -> R {
        let outer = self.current.replace(vm);
        let result = f();
        self.current.set(outer);
        result
    }
    /// Keeps a value alive.
    pub fn root(self: &Rc<State>, v: Raw) -> Root {
        let slot = self.free.borrow_mut().pop();
        let slot = self.with(|vm| match slot {
            Some(slot) => {
                vm.host.roots[slot] = v;
                slot
            }
            None => {
                vm.host.roots.push(v);
                vm.host.roots.len() - 1
            }
        });
        Root { state: Rc::clone(self), slot }
    }
    /// Calls a value, protected.
    pub fn call(&self, f: Raw, args: &[Raw]) -> Result<Vec<Raw>> {
        self.with(|vm| match vm.pcall_traced(f, args) {
            Ok(results) => Ok(results),
            Err((e, traceback)) => Err(error_of(vm, e, &traceback)),
        })
    }
    /// Lets the collector work if it is due: where everything alive is rooted.
    pub fn step(&self) {
        self.with(|vm| {
            if vm.heap.gc_due() {
                // Only the memory limit fails, and the next allocation that Lua makes reports that.
                let _ = vm.safepoint();
            }
        });
    }
}

/// An error value as an [`Error`].
pub fn error_of(vm: &mut Vm, e: Raw, traceback: &[u8]) -> Error {
    vm.errors.value = e;
    let text = vm.error_text();
    vm.errors.value = Raw::NIL;
    Error::traced(&text, traceback)
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `new`, and no handle is left. Finalizers run.
        drop(unsafe { Box::from_raw(self.owner) });
    }
}

/// A slot among the VM's roots.
pub struct Root {
    pub state: Rc<State>,
    slot: usize,
}

impl Root {
    pub fn get(&self) -> Raw {
        self.state.with(|vm| vm.host.roots[self.slot])
    }
}

impl Clone for Root {
    fn clone(&self) -> Root {
        self.state.root(self.get())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        self.state.with(|vm| vm.host.roots[self.slot] = Raw::NIL);
        self.state.free.borrow_mut().push(self.slot);
    }
}
