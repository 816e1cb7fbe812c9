//! Function prototypes.
#![allow(
    unsafe_code,
    reason = "bytecode is patched in place and read through raw pointers; no Rust reference to an instruction is kept"
)]

use super::{BcAddr, Gc, GcHeader, InsPtr, StitchStubs, Str};
use crate::bc::{Ins, UvDesc, VarInfo};
use crate::state::HOT_COUNTERS;
use crate::value::Value;
use core::cell::{Cell, UnsafeCell};

/// So many closures of a prototype are recognised one by one.
const MANY_CLOSURES: u32 = 8;

/// Flag bits of a prototype ([`Proto::flags`]).
#[derive(Copy, Clone, Debug)]
pub struct ProtoFlags;

impl ProtoFlags {
    /// Has child prototypes.
    pub const CHILD: u8 = 0x01;
    /// Is a vararg function.
    pub const VARARG: u8 = 0x02;
    /// `jit.off` was called for it.
    pub const NOJIT: u8 = 0x08;
    /// Some loop or header was patched to its blacklisted form.
    pub const ILOOP: u8 = 0x10;
    /// The compiler has traces that live as long as it ([`crate::hooks::Compiler::mark_traces`]).
    pub const TRACED: u8 = 0x20;
    /// Its functions have several environments, as compiled code has found.
    pub const ENVIRONMENTS: u8 = 0x40;
}

/// A function prototype: the bytecode with its constants and debug information.
///
/// Header: `b0` is the frame size in slots, `b1` the number of fixed parameters.
#[derive(Debug)]
#[repr(C)]
pub struct Proto {
    /// Object header; `b0` frame size, `b1` number of parameters, `word` number of closures made (saturating).
    pub hdr: GcHeader,
    /// Constants, from the middle: `k[i]` for `i >= 0` is number constant i, `k[-2 - i]` is object constant i (string, template table or
    /// prototype, as a tagged value). `k[-1]` is the `hot_origin`, from which the hot counters of the instructions follow.
    pub k: Cell<*const Value>,
    /// The bytecode; instruction 0 is the header. Patched in place by the JIT.
    pub code: UnsafeCell<Box<[Ins]>>,
    /// Backing store of `k`: object constants in reverse, the `hot_origin`, then number constants.
    pub consts: Box<[Value]>,
    /// How many of `consts` are object constants.
    pub num_kgc: u32,
    /// [`ProtoFlags`].
    pub flags: Cell<u8>,
    /// Where each upvalue comes from.
    pub upvalues: Box<[UvDesc]>,
    /// Chunk name, with its leading `@` or `=`.
    pub chunkname: Gc<Str>,
    /// Line where the function starts; 0 for a main chunk.
    pub first_line: u32,
    /// Line where the function ends.
    pub last_line: u32,
    /// Line of each instruction; empty when stripped.
    pub lines: Box<[u32]>,
    /// Names of the upvalues; empty when stripped.
    pub uv_names: Box<[Box<[u8]>]>,
    /// Local variables with their ranges; empty when stripped.
    pub vars: Box<[VarInfo]>,
    /// Copies of calls that traces end in front of.
    pub(crate) stubs: StitchStubs,
}

/// The word between the constants of a function from which [`hot_counter`] computes hot counters: its first instruction is at `code` and
/// has the hot counter `place` (modulo their number).
pub(crate) fn hot_origin(code: *const Ins, place: usize) -> Value {
    // The interpreter counts with the address after the instruction.
    let first = code.wrapping_add(1) as usize;
    Value::int((first.wrapping_sub(place * size_of::<Ins>()) % (HOT_COUNTERS * size_of::<Ins>())) as i32)
}

/// The hot counter of the instruction before `next`, in a function with this [`hot_origin`].
#[inline(always)]
pub(crate) fn hot_counter(origin: Value, next: *const Ins) -> usize {
    (next as usize).wrapping_sub(origin.bits() as usize) / size_of::<Ins>() % HOT_COUNTERS
}

