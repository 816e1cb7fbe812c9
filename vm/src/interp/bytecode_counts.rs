//! Numbers of bytecodes, and of pairs that stand one behind the other in the code.

use crate::bc::{Ins, Op};

/// How often each opcode was counted, and each pair of them.
pub(crate) struct BytecodeCounts {
    /// Of pairs, by both opcodes.
    pairs: Vec<u64>,
    /// Of single ones.
    single: Vec<u64>,
    /// The opcode that was executed last.
    last: usize,
    /// The address of the instruction behind it.
    after: usize,
}

impl BytecodeCounts {
    /// Nothing is counted yet, of so many opcodes.
    pub(super) fn new(opcodes: usize) -> BytecodeCounts {
        BytecodeCounts { pairs: vec![0; opcodes * opcodes], single: vec![0; opcodes], last: 0, after: 0 }
    }
    /// Counts an instruction, `next` being behind it. A comparison and its jump are one.
    #[inline(always)]
    pub(super) fn count(&mut self, ins: Ins, next: *const Ins) {
        let opcodes = self.single.len();
        let opcode = (ins.0 & 0xff) as usize % opcodes;
        self.single[opcode] += 1;
        let size = size_of::<Ins>();
        if next.addr() == self.after + size {
            self.pairs[self.last * opcodes + opcode] += 1;
        }
        self.last = opcode;
        self.after = next.addr() + if opcode < Op::ISTYPE as usize { size } else { 0 };
    }
    /// Each opcode that was counted, and how often.
    pub(super) fn opcodes(&self) -> impl Iterator<Item = (usize, u64)> {
        self.single.iter().copied().enumerate().filter(|(_, n)| *n > 0)
    }
    /// Each pair of opcodes of which the second was counted behind the first, and how often.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        let opcodes = self.single.len();
        let pairs = self.pairs.iter().copied().enumerate().filter(|(_, n)| *n > 0);
        pairs.map(move |(i, n)| (i / opcodes, i % opcodes, n))
    }
}
