//! Switches between coroutines: COROOM, COSAVE, RESUME, YIELD, COEND.

use super::value::MEM;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::{Const, Ins, Op};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::object::{Thread, ThreadStatus};

impl Lower<'_> {
    /// COROOM to COEND.
    pub(super) fn coroutine(&mut self, ins: Ins) -> Res<()> {
        match ins.op {
            Op::COROOM => self.room(ins),
            Op::COSAVE => self.leave_coroutine(ins),
            _ => self.switch(ins),
        }
    }

    fn thread_field(&mut self, co: Value, at: usize) -> Value {
        self.pos.ins().load(types::I64, MEM, co, at as i32)
    }
    fn set_status(&mut self, co: Value, status: ThreadStatus) {
        let status = self.pos.ins().iconst(types::I8, status as i64);
        self.pos.ins().store(MEM, status, co, ofs::THREAD_STATUS as i32);
    }
    /// The address that a frame of a coroutine may extend to.
    fn limit_of(&mut self, co: Value) -> Value {
        let (stack, size) = (self.thread_field(co, ofs::THREAD_STACK), ofs::THREAD_SIZE as i32);
        let size = self.pos.ins().uload32(MEM, co, size);
        let bytes = self.pos.ins().ishl_imm_u(size, 3);
        let end = self.pos.ins().iadd(stack, bytes);
        self.offset(end, -8 * i64::from(Thread::EXTRA))
    }

    fn room(&mut self, ins: Ins) -> Res<()> {
        let co = self.word(ins.a)?;
        let (limit, base) = (self.limit_of(co), self.thread_field(co, ofs::THREAD_BASE));
        let top = self.offset(base, 8 * i64::from(ins.b.0));
        let fits = self.pos.ins().icmp(IntCC::UnsignedLessThanOrEqual, top, limit);
        let (next, cold) = self.split_cold(fits);
        self.enter(cold);
        self.leave_site(Helper::StackRoom);
        let n = self.k32(i32::from(ins.b.0));
        self.call_cold(Helper::StackRoom, &[co, n])?;
        let done = self.pos.ins().load(types::I32, MEM, self.vm, ofs::VM_SCRATCH as i32);
        let exit = self.exit()?;
        self.pos.ins().brif(done, next, &[], exit, &[]);
        self.enter(next);
        Ok(())
    }

    fn leave_coroutine(&mut self, ins: Ins) -> Res<()> {
        self.restore(self.cur.snap)?;
        self.forget_cold();
        let co = self.vm_field(ofs::VM_CUR);
        let frame = self.slot_address(ins.a.slot());
        let top = self.offset(frame, 8 * i64::from(ins.b.0));
        self.pos.ins().store(MEM, frame, co, ofs::THREAD_BASE as i32);
        self.pos.ins().store(MEM, top, co, ofs::THREAD_TOP as i32);
        Ok(())
    }

    fn switch(&mut self, ins: Ins) -> Res<()> {
        let to = self.word(ins.a)?;
        let Const::Ptr(link) = self.konst(ins.b)? else { return Err(self.bad("switch without a return address")) };
        let from = self.vm_field(ofs::VM_CUR);
        if self.cur.tree.walked {
            // A stack walk must not combine the frame of one coroutine with the stack of the other.
            let null = self.k64(0);
            self.pos.ins().store(MEM, null, self.vm, ofs::VM_CODE_BASE as i32);
        }
        if ins.op == Op::RESUME {
            self.set_status(from, ThreadStatus::Normal);
            self.pos.ins().store(MEM, from, to, ofs::THREAD_RESUMER as i32);
            let depth = self.pos.ins().load(types::I32, MEM, self.vm, ofs::VM_NATIVE_DEPTH as i32);
            self.pos.ins().store(MEM, depth, to, ofs::THREAD_DEPTH as i32);
            let nesting = self.pos.ins().load(types::I32, MEM, from, ofs::THREAD_NESTING as i32);
            let nesting = self.pos.ins().iadd_imm_s(nesting, 1);
            self.pos.ins().store(MEM, nesting, to, ofs::THREAD_NESTING as i32);
        } else {
            let dead = ins.op == Op::COEND;
            self.set_status(from, if dead { ThreadStatus::Dead } else { ThreadStatus::Suspended });
            let null = self.k64(0);
            self.pos.ins().store(MEM, null, from, ofs::THREAD_RESUMER as i32);
            if dead {
                let stack = self.thread_field(from, ofs::THREAD_STACK);
                self.pos.ins().store(MEM, stack, from, ofs::THREAD_BASE as i32);
                self.pos.ins().store(MEM, stack, from, ofs::THREAD_TOP as i32);
            }
        }
        self.set_status(to, ThreadStatus::Running);
        self.pos.ins().store(MEM, to, self.vm, ofs::VM_CUR as i32);
        let limit = self.limit_of(to);
        self.pos.ins().store(MEM, limit, self.vm, ofs::VM_STACK_LIMIT as i32);
        self.pos.ins().store(MEM, limit, self.vm, ofs::VM_CODE_STACK_LIMIT as i32);
        if self.req.interruptible {
            // As `Vm::end_stack_at` does it.
            let requested = self.exit_requested();
            let (leave, next) = (self.cold_block(), self.block());
            self.pos.ins().brif(requested, leave, &[], next, &[]);
            self.enter(leave);
            let null = self.k64(0);
            self.pos.ins().store(MEM, null, self.vm, ofs::VM_CODE_STACK_LIMIT as i32);
            self.jump(next, &[]);
            self.enter(next);
        }
        let frame = self.thread_field(to, ofs::THREAD_BASE);
        let delta = (self.req.frame_delta)(link);
        self.cur.base = self.offset(frame, -8 * i64::from(delta));
        self.cur.moved = 0;
        // Exits from here on count slots from the new base.
        self.cur.exit = None;
        self.cur.known.clear();
        self.store_base();
        Ok(())
    }
}
