//! Counted loops in chunks. Where a loop ends with the test of its counter, and nothing in it takes long, the test compares with the end of a
//! chunk of iterations. Only where another chunk follows is it checked whether code is to be left:
//!
//! ```text
//! chunk(phis, stop): end = stop or counter + length * step -> head(phis): ... guard counter <= end --+
//!   ^                                                           ^-----------------------------------+
//!   +-- PROF -- counter <= stop -- (cold) where the guard fails; the exit otherwise
//! ```
//!
//! A loop that is entered for a few iterations does not look: whatever enters it time and again does.

use super::counted::{Counted, asks_at_its_end, counted, moves};
use super::plan::Class;
use super::rotate::GuardBranch;
use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use perilune_recorder::ir::{Effect, IrRef, Op, SnapId, SnapSlot, Trace, sload};

/// So many instructions of the IR are executed in a chunk: they take about 200 microseconds.
const LENGTH: usize = 1 << 18;

/// The loop being lowered.
#[derive(Copy, Clone)]
pub(super) struct Chunk {
    /// Index of the PROF.
    prof: usize,
    /// Index of the test of the counter.
    test: usize,
    /// The counter before it is tested, less a step.
    counter: IrRef,
    step: IrRef,
    /// Where a chunk begins.
    start: Block,
    /// The last value of the counter in the chunk.
    end: Value,
    stop: Stop,
}

/// The end of the whole loop.
#[derive(Copy, Clone)]
enum Stop {
    Value(Value),
    /// It is in the stack slot with this offset.
    Slot(i32),
}

/// What follows the end of a chunk.
#[derive(Copy, Clone)]
pub(super) struct ChunkEnd {
    /// The test of the counter.
    cc: IntCC,
    value: Value,
    /// What the counter is compared with: see [`Lower::chunk_stop`].
    stop: Stop,
    /// Goes on with another chunk.
    more: Block,
    exit: Block,
}

/// Does an instruction take a short time, whatever its operands are?
fn is_short(op: Op) -> bool {
    match op.effect() {
        Effect::Pure => !matches!(op, Op::SNEW | Op::TOSTR | Op::STRTO | Op::CNEWI | Op::CALLN),
        Effect::Load => !matches!(op, Op::HREF | Op::BUFHDR | Op::BUFPUT | Op::BUFNUM | Op::BUFFMT | Op::CALLL),
        Effect::Store if op.is_guard() => matches!(op, Op::PROF | Op::FUEL),
        Effect::Store => !matches!(op, Op::NEWREF | Op::CALLS | Op::CALLXS | Op::RESUME | Op::YIELD | Op::COEND),
        Effect::Alloc => false,
    }
}

