//! Protected calls and coroutines: builtins that change the frames instead of returning.
//!
//! A coroutine has a Lua stack of its own; switching changes which stack the interpreter's registers point into, and nothing
//! recurses. While a coroutine is not running, its `base` is the frame of the builtin (`resume`, `yield`, ...) that switched away.
#![allow(unsafe_code, reason = "a coroutine that waits keeps base, top and pc of its innermost frame")]

use super::call::{NATIVE_CALL, NATIVE_RETURN};
use super::frame;
use super::stack;
use crate::Vm;
use crate::error::LuaResult;
use crate::object::{Gc, Thread, ThreadStatus};
use crate::roots::Roots;
use crate::stdlib::Builtin;
use crate::value::Value;

/// The most coroutines that wait for one another. LuaJIT's native stack overflows at half as many.
pub const MAX_NESTING: u32 = 200_000;

impl Vm {
    /// Turns the running builtin's arguments from `first` on (a function and its arguments) into a call made by the builtin.
    fn call_under(&mut self, first: usize, kind: u64) -> LuaResult<u32> {
        let n = self.nargs() - first;
        self.reserve(8)?;
        // SAFETY: `reserve` made room for one more slot; arguments move up by one to make room for the link.
        unsafe {
            let func = self.base.add(first);
            core::ptr::copy(func.add(1), func.add(2), n - 1);
            *func.add(1) = frame::link(first + 2, kind);
            self.base = func.add(2);
            self.top = self.base.add(n - 1);
        }
        self.multres = n as u32 - 1;
        Ok(NATIVE_CALL)
    }
    /// Turns the running builtin into a call of `f`, whose results become the builtin's.
    pub(crate) fn become_call(&mut self, f: Value, args: &[Value]) -> LuaResult<u32> {
        self.become_call_of(f, args.len(), |to| {
            // SAFETY: there is room for as many values.
            unsafe { frame::move_values(args.as_ptr(), to, args.len()) };
        })
    }
    /// As `Vm::become_call` with the values on their way from number `from` on.
    pub fn become_call_passed(&mut self, f: Value, roots: &Roots, from: usize) -> LuaResult<u32> {
        let n = roots.passing_len() - from;
        self.become_call_of(f, n, |to| {
            // SAFETY: there is room for as many values.
            unsafe { roots.copy_passing(from, to, n) };
        })
    }
    /// Turns the running builtin into a call of `f` with `n` arguments, which `fill` writes.
    #[inline]
    fn become_call_of(&mut self, f: Value, n: usize, fill: impl FnOnce(*mut Value)) -> LuaResult<u32> {
        self.reserve(n)?;
        // SAFETY: the running builtin's function is below its base, and `reserve` made room for the arguments.
        unsafe {
            *self.base.sub(2) = f;
            fill(self.base);
            self.top = self.base.add(n);
        }
        self.multres = n as u32;
        Ok(NATIVE_CALL)
    }
    /// Makes `co` the running coroutine.
    pub(super) fn switch_to(&mut self, co: Gc<Thread>) {
        let old = self.cur;
        old.base.set(self.base);
        old.top.set(self.top);
        self.cur = co;
        self.base = co.base.get();
        self.top = co.top.get();
        self.update_limit();
    }
    /// A coroutine for [`Vm::call_on`], on which nothing runs.
    pub fn new_stack(&mut self) -> Gc<Thread> {
        let co = self.new_thread(stack::INITIAL);
        self.reset_stack(co);
        co
    }
    /// Makes a coroutine one as [`Vm::new_stack`] returns.
    ///
    /// # Panics
    /// As [`Vm::reset_coroutine`].
    pub fn reset_stack(&mut self, co: Gc<Thread>) {
        co.env.set(self.cur.env.get());
        self.reset_coroutine(co, Value::NIL);
        co.status.set(ThreadStatus::Dead);
    }
    /// Calls `f` on another stack ([`Vm::new_stack`]), so that it can inspect the running coroutine unchanged.
    pub fn call_on(&mut self, co: Gc<Thread>, f: Value, args: &[Value]) -> LuaResult<()> {
        let old = self.cur;
        let (pc, status, old_pc) = (self.pc, old.status.replace(ThreadStatus::Normal), old.pc.replace(self.pc));
        // SAFETY: the slot below the frame: the running coroutine is kept by it.
        unsafe { *co.stack.get() = Value::thread(old) };
        co.status.set(ThreadStatus::Running);
        co.native_depth.set(self.interp.native_depth);
        self.switch_to(co);
        let result = self.call_value(f, args, 0);
        let s = co.stack.get();
        co.status.set(ThreadStatus::Dead);
        self.switch_to(old);
        co.base.set(s.wrapping_add(3));
        co.top.set(s.wrapping_add(3));
        old.status.set(status);
        old.pc.set(old_pc);
        self.pc = pc;
        result.map(|_| ())
    }
    /// Makes room for `n` values, and for the free slots that a builtin needs, on another stack, above `top`. May collect.
    #[inline]
    fn make_room_for_values(&mut self, n: usize, to: Gc<Thread>, top: *mut Value) -> LuaResult<()> {
        let used = (top as usize - to.stack.get() as usize) / 8;
        let need = used + n + Thread::EXTRA as usize + stack::NATIVE_MIN;
        if need > to.size.get() as usize { self.grow_other_stack(to, need) } else { Ok(()) }
    }
    #[cold]
    #[inline(never)]
    fn grow_other_stack(&mut self, to: Gc<Thread>, need: usize) -> LuaResult<()> {
        // Coroutines that pass many values to one another reach no other safepoint.
        self.safepoint()?;
        self.check_alloc(need * size_of::<Value>())?;
        self.resize_stack(to, need as u32);
        Ok(())
    }
    /// Copies the topmost `n` values to the top of another stack, where room was made.
    fn copy_values(&mut self, n: usize, to: Gc<Thread>) {
        // SAFETY: room was made; the source is on the running stack.
        unsafe {
            let from = self.top.sub(n);
            if n == 1 {
                *to.top.get() = *from;
            } else {
                core::ptr::copy_nonoverlapping(from, to.top.get(), n);
            }
            to.top.set(to.top.get().add(n));
        }
    }
    /// Resumes `co` with the topmost `n` values.
    fn resume(&mut self, co: Gc<Thread>, n: usize) -> LuaResult<u32> {
        let nesting = self.cur.nesting.get() + 1;
        if nesting > MAX_NESTING {
            return Err(self.overflow_error("C stack overflow"));
        }
        self.make_room_for_values(n, co, co.top.get())?;
        co.nesting.set(nesting);
        let fresh = co.status.get() == ThreadStatus::Fresh;
        self.copy_values(n, co);
        let old = self.cur;
        old.status.set(ThreadStatus::Normal);
        co.status.set(ThreadStatus::Running);
        co.resumer.set(Some(old));
        co.native_depth.set(self.interp.native_depth);
        self.switch_to(co);
        self.multres = n as u32;
        Ok(if fresh { NATIVE_CALL } else { NATIVE_RETURN })
    }
    /// The reason why `co` cannot be resumed now, if there is one.
    fn cannot_resume(&self, co: Gc<Thread>) -> Option<&'static str> {
        match co.status.get() {
            ThreadStatus::Fresh | ThreadStatus::Suspended => None,
            ThreadStatus::Dead if Vm::has_values(co) => {
                Vm::close_stack(co);
                None
            }
            ThreadStatus::Dead => Some("cannot resume dead coroutine"),
            ThreadStatus::Running | ThreadStatus::Normal => Some("cannot resume running coroutine"),
        }
    }
    /// Makes room for [`Vm::deliver`].
    fn can_deliver(&mut self, n: usize) -> LuaResult<()> {
        let Some(to) = self.cur.resumer.get() else { return Ok(()) };
        self.make_room_for_values(n + 1, to, to.base.get())
    }
    /// Switches from the running coroutine to its resumer, and passes the topmost `n` values as results of `resume`; there is room for
    /// them.
    fn deliver(&mut self, n: usize, ok: bool) {
        let co = self.cur;
        let Some(to) = co.resumer.take() else { return };
        // SAFETY: a resumer's frame is that of the builtin which resumed; its function is below its base.
        let plain = unsafe { frame::func_of(to.base.get()) }.ffid() == Builtin::CoroutineResume.id();
        to.top.set(to.base.get());
        if plain {
            // SAFETY: a builtin's frame has room for pushes.
            unsafe {
                *to.top.get() = Value::bool(ok);
                to.top.set(to.top.get().add(1));
            }
        }
        self.copy_values(n, to);
        to.status.set(ThreadStatus::Running);
        self.switch_to(to);
        self.multres = n as u32 + u32::from(plain);
    }
    /// The running coroutine's function returned the topmost `n` values: switches to the resumer. Fails if there is no memory for them.
    pub(super) fn finish_coroutine(&mut self, n: usize) -> LuaResult<()> {
        self.can_deliver(n)?;
        let co = self.cur;
        co.status.set(ThreadStatus::Dead);
        self.deliver(n, true);
        // No frame is left.
        co.base.set(co.stack.get());
        co.top.set(co.stack.get());
        Ok(())
    }
    /// The running coroutine dies of the parked error; its frames are kept for inspection. True: its resumer gets the error as a result.
    /// False: the error is raised in the resumer (`wrap`), which runs now.
    pub(super) fn fail_coroutine(&mut self) -> bool {
        let co = self.cur;
        let Some(to) = co.resumer.take() else { return false };
        self.put_top_behind_frame();
        co.status.set(ThreadStatus::Dead);
        co.pc.set(self.pc);
        to.status.set(ThreadStatus::Running);
        self.switch_to(to);
        // SAFETY: as in `deliver`.
        let plain = unsafe { frame::func_of(self.base) }.ffid() == Builtin::CoroutineResume.id();
        if plain {
            self.top = self.base;
            self.push(Value::FALSE);
            self.push(self.errors.value);
            self.multres = 2;
            return true;
        }
        if let Some(s) = self.errors.value.as_str() {
            let mut text = self.position_of_caller();
            text.extend_from_slice(s.bytes());
            let is_overflow = self.errors.overflow == self.errors.value;
            self.errors.value = Value::str(self.new_str(&text));
            if is_overflow {
                self.errors.overflow = self.errors.value;
            }
        }
        false
    }
}

