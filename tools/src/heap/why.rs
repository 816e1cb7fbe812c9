//! What keeps an object alive.

use super::graph::{Graph, short};
use std::collections::VecDeque;
use std::io::{self, Write};

/// How an object was reached first: by the reference with this number, or by a root or not at all.
const NOWHERE: u32 = u32::MAX;
const ROOT: u32 = u32::MAX - 1;

/// The shortest way to each object, by references that keep alive.
fn reach(graph: &Graph) -> Vec<u32> {
    let mut from = vec![NOWHERE; graph.len()];
    let mut queue = VecDeque::new();
    for (_, node) in &graph.roots {
        if from[*node as usize] == NOWHERE {
            from[*node as usize] = ROOT;
            queue.push_back(*node);
        }
    }
    while let Some(node) = queue.pop_front() {
        for edge in graph.edges_of(node as usize) {
            let to = graph.targets[edge];
            if !graph.styles[edge].1 && from[to as usize] == NOWHERE {
                from[to as usize] = edge as u32;
                queue.push_back(to);
            }
        }
    }
    from
}

/// Writes the shortest path to each of some objects that `object` names; `None` if there is none.
pub fn write(graph: &Graph, object: &str, limit: usize, out: &mut dyn Write) -> io::Result<Option<()>> {
    let by_name = || (0..graph.len()).filter(|i| graph.name(*i) == object || graph.title(*i) == object).collect();
    let found: Vec<usize> = graph.by_id(object).map_or_else(by_name, |i| vec![i]);
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

fn path(graph: &Graph, from: &[u32], node: usize, out: &mut dyn Write) -> io::Result<()> {
    let describe = |n: usize| format!("{} {} ({} bytes)", short(&graph.title(n)), graph.id(n), graph.sizes[n]);
    let mut steps = Vec::new();
    let mut at = node;
    loop {
        match from[at] {
            NOWHERE => {
                return writeln!(out, "{}\n    is reached by nothing that keeps it alive", describe(node));
            }
            ROOT => {
                let name = graph.roots.iter().find(|(_, to)| *to as usize == at).map_or("", |(name, _)| name);
                steps.push(if name.is_empty() { describe(at) } else { format!("{name}: {}", describe(at)) });
                break;
            }
            edge => {
                let edge = edge as usize;
                steps.push(format!("{} = {}", short(&graph.edge_name(edge)), describe(at)));
                at = graph.owner_of(edge);
            }
        }
    }
    steps.reverse();
    for (depth, step) in steps.iter().enumerate() {
        writeln!(out, "{:indent$}{step}", "", indent = 2 * depth)?;
    }
    Ok(())
}
