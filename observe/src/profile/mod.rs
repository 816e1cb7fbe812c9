//! The sampling profiler: where processor time goes.
//!
//! A timer interrupts the thread at regular intervals of processor time, and the stack of Lua functions is noted with what the VM
//! was doing ([`Doing`]): interpreting, running a trace, a builtin, collecting garbage, compiling. Samples in compiled code are
//! taken by the address of the machine code, from which trace, exit and the functions that it was recorded from follow; so traces
//! are the same as without the profiler, but for a guard in each loop and a store before a helper is called.
//!
//! The profile is kept in memory as a tree of stacks with counts, of limited size: see [`model`]. It is written as folded stacks
//! ([`folded`]), for speedscope ([`speedscope`]) or for pprof ([`pprof`]).

pub mod folded;
pub mod model;
pub mod pprof;
mod sampler;
pub mod speedscope;

pub use model::{Doing, Profile};

use crate::{MaybeSend, flush_traces};
use core::time::Duration;
use perilune_jit::view::sampling;
use perilune_vm::Vm;
use perilune_vm::sample::InCode;
use sampler::Sampler;
use std::rc::Rc;

/// What to do.
pub struct Options {
    interval: Duration,
    on_end: Option<OnEnd>,
    end_on_interrupt: bool,
}

/// Tables that are looked into for each frame of each sample.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

type OnEnd = Box<dyn FnOnce(Profile)>;

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Options {
    /// A sample each millisecond of processor time.
    pub fn new() -> Options {
        Options { interval: Duration::from_millis(1), on_end: None, end_on_interrupt: false }
    }
    /// Processor time between two samples; at least 50 microseconds.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Options {
        Options { interval: interval.max(Duration::from_micros(50)), ..self }
    }
    /// Ctrl-C ends the process as `os.exit(130)` does: with the next instruction that is interpreted, or when a loop that is compiled
    /// comes round. A second one ends it at once, without a profile.
    #[must_use]
    pub fn end_on_interrupt(self) -> Options {
        Options { end_on_interrupt: true, ..self }
    }
    /// Is given the profile if the process ends by `os.exit`, the state is closed, or the program starts `jit.profile`, before
    /// [`stop`] is called. It cannot use the state.
    #[must_use]
    pub fn on_end(self, f: impl FnOnce(Profile) + MaybeSend + 'static) -> Options {
        Options { on_end: Some(Box::new(f)), ..self }
    }
}

/// Why profiling did not start, or did not end.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// Samples of this state are taken already: by this profiler, or by `jit.profile`.
    Running,
    /// The profiler does not run.
    NotRunning,
    /// Another state is sampled on this thread, or the system has no timer.
    NoTimer,
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Error::Running => "profiler is running already",
            Error::NotRunning => "profiler is not running",
            Error::NoTimer => "no timer for the profiler",
        })
    }
}

impl std::error::Error for Error {}

/// Starts to take samples of the thread that runs this. Traces are thrown away, so that those made from now on can be sampled.
pub fn start(vm: &mut Vm, options: Options) -> Result<(), Error> {
    if vm.is_sampling() {
        return Err(Error::Running);
    }
    flush_traces(vm);
    let interval = options.interval;
    let sampler = Rc::new(Sampler::new(vm, interval, options.on_end));
    if !sampling::start(vm, interval, InCode::Walked, sampler) {
        return Err(Error::NoTimer);
    }
    if options.end_on_interrupt {
        vm.catch_interrupts();
    }
    Ok(())
}

/// Ends that. The profile; traces are thrown away again.
pub fn stop(vm: &mut Vm) -> Result<Profile, Error> {
    let consumer: Rc<dyn core::any::Any> = vm.sampling_consumer().ok_or(Error::NotRunning)?;
    let sampler = consumer.downcast::<Sampler>().map_err(|_| Error::NotRunning)?;
    vm.stop_sampling();
    let profile = sampler.finish().ok_or(Error::NotRunning);
    flush_traces(vm);
    profile
}
