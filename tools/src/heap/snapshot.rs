//! Reading `.heapsnapshot` files, as a stream. The fields of nodes and edges are found by the names that the file gives them, so that
//! files of other programs and versions are read as well.

use super::graph::{Graph, Style};
use super::source::Source;
use super::text::Texts;
use super::{Spot, Wrong};
use core::fmt::Formatter;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::io::Read;

#[derive(Deserialize)]
struct Header {
    meta: Meta,
    node_count: u64,
    edge_count: u64,
}

#[derive(Deserialize)]
struct Meta {
    node_fields: Vec<String>,
    node_types: Vec<Value>,
    edge_fields: Vec<String>,
    edge_types: Vec<Value>,
}

/// Does a text start like a snapshot?
pub fn looks_like(text: &[u8]) -> bool {
    let start = text.iter().filter(|b| !b.is_ascii_whitespace()).take(11).copied();
    start.eq(b"{\"snapshot\"".iter().copied())
}

/// What is wrong in a snapshot, and with which item of which of its fields.
struct Bad(String, &'static str, usize);

impl Bad {
    fn header(what: impl Into<String>) -> Bad {
        Bad(what.into(), "snapshot", 0)
    }
}

/// Where a field is.
fn field(fields: &[String], name: &str) -> Result<usize, Bad> {
    fields
        .iter()
        .position(|f| f == name)
        .ok_or_else(|| Bad::header(format!("there is no field {name} among those of the snapshot")))
}

/// The names of types in the first entry of a list.
fn types(list: &[Value], at: usize) -> Result<Vec<String>, Bad> {
    let names = list.get(at).and_then(Value::as_array).ok_or_else(|| Bad::header("the types of the snapshot have no names"))?;
    Ok(names.iter().map(|n| n.as_str().unwrap_or("?").to_owned()).collect())
}

/// Where the numbers of a node are, of how many.
struct NodeForm {
    width: usize,
    kind: usize,
    name: usize,
    id: usize,
    size: usize,
    edges: usize,
    count: u64,
}

/// The same of an edge.
struct EdgeForm {
    width: usize,
    kind: usize,
    name: usize,
    to: usize,
    /// The types: how they are named, and are they weak?
    styles: Vec<(Style, bool)>,
    count: u64,
}

fn forms(header: &Header) -> Result<(NodeForm, EdgeForm, Vec<String>), Bad> {
    let meta = &header.meta;
    let of_node = |name| field(&meta.node_fields, name);
    let of_edge = |name| field(&meta.edge_fields, name);
    let node_kind = of_node("type")?;
    let node = NodeForm {
        width: meta.node_fields.len(),
        kind: node_kind,
        name: of_node("name")?,
        id: of_node("id")?,
        size: of_node("self_size")?,
        edges: of_node("edge_count")?,
        count: header.node_count,
    };
    let (kind, name, to) = (of_edge("type")?, of_edge("name_or_index")?, of_edge("to_node")?);
    let style = |kind: &String| match kind.as_str() {
        "element" | "hidden" => (Style::Element, false),
        "property" => (Style::Field, false),
        kind => (Style::Text, kind == "weak"),
    };
    let styles = types(&meta.edge_types, kind)?.iter().map(style).collect();
    let edge = EdgeForm { width: meta.edge_fields.len(), kind, name, to, styles, count: header.edge_count };
    Ok((node, edge, types(&meta.node_types, node_kind)?))
}

/// What is being read.
struct Reading {
    graph: Graph,
    forms: Option<(NodeForm, EdgeForm)>,
    /// What is wrong with its meaning.
    bad: Option<Bad>,
    /// Edges of the nodes so far.
    first: u64,
    /// Bytes of the file, which is more than it has numbers.
    size: u64,
    had: [bool; 3],
}

/// Reads a snapshot from a file of `size` bytes. The error says what is wrong, and with what.
pub fn read<R: Read>(source: &mut Source<R>, size: u64) -> Result<Graph, Wrong> {
    let mut reading = Reading { graph: Graph::default(), forms: None, bad: None, first: 0, size, had: [false; 3] };
    let mut json = serde_json::Deserializer::from_reader(&mut *source);
    let read = json.deserialize_map(&mut reading).and_then(|()| json.end());
    match (reading.bad.take(), read) {
        (Some(bad), _) => Err(bad.into()),
        (None, Err(e)) => Err(source.wrong(&e)),
        (None, Ok(())) => {
            reading.check()?;
            Ok(reading.graph)
        }
    }
}

impl From<Bad> for Wrong {
    fn from(Bad(message, field, item): Bad) -> Wrong {
        Wrong { message, spot: Spot::Item(field, item) }
    }
}

impl Reading {
    fn begin(&mut self, header: &Header) -> Result<(), Bad> {
        let (node, edge, types) = forms(header)?;
        // Not more than there can be, whatever the file says: a number has two bytes at least.
        let most = |count: u64, width: usize| usize::try_from(count.min(self.size / (2 * width as u64))).unwrap_or(0);
        let (nodes, edges) = (most(node.count, node.width), most(edge.count, edge.width));
        let g = &mut self.graph;
        g.types = types;
        g.kinds.reserve_exact(nodes);
        g.names.reserve_exact(nodes);
        g.ids.reserve_exact(nodes);
        g.sizes.reserve_exact(nodes);
        g.firsts.reserve_exact(nodes);
        g.styles.reserve_exact(edges);
        g.labels.reserve_exact(edges);
        g.targets.reserve_exact(edges);
        self.forms = Some((node, edge));
        Ok(())
    }
    /// Node `i`, of these numbers.
    fn node(&mut self, form: &NodeForm, edges: u64, i: usize, n: &[u64]) -> Result<(), Bad> {
        let bad = |at: usize, what: &str| Bad(format!("node {i} {what}"), "nodes", i * form.width + at);
        let known = u16::try_from(n[form.kind]).ok().filter(|k| usize::from(*k) < self.graph.types.len());
        let kind = known.ok_or_else(|| bad(form.kind, "has an unknown type"))?;
        let name = u32::try_from(n[form.name]).map_err(|_| bad(form.name, &format!("has the name {}", n[form.name])))?;
        let first = u32::try_from(self.first).map_err(|_| bad(form.edges, "comes after more edges than can be read"))?;
        self.graph.add(kind, name, n[form.id], n[form.size], first);
        let end = self.first.checked_add(n[form.edges]).filter(|end| *end <= edges);
        self.first = end.ok_or_else(|| bad(form.edges, "has more edges than there are"))?;
        Ok(())
    }
    /// Edge `i`, of these numbers.
    fn edge(&mut self, form: &EdgeForm, (nodes, width): (u64, usize), i: usize, n: &[u64]) -> Result<(), Bad> {
        let bad = |at: usize, what: &str| Bad(format!("edge {i} {what}"), "edges", i * form.width + at);
        let style = usize::try_from(n[form.kind]).ok().and_then(|k| form.styles.get(k));
        let (style, weak) = *style.ok_or_else(|| bad(form.kind, "has an unknown type"))?;
        let width = width as u64;
        let to = Some(n[form.to]).filter(|t| t % width == 0 && t / width < nodes).and_then(|t| u32::try_from(t / width).ok());
        let to = to.ok_or_else(|| bad(form.to, "leads to no node"))?;
        let label = u32::try_from(n[form.name]).map_err(|_| bad(form.name, &format!("has the name {}", n[form.name])))?;
        self.graph.refer(style, label, to, weak);
        Ok(())
    }
    /// What can only be seen when all has been read.
    fn check(&self) -> Result<(), Bad> {
        let (Some((node, edge)), graph) = (&self.forms, &self.graph) else { return Ok(()) };
        if self.first != edge.count {
            return Err(Bad(format!("nodes have {} edges, but there are {}", self.first, edge.count), "edges", 0));
        }
        let strings = graph.texts.len();
        let unnamed = |what: &str, i: usize, n: u32| format!("{what} {i} has the name {n}, of {strings} strings");
        if let Some(i) = graph.names.iter().position(|n| *n as usize >= strings) {
            return Err(Bad(unnamed("node", i, graph.names[i]), "nodes", i * node.width + node.name));
        }
        let named = |i: &usize| graph.styles[*i].0 != Style::Element && graph.labels[*i] as usize >= strings;
        match (0..graph.labels.len()).find(named) {
            Some(i) => Err(Bad(unnamed("edge", i, graph.labels[i]), "edges", i * edge.width + edge.name)),
            None => Ok(()),
        }
    }
    /// Says that something is wrong, to the parser; what it is is kept.
    fn fail<E: Error>(&mut self, bad: Bad) -> E {
        let e = E::custom(&bad.0);
        self.bad = Some(bad);
        e
    }
}

const FIELDS: [&str; 3] = ["nodes", "edges", "strings"];

impl<'de> Visitor<'de> for &mut Reading {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a heap snapshot")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if let Some(i) = FIELDS.iter().position(|f| *f == key) {
                if core::mem::replace(&mut self.had[i], true) {
                    return Err(A::Error::duplicate_field(FIELDS[i]));
                }
                match i {
                    2 => map.next_value_seed(Strings(&mut self.graph.texts))?,
                    _ => map.next_value_seed(Numbers { reading: self, of_nodes: i == 0 })?,
                }
            } else if key == "snapshot" {
                if self.forms.is_some() {
                    return Err(A::Error::duplicate_field("snapshot"));
                }
                let header = map.next_value::<Header>()?;
                if let Err(bad) = self.begin(&header) {
                    return Err(self.fail(bad));
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if let Some(i) = self.had.iter().position(|had| !had) {
            return Err(A::Error::missing_field(FIELDS[i]));
        }
        if !self.graph.names.is_empty() {
            self.graph.roots.push((String::new(), 0));
        }
        Ok(())
    }
}

/// The list of nodes, or that of edges.
struct Numbers<'a> {
    reading: &'a mut Reading,
    of_nodes: bool,
}

