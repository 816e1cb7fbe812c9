//! Names of objects that have none themselves.
//!
//! A table or a function is called after the global or the field of a loaded module that holds it. A metatable, or the table that its
//! `__index` leads to, may be held by a local variable instead: it is called after that, as an upvalue or on a stack, or else after its
//! methods (`function Account:open()` is one of `Account`). Stack slots are called after the local variables that they are.

use super::graph::stack_objects;
use super::interner::Interner;
use core::iter::once;
use perilune_vm::Vm;
use perilune_vm::interp::defname::names_of_children;
use perilune_vm::interp::frames::Level;
use perilune_vm::interrupt::{Interrupted, Poll};
use perilune_vm::object::{Func, Gc, Object, Proto, Table, Thread};
use perilune_vm::stdlib::{Builtin, LOADED};
use perilune_vm::text::chunk::chunk_id;
use perilune_vm::value::Value;
use std::collections::{BTreeMap, HashMap};

/// What a slot of a stack is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotName {
    /// The function of a frame, and the line it is at.
    Frame(u32),
    /// A local variable.
    Local(String),
}

/// The names of tables and functions.
#[derive(Default)]
pub struct Names {
    by_address: HashMap<u64, u32>,
    texts: Interner,
}

impl Names {
    /// Looks at the globals and the loaded modules, and for classes at variables and methods.
    ///
    /// # Errors
    /// An interrupt waits.
    pub fn new(vm: &Vm, poll: Poll<'_>) -> Result<Names, Interrupted> {
        let mut names = Names::default();
        names.note_fields_of_modules(vm, poll);
        names.note_classes(vm, poll)?;
        Ok(names)
    }
    /// Looks at the globals and the loaded modules alone.
    pub fn of_fields(vm: &Vm) -> Names {
        let mut names = Names::default();
        names.note_fields_of_modules(vm, Poll::Never);
        names
    }
    fn note_fields_of_modules(&mut self, vm: &Vm, poll: Poll<'_>) {
        let find = |t: Gc<Table>, name: &[u8]| {
            t.nodes().iter().map(|n| n.key.get()).find(|k| k.as_str().is_some_and(|s| s.bytes() == name))
        };
        let loaded = find(vm.realm.registry, LOADED).and_then(|k| vm.realm.registry.get(k).as_table());
        let other_table = |v: Value| v.as_table().filter(|t| *t != vm.realm.globals);
        let modules = loaded.into_iter().flat_map(|t| fields(t, poll)).filter(|(_, v)| other_table(*v).is_some());
        for (name, v) in modules.chain(fields(vm.realm.globals, poll)) {
            self.note(&name, v);
            for (field, v) in other_table(v).into_iter().flat_map(|t| fields(t, poll)) {
                self.note(&format!("{name}.{field}"), v);
            }
        }
    }
    /// Names metatables, and what their `__index` leads to, that no global and no module holds.
    fn note_classes(&mut self, vm: &Vm, poll: Poll<'_>) -> Result<(), Interrupted> {
        let by_address = |t: Gc<Table>| (t.addr(), t);
        let mut classes = BTreeMap::new();
        let mut functions = Vec::new();
        let mut threads = Vec::new();
        let mut defined = HashMap::new();
        vm.heap.try_for_each_object(|o| {
            match o.typed() {
                Some(Object::Table(t)) => classes.extend(t.meta.get().into_iter().flat_map(class_tables).map(by_address)),
                Some(Object::Udata(u)) => classes.extend(u.meta.get().into_iter().flat_map(class_tables).map(by_address)),
                Some(Object::Func(f)) if f.proto().is_some() => functions.push(f),
                Some(Object::Thread(t)) => threads.push(t),
                Some(Object::Proto(p)) => {
                    defined.extend(names_of_children(p).into_iter().map(|(child, name)| (child.addr(), name)))
                }
                _ => {}
            }
            poll.look()
        })?;
        classes.retain(|_, t| self.table(*t).is_none());
        if classes.is_empty() {
            return Ok(());
        }
        let is_class = |v: Value| v.as_table().is_some_and(|t| classes.contains_key(&t.addr()));
        for f in functions {
            poll.look()?;
            let Some(p) = f.proto() else { continue };
            for (name, upvalue) in p.uv_names.iter().zip(f.upvalues()).filter(|(_, u)| is_class(u.get().get())) {
                self.note(&String::from_utf8_lossy(name), upvalue.get().get());
            }
        }
        for t in threads {
            poll.look()?;
            let names = slots(vm, t);
            for (i, o) in stack_objects(vm, t) {
                if let (Some(SlotName::Local(name)), Some(Object::Table(t))) = (names.get(&i), o.typed())
                    && is_class(Value::table(t))
                {
                    self.note(name, Value::table(t));
                }
            }
        }
        for class in classes.into_values() {
            poll.look()?;
            let protos = fields(class, poll).filter_map(|(_, v)| v.as_func()?.proto());
            // "Account.open": what is before the name of the method.
            let owners = protos.filter_map(|p| {
                let name = String::from_utf8_lossy(defined.get(&p.addr())?).into_owned();
                Some(name.rsplit_once('.')?.0.to_owned())
            });
            if let Some(owner) = owners.min() {
                self.note(&owner, Value::table(class));
            }
        }
        poll.look()
    }
    fn note(&mut self, name: &str, v: Value) {
        if let Some(o) = v.as_gc().filter(|_| v.is_table() || v.is_func()) {
            self.by_address.entry(o.addr()).or_insert_with(|| self.texts.intern(name));
        }
    }
    /// What a function is called.
    pub fn function(&self, f: Gc<Func>) -> Option<String> {
        if let Some(name) = self.at(f.addr()) {
            return Some(name.to_owned());
        }
        let builtin = Builtin::from_id(f.ffid()).filter(|b| b.native().is_some())?;
        Some(builtin.name().to_owned())
    }
    /// What a table is called that a global or a module holds.
    pub fn table(&self, t: Gc<Table>) -> Option<&str> {
        self.at(t.addr())
    }
    fn at(&self, address: u64) -> Option<&str> {
        self.by_address.get(&address).map(|n| self.texts.get(*n))
    }
    /// The class of something with this metatable: its `__name`, or the name of the metatable, or of its `__index`.
    pub fn class(&self, meta: Gc<Table>) -> Option<String> {
        for n in meta.nodes() {
            if n.key.get().as_str().is_some_and(|s| s.bytes() == b"__name")
                && let Some(name) = n.val.get().as_str()
            {
                return Some(name.to_str_lossy().into_owned());
            }
        }
        if let Some(name) = self.table(meta) {
            return Some(name.to_owned());
        }
        class_tables(meta).nth(1).and_then(|index| self.table(index)).map(str::to_owned)
    }
}

