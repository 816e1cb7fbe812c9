//! Names of objects that have none themselves: functions and metatables by the global or the field of a loaded module that holds
//! them, stack slots by the local variable that is there.

use perilune_vm::Vm;
use perilune_vm::interp::frames::Level;
use perilune_vm::object::{Func, Gc, Proto, Table, Thread};
use perilune_vm::stdlib::{Builtin, LOADED};
use perilune_vm::text::chunk::chunk_id;
use perilune_vm::value::Value;
use std::collections::HashMap;

/// What a slot of a stack is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SlotName {
    /// The function of a frame, and the line it is at.
    Frame(u32),
    /// A local variable.
    Local(String),
}

/// The names that fields give.
#[derive(Default)]
pub struct Names {
    by_address: HashMap<u64, String>,
}

impl Names {
    /// Looks at the globals and the loaded modules.
    pub fn new(vm: &Vm) -> Names {
        let mut names = Names::default();
        let find = |t: Gc<Table>, name: &[u8]| {
            t.nodes().iter().map(|n| n.key.get()).find(|k| k.as_str().is_some_and(|s| s.bytes() == name))
        };
        let loaded = find(vm.realm.registry, LOADED).and_then(|k| vm.realm.registry.get(k).as_table());
        let modules = loaded.into_iter().flat_map(fields).filter_map(|(n, v)| v.as_table().map(|t| (n, t)));
        for (module, t) in modules.filter(|(_, t)| *t != vm.realm.globals) {
            names.note(&module, Value::table(t));
            for (field, v) in fields(t) {
                names.note(&format!("{module}.{field}"), v);
            }
        }
        for (name, v) in fields(vm.realm.globals) {
            names.note(&name, v);
            if let Some(t) = v.as_table().filter(|t| *t != vm.realm.globals) {
                for (field, v) in fields(t) {
                    names.note(&format!("{name}.{field}"), v);
                }
            }
        }
        names
    }
    fn note(&mut self, name: &str, v: Value) {
        if let Some(o) = v.as_gc().filter(|_| v.is_table() || v.is_func()) {
            self.by_address.entry(o.addr()).or_insert_with(|| name.to_owned());
        }
    }
    /// What a function is called.
    pub fn function(&self, f: Gc<Func>) -> Option<String> {
        if let Some(name) = self.by_address.get(&f.addr()) {
            return Some(name.clone());
        }
        let builtin = Builtin::from_id(f.ffid()).filter(|b| b.native().is_some())?;
        Some(builtin.name().to_owned())
    }
    /// What a table is called that a global or a module holds.
    pub fn table(&self, t: Gc<Table>) -> Option<&str> {
        self.by_address.get(&t.addr()).map(String::as_str)
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
        let index = meta.nodes().iter().find(|n| n.key.get().as_str().is_some_and(|s| s.bytes() == b"__index"))?;
        self.table(index.val.get().as_table()?).map(str::to_owned)
    }
}

/// The fields of a table with names of a sensible length.
fn fields(t: Gc<Table>) -> Vec<(String, Value)> {
    let named = |n: &perilune_vm::object::Node| {
        let key = n.key.get().as_str().filter(|s| s.len() <= 64)?;
        Some((key.to_str_lossy().into_owned(), n.val.get()))
    };
    t.nodes().iter().filter(|n| !n.val.get().is_nil()).filter_map(named).collect()
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
