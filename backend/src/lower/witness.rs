//! Notes of guards that fail, for somebody who watches: which of the guards of an exit it was, and for what value.
//!
//! A guard then leaves to a cold block of its own, which stores both and jumps to the exit. The hot path stays as it is.

use super::value::MEM;
use super::{Lower, Res};
use crate::source_loc::exit_location;
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use perilune_recorder::ir::Ty;
use perilune_vm::layout::ofs;
use perilune_vm::state::CompiledState;

impl Lower<'_> {
    /// The block that notes the failure of a guard on the way to its exit.
    pub(super) fn note_guard(&mut self, guard: usize, exit: Block) -> Res<Block> {
        let note = self.cold_block();
        let (position, place) = (self.pos.position(), self.pos.srcloc());
        self.enter(note);
        if self.is_root() {
            self.pos.set_srcloc(exit_location(self.cur.snap));
        }
        let witness = self.witness(guard)?;
        if let Some(word) = witness {
            self.pos.ins().store(MEM, word, self.vm, ofs::VM_WITNESS as i32);
        }
        let flag = if witness.is_some() { CompiledState::HAS_WITNESS } else { 0 };
        let id = u64::from(self.cur.tree.exit_base.exit(self.cur.snap.number()).get());
        let which = self.k64(id << 32 | flag | (guard as u64 + 1));
        self.pos.ins().store(MEM, which, self.vm, ofs::VM_FAILED_GUARD as i32);
        self.jump(exit, &[]);
        self.pos.set_srcloc(place);
        self.pos.set_position(position);
        Ok(note)
    }
    /// The value that a guard is about, boxed: the one in memory whose type it checks, or an operand that is in a register.
    fn witness(&mut self, guard: usize) -> Res<Option<Value>> {
        if let Some((address, at)) = self.cur.checked {
            return Ok(Some(self.pos.ins().load(types::I64, MEM, address, at)));
        }
        let Some(r) = self.cur.trace.witness(guard).filter(|r| self.cur.values[r.ins_index()].is_some()) else { return Ok(None) };
        let ty = self.ty(r)?;
        let value = self.val(r)?;
        // An integer may be held as an address or a wider word, which is no value of the program.
        let expected = match ty {
            Ty::Num => types::F64,
            ty if ty.is_int() => types::I32,
            ty if ty.tag().is_some() => types::I64,
            _ => return Ok(None),
        };
        let is_value = self.pos.func.dfg.value_type(value) == expected;
        Ok(is_value.then(|| self.box_value(value, ty)))
    }
}
