//! `jit.on`, `jit.off`, `jit.flush`, `jit.status`, `jit.security`.

use super::shared::compiler;
use crate::Jit;
use crate::trace::patch;
use perilune_vm::object::{Gc, Proto, ProtoFlags};
use perilune_vm::{LuaResult, TraceId, Value, Vm};
use std::rc::Rc;

/// What a call of `jit.on`, `jit.off` or `jit.flush` applies to.
enum Scope {
    Engine,
    /// A function: itself, its children, or both.
    Proto {
        proto: Gc<Proto>,
        itself: bool,
        children: bool,
    },
}

#[derive(Copy, Clone, PartialEq)]
enum Action {
    On,
    Off,
    Flush,
}

fn scope(vm: &mut Vm) -> LuaResult<Scope> {
    let v = vm.arg(0);
    if v.is_nil() {
        return Ok(Scope::Engine);
    }
    let proto = if v == Value::TRUE { caller(vm) } else { v.as_proto().or_else(|| v.as_func().and_then(|f| f.proto())) };
    let Some(proto) = proto else { return Err(vm.arg_type_error(0, "function")) };
    let second = vm.arg(1);
    let (itself, children) = if vm.nargs() < 2 || second.is_nil() { (true, false) } else { (second.truthy(), true) };
    Ok(Scope::Proto { proto, itself, children })
}

/// The Lua function that called the builtin.
fn caller(vm: &Vm) -> Option<Gc<Proto>> {
    let running = perilune_vm::interp::frames::Level::running(vm)?;
    running.below()?.func.proto()
}

fn apply(jit: &Jit, proto: Gc<Proto>, action: Action) {
    let flags = proto.flags.get();
    match action {
        Action::On => {
            proto.flags.set(flags & !ProtoFlags::NOJIT);
            patch::unblacklist(proto);
            jit.protos.borrow_mut().reset_penalties(proto);
        }
        Action::Off => {
            proto.flags.set(flags | ProtoFlags::NOJIT);
            jit.flush_proto(proto);
        }
        Action::Flush => jit.flush_proto(proto),
    }
}

fn apply_children(jit: &Jit, proto: Gc<Proto>, action: Action) {
    for i in 0..proto.num_kgc as usize {
        if let Some(child) = proto.kgc(i).and_then(|k| k.as_proto()) {
            apply(jit, child, action);
            apply_children(jit, child, action);
        }
    }
}

fn perform(vm: &mut Vm, action: Action) -> LuaResult<u32> {
    vm.check_not_finalizing()?;
    let jit: Rc<Jit> = compiler(vm)?;
    match scope(vm)? {
        Scope::Engine => match action {
            Action::On => jit.switch(vm, true),
            Action::Off => jit.switch(vm, false),
            Action::Flush => jit.flush_all(vm),
        },
        Scope::Proto { proto, itself, children } => {
            jit.cancel(vm);
            if action != Action::Flush {
                // The next load of the same text gives a function that is compiled by default.
                vm.compilation_cache.clear();
            }
            if itself {
                apply(&jit, proto, action);
            }
            if children {
                apply_children(&jit, proto, action);
            }
        }
    }
    Ok(0)
}

/// `jit.on([func|true [, true|false]])`
pub fn on(vm: &mut Vm) -> LuaResult<u32> {
    perform(vm, Action::On)
}

/// `jit.off([func|true [, true|false]])`
pub fn off(vm: &mut Vm) -> LuaResult<u32> {
    perform(vm, Action::Off)
}

/// `jit.flush([func|true [, true|false]])`, `jit.flush(tr)`
pub fn flush(vm: &mut Vm) -> LuaResult<u32> {
    if let Some(n) = vm.arg(0).as_number() {
        vm.check_not_finalizing()?;
        let jit = compiler(vm)?;
        if let Some(id) = TraceId::new(n as u32) {
            jit.flush_root(vm, id);
        }
        return Ok(0);
    }
    perform(vm, Action::Flush)
}

/// Features of the processor that compiled code uses, as far as LuaJIT has names for them.
fn processor() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let have = [
            ("SSE3", std::arch::is_x86_feature_detected!("sse3")),
            ("SSE4.1", std::arch::is_x86_feature_detected!("sse4.1")),
            ("BMI2", std::arch::is_x86_feature_detected!("bmi2")),
        ];
        have.iter().filter(|h| h.1).map(|h| h.0).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// `jit.status()`
pub fn status(vm: &mut Vm) -> LuaResult<u32> {
    let Some(jit) = Jit::of(vm) else { return vm.ret1(Value::FALSE) };
    vm.push(Value::bool(jit.is_on()));
    let mut n = 1;
    for name in processor().into_iter().chain(jit.settings.options.get().flags.names()) {
        let name = vm.new_str(name.as_bytes());
        vm.push(Value::str(name));
        n += 1;
    }
    Ok(n)
}

/// `jit.security(name)`
pub fn security(vm: &mut Vm) -> LuaResult<u32> {
    let i = vm.check_option(0, None, &["prng", "strhash", "strid", "mcode"])?;
    // Random numbers are seeded by the system, hashes are seeded, and code memory is never writable and executable.
    vm.ret1(Value::int([1, 1, 0, 1][i]))
}
