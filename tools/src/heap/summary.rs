//! How many objects there are, and how large.

use super::graph::{Graph, Group, Sum, short};
use core::cmp::Reverse;
use std::borrow::Cow;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, Write};

/// Sums, largest first.
fn largest<'a>(graph: &'a Graph, sums: HashMap<Group<'a>, Sum>) -> Vec<(Cow<'a, str>, Sum)> {
    let mut list: Vec<_> = sums.into_iter().map(|(group, s)| (graph.group_title(group), s)).collect();
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
    let mut all = Sum::default();
    graph.objects().for_each(|i| all.add(graph.sizes[i]));
    line(out, all, "in all")?;
    writeln!(out)?;
    for (title, s) in largest(graph, graph.by_type()) {
        line(out, s, &title)?;
    }
    let mut named = graph.by_name();
    named.retain(|group, _| !group.1.is_empty());
    let named = largest(graph, named);
    if limit != 0 && !named.is_empty() {
        writeln!(out)?;
    }
    for (title, s) in named.iter().take(limit) {
        line(out, *s, &short(title))?;
    }
    // The largest last; of those of one size the first are in front.
    let mut top = BinaryHeap::with_capacity(LARGEST + 1);
    for (i, size) in graph.sizes.iter().enumerate() {
        top.push(Reverse((*size, Reverse(i))));
        if top.len() > LARGEST {
            top.pop();
        }
    }
    writeln!(out, "\n{:>28}  largest objects", "bytes")?;
    for Reverse((size, Reverse(i))) in top.into_sorted_vec() {
        writeln!(out, "{size:>28}  {} {}", graph.id(i), short(&graph.title(i)))?;
    }
    Ok(())
}
