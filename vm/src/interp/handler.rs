//! What all handlers are made of: the macro that defines one, how it goes on to the next, and its operands.
//!
//! The contract of handlers and of `unsafe fn`s on [`R`] is that of [`crate::interp`].
#![allow(unsafe_code, reason = "the registers of the interpreter point into the running stack and the running function")]
#![allow(unsafe_op_in_unsafe_fn, reason = "every handler's body is covered by the contract of `vm/src/interp/mod.rs`")]
#![allow(clippy::missing_safety_doc, reason = "the contract of `vm/src/interp/mod.rs` is the safety section of all handlers")]

use super::registers::{Handler, R};
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::object::{Func, Gc};
use crate::value::Value;

/// [`R::a`] at a function header.
#[inline(always)]
pub(super) const fn at_header(nargs: usize) -> usize {
    nargs << 8
}

/// What a handler returns, and so the dispatch.
#[derive(Debug)]
pub struct Status;

impl Status {
    /// The loop driver continues with the saved state.
    pub const CONTINUE: u32 = 0;
    /// The frame entered from Rust has returned.
    pub const DONE: u32 = 1;
    /// An error is being raised.
    pub const ERROR: u32 = 2;
}

/// How a handler calls the next one.
pub trait Driver: 'static {
    /// Do handlers go on by calls in tail position, so that none has a frame?
    const IN_TAIL: bool;
    /// Executes an instruction with its operand A, a function header with a number of arguments (`at_header`). `WAY` is one of the ways
    /// (`way`) out of a handler.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    unsafe fn go<const WAY: u8>(r: R, ins: Ins, a: usize) -> u32;
    /// The handler in the plain dispatch table.
    fn plain(op: Op) -> Handler;
    /// That of a fast function, by its number.
    fn plain_fast(i: usize) -> Handler;
}

/// The ways out of one handler. Each has a jump of its own to the next handler: the processor predicts the target of an indirect jump from what
/// the same jump did before.
pub(super) mod way {
    /// The usual one.
    pub const NEXT: u8 = 0;
    /// A jump was taken.
    pub const TAKEN: u8 = 1;
    /// A jump was not taken.
    pub const NOT_TAKEN: u8 = 2;
    /// Not integers: doubles.
    pub const DOUBLE: u8 = 3;
    /// The first operand is an integer, the second a double.
    pub const FIRST_INT: u8 = 5;
    /// The second operand is an integer, the first a double.
    pub const SECOND_INT: u8 = 6;
    /// A call of a fast function.
    pub const FAST: u8 = 4;
}

