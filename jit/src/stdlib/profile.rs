//! `jit.profile`: a function that is called with samples.
//!
//! A sample in compiled code notes the position at once ([`perilune_vm::sample`]). The function is called soon after, when compiled code
//! has been left, and `dumpstack` answers with the functions that ran at the sample.

use super::shared::compiler;
use crate::Jit;
use crate::view::locate::{Located, SEARCHED};
use crate::view::sampling;
use core::any::Any;
use core::cell::{Cell, RefCell};
use core::time::Duration;
use perilune_vm::gc::Marker;
use perilune_vm::object::{Gc, Table, Thread};
use perilune_vm::sample::{self, Consumer, InCode, Part, Sample};
use perilune_vm::state::Activity;
use perilune_vm::{LuaResult, Value, Vm};
use std::rc::Rc;

/// Milliseconds between samples, if the mode does not say.
const INTERVAL: u64 = 10;
/// Names of the registry entries with the function, and the stack that it is called on.
const FUNCTION: &[u8] = b"_PROFILE_FUNCTION";
const STACK: &[u8] = b"_PROFILE_STACK";

/// Calls the profiler function, which is in the registry.
struct Callback {
    jit: Option<Rc<Jit>>,
    /// The coroutine of the sample that the function is being called for, and the position in compiled code.
    current: RefCell<Option<(Gc<Thread>, Located)>>,
    /// The samples that it is to be called for next, the first one last.
    waiting: RefCell<Vec<(Part, Option<Located>)>>,
    ended: Cell<bool>,
}

impl Callback {
    /// The callback of this VM, if the VM is sampled for `jit.profile`.
    fn of(vm: &Vm) -> Option<Rc<Callback>> {
        let consumer: Rc<dyn Any> = vm.sampling_consumer()?;
        consumer.downcast().ok()
    }
    /// The next sample that the function is to be called for.
    fn next(&self) -> Option<(Part, Option<Located>)> {
        self.waiting.borrow_mut().pop().filter(|_| !self.ended.get())
    }
    fn call(&self, vm: &mut Vm, part: Part, located: Option<Located>) {
        let registry = vm.realm.registry;
        let (f, stack) = (vm.field(registry, FUNCTION), vm.field(registry, STACK));
        let Some(stack) = stack.as_thread().filter(|_| f.is_func()) else { return };
        let running = vm.cur;
        *self.current.borrow_mut() = located.map(|l| (running, l));
        let letter = Value::str(vm.new_str(&[letter(part.activity)]));
        let result = vm.call_on(stack, f, &[Value::thread(running), Value::integer(i64::from(part.count)), letter]);
        if result.is_err() {
            fail(vm);
        }
        *self.current.borrow_mut() = None;
    }
    /// The stack of `thread` in a format, as it was at the current sample if that was in compiled code.
    fn stack(&self, vm: &Vm, thread: Gc<Thread>, format: &[u8], depth: i32) -> Option<Vec<u8>> {
        let current = self.current.borrow();
        let (_, at) = current.as_ref().filter(|t| t.0 == thread)?;
        let most = (depth.unsigned_abs() as usize).saturating_add(SEARCHED);
        let mut frames = sample::frames(vm, thread, most);
        let own = frames.len();
        if at.put_on(&mut frames, own) {
            // No more is known about the stack of that coroutine.
            frames.truncate(at.functions.len());
        }
        Some(sample::dump_frames(&frames, format, depth))
    }
}

impl Consumer for Callback {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        // The positions are located before the function is called, which may flush traces.
        let locate = |p: &Part| (*p, p.place.and_then(|place| self.jit.as_ref()?.locate(vm, place)));
        let mut parts: Vec<(Part, Option<Located>)> = sample.parts.iter().rev().map(locate).collect();
        if parts.iter().all(|p| p.1.is_none()) {
            // These samples have the same stack: the function is called once, as if all were of the first kind.
            parts.drain(..parts.len().saturating_sub(1));
            parts.iter_mut().for_each(|p| p.0.count = sample.count());
        }
        *self.waiting.borrow_mut() = parts;
        while let Some((part, located)) = self.next() {
            self.call(vm, part, located);
        }
    }
    fn closing(&self, vm: &mut Vm) {
        // Handlers may be called when traces are flushed: the values that they use must not have been finalized yet.
        let _ = end(vm);
    }
    fn mark(&self, marker: &mut Marker) {
        let (current, waiting) = (self.current.borrow(), self.waiting.borrow());
        let all = current.iter().map(|t| &t.1).chain(waiting.iter().filter_map(|w| w.1.as_ref()));
        all.flat_map(|at| &at.functions).for_each(|f| marker.mark(f.proto));
    }
}