impl Proto {
    /// Frame size in slots.
    #[inline(always)]
    pub fn framesize(&self) -> u32 {
        u32::from(self.hdr.b0.get())
    }
    /// Number of fixed parameters.
    #[inline(always)]
    pub fn num_params(&self) -> u32 {
        u32::from(self.hdr.b1.get())
    }
    /// Does the program make closures of it again and again? Compiled code recognises them by their code then.
    pub fn has_many_closures(&self) -> bool {
        self.hdr.word.get() > MANY_CLOSURES
    }
    /// Has the program made more than one closure of it?
    pub fn has_several_closures(&self) -> bool {
        self.hdr.word.get() > 1
    }
    /// The program makes closures of it again and again, though it may not have made many yet.
    pub fn expect_many_closures(&self) {
        self.hdr.word.set(self.hdr.word.get().max(MANY_CLOSURES + 1));
    }
    /// Is it a vararg function?
    pub fn is_vararg(&self) -> bool {
        self.flags.get() & ProtoFlags::VARARG != 0
    }
    /// Address of the first instruction (the header).
    #[inline(always)]
    pub fn code_ptr(&self) -> *mut Ins {
        // SAFETY: the box itself is never replaced; only instructions are patched, through this pointer.
        unsafe { (&raw mut **self.code.get()).cast() }
    }
    /// Number of instructions, header included.
    pub fn code_len(&self) -> usize {
        // SAFETY: see `code_ptr`.
        unsafe { (&raw const **self.code.get()).len() }
    }
    /// Instruction at index `pc`, if in range.
    pub fn ins(&self, pc: usize) -> Option<Ins> {
        // SAFETY: `pc` is in range, and instructions are plain words.
        if pc < self.code_len() { Some(unsafe { *self.code_ptr().add(pc) }) } else { None }
    }
    /// Replaces the instruction at index `pc`: the compiler patches the starts of traces.
    pub fn patch(&self, pc: usize, ins: Ins) {
        assert!(pc < self.code_len());
        // SAFETY: in range; the interpreter reads instructions through raw pointers only.
        unsafe { *self.code_ptr().add(pc) = ins }
    }
    /// Addresses of the instructions.
    pub fn code_range(&self) -> core::ops::Range<*const Ins> {
        let start = self.code_ptr().cast_const();
        start..start.wrapping_add(self.code_len())
    }
    /// Index of the instruction at an address, if it lies in this prototype. For an instruction of a
    /// [`super::StitchStub`] it is the index of the call, or of the instruction after the call.
    pub fn pc_of(&self, address: impl Into<BcAddr>) -> Option<usize> {
        let address: BcAddr = address.into();
        let d = (address.get() as usize).wrapping_sub(self.code_ptr() as usize) / size_of::<Ins>();
        if d < self.code_len() { Some(d) } else { self.pc_of_stub(address) }
    }
    /// A pointer to the instruction at an address, if it lies in this prototype or in one of its stitch stubs. The prototype must live as
    /// long as the pointer is used.
    pub fn ins_ptr(&self, address: BcAddr) -> Option<InsPtr> {
        let is_aligned = address.get().is_multiple_of(size_of::<Ins>() as u64);
        self.pc_of(address).filter(|_| is_aligned)?;
        // SAFETY: the address is that of an instruction of this code, or of a stub.
        Some(unsafe { InsPtr::new(core::ptr::with_exposed_provenance(address.get() as usize)) })
    }
    /// The hot counter of an instruction. It depends on the instruction's position in the chunk, so that which code becomes hot, and when,
    /// depends neither on addresses nor on what else is loaded.
    pub fn hot_counter(&self, pc: InsPtr) -> usize {
        hot_counter(self.consts[self.num_kgc as usize], pc.as_ptr().wrapping_add(1))
    }
    /// Object constant i.
    pub fn kgc(&self, i: usize) -> Option<Value> {
        let n = self.num_kgc as usize;
        if i < n { Some(self.consts[n - 1 - i]) } else { None }
    }
    /// Number constant i.
    pub fn knum(&self, i: usize) -> Option<Value> {
        self.consts.get(self.num_kgc as usize + 1 + i).copied()
    }
    /// Number of number constants.
    pub fn num_knum(&self) -> usize {
        self.consts.len() - self.num_kgc as usize - 1
    }
    /// Line of the instruction at index `pc`; 0 when unknown.
    pub fn line(&self, pc: usize) -> u32 {
        self.lines.get(pc).copied().unwrap_or(0)
    }
    /// Is it known to be a main chunk? That is not known of stripped code.
    pub fn is_main(&self) -> bool {
        self.first_line == 0 && self.last_line > 0
    }
    /// Name of the local variable in `slot` at instruction `pc`, if debug information has it.
    pub fn local_name(&self, slot: u32, pc: usize) -> Option<&[u8]> {
        let mut left = slot;
        for v in &self.vars {
            if v.start_pc as usize > pc {
                break;
            }
            if pc < v.end_pc as usize {
                if left == 0 {
                    return Some(&v.name);
                }
                left -= 1;
            }
        }
        None
    }
}
