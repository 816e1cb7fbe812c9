//! Receives the samples: counts them, and writes them to the stream.

use super::{BUFFER, Counters, MAGIC, Mode, State, VERSION, keep};
use crate::stream::END;
use crate::stream::out::Out;
use crate::stream::symbols::{self, Symbols};
use core::cell::{Cell, RefCell};
use perilune_jit::Jit;
use perilune_vm::object::{Gc, Proto};
use perilune_vm::sample::{Callee, CodePosition, Consumer, Part, Sample, Stack, StackFrame};
use perilune_vm::state::Activity;
use perilune_vm::{TraceId, Vm};
use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

/// Symbols among the events.
const PROTO_SYMBOL: u8 = 10;
const NATIVE_SYMBOL: u8 = 11;
const TRACE_SYMBOL: u8 = 12;
/// Kinds of frames.
const LUA_FRAME: u8 = 1;
const NATIVE_FRAME: u8 = 2;
const BUILTIN_FRAME: u8 = 3;

/// The native frame of each state, by an address that no code has: the stack of Rust says nothing to the reader of a profile.
const HOST_FRAMES: [(u64, &str); 6] =
    [(1, "lua_call"), (2, "(collector)"), (3, "(exit)"), (4, "(recorder)"), (5, "(optimiser)"), (6, "(code generator)")];

impl State {
    fn of(part: &Part, stack: &Stack) -> State {
        match part.activity {
            a if a == Activity::Compiled as u8 => State::Trace,
            a if a == Activity::Builtin as u8 && part.builtin > 1 => State::Builtin,
            a if a == Activity::Builtin as u8 => State::Native,
            a if a == Activity::Collector as u8 => State::Collector,
            a if a == Activity::Exit as u8 => State::Exit,
            a if a == Activity::Compiler as u8 => State::Recorder,
            a if a == Activity::Optimizer as u8 => State::Optimizer,
            a if a == Activity::Assembler as u8 => State::Assembler,
            _ if stack.frames.is_empty() => State::Interpreter,
            _ => State::Lua,
        }
    }
    /// The address of its native frame.
    fn host_frame(self) -> u64 {
        let at = (self as usize).saturating_sub(State::Native as usize);
        HOST_FRAMES.get(at).map_or(0, |f| f.0)
    }
}

/// Takes samples.
pub(super) struct Sampler {
    mode: Mode,
    jit: Option<Rc<Jit>>,
    counters: Cell<Counters>,
    stream: RefCell<Option<Stream>>,
}

/// The stream.
struct Stream {
    out: Out,
    symbols: Symbols,
    /// Traces that have a symbol, with the address of the prototype that they start in.
    traces: HashMap<TraceId, u64>,
}

impl Sampler {
    /// Writes the beginning of the stream.
    pub fn new(vm: &Vm, mode: Mode, writer: Option<Box<dyn Write>>) -> Sampler {
        let stream = writer.map(|writer| {
            let mut out = Out::new(writer, Vec::with_capacity(BUFFER));
            let mut symbols = Symbols::default();
            symbols.table(vm, &HOST_FRAMES, &mut out);
            symbols::prologue(&mut out, MAGIC, VERSION);
            out.flush();
            Stream { out, symbols, traces: HashMap::new() }
        });
        Sampler { mode, jit: Jit::of(vm), counters: Cell::default(), stream: RefCell::new(stream) }
    }
    pub fn mode(&self) -> Mode {
        self.mode
    }
    /// The error, if even the beginning could not be written.
    pub fn failure(&self) -> Option<io::Error> {
        self.stream.borrow_mut().as_mut()?.out.take_error()
    }
    /// Completes the stream and keeps the counts; the first error that there was.
    pub fn finish(&self, vm: &mut Vm) -> io::Result<Counters> {
        let counters = self.counters.get();
        keep(vm, &counters);
        if let Some(mut stream) = self.stream.borrow_mut().take() {
            stream.out.byte(END);
            stream.out.flush();
            if let Some(e) = stream.out.take_error() {
                return Err(e);
            }
        }
        Ok(counters)
    }
    fn add(&self, vm: &Vm, part: &Part, stack: &Stack) {
        let state = State::of(part, stack);
        let mut counters = self.counters.get();
        counters.add(state, part.count.into());
        self.counters.set(counters);
        let mut stream = self.stream.borrow_mut();
        let Some(stream) = stream.as_mut().filter(|s| !s.out.failed()) else { return };
        let trace = match state {
            State::Trace => part.place.and_then(|place| self.trace(vm, place)),
            _ => None,
        };
        let shown = if self.mode == Mode::Leaf { 1 } else { usize::MAX };
        for _ in 0..part.count {
            match (state, trace) {
                (State::Trace, Some((id, start, line))) => stream.trace(id, start, line),
                // The trace is gone: what is known is the function that it has returned to.
                (State::Trace, None) => stream.functions(State::Lua, None, &stack.frames, shown),
                (State::Lua | State::Native, _) => stream.functions(state, None, &stack.frames, shown),
                (State::Builtin, _) => {
                    stream.functions(state, Some(part.builtin), stack.below_builtin(part.builtin), shown);
                }
                _ => stream.host(state),
            }
        }
    }
    /// The trace at a position in compiled code, with the function and the line that it starts at.
    fn trace(&self, vm: &Vm, place: CodePosition) -> Option<(TraceId, Gc<Proto>, u32)> {
        let jit = self.jit.as_ref()?;
        let id = jit.locate(vm, place)?.trace;
        let start = jit.trace_name(id)?.start?;
        Some((id, start.proto, start.proto.line(start.pc())))
    }
}

