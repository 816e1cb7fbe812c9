//! The loops of a function.

use super::report::Bytecode;

/// A loop in bytecode.
pub struct Loop {
    /// Its first instruction.
    pub first: usize,
    /// Its last one.
    pub last: usize,
    /// The instruction that traces of it start at.
    pub end: usize,
}

/// The loops of a function, by the text of the bytecode: `FORL` and `ITERL` lead back to the start, `LOOP` is at the start of other loops and
/// names the instruction after them.
pub fn loops(code: &[Bytecode]) -> Vec<Loop> {
    let mut loops = Vec::new();
    for (pc, b) in code.iter().enumerate() {
        let op = b.text.split(' ').next().unwrap_or_default();
        let target = || b.text.split_once("=> ")?.1.split_whitespace().next()?.parse::<usize>().ok();
        match (op, target()) {
            ("FORL" | "ITERL", Some(first)) => loops.push(Loop { first, last: pc, end: pc }),
            ("LOOP", Some(after)) if after > pc => loops.push(Loop { first: pc, last: after - 1, end: pc }),
            _ => {}
        }
    }
    loops
}
