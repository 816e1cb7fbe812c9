//! Tells `perf` and gdb of compiled code (`-Operf`, `-Ogdb`): [`perilune_backend::perf`], [`perilune_backend::gdb`].

use super::names::location;
use crate::Jit;
use crate::trace::{Entry, Part};
use perilune_backend::gdb;
use perilune_backend::perf::{self, Symbol};
use perilune_vm::TraceId;
use perilune_vm::object::BcPos;

impl Jit {
    /// Reports a new trace, if that is asked for.
    pub(crate) fn report_code(&self, number: TraceId) {
        let which = self.settings.options.get().params.code_readers();
        if which == 0 {
            return;
        }
        let registry = self.registry.borrow();
        let Some(entry) = registry.get(number) else { return };
        let Some(code) = self.machine.borrow().bytes(entry.code) else { return };
        let start = entry.position_of(entry.trace.snaps[0].pc).map_or_else(|| "?".into(), at);
        let name = format!("trace {number} {start}");
        let symbol = Symbol { address: entry.code.address, code: &code, name, parts: parts(entry, number) };
        perf::report(which, &symbol);
        if which & gdb::GDB != 0 {
            self.machine.borrow_mut().register(&symbol);
        }
    }
}

/// Source and line of an instruction.
fn at(pos: BcPos) -> String {
    let line = if pos.pc() == 0 { pos.proto.first_line } else { pos.proto.line(pos.pc()) };
    String::from_utf8_lossy(&location(pos.proto, line)).into_owned()
}

/// The parts of the code by line. The code of an exit is of the line that the interpreter continues at.
fn parts(entry: &Entry, number: TraceId) -> Vec<perf::Part> {
    let mut parts: Vec<perf::Part> = Vec::new();
    for (offset, part) in &entry.map.parts {
        let (pos, name) = match part {
            Part::Ins(i) => (entry.position_of(entry.trace.origin(*i)), format!("(trace {number})")),
            Part::Exit(k) => (entry.resumes_at(k.index()), format!("(trace {number} exit {k})")),
            _ => continue,
        };
        let Some(pos) = pos else { continue };
        let name = format!("{} {name}", at(pos));
        if parts.last().is_none_or(|last| last.name != name) {
            let line = if pos.pc() == 0 { pos.proto.first_line } else { pos.proto.line(pos.pc()) };
            let chunk = pos.proto.chunkname.to_str_lossy();
            let file = chunk.strip_prefix('@').unwrap_or(&chunk).to_owned();
            parts.push(perf::Part { offset: *offset as usize, file, line, name });
        }
    }
    parts
}
