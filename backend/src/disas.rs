//! Texts of compiled code.

use crate::compile::{CodeMap, CodePart};
use crate::lower::{exit_located, located};
use cranelift_codegen::CompiledCode;

/// The machine code as Cranelift prints it: one instruction per line, blocks and constants labelled.
pub(crate) fn machine_text(code: &CompiledCode) -> String {
    code.vcode.clone().unwrap_or_default()
}

/// Code offset and instruction index of the root trace, ascending by offset.
pub(crate) fn address_map(code: &CompiledCode) -> impl Iterator<Item = (u32, u16)> + '_ {
    code.buffer.get_srclocs_sorted().iter().filter_map(|l| Some((l.start, located(l.loc)? as u16)))
}

/// See [`CodeMap`]; the trace has `exits` exits.
pub(crate) fn code_map(code: &CompiledCode, exits: usize, sampled: bool) -> CodeMap {
    let mut map = CodeMap { text: 0, exits: vec![0; exits], parts: Vec::new() };
    for l in code.buffer.get_srclocs_sorted() {
        map.text = map.text.max(l.end);
        if let Some(at) = exit_located(l.loc).and_then(|k| map.exits.get_mut(k)).filter(|at| **at == 0) {
            *at = l.start;
        }
        if sampled {
            let part = match (located(l.loc), exit_located(l.loc)) {
                (Some(i), _) => CodePart::Ins(i as u16),
                (_, Some(k)) => CodePart::Exit(k as u16),
                _ => CodePart::Other,
            };
            map.parts.push((l.start, part));
        }
    }
    map
}
