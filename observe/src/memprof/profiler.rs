//! The watcher that writes the stream.

use super::OnStop;
use crate::foreign::attempt;
use crate::stream::out::Out;
use crate::stream::{END, EVENTS_MAGIC, EventKind, SYMTAB_MAGIC, Source, SymKind, VERSION, header};
use perilune_vm::gc::watch::{Change, Origin, Watcher};
use perilune_vm::object::{Gc, Object, Proto};
use perilune_vm::stdlib::Builtin;
use perilune_vm::{TraceId, Vm};
use std::collections::HashSet;
use std::io::{self, Write};

/// What native code is called that is no builtin.
const UNNAMED: &str = "native function";

/// Writes the changes of a heap.
pub(super) struct Profiler {
    out: Out,
    on_stop: Option<OnStop>,
    lines: bool,
    /// Native code that has a symbol.
    natives: HashSet<usize>,
    finished: bool,
}

impl Profiler {
    pub fn new(writer: Box<dyn Write>, buffer: Vec<u8>, on_stop: Option<OnStop>, lines: bool) -> Profiler {
        Profiler { out: Out::new(writer, buffer), on_stop, lines, natives: HashSet::new(), finished: false }
    }
    /// Writes the symbols that there are, and the start of the events.
    pub fn begin(&mut self, vm: &Vm) {
        self.prologue(SYMTAB_MAGIC);
        vm.heap.for_each_object(|o| match o.typed() {
            Some(Object::Proto(p)) => {
                self.out.byte(SymKind::Proto as u8);
                self.proto_body(p);
            }
            Some(Object::Func(f)) => {
                if let Some(code) = f.native().map(|code| code as usize)
                    && self.natives.insert(code)
                {
                    self.out.byte(SymKind::Native as u8);
                    let named = Builtin::from_id(f.ffid()).filter(|b| b.native().is_some());
                    self.native_body(code, named.map_or(UNNAMED, Builtin::name));
                }
            }
            _ => {}
        });
        self.out.byte(END);
        self.prologue(EVENTS_MAGIC);
        self.out.flush();
    }
    /// The error, if even the beginning could not be written. Then it is all over.
    pub fn failure(&mut self) -> Option<io::Error> {
        if self.out.failed() { self.finish().err() } else { None }
    }
    fn prologue(&mut self, magic: [u8; 3]) {
        self.out.bytes(&magic);
        self.out.bytes(&[VERSION, 0, 0, 0]);
    }
    fn proto_body(&mut self, p: Gc<Proto>) {
        self.out.number(p.addr());
        self.out.string(p.chunkname.bytes());
        self.out.number(u64::from(p.first_line));
    }
    fn native_body(&mut self, code: usize, name: &str) {
        self.out.number(code as u64);
        self.out.string(name.as_bytes());
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
                if self.natives.insert(code) {
                    self.out.byte(header(EventKind::Symbol, Source::Native));
                    self.native_body(code, UNNAMED);
                }
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
        self.proto_body(proto);
    }
    fn trace(&mut self, id: TraceId, proto: Gc<Proto>, line: u32) {
        self.out.byte(header(EventKind::Symbol, Source::Trace));
        self.out.number(u64::from(id.get()));
        self.out.number(proto.addr());
        self.out.number(u64::from(line));
    }
    fn end(&mut self) {
        // There is nobody left to tell of an error.
        let _ = self.finish();
    }
}
