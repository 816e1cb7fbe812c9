//! The references of objects with names, and what keeps objects alive.

use super::names::{Names, SlotName, slots};
use super::values::SHOWN_ELEMENTS;
use perilune_jit::Jit;
use perilune_jit::view::TraceView;
use perilune_vm::Vm;
use perilune_vm::gc::color::FIXED;
use perilune_vm::gc::visit::visit_object;
use perilune_vm::gc::{Edge, Visitor};
use perilune_vm::interrupt::{Interrupted, Poll};
use perilune_vm::meta::MM;
use perilune_vm::object::{Gc, GcHeader, Kind, Object, Str, Table, Thread};
use perilune_vm::value::Value;
use std::collections::HashMap;

/// What kind of reference it is, as a snapshot says it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// What a function or a frame sees.
    Context = 0,
    /// An element of an array.
    Element = 1,
    /// A field.
    Property = 2,
    /// Of the VM's own making.
    Internal = 3,
    /// Does not keep alive.
    Weak = 6,
}

/// The name of a reference.
#[derive(Clone, Debug)]
pub enum LinkName {
    /// An index.
    Index(u32),
    /// A string of the program.
    Str(Gc<Str>),
    /// A text.
    Text(&'static str),
    /// A text and a number.
    Numbered(&'static str, u32),
    /// The name of a variable.
    Variable(String),
    /// Another value as a key.
    Key(Value),
}

/// A reference.
pub struct Link {
    /// See [`LinkKind`].
    pub kind: LinkKind,
    /// Its name.
    pub name: LinkName,
    /// What it refers to.
    pub to: Target,
}

/// What is referred to.
#[derive(Copy, Clone, Debug)]
pub enum Target {
    /// An object.
    Object(Gc<GcHeader>),
    /// The trace with this position among the traces.
    Trace(usize),
    /// A number or a boolean.
    Value(Value),
}

/// The end of a stack in use.
pub fn stack_top(vm: &Vm, t: &Thread) -> *mut Value {
    if core::ptr::eq(&raw const *vm.cur, t) { vm.top } else { t.top.get() }
}

/// Calls `f` for what keeps objects alive: registry, main coroutine, and what the VM itself needs. (Strings that are never freed are
/// roots as well.)
pub fn for_each_root(vm: &Vm, mut f: impl FnMut(&'static str, Gc<GcHeader>)) {
    f("registry", vm.realm.registry.header());
    f("main thread", vm.realm.main.header());
    if vm.cur != vm.realm.main {
        f("running thread", vm.cur.header());
    }
    f("globals", vm.realm.globals.header());
    let mut value = |name, v: Value| {
        if let Some(o) = v.as_gc() {
            f(name, o);
        }
    };
    for v in vm.realm.io_defaults {
        value("default file", v);
    }
    value("error", vm.errors.value);
    for kept in vm.compilation_cache.kept() {
        for v in [Value::str(kept.source), Value::str(kept.name), Value::proto(kept.proto)] {
            value("compilation cache", v);
        }
    }
    vm.host.roots.for_each(|v| value("handle of the host", v));
    vm.host.event_handlers.iter().for_each(|(_, v)| value("event handler", *v));
    vm.realm.base_meta.iter().flatten().for_each(|t| value("metatable of a type", Value::table(*t)));
    vm.heap.for_each_finalizer(&mut value);
    if let Some(ffi) = &vm.ffi {
        ffi.for_each_object(|v| value("FFI", v));
    }
}

/// The graph.
pub struct Graph<'a> {
    /// The state.
    pub vm: &'a Vm,
    /// Names that fields give.
    pub names: Names,
    /// The traces.
    pub traces: Vec<TraceView>,
    /// What ends the walks.
    pub poll: Poll<'a>,
    /// Positions of traces by the address of the function that they live as long as.
    owned: HashMap<u64, Vec<usize>>,
}

/// What a table does not keep alive.
#[derive(Copy, Clone, Default)]
pub struct Weakness {
    /// Its keys.
    pub keys: bool,
    /// Its values.
    pub values: bool,
}

impl Weakness {
    /// As the metatable's `__mode` says.
    pub fn of(vm: &Vm, t: Gc<Table>) -> Weakness {
        let mode = t.meta.get().zip(vm.realm.meta_names[MM::Mode as usize]).and_then(|(m, name)| m.get_str(name).as_str());
        mode.map_or(Weakness::default(), |m| Weakness { keys: m.bytes().contains(&b'k'), values: m.bytes().contains(&b'v') })
    }
}

impl<'a> Graph<'a> {
    /// The graph of a state.
    ///
    /// # Errors
    /// An interrupt waits.
    pub fn new(vm: &'a Vm, poll: Poll<'a>) -> Result<Graph<'a>, Interrupted> {
        let mut traces = Vec::new();
        if let Some(jit) = Jit::of(vm) {
            jit.for_each_trace(|t| traces.push(t));
        }
        let mut owned: HashMap<u64, Vec<usize>> = HashMap::new();
        for (i, t) in traces.iter().enumerate() {
            owned.entry(t.owner.addr()).or_default().push(i);
        }
        Ok(Graph { vm, names: Names::new(vm, poll)?, traces, poll, owned })
    }
    /// Calls `f` for each root.
    pub fn roots(&self, f: &mut impl FnMut(Link)) {
        let internal = |name, o| Link { kind: LinkKind::Internal, name: LinkName::Text(name), to: Target::Object(o) };
        for_each_root(self.vm, |name, o| f(internal(name, o)));
        // The walk over the nodes looks for the interrupt next, and fails.
        let _ = self.vm.heap.try_for_each_object(|o| {
            if o.marked.get() & FIXED != 0 {
                f(internal("name", o));
            }
            self.poll.look()
        });
    }
    /// Calls `f` for each reference of an object.
    pub fn links(&self, o: Gc<GcHeader>, f: &mut impl FnMut(Link)) {
        let stack = if let Some(Object::Thread(t)) = o.typed() { slots(self.vm, t) } else { HashMap::new() };
        let weak = if let Some(Object::Table(t)) = o.typed() { Weakness::of(self.vm, t) } else { Weakness::default() };
        visit_object(o, &mut Links { graph: self, from: o, stack, weak, f });
        if o.kind() == Kind::Proto {
            for &i in self.owned.get(&o.addr()).into_iter().flatten() {
                f(Link {
                    kind: LinkKind::Internal,
                    name: LinkName::Numbered("trace", self.traces[i].number.get()),
                    to: Target::Trace(i),
                });
            }
        }
    }
    /// Calls `f` for each reference of a trace.
    pub fn trace_links(&self, i: usize, f: &mut impl FnMut(Link)) {
        let t = &self.traces[i];
        let protos = t.protos.iter().map(|p| ("prototype", p.header()));
        let constants = t.constants.iter().filter_map(|k| k.as_gc()).map(|o| ("constant", o));
        for (n, (name, o)) in protos.chain(constants).enumerate() {
            f(Link { kind: LinkKind::Internal, name: LinkName::Numbered(name, n as u32), to: Target::Object(o) });
        }
    }
}

struct Links<'a, 'b, F> {
    graph: &'a Graph<'b>,
    from: Gc<GcHeader>,
    stack: HashMap<u32, SlotName>,
    weak: Weakness,
    f: &'a mut F,
}

impl<F: FnMut(Link)> Links<'_, '_, F> {
    fn upvalue_name(&self, i: u32) -> LinkName {
        let proto = if let Some(Object::Func(f)) = self.from.typed() { f.proto() } else { None };
        let name = proto.and_then(|p| p.uv_names.get(i as usize).map(|n| String::from_utf8_lossy(n).into_owned()));
        name.map_or(LinkName::Numbered("upvalue", i), LinkName::Variable)
    }
    fn stack_name(&self, i: u32) -> LinkName {
        match self.stack.get(&i) {
            Some(SlotName::Local(name)) => LinkName::Variable(name.clone()),
            Some(SlotName::Frame(_)) => LinkName::Numbered("frame at", i),
            None => LinkName::Numbered("stack", i),
        }
    }
}

impl<F: FnMut(Link)> Links<'_, '_, F> {
    /// Reports a number or a boolean where a person would look for it.
    fn plain_value(&mut self, edge: Edge, v: Value) {
        let (kind, name) = match edge {
            Edge::Element(i) if i < SHOWN_ELEMENTS => (LinkKind::Element, LinkName::Index(i)),
            Edge::Field(key) => match key.as_str() {
                Some(s) => (LinkKind::Property, LinkName::Str(s)),
                None => (LinkKind::Property, LinkName::Key(key)),
            },
            Edge::Held => (LinkKind::Context, LinkName::Text("value")),
            Edge::Upvalue(i) => (LinkKind::Context, self.upvalue_name(i)),
            Edge::Stack(i) if matches!(self.stack.get(&i), Some(SlotName::Local(_))) => (LinkKind::Context, self.stack_name(i)),
            _ => return,
        };
        (self.f)(Link { kind, name, to: Target::Value(v) });
    }
}

impl<F: FnMut(Link)> Visitor for Links<'_, '_, F> {
    fn value(&mut self, edge: Edge, v: Value) {
        match v.as_gc() {
            Some(o) => self.object(edge, o),
            None if v.as_number().is_some() || v.is_bool() => self.plain_value(edge, v),
            None => {}
        }
    }
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>) {
        let strong = o.kind() == Kind::Str;
        let weak = |weak: bool, kind| if weak && !strong { LinkKind::Weak } else { kind };
        let (kind, name) = match edge {
            Edge::Meta => (LinkKind::Internal, LinkName::Text("metatable")),
            Edge::Env => (LinkKind::Context, LinkName::Text("env")),
            Edge::Element(i) => match weak(self.weak.values, LinkKind::Element) {
                LinkKind::Element => (LinkKind::Element, LinkName::Index(i)),
                kind => (kind, LinkName::Numbered("element", i)),
            },
            Edge::Key => (weak(self.weak.keys, LinkKind::Internal), LinkName::Text("key")),
            Edge::Field(key) => match (key.as_str(), key.as_int()) {
                (Some(s), _) => (weak(self.weak.values, LinkKind::Property), LinkName::Str(s)),
                (_, Some(i)) if i >= 0 && !self.weak.values => (LinkKind::Element, LinkName::Index(i as u32)),
                _ => (weak(self.weak.values, LinkKind::Property), LinkName::Key(key)),
            },
            Edge::Proto => (LinkKind::Context, LinkName::Text("prototype")),
            Edge::Upvalue(i) => (LinkKind::Context, self.upvalue_name(i)),
            Edge::Const(i) => (LinkKind::Context, LinkName::Numbered("constant", i)),
            Edge::ChunkName => (LinkKind::Context, LinkName::Text("chunk name")),
            Edge::Held => (LinkKind::Context, LinkName::Text("value")),
            Edge::Stack(i) => (LinkKind::Context, self.stack_name(i)),
            Edge::Resumer => (LinkKind::Internal, LinkName::Text("resumer")),
        };
        (self.f)(Link { kind, name, to: Target::Object(o) });
    }
    fn stack_top(&self, t: &Thread) -> *mut Value {
        stack_top(self.graph.vm, t)
    }
    fn has_ended(&self) -> bool {
        self.graph.poll.look().is_err()
    }
}

/// The objects on a stack, by slot.
pub fn stack_objects(vm: &Vm, t: Gc<Thread>) -> Vec<(u32, Gc<GcHeader>)> {
    let mut stack = StackSlots { vm, found: Vec::new() };
    visit_object(t.header(), &mut stack);
    stack.found
}

/// Collects the objects on a stack, by slot.
struct StackSlots<'a> {
    vm: &'a Vm,
    found: Vec<(u32, Gc<GcHeader>)>,
}

impl Visitor for StackSlots<'_> {
    fn value(&mut self, edge: Edge, v: Value) {
        if let Some(o) = v.as_gc() {
            self.object(edge, o);
        }
    }
    fn object(&mut self, edge: Edge, o: Gc<GcHeader>) {
        if let Edge::Stack(i) = edge {
            self.found.push((i, o));
        }
    }
    fn stack_top(&self, t: &Thread) -> *mut Value {
        stack_top(self.vm, t)
    }
}
