//! The order of the values on the stack.
#![allow(unsafe_code, reason = "slots from the base to the top of the running frame are moved")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::state::L;
use perilune_vm::object::Gc;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int};

/// The most values of one C function.
const MOST_VALUES: usize = 8000;

/// Drops or adds (nil) values so that there are `n`.
#[inline]
pub fn set_top(vm: &mut Vm, n: usize) -> LuaResult<()> {
    if n <= vm.nargs() {
        vm.top = vm.base.wrapping_add(n);
        return Ok(());
    }
    fill_up(vm, n)
}

#[inline(never)]
fn fill_up(vm: &mut Vm, n: usize) -> LuaResult<()> {
    let more = n - vm.nargs();
    vm.reserve(more)?;
    // SAFETY: the room was reserved.
    unsafe {
        for i in 0..more {
            *vm.top.add(i) = Value::NIL;
        }
        vm.top = vm.top.add(more);
    }
    Ok(())
}

/// Drops the topmost `n` values.
pub fn pop(vm: &mut Vm, n: usize) {
    debug_assert!(n <= vm.nargs(), "more values are dropped than there are");
    vm.top = vm.top.wrapping_sub(n);
}

/// Makes room for so many values; false if there may not be so many.
fn check_room(vm: &mut Vm, n: c_int) -> bool {
    let Ok(n) = usize::try_from(n) else { return true };
    if vm.nargs() + n > MOST_VALUES {
        return false;
    }
    let has_room = vm.reserve(n).is_ok();
    if !has_room {
        let _ = vm.take_error();
    }
    has_room
}

plain! {
    /// `lua_gettop`
    fn lua_gettop(l => vm) -> c_int { vm.nargs() as c_int }
    /// `lua_checkstack`
    fn lua_checkstack(l => vm, n: c_int) -> c_int { c_int::from(check_room(vm, n)) }
    /// `lua_remove`
    fn lua_remove(l => vm, i: c_int) {
        if let Some(p) = index::slot(vm, i) {
            core::ptr::copy(p.add(1), p, vm.top.offset_from(p) as usize - 1);
            pop(vm, 1);
        }
    }
    /// `lua_insert`
    fn lua_insert(l => vm, i: c_int) {
        if let Some(p) = index::slot(vm, i) {
            let v = *vm.top.sub(1);
            core::ptr::copy(p, p.add(1), vm.top.offset_from(p) as usize - 1);
            *p = v;
        }
    }
    /// `lua_copy`
    fn lua_copy(l => vm, from: c_int, to: c_int) {
        let v = index::value(vm, from);
        index::set(vm, to, v);
    }
}

raising! {
    /// `lua_settop`
    fn lua_settop(l => vm, i: c_int) -> () {
        if i < 0 {
            pop(vm, (-(i + 1)) as usize);
            return Ok(());
        }
        set_top(vm, i as usize)
    }
    /// `lua_replace`
    fn lua_replace(l => vm, i: c_int) -> () {
        if i == index::ENVIRONMENT && !index::running(vm).is_some_and(|f| f.is_in_c()) {
            return Err(vm.rt_error("no calling environment"));
        }
        let v = index::value(vm, -1);
        index::set(vm, i, v);
        pop(vm, 1);
        Ok(())
    }
    /// `luaL_checkstack`
    fn luaL_checkstack(l => vm, n: c_int, message: *const c_char) -> () {
        if check_room(vm, n) {
            return Ok(());
        }
        let message = if message.is_null() { &b"(null)"[..] } else { crate::push::text(message) };
        Err(vm.rt_error_bytes(&[b"stack overflow (", message, b")"].concat()))
    }
}

/// `lua_xmove`
///
/// # Safety
/// The contract of the crate; both coroutines are of one state.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_xmove(from: L, to: L, n: c_int) {
    let Some(n) = usize::try_from(n).ok().filter(|_| from != to) else { return };
    // Makes it a coroutine with values, if it has not begun.
    crate::state::enter(from, |_| ());
    crate::state::enter(to, |vm| {
        // It does not run now: what it has is stored in it.
        let from = Gc::from_ptr(from);
        let first = from.top.get().sub(n);
        for i in 0..n {
            crate::push::value(vm, *first.add(i));
        }
        from.top.set(first);
    });
}
