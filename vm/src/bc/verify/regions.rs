//! Loops with hidden variables: their shape, and which instructions may access these variables.

use super::effect::{Slots, captured, effect};
use super::{Check, Code, ensure, jumps};
use crate::bc::undump::UndumpError;
use crate::bc::{Ins, Op};

/// The body of a numeric loop, or of one over `next`.
#[derive(Copy, Clone)]
pub(super) struct Region {
    /// First instruction of the body.
    start: usize,
    /// Last instruction of the loop: its FORL or ITERL.
    end: usize,
    /// The loop around it.
    parent: Option<usize>,
    depth: usize,
    /// Slots that only this loop, or a loop around it, may write.
    protected: Slots,
    /// Those of them whose contents are not a Lua value.
    pub(super) raw: Slots,
}

/// The loops of a function.
pub(super) struct Regions {
    list: Vec<Region>,
    /// The innermost loop of each instruction.
    of: Vec<Option<usize>>,
}

/// Finds the loops and checks them.
pub(super) fn find(code: Code) -> Check<Regions> {
    let mut regions = Regions { list: Vec::new(), of: vec![None] };
    let mut open: Option<usize> = None;
    for pc in 1..code.p.bc.len() {
        while let Some(r) = open
            && regions.list[r].end < pc
        {
            open = regions.list[r].parent;
        }
        regions.of.push(open);
        let ins = code.ins(pc)?;
        regions.access(code, pc, ins, open)?;
        if let Some((end, protected, raw)) = opens(code, pc, ins)? {
            let outer = open.map(|r| regions.list[r]);
            if let Some(outer) = outer {
                ensure(end < outer.end && !protected.meets(outer.protected))?;
            }
            let all = outer.map_or(protected, |o| o.protected.or(protected));
            let depth = outer.map_or(1, |o| o.depth + 1);
            open = Some(regions.list.len());
            regions.list.push(Region { start: pc + 1, end, parent: regions.of[pc], depth, protected: all, raw });
        }
        closes(code, pc, ins)?;
    }
    for pc in 1..code.p.bc.len() {
        let ins = code.ins(pc)?;
        if jumps(ins.op()) && ins.op() != Op::LOOP {
            let to = code.target(pc, ins)?;
            ensure(regions.may_jump(pc, to, ins.op()))?;
            // A generic loop's ITERL belongs to the call in front of it.
            ensure(code.ins(to)?.op() != Op::ITERL)?;
        }
    }
    Ok(regions)
}

/// If a loop with hidden variables starts after an instruction: its last instruction, and these variables.
fn opens(code: Code, pc: usize, ins: Ins) -> Check<Option<(usize, Slots, Slots)>> {
    let a = ins.a();
    match ins.op() {
        Op::FORI => {
            let end = code.target(pc, ins)? - 1;
            let forl = code.ins(end)?;
            ensure(end > pc && forl.op() == Op::FORL && forl.a() == a && code.target(end, forl)? == pc + 1)?;
            Ok(Some((end, Slots::range(a, a + 3), Slots::default())))
        }
        Op::ISNEXT => {
            let call = code.target(pc, ins)?;
            let (itern, iterl) = (code.ins(call)?, code.ins(call + 1)?);
            ensure(call > pc && itern.op() == Op::ITERN && itern.a() == a)?;
            ensure(iterl.op() == Op::ITERL && code.target(call + 1, iterl)? == pc + 1)?;
            Ok(Some((call + 1, Slots::range(a - 3, a), Slots::one(a - 1))))
        }
        _ => Ok(None),
    }
}

/// Checks that the end of a loop has its start.
fn closes(code: Code, pc: usize, ins: Ins) -> Check {
    let start = |at: usize, ins: Ins| -> Check<(usize, Ins)> {
        let start = code.target(at, ins)? - 1;
        Ok((start, code.ins(start)?))
    };
    match ins.op() {
        Op::FORL => {
            let (at, head) = start(pc, ins)?;
            ensure(head.op() == Op::FORI && code.target(at, head)? == pc + 1)
        }
        Op::ITERC | Op::ITERN => {
            let iterl = code.ins(pc + 1)?;
            ensure(iterl.op() == Op::ITERL && iterl.a() == ins.a())?;
            let (at, head) = start(pc + 1, iterl)?;
            ensure(head.op() == if ins.op() == Op::ITERN { Op::ISNEXT } else { Op::JMP })?;
            ensure(code.target(at, head)? == pc)
        }
        Op::ITERL => ensure(matches!(code.ins(pc - 1).map(Ins::op), Ok(Op::ITERC | Op::ITERN))),
        _ => Ok(()),
    }
}

impl Regions {
    /// Checks that an instruction does not access the hidden variables of the loops around it.
    fn access(&self, code: Code, pc: usize, ins: Ins, open: Option<usize>) -> Check {
        let mut inside = open;
        if let Some(r) = open
            && (pc == self.list[r].end || pc + 1 == self.list[r].end && ins.op() == Op::ITERN)
        {
            // The instruction is the end of the loop itself.
            inside = self.list[r].parent;
        }
        let mut e = effect(code.p, ins)?;
        if ins.op() == Op::FNEW {
            e.writes = e.writes.or(captured(code.p, ins));
        }
        let mut at = inside;
        if let Some(r) = at {
            ensure(!e.writes.or(e.kills).meets(self.list[r].protected))?;
        }
        while let Some(r) = at {
            ensure(!e.reads.meets(self.list[r].raw))?;
            at = self.list[r].parent;
        }
        Ok(())
    }
    /// May a jump lead from one instruction to another? Not into a loop.
    fn may_jump(&self, from: usize, to: usize, op: Op) -> bool {
        let Some(goal) = self.of[to] else { return true };
        let mut at = self.of[from];
        if op == Op::ISNEXT {
            // A jump to the end of the loop that starts here.
            return self.list[goal].start == from + 1;
        }
        while let Some(r) = at {
            if r == goal {
                return true;
            }
            at = if self.list[r].depth > self.list[goal].depth { self.list[r].parent } else { None };
        }
        false
    }
    /// The slots that lose their value when control leaves loops on a path: those whose contents are not a Lua value.
    pub(super) fn left_behind(&self, from: usize, to: usize) -> Check<Slots> {
        let mut lost = Slots::default();
        let mut at = *self.of.get(from).ok_or(UndumpError::Malformed)?;
        while let Some(r) = at {
            let region = &self.list[r];
            if (region.start..=region.end).contains(&to) {
                break;
            }
            lost = lost.or(region.raw);
            at = region.parent;
        }
        Ok(lost)
    }
}
