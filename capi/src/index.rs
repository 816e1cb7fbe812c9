//! Stack and pseudo-indices.
#![allow(unsafe_code, reason = "a slot from the base to the top of the running frame is read and written")]

use perilune_vm::object::{Func, Gc, Table};
use perilune_vm::{Value, Vm};
use std::ffi::c_int;

/// Pseudo-index of the registry.
pub const REGISTRY: c_int = -10000;
/// Pseudo-index of the environment of the running function.
pub const ENVIRONMENT: c_int = -10001;
/// Pseudo-index of the globals of the coroutine. Below it lie those of the upvalues.
pub const GLOBALS: c_int = -10002;

/// The running function, if one runs.
pub fn running(vm: &Vm) -> Option<Gc<Func>> {
    // SAFETY: two slots lie below the base of each frame.
    unsafe { (*vm.base.sub(2)).as_func() }
}

/// The environment of new functions and userdata: that of the running function in C, or the globals.
pub fn environment(vm: &Vm) -> Gc<Table> {
    running(vm).filter(|f| f.is_in_c()).map_or(vm.cur.env.get(), |f| f.env.get())
}

/// The slot of an index into the stack, if there is a value.
#[inline]
pub fn slot(vm: &Vm, index: c_int) -> Option<*mut Value> {
    if index > 0 {
        let at = vm.base.wrapping_add(index as usize - 1);
        return (at < vm.top).then_some(at);
    }
    let at = vm.top.wrapping_offset(index as isize);
    (index < 0 && at >= vm.base).then_some(at)
}

/// The value at an index into the stack, if there is one.
#[inline]
pub fn in_frame(vm: &Vm, index: c_int) -> Option<Value> {
    // SAFETY: the slot has a value.
    slot(vm, index).filter(|_| index > REGISTRY).map(|p| unsafe { *p })
}

/// The value at an index, if there is one.
#[inline]
pub fn get(vm: &Vm, index: c_int) -> Option<Value> {
    if index > REGISTRY { in_frame(vm, index) } else { special(vm, index) }
}

/// The value at a pseudo-index.
#[inline(never)]
fn special(vm: &Vm, index: c_int) -> Option<Value> {
    match index {
        REGISTRY => Some(Value::table(vm.realm.registry)),
        ENVIRONMENT => Some(Value::table(environment(vm))),
        GLOBALS => Some(Value::table(vm.cur.env.get())),
        _ => {
            let f = running(vm)?;
            let i = upvalue(f, index)?;
            Some(f.native_upvalues()[i].get())
        }
    }
}

/// The same, or nil.
#[inline(never)]
fn special_or_nil(vm: &Vm, index: c_int) -> Value {
    special(vm, index).unwrap_or(Value::NIL)
}

/// The number of the upvalue that a pseudo-index selects.
fn upvalue(f: Gc<Func>, index: c_int) -> Option<usize> {
    let i = (GLOBALS - index) as usize - 1;
    (i < f.visible_upvalues()).then_some(i)
}

/// The value at an index, or nil.
#[inline]
pub fn value(vm: &Vm, index: c_int) -> Value {
    // Not by way of an `Option`, which takes as many instructions as the rest.
    if index <= REGISTRY {
        return special_or_nil(vm, index);
    }
    match slot(vm, index) {
        // SAFETY: the slot has a value.
        Some(p) => unsafe { *p },
        None => Value::NIL,
    }
}

/// The table at an index.
#[inline]
pub fn table(vm: &Vm, index: c_int) -> Option<Gc<Table>> {
    value(vm, index).as_table()
}

/// Sets the value at an index.
#[inline]
pub fn set(vm: &mut Vm, index: c_int, v: Value) {
    if index <= REGISTRY {
        return set_special(vm, index, v);
    }
    if let Some(p) = slot(vm, index) {
        // SAFETY: the slot has a value.
        unsafe { *p = v };
    }
}

/// Sets the value at a pseudo-index.
#[inline(never)]
fn set_special(vm: &mut Vm, index: c_int, v: Value) {
    match index {
        GLOBALS => {
            if let Some(t) = v.as_table() {
                vm.set_thread_env(vm.cur, t);
            }
        }
        ENVIRONMENT => {
            if let (Some(t), Some(f)) = (v.as_table(), running(vm)) {
                f.env.set(t);
                vm.barrier_forward(f.header(), v);
            }
        }
        REGISTRY => {}
        _ => {
            if let Some(f) = running(vm)
                && let Some(i) = upvalue(f, index)
            {
                f.native_upvalues()[i].set(v);
                vm.barrier_forward(f.header(), v);
            }
        }
    }
}

/// An index that stays valid when values are pushed.
pub fn absolute(vm: &Vm, index: c_int) -> c_int {
    if index > 0 || index <= REGISTRY { index } else { vm.nargs() as c_int + index + 1 }
}
