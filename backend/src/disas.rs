//! Listings and maps of compiled code.

use crate::output::{CodeMap, Part};
use crate::source_loc::{exit_located, located};
use core::ops::Range;
use cranelift_codegen::CompiledCode;

/// The machine code as Cranelift prints it: one instruction per line, blocks and constants labelled.
pub(crate) fn machine_text(code: &CompiledCode) -> String {
    code.vcode.clone().unwrap_or_default()
}

/// Code offset and instruction index of the root trace, ascending by offset.
pub(crate) fn address_map(code: &CompiledCode) -> impl Iterator<Item = (u32, u16)> + '_ {
    code.buffer.get_srclocs_sorted().iter().filter_map(|l| Some((l.start, located(l.loc)? as u16)))
}

/// The code of the instructions of the root trace after instruction `head`.
pub(crate) fn code_behind(code: &CompiledCode, head: usize) -> Option<Range<u32>> {
    let locations = code.buffer.get_srclocs_sorted().iter();
    let body = locations.filter(|l| located(l.loc).is_some_and(|i| i > head));
    body.map(|l| l.start..l.end).reduce(|all, l| all.start.min(l.start)..all.end.max(l.end))
}

/// See [`CodeMap`]; the trace has `exits` exits.
pub(crate) fn code_map(code: &CompiledCode, exits: usize) -> CodeMap {
    let mut map = CodeMap { text: 0, exits: vec![0; exits], parts: Vec::new() };
    for l in code.buffer.get_srclocs_sorted() {
        map.text = map.text.max(l.end);
        if let Some(at) = exit_located(l.loc).and_then(|k| map.exits.get_mut(k.index())).filter(|at| **at == 0) {
            *at = l.start;
        }
    }
    map
}

/// See [`CodeMap::parts`]; the trace has `exits` exits.
pub(crate) fn parts(code: &CompiledCode, exits: usize) -> Vec<(u32, Part)> {
    let mut parts: Vec<(u32, Part)> = Vec::new();
    for l in code.buffer.get_srclocs_sorted() {
        let part = match (located(l.loc), exit_located(l.loc).filter(|k| k.index() < exits)) {
            (Some(i), _) => Part::Ins(i),
            (_, Some(k)) => Part::Exit(k),
            _ => Part::Other,
        };
        if parts.last().is_none_or(|p| p.1 != part) {
            parts.push((l.start, part));
        }
    }
    parts
}
