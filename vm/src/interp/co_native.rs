//! Coroutines as native code uses them: it pushes values to one on which no function runs, calls functions there, and resumes it.
//!
//! Such a coroutine is a *stack*: dead, with an empty first frame. It becomes one that has not begun when Lua code resumes it, and the other
//! way round when native code pushes to one that has not begun.
#![allow(
    unsafe_code,
    reason = "a stack has room for a first frame; a coroutine that waits keeps base, top and pc of its innermost frame"
)]

use super::frame;
use super::run::Entries;
use super::{Driver, Loop, Tail};
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Thread, ThreadStatus};
use crate::value::Value;

/// The coroutine that ran before [`Vm::enter_coroutine`].
#[derive(Debug)]
pub struct OuterThread {
    thread: Gc<Thread>,
    /// What was in the lowest slot of the coroutine that was entered, which keeps this one alive meanwhile.
    below: Value,
    status: ThreadStatus,
    saved_pc: *const crate::bc::Ins,
    /// State and depth of the coroutine that was entered.
    inner: (ThreadStatus, u32),
}

/// How a coroutine that native code has resumed went on. Its results are on its stack.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Resumed {
    /// Its function has returned.
    Returned,
    /// It has yielded.
    Yielded,
    /// It has failed; the error is on top.
    Failed,
}

/// Resumes the coroutine that is the first argument of the builtin at a slot, with all values on its stack.
///
/// # Safety
/// The contract of the handlers; the coroutine waits in a call of `coroutine.yield` by a Lua function.
unsafe extern "C" fn enter_resume<D: Driver>(vm: *mut Vm, func: *mut Value, _: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { super::switch::resume_for_native::<D>(vm, func.add(2)) }
}

const RESUME: Entries = Entries { in_loop: enter_resume::<Loop>, in_tail: enter_resume::<Tail> };

