//! `jit.profile`: a function that is called with samples.

use super::compiler;
use core::any::Any;
use core::time::Duration;
use perilune_vm::object::{Gc, Table, Thread};
use perilune_vm::sample::{self, Consumer, Grain, InCode, Sample};
use perilune_vm::{LuaResult, Value, Vm};
use std::rc::Rc;

/// Milliseconds between samples where the mode does not say.
const INTERVAL: u64 = 10;
/// Names of the registry entries with the function, and the stack that it is called on.
const FUNCTION: &[u8] = b"_PROFILE_FUNCTION";
const STACK: &[u8] = b"_PROFILE_STACK";

/// Functions of `jit.profile`.
pub const PROFILE: [(&str, perilune_vm::object::NativeFn); 3] = [("start", start), ("stop", stop), ("dumpstack", dumpstack)];

/// Calls the function in the registry.
struct Callback;

impl Consumer for Callback {
    fn sample(&self, vm: &mut Vm, sample: Sample) {
        let registry = vm.registry;
        let (f, stack) = (vm.field(registry, FUNCTION), vm.field(registry, STACK));
        let Some(stack) = stack.as_thread().filter(|_| f.is_func()) else { return };
        let letter = Value::str(vm.new_str(&[sample.activity()]));
        let running = Value::thread(vm.cur);
        if vm.call_on(stack, f, &[running, Value::integer(i64::from(sample.count())), letter]).is_err() {
            fail(vm);
        }
    }
}

/// There is nobody to tell of an error in the function: the process ends.
fn fail(vm: &mut Vm) -> ! {
    let text = vm.error.as_str().map_or_else(|| "?".into(), |s| s.to_str_lossy().into_owned());
    eprintln!("PANIC: unprotected error in call to Lua API ({text})");
    perilune_vm::lib::io::flush_all();
    std::process::exit(1);
}

/// What a mode says: the interval, and where compiled code is sampled.
fn parse(mode: &[u8]) -> (Duration, Option<Grain>) {
    let (mut interval, mut grain) = (INTERVAL, None);
    let mut rest = mode;
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        match c {
            b'f' => grain = Some(Grain::Function),
            b'l' => grain = Some(Grain::Line),
            b'i' => {
                let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
                let number = rest[..digits].iter().fold(0_u64, |n, c| n.saturating_mul(10).saturating_add(u64::from(c - b'0')));
                interval = number.clamp(1, u64::from(u32::MAX));
                rest = &rest[digits..];
            }
            _ => {}
        }
    }
    (Duration::from_millis(interval), grain)
}

/// `jit.profile.start([mode,] f)`
fn start(vm: &mut Vm) -> LuaResult<u32> {
    let mode = vm.opt_str(0)?;
    let f = vm.check_func(1)?;
    let (interval, grain) = parse(mode.as_ref().map_or(&[], |m| m.bytes()));
    let registry = vm.registry;
    set(vm, registry, FUNCTION, Value::func(f));
    let stack: Gc<Thread> = vm.new_stack();
    set(vm, registry, STACK, Value::thread(stack));
    if grain.is_some() {
        compiler(vm)?.flush_all(vm);
    }
    end(vm)?;
    vm.start_sampling(interval, grain.map_or(InCode::Late, InCode::Guards), Rc::new(Callback));
    Ok(0)
}

fn set(vm: &mut Vm, registry: Gc<Table>, name: &[u8], v: Value) {
    vm.set_field(registry, name, v);
}

/// Ends the sampling of this VM; traces that have guards for it must go.
fn end(vm: &mut Vm) -> LuaResult<()> {
    let consumer: Option<Rc<dyn Any>> = vm.sampling_consumer().map(|c| c as _);
    // Others take samples as well.
    if consumer.is_some_and(|c| c.is::<Callback>()) {
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
    let text = sample::dump_stack(vm, thread, format.bytes(), depth);
    vm.ret_str(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let ms = Duration::from_millis;
        assert_eq!(parse(b""), (ms(10), None));
        assert_eq!(parse(b"f"), (ms(10), Some(Grain::Function)));
        assert_eq!(parse(b"xi5yl"), (ms(5), Some(Grain::Line)));
        assert_eq!(parse(b"i0"), (ms(1), None));
        assert_eq!(parse(b"fi"), (ms(1), Some(Grain::Function)));
        assert_eq!(parse(b"i99999999999999999999999"), (ms(u64::from(u32::MAX)), None));
    }
}