/// An error in the function cannot be reported to anybody: the process ends.
fn fail(vm: &mut Vm) -> ! {
    let text = vm.errors.value.as_str().map_or_else(|| "?".into(), |s| s.to_str_lossy().into_owned());
    eprintln!("PANIC: unprotected error in call to Lua API ({text})");
    perilune_vm::stdlib::io::flush_all();
    std::process::exit(1);
}

/// What a mode string says: the interval, and how samples in compiled code are taken.
fn parse(mode: &[u8]) -> (Duration, InCode) {
    let (mut interval, mut in_code) = (INTERVAL, InCode::Late);
    let mut rest = mode;
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        match c {
            b'f' | b'l' => in_code = InCode::Located,
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
pub fn start(vm: &mut Vm) -> LuaResult<u32> {
    let mode = vm.opt_str(0)?;
    let f = vm.check_func(1)?;
    let (interval, in_code) = parse(mode.as_ref().map_or(&[], |m| m.bytes()));
    let registry = vm.realm.registry;
    set(vm, registry, FUNCTION, Value::func(f));
    let stack: Gc<Thread> = vm.new_stack();
    set(vm, registry, STACK, Value::thread(stack));
    if in_code == InCode::Located {
        compiler(vm)?.flush_again(vm);
    }
    end(vm)?;
    let callback =
        Rc::new(Callback { jit: Jit::of(vm), current: RefCell::default(), waiting: RefCell::default(), ended: Cell::new(false) });
    sampling::start(vm, interval, in_code, callback);
    Ok(0)
}

fn set(vm: &mut Vm, registry: Gc<Table>, name: &[u8], v: Value) {
    vm.set_field(registry, name, v);
}

/// Ends the sampling of this VM. Traces that were compiled for it are flushed.
fn end(vm: &mut Vm) -> LuaResult<()> {
    // Another profiler may sample the VM as well.
    if let Some(callback) = Callback::of(vm) {
        callback.ended.set(true);
        vm.stop_sampling();
        compiler(vm)?.flush_again(vm);
    }
    Ok(())
}

/// `jit.profile.stop()`
pub fn stop(vm: &mut Vm) -> LuaResult<u32> {
    end(vm)?;
    let registry = vm.realm.registry;
    set(vm, registry, FUNCTION, Value::NIL);
    set(vm, registry, STACK, Value::NIL);
    Ok(0)
}

/// `jit.profile.dumpstack([thread,] format, depth)`
pub fn dumpstack(vm: &mut Vm) -> LuaResult<u32> {
    let (thread, first) = match vm.arg(0).as_thread() {
        Some(t) => (t, 1),
        None => (vm.cur, 0),
    };
    let format = vm.check_str(first)?;
    let depth = vm.check_int(first + 1)?;
    let text = stack_text(vm, thread, format.bytes(), depth);
    vm.ret_str(&text)
}

/// The stack of a coroutine as a text: that of the sample, in the function of the profiler, or the present one.
pub fn stack_text(vm: &mut Vm, thread: Gc<Thread>, format: &[u8], depth: i32) -> Vec<u8> {
    let noted = Callback::of(vm).and_then(|c| c.stack(vm, thread, format, depth));
    noted.unwrap_or_else(|| sample::dump_stack(vm, thread, format, depth))
}

/// The letter that LuaJIT has for an activity. What the compiler does is one state, and exits are the compiler's.
fn letter(activity: u8) -> u8 {
    let of_compiler = [Activity::Optimizer, Activity::Assembler, Activity::Exit];
    if of_compiler.iter().any(|a| *a as u8 == activity) { Activity::Compiler as u8 } else { activity }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let ms = Duration::from_millis;
        assert_eq!(parse(b""), (ms(10), InCode::Late));
        assert_eq!(parse(b"f"), (ms(10), InCode::Located));
        assert_eq!(parse(b"xi5yl"), (ms(5), InCode::Located));
        assert_eq!(parse(b"i0"), (ms(1), InCode::Late));
        assert_eq!(parse(b"fi"), (ms(1), InCode::Located));
        assert_eq!(parse(b"i99999999999999999999999"), (ms(u64::from(u32::MAX)), InCode::Late));
    }
}
