//! How many objects there are, and how large.

use super::graph::{Graph, Sum, short};
use std::io::{self, Write};

/// Sums, largest first.
pub fn largest<K>(sums: impl IntoIterator<Item = (K, Sum)>, title: impl Fn(&K) -> String) -> Vec<(String, Sum)> {
    let mut list: Vec<(String, Sum)> = sums.into_iter().map(|(k, s)| (title(&k), s)).collect();
    list.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
    list
}

fn line(out: &mut dyn Write, s: Sum, title: &str) -> io::Result<()> {
    writeln!(out, "{:>12} {:>15}  {title}", s.count, s.bytes)
}

/// Single objects that are listed.
const LARGEST: usize = 5;

/// By type, then by name; then the largest objects.
pub fn write(graph: &Graph, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:>12} {:>15}", "objects", "bytes")?;
    let all = graph.sums(|_| Some(())).get(&()).copied().unwrap_or_default();
    line(out, all, "in all")?;
    writeln!(out)?;
    for (title, s) in largest(graph.sums(|n| Some(n.kind)), |k| graph.types[*k].clone()) {
        line(out, s, &title)?;
    }
    let named = largest(graph.sums(|n| Some(graph.group(n)).filter(|g| !g.1.is_empty())), |g| graph.group_title(g));
    if limit != 0 && !named.is_empty() {
        writeln!(out)?;
    }
    for (title, s) in named.iter().take(limit) {
        line(out, *s, &short(title))?;
    }
    let mut nodes: Vec<usize> = (0..graph.nodes.len()).collect();
    nodes.sort_by_key(|i| std::cmp::Reverse(graph.nodes[*i].size));
    writeln!(out, "\n{:>28}  largest objects", "bytes")?;
    for i in nodes.into_iter().take(LARGEST) {
        writeln!(out, "{:>28}  {} {}", graph.nodes[i].size, graph.nodes[i].id, short(&graph.title(i)))?;
    }
    Ok(())
}
