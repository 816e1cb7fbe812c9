//! Hooks: functions that are called at events before an instruction runs; and interrupts from outside.
//!
//! While a hook is set, every entry of the dispatch table is `hook_step`: it calls the hook for the events, then runs the instruction in
//! its form that neither counts nor enters compiled code. Without hooks this costs nothing. Samples ([`crate::sample`]) are delivered here,
//! too.
#![allow(
    unsafe_code,
    reason = "a signal handler overwrites the dispatch table, with volatile accesses on both sides; `vm.pc` is after the running instruction"
)]

use super::{Dispatching, Status, op};
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::errno;
use crate::error::LuaResult;
use crate::fault::{Fault, is_injected};
use crate::hooks::Mode;
use crate::interrupt::Cause;
use crate::object::{Func, Gc, InsPtr};
use crate::state::Within;
use crate::value::Value;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::fence;

/// Event of entering a function.
pub const CALL: u8 = 1;
/// Event of returning from a Lua function.
pub const RETURN: u8 = 2;
/// Event of reaching another line.
pub const LINE: u8 = 4;
/// Event of having run a number of instructions.
pub const COUNT: u8 = 8;

/// Name of the registry entry with the hook function that the program has set.
pub const FUNCTION: &[u8] = b"_HOOK";
/// The same of the host's.
pub const HOST_FUNCTION: &[u8] = b"_HOOK_OF_HOST";

