//! The snapshot of Chrome's developer tools: flat arrays of nodes and edges, and the strings that both name.
//!
//! Node 0 is made up: it refers to everything that keeps objects alive, so that distances count from there. The objects follow in
//! the order of the heap, then the traces, then the numbers and booleans. The first strings are those of the program, so that they need not be looked up.

use super::graph::{Graph, Link, LinkKind, LinkName, Target};
use super::ids::{Ids, ROOT};
use super::index::Index;
use super::interner::Interner;
use super::names::{defined_at, running_in};
use super::values::Values;
use crate::json::{self, Text};
use core::cell::RefCell;
use perilune_vm::Vm;
use perilune_vm::interrupt::Poll;
use perilune_vm::object::{Gc, GcHeader, Kind, Object, Table, Thread};
use perilune_vm::value::Value;
use serde::Serialize;
use serde::ser::{Error, SerializeMap, SerializeSeq, Serializer};
use std::io::{self, Write};

/// Bytes of a string that are shown.
const SHOWN: usize = 1024;
/// Different texts that are kept; what would be one more is called by what it is.
const MAX_TEXTS: usize = 100_000;
/// Numbers that a node takes.
const NODE_FIELDS: u64 = META.node_fields.len() as u64;

/// What the numbers of nodes and edges are, as the developer tools want to be told.
#[derive(Serialize)]
struct Meta {
    node_fields: [&'static str; 7],
    node_types: (&'static [&'static str], &'static str, &'static str, &'static str, &'static str, &'static str, &'static str),
    edge_fields: [&'static str; 3],
    edge_types: (&'static [&'static str], &'static str, &'static str),
    trace_function_info_fields: [&'static str; 6],
    trace_node_fields: [&'static str; 5],
    sample_fields: [&'static str; 2],
    location_fields: [&'static str; 4],
}

const META: Meta = Meta {
    node_fields: ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"],
    node_types: (
        &[
            "hidden",
            "array",
            "string",
            "object",
            "code",
            "closure",
            "regexp",
            "number",
            "native",
            "synthetic",
            "concatenated string",
            "sliced string",
            "symbol",
            "bigint",
            "object shape",
        ],
        "string",
        "number",
        "number",
        "number",
        "number",
        "number",
    ),
    edge_fields: ["type", "name_or_index", "to_node"],
    edge_types: (&["context", "element", "property", "internal", "hidden", "shortcut", "weak"], "string_or_number", "node"),
    trace_function_info_fields: ["function_id", "name", "script_name", "script_id", "line", "column"],
    trace_node_fields: ["id", "function_info_index", "count", "size", "children"],
    sample_fields: ["timestamp_us", "last_assigned_id"],
    location_fields: ["object_index", "script_id", "line", "column"],
};

/// Types of nodes: their positions in [`Meta::node_types`].
#[derive(Copy, Clone)]
enum NodeType {
    String = 2,
    Object = 3,
    Code = 4,
    Closure = 5,
    Number = 7,
    Native = 8,
    Synthetic = 9,
}

/// Writes the snapshot.
///
/// # Errors
/// Writing fails, or an interrupt waits.
pub fn write(vm: &Vm, ids: &Ids, to: &mut dyn Write, poll: Poll<'_>) -> io::Result<()> {
    let strings = Index::new(vm, poll, |o| o.kind() == Kind::Str)?;
    let graph = Graph::new(vm, poll)?;
    let texts = RefCell::new(Texts { first: strings.len(), kept: Interner::default() });
    let highest_trace = graph.traces.iter().map(|t| t.number.get()).max().unwrap_or(0);
    json::write(to, 1, &Snapshot { graph: &graph, ids, strings: &strings, values: Values::default(), highest_trace, texts })
}

/// Strings that are not the program's.
struct Texts {
    first: u32,
    kept: Interner,
}

impl Texts {
    /// The number of a text; where there are too many already, of the one that stands instead.
    fn get(&mut self, text: &str, instead: &str) -> u32 {
        let is_full = self.kept.len() as usize >= MAX_TEXTS;
        let known = if is_full { self.kept.number(text) } else { None };
        self.first + known.unwrap_or_else(|| self.kept.intern(if is_full { instead } else { text }))
    }
    fn plain(&mut self, text: &str) -> u32 {
        self.first + self.kept.intern(text)
    }
}

impl Texts {
    /// The number that stands for the name of a reference.
    fn of_link(&mut self, link: &Link, ids: &Ids, strings: &Index) -> u32 {
        match &link.name {
            LinkName::Index(i) if link.kind == LinkKind::Element => *i,
            LinkName::Index(i) => self.get(&format!("[{i}]"), "[index]"),
            LinkName::Str(s) => match strings.position(s.header()) {
                Some(n) => n,
                None => self.plain("?"),
            },
            LinkName::Text(text) => self.plain(text),
            LinkName::Numbered(text, i) => self.get(&format!("{text} {i}"), text),
            LinkName::Variable(name) => self.get(name, "variable"),
            LinkName::Key(v) => self.get(&key(*v, ids), "[key]"),
        }
    }
}

/// A key that is not a string.
fn key(v: Value, ids: &Ids) -> String {
    match v.as_gc() {
        Some(o) => format!("[{} @{}]", o.kind().name(), ids.of(o).unwrap_or_default()),
        // All digits, so that different keys have different names.
        None if v.as_number().is_some_and(|n| n.fract() == 0.0 && n.abs() < 1e18) => {
            format!("[{}]", v.as_number().unwrap_or_default() as i64)
        }
        None => {
            let mut text = Vec::new();
            perilune_vm::stdlib::put_value(&mut text, v);
            format!("[{}]", String::from_utf8_lossy(&text))
        }
    }
}

/// The whole snapshot. Nodes and edges are serialized while the heap is walked; the strings come last, when all are known.
struct Snapshot<'a> {
    graph: &'a Graph<'a>,
    ids: &'a Ids,
    strings: &'a Index,
    values: Values,
    /// The highest number of a trace.
    highest_trace: u32,
    texts: RefCell<Texts>,
}

/// A position in the list of nodes.
#[derive(Copy, Clone)]
enum Node {
    Root,
    Object(Gc<GcHeader>),
    Trace(usize),
    Value(usize),
}

#[derive(Serialize)]
struct Header {
    meta: Meta,
    node_count: u64,
    edge_count: u64,
    trace_function_count: u64,
}

impl Serialize for Snapshot<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut edge_count = 0;
        self.for_each_node(|n| {
            edge_count += self.count(n);
            Ok::<_, S::Error>(())
        })?;
        self.values.complete();
        let node_count = self.first_value() + self.values.len() as u64;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("snapshot", &Header { meta: META, node_count, edge_count, trace_function_count: 0 })?;
        map.serialize_entry("nodes", &Nodes(self))?;
        map.serialize_entry("edges", &Edges(self))?;
        for empty in ["trace_function_infos", "trace_tree", "samples", "locations"] {
            map.serialize_entry(empty, &[(); 0])?;
        }
        map.serialize_entry("strings", &Strings(self))?;
        map.end()
    }
}

struct Nodes<'a>(&'a Snapshot<'a>);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        self.0.for_each_node(|n| self.0.node(n).iter().try_for_each(|number| list.serialize_element(number)))?;
        list.end()
    }
}

