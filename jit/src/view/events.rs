//! Events of the VM: the callbacks that `jit.attach` installs.

use crate::Jit;
use perilune_vm::{Value, Vm};

/// The events that this crate sends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A prototype is finished.
    Bc,
    /// A trace starts, stops, is aborted, or all are flushed.
    Trace,
    /// An instruction is about to be recorded.
    Record,
    /// Compiled code was left.
    Texit,
    /// Never sent: somebody wants to see what is compiled, and asks later.
    Watch,
}

impl Event {
    const fn name(self) -> &'static [u8] {
        match self {
            Event::Bc => b"bc",
            Event::Trace => b"trace",
            Event::Record => b"record",
            Event::Texit => b"texit",
            Event::Watch => b"watch",
        }
    }
}

/// The handler of an event.
pub fn handler(vm: &Vm, event: Event) -> Option<Value> {
    if vm.host.event_handlers.is_empty() {
        return None;
    }
    vm.host.event_handlers.iter().find(|(name, _)| **name == *event.name()).map(|(_, f)| *f)
}

impl Jit {
    /// Would a handler be called?
    pub(crate) fn listens(&self, vm: &Vm, event: Event) -> bool {
        !self.observers.in_event.get() && !vm.callback.observing && handler(vm, event).is_some()
    }
    /// Calls the handler of an event, if there is one and none is running. Values of the running frame live below `vm.top`.
    pub(crate) fn send(&self, vm: &mut Vm, event: Event, args: &[Value]) {
        if !self.listens(vm, event) {
            return;
        }
        let Some(f) = handler(vm, event) else { return };
        self.observers.in_event.set(true);
        vm.run_callback(|vm| {
            let internal = vm.heap.set_internal(false);
            let failed = vm.call_value(f, args, 0).is_err();
            vm.heap.set_internal(internal);
            if failed {
                let text = vm.errors.value.as_str().map_or_else(|| "?".into(), |s| s.to_str_lossy().into_owned());
                eprintln!("VM handler failed: {text}");
            }
        });
        self.observers.in_event.set(false);
    }
}
