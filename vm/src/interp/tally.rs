//! Counts of the bytecodes that are interpreted, and of pairs that stand one behind the other in the code. Each dispatch between the two
//! of a pair is one that a handler for both would save: `docs/performance.md` has the pairs that are frequent.
//!
//! While it counts, all entries of the dispatch table are [`tally_step`]. Otherwise it costs nothing.
#![allow(unsafe_code, reason = "registers as in `vm/src/interp/mod.rs`")]

use super::fast::name;
use super::op;
use super::registers::HANDLERS;
use crate::Vm;
use crate::bc::{Ins, Op};

/// The counts.
pub struct Tally {
    /// Of pairs, by both opcodes.
    pairs: Vec<u64>,
    /// Of single ones.
    single: [u64; HANDLERS],
    /// The opcode that was executed last.
    last: usize,
    /// The address of the instruction behind it.
    after: usize,
}

impl Tally {
    fn new() -> Tally {
        Tally { pairs: vec![0; HANDLERS * HANDLERS], single: [0; HANDLERS], last: 0, after: 0 }
    }
    /// Counts an instruction, `next` being behind it. A comparison and its jump are one.
    #[inline(always)]
    fn count(&mut self, ins: Ins, next: *const Ins) {
        let opcode = (ins.0 & 0xff) as usize % HANDLERS;
        self.single[opcode] += 1;
        let size = size_of::<Ins>();
        if next.addr() == self.after + size {
            self.pairs[self.last * HANDLERS + opcode] += 1;
        }
        self.last = opcode;
        self.after = next.addr() + if opcode < Op::ISTYPE as usize { size } else { 0 };
    }
    /// Each bytecode that was interpreted, and how often. The header of a builtin that the interpreter executes itself has its name.
    pub fn bytecodes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.single.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| (name(i), *n))
    }
    /// Each pair of which the second was interpreted behind the first, and how often.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let pairs = self.pairs.iter().enumerate().filter(|(_, n)| **n > 0);
        pairs.map(|(i, n)| (name(i / HANDLERS), name(i % HANDLERS), *n))
    }
}

impl Vm {
    /// Counts the bytecodes that are interpreted from now on, from 0; or counts none any more, and forgets those that were counted.
    pub fn count_bytecodes(&mut self, on: bool) {
        self.interp.tally = on.then(|| Box::new(Tally::new()));
        self.update_dispatch();
    }
    /// What was counted, while [`Vm::count_bytecodes`] is on.
    pub fn bytecode_counts(&self) -> Option<&Tally> {
        self.interp.tally.as_deref()
    }
}

op! {
    /// Before each instruction while bytecodes are counted.
    tally_step<D>(r) {
        if let Some(tally) = &mut (*r.vm).interp.tally
            && r.i().op() != Op::STITCH
        {
            tally.count(r.i(), r.pc);
        }
        super::jit::run_counted::<D>(r)
    }
    /// The same at the header of a fast function.
    tally_fast<D>(r) { super::fast::at_code(r).to(tally_step::<D>) }
}
