//! Counts of what the compiler did, in one VM and in the process.

use core::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls the given macro with all counters: name, meaning. A gauge is a counter of what exists now: it does not outlive its VM.
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
            /// Trees compiled as one function.
            trees
            /// Times that compiled code was entered from the interpreter.
            entered
            /// Exits linked to the side trace of another exit.
            shared
            /// Side exits taken to the interpreter.
            deopt
            /// Root traces disabled because they lost time.
            disabled
            /// What the hot counters counted: two an iteration, one a call.
            ticks
            /// Traces that exist.
            alive: gauge
            /// Traces freed with the function they start in.
            collected
            /// Traces that are not entered any more because a field was stored to that they take for a constant.
            invalidated
            /// Flushes of all traces.
            flushed
            /// Bytes of machine code that are alive.
            mcode: gauge
            /// Nanoseconds spent on recording and optimising.
            record_ns
            /// Nanoseconds spent on machine code.
            compile_ns
        }
    };
}

macro_rules! define_counters {
    ($($(#[$doc:meta])* $name:ident $(: $gauge:ident)?)*) => {
        /// The counters.
        #[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
        pub struct Counters { $($(#[$doc])* pub $name: u64,)* }

        impl Counters {
            /// All counters are 0.
            pub const NONE: Counters = Counters { $($name: 0,)* };

            /// Names and values.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
            fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
            }
            /// The counters that remain when the VM is gone.
            fn without_gauges(self) -> Counters {
                Counters { $($($name: { let $gauge = 0; $gauge },)?)* ..self }
            }
        }

        /// The counters of a VM as other threads see them.
        #[derive(Debug, Default)]
        struct Shared { $($name: AtomicU64,)* }

        impl Shared {
            fn set(&self, c: &Counters) {
                $(self.$name.store(c.$name, Relaxed);)*
            }
            fn get(&self) -> Counters {
                Counters { $($name: self.$name.load(Relaxed),)* }
            }
        }
    };
}
for_each_counter!(define_counters);

struct Process {
    running: Vec<Arc<Shared>>,
    /// Counts of the VMs that are gone.
    gone: Counters,
}

static PROCESS: Mutex<Process> = Mutex::new(Process { running: Vec::new(), gone: Counters::NONE });

fn process() -> MutexGuard<'static, Process> {
    // A thread that panicked while it held the lock has left the list and the sums intact.
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sums over all VMs of this process, including VMs that are gone. The counters of a VM on another thread are as of the last start of a
/// recording there.
pub fn of_process() -> Counters {
    let p = process();
    let mut sum = p.gone;
    for c in &p.running {
        sum.add(&c.get());
    }
    sum
}

/// The instruction at which a recording was aborted, and the reason.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AbortSite {
    /// The reason with its details.
    pub reason: String,
    /// Source and line.
    pub location: String,
    /// The line.
    pub line: u32,
    /// Name of the bytecode instruction.
    pub bytecode: &'static str,
}

/// How many recordings were aborted at each site.
pub type AbortCounts = HashMap<AbortSite, u32>;

/// The counts of one compiler.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    /// What was done so far, but for the counts that other parts keep.
    pub counters: Cell<Counters>,
    /// What other threads see of that.
    pub published: Published,
    /// Aborts by site and reason.
    pub aborts: RefCell<AbortCounts>,
}

/// What a VM lets the process see of its counters.
#[derive(Debug)]
pub struct Published(Arc<Shared>);

impl Default for Published {
    fn default() -> Published {
        let shared = Arc::<Shared>::default();
        process().running.push(Arc::clone(&shared));
        Published(shared)
    }
}

impl Published {
    /// Publishes the current counters.
    pub fn publish(&self, c: &Counters) {
        self.0.set(c);
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let mut p = process();
        p.running.retain(|c| !Arc::ptr_eq(c, &self.0));
        let rest = self.0.get().without_gauges();
        p.gone.add(&rest);
    }
}
