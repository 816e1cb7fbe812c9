//! The JSON dump of Luau: one object with the members `objects`, `roots` and `stats`.
//!
//! Every object has `type`, `cat`, `size` and what its type has beside. Members that Luau does not have: `resumer` of a thread;
//! `env` and `anchor` of a userdata; `chunkname` of a prototype; beside `roots` `otherroots`, what
//! else keeps objects alive. Luau's tools pass over them.

use super::names::{Names, SlotName, running_in, slots};
use crate::json;
use perilune_vm::Vm;
use perilune_vm::gc::color::FIXED;
use perilune_vm::gc::{Edge, Visitor, visit::visit_object};
use perilune_vm::object::{Func, Gc, GcHeader, Kind, Object, Proto, Table, Thread, Udata, UpVal};
use perilune_vm::value::Value;
use std::io::{self, Write};

/// Writes the dump.
pub fn write(vm: &Vm, to: &mut dyn Write) -> io::Result<()> {
    let mut dump = Dump { vm, to, names: Names::new(vm), total: 0 };
    dump.to.write_all(b"{\"objects\":{\n")?;
    dump.object(vm.realm.main.header())?;
    let mut result = Ok(());
    vm.heap.for_each_object(|o| {
        if result.is_ok() && o != vm.realm.main.header() {
            result = dump.next_object(o);
        }
    });
    result?;
    dump.roots()?;
    let total = dump.total;
    writeln!(dump.to, ",\"stats\":{{\"size\":{total},\"categories\":{{\"0\":{{\"name\":\"main\",\"size\":{total}}}}}}}}}")
}

struct Dump<'a> {
    vm: &'a Vm,
    to: &'a mut dyn Write,
    names: Names,
    total: usize,
}

/// Collects the references of an object by edge.
struct References<'a> {
    vm: &'a Vm,
    found: Vec<(Edge, Gc<GcHeader>)>,
}

impl Visitor for References<'_> {
    fn value(&mut self, edge: Edge, v: Value) {
        if let Some(o) = v.as_gc() {
            self.found.push((edge, o));
        }
    }
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>) {
        self.found.push((edge, o));
    }
    fn stack_top(&self, t: &Thread) -> *mut Value {
        super::graph::stack_top(self.vm, t)
    }
}

