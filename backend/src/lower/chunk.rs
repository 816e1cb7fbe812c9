//! Counted loops in chunks. Where a loop ends with the test of its counter, and nothing in it takes long, the test compares with the end of a
//! chunk of iterations; only there are samples, interrupts and limits looked at, and the real end of the loop:
//!
//! ```text
//! chunk(phis): PROF, end = min(stop, counter + length * step) -> head(phis): ... guard counter <= end --+
//!   ^                                                              ^---------------------------------+
//!   +-- counter <= stop -- (cold) where the guard fails; the exit otherwise
//! ```
//!
//! An iteration without PROF costs nothing for it.

use super::counted::{Counted, counted};
use super::plan::Class;
use super::rotate::GuardBranch;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use perilune_recorder::ir::{Effect, Op, Trace};

/// So many instructions of the IR are executed in a chunk: they take about 50 microseconds.
const LENGTH: usize = 1 << 16;

/// The loop being lowered.
#[derive(Copy, Clone)]
pub(super) struct Chunk {
    /// Index of the test of the counter.
    test: usize,
    /// Where a chunk begins.
    start: Block,
    /// The last value of the counter in the chunk.
    end: Value,
}

/// Does an instruction take a short time, whatever its operands are?
fn is_short(op: Op) -> bool {
    match op.effect() {
        Effect::Pure => !matches!(op, Op::SNEW | Op::TOSTR | Op::STRTO | Op::CNEWI | Op::CALLN),
        Effect::Load => !matches!(op, Op::HREF | Op::BUFHDR | Op::BUFPUT | Op::BUFNUM | Op::CALLL),
        Effect::Store if op.is_guard() => matches!(op, Op::PROF | Op::FUEL),
        Effect::Store => !matches!(op, Op::NEWREF | Op::CALLS | Op::CALLXS | Op::RESUME | Op::YIELD | Op::COEND),
        Effect::Alloc => false,
    }
}

impl Lower<'_> {
    /// The loop whose LOOP is the current instruction, if it can be split into chunks.
    pub(super) fn in_chunks(&self) -> Option<Counted> {
        let (trace, head): (&Trace, usize) = (self.cur.trace, self.cur.at);
        let counted = counted(trace, head)?;
        let is_last = self.cur.plan.class[counted.test + 1..]
            .iter()
            .zip(&trace.ins[counted.test + 1..])
            .all(|(class, ins)| ins.op == Op::PHI || *class != Class::Hot);
        // Stress that makes guards fail looks at each of them.
        let is_stressed = trace.ins[counted.test].is_stressed();
        let moves = self.konst_int(counted.step).is_none_or(|step| if counted.up { step > 0 } else { step < 0 });
        (is_last && moves && !is_stressed && trace.ins[head..].iter().all(|i| i.is_sunk() || is_short(i.op))).then_some(counted)
    }

    /// At the start of a chunk, with its loop-carried values: leaves if something waits, and computes where the chunk ends.
    pub(super) fn begin_chunk(&mut self, counted: &Counted, start: Block) -> Res<()> {
        // Guards at the head of the loop have the same exit with other values.
        self.cur.starting = true;
        self.cur.emitting = counted.prof;
        self.prof()?;
        self.cur.starting = false;
        self.cur.asked = Some(counted.prof);
        let length = (LENGTH / (self.cur.trace.ins.len() - self.cur.at)) as i64;
        let (first, step, stop) = (self.int(counted.first)?, self.int(counted.step)?, self.int(counted.stop)?);
        let [first, stop] = [first, stop].map(|value| self.pos.ins().sextend(types::I64, value));
        let steps = match self.konst_int(counted.step) {
            Some(step) => self.k64((i64::from(step) * length) as u64),
            None => {
                let (step, length) = (self.pos.ins().sextend(types::I64, step), self.k64(length as u64));
                self.pos.ins().imul(step, length)
            }
        };
        // One less: where the step is 0, the test fails each time.
        let (end, less) = (self.pos.ins().iadd(first, steps), if counted.up { -1 } else { 1 });
        let end = self.offset(end, less);
        let end = if counted.up { self.pos.ins().smin(end, stop) } else { self.pos.ins().smax(end, stop) };
        // A step in the other direction may lead out of the ints. The test fails each time then, too.
        let end = match (self.konst_int(counted.step), counted.up) {
            (Some(_), _) => end,
            (None, true) => {
                let least = self.k64(i64::from(i32::MIN) as u64);
                self.pos.ins().smax(end, least)
            }
            (None, false) => {
                let most = self.k64(i32::MAX as u64);
                self.pos.ins().smin(end, most)
            }
        };
        let end = self.pos.ins().ireduce(types::I32, end);
        self.cur.chunk = Some(Chunk { test: counted.test, start, end });
        Ok(())
    }

    /// The test at the end of a loop, `value` compared with `stop`, if the loop is split into chunks.
    pub(super) fn ends_chunk(&mut self, cc: IntCC, value: Value, stop: Value) -> Res<bool> {
        let Some(chunk) = self.cur.chunk.filter(|c| c.test == self.cur.at) else { return Ok(false) };
        let exit = self.exit()?;
        let cond = self.pos.ins().icmp(cc, value, chunk.end);
        let (next, over, more) = (self.block(), self.cold_block(), self.cold_block());
        let branch = self.pos.ins().brif(cond, next, &[], over, &[]);
        self.cur.last_guard = Some(GuardBranch { branch, cond, continues: true, next, exit: over });
        self.enter(over);
        let goes_on = self.pos.ins().icmp(cc, value, stop);
        self.pos.ins().brif(goes_on, more, &[], exit, &[]);
        self.enter(more);
        let args = self.carried()?;
        self.jump(chunk.start, &args);
        self.enter(next);
        Ok(true)
    }
}
