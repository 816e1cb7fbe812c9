//! Garbage collection: write barriers and collection steps. The tests are inline, the work is behind cold thunks.

use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::Ins;
use perilune_vm::gc::color::{BARRIER, BLACK};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;

impl Lower<'_> {
    /// These bits of the colour byte of an object.
    fn color(&mut self, object: Value, at: i32, bits: u8) -> Value {
        let marked = self.pos.ins().uload8(types::I32, MEM, object, at + ofs::GC_MARKED as i32);
        let bits = self.k32(i32::from(bits));
        self.pos.ins().band(marked, bits)
    }

    /// TBAR. The helper looks at the size of the table.
    pub(super) fn table_barrier(&mut self, ins: Ins) -> Res<()> {
        let table = self.word(ins.a)?;
        let barrier = self.color(table, 0, BARRIER);
        let (next, cold) = (self.block(), self.cold_block());
        self.pos.ins().brif(barrier, cold, &[], next, &[]);
        self.enter(cold);
        let value = self.boxed(ins.b)?;
        self.call_cold(Helper::BarrierTable, &[table, value])?;
        self.jump(next, &[]);
        self.enter(next);
        Ok(())
    }

    /// OBAR. The helper looks at the colour of the stored object.
    pub(super) fn upvalue_barrier(&mut self, ins: Ins) -> Res<()> {
        let slot = self.word(ins.a)?;
        let black = self.color(slot, -(ofs::UPVAL_TV as i32), BLACK);
        let (next, cold) = (self.block(), self.cold_block());
        self.pos.ins().brif(black, cold, &[], next, &[]);
        self.enter(cold);
        let value = self.boxed(ins.b)?;
        self.call_cold(Helper::BarrierUpval, &[slot, value])?;
        self.jump(next, &[]);
        self.enter(next);
        Ok(())
    }

    /// PROF.
    pub(super) fn prof(&mut self) -> Res<()> {
        let requested = self.exit_requested();
        self.guard_not(requested)
    }
    /// Is compiled code to be left?
    pub(super) fn exit_requested(&mut self) -> Value {
        let requested = self.pos.ins().load(types::I8, MEM, self.vm, ofs::VM_EXIT_REQUESTED as i32);
        let zero = self.pos.ins().iconst(types::I8, 0);
        self.pos.ins().icmp(IntCC::NotEqual, requested, zero)
    }

    /// GCSTEP.
    pub(super) fn gc_step(&mut self) -> Res<()> {
        let total = self.vm_field(ofs::VM_GC_TOTAL);
        let threshold = self.vm_field(ofs::VM_GC_THRESHOLD);
        let below = self.pos.ins().icmp(IntCC::UnsignedLessThan, total, threshold);
        let (next, cold) = self.split_cold(below);
        self.enter(cold);
        self.call_cold(Helper::GcStep, &[])?;
        let leave = self.pos.ins().load(types::I32, MEM, self.vm, ofs::VM_SCRATCH as i32);
        let exit = self.exit()?;
        self.pos.ins().brif(leave, exit, &[], next, &[]);
        self.enter(next);
        Ok(())
    }
}
