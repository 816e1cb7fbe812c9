//! The frame of the running builtin: its arguments, and what it pushes.
#![allow(unsafe_code, reason = "`base` and `top` delimit the values of the running builtin on the running stack")]

use crate::Vm;
use crate::error::LuaResult;
use crate::interp::frame::func_of;
use crate::object::{Func, Gc};
use crate::value::Value;

impl Vm {
    /// The running builtin.
    #[inline(always)]
    pub fn callee(&self) -> Gc<Func> {
        debug_assert!(!self.base.is_null());
        // SAFETY: the slots below the base of a frame hold its function and its link; the frame of the host has a function as well.
        unsafe { func_of(self.base) }
    }
    /// Number of arguments of the running builtin.
    #[inline(always)]
    pub fn nargs(&self) -> usize {
        // SAFETY: base and top delimit the running builtin's part of one stack.
        unsafe { self.top.offset_from(self.base) as usize }
    }
    /// The arguments of the running builtin.
    #[inline(always)]
    pub fn args(&self) -> &[Value] {
        // SAFETY: the running builtin's part of the stack, which is not written while the VM is borrowed.
        unsafe { core::slice::from_raw_parts(self.base, self.nargs()) }
    }
    /// Argument `i` (0-based) of the running builtin; nil when absent.
    #[inline(always)]
    pub fn arg(&self, i: usize) -> Value {
        if i < self.nargs() {
            // SAFETY: in range.
            unsafe { *self.base.add(i) }
        } else {
            Value::NIL
        }
    }
    /// Sets argument `i` (0-based, must exist): keeps a value alive across a call into Lua.
    #[inline(always)]
    pub fn set_arg(&mut self, i: usize, v: Value) {
        assert!(i < self.nargs());
        // SAFETY: in range.
        unsafe { *self.base.add(i) = v }
    }
    /// Pushes a value for the caller. A builtin has room for at least 20 pushes; beyond that, [`Vm::reserve`] first.
    #[inline(always)]
    pub fn push(&mut self, v: Value) {
        debug_assert!(self.top < self.stack_end());
        // SAFETY: the callee's minimum stack was reserved before the builtin was called.
        unsafe {
            *self.top = v;
            self.top = self.top.add(1);
        }
    }
    /// Pops the topmost value.
    #[inline(always)]
    pub fn pop(&mut self) -> Value {
        debug_assert!(self.top > self.base);
        // SAFETY: by the assertion there is a value.
        unsafe {
            self.top = self.top.sub(1);
            *self.top
        }
    }
    /// Pushes the one result of a builtin.
    #[inline(always)]
    pub fn ret1(&mut self, v: Value) -> LuaResult<u32> {
        self.push(v);
        Ok(1)
    }
    /// End of the current stack's memory.
    #[inline]
    pub fn stack_end(&self) -> *mut Value {
        // SAFETY: `size` slots were allocated at `stack`.
        unsafe { self.cur.stack.get().add(self.cur.size.get() as usize) }
    }
}
