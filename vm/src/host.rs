//! The embedding API's part of a VM: values that handles hold, and the payloads that Rust code owns.
//!
//! Handles and VM share [`Roots`], so that a handle is cloned and dropped without a reference to the VM. A payload of the host (a closure,
//! a userdata's value) may run any code in its `Drop`, which must not happen inside a sweep: the sweep moves it to a list of the heap, and
//! `Vm::drop_payloads` drops it at the next point where finalizers may run as well.

use crate::Vm;
use crate::value::Value;
use core::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// A rooted value and the number of handles that share it.
#[derive(Copy, Clone, Debug)]
struct Slot {
    value: Value,
    handles: u32,
}

/// Values that handles keep alive. The collector marks them at the start of a cycle and again at its atomic end, so that no barrier is needed.
#[derive(Debug, Default)]
pub struct Roots {
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<u32>>,
    /// Arguments and results on their way between Rust and Lua, as a stack.
    passing: RefCell<Vec<Value>>,
}

impl Roots {
    /// Roots a value; the slot, with one handle.
    #[inline]
    pub fn add(&self, value: Value) -> u32 {
        let mut slots = self.slots.borrow_mut();
        let new = Slot { value, handles: 1 };
        if let Some(slot) = self.free.borrow_mut().pop() {
            slots[slot as usize] = new;
            return slot;
        }
        slots.push(new);
        (slots.len() - 1) as u32
    }
    /// The value of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Value {
        self.slots.borrow()[slot as usize].value
    }
    /// Adds a handle to a slot.
    #[inline]
    pub fn share(&self, slot: u32) {
        self.slots.borrow_mut()[slot as usize].handles += 1;
    }
    /// Removes a handle from a slot.
    #[inline]
    pub fn release(&self, slot: u32) {
        let s = &mut self.slots.borrow_mut()[slot as usize];
        s.handles -= 1;
        if s.handles == 0 {
            s.value = Value::NIL;
            self.free.borrow_mut().push(slot);
        }
    }
    /// Calls `f` with each rooted value.
    pub fn for_each(&self, f: impl FnMut(Value)) {
        let (slots, passing) = (self.slots.borrow(), self.passing.borrow());
        slots.iter().map(|s| s.value).chain(passing.iter().copied()).for_each(f);
    }
    /// Number of values on their way.
    #[inline]
    pub fn passing_len(&self) -> usize {
        self.passing.borrow().len()
    }
    /// A value on its way.
    #[inline]
    pub fn passing(&self, i: usize) -> Value {
        self.passing.borrow()[i]
    }
    /// Adds a value on its way.
    #[inline]
    pub fn pass(&self, v: Value) {
        self.passing.borrow_mut().push(v);
    }
    /// Removes the values on their way from number `len` on.
    #[inline]
    pub fn truncate_passing(&self, len: usize) {
        self.passing.borrow_mut().truncate(len);
    }
    /// Calls `f` with the values on their way from number `from` on. It must not add or remove any.
    #[inline]
    pub fn with_passing<R>(&self, from: usize, f: impl FnOnce(&[Value]) -> R) -> R {
        f(&self.passing.borrow()[from..])
    }
    /// Puts values on their way, instead of those from number `from` on.
    #[inline]
    pub fn replace_passing(&self, from: usize, values: &[Value]) {
        let mut passing = self.passing.borrow_mut();
        passing.truncate(from);
        // There are few: copying them one by one is faster than a call of `memcpy`.
        values.iter().for_each(|v| passing.push(*v));
    }
    /// Number of slots in use.
    pub fn len(&self) -> usize {
        self.slots.borrow().len() - self.free.borrow().len()
    }
    /// Is no value rooted?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The operations of the embedding API that the VM calls.
pub trait Host {
    /// Does an error value carry a panic of Rust code?
    fn is_panic(&self, e: Value) -> bool;
    /// Drops the payload of a dead userdata. Its `Drop` may use the VM through its handles.
    fn drop_payload(&self, vm: &mut Vm, payload: Box<dyn Any>);
    /// Runs other code of the host, which may use the VM through its handles. The code does not panic.
    fn outside(&self, vm: &mut Vm, code: &mut dyn FnMut());
}

/// Called when the program ends the process, see [`HostState::at_exit`].
pub type AtExit = Box<dyn FnOnce(&mut Vm, i32)>;

/// The host's part of a VM.
#[derive(Default)]
pub struct HostState {
    /// Values of handles.
    pub roots: Rc<Roots>,
    /// The embedding API, if there is one.
    pub host: Option<Rc<dyn Host>>,
    /// Handlers of VM events by name: `(name, function)`.
    pub event_handlers: Vec<(Box<[u8]>, Value)>,
    /// Called once when the program ends the process, with its status.
    pub at_exit: Vec<AtExit>,
    /// Do `pcall` and `xpcall` not catch panics of Rust code?
    pub panics_pass: bool,
}

impl Vm {
    /// Is the current error one that `pcall` and `xpcall` do not catch?
    pub(crate) fn error_passes(&self) -> bool {
        self.host.panics_pass && self.host.host.as_ref().is_some_and(|host| host.is_panic(self.errors.value))
    }
    /// Drops the payloads of the host whose userdata have been swept.
    pub(crate) fn drop_payloads(&mut self) {
        if self.heap.finalizers.payloads.is_empty() || self.heap.finalizers.running {
            return;
        }
        let Some(host) = self.host.host.clone() else { return };
        self.outside_program(|vm| {
            // A `Drop` may make more userdata, and collect.
            while let Some(payload) = vm.heap.finalizers.payloads.pop_front() {
                host.drop_payload(vm, payload);
            }
        });
    }
}
