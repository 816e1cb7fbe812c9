//! What keeps an object alive.

use super::graph::{Graph, short};
use std::collections::VecDeque;
use std::io::{self, Write};

/// How an object was reached first.
#[derive(Copy, Clone)]
enum From {
    Nowhere,
    Root(usize),
    Edge { node: usize, edge: usize },
}

/// The shortest way to each object, by references that keep alive.
fn reach(graph: &Graph) -> Vec<From> {
    let mut from = vec![From::Nowhere; graph.nodes.len()];
    let mut queue = VecDeque::new();
    for (i, (_, node)) in graph.roots.iter().enumerate() {
        if matches!(from[*node], From::Nowhere) {
            from[*node] = From::Root(i);
            queue.push_back(*node);
        }
    }
    while let Some(node) = queue.pop_front() {
        for (edge, e) in graph.edges_of(node).iter().enumerate() {
            if !e.weak && matches!(from[e.to], From::Nowhere) {
                from[e.to] = From::Edge { node, edge };
                queue.push_back(e.to);
            }
        }
    }
    from
}

/// Writes the shortest path to each of some objects that `object` names; `None` if there is none.
pub fn write(graph: &Graph, object: &str, limit: usize, out: &mut dyn Write) -> io::Result<Option<()>> {
    let by_id = graph.nodes.iter().position(|n| n.id == object);
    let by_name = || (0..graph.nodes.len()).filter(|i| graph.nodes[*i].name == object || graph.title(*i) == object).collect();
    let found: Vec<usize> = by_id.map_or_else(by_name, |i| vec![i]);
    if found.is_empty() {
        return Ok(None);
    }
    let from = reach(graph);
    for (i, node) in found.iter().take(limit).enumerate() {
        if i != 0 {
            writeln!(out)?;
        }
        path(graph, &from, *node, out)?;
    }
    if found.len() > limit {
        writeln!(out, "\n{} more", found.len() - limit)?;
    }
    Ok(Some(()))
}

fn path(graph: &Graph, from: &[From], node: usize, out: &mut dyn Write) -> io::Result<()> {
    let describe = |n: usize| format!("{} {} ({} bytes)", short(&graph.title(n)), graph.nodes[n].id, graph.nodes[n].size);
    let mut steps = Vec::new();
    let mut at = node;
    loop {
        match from[at] {
            From::Nowhere => {
                return writeln!(out, "{}\n    is reached by nothing that keeps it alive", describe(node));
            }
            From::Root(i) => {
                let name = &graph.roots[i].0;
                steps.push(if name.is_empty() { describe(at) } else { format!("{name}: {}", describe(at)) });
                break;
            }
            From::Edge { node: before, edge } => {
                steps.push(format!("{} = {}", short(&graph.edges_of(before)[edge].name), describe(at)));
                at = before;
            }
        }
    }
    steps.reverse();
    for (depth, step) in steps.iter().enumerate() {
        writeln!(out, "{:indent$}{step}", "", indent = 2 * depth)?;
    }
    Ok(())
}
