//! Which guards failed, how often, and for what values.

use super::report::{FailedGuard, Place, Seen};
use crate::heap::names::{Names, class_tables};
use perilune_jit::stdlib::function_name;
use perilune_jit::view::GuardView;
use perilune_recorder::ir::print::quoted;
use perilune_vm::object::{Gc, Proto, ShapeId, Table};
use perilune_vm::stdlib::put_value;
use perilune_vm::{Value, Vm};
use std::collections::HashMap;

/// Different values that are told apart for one guard; what comes later is counted together.
const MAX_VALUES: usize = 6;
/// Metatables whose names are looked up. Looking one up takes some time, since the globals and modules are walked.
const MAX_CLASSES: usize = 1000;
/// Keys of a table, and bytes of a string, that are shown.
const SHOWN_KEYS: usize = 4;
const SHOWN_BYTES: usize = 30;

/// What tells values apart, cheaply: it is asked at each exit.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// A table of a class, by the address of its metatable.
    Class(u64),
    /// Another table, by its shape.
    Shape(ShapeId),
    /// A function, by the address of its prototype, or itself.
    Function(u64),
    /// A string, boolean or nil.
    Value(u64),
    /// A value of another type: numbers are mostly different each time.
    Type(&'static str),
}

/// The failures of one guard.
#[derive(Clone)]
pub struct Failures {
    guard: GuardView,
    place: Option<Place>,
    count: u64,
    values: Vec<(Key, Seen)>,
    others: u64,
}

impl Failures {
    /// A guard that has not failed.
    pub fn new(guard: GuardView, place: Option<Place>) -> Failures {
        Failures { guard, place, count: 0, values: Vec::new(), others: 0 }
    }
    /// Which instruction it is.
    pub fn index(&self) -> usize {
        self.guard.index
    }
    /// It failed, for a value if that is known.
    pub fn add(&mut self, vm: &Vm, names: &mut ValueNames, witness: Option<Value>) {
        self.count += 1;
        let Some(v) = witness else { return };
        let key = key(v);
        if let Some((_, seen)) = self.values.iter_mut().find(|(k, _)| *k == key) {
            seen.count += 1;
        } else if self.values.len() < MAX_VALUES {
            let kind = if v.as_int().is_some() { "integer" } else { v.type_name() };
            self.values.push((key, Seen { what: names.describe(vm, v), kind, count: 1 }));
        } else {
            self.others += 1;
        }
    }
    /// For the report.
    pub fn report(&self) -> FailedGuard {
        let mut seen: Vec<Seen> = self.values.iter().map(|(_, seen)| seen.clone()).collect();
        seen.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.what.cmp(&b.what)));
        FailedGuard {
            number: format!("{:04}", self.guard.index),
            kind: self.guard.kind.name(),
            condition: self.guard.condition.clone(),
            place: self.place,
            failed: self.count,
            seen,
            others: self.others,
        }
    }
}

fn key(v: Value) -> Key {
    if let Some(t) = v.as_table() {
        return t.meta.get().map_or_else(|| Key::Shape(t.shape.get()), |m| Key::Class(m.addr()));
    }
    match v.as_func() {
        Some(f) => Key::Function(f.proto().map_or(f.addr(), Gc::addr)),
        None if v.as_number().is_some() || v.as_gc().is_some_and(|_| !v.is_str()) => Key::Type(v.type_name()),
        None => Key::Value(v.bits()),
    }
}

/// Names of values for people, without addresses.
#[derive(Clone, Default)]
pub struct ValueNames {
    classes: HashMap<u64, Option<String>>,
    /// What functions are called where they are defined, by prototype.
    defined: HashMap<*const Proto, String>,
}