impl<'de> DeserializeSeed<'de> for Numbers<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a list of numbers")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let reading = self.reading;
        // The first field of a snapshot is known to be its header, with the forms.
        let Some((node, edge)) = reading.forms.take() else { return Err(A::Error::missing_field("snapshot")) };
        let (width, said, what, field) =
            if self.of_nodes { (node.width, node.count, "nodes", "nodes") } else { (edge.width, edge.count, "edges", "edges") };
        let mut numbers = vec![0; width];
        let (mut items, mut at) = (0, 0);
        while let Some(n) = list.next_element()? {
            numbers[at] = n;
            at += 1;
            if at == width {
                let done = match self.of_nodes {
                    true => reading.node(&node, edge.count, items, &numbers),
                    false => reading.edge(&edge, (node.count, node.width), items, &numbers),
                };
                if let Err(bad) = done {
                    return Err(reading.fail(bad));
                }
                (items, at) = (items + 1, 0);
            }
        }
        if at != 0 || items as u64 != said {
            let bad = Bad(format!("{} numbers are not {said} {what} of {width}", items * width + at), field, 0);
            return Err(reading.fail(bad));
        }
        reading.forms = Some((node, edge));
        Ok(())
    }
}

/// The list of strings.
struct Strings<'a>(&'a mut Texts);

impl<'de> DeserializeSeed<'de> for Strings<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Strings<'_> {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a list of strings")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(OneString(self.0))?.is_some() {}
        Ok(())
    }
}

struct OneString<'a>(&'a mut Texts);

impl<'de> DeserializeSeed<'de> for OneString<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_str(self)
    }
}

impl Visitor<'_> for OneString<'_> {
    type Value = ();
    fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str("a string")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push(text);
        Ok(())
    }
}
