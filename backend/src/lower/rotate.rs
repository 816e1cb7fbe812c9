//! Loop rotation: the last guard of a loop is its back edge.
//!
//! A guard continues where it does not leave, so that a loop would end in a branch that is not taken and a jump. If nothing comes between
//! the last guard and the back edge, not even a move of a loop-carried value, the guard branches to the head of the loop instead. That is
//! one branch less in each iteration, half of the time of the shortest loops.

use super::chunk::ChunkEnd;
use super::plan::Class;
use super::value::repr;
use super::{Lower, Res};
use crate::source_loc::exit_location;
use cranelift_codegen::cursor::{Cursor, CursorPosition};
use cranelift_codegen::ir::{Block, Inst, InstBuilder, Value};
use perilune_recorder::ir::{IrRef, Op, SnapId};

/// The branch of a guard.
#[derive(Copy, Clone)]
pub(super) struct GuardBranch {
    /// The last instruction of its block.
    pub branch: Inst,
    /// What it tests.
    pub cond: Value,
    /// Does the trace go on where that holds? It leaves there otherwise.
    pub continues: bool,
    /// Where the trace goes on.
    pub next: Block,
    /// Where it leaves to.
    pub exit: Block,
    /// The snapshot that it leaves with.
    pub snap: SnapId,
    /// It ends a chunk, and does not leave where another one follows.
    pub over: Option<ChunkEnd>,
}

impl Lower<'_> {
    /// Rotates the loop, if it ends here with a guard. Comes before the jump to its head.
    ///
    /// Cranelift places the blocks in the order of a depth-first search that visits the second successor first. Code of the exit between the
    /// guard and the next block makes it branch to the next block; as that is nothing but a jump, Cranelift then branches to its target.
    /// (It would turn the branch around again if there were nothing but a jump to the exit between them.)
    pub(super) fn rotate(&mut self) -> Res<()> {
        let Some(guard) = self.cur.last_guard else { return Ok(()) };
        let here = self.pos.current_block();
        let is_last = here == Some(guard.next) && self.pos.func.layout.first_inst(guard.next).is_none();
        if !is_last || self.req.notes_guards || !self.pos.func.layout.is_cold(guard.exit) || !self.carries_in_place() {
            return Ok(());
        }
        let Some(block) = self.pos.func.layout.inst_block(guard.branch) else { return Ok(()) };
        let place = self.pos.func.srcloc(guard.branch);
        let Some(cond) = (if guard.continues { Some(guard.cond) } else { self.opposite_before(guard) }) else { return Ok(()) };
        self.pos.func.layout.remove_inst(guard.branch);
        let leave = self.block();
        let after = self.pos.srcloc();
        self.pos.set_srcloc(place);
        self.pos.set_position(CursorPosition::After(block));
        self.pos.ins().brif(cond, guard.next, &[], leave, &[]);
        self.enter(leave);
        if self.is_root() {
            self.pos.set_srcloc(exit_location(guard.snap));
        }
        match guard.over {
            Some(over) => self.after_chunk(over),
            None => self.emit_exit(guard.snap, None)?,
        }
        self.enter(guard.next);
        self.pos.set_srcloc(after);
        Ok(())
    }

    /// The opposite of what a guard tests, computed in front of its branch.
    fn opposite_before(&mut self, guard: GuardBranch) -> Option<Value> {
        self.pos.set_position(CursorPosition::At(guard.branch));
        let opposite = self.opposite(guard.cond);
        self.enter(guard.next);
        opposite
    }

    /// Can each loop-carried value stay in one register? Its next value is then computed in the loop, after all uses of the value.
    fn carries_in_place(&self) -> bool {
        let trace = self.cur.trace;
        let Some(head) = self.cur.plan.loop_at else { return false };
        let phis = || trace.ins.iter().filter(|i| i.op == Op::PHI && trace.def(i.a).is_some_and(|d| repr(d.ty).is_some()));
        phis().all(|phi| {
            let next = phi.b;
            let is_own = !next.is_const() && next.ins_index() > head && phis().filter(|other| other.b == next).count() == 1;
            is_own && !self.is_used_after(phi.a, next.ins_index())
        })
    }
    /// Is a value used after an instruction of the loop, by others or by exits?
    fn is_used_after(&self, value: IrRef, at: usize) -> bool {
        let trace = self.cur.trace;
        let mut later = trace
            .ins
            .iter()
            .enumerate()
            .skip(at + 1)
            .filter(|(i, ins)| ins.op != Op::PHI && self.cur.plan.class[*i] != Class::Dead);
        let leaves = |k| trace.guarded_by(k).any(|i| i > at && trace.ins[i].is_guard() && self.cur.plan.class[i] != Class::Dead);
        let by_exit = |k| trace.snap(k).restored().any(|s| s.value == value) && leaves(k);
        later.any(|(_, &ins)| ins.operands().any(|r| r == value)) || trace.snap_ids().any(by_exit)
    }
}