impl ValueNames {
    /// A function was parsed: those that it defines have names.
    pub fn note(&mut self, proto: Gc<Proto>) {
        let names = perilune_vm::interp::defname::names_of_children(proto);
        self.defined
            .extend(names.into_iter().map(|(p, name)| (p.as_ptr().cast_const(), String::from_utf8_lossy(&name).into_owned())));
    }
    /// A function is freed: its address may become another's.
    pub fn forget(&mut self, proto: Gc<Proto>) {
        self.defined.remove(&proto.as_ptr().cast_const());
    }
    /// What a function is called where it is defined.
    pub fn function(&self, proto: Gc<Proto>) -> Option<&str> {
        self.defined.get(&proto.as_ptr().cast_const()).map(String::as_str)
    }
    /// Names of objects as they are now.
    pub fn of_objects<'a>(&'a self, vm: &'a Vm) -> impl Fn(Value) -> Option<String> + 'a {
        let fields = core::cell::OnceCell::new();
        move |v| {
            let t = v.as_table()?;
            let fields = fields.get_or_init(|| Names::of_fields(vm));
            let class = || t.meta.get().filter(|m| *m != t).and_then(|m| fields.class(m).or_else(|| self.by_methods(m)));
            let own = fields.table(t).map(str::to_owned).or_else(|| self.by_method(t)).or_else(|| fields.class(t));
            own.or_else(|| Some(format!("the {} that was recorded", class()?)))
        }
    }
    /// What a table is called that holds methods: `Point`, for a function that is defined as `Point.length`.
    fn by_method(&self, t: Gc<Table>) -> Option<String> {
        let protos = t.nodes().iter().filter_map(|n| n.val.get().as_func()?.proto());
        protos.filter_map(|p| Some(self.function(p)?.rsplit_once('.')?.0.to_owned())).min()
    }
    fn by_methods(&self, meta: Gc<Table>) -> Option<String> {
        class_tables(meta).find_map(|t| self.by_method(t))
    }
    /// The class of objects with this metatable: as in heap snapshots, or else by its methods.
    fn class(&mut self, vm: &Vm, meta: Gc<Table>) -> Option<String> {
        if let Some(known) = self.classes.get(&meta.addr()) {
            return known.clone();
        }
        if self.classes.len() >= MAX_CLASSES {
            return None;
        }
        let name = Names::of_fields(vm).class(meta).or_else(|| self.by_methods(meta));
        self.classes.insert(meta.addr(), name.clone());
        name
    }
    fn describe(&mut self, vm: &Vm, v: Value) -> String {
        if let Some(s) = v.as_str() {
            let bytes = s.bytes();
            return if bytes.len() > SHOWN_BYTES { quoted(&bytes[..SHOWN_BYTES]) + "~" } else { quoted(bytes) };
        }
        if let Some(f) = v.as_func() {
            let at = function_name(f);
            return match f.proto().and_then(|p| self.function(p)) {
                Some(name) => format!("{name} ({at})"),
                None => at,
            };
        }
        if let Some(t) = v.as_table() {
            let class = t.meta.get().and_then(|m| self.class(vm, m));
            return class.unwrap_or_else(|| table(t));
        }
        match v.as_number() {
            Some(_) if v.as_int().is_some() => "an integer".into(),
            Some(n) if n.fract() != 0.0 || !n.is_finite() => "a number with a fraction".into(),
            Some(_) => "a number".into(),
            None if v.is_nil() || v.is_bool() => {
                let mut text = Vec::new();
                put_value(&mut text, v);
                String::from_utf8_lossy(&text).into_owned()
            }
            None => format!("a {}", v.type_name()),
        }
    }
}

/// A table by its keys.
fn table(t: Gc<Table>) -> String {
    let mut keys: Vec<String> = t
        .nodes()
        .iter()
        .filter(|n| !n.val.get().is_nil())
        .filter_map(|n| Some(n.key.get().as_str()?.to_str_lossy().into_owned()))
        .collect();
    let kind = if t.meta.get().is_some() { "a table with a metatable" } else { "a table" };
    if keys.is_empty() {
        return kind.to_owned();
    }
    keys.sort();
    let more = if keys.len() > SHOWN_KEYS { ", ..." } else { "" };
    keys.truncate(SHOWN_KEYS);
    format!("{kind} {{{}{more}}}", keys.join(", "))
}
