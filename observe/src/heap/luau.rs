//! The JSON dump of Luau: one object with the members `objects`, `roots` and `stats`.
//!
//! Every object has `type`, `cat`, `size` and what its type has beside. Members that Luau does not have: `resumer` of a thread;
//! `env` and `anchor` of a userdata; `chunkname` of a prototype; beside `roots` `otherroots`, what
//! else keeps objects alive. Luau's tools pass over them.

use super::graph::{Weakness, stack_objects};
use super::names::{Names, SlotName, running_in, slots};
use crate::json::{self, List, Text, nonempty};
use core::cell::Cell;
use core::iter::once;
use perilune_vm::Vm;
use perilune_vm::gc::color::FIXED;
use perilune_vm::interrupt::Poll;
use perilune_vm::object::{Func, Gc, GcHeader, Kind, Object, Proto, Table, Thread, Udata, UpVal};
use perilune_vm::value::Value;
use serde::Serialize;
use serde::ser::{Error, SerializeMap, Serializer};
use std::io::{self, Write};

/// Writes the dump.
///
/// # Errors
/// Writing fails, or an interrupt waits.
pub fn write(vm: &Vm, to: &mut dyn Write, poll: Poll<'_>) -> io::Result<()> {
    json::write(to, 2, &Dump { vm, names: Names::new(vm, poll)?, total: Cell::new(0), poll })
}

/// The whole dump. Objects are serialized while the heap is walked.
struct Dump<'a> {
    vm: &'a Vm,
    names: Names,
    /// Bytes of the objects that have been written.
    total: Cell<usize>,
    poll: Poll<'a>,
}

/// How objects refer to one another.
struct Address(Gc<GcHeader>);

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("0x{:x}", self.0.addr()))
    }
}

#[derive(Serialize)]
struct Roots {
    mainthread: Address,
    registry: Address,
}

#[derive(Serialize)]
struct Stats {
    size: usize,
    categories: Categories,
}

#[derive(Serialize)]
struct Categories {
    #[serde(rename = "0")]
    all: Category,
}

#[derive(Serialize)]
struct Category {
    name: &'static str,
    size: usize,
}

impl Serialize for Dump<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let vm = self.vm;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("objects", &Objects(self))?;
        let roots = Roots { mainthread: Address(vm.realm.main.header()), registry: Address(vm.realm.registry.header()) };
        map.serialize_entry("roots", &roots)?;
        let mut others = Vec::new();
        super::graph::for_each_root(vm, |_, o| others.push(o));
        let all = vm.heap.try_for_each_object(|o| {
            if o.marked.get() & FIXED != 0 {
                others.push(o);
            }
            self.poll.look()
        });
        all.map_err(S::Error::custom)?;
        map.serialize_entry("otherroots", &List(others.into_iter().map(Address)))?;
        let size = self.total.get();
        map.serialize_entry("stats", &Stats { size, categories: Categories { all: Category { name: "main", size } } })?;
        map.end()
    }
}

/// The objects by address, the main thread first.
struct Objects<'a>(&'a Dump<'a>);

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (dump, main) = (self.0, self.0.vm.realm.main.header());
        let mut map = to.serialize_map(None)?;
        map.serialize_entry(&Address(main), &Entry { dump, object: main })?;
        dump.vm.heap.try_for_each_object(|o| {
            if o != main {
                map.serialize_entry(&Address(o), &Entry { dump, object: o })?;
            }
            dump.poll.look().map_err(S::Error::custom)
        })?;
        map.end()
    }
}

struct Entry<'a> {
    dump: &'a Dump<'a>,
    object: Gc<GcHeader>,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Entry { dump, object: o } = *self;
        let size = dump.vm.heap.object_size(o);
        dump.total.set(dump.total.get() + size);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", o.kind().name())?;
        map.serialize_entry("cat", &0)?;
        map.serialize_entry("size", &size)?;
        match o.typed() {
            Some(Object::Str(s)) => map.serialize_entry("data", &Text(s.bytes()))?,
            Some(Object::Table(t)) => dump.table(&mut map, t)?,
            Some(Object::Func(f)) => dump.function(&mut map, f)?,
            Some(Object::UpVal(u)) => upvalue(&mut map, u)?,
            Some(Object::Proto(p)) => proto(&mut map, p)?,
            Some(Object::Thread(t)) => dump.thread(&mut map, t)?,
            Some(Object::Udata(u)) => userdata(&mut map, u)?,
            Some(Object::Cdata(_)) | None => {}
        }
        map.end()
    }
}

/// Writes a reference to an object, if there is one.
fn reference<M: SerializeMap>(to: &mut M, name: &'static str, o: Option<Gc<GcHeader>>) -> Result<(), M::Error> {
    o.map_or(Ok(()), |o| to.serialize_entry(name, &Address(o)))
}

