//! A graph of objects as the commands see it, whichever file it is from.

use std::collections::HashMap;

/// An object.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its type: an index into [`Graph::types`].
    pub kind: usize,
    /// Its name.
    pub name: String,
    /// Its address or id, as the file has it.
    pub id: String,
    /// Bytes.
    pub size: u64,
    /// Index of its first edge; the last ends where the next object's begin.
    pub edges: usize,
}

/// A reference.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What it is.
    pub name: String,
    /// Index of the object that it leads to.
    pub to: usize,
    /// Does it not keep the object alive?
    pub weak: bool,
}

/// Objects and references.
#[derive(Default, Debug)]
pub struct Graph {
    /// Names of types.
    pub types: Vec<String>,
    /// The objects.
    pub nodes: Vec<Node>,
    /// The references of all objects, in their order.
    pub edges: Vec<Edge>,
    /// What keeps objects alive: a name and an index of an object.
    pub roots: Vec<(String, usize)>,
}

/// How many, and bytes.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Sum {
    /// Objects.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Graph {
    /// The references of an object.
    pub fn edges_of(&self, node: usize) -> &[Edge] {
        let end = self.nodes.get(node + 1).map_or(self.edges.len(), |n| n.edges);
        &self.edges[self.nodes[node].edges..end]
    }
    /// "type name" of an object.
    pub fn title(&self, node: usize) -> String {
        let n = &self.nodes[node];
        let kind = &self.types[n.kind];
        if n.name == *kind || n.name.is_empty() { kind.clone() } else { format!("{kind} {}", n.name) }
    }
    /// Sums by a key.
    pub fn sums<K: Eq + std::hash::Hash>(&self, key: impl Fn(&Node) -> Option<K>) -> HashMap<K, Sum> {
        let mut sums: HashMap<K, Sum> = HashMap::new();
        for n in &self.nodes {
            if let Some(key) = key(n) {
                let s = sums.entry(key).or_default();
                s.count += 1;
                s.bytes = s.bytes.saturating_add(n.size);
            }
        }
        sums
    }
    /// The key of an object in lists by name. Strings are all one: each is there only once.
    pub fn group(&self, n: &Node) -> (usize, String) {
        let kind = &self.types[n.kind];
        (n.kind, if kind == "string" { String::new() } else { n.name.clone() })
    }
    /// The words for such a key.
    pub fn group_title(&self, (kind, name): &(usize, String)) -> String {
        let kind = &self.types[*kind];
        if name.is_empty() || name == kind { kind.clone() } else { format!("{kind} {name}") }
    }
}

/// A text on one line of sensible length.
pub fn short(text: &str) -> String {
    const LENGTH: usize = 60;
    let one_line = text.replace(|c: char| c.is_control(), " ");
    if one_line.chars().count() <= LENGTH {
        return one_line;
    }
    let cut: String = one_line.chars().take(LENGTH).collect();
    format!("{cut}...")
}
