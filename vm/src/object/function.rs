//! Functions and upvalues.
#![allow(
    unsafe_code,
    reason = "a function is followed by as many slots as it has upvalues; builtins have `body.native`, Lua functions `body.proto`"
)]

use super::{Gc, GcHeader, Proto, Table};
use crate::Vm;
use crate::bc::Ins;
use crate::error::LuaError;
use crate::value::Value;
use core::cell::Cell;

/// A builtin in Rust.
///
/// Called with `vm.base` at the first argument and `vm.top` after the last. It pushes its results (`vm.push`) and returns how
/// many; the results are the topmost values. An error is parked in the VM (see [`LuaError`]).
pub type NativeFn = fn(&mut Vm) -> Result<u32, LuaError>;

/// The part of a function after the common head.
#[derive(Copy, Clone)]
#[repr(C)]
pub union FuncBody {
    /// The prototype of a Lua function.
    pub proto: Gc<Proto>,
    /// The Rust function of a builtin.
    pub native: NativeFn,
}

/// A closure: of a Lua prototype, or of a builtin. The upvalues follow the struct: `Gc<UpVal>` each for a Lua function, `Value`
/// each for a builtin.
///
/// Header: `b0` is the number of upvalues; `b1` has flags of `watchpoint.rs` for the environment; `word` is the builtin's id (0: a
/// Lua function, 1: a native function without id).
#[repr(C)]
pub struct Func {
    /// Object header; `b0` number of upvalues, `b1` use of the environment, `word` builtin id.
    pub hdr: GcHeader,
    /// Environment (`setfenv`).
    pub env: Cell<Gc<Table>>,
    /// First instruction: the FUNCF/FUNCV header of the prototype, or a FUNCC that says what kind of builtin it is.
    pub pc: Cell<*const Ins>,
    /// Prototype or Rust function.
    pub body: FuncBody,
}

/// Offset of the upvalues from the start of the object.
pub const FUNC_UPVALUES: usize = core::mem::size_of::<Func>();
const _: () = assert!(FUNC_UPVALUES == 32);

impl Func {
    /// Is this a Lua function (and not a builtin)?
    #[inline(always)]
    pub fn is_lua(&self) -> bool {
        self.hdr.word.get() == 0
    }
    /// Builtin id: 0 for Lua functions, 1 for natives without an id.
    #[inline(always)]
    pub fn ffid(&self) -> u32 {
        self.hdr.word.get()
    }
    /// Number of upvalues that programs see.
    pub fn visible_upvalues(&self) -> usize {
        self.num_upvalues() - usize::from(self.is_in_c())
    }
    /// Number of upvalues.
    #[inline(always)]
    pub fn num_upvalues(&self) -> usize {
        self.hdr.b0.get() as usize
    }
    /// The prototype of a Lua function.
    #[inline(always)]
    pub fn proto(&self) -> Option<Gc<Proto>> {
        // SAFETY: Lua functions are created with `body.proto`.
        if self.is_lua() { Some(unsafe { self.body.proto }) } else { None }
    }
    /// The prototype of a function that is known to be a Lua function.
    ///
    /// # Safety
    /// It is not a builtin.
    #[inline(always)]
    pub(crate) unsafe fn lua_proto(&self) -> Gc<Proto> {
        debug_assert!(self.is_lua());
        // SAFETY: Lua functions are created with `body.proto`.
        unsafe { self.body.proto }
    }
    /// The Rust function of a builtin.
    #[inline(always)]
    pub fn native(&self) -> Option<NativeFn> {
        // SAFETY: builtins are created with `body.native`.
        if self.is_lua() { None } else { Some(unsafe { self.body.native }) }
    }
    /// Address of upvalue slot `i`.
    #[inline(always)]
    pub(crate) fn slot_ptr<T>(&self, i: usize) -> *mut T {
        let p = core::ptr::with_exposed_provenance_mut::<T>(core::ptr::from_ref(self).expose_provenance() + FUNC_UPVALUES);
        p.wrapping_add(i)
    }
    #[inline(always)]
    fn slots<T>(&self) -> &[Cell<T>] {
        // SAFETY: a function is allocated with `num_upvalues` 8-byte slots after the struct.
        unsafe {
            let p = core::ptr::with_exposed_provenance::<Cell<T>>(core::ptr::from_ref(self).expose_provenance() + FUNC_UPVALUES);
            core::slice::from_raw_parts(p, self.num_upvalues())
        }
    }
    /// Upvalues of a Lua function (empty for builtins).
    #[inline(always)]
    pub fn upvalues(&self) -> &[Cell<Gc<UpVal>>] {
        if self.is_lua() { self.slots() } else { &[] }
    }
    /// Upvalues of a builtin (empty for Lua functions).
    #[inline(always)]
    pub fn native_upvalues(&self) -> &[Cell<Value>] {
        if self.is_lua() { &[] } else { self.slots() }
    }
}

/// A variable captured by closures: open while its stack slot lives, closed afterwards.
///
/// Header: `b0` is 1 when closed, `b1` is 1 when the variable is never assigned after initialisation.
#[derive(Debug)]
#[repr(C)]
pub struct UpVal {
    /// Object header; `b0` closed, `b1` immutable.
    pub hdr: GcHeader,
    /// Where the value is: a stack slot, or `closed` below.
    pub v: Cell<*mut Value>,
    /// The value once closed.
    pub closed: Cell<Value>,
    /// Next open upvalue of the thread, towards lower stack slots.
    pub next: Cell<*mut UpVal>,
}

const _: () = assert!(core::mem::size_of::<UpVal>() == 32);

impl UpVal {
    /// Is the variable closed over (no longer on a stack)?
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.hdr.b0.get() != 0
    }
    /// The current value.
    #[inline(always)]
    pub fn get(&self) -> Value {
        // SAFETY: `v` points to a live stack slot while open, to `self.closed` afterwards.
        unsafe { *self.v.get() }
    }
    /// Sets the value; the caller takes care of the barrier.
    pub fn set(&self, v: Value) {
        // SAFETY: as in `get`.
        unsafe { *self.v.get() = v }
    }
}
