//! The `misc` library of Lua, as Tarantool has it and beyond: `getmetrics`, `getpauses`, `memprof.start`, `memprof.stop`,
//! `sysprof.start`, `sysprof.stop`, `sysprof.report`, `heapdump`, `heapsnapshot`.
//!
//! What fails returns nil, a message and an error number; only arguments of the wrong type raise an error.

use crate::memprof::{self, Error, Options};
use crate::{heap, metrics, metrics::Pauses, sysprof};
use perilune_vm::interrupt::Poll;
use perilune_vm::object::{Gc, NativeFn, Table};
use perilune_vm::stdlib::io::error_text;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

/// Number of the error for what should not be: EINVAL.
const INVALID: i32 = 22;

/// Makes the library available: `require "misc"` gives it, and makes it the global that Tarantool has. Before that there is no such
/// global, as in LuaJIT.
pub fn open(vm: &mut Vm) {
    let misc = vm.registry_table(b"misc");
    vm.preload(b"misc", |vm| {
        let (misc, globals) = (vm.registry_table(b"misc"), vm.realm.globals);
        vm.set_field(globals, b"misc", Value::table(misc));
        vm.ret1(Value::table(misc))
    });
    fill(
        vm,
        misc,
        &[("getmetrics", getmetrics), ("getpauses", getpauses), ("heapdump", heapdump), ("heapsnapshot", heapsnapshot)],
    );
    let memprof = vm.new_table(0, 1);
    vm.set_field(misc, b"memprof", Value::table(memprof));
    fill(vm, memprof, &[("start", start), ("stop", stop)]);
    let sysprof = vm.new_table(0, 2);
    vm.set_field(misc, b"sysprof", Value::table(sysprof));
    fill(vm, sysprof, &[("start", sysprof_start), ("stop", sysprof_stop), ("report", sysprof_report)]);
}

fn fill(vm: &mut Vm, t: Gc<Table>, functions: &[(&str, NativeFn)]) {
    for (name, f) in functions {
        let f = vm.new_native(*f, 1, &[]);
        vm.set_field(t, name.as_bytes(), Value::func(f));
    }
}

/// nil, a message, and a number.
fn failure(vm: &mut Vm, message: &[u8], number: i32) -> LuaResult<u32> {
    let message = vm.new_str(message);
    vm.push(Value::NIL);
    vm.push(Value::str(message));
    vm.push(Value::int(number));
    Ok(3)
}

/// The same for an error of the system, about a file if it has a name.
fn io_failure(vm: &mut Vm, name: Option<&[u8]>, e: &io::Error) -> LuaResult<u32> {
    let text = error_text(e);
    let message = match name {
        Some(name) => [name, b": ", text.as_bytes()].concat(),
        None => text.into_bytes(),
    };
    failure(vm, &message, e.raw_os_error().unwrap_or(INVALID))
}

fn create(name: &[u8]) -> io::Result<File> {
    if name.contains(&0) {
        return Err(io::Error::from_raw_os_error(INVALID));
    }
    File::create(OsStr::from_bytes(name))
}

/// `misc.getmetrics()`
fn getmetrics(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.new_table(0, perilune_vm::object::hbits_for(metrics::Metrics::NAMES.len() as u32));
    // Before the names are looked up, which counts.
    let now = metrics::metrics(vm);
    for (name, n) in now.list() {
        vm.set_field(t, name.as_bytes(), Value::number(n as f64));
    }
    vm.ret1(Value::table(t))
}

/// `misc.getpauses()`. Apart from the metrics, whose fields are exactly Tarantool's: its tests count the strings looked up for them.
fn getpauses(vm: &mut Vm) -> LuaResult<u32> {
    let p = *vm.heap.pauses();
    let lengths = vm.new_table(Pauses::LENGTHS as u32 + 1, 0);
    for (i, n) in p.by_length.into_iter().enumerate() {
        vm.table_set_int(lengths, i as i32 + 1, Value::number(n as f64));
    }
    let t = vm.new_table(0, 3);
    let micros = |d: Duration| Value::number(d.as_micros() as f64);
    let fields = [
        ("count", Value::number(p.count as f64)),
        ("total", micros(p.total)),
        ("longest", micros(p.longest)),
        ("lengths", Value::table(lengths)),
    ];
    for (name, v) in fields {
        vm.set_field(t, name.as_bytes(), v);
    }
    vm.ret1(Value::table(t))
}

/// `misc.memprof.start(file [, {lines = true}])`
fn start(vm: &mut Vm) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let options = if vm.arg(1).is_nil() { None } else { Some(vm.check_table(1)?) };
    let lines = options.is_some_and(|t| vm.field(t, b"lines").truthy());
    if memprof::is_running(vm) {
        return profiler_failure(vm, None, &Error::Running);
    }
    let file = match create(name.bytes()) {
        Ok(file) => file,
        Err(e) => return io_failure(vm, Some(name.bytes()), &e),
    };
    match memprof::start(vm, Options::new(file).lines(lines)) {
        Ok(()) => vm.ret1(Value::TRUE),
        Err(e) => profiler_failure(vm, Some(name.bytes()), &e),
    }
}

