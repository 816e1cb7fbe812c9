//! Raw reads of the running stack and of bytecode: all the unsafe code of the recorder.
#![allow(unsafe_code, reason = "slots and instructions that are read belong to the frame that is recorded, or to those below it")]

use crate::eval;
use crate::ir::Trace;
use perilune_vm::bc::Ins;
use perilune_vm::object::{Func, Gc, InsPtr, Thread};
use perilune_vm::{Value, Vm};

/// The value in slot `i` of the frame at `vm.base`; negative slots are those of the frames below.
pub(super) fn slot(vm: &Vm, i: isize) -> Value {
    // SAFETY: while recording, `vm.base` is the frame of the instruction about to run; callers name slots of this frame, of frames
    // below it, or open results above it, all inside the stack, whose memory is always initialised.
    unsafe { *vm.base.offset(i) }
}

/// Writes slot `i` of the frame at `vm.base`.
pub(super) fn set_slot(vm: &mut Vm, i: isize, v: Value) {
    // SAFETY: as for `slot`.
    unsafe { *vm.base.offset(i) = v }
}

/// Would `trace`, which is being recorded, leave by its first exit on the frame at `vm.base`, where it started?
pub(super) fn leaves_early(vm: &mut Vm, trace: &Trace) -> bool {
    let base = vm.base;
    // SAFETY: the trace is recorded on this VM, and this is the frame that it started in.
    unsafe { eval::leaves_early(&eval::Config::default(), trace, vm, base) }
}

/// The value `i` slots from the base of the frame that a waiting coroutine has left by.
pub(super) fn on_stack(co: Gc<Thread>, i: isize) -> Value {
    let slot = co.base.get().wrapping_offset(i);
    let stack = co.stack.get();
    assert!(slot >= stack && slot < stack.wrapping_add(co.size.get() as usize), "a slot of the coroutine");
    // SAFETY: the slot is on the stack of the coroutine, all of whose memory is initialised.
    unsafe { *slot }
}

/// The instruction `d` further on, which control flow reaches from the one at `pc`, or which belongs to it.
pub(super) fn at(pc: InsPtr, d: isize) -> InsPtr {
    // SAFETY: in the code of a function, jumps lead to instructions of it, and no instruction but a return or a jump is the last one.
    unsafe { pc.offset(d) }
}

/// The target of the jump at `pc`.
pub(super) fn target(pc: InsPtr, ins: Ins) -> InsPtr {
    at(pc, 1 + ins.j() as isize)
}

/// The instruction that a frame link returns to.
pub(super) fn pc_of_link(link: u64) -> InsPtr {
    // SAFETY: a link of a frame on the stack points after a call in the function of the frame below, which the stack keeps.
    unsafe { InsPtr::new(core::ptr::with_exposed_provenance(link as usize)) }
}

/// The function of the frame whose base is `i` slots from `vm.base`.
pub(super) fn func(vm: &Vm, i: isize) -> Gc<Func> {
    // SAFETY: the slot two below a frame's base holds its function.
    unsafe { Gc::from_addr(slot(vm, i - 2).payload()) }
}
