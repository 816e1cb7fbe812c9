//! Evaluates switches between coroutines: COROOM, COSAVE, RESUME, YIELD, COEND.

use super::memory::{load8, load32, load64, store8, store32, store64};
use super::{Eval, Step, guard};
use crate::ir::{Ins, Op};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::object::{Thread, ThreadStatus};

/// The address of a field of an object or of the VM.
fn at(object: u64, offset: usize) -> u64 {
    object + offset as u64
}
/// The address that a frame of a coroutine may extend to.
fn limit(co: u64) -> u64 {
    load64(at(co, ofs::THREAD_STACK)) + 8 * u64::from(load32(at(co, ofs::THREAD_SIZE)) - Thread::EXTRA)
}

pub(super) fn step(eval: &mut Eval<'_>, ins: Ins) -> Step {
    match ins.op {
        Op::COROOM => {
            let (co, n) = (eval.val(ins.a), u64::from(ins.b.0));
            if load64(at(co, ofs::THREAD_BASE)) + 8 * n > limit(co) {
                let done = eval.call(Helper::StackRoom, &[co, n]);
                guard(done as i32 != 0)?;
            }
        }
        Op::COSAVE => {
            eval.store_state();
            let (co, frame) = (eval.vm_field(ofs::VM_CUR), eval.slot_address(ins.a.slot()));
            store64(at(co, ofs::THREAD_BASE), frame);
            store64(at(co, ofs::THREAD_TOP), frame + 8 * u64::from(ins.b.0));
        }
        _ => switch(eval, ins),
    }
    Ok(0)
}

fn switch(eval: &mut Eval<'_>, ins: Ins) {
    let (from, to, link) = (eval.vm_field(ofs::VM_CUR), eval.val(ins.a), eval.val(ins.b));
    let set_status = |co: u64, status: ThreadStatus| store8(at(co, ofs::THREAD_STATUS), status as u8);
    if ins.op == Op::RESUME {
        set_status(from, ThreadStatus::Normal);
        store64(at(to, ofs::THREAD_RESUMER), from);
        store32(at(to, ofs::THREAD_DEPTH), load32(at(eval.vm_address, ofs::VM_NATIVE_DEPTH)));
        store32(at(to, ofs::THREAD_NESTING), load32(at(from, ofs::THREAD_NESTING)) + 1);
    } else {
        let dead = ins.op == Op::COEND;
        set_status(from, if dead { ThreadStatus::Dead } else { ThreadStatus::Suspended });
        store64(at(from, ofs::THREAD_RESUMER), 0);
        if dead {
            let stack = load64(at(from, ofs::THREAD_STACK));
            store64(at(from, ofs::THREAD_BASE), stack);
            store64(at(from, ofs::THREAD_TOP), stack);
        }
    }
    set_status(to, ThreadStatus::Running);
    store64(at(eval.vm_address, ofs::VM_CUR), to);
    store64(at(eval.vm_address, ofs::VM_STACK_LIMIT), limit(to));
    // As `Vm::end_stack_at` does it.
    store64(at(eval.vm_address, ofs::VM_CODE_STACK_LIMIT), limit(to));
    if load8(at(eval.vm_address, ofs::VM_EXIT_REQUESTED)) != 0 {
        store64(at(eval.vm_address, ofs::VM_CODE_STACK_LIMIT), 0);
    }
    let delta = u64::from((eval.config.frame_delta)(link));
    eval.base = load64(at(to, ofs::THREAD_BASE)) - 8 * delta;
}
