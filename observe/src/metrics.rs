//! Counts that are always kept: the fields of Tarantool's `misc.getmetrics`.

use perilune_jit::Jit;
use perilune_vm::Vm;
use perilune_vm::gc::Phase;

pub use perilune_vm::gc::Pauses;

macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident)*) => {
        /// The metrics of a state.
        #[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
        pub struct Metrics { $($(#[$doc])* pub $name: u64,)* }

        impl Metrics {
            /// Names of the fields, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];
            /// Names and values, in order.
            pub fn list(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

metrics! {
    /// Strings asked for that existed already.
    strhash_hit
    /// Strings that were made.
    strhash_miss
    /// Strings that there are.
    gc_strnum
    /// Tables that there are.
    gc_tabnum
    /// Userdata that there are.
    gc_udatanum
    /// Cdata that there are.
    gc_cdatanum
    /// Bytes in use.
    gc_total
    /// Bytes freed so far.
    gc_freed
    /// Bytes allocated so far: those in use and those freed.
    gc_allocated
    /// Cycles of the collector begun.
    gc_steps_pause
    /// Steps of marking.
    gc_steps_propagate
    /// Atomic phases.
    gc_steps_atomic
    /// Blocks and large objects swept that were strings, or had strings among others: there is no separate sweep of strings.
    gc_steps_sweepstring
    /// Steps of sweeping.
    gc_steps_sweep
    /// Finalizers called by steps.
    gc_steps_finalize
    /// Exits from compiled code to the interpreter.
    jit_snap_restore
    /// Recordings given up.
    jit_trace_abort
    /// Bytes of machine code.
    jit_mcode_size
    /// Traces that there are.
    jit_trace_num
}

/// The metrics now.
pub fn metrics(vm: &Vm) -> Metrics {
    let counts = vm.heap.counts();
    let steps = |phase: Phase| counts.steps[phase as usize];
    let jit = Jit::of(vm).map(|jit| jit.counts()).unwrap_or_default();
    Metrics {
        strhash_hit: counts.str_hits,
        strhash_miss: counts.str_misses,
        gc_strnum: vm.heap.num_strings() as u64,
        gc_tabnum: counts.tables as u64,
        gc_udatanum: counts.udatas as u64,
        gc_cdatanum: counts.cdatas as u64,
        gc_total: vm.heap.total as u64,
        gc_freed: counts.freed as u64,
        gc_allocated: (vm.heap.total + counts.freed) as u64,
        gc_steps_pause: steps(Phase::Pause),
        gc_steps_propagate: steps(Phase::Propagate),
        gc_steps_atomic: steps(Phase::Atomic),
        gc_steps_sweepstring: counts.swept_strings,
        gc_steps_sweep: steps(Phase::Sweep),
        gc_steps_finalize: steps(Phase::Finalize),
        jit_snap_restore: jit.deopt,
        jit_trace_abort: jit.aborted,
        jit_mcode_size: jit.mcode,
        jit_trace_num: jit.alive,
    }
}
