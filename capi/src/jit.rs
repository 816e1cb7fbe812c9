//! The functions of `luajit.h`: modes of the compiler, and the profiler.
#![allow(unsafe_code, reason = "callbacks are functions in C of the type that the manual says")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::push::text;
use crate::state::{L, call_out};
use perilune_vm::object::Gc;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int, c_void};

/// `luaJIT_profile_callback`
pub type ProfileCallback = unsafe extern "C" fn(*mut c_void, L, c_int, c_int);

/// What a mode applies to, in its lower byte.
mod scope {
    pub const ENGINE: i32 = 0;
    pub const FUNCTION: i32 = 2;
    pub const FUNCTION_AND_CHILDREN: i32 = 3;
    pub const CHILDREN: i32 = 4;
    pub const TRACE: i32 = 5;
    pub const WRAPPER: i32 = 0x10;
}
const ON: c_int = 0x100;
const FLUSH: c_int = 0x200;

/// Name of the registry entry with the stack that was dumped last.
const DUMP: &[u8] = b"_PROFILE_DUMP";

/// Calls a function of the libraries of the compiler.
fn call(vm: &mut Vm, name: &str, arguments: &[Value]) -> LuaResult<Value> {
    let Some(native) = perilune_jit::stdlib::function(name) else { return Ok(Value::NIL) };
    let f = Value::func(vm.new_native(native, 1, &[]));
    vm.call1(f, arguments)
}

/// The function that a mode applies to: that at an index, or for 0 the one that called the running function.
fn function(vm: &mut Vm, i: c_int) -> Option<Value> {
    if i == 0 {
        let running = perilune_vm::interp::frames::Level::running(vm)?;
        return Some(Value::func(running.below()?.func));
    }
    Some(index::value(vm, i)).filter(|v| v.as_func().is_some_and(|f| f.is_lua()) || v.as_proto().is_some())
}

/// Sets a mode. False if it does not exist.
fn set_mode(vm: &mut Vm, i: c_int, mode: c_int) -> LuaResult<bool> {
    let name = if mode & FLUSH != 0 {
        "jit.flush"
    } else if mode & ON != 0 {
        "jit.on"
    } else {
        "jit.off"
    };
    let children = match mode & 0xff {
        scope::ENGINE => return call(vm, name, &[]).map(|_| true),
        scope::TRACE if mode & FLUSH != 0 => return call(vm, name, &[Value::int(i)]).map(|_| true),
        scope::WRAPPER => return Ok(set_wrapper(vm, i, mode & ON != 0)),
        scope::FUNCTION => Value::NIL,
        scope::FUNCTION_AND_CHILDREN => Value::TRUE,
        scope::CHILDREN => Value::FALSE,
        _ => return Ok(false),
    };
    let Some(f) = function(vm, i) else { return Ok(false) };
    call(vm, name, &[f, children]).map(|_| true)
}

/// Has functions in C called by a wrapper, whose address is a light userdata, or no more.
fn set_wrapper(vm: &mut Vm, i: c_int, on: bool) -> bool {
    // SAFETY: the link lives as long as the VM.
    let link = unsafe { &*vm.heap.link };
    if !on {
        link.set_wrapper(0);
        return true;
    }
    let address = crate::access::address(index::value(vm, i)).expose_provenance();
    if address != 0 {
        link.set_wrapper(address);
    }
    address != 0
}

/// The profiler function of the VM while the callback is one in C: `(coroutine, samples, state)`. The address of the callback and its data
/// are the upvalues.
fn run_callback(vm: &mut Vm) -> LuaResult<u32> {
    let upvalue = |i: usize| vm.callee().native_upvalues()[i].get().bits();
    let (callback, data) = (upvalue(0) as usize, upvalue(1) as usize);
    let (of, samples, state) = (vm.arg(0), vm.arg(1).as_int().unwrap_or(0), vm.arg(2));
    let state = state.as_str().and_then(|s| s.bytes().first().copied()).unwrap_or(0);
    let Some(of) = of.as_thread().map(Gc::as_ptr) else { return Ok(0) };
    let callback: *const () = core::ptr::with_exposed_provenance(callback);
    let data: *mut c_void = core::ptr::with_exposed_provenance_mut(data);
    // SAFETY: who has started the profiler gave the address of a callback.
    let callback = unsafe { core::mem::transmute::<*const (), ProfileCallback>(callback) };
    // The callback gets other arguments than a function of the C API.
    /// # Safety
    /// `call` is a callback with its arguments.
    unsafe extern "C" fn relay(_: L, call: *const (ProfileCallback, *mut c_void, L, c_int, c_int)) {
        // SAFETY: by the contract.
        unsafe {
            let (callback, data, of, samples, state) = *call;
            callback(data, of, samples, state);
        }
    }
    let call = (callback, data, of, samples, c_int::from(state));
    // SAFETY: a function in C of two arguments; the call lives as long.
    unsafe { call_out(vm, relay as *const () as usize, [(&raw const call).expose_provenance() as u64, 0, 0])? };
    Ok(0)
}

raising! {
    /// `luaJIT_setmode`
    fn luaJIT_setmode(l => vm, i: c_int, mode: c_int) -> c_int { set_mode(vm, i, mode).map(c_int::from) }
    /// `luaJIT_profile_start`
    fn luaJIT_profile_start(l => vm, mode: *const c_char, callback: ProfileCallback, data: *mut c_void) -> () {
        let address = |p: usize| Value::from_bits(p as u64);
        let upvalues = [address(callback as usize), address(data.expose_provenance())];
        let f = Value::func(vm.new_native(run_callback, 1, &upvalues));
        let mode = Value::str(vm.new_str(text(mode)));
        call(vm, "jit.profile.start", &[mode, f]).map(|_| ())
    }
    /// `luaJIT_profile_stop`
    fn luaJIT_profile_stop(l => vm) -> () { call(vm, "jit.profile.stop", &[]).map(|_| ()) }
    /// `luaJIT_profile_dumpstack`
    fn luaJIT_profile_dumpstack(l => vm, format: *const c_char, depth: c_int, len: *mut usize) -> *const c_char {
        let co = vm.cur;
        let dump = perilune_jit::stdlib::stack_text(vm, co, text(format), depth);
        let dump = vm.checked_str(&dump)?;
        // Kept until the next one.
        let registry = vm.realm.registry;
        vm.set_field(registry, DUMP, Value::str(dump));
        Ok(crate::access::give_string(Some(dump), len))
    }
}
