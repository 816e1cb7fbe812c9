//! Variants of a loop, which start where its root trace does: where they end.
//!
//! A variant was made because a check at the start of the loop failed. Where that is of something that stays as it is in the loop (an option, the
//! type of a sum, the kind of all elements), the variant is a loop of its own. Where the next iteration fails checks of the variant as well, since
//! each iteration meets another function or another type, the loop would be left at once: its code would be there twice, and the second half would
//! need side traces of its own for each of the others. So such a variant continues at the root trace, as a side trace does that starts elsewhere. With
//! two or three kinds there are few such side traces, and they know which kind came before: the first variants loop in any case
//! (`cost::MAX_LEFT_VARIANTS` in `jit/src/policy/cost.rs`).

use super::loops::link_to;
use super::{Recorder, view};
use crate::ir::Link;
use perilune_vm::bc::Op as Bc;
use perilune_vm::interp::hook::enters_code;
use perilune_vm::object::InsPtr;
use perilune_vm::{Value, Vm};

impl Recorder {
    /// Where a trace continues that ends with `link` at the loop instruction `pc`, which is about to run.
    pub(super) fn continuation(&self, vm: &mut Vm, link: Link, pc: InsPtr) -> Link {
        let place = &self.start.place;
        if place.parent.is_none() || place.loops_anyway || pc != self.start.pc || !self.closes_loop(link) {
            return link;
        }
        // The root trace may have been disabled.
        if !enters_code(pc.ins().op()) {
            return link;
        }
        match link_to(pc.ins()) {
            Ok(root) if in_next_iteration(vm, pc, |vm| view::leaves_early(vm, &self.b.trace)) => root,
            _ => link,
        }
    }
}

/// Asks `f` with the locals of a numeric loop as they will be at the start of its body, if the instruction at `pc`, which is about to run, belongs to
/// one. Other loop instructions change nothing that traces from there check.
pub fn in_next_iteration<T>(vm: &mut Vm, pc: InsPtr, f: impl FnOnce(&mut Vm) -> T) -> T {
    let ins = pc.ins();
    let at = |i: usize| (ins.a() + i) as isize;
    let index = view::slot(vm, at(0));
    let next = match ins.op() {
        Bc::FORL | Bc::IFORL | Bc::JFORL => stepped(index, view::slot(vm, at(2))),
        Bc::FORI | Bc::JFORI => Some(index),
        _ => None,
    };
    let Some(next) = next else { return f(vm) };
    let copy = view::slot(vm, at(3));
    view::set_slot(vm, at(0), next);
    view::set_slot(vm, at(3), next);
    let answer = f(vm);
    view::set_slot(vm, at(0), index);
    view::set_slot(vm, at(3), copy);
    answer
}

/// The next value of a loop's counter.
fn stepped(index: Value, step: Value) -> Option<Value> {
    match (index.as_int(), step.as_int()) {
        (Some(i), Some(by)) => Some(Value::int(i.wrapping_add(by))),
        _ => Some(Value::num(index.as_number()? + step.as_number()?)),
    }
}
