//! Growth of the Lua stack.
#![allow(unsafe_code, reason = "a signal handler sees that the stack moves before it does")]

use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Thread};
use crate::state::DepthLimits;
use core::sync::atomic::{Ordering, compiler_fence};

/// Slots of a new coroutine's stack.
pub const INITIAL: u32 = 64;
/// The most arguments of a function: beyond, "stack overflow". It is as many as fit in LuaJIT's stack: calls that pass on all their
/// arguments and one more move them all each time, which takes time quadratic in the limit.
pub const MAX_ARGS: usize = 65_000;
/// Slots that every builtin finds free.
pub const NATIVE_MIN: usize = 40;

/// Slots of a stack that is worth shrinking: as many as LuaJIT's largest stack has.
const LARGE: u32 = 1 << 16;
/// No limits are higher.
const MOST: DepthLimits = DepthLimits::MOST;
/// No limits are lower: libraries and handlers of errors need some room.
pub(super) const LOWEST: DepthLimits = DepthLimits { stack: 2000, native: 10 };

impl Vm {
    /// Limits the size of each stack, in slots; a larger one than the default is not possible.
    pub fn set_stack_limit(&mut self, slots: usize) {
        self.depth.stack = u32::try_from(slots).unwrap_or(MOST.stack).clamp(LOWEST.stack, MOST.stack);
        self.shrink_after_error();
    }
    /// Limits how many calls from native code into the VM are active at once; a larger number than the default is not possible.
    pub fn set_native_depth_limit(&mut self, calls: usize) {
        self.depth.native = u32::try_from(calls).unwrap_or(MOST.native).clamp(LOWEST.native, MOST.native);
    }
    /// Sets the limit from the running coroutine's stack size.
    pub(crate) fn update_limit(&mut self) {
        // SAFETY: this VM, and the stack of its running coroutine.
        unsafe { Vm::end_stack_at(self, self.cur.limit()) };
    }
    /// Makes room for `n` slots above `vm.top`, moving the stack if needed; `base` and `top` follow.
    pub fn grow_stack(&mut self, n: usize) -> LuaResult<()> {
        let used = (self.top as usize - self.cur.stack.get() as usize) / 8;
        let need = used + n + Thread::EXTRA as usize;
        let size = self.cur.size.get() as usize;
        if need <= size {
            return Ok(());
        }
        if need > self.depth.stack as usize {
            // Room for handling the error, beyond the limit, once.
            if size < self.depth.stack as usize + 4096 {
                self.move_stack(self.depth.stack + 4096);
            }
            if need > self.depth.stack as usize + 4096 || !self.cur.in_handler.get() {
                return Err(self.overflow_error("stack overflow"));
            }
            return Ok(());
        }
        let new = need.max(size * 2).min(self.depth.stack as usize);
        self.move_stack(new as u32);
        Ok(())
    }
    /// Makes room for `n` slots from the running frame's base on, if a stack may be so large. Everything below `vm.top` is kept.
    pub fn make_stack(&mut self, n: usize) -> bool {
        let used = (self.base as usize - self.cur.stack.get() as usize) / 8;
        let need = used + n + Thread::EXTRA as usize;
        let size = self.cur.size.get() as usize;
        if need > self.depth.stack as usize {
            return false;
        }
        if need > size {
            self.move_stack(need.max(size * 2).min(self.depth.stack as usize) as u32);
        }
        true
    }
    /// Makes room for `n` slots from the base of a coroutine that is not running, if its stack may be so large.
    pub(crate) fn make_room(&mut self, co: Gc<Thread>, n: usize) -> bool {
        let used = (co.base.get() as usize - co.stack.get() as usize) / 8;
        let (need, size) = (used + n + Thread::EXTRA as usize, co.size.get() as usize);
        if need > size {
            if need > self.depth.stack as usize {
                return false;
            }
            self.resize_stack(co, need.max(size * 2).min(self.depth.stack as usize) as u32);
        }
        true
    }
    /// Removes room that an error has left: beyond the limit, which was added for handling a stack overflow, or was there before the limit; and
    /// most of a stack of 512 KB or more of which little is used.
    pub(super) fn shrink_after_error(&mut self) {
        self.shrink_unused_stack();
        if self.cur.size.get() > self.depth.stack
            && self.top < self.cur.stack.get().wrapping_add((self.depth.stack - 1000) as usize)
        {
            self.move_stack(self.depth.stack);
        }
    }
    /// Gives most of the running coroutine's stack back, if it has 512 KB or more and little of it is used. Other stacks are freed with their
    /// coroutines.
    pub fn shrink_unused_stack(&mut self) {
        let used = (self.top as usize - self.cur.stack.get() as usize) / 8;
        if self.cur.size.get() >= LARGE && used < (LARGE / 8) as usize {
            self.move_stack(LARGE / 4);
        }
    }
    /// Gives a coroutine another stack.
    pub(super) fn resize_stack(&mut self, t: Gc<Thread>, size: u32) {
        // SAFETY: a field of this VM. Volatile: a signal handler reads it, which must not look at the old stack from here on.
        unsafe { (&raw mut self.compiled.frame_base).write_volatile(core::ptr::null_mut()) };
        self.compiled.stack_moves = self.compiled.stack_moves.wrapping_add(1);
        compiler_fence(Ordering::SeqCst);
        self.heap.resize_stack(t, size);
    }
    fn move_stack(&mut self, size: u32) {
        let cur = self.cur;
        let old = cur.stack.get() as usize;
        let [base, top] = [self.base, self.top].map(|p| p as usize - old);
        self.resize_stack(cur, size);
        // Computed from the new stack, not by an offset from the old one, which is another allocation.
        let new = cur.stack.get();
        (self.base, self.top) = (new.wrapping_byte_add(base), new.wrapping_byte_add(top));
        self.update_limit();
    }
    /// Makes room for `n` pushes by the running builtin.
    #[inline]
    pub fn reserve(&mut self, n: usize) -> LuaResult<()> {
        if self.top.wrapping_add(n) <= self.stack_limit { Ok(()) } else { self.grow_stack(n + NATIVE_MIN) }
    }
}
