//! `jit.profile`: a function that is called with samples.
//!
//! Where compiled code was when a sample was taken, and its stack, are noted at once ([`perilune_vm::sample`]); the function is called
//! soon after, when that code has been left, and `dumpstack` answers from what was noted.

use super::compiler;
use crate::{Jit, sampling};
use core::any::Any;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use perilune_vm::gc::Marker;
use perilune_vm::object::{Gc, Table, Thread};
use perilune_vm::sample::{self, Callee, Captured, Consumer, InCode, Sample, StackFrame};
use perilune_vm::{LuaResult, Value, Vm};
use std::rc::Rc;

/// Milliseconds between samples where the mode does not say.
const INTERVAL: u64 = 10;
/// Names of the registry entries with the function, and the stack that it is called on.
const FUNCTION: &[u8] = b"_PROFILE_FUNCTION";
const STACK: &[u8] = b"_PROFILE_STACK";

/// Functions of `jit.profile`.
pub const PROFILE: [(&str, perilune_vm::object::NativeFn); 3] = [("start", start), ("stop", stop), ("dumpstack", dumpstack)];

/// A sample in compiled code.
struct Noted {
    count: u32,
    /// A letter of [`sample::Activity`].
    activity: u8,
    thread: Gc<Thread>,
    /// Of the thread, the innermost first.
    stack: Vec<StackFrame>,
}

/// Calls the function in the registry.
struct Callback {
    jit: Option<Rc<Jit>>,
    /// Samples that the function has not been told of.
    noted: RefCell<Vec<Noted>>,
    /// That which it is being told of.
    current: RefCell<Option<Noted>>,
    ended: Cell<bool>,
}

impl Callback {
    fn new(vm: &Vm) -> Callback {
        Callback { jit: Jit::of(vm), noted: RefCell::default(), current: RefCell::default(), ended: Cell::new(false) }
    }
    /// That which runs, if it takes samples of this VM.
    fn of(vm: &Vm) -> Option<Rc<Callback>> {
        let consumer: Rc<dyn Any> = vm.sampling_consumer()?;
        consumer.downcast().ok()
    }
    /// The stack of `thread` as it was at the sample that the function is being told of.
    fn stack(&self, thread: Gc<Thread>) -> Option<Vec<StackFrame>> {
        self.current.borrow().as_ref().filter(|n| n.thread == thread).map(|n| n.stack.clone())
    }
    /// Calls the function, unless it has ended this before.
    fn call(&self, vm: &mut Vm, thread: Gc<Thread>, count: u32, activity: u8) {
        let registry = vm.registry;
        let (f, stack) = (vm.field(registry, FUNCTION), vm.field(registry, STACK));
        let Some(stack) = stack.as_thread().filter(|_| f.is_func() && !self.ended.get()) else { return };
        let letter = Value::str(vm.new_str(&[activity]));
        if vm.call_on(stack, f, &[Value::thread(thread), Value::integer(i64::from(count)), letter]).is_err() {
            fail(vm);
        }
    }
}

impl Consumer for Callback {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        while !self.noted.borrow().is_empty() {
            let next = self.noted.borrow_mut().remove(0);
            let (thread, count, activity) = (next.thread, next.count, next.activity);
            *self.current.borrow_mut() = Some(next);
            self.call(vm, thread, count, activity);
            *self.current.borrow_mut() = None;
        }
        if !sample.parts.is_empty() {
            self.call(vm, vm.cur, sample.count(), sample.activity());
        }
    }
    fn captured(&self, vm: &Vm, samples: Vec<Captured>) {
        self.noted.borrow_mut().extend(samples.iter().map(|s| {
            let mut stack = Jit::sampled_stack(self.jit.as_deref(), vm, s);
            stack.frames.truncate(stack.own);
            Noted { count: s.count, activity: s.activity, thread: s.thread, stack: stack.frames }
        }));
    }
    fn mark(&self, marker: &mut Marker) {
        for n in self.noted.borrow().iter().chain(&*self.current.borrow()) {
            marker.mark(n.thread);
            for f in &n.stack {
                match f.callee {
                    Callee::Lua(p) => marker.mark(p),
                    Callee::Builtin(f) => marker.mark(f),
                }
            }
        }
    }
    fn end(&self, _: &mut Vm) {
        self.ended.set(true);
    }
}