impl R {
    #[inline(always)]
    pub(crate) fn i(self) -> Ins {
        Ins((self.ins as u32).rotate_left(16))
    }
    /// Registers at the entry to the interpreter; the first handler loads the others.
    ///
    /// # Safety
    /// `base` is the current frame of the VM.
    pub(super) unsafe fn at_entry(vm: *mut Vm, base: *mut Value) -> R {
        R { vm, pc: core::ptr::null(), base, a: 0, kbase: base, ins: 0 }
    }
    /// With another current instruction, and a number of arguments if it is a function header.
    #[inline(always)]
    pub(super) fn with_ins(self, ins: Ins, nargs: usize) -> R {
        self.with(ins, ins.a() | at_header(nargs))
    }
    /// With another current instruction and its [`R::a`].
    #[inline(always)]
    pub(super) fn with(mut self, ins: Ins, a: usize) -> R {
        self.a = a;
        self.ins = u64::from(ins.0.rotate_right(16));
        self
    }
    #[inline(always)]
    pub(super) unsafe fn ra(self) -> *mut Value {
        self.base.add(self.a)
    }
    #[inline(always)]
    pub(super) unsafe fn rb(self) -> *mut Value {
        self.base.add(self.b())
    }
    #[inline(always)]
    pub(super) unsafe fn rc(self) -> *mut Value {
        self.base.add(self.c())
    }
    #[inline(always)]
    pub(super) unsafe fn rd(self) -> *mut Value {
        self.base.add(self.d())
    }
    #[inline(always)]
    pub(super) fn a(self) -> usize {
        self.a
    }
    /// Operand B, from the code: only registers that must be saved could take it from `ins` together with the others. Instructions with a B are
    /// never replaced by another form.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    pub(super) unsafe fn b(self) -> usize {
        usize::from(*self.pc.cast::<u8>().sub(1))
    }
    #[inline(always)]
    pub(super) fn c(self) -> usize {
        (self.ins & 0xff) as usize
    }
    #[inline(always)]
    pub(super) fn d(self) -> usize {
        (self.ins & 0xffff) as usize
    }
    /// Number of arguments, at a function header.
    #[inline(always)]
    pub(super) fn nargs(self) -> usize {
        self.a >> 8
    }
    /// Address of a number constant.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    pub(super) unsafe fn kn(self, i: usize) -> *const Value {
        self.kbase.add(i)
    }
    /// Number constant.
    #[inline(always)]
    pub(super) unsafe fn knum(self, i: usize) -> Value {
        *self.kn(i)
    }
    /// Object constant.
    #[inline(always)]
    pub(super) unsafe fn kgc(self, i: usize) -> Value {
        // In this form the address takes one register less.
        *self.kbase.offset(!(i as isize)).sub(1)
    }
    /// The function of the frame.
    #[inline(always)]
    pub(super) unsafe fn func(self) -> Gc<Func> {
        Gc::from_addr((*self.base.sub(2)).payload())
    }
    /// Continues with the instruction at `pc`.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    pub(super) unsafe fn next<D: Driver>(self) -> u32 {
        self.next_by::<D, { way::NEXT }>()
    }
    /// The same by one of the ways out of a handler.
    ///
    /// # Safety
    /// The registers are those of a running handler, see [`R`].
    #[inline(always)]
    pub(super) unsafe fn next_by<D: Driver, const WAY: u8>(mut self) -> u32 {
        let ins = *self.pc;
        self.pc = self.pc.add(1);
        D::go::<WAY>(self, ins, ins.a())
    }
    /// Takes the jump in the instruction at `pc`.
    #[inline(always)]
    pub(super) unsafe fn branch<D: Driver>(mut self) -> u32 {
        let j = *self.pc;
        self.pc = self.pc.add(1).offset(j.j() as isize);
        self.next_by::<D, { way::TAKEN }>()
    }
    /// Skips the jump at `pc`.
    #[inline(always)]
    pub(super) unsafe fn skip<D: Driver>(mut self) -> u32 {
        self.pc = self.pc.add(1);
        self.next_by::<D, { way::NOT_TAKEN }>()
    }
    /// Takes the jump of the current instruction.
    #[inline(always)]
    pub(super) unsafe fn jump<D: Driver>(self) -> u32 {
        self.jump_by::<D, { way::TAKEN }>()
    }
    /// The same by one of the ways out of a handler.
    #[inline(always)]
    pub(super) unsafe fn jump_by<D: Driver, const WAY: u8>(mut self) -> u32 {
        self.pc = self.pc.offset(self.d() as isize - 0x8000);
        self.next_by::<D, WAY>()
    }
    /// Calls a cold handler in tail position.
    #[inline(always)]
    pub(super) unsafe fn to(self, h: Handler) -> u32 {
        h(self.vm, self.pc, self.a, self.ins, self.base, self.kbase)
    }
    /// Makes the state visible to everything outside the handlers.
    #[inline(always)]
    pub(super) unsafe fn sync(self) {
        (*self.vm).base = self.base;
        (*self.vm).pc = self.pc;
    }
    /// Frame size of the running prototype.
    #[inline(always)]
    pub(super) unsafe fn framesize(self) -> usize {
        match self.func().proto() {
            Some(p) => p.framesize() as usize,
            None => 0,
        }
    }
    /// Syncs and sets `top` to the end of the frame: before anything that pushes frames or may collect.
    #[inline]
    pub(super) unsafe fn sync_top(self) {
        self.sync();
        (*self.vm).top = self.base.add(self.framesize());
    }
}

/// Defines a handler, generic over the driver.
macro_rules! op {
    ($($(#[$m:meta])* $name:ident<$d:ident>($r:ident) $body:block)*) => {
        $(
        $(#[$m])*
        pub(super) unsafe extern "C" fn $name<$d: $crate::interp::Driver>(
            vm: *mut $crate::Vm,
            pc: *const $crate::bc::Ins,
            a: usize,
            ins: u64,
            base: *mut $crate::value::Value,
            kbase: *const $crate::value::Value,
        ) -> u32 {
            #[allow(unused_mut, reason = "some handlers update the state in place")]
            let mut $r = $crate::interp::R { vm, pc, base, a, kbase, ins };
            $body
        }
        )*
    };
}
pub(crate) use op;
