//! Writing symbols: the table in front of the events, and those that come to light later.

use super::out::Out;
use super::{END, SYMTAB_MAGIC, SymKind, VERSION};
use perilune_vm::object::{Gc, Object, Proto};
use perilune_vm::stdlib::{Builtin, symbol_at};
use perilune_vm::{TraceId, Vm};
use std::collections::HashSet;

/// The name of native code that is no builtin, and that no shared object exports.
const UNNAMED: &[u8] = b"native function";

/// The symbols of native code that were written.
#[derive(Default)]
pub struct Symbols {
    natives: HashSet<usize>,
}

impl Symbols {
    /// Writes the symbol table with the functions of a state; `further` are names of other addresses.
    pub fn table(&mut self, vm: &Vm, further: &[(u64, &str)], out: &mut Out) {
        prologue(out, SYMTAB_MAGIC, VERSION);
        vm.heap.for_each_object(|o| match o.typed() {
            Some(Object::Proto(p)) => {
                out.byte(SymKind::Proto as u8);
                proto(p, out);
            }
            Some(Object::Func(f)) => {
                if let Some(code) = f.code_address()
                    && self.natives.insert(code)
                {
                    out.byte(SymKind::Native as u8);
                    let named = Builtin::from_id(f.ffid()).filter(|b| b.native().is_some());
                    match named {
                        Some(builtin) => native(code as u64, builtin.name().as_bytes(), out),
                        None => unknown(code, out),
                    }
                }
            }
            _ => {}
        });
        for (address, name) in further {
            out.byte(SymKind::Native as u8);
            native(*address, name.as_bytes(), out);
        }
        out.byte(END);
    }
    /// Writes the symbol of native code, with `header` in front of it, if it has none yet.
    pub fn native(&mut self, code: usize, header: u8, out: &mut Out) {
        if self.natives.insert(code) {
            out.byte(header);
            unknown(code, out);
        }
    }
}

/// The first bytes of a part of the stream.
pub fn prologue(out: &mut Out, magic: [u8; 3], version: u8) {
    out.bytes(&magic);
    out.bytes(&[version, 0, 0, 0]);
}
/// A prototype, without the kind of the symbol.
pub fn proto(p: Gc<Proto>, out: &mut Out) {
    out.number(p.addr());
    out.string(p.chunkname.bytes());
    out.number(u64::from(p.first_line));
}
/// A trace that starts at a line of a function, without the kind of the symbol.
pub fn trace(id: TraceId, p: Gc<Proto>, line: u32, out: &mut Out) {
    out.number(u64::from(id.get()));
    out.number(p.addr());
    out.number(u64::from(line));
}
fn native(address: u64, name: &[u8], out: &mut Out) {
    out.number(address);
    out.string(name);
}
/// Native code that is no builtin: a function of the host, or of a module in C.
fn unknown(code: usize, out: &mut Out) {
    match symbol_at(code) {
        Some(name) => native(code as u64, &name, out),
        None => native(code as u64, UNNAMED, out),
    }
}