impl Vm {
    /// Sets the events that call the hook; `last` is after the instruction that is running. The hook function is in the registry.
    pub fn set_hook(&mut self, mask: u8, count: i32, last: *const Ins) {
        if self.interp.mode == Mode::Record {
            self.abort_recording();
        }
        self.interp.hook.mask = mask;
        self.interp.hook.count = count;
        self.interp.hook.remaining = count;
        self.interp.hook.last = last;
        self.interp.hook.within = self.within();
        self.interp.hook.waiting.clear();
        self.interp.hook.of_host = false;
        self.update_dispatch();
    }
    /// Has a hook in C set before the next instruction: the host makes a function of `function`, its address. A mask of 0 removes the hook.
    ///
    /// # Safety
    /// `vm` is alive. A signal handler or another thread may call this at any time, as LuaJIT allows for `lua_sethook`.
    pub unsafe fn ask_for_hook(vm: *mut Vm, function: usize, mask: u8, count: i32) {
        // SAFETY: fields of the VM, which are written in a way that keeps any code between them right; its running coroutine is alive.
        unsafe {
            let asked = &(*vm).interp.hook.asked;
            asked.function.store(function, Relaxed);
            asked.mask.store(mask, Relaxed);
            asked.count.store(count, Relaxed);
            asked.last.store((&raw const (*vm).pc).read_volatile().cast_mut(), Relaxed);
            asked.thread.store((&raw const (*vm).cur).read_volatile().addr(), Relaxed);
            asked.depth.store((&raw const (*vm).interp.native_depth).read_volatile(), Relaxed);
            asked.waits.store(true, SeqCst);
            Vm::look_at_interrupts(vm);
        }
    }
    /// Sets the hook that the host has asked for, if it has.
    #[inline]
    pub fn set_asked_hook(&mut self) {
        if self.interp.hook.asked.waits.load(Relaxed) {
            self.take_asked_hook();
        }
    }
    #[cold]
    #[inline(never)]
    fn take_asked_hook(&mut self) {
        let asked = &self.interp.hook.asked;
        asked.waits.store(false, SeqCst);
        let (function, mask, count) = (asked.function.load(Relaxed), asked.mask.load(Relaxed), asked.count.load(Relaxed));
        let last = asked.last.load(Relaxed);
        let within = Within { thread: asked.thread.load(Relaxed), depth: asked.depth.load(Relaxed) };
        let make = self.host.hook_function.filter(|_| mask != 0);
        let f = make.map_or(Value::NIL, |make| make(self, function));
        let registry = self.realm.registry;
        self.set_field(registry, HOST_FUNCTION, f);
        self.set_hook(if f.is_nil() { 0 } else { mask }, count, last);
        self.interp.hook.within = within;
        self.interp.hook.of_host = !f.is_nil();
    }
    /// What the dispatch table should do, according to the state of the VM.
    fn wanted_dispatching(&self) -> Dispatching {
        let interrupted = self.interrupts.flag.get().is_some() || self.interp.hook.asked.waits.load(SeqCst);
        match self.interp.mode {
            // A recording must see all instructions until it ends.
            Mode::Record => Dispatching::Recording,
            Mode::Interpret
                if interrupted || self.is_exit_requested() || self.interp.hook.mask != 0 && !self.interp.hook.running =>
            {
                Dispatching::Hooked
            }
            Mode::Interpret if self.counts_fuel() => Dispatching::Counted,
            Mode::Interpret if self.interp.bytecode_counts.is_some() => Dispatching::Tallied,
            Mode::Interpret if self.interp.counts_hotness => Dispatching::Plain,
            Mode::Interpret => Dispatching::CompilerOff,
        }
    }
    /// Has the interpreter driven by a loop, or handlers call one another in tail position: between runs only. Builds with debug
    /// assertions need the loop.
    pub fn set_loop_driver(&mut self, on: bool) {
        assert!(self.interp.native_depth == 0, "the interpreter is running");
        self.interp.use_loop_driver = on;
        self.update_dispatch();
    }
    /// Has loops and calls counted, so that the compiler is called for those that are hot, or not.
    pub fn count_hotness(&mut self, on: bool) {
        self.interp.counts_hotness = on;
        self.update_dispatch();
    }
    /// Sets the dispatch table that the state of the VM requires.
    pub(crate) fn update_dispatch(&mut self) {
        loop {
            let wanted = self.wanted_dispatching();
            // SAFETY: the VM is this thread's.
            unsafe { Vm::dispatch_by(self, wanted) };
            // A signal may have come in the middle, or another thread may have asked for a hook.
            fence(SeqCst);
            if self.wanted_dispatching() == wanted {
                return;
            }
        }
    }
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    unsafe fn dispatch_by(vm: *mut Vm, dispatching: Dispatching) {
        // SAFETY: the fields belong to this thread. Volatile: they must be written here, in a signal handler or around one.
        unsafe {
            (&raw mut (*vm).interp.dispatching).write_volatile(dispatching);
            (&raw mut (*vm).interp.handlers).write_volatile(dispatching.handlers((*vm).interp.use_loop_driver));
        }
    }
    /// Makes the interpreter look at what was asked for before its next instruction, unless it records: then when that has ended.
    ///
    /// # Safety
    /// As for [`Vm::interrupt`].
    pub(crate) unsafe fn hook_now(vm: *mut Vm) {
        // SAFETY: the caller's promise.
        unsafe {
            if (&raw const (*vm).interp.mode).read_volatile() == Mode::Interpret {
                Vm::dispatch_by(vm, Dispatching::Hooked);
            }
        }
    }
    /// Asks for the error "interrupted!" at the next instruction that is interpreted. Compiled code is left at its next exit, and in
    /// loops without one if [`Vm::set_interruptible`] was called before they were compiled.
    ///
    /// # Safety
    /// `vm` is alive, and its thread is the one that runs this: a signal handler may call it at any time.
    pub unsafe fn interrupt(vm: *mut Vm) {
        // SAFETY: the fields belong to this thread, and are written in a way that keeps any code between them right.
        unsafe {
            (*vm).interrupts.flag.set(Cause::Key);
            Vm::look_at_interrupts(vm);
        }
    }
    /// Has the interpreter look at interrupts before its next instruction, and compiled code left.
    ///
    /// # Safety
    /// As for [`Vm::interrupt`].
    pub(crate) unsafe fn look_at_interrupts(vm: *mut Vm) {
        // SAFETY: the caller's promise.
        unsafe {
            Vm::hook_now(vm);
            // Compiled code is left as for a sample.
            Vm::request_exit(vm);
        }
    }
    /// Takes an interrupt back.
    pub fn forget_interrupt(&mut self) {
        if self.interrupts.flag.clear().is_some() {
            self.update_dispatch();
            self.withdraw_exit_request();
        }
    }
    /// Suspends hooks, or resumes them; returns whether they were suspended before. For code that runs beside the program: finalizers,
    /// handlers of VM events.
    pub fn suspend_hooks(&mut self, suspended: bool) -> bool {
        let before = core::mem::replace(&mut self.interp.hook.running, suspended);
        if before != suspended && self.interp.hook.mask != 0 {
            self.update_dispatch();
        }
        before
    }
    /// Calls the hook function for an event.
    fn call_hook(&mut self, event: &[u8], line: Option<u32>) -> LuaResult<()> {
        let _errno = errno::keep();
        let registry = self.realm.registry;
        let f = self.field(registry, if self.interp.hook.of_host { HOST_FUNCTION } else { FUNCTION });
        let event = Value::str(self.new_str(event));
        let line = line.map_or(Value::NIL, |n| Value::integer(i64::from(n)));
        let multres = self.multres;
        self.interp.hook.running = true;
        self.update_dispatch();
        let result = self.call_value(f, &[event, line], 0);
        if self.interp.mode == Mode::Record {
            // A recording that began in the hook ends with it.
            self.abort_recording();
        }
        self.interp.hook.running = false;
        self.set_asked_hook();
        self.update_dispatch();
        self.multres = multres;
        result.map(|_| ())
    }
    fn within(&self) -> Within {
        Within { thread: self.cur.addr(), depth: self.interp.native_depth }
    }
    /// Sets `last` to the last instruction that was examined in the coroutine that runs, at this depth of native calls, as LuaJIT keeps it in the
    /// frames of C functions. One that begins, or is resumed, has none.
    fn find_last(&mut self) {
        let (here, resumer) = (self.within(), self.cur.resumer.get().map(Gc::addr));
        let hook = &mut self.interp.hook;
        let before = core::mem::replace(&mut hook.within, here);
        if before == here {
            return;
        }
        if before.depth < here.depth || Some(before.thread) == resumer {
            hook.waiting.push((before, hook.last));
            hook.last = core::ptr::null();
            return;
        }
        let found = hook.waiting.iter().rposition(|(within, _)| *within == here);
        hook.last = found.map_or(core::ptr::null(), |i| hook.waiting[i].1);
        hook.waiting.truncate(found.unwrap_or(hook.waiting.len()));
    }
    /// Before an instruction; `vm.pc` is after it.
    fn before_instruction(&mut self, f: Gc<Func>, op: Op) -> LuaResult<()> {
        let pc = self.pc;
        self.find_last();
        let last = core::mem::replace(&mut self.interp.hook.last, pc);
        if self.interp.hook.mask & COUNT != 0 {
            self.interp.hook.remaining -= 1;
            if self.interp.hook.remaining <= 0 {
                self.interp.hook.remaining = self.interp.hook.count;
                self.call_hook(b"count", None)?;
            }
        }
        if self.interp.hook.mask & LINE != 0
            && let Some(p) = f.proto()
        {
            let here = p.pc_of(pc.wrapping_sub(1));
            let before = p.pc_of(last.wrapping_sub(1));
            let line = p.line(here.unwrap_or(0));
            if line != 0 && before.is_none_or(|b| here.is_some_and(|h| h <= b) || p.line(b) != line) {
                self.call_hook(b"line", Some(line))?;
            }
        }
        if self.interp.hook.mask & RETURN != 0 && matches!(op, Op::RET | Op::RET0 | Op::RET1 | Op::RETM) {
            self.call_hook(b"return", None)?;
        }
        self.interp.hook.last = pc;
        Ok(())
    }
}