/// A metatable, and the table that its `__index` leads to.
pub fn class_tables(meta: Gc<Table>) -> impl Iterator<Item = Gc<Table>> {
    let index = meta.nodes().iter().find(|n| n.key.get().as_str().is_some_and(|s| s.bytes() == b"__index"));
    once(meta).chain(index.and_then(|n| n.val.get().as_table()))
}

/// The fields of a table with names of a sensible length.
fn fields(t: Gc<Table>, poll: Poll<'_>) -> impl Iterator<Item = (String, Value)> {
    (0..t.nodes().len()).take_while(move |_| poll.look().is_ok()).filter_map(move |i| {
        let n = t.nodes().get(i)?;
        let key = n.key.get().as_str().filter(|s| s.len() <= 64 && !n.val.get().is_nil())?;
        Some((key.to_str_lossy().into_owned(), n.val.get()))
    })
}

/// "chunk:line" of where a function is defined.
pub fn defined_at(p: Gc<Proto>) -> String {
    format!("{}:{}", String::from_utf8_lossy(&chunk_id(p.chunkname.bytes())), p.first_line)
}

/// The first Lua function on a stack: its chunk and the line it is at.
pub fn running_in(vm: &Vm, t: Gc<Thread>) -> Option<(Gc<Proto>, u32)> {
    levels(vm, t).find_map(|l| Some((l.func.proto()?, l.line()?)))
}

fn levels(vm: &Vm, t: Gc<Thread>) -> impl Iterator<Item = Level> {
    core::iter::successors(Level::innermost(vm, t), move |l| l.below())
}

/// The names of the slots of a stack that have some, by number of the slot.
pub fn slots(vm: &Vm, t: Gc<Thread>) -> HashMap<u32, SlotName> {
    let slot = |p: *mut Value| ((p as usize).wrapping_sub(t.stack.get() as usize) / size_of::<Value>()) as u32;
    let mut names = HashMap::new();
    for l in levels(vm, t) {
        let base = slot(l.base);
        names.insert(base.saturating_sub(2), SlotName::Frame(l.line().unwrap_or(0)));
        let (Some(p), Some(pc)) = (l.func.proto(), l.pc) else { continue };
        for i in 0..p.framesize() {
            if let Some(name) = p.local_name(i, pc) {
                names.insert(base + i, SlotName::Local(String::from_utf8_lossy(name).into_owned()));
            }
        }
    }
    names
}
