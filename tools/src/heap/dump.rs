//! Reading the JSON dump of Luau's form.

use super::Wrong;
use super::graph::{Edge, Graph, Node};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::collections::HashMap;

#[derive(Deserialize)]
struct Dump {
    objects: Objects,
    roots: HashMap<String, String>,
    #[serde(default)]
    otherroots: Vec<String>,
}

/// The objects in the order of the file.
struct Objects(Vec<(String, Object)>);

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "type")]
    kind: String,
    size: u64,
    data: Option<String>,
    name: Option<String>,
    source: Option<String>,
    line: Option<i64>,
    #[serde(default)]
    pairs: Vec<Option<String>>,
    #[serde(default)]
    array: Vec<String>,
    #[serde(default)]
    upvalues: Vec<String>,
    #[serde(default)]
    constants: Vec<String>,
    #[serde(default)]
    protos: Vec<String>,
    #[serde(default)]
    stack: Vec<String>,
    #[serde(default)]
    stacknames: Vec<Option<String>>,
    metatable: Option<String>,
    env: Option<String>,
    proto: Option<String>,
    object: Option<String>,
    resumer: Option<String>,
    anchor: Option<String>,
}

impl<'de> Deserialize<'de> for Objects {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Objects, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Objects;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("objects by address")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Objects, A::Error> {
                let mut all = Vec::new();
                while let Some(next) = map.next_entry()? {
                    all.push(next);
                }
                Ok(Objects(all))
            }
        }
        d.deserialize_map(All)
    }
}

/// Reads a dump. The error says what is wrong, and where.
pub fn read(text: &[u8]) -> Result<Graph, Wrong> {
    let dump: Dump = serde_json::from_slice(text).map_err(|e| Wrong::json(text, &e))?;
    let mut by_address = HashMap::new();
    for (i, (address, _)) in dump.objects.0.iter().enumerate() {
        if by_address.insert(address.as_str(), i).is_some() {
            return Err(Wrong::new(format!("object {address} is there twice{}", at(text, address))));
        }
    }
    let find = |address: &str| {
        by_address.get(address).copied().ok_or_else(|| Wrong::new(format!("there is no object {address}{}", at(text, address))))
    };
    let mut graph = Graph::default();
    let objects: &[(String, Object)] = &dump.objects.0;
    for (address, o) in objects {
        let kind = graph.types.iter().position(|t| *t == o.kind).unwrap_or_else(|| {
            graph.types.push(o.kind.clone());
            graph.types.len() - 1
        });
        graph.nodes.push(Node { kind, name: name(o), id: address.clone(), size: o.size, edges: graph.edges.len() });
        for (name, to) in references(o, objects, &by_address) {
            graph.edges.push(Edge { name, to: find(to)?, weak: false });
        }
    }
    let mut roots: Vec<(String, usize)> = Vec::new();
    for (name, address) in &dump.roots {
        roots.push((name.clone(), find(address)?));
    }
    for address in &dump.otherroots {
        roots.push(("root".to_owned(), find(address)?));
    }
    // What is named first is the shorter way to say it.
    roots.sort_by_key(|(name, _)| ["registry", "mainthread"].iter().position(|n| n == name).unwrap_or(2));
    graph.roots = roots;
    Ok(graph)
}

/// Where a text mentions an address for the last time.
fn at(text: &[u8], address: &str) -> String {
    let quoted = format!("\"{address}\"");
    let found = text.windows(quoted.len()).rposition(|w| w == quoted.as_bytes());
    found.map_or(String::new(), |i| format!(" at offset {i}"))
}

fn name(o: &Object) -> String {
    let place = || match (&o.source, o.line) {
        (Some(source), Some(line)) => format!("{}:{line}", source.trim_start_matches(['@', '='])),
        _ => String::new(),
    };
    match (&o.data, &o.name) {
        (Some(data), _) => data.clone(),
        (None, Some(name)) => name.clone(),
        (None, None) => place(),
    }
}

/// The references of an object, with names.
fn references<'a>(o: &'a Object, objects: &'a [(String, Object)], by_address: &HashMap<&str, usize>) -> Vec<(String, &'a str)> {
    let mut found: Vec<(String, &str)> = Vec::new();
    for pair in o.pairs.chunks(2) {
        let (key, value) = (pair[0].as_deref(), pair.get(1).and_then(|v| v.as_deref()));
        if let Some(key) = key {
            found.push(("key".to_owned(), key));
        }
        if let Some(value) = value {
            let text = key.and_then(|k| by_address.get(k)).and_then(|i| objects[*i].1.data.as_deref());
            let name = match (text, key) {
                (Some(text), _) => format!(".{text}"),
                (None, Some(key)) => format!("[{key}]"),
                (None, None) => "[a number or boolean]".to_owned(),
            };
            found.push((name, value));
        }
    }
    let lists = [("array element", &o.array), ("upvalue", &o.upvalues), ("constant", &o.constants), ("prototype", &o.protos)];
    for (name, list) in lists {
        found.extend(list.iter().enumerate().map(|(i, a)| (format!("{name} {i}"), a.as_str())));
    }
    for (i, a) in o.stack.iter().enumerate() {
        let name = o.stacknames.get(i).and_then(|n| n.as_deref());
        found.push((name.map_or_else(|| format!("stack {i}"), |n| format!("stack {n}")), a));
    }
    let singles = [
        ("metatable", &o.metatable),
        ("env", &o.env),
        ("prototype", &o.proto),
        ("value", &o.object),
        ("resumer", &o.resumer),
        ("anchor", &o.anchor),
    ];
    found.extend(singles.iter().filter_map(|(name, a)| a.as_deref().map(|a| ((*name).to_owned(), a))));
    found
}