/// `pcall(f, ...)`
pub fn pcall(vm: &mut Vm) -> LuaResult<u32> {
    vm.check_any(0)?;
    vm.call_under(0, frame::PCALL)
}

/// `xpcall(f, handler, ...)`
pub fn xpcall(vm: &mut Vm) -> LuaResult<u32> {
    let f = vm.check_any(0)?;
    let h = Value::func(vm.check_func(1)?);
    vm.set_arg(0, h);
    vm.set_arg(1, f);
    vm.call_under(1, frame::XPCALL)
}

/// `coroutine.create(f)`
pub fn co_create(vm: &mut Vm) -> LuaResult<u32> {
    let co = create(vm)?;
    vm.ret1(Value::thread(co))
}

impl Vm {
    /// A coroutine that will run the function `f`.
    pub fn new_coroutine(&mut self, f: Value) -> Gc<Thread> {
        let co = self.new_thread(stack::INITIAL);
        co.env.set(self.cur.env.get());
        self.reset_coroutine(co, f);
        co
    }
    /// Gives a coroutine that is not running the function `f` to run, instead of what it ran before. Variables that closures of its old
    /// frames have captured keep their values.
    ///
    /// # Panics
    /// It runs, or waits for another one.
    pub fn reset_coroutine(&mut self, co: Gc<Thread>, f: Value) {
        assert!(!matches!(co.status.get(), ThreadStatus::Running | ThreadStatus::Normal), "a running coroutine is reset");
        self.close_upvals_of(co, co.stack.get());
        co.stack_changed();
        // SAFETY: a stack has room for the first frame: a dead slot, the function, its link. The slots above are not used any more.
        unsafe {
            let s = co.stack.get();
            for i in 0..co.size.get() as usize {
                *s.add(i) = Value::NIL;
            }
            *s.add(1) = f;
            *s.add(2) = frame::link(0, frame::COR);
            co.base.set(s.add(3));
            co.top.set(s.add(3));
        }
        co.status.set(ThreadStatus::Fresh);
        co.in_handler.set(false);
        co.handlers.set(0);
    }
    /// Has a coroutine ended by an error?
    pub fn coroutine_failed(&self, co: Gc<Thread>) -> bool {
        // A coroutine that has returned has no frame.
        co.status.get() == ThreadStatus::Dead && co.base.get() != co.stack.get() && !Vm::is_stack(co)
    }
}

