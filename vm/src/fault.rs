//! Fault injection, for tests: defects that this program once had, each of which can be switched on. So it can be shown that the tests
//! which look for defects of this kind find them.
//!
//! The switch applies to the whole process. In builds without debug assertions there is no switch, and no code for the faults.

use core::sync::atomic::{AtomicU8, Ordering};

/// Calls the given macro with all faults.
macro_rules! for_each_fault {
    ($consumer:ident) => {
        $consumer! {
            /// A function's header is dispatched again after the stack has grown for it, so that it is recorded twice and hooks are called
            /// twice.
            HeaderTwice,
            /// In the copy of a loop's iteration, slots that a builtin has written count as still holding their values from the previous
            /// iteration.
            WrittenByBuiltins,
            /// Traces are not flushed when metatables of primitive types change, or variables that their function never assigns to.
            ConstantsChange,
            /// A trace counts a numeric loop whose limit lies outside the integers in integers.
            PastIntegers,
            /// When one more iteration of a loop over `next` is recorded, it uses the entry of the previous one.
            NextEntry,
            /// A store to a captured slot is omitted if an earlier store has stored the same value.
            CapturedSlots,
            /// When two objects were the same one at recording, and are different ones later, they compare as different without a call of
            /// `__eq`.
            EqualByMetamethod,
            /// A hook is called directly above the frame, and overwrites the values of an open list.
            OpenResults,
            /// After the collector has run a finalizer that moved the stack, the instruction continues with the old base.
            StackMoved,
            /// A trace does not check that its frames fit the stack.
            StackUnchecked,
            /// Traces have no barrier after stores to tables.
            NoBarrier,
            /// A trace calls a function without a guard on which function it is.
            CalleeUnchecked,
            /// Exits of a loop take a table of the iteration before for stored on the way, where SYNC leaves it out.
            TablesLeftOut,
        }
    };
}

macro_rules! define_faults {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A defect that can be switched on.
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

/// Switches a fault on in all states of the process. Returns false in builds without fault injection.
pub fn inject(fault: Fault) -> bool {
    INJECTED.store(fault as u8, Ordering::Relaxed);
    cfg!(debug_assertions)
}

/// Is this fault switched on?
#[inline(always)]
pub fn is_injected(fault: Fault) -> bool {
    cfg!(debug_assertions) && INJECTED.load(Ordering::Relaxed) == fault as u8
}