/// Is this the header of a function?
pub fn is_header(op: Op) -> bool {
    matches!(op, Op::FUNCF | Op::IFUNCF | Op::JFUNCF | Op::FUNCV | Op::IFUNCV | Op::JFUNCV) || op.is_native_header()
}

/// Does the instruction enter compiled code? It has the number of its trace.
pub fn enters_code(op: Op) -> bool {
    matches!(op, Op::JFORL | Op::JITERL | Op::JLOOP | Op::JFUNCF | Op::JFUNCV)
}

/// The form of an instruction that neither counts nor enters compiled code.
pub(super) fn plain_form(vm: &Vm, ins: Ins) -> Ins {
    let ins = if enters_code(ins.op()) { vm.compiler.original_ins(ins) } else { ins };
    match ins.op() {
        Op::JFORI => ins.with_op(Op::FORI),
        _ => super::jit::uncounted(ins),
    }
}

/// An error, instead of an instruction.
const FAILED: u64 = u64::MAX;

/// Calls the hook for the events of an instruction, with the VM's state synced. Returns the instruction to run with its number of
/// arguments, or [`FAILED`].
#[inline(never)]
unsafe fn events(vm: *mut Vm, ins: u64) -> u64 {
    let vm = &mut *vm;
    vm.set_asked_hook();
    if let Some(cause) = vm.interrupts.flag.get() {
        if cause.lasts() {
            // If compiled code is entered again, it is left again.
            Vm::request_exit(vm);
        } else {
            vm.forget_interrupt();
        }
        let _ = vm.operation_error(cause.message());
        return FAILED;
    }
    let i = Ins(ins as u32);
    // Determined before the hook runs: it may flush the trace that begins here, and then the original instruction is not known any more.
    let plain = u64::from(plain_form(vm, i).0);
    let f = super::frame::func_of(vm.base);
    if is_header(i.op()) {
        if vm.interp.hook.mask == 0 {
            // A sample waits until the frame has been made.
            return ins;
        }
        if !vm.interp.hook.running {
            let mut nargs = (ins >> 32) as usize;
            if vm.interp.hook.mask & CALL != 0 {
                match call_event(vm, f, nargs) {
                    Ok(n) => nargs = n,
                    Err(_) => return FAILED,
                }
            }
            if vm.interp.hook.mask & LINE != 0 && crate::stdlib::written_in_lua(f).is_some() && line_0_event(vm, nargs).is_err() {
                return FAILED;
            }
            return (nargs as u64) << 32 | plain;
        }
    } else {
        vm.top = vm.base.add(used_slots(f, vm.pc, vm.multres));
        if vm.is_exit_requested() {
            vm.deliver_waiting();
            if vm.interp.hook.mask == 0 {
                // The consumer may have flushed traces.
                let now = if enters_code(i.op()) { (*vm.pc.sub(1)).0 } else { i.0 };
                return (ins >> 32) << 32 | u64::from(now);
            }
        }
        if !vm.interp.hook.running && vm.before_instruction(f, i.op()).is_err() {
            return FAILED;
        }
    }
    (ins >> 32) << 32 | plain
}