fn create(vm: &mut Vm) -> LuaResult<Gc<Thread>> {
    let f = vm.arg(0);
    if !f.is_func() {
        let got = if vm.nargs() == 0 { "no value" } else { f.type_name() };
        return Err(vm.arg_error(0, &format!("function expected, got {got}")));
    }
    Ok(vm.new_coroutine(f))
}

/// `coroutine.wrap(f)`
pub fn co_wrap(vm: &mut Vm) -> LuaResult<u32> {
    let co = create(vm)?;
    let f = vm.new_native(co_wrap_aux, Builtin::CoroutineWrapAux.id(), &[Value::thread(co)]);
    vm.ret1(Value::func(f))
}

/// The function that `coroutine.wrap` returns.
pub fn co_wrap_aux(vm: &mut Vm) -> LuaResult<u32> {
    // SAFETY: a builtin is running: its function is below its base.
    let f = unsafe { frame::func_of(vm.base) };
    let Some(co) = f.native_upvalues().first().and_then(|v| v.get().as_thread()) else {
        return Err(vm.arg_error(0, "coroutine expected"));
    };
    if let Some(why) = vm.cannot_resume(co) {
        return Err(vm.rt_error(why));
    }
    let n = vm.nargs();
    vm.resume(co, n)
}

/// `coroutine.resume(co, ...)`
pub fn co_resume(vm: &mut Vm) -> LuaResult<u32> {
    let co = check_thread(vm)?;
    if let Some(why) = vm.cannot_resume(co) {
        vm.push(Value::FALSE);
        let s = vm.new_str(why.as_bytes());
        vm.push(Value::str(s));
        return Ok(2);
    }
    let n = vm.nargs() - 1;
    vm.resume(co, n)
}

