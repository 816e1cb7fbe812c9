//! What the embedding program and the compiler have registered with a state.

use super::Vm;
use crate::value::Value;

/// Called when the program ends the process, see [`Host::at_exit`].
pub type AtExit = Box<dyn FnOnce(&mut Vm, i32)>;

/// Values and functions that the host keeps in a state.
#[derive(Default)]
pub struct Host {
    /// Rooted values of the embedding API, by slot.
    pub roots: Vec<Value>,
    /// Handlers of VM events by name: `(name, function)`.
    pub event_handlers: Vec<(Box<[u8]>, Value)>,
    /// Called once when the program ends the process, with its status.
    pub at_exit: Vec<AtExit>,
}
