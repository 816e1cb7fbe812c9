//! Liveness of slots: a slot is live if it may be read before it is written.
//!
//! Exits of compiled code need not restore dead slots. A slot that a closure may refer to is always live. A variable in scope that is not read
//! any more still keeps its object from being collected, as weak tables, finalizers and C pointers to what is in the object show.

use super::verify::effect::{Effect, Slots, captured, effect};
use super::verify::{jumps, transfers};
use super::{Ins, Op};
use crate::object::Proto;

/// The live slots before each instruction of a function.
#[derive(Debug)]
pub struct Liveness {
    live: Vec<Slots>,
    /// The slots of the local variables in scope, before each instruction.
    variables: Vec<Slots>,
}

/// Longer functions are not analysed.
const MAX_INS: usize = 4000;

impl Liveness {
    /// Analyses a function. `original` gives its instructions by index, since compilers patch some. `None` for a function that is too long,
    /// or whose code the parser does not make.
    pub fn new(proto: &Proto, original: impl Fn(usize) -> Ins) -> Option<Liveness> {
        let n = proto.code_len();
        if n > MAX_INS {
            return None;
        }
        let code: Vec<Ins> = (0..n).map(|pc| plain(original(pc))).collect();
        let mut effects = vec![Effect::default()];
        let mut open = Slots::default();
        for &ins in &code[1..] {
            effects.push(effect(proto, ins).ok()?);
            if ins.op() == Op::FNEW {
                open = open.or(captured(proto, ins));
            }
        }
        let mut live = vec![open; n + 1];
        loop {
            let mut changed = false;
            for pc in (1..n).rev() {
                let before = before(&code, &effects, &live, pc)?.or(open);
                changed |= before != live[pc];
                live[pc] = before;
            }
            if !changed {
                break;
            }
        }
        // An exit that resumes at the header has all the arguments.
        live[0] = Slots::from(0);
        Some(Liveness { live, variables: variables(proto) })
    }
    /// Is the slot that of a local variable in scope before the instruction at an index? In stripped code, where that is not known, each slot
    /// may be.
    pub fn is_variable(&self, pc: usize, slot: usize) -> bool {
        self.variables.get(pc).is_none_or(|s| s.has(slot))
    }
    /// May the slot be read before it is written, from the instruction at an index on?
    pub fn is_live(&self, pc: usize, slot: usize) -> bool {
        self.live.get(pc).is_none_or(|s| s.has(slot))
    }
}

/// The slots of the local variables in scope before each instruction; nothing if the function is stripped.
fn variables(proto: &Proto) -> Vec<Slots> {
    if proto.lines.is_empty() {
        return Vec::new();
    }
    let mut counts = vec![0; proto.code_len()];
    for v in &proto.vars {
        for count in counts.iter_mut().take(v.end_pc as usize).skip(v.start_pc as usize) {
            *count += 1;
        }
    }
    // Variables take the slots from the first on, in the order of their scopes.
    counts.into_iter().map(|n| Slots::range(0, n)).collect()
}

/// The form of an instruction that the parser emits.
pub(super) fn plain(ins: Ins) -> Ins {
    match ins.op() {
        Op::IFORL => ins.with_op(Op::FORL),
        Op::IITERL => ins.with_op(Op::ITERL),
        Op::ILOOP => ins.with_op(Op::LOOP),
        Op::JFORI => ins.with_op(Op::FORI),
        _ => ins,
    }
}

/// The live slots before an instruction, computed from those after it. `None` for code that the parser does not make.
fn before(code: &[Ins], effects: &[Effect], live: &[Slots], pc: usize) -> Option<Slots> {
    let (ins, e) = (code[pc], effects[pc]);
    let op = ins.op();
    if matches!(op, Op::JFORL | Op::JITERL | Op::JLOOP) {
        return None;
    }
    let written = e.writes.or(e.kills);
    let mut after = Slots::default();
    if op <= Op::ISF {
        // The next instruction is the jump; a conditional store happens only if it is taken.
        let stores = if e.if_taken { written } else { Slots::default() };
        after = live[pc + 1].minus(stores).or(*live.get(pc + 2)?);
    } else {
        if !transfers(op) {
            let stores = if e.if_taken { Slots::default() } else { written };
            after = live[pc + 1].minus(stores);
        }
        if jumps(op) && op != Op::LOOP {
            let target = usize::try_from(pc as i64 + 1 + i64::from(ins.j())).ok()?;
            // ISNEXT may be patched to a plain jump.
            let stores = if op == Op::ISNEXT { Slots::default() } else { written };
            after = after.or(live.get(target)?.minus(stores));
        }
    }
    let taken = e.takes.map_or(Slots::default(), |from| Slots::from(usize::from(from)));
    Some(after.or(e.reads).or(taken))
}