/// Resumes a coroutine so that an error is raised where it waits: `(co, error)`. For the host; results and errors are those of the
/// coroutine.
pub fn co_raise(vm: &mut Vm) -> LuaResult<u32> {
    let co = check_thread(vm)?;
    let e = vm.arg(1);
    if let Some(why) = vm.cannot_resume(co) {
        return Err(vm.rt_error(why));
    }
    vm.resume(co, 0)?;
    Err(vm.throw(e))
}

fn check_thread(vm: &mut Vm) -> LuaResult<Gc<Thread>> {
    match vm.arg(0).as_thread() {
        Some(co) => Ok(co),
        None => Err(vm.arg_error(0, "coroutine expected")),
    }
}

/// `coroutine.yield(...)`
pub fn co_yield(vm: &mut Vm) -> LuaResult<u32> {
    let co = vm.cur;
    if co == vm.realm.main || co.resumer.get().is_none() {
        return Err(vm.rt_error("attempt to yield across C-call boundary"));
    }
    if co.native_depth.get() != vm.interp.native_depth {
        return Err(vm.rt_error("attempt to yield across C-call boundary"));
    }
    let n = vm.nargs();
    vm.can_deliver(n)?;
    co.status.set(ThreadStatus::Suspended);
    vm.deliver(n, true);
    // The builtin that resumes this coroutine expects its frame without arguments.
    co.top.set(co.base.get());
    Ok(NATIVE_RETURN)
}

/// `coroutine.running()`
pub fn co_running(vm: &mut Vm) -> LuaResult<u32> {
    let v = if vm.cur == vm.realm.main { Value::NIL } else { Value::thread(vm.cur) };
    vm.ret1(v)
}

/// `coroutine.status(co)`
pub fn co_status(vm: &mut Vm) -> LuaResult<u32> {
    let co = check_thread(vm)?;
    let text: &[u8] = match co.status.get() {
        ThreadStatus::Fresh | ThreadStatus::Suspended => b"suspended",
        ThreadStatus::Running => b"running",
        ThreadStatus::Normal => b"normal",
        ThreadStatus::Dead if Vm::has_values(co) => b"suspended",
        ThreadStatus::Dead => b"dead",
    };
    let s = vm.new_str(text);
    vm.ret1(Value::str(s))
}

/// `coroutine.isyieldable()`
pub fn co_isyieldable(vm: &mut Vm) -> LuaResult<u32> {
    let yes = vm.cur != vm.realm.main && vm.cur.native_depth.get() == vm.interp.native_depth;
    vm.ret1(Value::bool(yes))
}
