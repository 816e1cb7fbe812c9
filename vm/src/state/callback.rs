//! The part of the VM that callbacks use: [`crate::callback`].

/// State of callbacks.
#[derive(Default, Debug)]
pub struct CallbackState {
    /// Number of callbacks, hooks and finalizers that are running. Nothing is recorded then.
    pub no_record: u32,
    /// Is a callback running?
    pub(crate) running: bool,
    /// Is an observer called? No events are sent then.
    pub observing: bool,
    /// How often all hot counters were reset; wraps around.
    pub(crate) hot_resets: u32,
}
