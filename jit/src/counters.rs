//! Counts of what the compiler did.

/// Calls the given macro with all counters: name, meaning.
#[macro_export]
macro_rules! for_each_counter {
    ($consumer:ident) => {
        $consumer! {
            /// Recordings begun.
            started
            /// Recordings that became a trace.
            closed
            /// Recordings given up.
            aborted
            /// Traces turned into machine code.
            compiled
            /// Times that compiled code was entered from the interpreter.
            entered
            /// Side exits taken to the interpreter.
            deopt
            /// Root traces taken out of use because they did not pay.
            retired
            /// What the hot counters and exits counted, see `budget`.
            ticks
            /// Units of work spent on compiling, see `budget`.
            spent
            /// Traces that there are.
            alive
            /// Traces freed with the function they start in.
            collected
            /// Times that all traces were flushed.
            flushed
            /// Bytes of machine code that are alive.
            mcode
            /// Nanoseconds spent on recording and optimising.
            record_ns
            /// Nanoseconds spent on machine code.
            compile_ns
        }
    };
}

macro_rules! define_counters {
    ($($(#[$doc:meta])* $name:ident)*) => {
        /// The counters.
        #[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            /// Names and values.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}
for_each_counter!(define_counters);