/// The event of entering a function. Returns the number of arguments to continue with, which grows if the hook has set missing ones.
unsafe fn call_event(vm: &mut Vm, f: Gc<Func>, nargs: usize) -> LuaResult<usize> {
    vm.top = vm.base.add(nargs);
    let params = f.proto().map_or(0, |p| p.num_params() as usize);
    let missing = params.saturating_sub(nargs);
    vm.reserve(missing + super::stack::NATIVE_MIN)?;
    for _ in 0..missing {
        vm.push(Value::NIL);
    }
    vm.call_hook(b"call", None)?;
    let set = (0..missing).rev().find(|i| !(*vm.base.add(nargs + i)).is_nil());
    Ok(nargs + set.map_or(0, |i| i + 1))
}

/// LuaJIT has written some builtins in Lua, without line numbers: they are at line 0, and the caller's line is a new event after them. Two
/// of them loop (`table.remove` in the middle, `table.move`): there LuaJIT has an event for line 0 in each iteration, which is not done
/// here.
unsafe fn line_0_event(vm: &mut Vm, nargs: usize) -> LuaResult<()> {
    vm.top = vm.base.add(nargs);
    vm.reserve(super::stack::NATIVE_MIN)?;
    vm.call_hook(b"line", Some(0))?;
    vm.interp.hook.last = core::ptr::null();
    Ok(())
}

/// Slots of the running frame that are in use before the instruction at `pc`, which is about to run there: an open list may extend beyond the frame.
pub fn slots_before(vm: &Vm, pc: InsPtr) -> usize {
    // SAFETY: the instruction belongs to the function of the running frame, and so does the target of its jump.
    unsafe {
        let ins = pc.ins();
        let ins = if ins.op() == Op::UCLO { pc.offset(1 + ins.j() as isize).ins() } else { ins };
        slots_of(super::frame::func_of(vm.base), ins, vm.multres)
    }
}

/// The same before the instruction that ends at `pc`.
pub(super) unsafe fn used_slots(f: Gc<Func>, pc: *const Ins, multres: u32) -> usize {
    let ins = *pc.sub(1);
    let ins = if ins.op() == Op::UCLO { *pc.offset(ins.j() as isize) } else { ins };
    slots_of(f, ins, multres)
}

fn slots_of(f: Gc<Func>, ins: Ins, multres: u32) -> usize {
    let open = match ins.op() {
        Op::CALLM => ins.a() + 2 + ins.c() + multres as usize,
        Op::CALLMT => ins.a() + 2 + ins.d() + multres as usize,
        Op::RETM => ins.a() + ins.d() + multres as usize,
        Op::TSETM => ins.a() + multres as usize,
        _ => 0,
    };
    let open = if is_injected(Fault::OpenResults) { 0 } else { open };
    open.max(f.proto().map_or(0, |p| p.framesize() as usize))
}

op! {
    /// Before each instruction while a hook is set.
    #[cold]
    #[inline(never)]
    hook_step<D>(r) {
        if r.i().op() == Op::STITCH {
            return r.to(super::stitch::pass::<D>);
        }
        r.sync();
        let ins = events(r.vm, u64::from(r.i().0) | (r.nargs() as u64) << 32);
        if ins == FAILED {
            return Status::ERROR;
        }
        let mut r = r.with_ins(Ins(ins as u32), (ins >> 32) as usize);
        r.base = (*r.vm).base;
        if (*r.vm).counts_fuel() && super::jit::burn(r).is_err() {
            return Status::ERROR;
        }
        if (*r.vm).interp.hook.mask != 0 {
            return super::jit::execute_once::<D>(r);
        }
        super::jit::run_counted::<D>(r)
    }
    /// The same at the header of a fast function.
    #[cold]
    #[inline(never)]
    hook_fast<D>(r) { super::fast::at_code(r).to(hook_step::<D>) }
}
