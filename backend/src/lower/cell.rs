//! New cdata: a small cell is taken off the free list of its size class.
//!
//! The list is empty when the collector has to find free cells first, and while somebody watches the heap. Then the helper makes the object, called
//! through its thunk, so that the trace keeps its registers.

use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use perilune_recorder::ir::{Ins, Op};
use perilune_vm::gc::size::{class_of, class_size};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::object::Kind;

/// Payloads of more words are made by the helper: each word is a store here, and the call costs about as much as eight of them.
const MOST_WORDS: usize = 8;

impl Lower<'_> {
    /// CNEW, CNEWI.
    pub(super) fn new_cdata(&mut self, ins: Ins) -> Res<Option<Value>> {
        let id = self.int(ins.a)?;
        let (helper, second, size) = match ins.op {
            Op::CNEWI => {
                let value = self.val(ins.b)?;
                (Helper::CdataBox, self.bits_of(value), Some(8))
            }
            _ => (Helper::CdataNew, self.int(ins.b)?, self.konst_int(ins.b)),
        };
        let words = size.map(|size| (size as usize).max(8).div_ceil(8)).filter(|words| *words <= MOST_WORDS);
        match (self.konst_int(ins.a), words) {
            (Some(ctype), Some(words)) if !ofs::FREE_CELLS_ARE_POISONED => {
                let word = (ins.op == Op::CNEWI).then_some(second);
                self.small_cdata(helper, [id, second], ctype, words, word).map(Some)
            }
            _ => self.call_helper(helper, &[id, second]),
        }
    }
    /// A cdata with so many words, which are all this word, or zero.
    fn small_cdata(&mut self, helper: Helper, args: [Value; 2], ctype: i32, words: usize, word: Option<Value>) -> Res<Value> {
        let class = class_of(8 + 8 * words);
        let free = ofs::vm_gc_free(class);
        let (taken, empty, made) = (self.block_like_this(), self.cold_block(), self.block_like_this());
        let object = self.block_param(made, types::I64);
        let cell = self.vm_field(free);
        self.pos.ins().brif(cell, taken, &[], empty, &[]);
        self.enter(taken);
        let next = self.pos.ins().load(types::I64, MEM, cell, ofs::FREE_CELL_NEXT as i32);
        self.pos.ins().store(MEM, next, self.vm, free as i32);
        self.count_up(ofs::VM_GC_TOTAL, class_size(class));
        self.count_up(ofs::VM_GC_CDATAS, 1);
        let white = self.vm_field(ofs::VM_GC_WHITE);
        let colour = self.pos.ins().ishl_imm_u(white, 8 * ofs::GC_MARKED as i64);
        let rest = self.k64(u64::from(ctype as u32) << 32 | Kind::Cdata as u64);
        let header = self.pos.ins().bor(colour, rest);
        self.pos.ins().store(MEM, header, cell, 0);
        for i in 0..words {
            let word = word.unwrap_or_else(|| self.k64(0));
            self.pos.ins().store(MEM, word, cell, 8 + 8 * i as i32);
        }
        self.jump(made, &[cell]);
        self.enter(empty);
        self.leave_site(helper);
        self.call_cold(helper, &args)?;
        let cell = self.vm_field(ofs::VM_SCRATCH);
        self.jump(made, &[cell]);
        self.enter(made);
        Ok(object)
    }
    fn count_up(&mut self, field: usize, by: usize) {
        let n = self.vm_field(field);
        let n = self.pos.ins().iadd_imm_s(n, by as i64);
        self.pos.ins().store(MEM, n, self.vm, field as i32);
    }
    /// A block that is cold if the current one is.
    fn block_like_this(&mut self) -> Block {
        let is_cold = self.pos.current_block().is_some_and(|block| self.pos.func.layout.is_cold(block));
        if is_cold { self.cold_block() } else { self.block() }
    }
}
