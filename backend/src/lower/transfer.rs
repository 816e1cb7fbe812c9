//! Ends of traces at calls and returns that lead to functions which are only known when they are executed ([`Transfer`]).
//!
//! ```text
//! call:   the header of the function is a JFUNCF, the arguments are enough, the frame fits -> trace_code[JFUNCF.d](vm, frame, d)
//! return: a STITCH with a trace is at the return address, the results are enough           -> trace_code[STITCH.d](vm, caller, d)
//! ```
//!
//! Otherwise the trace leaves by its last exit, and the interpreter executes the instruction. A chain of such calls and returns may run for ever: no frame
//! fits while code is to be left. Many traces return, so the code for returns is in
//! a thunk (`backend/src/thunk.rs`).

use super::value::MEM;
use super::{Lower, Res};
use crate::thunk;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use perilune_recorder::ir::{IrRef, SnapId, Transfer, Ty};
use perilune_vm::bc::Op as Bc;
use perilune_vm::layout::{Field, ofs};
use perilune_vm::object::BcAddr;

/// Bytes of a stack slot.
const SLOT: i32 = 8;
/// Slots of a function and its link, in front of its frame.
const HEAD: i32 = 2;
/// Bits of an instruction that its operand D follows.
const BELOW_D: i64 = 16;

impl Lower<'_> {
    /// The end of a trace that links to the interpreter.
    pub(super) fn leave_or_transfer(&mut self, last: SnapId) -> Res<()> {
        match self.cur.trace.transfer {
            Some(Transfer::Return { first, count }) => return self.indirect_return(last, first, count),
            Some(Transfer::Call { func, nargs, link }) => self.indirect_call(last, func, nargs, link)?,
            None => {}
        }
        self.emit_exit(last, None)
    }

    /// The call of the function in slot `func` of the running frame. Continues where it is left to the interpreter.
    fn indirect_call(&mut self, last: SnapId, func: u8, nargs: u8, link: Option<BcAddr>) -> Res<()> {
        let Some(called) = self.called_function(last, func.into()) else { return Ok(()) };
        let f = self.word(called)?;
        let interpret = self.cold_block();
        let header = self.pos.ins().load(types::I64, MEM, f, Field::FuncPc.offset() as i32);
        let header = self.pos.ins().uload32(MEM, header, 0);
        let op = self.pos.ins().band_imm_u(header, 0xff);
        let compiled = self.pos.ins().icmp_imm_u(IntCC::Equal, op, Bc::JFUNCF as i64);
        self.go_on_if(compiled, interpret);
        let proto = self.pos.ins().load(types::I64, MEM, f, ofs::FUNC_PROTO as i32);
        let params = self.pos.ins().uload8(types::I64, MEM, proto, ofs::PROTO_NUM_PARAMS as i32);
        let enough = self.pos.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, params, i64::from(nargs));
        self.go_on_if(enough, interpret);
        let base = self.slot_address(self.cur.trace.snap(last).base_slot);
        let args = SLOT * (i32::from(func) + HEAD);
        let frame = if link.is_some() { self.offset(base, args.into()) } else { base };
        let size = self.pos.ins().uload8(types::I64, MEM, proto, ofs::PROTO_FRAMESIZE as i32);
        let size = self.pos.ins().ishl_imm_u(size, 3);
        let (top, limit) = (self.pos.ins().iadd(frame, size), self.vm_field(ofs::VM_CODE_STACK_LIMIT));
        let fits = self.pos.ins().icmp(IntCC::UnsignedLessThanOrEqual, top, limit);
        self.go_on_if(fits, interpret);
        self.restore(last)?;
        match link {
            Some(link) => {
                let link = self.k64(link.get());
                self.pos.ins().store(MEM, link, frame, -SLOT);
            }
            None => {
                self.copy_slot(base, args - SLOT * HEAD, -SLOT * HEAD);
                for i in 0..i32::from(nargs) {
                    self.copy_slot(base, args + SLOT * i, SLOT * i);
                }
            }
        }
        let trace = self.pos.ins().ushr_imm_u(header, BELOW_D);
        self.forget_cold();
        let codes = self.vm_field(ofs::VM_TRACE_CODE);
        self.tail_call(codes, frame, trace);
        self.enter(interpret);
        Ok(())
    }
    /// The function in a slot of the running frame, if the trace has it and knows that it is one.
    fn called_function(&self, last: SnapId, func: usize) -> Option<IrRef> {
        let snap = self.cur.trace.snap(last);
        let r = snap.slots.iter().find(|s| s.slot == snap.base_slot + func)?.value;
        let is_made = !self.is_cold(r) && !self.cur.trace.def(r).is_some_and(|i| i.is_sunk());
        (is_made && self.cur.trace.ty(r) == Ty::Func).then_some(r)
    }

    /// The return of `count` values, from slot `first` of the running frame on: a thunk executes it, or takes the last exit.
    fn indirect_return(&mut self, last: SnapId, first: u8, count: u8) -> Res<()> {
        self.settle_fuel();
        let thunk = self.k64(self.env.thunks.indirect_return()? as u64);
        let base = self.restore(last)?;
        self.forget_cold();
        let exit = self.k64(u64::from(self.cur.tree.exit_base.exit(last.number()).get()));
        let values = self.k64(thunk::returned_values(first, count));
        let sig = self.trace_sig(vec![types::I64]);
        self.pos.ins().return_call_indirect(sig, thunk, &[self.vm, base, exit, values]);
        Ok(())
    }

    /// Copies a slot to another one, both so many bytes from `base`.
    fn copy_slot(&mut self, base: Value, from: i32, to: i32) {
        let value = self.pos.ins().load(types::I64, MEM, base, from);
        self.pos.ins().store(MEM, value, base, to);
    }
    /// Continues in a new block where `cond` holds.
    fn go_on_if(&mut self, cond: Value, otherwise: Block) {
        let next = self.block();
        self.pos.ins().brif(cond, next, &[], otherwise, &[]);
        self.enter(next);
    }
}
