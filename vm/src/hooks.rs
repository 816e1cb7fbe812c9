//! The interfaces of a VM to what is attached to it: a compiler, and an observer of the programs that run. The interpreter knows the
//! compiler by no other way.
//!
//! The interpreter owns the data of hot paths (counters, patched instructions, the table from trace number to entry). All calls through
//! [`Compiler`] are cold. Methods take `&self`: handlers of VM events run Lua code, which may reach the compiler again through the `jit`
//! library while a method is active, so an implementation keeps its state in cells.
#![allow(unsafe_code, reason = "the slots that an exit leaves undone are those of the frames that it has left")]

use crate::Vm;
use crate::bc::Ins;
use crate::gc::Marker;
use crate::ids::{ExitId, TraceId};
use crate::object::{ChangedFields, Gc, InsPtr, Proto};
use core::any::Any;

/// How the interpreter dispatches.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Plain interpretation.
    Interpret,
    /// [`Compiler::record`] sees every instruction before it runs.
    Record,
}

/// Runs the code of trace `trace` on the frame at `base`. The exit stores the slots to the stack and the new base to `CompiledState::base`,
/// and its id is returned.
pub type EnterFn = unsafe extern "C" fn(vm: *mut Vm, base: *mut crate::Value, trace: u32) -> u64;

/// Where and how the interpreter continues after an exit.
#[derive(Copy, Clone, Debug)]
pub struct Resume {
    /// Instruction to continue at.
    pub pc: *const Ins,
    /// Value count for an instruction that takes a variable number (CALLM, RETM, TSETM...); 0 otherwise.
    pub multres: u32,
    /// The parked error is raised there instead, because there is no memory.
    pub failed: bool,
    /// A trace to enter there instead of executing the instruction: the trace that was left, whose frames fit the stack now.
    pub enter: Option<TraceId>,
}

impl Resume {
    /// Continues at an instruction.
    pub fn at(pc: *const Ins, multres: u32) -> Resume {
        Resume { pc, multres, failed: false, enter: None }
    }
}

/// A stack slot that compiled code has left unboxed: an int or an address as it is in a register, or no value at all if it is a constant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Unboxed {
    /// The slot, counted from the base of the frame that is resumed.
    pub slot: i32,
    /// Which bits of the stored word are kept: none, those of an int ([`Unboxed::INT`]), or all.
    pub kept: u64,
    /// The other bits.
    pub bits: u64,
}

impl Unboxed {
    /// The bits of an int, which compiled code stores by themselves.
    pub const INT: u64 = 0xffff_ffff;

    /// The Lua value, from the stored word, without branches: whichever exit is taken, the processor has nothing to predict.
    #[inline(always)]
    pub fn boxed(self, stored: u64) -> u64 {
        stored & self.kept | self.bits
    }
}

/// Boxes the slots that compiled code has left unboxed, counted from `base`.
///
/// # Safety
/// The slots are those of the exit that compiled code has just left by, in the frame at `base` and below.
#[inline(always)]
pub unsafe fn box_slots(base: *mut crate::Value, slots: &[Unboxed]) {
    #[expect(clippy::needless_range_loop, reason = "an iterator finds its end by a division: 24 bytes are no power of two")]
    for i in 0..slots.len() {
        let s = slots[i];
        // SAFETY: the contract of this function.
        unsafe {
            let slot = base.offset(s.slot as isize);
            // Of an int compiled code has stored the lower half just now: a load of the whole word would have to wait until that store is
            // in the cache, some 15 cycles. Halves of a word that was stored whole are forwarded. Volatile, or else it is one load again.
            let half = slot.cast::<u32>();
            let (low, high) = (half.read_volatile(), half.add(1).read_volatile());
            *slot = crate::Value::from_bits(s.boxed(u64::from(low) | u64::from(high) << 32));
        }
    }
}

/// An exit that the interpreter may take without calling the compiler, a limited number of times.
#[derive(Copy, Clone, Debug)]
pub struct PlainExit {
    /// How many more times.
    pub remaining: u32,
    /// As in [`Resume`].
    pub multres: u32,
    /// As in [`Resume`].
    pub pc: *const Ins,
    /// The slots to box; alive while the count is not 0.
    pub unboxed: *const Unboxed,
    /// How many slots to box.
    pub unboxed_len: u16,
    /// The instruction at `pc` if it is an `ITERN`. If a trace starts there, this is executed once in its place: the trace would be left at once.
    pub itern: Option<Ins>,
    /// Slots from the base of the frame on that must fit the stack: otherwise the compiler must be called, to make room.
    pub stack: u32,
}