/// `misc.memprof.stop()`
fn stop(vm: &mut Vm) -> LuaResult<u32> {
    match memprof::stop(vm) {
        Ok(()) => vm.ret1(Value::TRUE),
        Err(e) => profiler_failure(vm, None, &e),
    }
}

/// nil, a message, and a number, for what a profiler could not do.
fn profiler_failure(vm: &mut Vm, name: Option<&[u8]>, e: &Error) -> LuaResult<u32> {
    match e {
        Error::Io(e) => io_failure(vm, name, e),
        e => failure(vm, e.to_string().as_bytes(), INVALID),
    }
}

/// The options of `misc.sysprof.start`: `mode` is "D", "L" or "C"; `interval` is in milliseconds; `path` is the file for the stream.
fn sysprof_options(vm: &mut Vm) -> Result<sysprof::Options, Error> {
    const PATH: &[u8] = b"sysprof.bin";
    let t = vm.arg(0).as_table().filter(|_| vm.nargs() == 1).ok_or(Error::Misuse)?;
    let mode = vm.field(t, b"mode").as_str().ok_or(Error::Misuse)?;
    let mut options = sysprof::Options::new();
    if let Some(ms) = vm.field(t, b"interval").as_number() {
        if !(1.0..=f64::from(i32::MAX)).contains(&ms) {
            return Err(Error::Misuse);
        }
        options = options.interval(Duration::from_millis(ms as u64));
    }
    let to_file = match mode.bytes() {
        b"D" => return Ok(options),
        b"L" => sysprof::Options::leaf,
        b"C" => sysprof::Options::callgraph,
        _ => return Err(Error::Misuse),
    };
    let path = vm.field(t, b"path");
    let file = match path.as_str() {
        Some(path) => create(path.bytes()),
        None if path.is_nil() => create(PATH),
        None => return Err(Error::Misuse),
    };
    file.map(|file| to_file(options, file)).map_err(Error::Io)
}

/// `misc.sysprof.start {mode = "D" | "L" | "C" [, interval = milliseconds] [, path = file]}`
fn sysprof_start(vm: &mut Vm) -> LuaResult<u32> {
    // Before the file of the one that runs is opened, which would empty it.
    let started = match sysprof::is_running(vm) {
        true => Err(Error::Running),
        false => sysprof_options(vm).and_then(|options| sysprof::start(vm, options)),
    };
    match started {
        Ok(()) => vm.ret1(Value::TRUE),
        Err(e) => profiler_failure(vm, None, &e),
    }
}

/// `misc.sysprof.stop()`
fn sysprof_stop(vm: &mut Vm) -> LuaResult<u32> {
    match sysprof::stop(vm) {
        Ok(_) => vm.ret1(Value::TRUE),
        Err(e) => profiler_failure(vm, None, &e),
    }
}

/// `misc.sysprof.report()`
fn sysprof_report(vm: &mut Vm) -> LuaResult<u32> {
    let counters = match sysprof::report(vm) {
        Ok(counters) => counters,
        Err(e) => return profiler_failure(vm, None, &e),
    };
    let states = vm.new_table(0, 4);
    for (name, n) in counters.by_state() {
        vm.set_field(states, name.as_bytes(), Value::number(n as f64));
    }
    let t = vm.new_table(0, 1);
    vm.set_field(t, b"samples", Value::number(counters.samples as f64));
    vm.set_field(t, b"vmstate", Value::table(states));
    vm.ret1(Value::table(t))
}

/// A file that is written until an interrupt waits.
struct Interruptible<'a> {
    file: File,
    poll: Poll<'a>,
}

impl io::Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.poll.look()?;
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn write(vm: &mut Vm, f: fn(&mut Vm, &mut dyn io::Write, Poll<'_>) -> io::Result<()>) -> LuaResult<u32> {
    let name = vm.check_str(0)?;
    let flag = vm.interrupt_flag();
    let poll = flag.as_deref().map_or(Poll::Never, Poll::At);
    let written = create(name.bytes()).and_then(|file| {
        let mut to = io::BufWriter::with_capacity(1 << 18, Interruptible { file, poll });
        let written = f(vm, &mut to, poll);
        // What could not be written is not tried again.
        let _ = to.into_parts();
        written
    });
    vm.check_interrupt()?;
    match written {
        Ok(()) => vm.ret1(Value::TRUE),
        Err(e) => io_failure(vm, Some(name.bytes()), &e),
    }
}

/// `misc.heapdump(file)`
fn heapdump(vm: &mut Vm) -> LuaResult<u32> {
    write(vm, heap::dump)
}

/// `misc.heapsnapshot(file)`
fn heapsnapshot(vm: &mut Vm) -> LuaResult<u32> {
    write(vm, heap::snapshot)
}
