//! Guard hoisting: what a loop checks once, in front of its body, it checks first.
//!
//! A guard in front of the loop whose copy checks nothing is about something that the iterations keep: the type of a local that is only read, the
//! function in a field, the kind of a sum that is carried. Where it fails, another trace of the loop is wanted for what was found, from the start
//! of the loop. From an exit in the middle of the iteration a side trace would return to the start, and fail there again in each iteration.
//!
//! So these guards, with what they are computed from, move in front of everything that belongs to a later snapshot. Only code without effects is
//! passed, and the interpreter may execute it again. LuaJIT gets the same from its rule that there is no snapshot without a store since the last.

use crate::ir::buffer::IrBuffer;
use crate::ir::{Effect, Ins, IrRef, Mode, Op};
use core::ops::Range;

/// Runs on a loop whose body has just been copied. `subst` is the copy of each instruction in front of the LOOP, and `checked_once` says whether the
/// copy checks nothing.
pub fn run(b: &mut IrBuffer, subst: &[IrRef], checked_once: &[bool]) {
    let Some(first) = b.trace.snaps.get(1).map(|s| s.at.ins_index()) else { return };
    let end = (1..subst.len()).find(|&i| has_effect(&b.trace.ins[i])).unwrap_or(subst.len());
    if first >= end {
        return;
    }
    let is_kept = |i: usize| is_kept(&b.trace.ins, subst, checked_once, i);
    let hoisted = hoisted(&b.trace.ins, first..end, is_kept);
    if hoisted.contains(&true) {
        reorder(b, first, &hoisted);
    }
}

/// Must the interpreter not execute again what this instruction stands for, or does it need memory?
fn has_effect(ins: &Ins) -> bool {
    !matches!(ins.op.effect(), Effect::Pure | Effect::Load) && ins.op != Op::USE
}

/// Is instruction `i` the same in all iterations, or is it the load of a value whose type they keep? What protects its memory is as invariant as its
/// address, and moves with it.
fn is_kept(ins: &[Ins], subst: &[IrRef], checked_once: &[bool], i: usize) -> bool {
    let is_same = |i: usize| subst[i] == IrRef::of_ins(i);
    let is_load = matches!(ins[i].op, Op::SLOAD | Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::FLOAD | Op::XLOAD);
    is_same(i) || is_load && checked_once[i] && ins[i].operands().all(|r| is_same(r.ins_index()))
}

/// By instruction of the range: is it a guard to hoist, or is such a guard computed from it?
fn hoisted(ins: &[Ins], range: Range<usize>, is_kept: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut movable: Vec<bool> = Vec::with_capacity(range.len());
    for i in range.clone() {
        let is_early = |r: IrRef| {
            let at = r.ins_index();
            at < range.start || movable[at - range.start]
        };
        // The parts of a text and the arguments of a call stay together.
        let stays = matches!(ins[i].op, Op::NOP | Op::CARG | Op::BUFHDR | Op::SREF | Op::USE);
        movable.push(!stays && is_kept(i) && ins[i].operands().all(is_early));
    }
    let mut hoisted = vec![false; range.len()];
    for i in range.clone().rev() {
        let at = i - range.start;
        hoisted[at] |= movable[at] && ins[i].is_guard();
        if hoisted[at] {
            for r in ins[i].operands().map(IrRef::ins_index).filter(|&r| r >= range.start) {
                hoisted[r - range.start] = true;
            }
        }
    }
    hoisted
}

/// Puts the hoisted instructions from index `first` on before the others, and the snapshots of the others after them.
fn reorder(b: &mut IrBuffer, first: usize, hoisted: &[bool]) {
    let end = first + hoisted.len();
    let order: Vec<usize> = [true, false].iter().flat_map(|&h| (first..end).filter(move |i| hoisted[i - first] == h)).collect();
    let mut place: Vec<usize> = (0..hoisted.len()).collect();
    for (to, &from) in order.iter().enumerate() {
        place[from - first] = first + to;
    }
    let moved = |r: IrRef| if (first..end).contains(&r.ins_index()) { IrRef::of_ins(place[r.ins_index() - first]) } else { r };
    let origins: Vec<_> = (first..end).map(|i| b.trace.origin_at(i)).collect();
    let ins: Vec<Ins> = order.iter().map(|&i| b.trace.ins[i]).collect();
    b.trace.ins[first..end].copy_from_slice(&ins);
    for ins in &mut b.trace.ins[first..] {
        for (mode, r) in [(ins.op.mode_a(), &mut ins.a), (ins.op.mode_b(), &mut ins.b)] {
            if mode == Mode::Ref && !r.is_const() {
                *r = moved(*r);
            }
        }
    }
    // A snapshot begins at the first instruction after it that stays.
    for snap in b.trace.snaps.iter_mut().skip(1) {
        let at = snap.at.ins_index();
        if at < end {
            let stays = (at..end).find(|i| !hoisted[i - first]);
            snap.at = IrRef::of_ins(stays.map_or(end, |i| place[i - first]));
        }
        for s in &mut snap.slots {
            if !s.value.is_const() {
                s.value = moved(s.value);
            }
        }
    }
    remove_unused(b, end);
    b.trace.set_origins(first, order.iter().map(|&i| origins[i - first]));
    b.rebuild_chains();
}

/// Removes the snapshots that no guard leaves through any more, up to the first instruction with an effect, which may store the slots of the one
/// before it.
fn remove_unused(b: &mut IrBuffer, end: usize) {
    let mut k = 1;
    while b.trace.snaps.get(k + 1).is_some_and(|next| next.at.ins_index() <= end) {
        let range = b.trace.snaps[k].at.ins_index()..b.trace.snaps[k + 1].at.ins_index();
        if b.trace.ins[range].iter().any(|i| i.is_guard()) {
            k += 1;
        } else {
            b.trace.snaps.remove(k);
        }
    }
}