/// Writes references to objects, if there are any.
fn references<M: SerializeMap>(
    to: &mut M,
    name: &'static str,
    objects: impl Iterator<Item = Gc<GcHeader>> + Clone,
) -> Result<(), M::Error> {
    nonempty(to, name, objects.map(Address))
}

fn upvalue<M: SerializeMap>(to: &mut M, u: Gc<UpVal>) -> Result<(), M::Error> {
    to.serialize_entry("open", &!u.is_closed())?;
    reference(to, "object", u.get().as_gc())
}

fn proto<M: SerializeMap>(to: &mut M, p: Gc<Proto>) -> Result<(), M::Error> {
    source(to, p, p.first_line)?;
    let chunkname = p.chunkname.header();
    reference(to, "chunkname", Some(chunkname))?;
    let constants = p.consts.iter().filter_map(|k| k.as_gc());
    references(to, "constants", once(chunkname).chain(constants.clone().filter(|k| k.kind() != Kind::Proto)))?;
    references(to, "protos", constants.filter(|k| k.kind() == Kind::Proto))
}

fn source<M: SerializeMap>(to: &mut M, p: Gc<Proto>, line: u32) -> Result<(), M::Error> {
    to.serialize_entry("source", &Text(p.chunkname.bytes()))?;
    to.serialize_entry("line", &line)
}

fn userdata<M: SerializeMap>(to: &mut M, u: Gc<Udata>) -> Result<(), M::Error> {
    to.serialize_entry("tag", &0)?;
    reference(to, "metatable", u.meta.get().map(Gc::header))?;
    reference(to, "env", Some(u.env.get().header()))?;
    reference(to, "anchor", u.anchor.get().as_gc())
}

impl Dump<'_> {
    fn table<M: SerializeMap>(&self, to: &mut M, t: Gc<Table>) -> Result<(), M::Error> {
        // What a table does not keep alive is not its: Luau's tools count what a table refers to as part of it. Strings are always kept.
        let weak = Weakness::of(self.vm, t);
        let goes_on = || self.poll.look().is_ok();
        let nodes = t.nodes().iter().take_while(|_| goes_on()).map(|n| (n.key.get(), n.val.get()));
        let held = |v: Value, weak: bool| v.as_gc().filter(|_| !weak || v.is_str());
        // A key without a value may be gone, unless it is a string.
        let pairs = nodes
            .filter(|(key, val)| !val.is_nil() || key.is_str())
            .map(|(key, val)| (held(key, weak.keys), held(val, weak.values)));
        let pairs = pairs.filter(|(key, val)| key.is_some() || val.is_some()).flat_map(|(key, val)| [key, val]);
        nonempty(to, "pairs", pairs.map(|o| o.map(Address)))?;
        references(to, "array", t.array_part().iter().take_while(|_| goes_on()).filter_map(|v| held(v.get(), weak.values)))?;
        reference(to, "metatable", t.meta.get().map(Gc::header))
    }
    fn function<M: SerializeMap>(&self, to: &mut M, f: Gc<Func>) -> Result<(), M::Error> {
        reference(to, "env", Some(f.env.get().header()))?;
        if let Some(name) = self.names.function(f) {
            to.serialize_entry("name", &name)?;
        }
        reference(to, "proto", f.proto().map(Gc::header))?;
        let of_lua = f.upvalues().iter().map(|u| u.get().header());
        let of_native = f.native_upvalues().iter().filter_map(|v| v.get().as_gc());
        references(to, "upvalues", of_lua.chain(of_native))
    }
    fn thread<M: SerializeMap>(&self, to: &mut M, t: Gc<Thread>) -> Result<(), M::Error> {
        reference(to, "env", Some(t.env.get().header()))?;
        if let Some((p, line)) = running_in(self.vm, t) {
            source(to, p, line)?;
        }
        let (stack, names) = (stack_objects(self.vm, t), slots(self.vm, t));
        references(to, "stack", stack.iter().map(|slot| slot.1))?;
        nonempty(
            to,
            "stacknames",
            stack.iter().map(|(i, o)| match (names.get(i), o.typed()) {
                (Some(SlotName::Local(name)), _) => Some(name.clone()),
                (Some(SlotName::Frame(line)), Some(Object::Func(f))) => Some(self.frame(f, *line)),
                _ => None,
            }),
        )?;
        reference(to, "resumer", t.resumer.get().map(Gc::header))
    }
    /// A frame's function in the list of names of stack slots.
    fn frame(&self, f: Gc<Func>, line: u32) -> String {
        let source = f.proto().map_or("=[C]".into(), |p| p.chunkname.to_str_lossy().into_owned());
        let name = self.names.function(f).unwrap_or_default();
        format!("frame:{source}:{line}:{name}")
    }
}
