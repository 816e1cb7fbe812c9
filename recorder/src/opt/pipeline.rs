//! The emission pipeline: the stages that an instruction goes through before it is appended (LuaJIT's `lj_opt_fold`).
//!
//! FOLD rewrites an instruction according to its operands. Then comes, by kind of instruction, CSE, or for memory forwarding of loads and
//! elimination of stores. Each stage has its switch in [`OptFlags`].

use super::{cse, fold, mem};
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Effect, Ins, IrRef, Op, Trace, sload};
use crate::params::{Limits, OptFlags};

/// An empty trace under construction whose instructions go through the pipeline.
pub fn buffer(flags: OptFlags, limits: Limits) -> IrBuffer {
    IrBuffer::new(flags, limits, emit)
}

/// Continues a trace that exists.
pub fn buffer_of(trace: Trace, flags: OptFlags, limits: Limits) -> IrBuffer {
    IrBuffer::from_trace(trace, flags, limits, emit)
}

/// Takes an instruction through all stages that are on.
fn emit(b: &mut IrBuffer, ins: Ins) -> Emit {
    let mut ins = ins;
    if ins.op == Op::SLOAD && ins.b.0 & sload::TYPECHECK != 0 {
        ins = ins.guarded();
    }
    if b.flags.fold {
        ins = match fold::fold(b, ins)? {
            Ok(ins) => ins,
            Err(r) => return Ok(r),
        };
    }
    match ins.op {
        Op::ALOAD | Op::HLOAD => mem::table::load(b, ins),
        Op::ASTORE | Op::HSTORE => mem::table::store(b, ins),
        Op::HREF => mem::refs::href(b, ins),
        Op::HREFK => mem::refs::hrefk(b, ins),
        Op::ALEN => mem::table::len(b, ins),
        Op::FLOAD => mem::field::load(b, ins),
        Op::FSTORE => mem::field::store(b, ins),
        Op::UREFO | Op::UREFC => mem::upvalue::reference(b, ins),
        Op::ULOAD => mem::upvalue::load(b, ins),
        Op::USTORE => mem::upvalue::store(b, ins),
        Op::TBAR => mem::refs::table_barrier(b, ins),
        Op::OBAR => mem::refs::upvalue_barrier(b, ins),
        Op::SLOAD | Op::SREF => {
            let lim =
                [Op::RETF, Op::RESUME, Op::YIELD, Op::COEND].map(|op| b.newest(op)).into_iter().max().unwrap_or(IrRef::NONE);
            cse::reuse_or_append(b, ins, lim)
        }
        Op::LREF => mem::refs::shared_until(b, ins, |_, e| e.all),
        Op::VLOAD => mem::refs::scratch_load(b, ins),
        Op::XLOAD => mem::raw::load(b, ins),
        Op::XSTORE => mem::raw::store(b, ins),
        Op::CALLL => mem::refs::reading_call(b, ins),
        Op::BUFHDR | Op::BUFPUT | Op::BUFNUM | Op::BUFFMT | Op::NOP | Op::BASE => b.append(ins),
        _ if ins.makes_string_of_values() => cse::reuse_or_append(b, ins, IrRef::BASE),
        op => match op.effect() {
            Effect::Pure => cse::reuse_or_append(b, ins, IrRef::BASE),
            Effect::Load | Effect::Store | Effect::Alloc => b.append(ins),
        },
    }
}