impl Dump<'_> {
    fn next_object(&mut self, o: Gc<GcHeader>) -> io::Result<()> {
        self.to.write_all(b",\n")?;
        self.object(o)
    }
    fn object(&mut self, o: Gc<GcHeader>) -> io::Result<()> {
        let size = self.vm.heap.object_size(o);
        self.total += size;
        write!(self.to, "\"0x{:x}\":{{\"type\":\"{}\",\"cat\":0,\"size\":{size}", o.addr(), o.kind().name())?;
        match o.typed() {
            Some(Object::Str(s)) => {
                self.to.write_all(b",\"data\":")?;
                json::string(self.to, s.bytes())?;
            }
            Some(Object::Table(t)) => self.table(t)?,
            Some(Object::Func(f)) => self.function(f)?,
            Some(Object::UpVal(u)) => self.upvalue(u)?,
            Some(Object::Proto(p)) => self.proto(p)?,
            Some(Object::Thread(t)) => self.thread(t)?,
            Some(Object::Udata(u)) => self.userdata(u)?,
            None => {}
        }
        self.to.write_all(b"}")
    }
    fn member(&mut self, name: &str, o: Gc<GcHeader>) -> io::Result<()> {
        write!(self.to, ",\"{name}\":\"0x{:x}\"", o.addr())
    }
    fn list(&mut self, name: &str, objects: impl Iterator<Item = Gc<GcHeader>>) -> io::Result<()> {
        let mut first = true;
        for o in objects {
            if first {
                write!(self.to, ",\"{name}\":[")?;
            } else {
                self.to.write_all(b",")?;
            }
            first = false;
            write!(self.to, "\"0x{:x}\"", o.addr())?;
        }
        if first { Ok(()) } else { self.to.write_all(b"]") }
    }
    fn references(&self, o: Gc<GcHeader>) -> Vec<(Edge, Gc<GcHeader>)> {
        let mut v = References { vm: self.vm, found: Vec::new() };
        visit_object(o, &mut v);
        v.found
    }
    fn value_or_null(&mut self, v: Value) -> io::Result<()> {
        match v.as_gc() {
            Some(o) => write!(self.to, "\"0x{:x}\"", o.addr()),
            None => self.to.write_all(b"null"),
        }
    }
    fn table(&mut self, t: Gc<Table>) -> io::Result<()> {
        let mut first = true;
        for n in t.nodes() {
            let (key, val) = (n.key.get(), n.val.get());
            // A key without a value may be gone, unless it is a string.
            if !(key.is_gc() || val.is_gc()) || val.is_nil() && !key.is_str() {
                continue;
            }
            self.to.write_all(if first { b",\"pairs\":[" } else { b"," })?;
            first = false;
            self.value_or_null(key)?;
            self.to.write_all(b",")?;
            self.value_or_null(val)?;
        }
        if !first {
            self.to.write_all(b"]")?;
        }
        self.list("array", t.array_part().iter().filter_map(|v| v.get().as_gc()))?;
        match t.meta.get() {
            Some(m) => self.member("metatable", m.header()),
            None => Ok(()),
        }
    }
    fn function(&mut self, f: Gc<Func>) -> io::Result<()> {
        self.member("env", f.env.get().header())?;
        if let Some(name) = self.names.function(f) {
            self.to.write_all(b",\"name\":")?;
            json::string(self.to, name.as_bytes())?;
        }
        if let Some(p) = f.proto() {
            self.member("proto", p.header())?;
        }
        let of_lua = f.upvalues().iter().map(|u| u.get().header());
        let of_native = f.native_upvalues().iter().filter_map(|v| v.get().as_gc());
        self.list("upvalues", of_lua.chain(of_native))
    }
    fn upvalue(&mut self, u: Gc<UpVal>) -> io::Result<()> {
        write!(self.to, ",\"open\":{}", !u.is_closed())?;
        match u.get().as_gc() {
            Some(o) => self.member("object", o),
            None => Ok(()),
        }
    }
    fn proto(&mut self, p: Gc<Proto>) -> io::Result<()> {
        self.source(p, p.first_line)?;
        self.member("chunkname", p.chunkname.header())?;
        let constants = || p.consts.iter().filter_map(|k| k.as_gc());
        let chunkname = core::iter::once(p.chunkname.header());
        self.list("constants", chunkname.chain(constants().filter(|k| k.kind() != Kind::Proto)))?;
        self.list("protos", constants().filter(|k| k.kind() == Kind::Proto))
    }
    fn source(&mut self, p: Gc<Proto>, line: u32) -> io::Result<()> {
        self.to.write_all(b",\"source\":")?;
        json::string(self.to, p.chunkname.bytes())?;
        write!(self.to, ",\"line\":{line}")
    }
    fn thread(&mut self, t: Gc<Thread>) -> io::Result<()> {
        self.member("env", t.env.get().header())?;
        if let Some((p, line)) = running_in(self.vm, t) {
            self.source(p, line)?;
        }
        let references = self.references(t.header());
        let on_stack = |r: &(Edge, Gc<GcHeader>)| if let Edge::Stack(i) = r.0 { Some((i, r.1)) } else { None };
        self.list("stack", references.iter().filter_map(on_stack).map(|s| s.1))?;
        let names = slots(self.vm, t);
        let mut first = true;
        for (i, o) in references.iter().filter_map(on_stack) {
            self.to.write_all(if first { b",\"stacknames\":[" } else { b"," })?;
            first = false;
            match (names.get(&i), o.typed()) {
                (Some(SlotName::Local(name)), _) => json::string(self.to, name.as_bytes())?,
                (Some(SlotName::Frame(line)), Some(Object::Func(f))) => self.frame(f, *line)?,
                _ => self.to.write_all(b"null")?,
            }
        }
        if !first {
            self.to.write_all(b"]")?;
        }
        match t.resumer.get() {
            Some(r) => self.member("resumer", r.header()),
            None => Ok(()),
        }
    }
    fn frame(&mut self, f: Gc<Func>, line: u32) -> io::Result<()> {
        let source = f.proto().map_or("=[C]".into(), |p| p.chunkname.to_str_lossy().into_owned());
        let name = self.names.function(f).unwrap_or_default();
        json::string(self.to, format!("frame:{source}:{line}:{name}").as_bytes())
    }
    fn userdata(&mut self, u: Gc<Udata>) -> io::Result<()> {
        self.to.write_all(b",\"tag\":0")?;
        if let Some(m) = u.meta.get() {
            self.member("metatable", m.header())?;
        }
        self.member("env", u.env.get().header())?;
        match u.anchor.get().as_gc() {
            Some(o) => self.member("anchor", o),
            None => Ok(()),
        }
    }
    fn roots(&mut self) -> io::Result<()> {
        let vm = self.vm;
        write!(self.to, "\n}},\n\"roots\":{{\"mainthread\":\"0x{:x}\"", vm.realm.main.addr())?;
        self.member("registry", vm.realm.registry.header())?;
        self.to.write_all(b"}")?;
        let mut others = Vec::new();
        super::graph::for_each_root(vm, |_, o| others.push(o));
        vm.heap.for_each_object(|o| {
            if o.marked.get() & FIXED != 0 {
                others.push(o);
            }
        });
        self.list("otherroots", others.into_iter())
    }
}
