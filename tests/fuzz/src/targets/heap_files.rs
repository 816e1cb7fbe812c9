//! The readers of heap dumps and snapshots: any bytes are an error or a report.

use perilune_tools::heap::{diff, parse, summary, why};

/// Objects that are asked for.
const SOME: usize = 4;

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(graph) = parse(data, data.len() as u64) else { return };
    let mut out = Vec::new();
    summary::write(&graph, 20, &mut out).expect("memory takes it");
    diff::write(&graph, &graph, 20, &mut out).expect("memory takes it");
    for object in (0..graph.len()).step_by(graph.len() / SOME + 1) {
        // Two objects may have one id, or one that cannot be written.
        let _ = why::write(&graph, &graph.id(object), 2, &mut out).expect("memory takes it");
        why::write(&graph, graph.name(object), 2, &mut out).expect("memory takes it").expect("the object is there");
    }
}
