//! The memory profiler: every allocation, change of size and free in a stream ([`crate::stream`]), with what was running.
//!
//! What happens in compiled code is reported by the number of the trace, or, with [`Options::lines`], by function and line. For
//! that code must know where it is, so all traces are flushed when profiling starts and when it ends; code compiled in between
//! leaves word before it allocates. Each state has a profiler of its own.

mod profiler;

use crate::{MaybeSend, flush_traces};
use perilune_vm::Vm;
use profiler::Profiler;
use std::io::{self, Write};

/// Default size of the buffer, bytes.
const BUFFER: usize = 8 << 20;

/// What to do with the profile.
pub struct Options {
    writer: Box<dyn Write>,
    buffer: Option<Vec<u8>>,
    on_stop: Option<OnStop>,
    lines: bool,
}

type OnStop = Box<dyn FnOnce() -> io::Result<()>>;

impl Options {
    /// The profile goes to `writer`, which is dropped when profiling ends. It is called in the middle of allocations and collections: it
    /// cannot use the state. If it panics, writing has failed.
    pub fn new(writer: impl Write + MaybeSend + 'static) -> Options {
        Options { writer: Box::new(writer), buffer: None, on_stop: None, lines: false }
    }
    /// The buffer in front of the writer, which is called when its capacity is used up. 8 MB if there is none.
    #[must_use]
    pub fn buffer(self, buffer: Vec<u8>) -> Options {
        Options { buffer: Some(buffer), ..self }
    }
    /// Called once when profiling ends, in whatever way, after the last write. [`stop`] reports its error.
    /// It cannot use the state.
    #[must_use]
    pub fn on_stop(self, f: impl FnOnce() -> io::Result<()> + MaybeSend + 'static) -> Options {
        Options { on_stop: Some(Box::new(f)), ..self }
    }
    /// Compiled code is reported by function and line.
    #[must_use]
    pub fn lines(self, on: bool) -> Options {
        Options { lines: on, ..self }
    }
}

/// Why profiling did not start, or did not end well.
#[derive(Debug)]
pub enum Error {
    /// Somebody else watches the heap, or takes samples on this thread; or the system has no timer for samples.
    Misuse,
    /// It runs already.
    Running,
    /// It does not run.
    NotRunning,
    /// Writing failed.
    Io(io::Error),
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Error::Misuse => f.write_str("profiler misuse"),
            Error::Running => f.write_str("profiler is running already"),
            Error::NotRunning => f.write_str("profiler is not running"),
            Error::Io(e) => f.write_str(&perilune_vm::stdlib::io::error_text(e)),
        }
    }
}

impl std::error::Error for Error {}

/// Starts profiling. Where it does not start, the writer is dropped and `on_stop` called all the same.
pub fn start(vm: &mut Vm, options: Options) -> Result<(), Error> {
    if vm.heap.is_watched() {
        let running = is_running(vm);
        // There is nobody to tell of an error here.
        let _ = options.on_stop.map(crate::foreign::attempt);
        crate::foreign::discard(options.writer);
        return Err(if running { Error::Running } else { Error::Misuse });
    }
    let buffer = options.buffer.unwrap_or_else(|| Vec::with_capacity(BUFFER));
    flush_traces(vm);
    let mut profiler = Profiler::new(options.writer, buffer, options.on_stop, options.lines);
    profiler.begin(vm);
    if let Some(e) = profiler.failure() {
        return Err(Error::Io(e));
    }
    vm.watch(Box::new(profiler)).map_err(|_| Error::Misuse)
}

/// Ends profiling and completes the stream. An error of any write, or of `on_stop`, is reported here; it has ended nevertheless.
pub fn stop(vm: &mut Vm) -> Result<(), Error> {
    if !vm.heap.is_watched() {
        return Err(Error::NotRunning);
    }
    if !is_running(vm) {
        return Err(Error::Misuse);
    }
    let watcher: Option<Box<dyn core::any::Any>> = match vm.take_watcher() {
        Some(w) => Some(w),
        None => None,
    };
    flush_traces(vm);
    let Some(mut profiler) = watcher.and_then(|w| w.downcast::<Profiler>().ok()) else { return Err(Error::NotRunning) };
    profiler.finish().map_err(Error::Io)
}

/// Is the profiler running? Also after a write has failed, until [`stop`] reports that.
pub fn is_running(vm: &mut Vm) -> bool {
    vm.with_watcher(|w| (w as &dyn core::any::Any).is::<Profiler>()).unwrap_or(false)
}
