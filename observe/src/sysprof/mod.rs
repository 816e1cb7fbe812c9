//! Tarantool's sampling profiler (`misc.sysprof`, `lj_sysprof.h`): samples by the state of the VM, and their stacks in a stream.
//!
//! ```text
//! stream := symtab 'l' 'j' 'p' version 00 00 00  event*  80          -- symtab: see `stream`
//! event  := state frame* 80 host* 0                                 -- states 1 to 3: a function runs; the innermost frame first
//!         | state host* 0                                           -- states 0 and 4 to 8
//!         | 9 traceno address line                                  -- a trace, the prototype and line that it starts at
//!         | 10 address string line | 12 traceno address line        -- a symbol: a prototype, a trace
//!         | 11 address string                                       -- a symbol: native code
//! frame  := 1 address line | 2 address | 3 number                   -- Lua function, native code, builtin by its number in `jit.vmdef`
//! ```
//!
//! Numbers are ULEB128. The line of a frame is the one that the function is defined at. Samples with stacks have one native frame, a name for
//! the state; where functions run it is `lua_call`, since Tarantool's parser puts the frames of Lua below a native frame of that name.

mod sampler;

pub use crate::memprof::Error;

use crate::{MaybeSend, flush_traces};
use core::time::Duration;
use perilune_jit::view::sampling;
use perilune_vm::sample::InCode;
use perilune_vm::{Value, Vm};
use sampler::Sampler;
use std::io::Write;
use std::rc::Rc;

/// Version of the events.
const VERSION: u8 = 2;
/// First bytes of the events.
const MAGIC: [u8; 3] = *b"ljp";
/// Size of the buffer in front of the writer, bytes.
const BUFFER: usize = 8 << 20;

/// The table of the registry that has the counts of the last profile.
const KEPT: &[u8] = b"sysprof";
/// The number of samples, among the counts.
const SAMPLES: &str = "samples";

macro_rules! states {
    ($($(#[$doc:meta])* $state:ident $field:ident $name:literal,)*) => {
        /// The state of the VM at a sample, by its number in the stream.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[repr(u8)]
        enum State { $($(#[$doc])* $state,)* }

        /// Samples by the state of the VM. A field counts intervals that have passed.
        #[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
        pub struct Counters {
            /// All of them.
            pub samples: u64,
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Counters {
            /// Tarantool's names of the states, and the counts.
            pub fn by_state(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($name, self.$field),)*].into_iter()
            }
            fn add(&mut self, state: State, count: u64) {
                self.samples += count;
                *match state { $(State::$state => &mut self.$field,)* } += count;
            }
            /// The counts by name.
            fn named(mut get: impl FnMut(&str) -> u64) -> Counters {
                Counters { samples: get(SAMPLES), $($field: get($name),)* }
            }
        }
    };
}

states! {
    /// The interpreter, where no function runs.
    Interpreter interp "INTERP",
    /// A Lua function that is interpreted.
    Lua lfunc "LFUNC",
    /// A builtin with a number.
    Builtin ffunc "FFUNC",
    /// A function of the host, or a builtin without a number.
    Native cfunc "CFUNC",
    /// The collector.
    Collector gc "GC",
    /// An exit from compiled code.
    Exit exit "EXIT",
    /// The recorder.
    Recorder record "RECORD",
    /// The optimiser.
    Optimizer opt "OPT",
    /// The code generator.
    Assembler asm "ASM",
    /// Compiled code.
    Trace trace "TRACE",
}

/// What is written of samples.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Nothing: they are counted.
    Default,
    /// The innermost function.
    Leaf,
    /// The whole stack.
    Callgraph,
}

/// What to do.
pub struct Options {
    mode: Mode,
    interval: Duration,
    writer: Option<Box<dyn Write>>,
}

impl Options {
    /// Samples are counted, one every 10 ms of processor time.
    pub fn new() -> Options {
        Options { mode: Mode::Default, interval: Duration::from_millis(10), writer: None }
    }
    /// Processor time between two samples; at least a millisecond.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Options {
        Options { interval: interval.max(Duration::from_millis(1)), ..self }
    }
    /// The innermost function of each sample goes to `writer`, which is dropped when profiling ends. It cannot use the state.
    #[must_use]
    pub fn leaf(self, writer: impl Write + MaybeSend + 'static) -> Options {
        Options { mode: Mode::Leaf, writer: Some(Box::new(writer)), ..self }
    }
    /// The stack of each sample goes to `writer`, which is dropped when profiling ends. It cannot use the state.
    #[must_use]
    pub fn callgraph(self, writer: impl Write + MaybeSend + 'static) -> Options {
        Options { mode: Mode::Callgraph, writer: Some(Box::new(writer)), ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

/// Starts to take samples of the thread that runs this. Where stacks are written, traces are thrown away, so that those made from now on
/// can be sampled.
pub fn start(vm: &mut Vm, options: Options) -> Result<(), Error> {
    let Options { mode, interval, writer } = options;
    let refused = match (is_running(vm), vm.is_sampling()) {
        (true, _) => Some(Error::Running),
        (_, true) => Some(Error::Misuse),
        _ => None,
    };
    if let Some(refused) = refused {
        crate::foreign::discard(writer);
        return Err(refused);
    }
    let in_code = if mode == Mode::Default { InCode::Late } else { InCode::Walked };
    if in_code == InCode::Walked {
        flush_traces(vm);
    }
    let sampler = Rc::new(Sampler::new(vm, mode, writer));
    if let Some(e) = sampler.failure() {
        return Err(Error::Io(e));
    }
    if !sampling::start(vm, interval, in_code, sampler) {
        return Err(Error::Misuse);
    }
    Ok(())
}

/// Ends that, and completes the stream. An error of any write is reported here; profiling has ended nevertheless.
pub fn stop(vm: &mut Vm) -> Result<Counters, Error> {
    let sampler = running(vm).ok_or(Error::NotRunning)?;
    vm.stop_sampling();
    let finished = sampler.finish(vm);
    if sampler.mode() != Mode::Default {
        flush_traces(vm);
    }
    finished.map_err(Error::Io)
}

/// Does the profiler run?
pub fn is_running(vm: &Vm) -> bool {
    running(vm).is_some()
}

/// The counts of the last profile that has ended; all 0 if there was none.
///
/// # Errors
/// While the profiler runs: [`Error::Misuse`].
pub fn report(vm: &mut Vm) -> Result<Counters, Error> {
    if is_running(vm) {
        return Err(Error::Misuse);
    }
    let kept = vm.registry_table(KEPT);
    Ok(Counters::named(|name| vm.field(kept, name.as_bytes()).as_number().unwrap_or_default() as u64))
}
/// Keeps the counts for [`report`].
fn keep(vm: &mut Vm, counters: &Counters) {
    let kept = vm.registry_table(KEPT);
    for (name, n) in counters.by_state().chain([(SAMPLES, counters.samples)]) {
        vm.set_field(kept, name.as_bytes(), Value::number(n as f64));
    }
}

fn running(vm: &Vm) -> Option<Rc<Sampler>> {
    let consumer: Rc<dyn core::any::Any> = vm.sampling_consumer()?;
    consumer.downcast().ok()
}
