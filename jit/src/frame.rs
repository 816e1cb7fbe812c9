//! What the compiler reads from the running frame.
#![allow(
    unsafe_code,
    reason = "slots and instructions that are read belong to the running frame, or to a function that a trace keeps"
)]

use perilune_vm::bc::Ins;
use perilune_vm::hooks::Unboxed;
use perilune_vm::interp::frames::Level;
use perilune_vm::interp::hook::is_header as is_header_op;
use perilune_vm::object::{Gc, InsPtr, Proto};
use perilune_vm::{Value, Vm};

/// The function of the frame at `vm.base`.
pub fn func(vm: &Vm) -> Value {
    // SAFETY: the slot two below a frame's base holds its function.
    unsafe { *vm.base.sub(2) }
}

/// The prototype of the frame at `vm.base`; `None` for a builtin.
pub fn proto(vm: &Vm) -> Option<Gc<Proto>> {
    func(vm).as_func()?.proto()
}

/// A slot of the frame of a Lua function.
pub fn slot(level: &Level, n: usize) -> Value {
    debug_assert!(level.func.proto().is_some_and(|p| n < p.framesize() as usize));
    // SAFETY: the stack reaches to the end of each frame that lies on it.
    unsafe { *level.base.add(n) }
}

/// A slot of the frame at `vm.base`, which is that of a Lua function.
pub fn local(vm: &Vm, n: usize) -> Value {
    debug_assert!(proto(vm).is_some_and(|p| n < p.framesize() as usize));
    // SAFETY: the stack reaches to the end of the running frame.
    unsafe { *vm.base.add(n) }
}

/// Is the instruction at `pc` the header of a function?
pub fn is_header(pc: InsPtr) -> bool {
    is_header_op(pc.ins().op())
}

/// Sets `vm.top` after all values that the instruction at `pc`, about to run, may read: the frame, and an open list.
pub fn protect(vm: &mut Vm, pc: InsPtr, nslots: usize) {
    let n = perilune_vm::interp::hook::slots_before(vm, pc).max(nslots);
    // SAFETY: open lists are written below the stack's end, and so are frames.
    let top = unsafe { vm.base.add(n) };
    if top > vm.top || proto(vm).is_some() {
        vm.top = top;
    }
}

/// Does the stack lack room for so many slots from the base of the running frame on?
pub fn lacks_stack(vm: &Vm, slots: usize) -> bool {
    vm.base.wrapping_add(slots) > vm.stack_limit
}

/// Slots between the base of a frame and that of the one below, from the frame's link.
pub fn delta(link: u64) -> u32 {
    if link & 3 != 0 {
        return (link >> 3) as u32;
    }
    // SAFETY: return addresses in traces lie after a call of a prototype that the trace keeps.
    let call = unsafe { *core::ptr::with_exposed_provenance::<Ins>(link as usize).sub(1) };
    2 + call.a() as u32
}

/// Boxes the slots that an exit has left unboxed in the frame at `vm.base` and in those around it.
pub fn box_slots(vm: &mut Vm, slots: &[Unboxed]) {
    // SAFETY: the slots are those of the snapshot that compiled code has just left by, in frames that it checked the stack for.
    unsafe { perilune_vm::hooks::box_slots(vm.base, slots) }
}
