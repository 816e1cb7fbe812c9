//! Reading `.heapsnapshot` files. The fields of nodes and edges are found by the names that the file gives them, so that files of
//! other programs and versions are read as well.

use super::Wrong;
use super::graph::{Edge, Graph, Node};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct File {
    snapshot: Header,
    nodes: Vec<u64>,
    edges: Vec<u64>,
    strings: Vec<String>,
}

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
struct Bad(String, Field, usize);

#[derive(Copy, Clone)]
enum Field {
    Header,
    Nodes,
    Edges,
}

/// The parts of a snapshot as they are in the text.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow)]
    snapshot: &'a RawValue,
    #[serde(borrow)]
    nodes: &'a RawValue,
    #[serde(borrow)]
    edges: &'a RawValue,
}

impl Bad {
    fn header(what: impl Into<String>) -> Bad {
        Bad(what.into(), Field::Header, 0)
    }
    /// Where in the text that is.
    fn offset(&self, text: &[u8]) -> usize {
        let Ok(parts) = serde_json::from_slice::<Parts>(text) else { return 0 };
        let part = match self.1 {
            Field::Header => parts.snapshot.get(),
            Field::Nodes => parts.nodes.get(),
            Field::Edges => parts.edges.get(),
        };
        // An item is behind as many commas.
        let before = part.match_indices(',').map(|(i, _)| i + 1).take(self.2).last().unwrap_or(0);
        part.as_ptr() as usize - text.as_ptr() as usize + before
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

/// Reads a snapshot. The error says what is wrong, and where.
pub fn read(text: &[u8]) -> Result<Graph, Wrong> {
    let file: File = serde_json::from_slice(text).map_err(|e| Wrong::json(text, &e))?;
    graph(&file).map_err(|bad| {
        let at = bad.offset(text);
        Wrong::new(format!("{} at offset {at}", bad.0))
    })
}

fn graph(file: &File) -> Result<Graph, Bad> {
    let meta = &file.snapshot.meta;
    let (width, edge_width) = (meta.node_fields.len(), meta.edge_fields.len());
    let of_node = |name| field(&meta.node_fields, name);
    let (kind, name, id, size, count) =
        (of_node("type")?, of_node("name")?, of_node("id")?, of_node("self_size")?, of_node("edge_count")?);
    let of_edge = |name| field(&meta.edge_fields, name);
    let (edge_kind, edge_name, to) = (of_edge("type")?, of_edge("name_or_index")?, of_edge("to_node")?);
    let (kinds, edge_kinds) = (types(&meta.node_types, kind)?, types(&meta.edge_types, edge_kind)?);
    let counted = |numbers: &[u64], width: usize, said: u64, what: &str, field: Field| {
        let n = numbers.len() / width;
        if !numbers.len().is_multiple_of(width) || n as u64 != said {
            return Err(Bad(format!("{} numbers are not {said} {what} of {width}", numbers.len()), field, 0));
        }
        Ok(n)
    };
    let nodes = counted(&file.nodes, width, file.snapshot.node_count, "nodes", Field::Nodes)?;
    let edges = counted(&file.edges, edge_width, file.snapshot.edge_count, "edges", Field::Edges)?;
    let in_node = |i: usize, at: usize, what: &str| Bad(format!("node {i} {what}"), Field::Nodes, i * width + at);
    let in_edge = |i: usize, at: usize, what: &str| Bad(format!("edge {i} {what}"), Field::Edges, i * edge_width + at);
    let string = |n: u64| usize::try_from(n).ok().and_then(|n| file.strings.get(n)).cloned();
    let unnamed = |n: u64| format!("has the name {n}, of {} strings", file.strings.len());
    let mut graph = Graph { types: kinds, ..Graph::default() };
    let mut first = 0usize;
    for (i, n) in file.nodes.chunks_exact(width).enumerate() {
        let known = usize::try_from(n[kind]).ok().filter(|k| *k < graph.types.len());
        let kind = known.ok_or_else(|| in_node(i, kind, "has an unknown type"))?;
        let name = string(n[name]).ok_or_else(|| in_node(i, name, &unnamed(n[name])))?;
        graph.nodes.push(Node { kind, name, id: format!("@{}", n[id]), size: n[size], edges: first });
        let end = usize::try_from(n[count]).ok().and_then(|c| first.checked_add(c)).filter(|end| *end <= edges);
        first = end.ok_or_else(|| in_node(i, count, "has more edges than there are"))?;
    }
    if first != edges {
        return Err(Bad(format!("nodes have {first} edges, but there are {edges}"), Field::Edges, 0));
    }
    for (i, e) in file.edges.chunks_exact(edge_width).enumerate() {
        let kind = usize::try_from(e[edge_kind]).ok().and_then(|k| edge_kinds.get(k));
        let kind = kind.ok_or_else(|| in_edge(i, edge_kind, "has an unknown type"))?;
        let target = usize::try_from(e[to]).ok().filter(|t| t % width == 0 && t / width < nodes);
        let target = target.ok_or_else(|| in_edge(i, to, "leads to no node"))? / width;
        let named = || string(e[edge_name]).ok_or_else(|| in_edge(i, edge_name, &unnamed(e[edge_name])));
        let name = match kind.as_str() {
            "element" | "hidden" => format!("[{}]", e[edge_name]),
            "property" => format!(".{}", named()?),
            _ => named()?,
        };
        graph.edges.push(Edge { name, to: target, weak: kind == "weak" });
    }
    if nodes != 0 {
        graph.roots.push((String::new(), 0));
    }
    Ok(graph)
}