impl Vm {
    /// Is it a coroutine on which no function runs, so that native code may push values to it ([`Vm::new_stack`])?
    pub(super) fn is_stack(co: Gc<Thread>) -> bool {
        if co.status.get() != ThreadStatus::Dead || co.base.get() != co.stack.get().wrapping_add(3) {
            return false;
        }
        // SAFETY: every stack has room for a first frame.
        unsafe { (*co.stack.get().add(1)).is_nil() }
    }
    /// Makes the coroutine one on which native code may push values, if no function runs on it: the function of one that has not begun, and
    /// its arguments, are such values.
    fn open_stack(co: Gc<Thread>) {
        let (stack, old) = (co.stack.get(), co.status.get());
        let is_empty = old == ThreadStatus::Dead && co.base.get() == stack;
        if !is_empty && old != ThreadStatus::Fresh {
            return;
        }
        // SAFETY: a stack has room for the first frame, and one more value than the arguments of a function that has not begun.
        unsafe {
            let first = stack.add(3);
            if is_empty {
                co.top.set(first);
            } else {
                let n = co.top.get().offset_from(first) as usize;
                core::ptr::copy(first, first.add(1), n);
                *first = *stack.add(1);
                co.top.set(co.top.get().add(1));
            }
            *stack.add(1) = Value::NIL;
            *stack.add(2) = frame::link(0, frame::COR);
            co.base.set(first);
        }
        co.status.set(ThreadStatus::Dead);
    }
    /// Are there values that native code has pushed to a coroutine on which nothing runs? The first can be called.
    pub(super) fn has_values(co: Gc<Thread>) -> bool {
        Vm::is_stack(co) && co.top.get() > co.base.get()
    }
    /// Makes the first of the values that native code has pushed the function of the coroutine, and the others its arguments.
    pub(super) fn close_stack(co: Gc<Thread>) {
        // SAFETY: there is a first value.
        unsafe {
            let first = co.base.get();
            *first.sub(2) = *first;
            core::ptr::copy(first.add(1), first, co.top.get().offset_from(first) as usize - 1);
            co.top.set(co.top.get().sub(1));
        }
        co.status.set(ThreadStatus::Fresh);
    }
    /// Makes `co` the running coroutine while native code uses it as if it ran. [`Vm::leave_coroutine`] ends that.
    pub fn enter_coroutine(&mut self, co: Gc<Thread>) -> OuterThread {
        Vm::open_stack(co);
        co.stack_changed();
        let old = self.cur;
        let outer = OuterThread {
            // SAFETY: every stack has room for a first frame, which begins above the lowest slot.
            below: unsafe { core::ptr::replace(co.stack.get(), Value::thread(old)) },
            thread: old,
            status: old.status.replace(ThreadStatus::Normal),
            saved_pc: old.pc.replace(self.pc),
            inner: (co.status.replace(ThreadStatus::Running), co.native_depth.replace(self.interp.native_depth)),
        };
        self.switch_to(co);
        self.pc = co.pc.get();
        outer
    }
    /// Goes back to the coroutine that ran before.
    pub fn leave_coroutine(&mut self, outer: OuterThread) {
        let (co, old) = (self.cur, outer.thread);
        co.status.set(outer.inner.0);
        co.native_depth.set(outer.inner.1);
        // SAFETY: as in `enter_coroutine`.
        unsafe { *co.stack.get() = outer.below };
        self.switch_to(old);
        old.status.set(outer.status);
        self.pc = old.pc.replace(outer.saved_pc);
    }
    /// Resumes a coroutine with the topmost `n` values on its stack. If it has not begun, its function is below them. `resume` is the builtin
    /// `coroutine.resume`.
    pub fn resume_native(&mut self, resume: Value, co: Gc<Thread>, n: usize) -> Resumed {
        Vm::open_stack(co);
        if !(Vm::has_values(co) || co.status.get() == ThreadStatus::Suspended) {
            let why = Value::str(self.new_str(b"cannot resume non-suspended coroutine"));
            if co == self.cur {
                // It loses what the running function has pushed, as in LuaJIT: so there is room.
                self.top = self.base;
                self.push(why);
            } else {
                self.give(co, &[why]);
            }
            return Resumed::Failed;
        }
        co.stack_changed();
        let at = self.stack_offset(self.top);
        let result = if super::switch::can_resume_in_place(self, co) {
            // SAFETY: the values are on top of the coroutine's stack. Others below them are dropped.
            unsafe {
                frame::move_values(co.top.get().sub(n), co.base.get(), n);
                co.top.set(co.base.get().add(n));
            }
            self.resume_in_place(resume, co)
        } else {
            self.resume_by_builtin(resume, co, n)
        };
        if result.is_err() {
            let e = self.take_error();
            self.give(co, &[e]);
            return Resumed::Failed;
        }
        let first = self.stack_at(at);
        if self.top == first {
            // What it yields is on its stack.
            return Resumed::Yielded;
        }
        // SAFETY: the results are on top of the running stack: whether there was no error, and values.
        let (succeeded, values) = unsafe {
            let n = self.top.offset_from(first) as usize;
            (*first, core::slice::from_raw_parts(first.add(1), n - 1))
        };
        let status = match co.status.get() {
            _ if succeeded == Value::FALSE => Resumed::Failed,
            ThreadStatus::Suspended => Resumed::Yielded,
            _ => {
                Vm::open_stack(co);
                Resumed::Returned
            }
        };
        self.give(co, values);
        self.top = self.stack_at(at);
        status
    }
    /// Resumes a coroutine that waits in a call of `coroutine.yield` by a Lua function, with all values on its stack. What it yields is left
    /// there; otherwise the results of `resume`, the builtin `coroutine.resume`, are pushed.
    fn resume_in_place(&mut self, resume: Value, co: Gc<Thread>) -> LuaResult<()> {
        let at = self.stack_offset(self.top);
        self.reserve(2)?;
        self.push(resume);
        self.push(Value::thread(co));
        let result = self.call_in_place(RESUME, at, 1, frame::Catch::Resumption);
        self.top = self.stack_at(at).wrapping_add(*result.as_ref().unwrap_or(&0) as usize);
        result.map(|_| ())
    }
    /// Calls `resume`, the builtin `coroutine.resume`, with the coroutine and the topmost `n` values on its stack.
    fn resume_by_builtin(&mut self, resume: Value, co: Gc<Thread>, n: usize) -> LuaResult<()> {
        self.reserve(n + 2)?;
        self.push(resume);
        self.push(Value::thread(co));
        // SAFETY: the values are on the stack of the coroutine, which does not run; room was made for them on the running stack.
        unsafe {
            let first = co.top.get().sub(n);
            frame::move_values(first, self.top, n);
            self.top = self.top.add(n);
            if co.status.get() != ThreadStatus::Suspended {
                // Values below the function are dropped.
                *co.base.get() = *first.sub(1);
                co.top.set(co.base.get().add(1));
                Vm::close_stack(co);
            }
        }
        co.top.set(co.base.get());
        self.call_top(n + 1, -1, frame::Catch::Nothing)
    }
    /// Pushes values to a coroutine that does not run.
    fn give(&mut self, co: Gc<Thread>, values: &[Value]) {
        // SAFETY: both are on one stack.
        let used = unsafe { co.top.get().offset_from(co.base.get()) } as usize;
        if !self.make_room(co, used + values.len()) {
            return;
        }
        co.stack_changed();
        for v in values {
            // SAFETY: there is room above the top.
            unsafe {
                *co.top.get() = *v;
                co.top.set(co.top.get().add(1));
            }
        }
    }
}