impl Lower<'_> {
    /// The loop whose LOOP is the current instruction, if it can be split into chunks.
    pub(super) fn in_chunks(&self) -> Option<Counted> {
        let (trace, head): (&Trace, usize) = (self.cur.trace, self.cur.at);
        let counted = counted(trace, head).filter(|c| asks_at_its_end(trace, c))?;
        let is_last = self.cur.plan.class[counted.test + 1..]
            .iter()
            .zip(&trace.ins[counted.test + 1..])
            .all(|(class, ins)| ins.op == Op::PHI || *class != Class::Hot);
        // Stress that makes guards fail looks at each of them.
        let is_stressed = trace.ins[counted.test].is_stressed();
        let moves = self.konst_int(counted.step).is_none() || moves(trace, head, &counted);
        let is_short = trace.ins[head..].iter().all(|i| i.is_sunk() || is_short(i.op));
        (is_last && moves && !is_stressed && is_short).then_some(counted)
    }

    /// At the start of a chunk, with its loop-carried values and the end of the loop, `stop`: where the chunk ends.
    pub(super) fn begin_chunk(&mut self, counted: &Counted, start: Block, stop: Value) -> Res<()> {
        let length = (LENGTH / (self.cur.trace.ins.len() - self.cur.at)) as u32;
        self.cur.asked = Some(counted.prof);
        let stop_at = self.stop_of(counted)?;
        let end = self.end_of_chunk(counted, length, stop)?;
        let &Counted { prof, test, first: counter, step, .. } = counted;
        self.cur.chunk = Some(Chunk { prof, test, counter, step, start, end, stop: stop_at });
        Ok(())
    }

    /// Where the end of the loop is. The stack slot that a counted loop has for it stays as it is: exits rely on that. To read it there, once
    /// at the end of a chunk, leaves a register to the loop.
    fn stop_of(&mut self, counted: &Counted) -> Res<Stop> {
        let trace: &Trace = self.cur.trace;
        let loaded = trace.def(counted.stop).filter(|i| i.op == Op::SLOAD && i.b.0 & sload::CONVERT == 0);
        let is_kept =
            |s: &SnapSlot| s.value == counted.stop && s.flags & (SnapSlot::NORESTORE | SnapSlot::STORED) == SnapSlot::NORESTORE;
        let slot = loaded.map(|i| i.a.slot()).filter(|&slot| {
            let kept = |k| trace.snap(k).slots.iter().any(|s| s.slot == slot && is_kept(s));
            self.snap_of_prof(counted.prof).is_some_and(kept)
        });
        Ok(match slot {
            Some(slot) => Stop::Slot(self.slot_offset(slot)),
            None => Stop::Value(self.int(counted.stop)?),
        })
    }
    fn chunk_stop(&mut self, stop: Stop) -> Value {
        match stop {
            Stop::Value(value) => value,
            Stop::Slot(at) => self.pos.ins().load(types::I32, MEM, self.cur.base, at),
        }
    }
    /// The snapshot of a PROF.
    fn snap_of_prof(&self, prof: usize) -> Option<SnapId> {
        self.cur.trace.snap_ids().find(|&k| self.cur.trace.guarded_by(k).contains(&prof))
    }

    /// The last value of the counter in a chunk. Side traces may enter the loop for a few iterations each: then the chunk ends where the loop does,
    /// which takes one comparison.
    fn end_of_chunk(&mut self, counted: &Counted, length: u32, stop: Value) -> Res<Value> {
        let (begun, long) = (self.block(), self.cold_block());
        let end = self.block_param(begun, types::I32);
        if !moves(self.cur.trace, self.cur.at, counted) {
            let step = self.int(counted.step)?;
            let forward = if counted.up { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
            let (moves, next) = (self.is32(forward, step, 0), self.block());
            self.pos.ins().brif(moves, next, &[], long, &[]);
            self.enter(next);
        }
        // A step of 1 needs as many iterations as the difference says; a larger one that is not constant needs fewer.
        let step = self.konst_int(counted.step);
        let most = i64::from(length.saturating_mul(step.map_or(1, i32::unsigned_abs)).min(i32::MAX as u32));
        let most = if counted.up { most } else { -most };
        // If the subtraction overflows, the chunk is taken for a long one.
        let near = self.pos.ins().iadd_imm_s(stop, -most);
        let first = self.int(counted.first)?;
        let is_near = if counted.up { IntCC::SignedGreaterThanOrEqual } else { IntCC::SignedLessThanOrEqual };
        let is_short = self.pos.ins().icmp(is_near, first, near);
        self.pos.ins().brif(is_short, begun, &[BlockArg::Value(stop)], long, &[]);
        self.enter(long);
        let last = match step {
            // This does not overflow: the end is further away, or at the same end of the numbers.
            Some(_) => {
                let last = self.pos.ins().iadd_imm_s(first, most);
                if counted.up { self.pos.ins().smin(last, stop) } else { self.pos.ins().smax(last, stop) }
            }
            None => self.last_in_chunk(counted, length, stop)?,
        };
        self.jump(begun, &[last]);
        self.enter(begun);
        Ok(end)
    }

    /// The last value of the counter in a chunk that is shorter than the rest of the loop.
    fn last_in_chunk(&mut self, counted: &Counted, length: u32, stop: Value) -> Res<Value> {
        let (first, step) = (self.int(counted.first)?, self.int(counted.step)?);
        let [first, step, stop] = [first, step, stop].map(|value| self.pos.ins().sextend(types::I64, value));
        let length = self.k64(u64::from(length));
        let steps = self.pos.ins().imul(step, length);
        let last = self.pos.ins().iadd(first, steps);
        // One less: where the step is 0, or leads away from the end, the test fails each time.
        let last = self.offset(last, if counted.up { -1 } else { 1 });
        let (least, most) = (self.k64(i64::from(i32::MIN) as u64), self.k64(i32::MAX as u64));
        let last = if counted.up {
            let last = self.pos.ins().smin(last, stop);
            self.pos.ins().smax(last, least)
        } else {
            let last = self.pos.ins().smax(last, stop);
            self.pos.ins().smin(last, most)
        };
        Ok(self.pos.ins().ireduce(types::I32, last))
    }

    /// The test at the end of a loop, `value` compared with its end, if the loop is split into chunks.
    pub(super) fn ends_chunk(&mut self, cc: IntCC, value: Value) -> Res<bool> {
        let Some(chunk) = self.cur.chunk.filter(|c| c.test == self.cur.at) else { return Ok(false) };
        let cond = self.pos.ins().icmp(cc, value, chunk.end);
        let (next, over, more) = (self.block(), self.cold_block(), self.cold_block());
        let end = ChunkEnd { cc, value, stop: chunk.stop, more, exit: self.exit()? };
        let branch = self.pos.ins().brif(cond, next, &[], over, &[]);
        let snap = self.cur.snap;
        self.enter(over);
        self.after_chunk(end);
        self.enter(more);
        let (leave, another) = (self.cold_block(), self.cold_block());
        let requested = self.exit_requested();
        self.pos.ins().brif(requested, leave, &[], another, &[]);
        self.enter(leave);
        self.leave_chunk(chunk, value)?;
        self.enter(another);
        let mut args = self.carried()?;
        args.push(self.chunk_stop(chunk.stop));
        self.jump(chunk.start, &args);
        self.enter(next);
        self.cur.last_guard = Some(GuardBranch { branch, cond, continues: true, next, exit: over, snap, over: Some(end) });
        Ok(true)
    }

    /// Between two chunks: leaves as PROF would in front of the test, with the value that the counter had there.
    fn leave_chunk(&mut self, chunk: Chunk, next: Value) -> Res<()> {
        let at_prof = self.snap_of_prof(chunk.prof).ok_or(self.bad("PROF without a snapshot"))?;
        let step = self.int(chunk.step)?;
        // Not in front of the branch: there it would be alive beside the next value, which then changes its register in each iteration.
        let counter = self.pos.ins().isub(next, step).into();
        let now = (self.cur.snap, self.cur.exit, self.cur.emitting, self.cur.starting);
        let carried = core::mem::replace(&mut self.cur.values[chunk.counter.ins_index()], counter);
        (self.cur.snap, self.cur.exit, self.cur.emitting, self.cur.starting) = (at_prof, None, chunk.prof, true);
        let exit = self.exit()?;
        self.jump(exit, &[]);
        (self.cur.snap, self.cur.exit, self.cur.emitting, self.cur.starting) = now;
        self.cur.values[chunk.counter.ins_index()] = carried;
        Ok(())
    }

    /// At the end of a chunk: another one, or the exit.
    pub(super) fn after_chunk(&mut self, end: ChunkEnd) {
        let stop = self.chunk_stop(end.stop);
        let goes_on = self.pos.ins().icmp(end.cc, end.value, stop);
        self.pos.ins().brif(goes_on, end.more, &[], end.exit, &[]);
    }
}