impl Stream {
    /// A sample where a function runs; `builtin` has been called by the innermost frame, and has returned since.
    fn functions(&mut self, state: State, builtin: Option<u32>, frames: &[StackFrame], shown: usize) {
        let of_stack = &frames[..frames.len().min(shown - usize::from(builtin.is_some()))];
        for frame in of_stack {
            if let Some(code) = native_code(frame) {
                self.symbols.native(code, NATIVE_SYMBOL, &mut self.out);
            }
        }
        self.out.byte(state as u8);
        if let Some(id) = builtin {
            self.builtin(id);
        }
        for frame in of_stack {
            match frame.callee {
                Callee::Lua(p) => {
                    self.out.byte(LUA_FRAME);
                    self.out.number(p.addr());
                    self.out.number(u64::from(p.first_line));
                }
                Callee::Builtin(f) => match native_code(frame) {
                    Some(code) => {
                        self.out.byte(NATIVE_FRAME);
                        self.out.number(code as u64);
                    }
                    None => self.builtin(f.ffid()),
                },
            }
        }
        self.out.byte(END);
        self.host_frames(state);
    }
    fn builtin(&mut self, id: u32) {
        self.out.byte(BUILTIN_FRAME);
        self.out.number(u64::from(id));
    }
    /// A sample where no function runs.
    fn host(&mut self, state: State) {
        self.out.byte(state as u8);
        self.host_frames(state);
    }
    fn host_frames(&mut self, state: State) {
        self.out.number(state.host_frame());
        self.out.number(0);
    }
    /// A sample in compiled code.
    fn trace(&mut self, id: TraceId, start: Gc<Proto>, line: u32) {
        if self.traces.insert(id, start.addr()) != Some(start.addr()) {
            self.out.byte(TRACE_SYMBOL);
            symbols::trace(id, start, line, &mut self.out);
        }
        self.out.byte(State::Trace as u8);
        symbols::trace(id, start, line, &mut self.out);
    }
}

/// The address of a native function that has no number as a builtin.
fn native_code(frame: &StackFrame) -> Option<usize> {
    match frame.callee {
        Callee::Builtin(f) if f.ffid() <= 1 => f.code_address(),
        _ => None,
    }
}

impl Consumer for Sampler {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        let stack = Stack::of(vm);
        sample.parts.iter().for_each(|part| self.add(vm, part, &stack));
    }
    fn compiled(&self, vm: &Vm, part: Part, stack: Stack) {
        self.add(vm, &part, &stack);
    }
    fn loaded(&self, proto: Gc<Proto>) {
        if let Some(stream) = self.stream.borrow_mut().as_mut() {
            stream.out.byte(PROTO_SYMBOL);
            symbols::proto(proto, &mut stream.out);
        }
    }
    fn end(&self, vm: &mut Vm) {
        // There is nobody left to tell of an error.
        let _ = self.finish(vm);
    }
}
