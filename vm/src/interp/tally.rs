//! Counting the bytecodes that are interpreted, and pairs that stand one behind the other in the code. Each dispatch between the two
//! of a pair is one that a handler for both would save: `docs/performance.md` has the pairs that are frequent.
//!
//! While they are counted, all entries of the dispatch table are [`tally_step`]. Otherwise it costs nothing.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

use super::bytecode_counts::BytecodeCounts;
use super::fast::name;
use super::op;
use super::registers::HANDLERS;
use crate::Vm;
use crate::bc::Op;

impl Vm {
    /// Counts the bytecodes that are interpreted from now on, from 0; or counts none any more, and forgets those that were counted.
    pub fn count_bytecodes(&mut self, on: bool) {
        self.interp.bytecode_counts = on.then(|| Box::new(BytecodeCounts::new(HANDLERS)));
        self.update_dispatch();
    }
    /// Each bytecode that was interpreted while [`Vm::count_bytecodes`] is on, and how often. The header of a builtin that the interpreter executes
    /// itself has its name.
    pub fn counted_bytecodes(&self) -> Vec<(&'static str, u64)> {
        let counts = self.interp.bytecode_counts.iter();
        counts.flat_map(|c| c.opcodes()).map(|(opcode, n)| (name(opcode), n)).collect()
    }
    /// Each pair of bytecodes of which the second was interpreted behind the first, and how often.
    pub fn counted_pairs(&self) -> Vec<(&'static str, &'static str, u64)> {
        let counts = self.interp.bytecode_counts.iter();
        counts.flat_map(|c| c.pairs()).map(|(first, second, n)| (name(first), name(second), n)).collect()
    }
}

op! {
    /// Before each instruction while bytecodes are counted.
    tally_step<D>(r) {
        if let Some(counts) = &mut (*r.vm).interp.bytecode_counts
            && r.i().op() != Op::STITCH
        {
            counts.count(r.i(), r.pc);
        }
        super::jit::run_counted::<D>(r)
    }
    /// The same at the header of a fast function.
    tally_fast<D>(r) { super::fast::at_code(r).to(tally_step::<D>) }
}
