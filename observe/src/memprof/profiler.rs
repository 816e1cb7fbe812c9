//! The watcher that writes the stream.

use super::OnStop;
use crate::foreign::attempt;
use crate::stream::out::Out;
use crate::stream::symbols::{self, Symbols};
use crate::stream::{END, EVENTS_MAGIC, EventKind, Source, VERSION, header};
use perilune_vm::gc::watch::{Change, Origin, Watcher};
use perilune_vm::object::{Gc, Proto};
use perilune_vm::{TraceId, Vm};
use std::io::{self, Write};

/// Writes the changes of a heap.
pub(super) struct Profiler {
    out: Out,
    on_stop: Option<OnStop>,
    lines: bool,
    symbols: Symbols,
    finished: bool,
}

impl Profiler {
    pub fn new(writer: Box<dyn Write>, buffer: Vec<u8>, on_stop: Option<OnStop>, lines: bool) -> Profiler {
        Profiler { out: Out::new(writer, buffer), on_stop, lines, symbols: Symbols::default(), finished: false }
    }
    /// Writes the symbols that there are, and the start of the events.
    pub fn begin(&mut self, vm: &Vm) {
        self.symbols.table(vm, &[], &mut self.out);
        symbols::prologue(&mut self.out, EVENTS_MAGIC, VERSION);
        self.out.flush();
    }
    /// The error, if even the beginning could not be written. Then it is all over.
    pub fn failure(&mut self) -> Option<io::Error> {
        if self.out.failed() { self.finish().err() } else { None }
    }
    /// Completes the stream; the first error that there was.
    pub fn finish(&mut self) -> io::Result<()> {
        if core::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.out.byte(END);
        self.out.flush();
        let stopped = self.on_stop.take().map_or(Ok(()), attempt);
        self.out.take_error().map_or(stopped, Err)
    }
    fn place(&mut self, kind: EventKind, place: Origin) {
        match place {
            Origin::Internal => self.out.byte(header(kind, Source::Internal)),
            Origin::Lua(proto, line) => self.lua(kind, proto, line),
            Origin::Trace(site) if self.lines => self.lua(kind, site.proto, site.line),
            Origin::Trace(site) => {
                self.out.byte(header(kind, Source::Trace));
                self.out.number(u64::from(site.trace.get()));
            }
            Origin::Native(code) => {
                self.symbols.native(code, header(EventKind::Symbol, Source::Native), &mut self.out);
                self.out.byte(header(kind, Source::Native));
                self.out.number(code as u64);
            }
        }
    }
    fn lua(&mut self, kind: EventKind, proto: Gc<Proto>, line: u32) {
        self.out.byte(header(kind, Source::Lua));
        self.out.number(proto.addr());
        self.out.number(u64::from(line));
    }
    fn memory(&mut self, at: usize, size: usize) {
        self.out.number(at as u64);
        self.out.number(size as u64);
    }
}

impl Watcher for Profiler {
    fn change(&mut self, place: Origin, change: Change) -> bool {
        match change {
            Change::Alloc { at, size } => {
                self.place(EventKind::Alloc, place);
                self.memory(at, size);
            }
            Change::Free { at, size } => {
                self.place(EventKind::Free, place);
                self.memory(at, size);
            }
            Change::Realloc { from, old, to, new } => {
                self.place(EventKind::Realloc, place);
                self.memory(from, old);
                self.memory(to, new);
            }
        }
        !self.out.failed()
    }
    fn proto(&mut self, proto: Gc<Proto>) {
        self.out.byte(header(EventKind::Symbol, Source::Lua));
        symbols::proto(proto, &mut self.out);
    }
    fn trace(&mut self, id: TraceId, proto: Gc<Proto>, line: u32) {
        self.out.byte(header(EventKind::Symbol, Source::Trace));
        symbols::trace(id, proto, line, &mut self.out);
    }
    fn end(&mut self) {
        // There is nobody left to tell of an error.
        let _ = self.finish();
    }
}
