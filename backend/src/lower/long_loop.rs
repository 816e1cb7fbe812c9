//! Counted loops that were short when they were recorded, and are not expected to be long: a PROF in each iteration would cost them more than
//! it brings. They ask once, in front of the loop, whether so many iterations are left that samples and Ctrl-C would have to wait. If so the
//! trace is left there, as if it could not have been entered: a variant of it is recorded, which asks in each iteration.

use super::counted::{asks_at_its_end, counted};
use super::{Lower, Res};
use crate::exit_abi;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use perilune_recorder::ir::{Const, IrRef, Op, SnapId};
use perilune_vm::layout::ofs;

impl Lower<'_> {
    /// In front of the LOOP at the current instruction: leaves if the loop is a counted one with many iterations left.
    pub(super) fn leave_long_loop(&mut self) -> Res<()> {
        let trace = self.cur.trace;
        let Some(most) = trace.patience else { return Ok(()) };
        let Some(counted) = counted(trace, self.cur.at).filter(|c| asks_at_its_end(trace, c)) else { return Ok(()) };
        // Both snapshots are at the start of the loop, in the same frame, and the first one's exit passes nothing in registers.
        let at = |snap: SnapId| trace.snaps.get(snap.index()).map(|s| (s.pc, s.base_slot));
        if at(SnapId::FIRST) != at(self.cur.snap) || self.cur.moved != 0 || !exit_abi::values(trace, SnapId::FIRST).is_empty() {
            return Ok(());
        }
        let constant = self.konst_int(counted.step);
        if constant.is_some_and(|step| step == 0 || counted.up != (step > 0)) {
            return Ok(());
        }
        let (first, stop) = (self.int(counted.first)?, self.int(counted.stop)?);
        // The counter has not passed its end: as an unsigned number the difference is right, however large it is.
        let left = if counted.up { self.pos.ins().isub(stop, first) } else { self.pos.ins().isub(first, stop) };
        let exit = self.cold_block();
        let most = match constant {
            Some(step) => most.saturating_mul(step.unsigned_abs()),
            None => {
                let step = self.int(counted.step)?;
                let forward = if counted.up { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
                let moves = self.is32(forward, step, 0);
                let next = self.block();
                self.pos.ins().brif(moves, next, &[], exit, &[]);
                self.enter(next);
                // A step of 1 needs as many iterations as the difference says; a larger one needs fewer.
                most
            }
        };
        let is_short = self.is32(IntCC::UnsignedLessThan, left, most as i32);
        let next = self.block();
        self.pos.ins().brif(is_short, next, &[], exit, &[]);
        self.enter(exit);
        self.exit_to_start()?;
        self.enter(next);
        self.cur.asked = Some(counted.prof);
        Ok(())
    }

    /// The exit of the first snapshot with the state of the snapshot in force, which is at the start of the loop as well. A side trace at this
    /// exit is a loop of its own (`Jit::restart_position`).
    fn exit_to_start(&mut self) -> Res<()> {
        self.store_fuel(self.fuel_at(self.cur.snap));
        let base = self.restore(self.cur.snap)?;
        let n = u64::from(self.cur.tree.exit_base.exit(SnapId::FIRST.number()).get());
        if self.cur.direct {
            let table = self.vm_field(ofs::VM_EXIT_TABLE);
            self.tail_call_entry(table, base, n, &[]);
        } else {
            let (id, shared) = (self.k64(n), self.shared());
            self.jump(shared, &[base, id]);
        }
        self.forget_cold();
        Ok(())
    }

    /// The value of a reference to an integer constant.
    pub(super) fn konst_int(&self, r: IrRef) -> Option<i32> {
        match self.cur.trace.konst(r)? {
            Const::Int(k) => Some(k),
            _ => None,
        }
    }

    /// PROF, unless it has been asked in front of the loop, or the loop that follows asks, or the check of the stack does each time when the
    /// trace starts anew.
    pub(super) fn prof_in_loop(&mut self) -> Res<()> {
        let trace = self.cur.trace;
        let asks_later =
            trace.ins[self.cur.at + 1..].iter().any(|i| i.op == Op::PROF) || trace.restarts() && trace.checks_stack();
        if asks_later || self.cur.asked == Some(self.cur.at) { Ok(()) } else { self.prof() }
    }
}
