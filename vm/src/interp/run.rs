//! Entering the interpreter from Rust, and unwinding errors.
#![allow(
    unsafe_code,
    reason = "arguments are pushed where the stack was checked to have room; the base is restored when a call returns"
)]

use super::frame::{self, Catch, below, kind, link_of};
use super::{Driver, Loop, R, Status, Tail, call, native_stack, returns};
use crate::Vm;
use crate::abi::call_entry;
use crate::error::{LuaError, LuaResult};
use crate::fault::{Fault, is_injected};
use crate::host::Roots;
use crate::object::{ChangedFields, Gc, UpVal};
use crate::state::{Activity, DepthLimits};
use crate::value::Value;
use std::rc::Rc;

/// Calls from Rust beyond the limit that the handler of an error may have active at once: as many as under the lowest limit.
const HANDLER_CALLS: u32 = super::stack::LOWEST.native;
/// The error that replaces another one whose handler has failed.
const HANDLER_FAILED: &[u8] = b"error in error handling";
/// Handlers that may run at once on a coroutine, each for an error of the one before: the limit of Lua 5.1 for nested calls from C
/// (`LUAI_MAXCCALLS`). Each error looks for its handler from the top of the stack down, so that the time grows with the square of this.
const MOST_HANDLERS: u32 = 200;

/// How the interpreter is entered: with a VM, a slot and a number of values.
pub(super) type Entry = unsafe extern "C" fn(*mut Vm, *mut Value, usize) -> u32;

/// Calls the value at a slot with `n` arguments; the frame is written.
///
/// # Safety
/// The contract of the handlers.
unsafe extern "C" fn enter_call<D: Driver>(vm: *mut Vm, func: *mut Value, n: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { call::start_call::<D>(R::at_entry(vm, (*vm).base), func, n) }
}

/// Returns `n` values, from a slot on, from the innermost frame.
///
/// # Safety
/// The contract of the handlers.
unsafe extern "C" fn enter_return<D: Driver>(vm: *mut Vm, from: *mut Value, n: usize) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { returns::return_values::<D>(R::at_entry(vm, (*vm).base), from, n) }
}

/// How the interpreter is entered with each of its drivers.
#[derive(Copy, Clone, Debug)]
pub(super) struct Entries {
    pub(super) in_loop: Entry,
    pub(super) in_tail: Entry,
}

const CALL: Entries = Entries { in_loop: enter_call::<Loop>, in_tail: enter_call::<Tail> };
const RETURN: Entries = Entries { in_loop: enter_return::<Loop>, in_tail: enter_return::<Tail> };

/// Enters the interpreter. If the VM has functions in C, and handlers are in tail position, this is a border call, so that they need none of
/// their own.
///
/// # Safety
/// The contract of the handlers: no reference to the VM is used meanwhile.
#[inline(always)]
unsafe fn enter(vm: *mut Vm, entries: Entries, at: *mut Value, n: usize) -> u32 {
    // SAFETY: the caller's promise.
    if unsafe { (*vm).interp.use_loop_driver } {
        // SAFETY: the same.
        return unsafe { (entries.in_loop)(vm, at, n) };
    }
    // SAFETY: the link lives as long as the heap.
    let link = unsafe { &*(*vm).heap.link };
    if !link.is_entered_by_border() {
        // SAFETY: the caller's promise.
        return unsafe { (entries.in_tail)(vm, at, n) };
    }
    // SAFETY: a field of the VM.
    let depth = link.depth.replace(unsafe { (*vm).interp.native_depth });
    let current = link.current.replace(vm);
    // SAFETY: the caller's promise; the cell is that of this VM.
    let outcome = unsafe { call_entry(vm, at, n, link.jump.as_ptr(), entries.in_tail) };
    link.current.set(current);
    link.leave(depth);
    // SAFETY: no other reference to the VM is used.
    unsafe { &mut *vm }.outcome(outcome).map_or(Status::ERROR, |status| status as u32)
}

