//! The part of the VM that limits the number of instructions: [`crate::fuel`].

/// The fuel of a state.
#[derive(Default, Debug)]
pub(crate) struct Fuel {
    /// Instructions that may still be executed.
    pub left: u64,
    /// The same for what runs outside of the program; while that runs, the program's.
    pub other: u64,
    /// Are instructions counted?
    pub counts: bool,
    /// Does something run outside of the program?
    pub outside: bool,
    /// Has the program been ended for want of fuel?
    pub exhausted: bool,
}
