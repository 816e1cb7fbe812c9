//! Counts of what the compiler did, in one VM and in the process.

use super::aborts::AbortCounts;
use core::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Calls the given macro with all counters: name, meaning. Those that say what there is now, and so end with their VM, are gauges.
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
            /// Exits linked to the side trace of another one, see `share`.
            shared
            /// Side exits taken to the interpreter.
            deopt
            /// Root traces given up because they lost.
            disabled
            /// What the hot counters counted: two an iteration, one a call.
            ticks
            /// Traces that there are.
            alive: gauge
            /// Traces freed with the function they start in.
            collected
            /// Times that all traces were flushed.
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
            /// Nothing counted.
            pub const NONE: Counters = Counters { $($name: 0,)* };

            /// Names and values.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
            fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
            }
            /// What stays when the VM is gone.
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
    // A thread that panicked while it held the lock has left a list and numbers.
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of all VMs of this process together, those that are gone included. Those of VMs on other threads are as they were when a
/// recording last began there.
pub fn of_process() -> Counters {
    let p = process();
    let mut sum = p.gone;
    for c in &p.running {
        sum.add(&c.get());
    }
    sum
}

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
    /// The counters are now these.
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