impl Vm {
    /// Raises an error if calls from Rust are nested too deep for one more.
    #[inline(always)]
    fn check_native_stack(&mut self) -> LuaResult<()> {
        let depth = self.interp.native_depth;
        if depth >= self.depth.native.min(DepthLimits::ON_UNKNOWN_STACK) && depth >= self.native_limit()
            || native_stack::is_at_end(&mut self.interp.native_stack, depth == 0)
        {
            return self.use_native_reserve(depth);
        }
        Ok(())
    }
    /// How many calls may be active: few on a native stack whose end is not known.
    #[cold]
    #[inline(never)]
    fn native_limit(&self) -> u32 {
        let most = if native_stack::is_known(&self.interp.native_stack) { u32::MAX } else { DepthLimits::ON_UNKNOWN_STACK };
        self.depth.native.min(most)
    }
    /// The handler of an error may make some calls beyond the limit, since the error may be that the limit is reached.
    #[cold]
    #[inline(never)]
    fn use_native_reserve(&mut self, depth: u32) -> LuaResult<()> {
        let is_allowed = self.cur.in_handler.get() && depth < self.native_limit() + HANDLER_CALLS;
        if is_allowed && native_stack::has_reserve() { Ok(()) } else { Err(self.overflow_error("C stack overflow")) }
    }
    /// Calls any callable value; the results are pushed (`nresults` of them, or all if -1) and counted.
    pub fn call_value(&mut self, f: Value, args: &[Value], nresults: i32) -> LuaResult<u32> {
        let status = self.call_all(f, args.len(), |to| {
            // SAFETY: there is room for as many values.
            unsafe { frame::move_values(args.as_ptr(), to, args.len()) };
        });
        status.map(|n| {
            if nresults < 0 {
                return n;
            }
            let want = nresults as u32;
            for _ in n..want {
                self.push(Value::NIL);
            }
            // SAFETY: only drops results, or stays after the nils just pushed.
            self.top = unsafe { self.top.sub(n.saturating_sub(want) as usize) };
            want
        })
    }
    /// Calls any callable value with `n` arguments, which `fill` writes; all results are pushed, and counted.
    #[inline]
    fn call_all(&mut self, f: Value, n: usize, fill: impl FnOnce(*mut Value)) -> LuaResult<u32> {
        self.check_native_stack()?;
        self.reserve(n + 8)?;
        self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
        let (saved_base, saved_top) = (self.stack_offset(self.base), self.stack_offset(self.top));
        // SAFETY: room was reserved above `top`; the frame is written before the interpreter looks at it.
        let status = unsafe {
            let top = self.top;
            *top = Value::link(self.pc.expose_provenance() as u64);
            *top.add(1) = f;
            let new = top.add(3);
            *top.add(2) = frame::link(new.offset_from(self.base) as usize, frame::C);
            fill(new);
            self.top = new.add(n);
            self.interp.native_depth += 1;
            let result = self.dispatch_from(CALL, new.sub(2), n);
            self.interp.native_depth -= 1;
            result
        };
        match status {
            Ok(()) => Ok(self.multres),
            Err(e) => {
                self.base = self.stack_at(saved_base);
                self.top = self.stack_at(saved_top);
                Err(e)
            }
        }
    }
    /// Calls the value below the topmost `nargs` values with them as arguments. The results, `nresults` of them or all if -1, are put in
    /// the place of function and arguments, which are gone after an error, too. A handler is given by its distance from the top. Inlined, as
    /// what is to be caught is a constant in the callers that matter.
    #[inline(always)]
    pub fn call_top(&mut self, nargs: usize, nresults: i32, catch: Catch) -> LuaResult<()> {
        let at = self.stack_offset(self.top.wrapping_sub(nargs + 1));
        let result = self.call_in_place(CALL, at, nargs, catch);
        self.top = self.stack_at(at);
        let n = result? as usize;
        let want = usize::try_from(nresults).unwrap_or(n);
        // The results lie from `at` on.
        self.top = self.top.wrapping_add(n.min(want));
        if n < want { self.push_nils(want - n) } else { Ok(()) }
    }
    #[cold]
    #[inline(never)]
    fn push_nils(&mut self, n: usize) -> LuaResult<()> {
        self.reserve(n)?;
        for _ in 0..n {
            self.push(Value::NIL);
        }
        Ok(())
    }
    /// Calls the value at an offset of the stack; how many results there are from that offset on.
    #[inline(always)]
    pub(super) fn call_in_place(&mut self, entries: Entries, at: usize, n: usize, catch: Catch) -> LuaResult<u32> {
        self.check_native_stack()?;
        self.reserve(8)?;
        self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
        let base = self.stack_offset(self.base);
        // SAFETY: room was reserved above `top` for the two slots that the arguments move up by; the frame is written before the
        // interpreter looks at it.
        let status = unsafe {
            let slot = self.stack_at(at);
            // Few values mostly: no call of a function for them. From the last on, as they move up.
            for i in (1..=n).rev() {
                slot.add(i + 2).write_volatile(*slot.add(i));
            }
            *slot.add(1) = *slot;
            *slot = Value::link(self.pc.expose_provenance() as u64);
            let new = slot.add(3);
            let catch = match catch {
                Catch::Handler(below) => Catch::Handler(below + 2 - n),
                other => other,
            };
            *slot.add(2) = catch.link(new.offset_from(self.base) as usize);
            self.top = new.add(n);
            self.interp.native_depth += 1;
            let result = self.dispatch_from(entries, new.sub(2), n);
            self.interp.native_depth -= 1;
            result
        };
        self.base = self.stack_at(base);
        status.map(|()| self.multres)
    }
    /// Ends the error that is being raised: native code has caught it. Its value.
    pub fn take_error(&mut self) -> Value {
        self.errors.handled = false;
        self.forget_exception();
        self.cur.in_handler.set(false);
        self.shrink_after_error();
        self.errors.value
    }
    /// Calls a value and returns the first result, or nil.
    pub fn call1(&mut self, f: Value, args: &[Value]) -> LuaResult<Value> {
        self.call_value(f, args, 1)?;
        Ok(self.pop())
    }
    /// Calls a finalizer. Its error is passed to the handler of the event `errfin`, or reported, and dropped.
    pub fn call_finalizer(&mut self, f: Value, u: Value) {
        if self.call_value(f, &[u], 0).is_ok() {
            return;
        }
        let handler = self.host.event_handlers.iter().find(|(name, _)| **name == *b"errfin").map(|(_, f)| *f);
        let whose = match handler.map(|handler| self.call_value(handler, &[self.errors.value], 0)) {
            Some(Ok(_)) => return,
            Some(Err(_)) => "handler of errors in finalizers",
            None => "finalizer",
        };
        let text = self.finalizer_error_text();
        eprintln!("ERROR in {whose}: {}", String::from_utf8_lossy(&text));
    }
    /// The error value of a finalizer as text. A value that cannot be made one is `?`, as in LuaJIT; an error of the host has a `__tostring`.
    fn finalizer_error_text(&mut self) -> Vec<u8> {
        let e = self.errors.value;
        let mm = self.metamethod(e, crate::meta::MM::ToString);
        let v = if mm.is_nil() || e.is_str() { Ok(e) } else { self.call1(mm, &[e]) };
        match v {
            Ok(v) if v.is_number() => self.number_str(v).bytes().to_vec(),
            Ok(v) => v.as_str().map_or(b"?".to_vec(), |s| s.bytes().to_vec()),
            Err(_) => b"?".to_vec(),
        }
    }
    /// Aborts the recording, though there is no error.
    pub(crate) fn abort_recording(&mut self) {
        let compiler = Rc::clone(&self.compiler);
        self.keeping_error(|vm| {
            vm.errors.value = Value::NIL;
            compiler.abort(vm);
        });
    }
    /// A value has changed that traces take for a constant.
    pub(crate) fn constant_changed(&mut self) {
        if is_injected(Fault::ConstantsChange) {
            return;
        }
        let compiler = Rc::clone(&self.compiler);
        compiler.constant_changed(self);
    }
    /// Fields have changed that traces take for constants.
    pub(crate) fn fields_changed(&mut self, changed: ChangedFields) {
        if is_injected(Fault::ConstantsChange) {
            return;
        }
        let compiler = Rc::clone(&self.compiler);
        compiler.fields_changed(self, changed);
    }
    /// The variable is assigned, or replaced by another one, by other means than an assignment of its function.
    pub(crate) fn upvalue_changes(&mut self, uv: Gc<UpVal>) {
        if uv.hdr.b1.replace(0) != 0 {
            self.constant_changed();
        }
    }
    /// A call by the host: returns all results, or the error value with a traceback made where the error was raised.
    pub fn pcall_traced(&mut self, f: Value, args: &[Value]) -> Result<Vec<Value>, (Value, Vec<u8>)> {
        let nested = core::mem::replace(&mut self.errors.want_traceback, true);
        self.errors.traceback = None;
        let result = self.call_value(f, args, -1);
        self.errors.want_traceback = nested;
        match result {
            Ok(n) => {
                let mut out: Vec<Value> = (0..n).map(|_| self.pop()).collect();
                out.reverse();
                Ok(out)
            }
            Err(_) => Err((self.errors.value, self.errors.traceback.take().unwrap_or_default())),
        }
    }
    /// As [`Vm::pcall_traced`] for arguments on their way, from number `from` on; the results are on their way instead.
    pub fn pcall_passed(&mut self, f: Value, roots: &Roots, from: usize) -> Result<(), (Value, Vec<u8>)> {
        let nested = core::mem::replace(&mut self.errors.want_traceback, true);
        self.errors.traceback = None;
        let n = roots.passing_len() - from;
        let result = self.call_all(f, n, |to| {
            // SAFETY: there is room for as many values.
            unsafe { roots.copy_passing(from, to, n) };
        });
        self.errors.want_traceback = nested;
        let result = result.and_then(|n| {
            // SAFETY: the results are on top of the stack.
            unsafe {
                self.top = self.top.sub(n as usize);
                roots.replace_passing(from, core::slice::from_raw_parts(self.top, n as usize));
            }
            if self.heap.gc_due() { self.safepoint() } else { Ok(()) }
        });
        result.map_err(|_| (self.errors.value, self.errors.traceback.take().unwrap_or_default()))
    }
    /// Pushes the values on their way from number `from` on; how many there are.
    #[inline]
    pub fn push_passed(&mut self, roots: &Roots, from: usize) -> LuaResult<u32> {
        let n = roots.passing_len() - from;
        self.reserve(n)?;
        // SAFETY: there is room for as many values.
        unsafe {
            roots.copy_passing(from, self.top, n);
            self.top = self.top.add(n);
        }
        Ok(n as u32)
    }
    /// The error value as text, the way the host reports it.
    pub fn error_text(&mut self) -> Vec<u8> {
        self.reported_error().0
    }
    /// The error value as text, the way the host reports it; and whether a traceback belongs to it.
    pub fn reported_error(&mut self) -> (Vec<u8>, bool) {
        let e = self.errors.value;
        let mm = self.metamethod(e, crate::meta::MM::ToString);
        let v = if mm.is_nil() || e.is_str() {
            e
        } else {
            match self.call1(mm, &[e]) {
                Ok(v) => v,
                Err(_) => return (b"error in error handling".to_vec(), false),
            }
        };
        match v.as_str() {
            Some(s) => (s.bytes().to_vec(), true),
            None if v.is_number() => (self.number_str(v).bytes().to_vec(), true),
            None => (b"(error object is not a string)".to_vec(), false),
        }
    }
    pub(crate) fn stack_offset(&self, p: *mut Value) -> usize {
        (p as usize).wrapping_sub(self.cur.stack.get() as usize)
    }
    pub(crate) fn stack_at(&self, offset: usize) -> *mut Value {
        self.cur.stack.get().wrapping_byte_add(offset)
    }
    /// Runs the dispatch until the frame entered from Rust returns, unwinding errors on the way.
    ///
    /// # Safety
    /// The frame of the function at `func` is written, with `n` arguments after it.
    #[inline(always)]
    unsafe fn dispatch_from(&mut self, entries: Entries, func: *mut Value, n: usize) -> LuaResult<()> {
        let before = self.begin_activity(Activity::Interpreter);
        let vm: *mut Vm = self;
        // SAFETY: the contract of the handlers: `vm` is this VM, and no reference to it is used while they run.
        unsafe {
            let status = enter(vm, entries, func, n);
            let result = if status == Status::DONE { Ok(()) } else { Vm::dispatch_until_return(vm, status) };
            (*vm).begin_activity(before);
            result
        }
    }
    /// Goes on after what has entered the interpreter has returned without the results.
    ///
    /// # Safety
    /// The contract of the handlers, which keep this pointer: no reference to the VM is used meanwhile.
    #[inline(never)]
    unsafe fn dispatch_until_return(vm: *mut Vm, mut status: u32) -> LuaResult<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let loop_driver = (*vm).interp.use_loop_driver;
            loop {
                if loop_driver {
                    status = super::drive_loop(vm, status);
                }
                if status == Status::DONE {
                    return Ok(());
                }
                (*vm).begin_activity(Activity::Interpreter);
                (*vm).unwind()?;
                let n = (*vm).multres as usize;
                let from = (*vm).top.sub(n);
                status = enter(vm, RETURN, from, n);
            }
        }
    }
    /// Finds the frame that catches the error. `Ok`: the `multres` values at `top` are the results of the frame at `base`. `Err`: the frame
    /// entered from Rust is reached.
    fn unwind(&mut self) -> LuaResult<()> {
        let compiler = Rc::clone(&self.compiler);
        if self.interp.mode == crate::hooks::Mode::Record {
            compiler.abort(self);
        }
        self.handle_error();
        let passes = self.error_passes();
        // SAFETY: frames are walked by their links from the running frame down to the entry from Rust.
        unsafe {
            let mut base = self.base;
            loop {
                match kind(link_of(base)) {
                    frame::C => {
                        self.pc = core::ptr::with_exposed_provenance((*base.sub(3)).bits() as usize);
                        self.close_upvals(base);
                        self.base = below(base);
                        return Err(LuaError::parked());
                    }
                    frame::PCALL | frame::XPCALL if !passes => {
                        self.close_upvals(base);
                        self.errors.handled = false;
                        self.forget_exception();
                        self.base = below(base);
                        *base.sub(2) = Value::FALSE;
                        *base.sub(1) = self.errors.value;
                        self.top = base;
                        self.multres = 2;
                        self.cur.in_handler.set(false);
                        self.shrink_after_error();
                        self.collect_after_error();
                        return Ok(());
                    }
                    frame::COR => {
                        self.close_upvals(base);
                        self.errors.handled = false;
                        self.forget_exception();
                        if self.fail_coroutine() {
                            return Ok(());
                        }
                        self.handle_error();
                        base = self.base;
                    }
                    _ => base = below(base),
                }
            }
        }
    }
    /// Runs the handler of the nearest `xpcall`, or makes the host's traceback, once per error and before any frame is left.
    fn handle_error(&mut self) {
        if self.errors.handled {
            return;
        }
        self.errors.handled = true;
        let passes = self.error_passes();
        // SAFETY: as in `unwind`; C frames are crossed down to the frame that will catch the error.
        unsafe {
            let mut base = self.base;
            let lowest = self.cur.stack.get().add(3);
            loop {
                match kind(link_of(base)) {
                    frame::XPCALL if !passes => {
                        let handler = *below(base);
                        return self.call_handler(handler);
                    }
                    frame::PCALL if !passes => return,
                    frame::COR => return,
                    frame::C if !passes => match Catch::of(link_of(base)) {
                        Catch::Nothing | Catch::Resumption => {}
                        Catch::Error => return,
                        Catch::Handler(below) => {
                            let handler = *base.sub(below);
                            return self.call_handler(handler);
                        }
                    },
                    _ => {}
                }
                if base <= lowest {
                    break;
                }
                base = below(base);
            }
        }
        if self.errors.want_traceback && !self.cur.in_handler.get() {
            self.cur.in_handler.set(true);
            let cur = self.cur;
            let text = crate::stdlib::host_traceback(self, cur);
            self.errors.traceback = Some(text);
            self.cur.in_handler.set(false);
        }
    }
    /// Raises the top to the end of the running frame.
    pub(super) fn put_top_behind_frame(&mut self) {
        // SAFETY: the running frame is live; a Lua frame's values end at its frame size.
        unsafe {
            if let Some(p) = (*self.base.sub(2)).as_func().and_then(|f| f.proto()) {
                let end = self.base.add(p.framesize() as usize);
                if end > self.top || self.top > self.stack_end() {
                    self.top = end;
                }
            }
        }
    }
    /// The error is replaced by that of a handler that has failed.
    fn handler_failed(&mut self) {
        self.errors.value = Value::str(self.new_str(HANDLER_FAILED));
    }
    /// Does an error value say that a handler has failed?
    pub fn is_handler_failure(&mut self, e: Value) -> bool {
        e == Value::str(self.new_str(HANDLER_FAILED))
    }
    fn call_handler(&mut self, handler: Value) {
        if self.cur.in_handler.get() {
            self.handler_failed();
            return;
        }
        let level = self.cur.handlers.get();
        if level == MOST_HANDLERS {
            self.handler_overflow("stack overflow");
            return;
        }
        self.cur.in_handler.set(true);
        self.cur.handlers.set(level + 1);
        self.put_top_behind_frame();
        let (base, pc) = (self.stack_offset(self.base), self.pc);
        let e = self.errors.value;
        let ok = self.grow_stack(64).is_ok();
        match if ok { self.call1(handler, &[e]) } else { Err(LuaError::parked()) } {
            Ok(v) => self.errors.value = v,
            // The error keeps its value if no handler is called for it, or if another call of this handler has dealt with it (an error was
            // caught in the handler, and the next one called it again).
            Err(_) if self.errors.handled || !self.cur.in_handler.get() => {}
            Err(_) => self.handler_failed(),
        }
        self.base = self.stack_at(base);
        self.pc = pc;
        self.cur.in_handler.set(false);
        self.cur.handlers.set(level);
        self.errors.handled = true;
    }
}
