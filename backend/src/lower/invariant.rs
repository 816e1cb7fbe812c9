//! Nums of a loop that live across a call outside of it.
//!
//! A call clobbers all vector registers. The allocator splits the range of a num that lives across it and keeps what is not near a use on the
//! stack, also in the loop: each iteration then loads the num and stores it again, and the next iteration waits for that store. A copy made
//! after the call has a range of its own, which no call splits.

use super::Lower;
use super::known::KnownSlot;
use super::plan::Class;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use perilune_recorder::ir::{Effect, IrRef, Op, Trace};

/// Is the instruction lowered to a call, at least in most cases?
fn calls(op: Op) -> bool {
    (Op::CALLN..=Op::CALLXS).contains(&op) || matches!(op, Op::ALEN | Op::NEWREF) || op.effect() == Effect::Alloc
}

impl Lower<'_> {
    /// Copies each num in front of the loop that was computed before the last call and that an instruction of the loop uses, but for those that
    /// the loop carries: their ranges end here. Through a general register, since the allocator would join a plain copy with its source.
    pub(super) fn copy_invariants(&mut self, carried: &[(usize, Type)]) {
        let Some(called) = self.cur.called else { return };
        let trace = self.cur.trace;
        let mut seen: Vec<usize> = carried.iter().map(|(left, _)| *left).collect();
        for at in self.cur.at + 1..trace.ins.len() {
            let ins = trace.ins[at];
            if ins.op == Op::PHI || self.cur.plan.class[at] != Class::Hot {
                continue;
            }
            for i in ins.operands().map(IrRef::ins_index).filter(|&i| i < called) {
                if !seen.contains(&i) {
                    seen.push(i);
                    self.copy_invariant(i);
                }
            }
        }
    }

    fn copy_invariant(&mut self, i: usize) {
        if let Some(value) = self.cur.values[i].expand() {
            self.cur.values[i] = self.copy_num(value).into();
        }
    }

    /// Copies the nums that a side trace knows, if it calls something: its calls must not split the ranges of the loop that it follows.
    pub(super) fn copy_nums_for(&mut self, side: &Trace, known: &mut [KnownSlot]) {
        if side.ins.iter().any(|i| calls(i.op)) {
            for k in known.iter_mut().filter(|k| k.word.is_none()) {
                k.value = self.copy_num(k.value);
            }
        }
    }

    /// Another value with the bits of a num; values of other types are the same.
    fn copy_num(&mut self, value: Value) -> Value {
        if self.pos.func.dfg.value_type(value) != types::F64 {
            return value;
        }
        let word = self.pos.ins().bitcast(types::I64, MemFlagsData::new(), value);
        self.pos.ins().bitcast(types::F64, MemFlagsData::new(), word)
    }
}
