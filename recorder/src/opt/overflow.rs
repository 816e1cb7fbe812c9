//! Overflow checks of partial sums.
//!
//! A sum of ints that is used only as a term of another sum is computed in 64 bits, where it cannot overflow, and only the final sum is
//! checked. All of them leave by the same exit, as do the guards in between. If a partial sum does not fit an int but the final sum does,
//! the result is still what the interpreter computes with doubles.
//!
//! One of the terms of the final sum may be a product that is not checked either: since the sum and its other terms fit ints, the product is
//! far from where doubles are not exact. That a product is -0 does not show in a sum with an int, which is never -0, unless the int is
//! subtracted from it.

use crate::ir::{Effect, Ins, IrRef, Op, Trace};

/// By instruction: is it an ADDOV, SUBOV or MULOV that is computed in 64 bits and not checked?
pub fn wide(trace: &Trace) -> Vec<bool> {
    let is_sum = |ins: &Ins| ins.is_guard() && matches!(ins.op, Op::ADDOV | Op::SUBOV);
    let n = trace.ins.len();
    // Of each sum: is one of its terms a product that is not checked?
    let mut has_product = vec![false; n];
    let (mut wide, mut uses, mut region) = (vec![false; n], vec![0u8; n], vec![0u16; n]);
    for r in trace.snaps.iter().flat_map(|snap| &snap.slots).map(|s| s.value).filter(|r| !r.is_const()) {
        uses[r.ins_index()] = u8::MAX;
    }
    for r in trace.ins.iter().flat_map(|ins| ins.operands()) {
        uses[r.ins_index()] = uses[r.ins_index()].saturating_add(1);
    }
    let (mut now, mut snaps) = (0, trace.snaps.iter().skip(1).peekable());
    for (i, ins) in trace.ins.iter().enumerate() {
        while snaps.next_if(|s| s.at.ins_index() <= i).is_some() {
            now += 1;
        }
        if ins.op.effect() == Effect::Store && ins.op != Op::USE {
            now += 1;
        }
        region[i] = now;
        if !is_sum(ins) {
            continue;
        }
        for r in ins.operands().map(IrRef::ins_index).filter(|&r| uses[r] == 1 && region[r] == now) {
            let term = &trace.ins[r];
            let is_product = term.is_guard() && term.op == Op::MULOV && !(ins.op == Op::SUBOV && ins.a == IrRef::of_ins(r));
            let brings_product = is_product || has_product[r];
            wide[r] = (is_sum(term) || is_product) && !(brings_product && has_product[i]);
            has_product[i] |= wide[r] && brings_product;
        }
    }
    wide
}
