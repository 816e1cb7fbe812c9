//! Fault injection, for tests: errors that this program once had, each brought back by a switch, so that it can be seen that the tests
//! which look for errors of their kind find them.
//!
//! The switch is the process's. In builds without debug assertions there is none, and no trace of the faults in the code.

use core::sync::atomic::{AtomicU8, Ordering};

/// Calls the given macro with all faults.
macro_rules! for_each_fault {
    ($consumer:ident) => {
        $consumer! {
            /// A function's header is dispatched again when the stack has grown for it: recorded twice, told to hooks twice.
            HeaderTwice,
            /// In the copy of a loop's iteration, slots that a builtin wrote are taken for what they held at the end of the one before.
            WrittenByBuiltins,
            /// Traces stay when metatables of primitive types change, or variables that their function never assigns to.
            ConstantsChange,
            /// A numeric loop whose limit lies outside of the integers counts in integers in traces.
            PastIntegers,
            /// One more recorded iteration of a loop over `next` takes the entry of the one before.
            NextEntry,
            /// A store to a captured slot is left out where an earlier one has stored the same.
            CapturedSlots,
            /// Two objects that were one when they were compared are different without `__eq` being asked, when they are two.
            EqualByMetamethod,
            /// A hook is called above the frame, over values of an open list.
            OpenResults,
            /// The instruction at which the collector ran goes on with the frame where it was before a finalizer moved the stack.
            StackMoved,
            /// The frame of a trace is not checked to fit the stack.
            StackUnchecked,
            /// Stores to tables have no barrier in traces.
            NoBarrier,
            /// A function is called by a trace without a guard that it is that one.
            CalleeUnchecked,
        }
    };
}

macro_rules! define_faults {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// An error that can be brought back.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Fault {
            /// None.
            None,
            $($(#[$doc])* $name,)*
        }

        impl Fault {
            /// All of them.
            pub const ALL: &'static [Fault] = &[$(Fault::$name,)*];
            /// Its name.
            pub const fn name(self) -> &'static str {
                match self {
                    Fault::None => "None",
                    $(Fault::$name => stringify!($name),)*
                }
            }
        }
    };
}
for_each_fault!(define_faults);

static INJECTED: AtomicU8 = AtomicU8::new(Fault::None as u8);

/// Brings an error back, from now on, in all states of the process. False in builds that cannot.
pub fn inject(fault: Fault) -> bool {
    INJECTED.store(fault as u8, Ordering::Relaxed);
    cfg!(debug_assertions)
}

/// Is this error to happen?
#[inline(always)]
pub fn is_injected(fault: Fault) -> bool {
    cfg!(debug_assertions) && INJECTED.load(Ordering::Relaxed) == fault as u8
}