impl PlainExit {
    /// The interpreter must call the compiler.
    pub const NONE: PlainExit = PlainExit {
        remaining: 0,
        multres: 0,
        pc: core::ptr::null(),
        unboxed: core::ptr::null(),
        unboxed_len: 0,
        itern: None,
        stack: 0,
    };
}

/// A tracing compiler attached to the interpreter.
pub trait Compiler: Any {
    /// A hot counter underflowed at the loop or function header at `pc` (already executed or about to be, see the interpreter).
    /// `vm.base` is the frame. May switch the VM to [`Mode::Record`] by [`Vm::set_mode`].
    fn hot(&self, vm: &mut Vm, pc: InsPtr);
    /// Called before each instruction in [`Mode::Record`], with `vm.base` at its frame. For builtins `pc` is the FUNCC header.
    fn record(&self, vm: &mut Vm, pc: InsPtr);
    /// Compiled code left through `exit`; `vm.base` is the frame of the exit. Says where to resume.
    fn exit(&self, vm: &mut Vm, exit: ExitId) -> Resume;
    /// An error (`vm.error`, nil if there is none) is about to unwind, or a hook fired: the recording must be aborted.
    fn abort(&self, vm: &mut Vm);
    /// A value has changed that traces take for a constant: the metatable of a primitive type, or a variable that its function never
    /// assigns to. No trace may be entered again.
    fn constant_changed(&self, vm: &mut Vm);
    /// Fields have changed that traces take for constants ([`crate::gc::Heap::use_watched`]). These traces may not be entered again.
    fn fields_changed(&self, vm: &mut Vm, changed: ChangedFields);
    /// The first operation on cdata is executed, see [`Vm::ffi_operations`].
    fn ffi_used(&self, _vm: &mut Vm) {}
    /// A prototype was created by the parser or loader (the `bc` event).
    fn new_proto(&self, vm: &mut Vm, proto: Gc<Proto>);
    /// A prototype is about to be freed, and with it its traces. With `waiting`, compiled code has called a builtin that has not returned:
    /// then the code of these traces must stay.
    fn free_proto(&self, proto: Gc<Proto>, waiting: bool);
    /// The instruction that `patched`, which enters a trace (JLOOP, JFORL, JITERL, JFUNCF, JFUNCV), has replaced.
    fn original_ins(&self, patched: Ins) -> Ins;
    /// Marks the objects that a recording needs. In the atomic phase also those that the traces of the prototypes marked so far need.
    fn mark(&self, marker: &mut Marker);
    /// Marks the objects that the traces of a prototype need, which has the flag `TRACED`. All other reachable objects have been marked, so
    /// traces that lead through prototypes which are not marked will never run again: they may be removed here, unless compiled code is
    /// `waiting` as in [`Compiler::free_proto`].
    fn mark_traces(&self, proto: Gc<Proto>, waiting: bool, marker: &mut Marker);
    /// For the compiler's own library functions, which downcast it.
    fn as_any(&self) -> &dyn Any;
}

/// What observes the programs that run on a VM: the sampling profiler ([`crate::sample`]).
pub trait Observer: Any {
    /// Delivers what waits. `vm.base` and `vm.pc` are those of a Lua function, and `vm.top` is after all values that its instruction may read.
    fn deliver(&self, vm: &mut Vm);
    /// The code of a function was loaded.
    fn loaded(&self, proto: Gc<Proto>);
    /// The collector is about to decide which functions to free.
    fn functions_go(&self, vm: &Vm);
    /// Marks the objects that it keeps.
    fn mark(&self, marker: &mut Marker);
    /// A thread begins to use the VM, see [`Vm::enter_thread`].
    fn enter_thread(&self, vm: &mut Vm);
    /// No thread uses the VM until the next one enters.
    fn leave_thread(&self);
    /// The VM is about to be closed; finalizers have not run.
    fn closing(&self, vm: &mut Vm);
    /// The process ends, or the VM is closed: the observer is detached.
    fn end(&self, vm: &mut Vm);
}
