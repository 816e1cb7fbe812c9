//! Checks that a prototype read from bytes can be run safely: that it does nothing that the parser's code could not do.
//!
//! The interpreter and the compiler trust bytecode. They rely on these properties, which are checked here:
//! * operands are in range and constants have the right type ([`effect`], [`constants`]);
//! * jumps stay inside, comparisons are followed by jumps, and loops have the shape that the parser gives them ([`regions`]);
//! * the hidden variables of a loop are written by the loop alone, and no jump leads into it ([`regions`]);
//! * slots are assigned before they are read, a variable number of values is used by the next instruction, and no slot that a closure
//!   refers to is left open where a call or a return would reuse it ([`flow`]).

mod constants;
pub(super) mod effect;
mod flow;
mod regions;

use super::undump::UndumpError;
use super::{Ins, KGc, Op, ProtoData};

/// Most slots of a frame, and most upvalues of a function: the parser's limits.
const MAX_SLOTS: u8 = 250;
const MAX_UPVALUES: usize = 60;
/// Most instructions of a function.
const MAX_INS: usize = 1 << 26;

type Check<T = ()> = Result<T, UndumpError>;

/// An error unless the condition holds.
fn ensure(holds: bool) -> Check {
    if holds { Ok(()) } else { Err(UndumpError::Malformed) }
}

/// Checks a prototype and its children, which the reader has checked not to be nested too deeply.
///
/// # Errors
/// It could not be run safely.
pub(super) fn verify(p: &ProtoData) -> Check {
    frame(p)?;
    variables(p)?;
    let code = Code { p };
    let most = constants::most_entries(p);
    for pc in 1..p.bc.len() {
        let ins = code.ins(pc)?;
        constants::check(p, ins, most)?;
        effect::effect(p, ins)?;
        follow(code, pc, ins)?;
    }
    let regions = regions::find(code)?;
    flow::check(code, &regions)?;
    for k in &p.kgc {
        if let KGc::Proto(child) = k {
            for d in &child.upvalues {
                let n = if d.local { usize::from(p.framesize) } else { p.upvalues.len() };
                ensure(usize::from(d.index) < n)?;
            }
            verify(child)?;
        }
    }
    Ok(())
}

/// Checks the sizes.
fn frame(p: &ProtoData) -> Check {
    ensure((2..MAX_INS).contains(&p.bc.len()))?;
    ensure((1..=MAX_SLOTS).contains(&p.framesize) && p.num_params <= p.framesize)?;
    ensure(p.upvalues.len() <= MAX_UPVALUES)
}

/// Checks that no more variables are in scope at a time than there are slots: the debug library counts them.
fn variables(p: &ProtoData) -> Check {
    let mut ends: Vec<u32> = Vec::new();
    for v in &p.vars {
        ends.retain(|end| *end > v.start_pc);
        ends.push(v.end_pc);
        ensure(ends.len() <= usize::from(p.framesize))?;
    }
    Ok(())
}

/// The code of a prototype.
#[derive(Copy, Clone)]
struct Code<'a> {
    p: &'a ProtoData,
}

impl Code<'_> {
    /// The instruction at an index, without the header.
    fn ins(self, pc: usize) -> Check<Ins> {
        let ins = *self.p.bc.get(pc).ok_or(UndumpError::Malformed)?;
        ensure(pc > 0 && usize::from(ins.0 as u8) < Op::COUNT)?;
        Ok(ins)
    }
    /// The target of the jump at an index.
    fn target(self, pc: usize, ins: Ins) -> Check<usize> {
        let to = pc as i64 + 1 + i64::from(ins.j());
        ensure(to >= 1 && to < self.p.bc.len() as i64)?;
        Ok(to as usize)
    }
}

/// Does an instruction have a jump?
pub(super) fn jumps(op: Op) -> bool {
    Op::MODES[op as usize] >> 7 & 15 == 13
}

/// Does control never reach the next instruction from this one?
pub(super) fn transfers(op: Op) -> bool {
    matches!(op, Op::JMP | Op::UCLO | Op::ISNEXT | Op::RET | Op::RET0 | Op::RET1 | Op::RETM | Op::CALLT | Op::CALLMT)
}

/// Checks the instructions that must follow an instruction, and its jump.
fn follow(code: Code, pc: usize, ins: Ins) -> Check {
    let op = ins.op();
    if jumps(op) {
        code.target(pc, ins)?;
        ensure(matches!(op, Op::FORI | Op::ISNEXT) || ins.a() <= usize::from(code.p.framesize))?;
    }
    if op <= Op::ISF {
        ensure(code.ins(pc + 1)?.op() == Op::JMP)?;
    }
    if !transfers(op) {
        ensure(pc + 1 < code.p.bc.len())?;
    }
    Ok(())
}