/// There is nobody to tell of an error in the function: the process ends.
fn fail(vm: &mut Vm) -> ! {
    let text = vm.error.as_str().map_or_else(|| "?".into(), |s| s.to_str_lossy().into_owned());
    eprintln!("PANIC: unprotected error in call to Lua API ({text})");
    perilune_vm::lib::io::flush_all();
    std::process::exit(1);
}

/// What a mode says: the interval, and what becomes of samples in compiled code.
fn parse(mode: &[u8]) -> (Duration, InCode) {
    let (mut interval, mut in_code) = (INTERVAL, InCode::Late);
    let mut rest = mode;
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        match c {
            b'f' | b'l' => in_code = InCode::Told,
            b'i' => {
                let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
                let number = rest[..digits].iter().fold(0_u64, |n, c| n.saturating_mul(10).saturating_add(u64::from(c - b'0')));
                interval = number.clamp(1, u64::from(u32::MAX));
                rest = &rest[digits..];
            }
            _ => {}
        }
    }
    (Duration::from_millis(interval), in_code)
}

/// `jit.profile.start([mode,] f)`
fn start(vm: &mut Vm) -> LuaResult<u32> {
    let mode = vm.opt_str(0)?;
    let f = vm.check_func(1)?;
    let (interval, in_code) = parse(mode.as_ref().map_or(&[], |m| m.bytes()));
    let registry = vm.registry;
    set(vm, registry, FUNCTION, Value::func(f));
    let stack: Gc<Thread> = vm.new_stack();
    set(vm, registry, STACK, Value::thread(stack));
    if in_code == InCode::Told {
        compiler(vm)?.flush_all(vm);
    }
    end(vm)?;
    let callback = Rc::new(Callback::new(vm));
    sampling::start(vm, interval, in_code, callback);
    Ok(0)
}

fn set(vm: &mut Vm, registry: Gc<Table>, name: &[u8], v: Value) {
    vm.set_field(registry, name, v);
}

/// Ends the sampling of this VM; traces that were compiled for it must go.
fn end(vm: &mut Vm) -> LuaResult<()> {
    // Others take samples as well.
    if let Some(callback) = Callback::of(vm) {
        callback.ended.set(true);
        vm.stop_sampling();
        compiler(vm)?.flush_all(vm);
    }
    Ok(())
}

/// `jit.profile.stop()`
fn stop(vm: &mut Vm) -> LuaResult<u32> {
    end(vm)?;
    let registry = vm.registry;
    set(vm, registry, FUNCTION, Value::NIL);
    set(vm, registry, STACK, Value::NIL);
    Ok(0)
}

/// `jit.profile.dumpstack([thread,] format, depth)`
fn dumpstack(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, first) = match vm.arg(0).as_thread() {
        Some(t) => (t, 1),
        None => (vm.cur, 0),
    };
    let format = vm.check_str(first)?;
    let depth = vm.check_int(first + 1)?;
    let text = match Callback::of(vm).and_then(|c| c.stack(thread)) {
        Some(noted) => sample::dump_frames(&noted, format.bytes(), depth),
        None => sample::dump_stack(vm, thread, format.bytes(), depth),
    };
    vm.ret_str(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let ms = Duration::from_millis;
        assert_eq!(parse(b""), (ms(10), InCode::Late));
        assert_eq!(parse(b"f"), (ms(10), InCode::Told));
        assert_eq!(parse(b"xi5yl"), (ms(5), InCode::Told));
        assert_eq!(parse(b"i0"), (ms(1), InCode::Late));
        assert_eq!(parse(b"fi"), (ms(1), InCode::Told));
        assert_eq!(parse(b"i99999999999999999999999"), (ms(u64::from(u32::MAX)), InCode::Late));
    }
}
