//! The embedding API's part of a VM: values that handles hold, and the payloads that Rust code owns.
//!
//! Handles and VM share [`Roots`], so that a handle is cloned and dropped without a reference to the VM. A payload of the host (a closure,
//! a userdata's value) may run any code in its `Drop`, which must not happen inside a sweep: the sweep moves it to a list of the heap, and
//! `Vm::drop_payloads` drops it at the next point where finalizers may run as well.

pub use crate::roots::Roots;

use crate::Vm;
use crate::object::NativeFn;
use crate::value::Value;
use core::any::Any;
use std::rc::Rc;

/// The operations of the embedding API that the VM calls.
pub trait Host {
    /// Does an error value carry a panic of Rust code?
    fn is_panic(&self, e: Value) -> bool;
    /// Drops the payload of a dead userdata. Its `Drop` may use the VM through its handles.
    fn drop_payload(&self, vm: &mut Vm, payload: Box<dyn Any>);
    /// Runs other code of the host, which may use the VM through its handles. The code does not panic.
    fn outside(&self, vm: &mut Vm, code: &mut dyn FnMut());
    /// The type behind this.
    fn as_any(&self) -> &dyn Any;
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
    /// What the C API keeps with this VM.
    pub native: Option<Box<dyn Any>>,
    /// The builtin that calls functions in C, if the VM may load them.
    pub c_function: Option<NativeFn>,
    /// Makes a function that calls the hook in C at an address, see [`Vm::ask_for_hook`].
    pub hook_function: Option<fn(&mut Vm, usize) -> Value>,
    /// What heap snapshots remember from one to the next.
    pub snapshots: Option<Box<dyn Any + Send>>,
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