struct Edges<'a>(&'a Snapshot<'a>);

impl Serialize for Edges<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Snapshot { ids, strings, texts, .. } = self.0;
        let mut list = to.serialize_seq(None)?;
        self.0.for_each_node(|n| {
            let mut result = Ok(());
            self.0.links(n, &mut |link, at| {
                if result.is_ok() {
                    let name = u64::from(texts.borrow_mut().of_link(&link, ids, strings));
                    result = [link.kind as u64, name, at].iter().try_for_each(|number| list.serialize_element(number));
                }
            });
            result
        })?;
        list.end()
    }
}

struct Strings<'a>(&'a Snapshot<'a>);

impl Serialize for Strings<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        let mut next = |bytes: &[u8]| {
            self.0.graph.poll.look().map_err(S::Error::custom)?;
            list.serialize_element(&Text(&bytes[..bytes.len().min(SHOWN)]))
        };
        self.0.graph.vm.heap.try_for_each_object(|o| match o.typed() {
            Some(Object::Str(s)) => next(s.bytes()),
            _ => Ok(()),
        })?;
        self.0.texts.borrow().kept.iter().try_for_each(|t| next(t.as_bytes()))?;
        list.end()
    }
}

impl Snapshot<'_> {
    /// Calls `f` for each node, until it fails or an interrupt waits.
    fn for_each_node<E: Error>(&self, mut f: impl FnMut(Node) -> Result<(), E>) -> Result<(), E> {
        f(Node::Root)?;
        self.graph.vm.heap.try_for_each_object(|o| {
            f(Node::Object(o))?;
            self.graph.poll.look().map_err(E::custom)
        })?;
        (0..self.graph.traces.len()).try_for_each(|i| f(Node::Trace(i)))?;
        (0..self.values.len()).try_for_each(|i| f(Node::Value(i)))
    }
    /// Nodes before the first one of a value.
    fn first_value(&self) -> u64 {
        1 + u64::from(self.ids.index.len()) + self.graph.traces.len() as u64
    }
    /// Calls `f` for each reference of a node, with the position of what it refers to in the list of nodes.
    fn links(&self, n: Node, f: &mut impl FnMut(Link, u64)) {
        let mut known = |link: Link| {
            let at = match link.to {
                Target::Object(o) => self.ids.index.position(o).map(|p| 1 + u64::from(p)),
                Target::Trace(i) => Some(1 + u64::from(self.ids.index.len()) + i as u64),
                Target::Value(v) => self.values.number(v).map(|i| self.first_value() + u64::from(i)),
            };
            if let Some(at) = at {
                f(link, at * NODE_FIELDS);
            }
        };
        match n {
            Node::Root => self.graph.roots(&mut known),
            Node::Object(o) => self.graph.links(o, &mut known),
            Node::Trace(i) => self.graph.trace_links(i, &mut known),
            Node::Value(_) => {}
        }
    }
    fn count(&self, n: Node) -> u64 {
        let mut count = 0;
        self.links(n, &mut |_, _| count += 1);
        count
    }
    /// The id of a node that is no object, an even number: a trace's is made from its number, those of values are above.
    fn even_id(&self, n: Node) -> u32 {
        2 * match n {
            Node::Trace(i) => self.graph.traces[i].number.get(),
            Node::Value(i) => self.highest_trace + 1 + i as u32,
            Node::Root | Node::Object(_) => 0,
        }
    }
    /// The numbers of a node, in the order of [`Meta::node_fields`].
    fn node(&self, n: Node) -> [u64; 7] {
        let texts = &mut *self.texts.borrow_mut();
        let (kind, name, id, size) = match n {
            Node::Root => (NodeType::Synthetic, texts.plain("(roots)"), ROOT, 0),
            Node::Trace(i) => {
                let t = &self.graph.traces[i];
                let name = texts.get(&format!("trace {} of {}", t.number, defined_at(t.owner)), "trace");
                (NodeType::Code, name, self.even_id(n), t.code)
            }
            Node::Value(i) => (NodeType::Number, texts.get(&self.values.text(i), "number"), self.even_id(n), 0),
            Node::Object(o) => {
                let (kind, name) = self.kind_and_name(o, texts);
                (kind, name, self.ids.of(o).unwrap_or_default(), self.graph.vm.heap.object_size(o))
            }
        };
        [kind as u64, name.into(), id.into(), size as u64, self.count(n), 0, 0]
    }
    fn kind_and_name(&self, o: Gc<GcHeader>, texts: &mut Texts) -> (NodeType, u32) {
        match o.typed() {
            Some(Object::Str(_)) => (NodeType::String, self.strings.position(o).unwrap_or(0)),
            Some(Object::Table(t)) => self.table(t, texts),
            Some(Object::Func(f)) => {
                let name = self.graph.names.function(f);
                let text = match (name, f.proto()) {
                    (Some(name), Some(p)) => format!("{name} {}", defined_at(p)),
                    (None, Some(p)) => format!("function {}", defined_at(p)),
                    (Some(name), None) => format!("builtin {name}"),
                    (None, None) => "native function".to_owned(),
                };
                (NodeType::Closure, texts.get(&text, "function"))
            }
            Some(Object::UpVal(_)) => (NodeType::Native, texts.plain("upvalue")),
            Some(Object::Proto(p)) => {
                let text = format!("prototype {}", defined_at(p));
                (NodeType::Code, texts.get(&text, "prototype"))
            }
            Some(Object::Thread(t)) => (NodeType::Native, self.thread(t, texts)),
            Some(Object::Udata(u)) => {
                let class = u.meta.get().and_then(|m| self.graph.names.class(m));
                (NodeType::Native, texts.get(class.as_deref().unwrap_or("userdata"), "userdata"))
            }
            Some(Object::Cdata(_)) => (NodeType::Native, texts.plain("cdata")),
            None => (NodeType::Native, texts.plain("free")),
        }
    }
    fn table(&self, t: Gc<Table>, texts: &mut Texts) -> (NodeType, u32) {
        let vm = self.graph.vm;
        if t == vm.realm.registry {
            return (NodeType::Object, texts.plain("registry"));
        }
        if t == vm.realm.globals {
            return (NodeType::Object, texts.plain("globals"));
        }
        if let Some(class) = t.meta.get().filter(|m| *m != t).and_then(|m| self.graph.names.class(m)) {
            return (NodeType::Object, texts.get(&class, "table"));
        }
        if let Some(name) = self.graph.names.table(t) {
            let text = format!("table {name}");
            return (NodeType::Object, texts.get(&text, "table"));
        }
        if t.num_nodes() == 0 && t.asize() != 0 {
            // Not the type of arrays: the developer tools count those as part of what refers to them.
            return (NodeType::Object, texts.plain("array"));
        }
        (NodeType::Object, texts.plain("table"))
    }
    fn thread(&self, t: Gc<Thread>, texts: &mut Texts) -> u32 {
        let vm = self.graph.vm;
        let mut text = if t == vm.realm.main { "main thread".to_owned() } else { "thread".to_owned() };
        if let Some((p, line)) = running_in(vm, t) {
            let chunk = defined_at(p);
            let chunk = chunk.rsplit_once(':').map_or(&*chunk, |c| c.0);
            text = format!("{text} at {chunk}:{line}");
        }
        texts.get(&text, "thread")
    }
}
