//! States: how exported functions reach the VM of a coroutine, and the life of a state.
#![allow(
    unsafe_code,
    reason = "a coroutine leads to its VM while the state is open, and no reference to the VM lives while C code runs"
)]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use perilune_vm::abi::call_c;
use perilune_vm::gc::allocator::{Alloc, HostAllocator};
use perilune_vm::interp::co;
use perilune_vm::object::{Gc, Thread};
use perilune_vm::stdlib::Builtin;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_int, c_void};

/// `lua_State *`
pub type L = *mut Thread;
/// `lua_CFunction`
pub type CFunction = unsafe extern "C-unwind" fn(L) -> c_int;

/// What the C API keeps with each VM.
pub struct Shared {
    /// Called before an error that nothing catches ends the process.
    pub panic: Option<CFunction>,
    /// What `lua_getallocf` returns.
    pub alloc: (Option<Alloc>, *mut c_void),
    /// The address of the hook in C, or 0.
    pub hook: usize,
    /// The builtin `coroutine.resume`, among the roots.
    pub resume: u32,
}

/// What the C API keeps with the VM, made if it was not used yet.
pub fn shared(vm: &mut Vm) -> &mut Shared {
    if vm.host.native.is_none() {
        let resume = Value::func(vm.new_native(co::co_resume, Builtin::CoroutineResume.id(), &[]));
        let resume = vm.host.roots.add(resume);
        let alloc: Alloc = crate::memory::allocate;
        vm.host.native = Some(Box::new(Shared { panic: None, alloc: (Some(alloc), core::ptr::null_mut()), hook: 0, resume }));
    }
    match vm.host.native.as_mut().and_then(|n| n.downcast_mut()) {
        Some(shared) => shared,
        None => unreachable!("only this crate stores something there"),
    }
}

/// Calls `f` with the VM, in which the coroutine `l` runs meanwhile.
///
/// # Safety
/// The contract of the crate: `l` is a coroutine of an open state, and C code calls, so that no reference to the VM is in use.
#[inline(always)]
pub unsafe fn enter<T>(l: L, f: impl FnOnce(&mut Vm) -> T) -> T {
    let co = Gc::from_ptr(l);
    let vm = &mut *(*co.link).current.get();
    if vm.cur == co { f(vm) } else { enter_other(vm, co, f) }
}

/// [`enter`] for what may raise an error. The outcome for the C code is made inside, so that the uncommon ways are tail calls.
///
/// # Safety
/// As for [`enter`].
#[inline(always)]
pub unsafe fn enter_for<T, U>(l: L, outcome: impl FnOnce(LuaResult<T>) -> U, body: impl FnOnce(&mut Vm) -> LuaResult<T>) -> U {
    enter(l, |vm| outcome(body(vm)))
}

/// The VM of a state, for code that uses it as C code does.
///
/// # Safety
/// The contract of the crate: `l` is a coroutine of an open state, and code may use the C API for it now.
pub unsafe fn vm_of(l: L) -> *mut Vm {
    (*(*l).link).current.get()
}

#[cold]
#[inline(never)]
fn enter_other<T>(vm: &mut Vm, co: Gc<Thread>, f: impl FnOnce(&mut Vm) -> T) -> T {
    let outer = vm.enter_coroutine(co);
    let result = f(vm);
    vm.leave_coroutine(outer);
    result
}

/// Calls C code with the coroutine that runs as its first argument, and three more. The VM is used by that code meanwhile.
///
/// # Safety
/// There is a function in C at the address that takes no more than these arguments.
#[inline]
pub unsafe fn call_out(vm: &mut Vm, address: usize, arguments: [u64; 3]) -> LuaResult<u64> {
    let co = vm.cur;
    let link = &*co.link;
    let vm: *mut Vm = vm;
    let outer = link.current.replace(vm);
    let [a, b, c] = arguments;
    let outcome = call_c(co.as_ptr(), a, b, c, link.jump.as_ptr(), address);
    link.current.set(outer);
    (*vm).outcome(outcome)
}

/// The builtin behind all functions in C: calls the function at the address in its hidden upvalue.
pub fn run_c_function(vm: &mut Vm) -> LuaResult<u32> {
    let Some(address) = vm.callee().c_address() else { return Ok(0) };
    // SAFETY: who made the function has given the address of one in C, and the link lives as long as the VM.
    let n = unsafe {
        match (*vm.heap.link).wrapper() {
            0 => call_out(vm, address, [0; 3])?,
            wrapper => call_out(vm, wrapper, [address as u64, 0, 0])?,
        }
    } as c_int;
    match u32::try_from(n) {
        Ok(n) => Ok(n),
        // `lua_yield` has left the values alone in the frame.
        Err(_) => co::co_yield(vm),
    }
}

/// A function in C with upvalues.
pub fn c_function(vm: &mut Vm, f: CFunction, upvalues: &[Value]) -> Value {
    let function = vm.new_c_function(run_c_function, f as usize, upvalues);
    function.env.set(crate::index::environment(vm));
    Value::func(function)
}

/// Makes a state without libraries.
fn open(mut vm: Box<Vm>) -> L {
    perilune_jit::install(&mut vm);
    vm.host.c_function = Some(run_c_function);
    perilune_vm::stdlib::io::use_c_stdout();
    vm.allow_cdata();
    let (link, main) = (vm.heap.link, vm.realm.main);
    // The host is no function that tracebacks show.
    // SAFETY: the slot of the host's function.
    unsafe { *vm.base.sub(2) = Value::NIL };
    let vm = Box::into_raw(vm);
    // SAFETY: the heap, and with it the link, lives as long as the VM.
    unsafe { (*link).current.set(vm) };
    main.as_ptr()
}

/// `luaL_newstate`
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub extern "C" fn luaL_newstate() -> L {
    let l = open(Vm::new());
    // SAFETY: a new state.
    unsafe { enter(l, |vm| shared(vm).panic = Some(report_panic)) };
    l
}

/// `lua_newstate`: null if the allocator does not give what a new state needs.
///
/// # Safety
/// The allocator may be called with its data as long as the state lives.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_newstate(f: Option<Alloc>, data: *mut c_void) -> L {
    let vm = match f {
        // SAFETY: the caller's promise.
        Some(function) => unsafe { Vm::with_allocator(HostAllocator { function, data }) },
        None => return core::ptr::null_mut(),
    };
    if vm.heap.is_full() {
        return core::ptr::null_mut();
    }
    let l = open(vm);
    // SAFETY: a new state.
    unsafe { enter(l, |vm| shared(vm).alloc = (f, data)) };
    l
}

/// Says that an error was raised where no call is protected.
pub fn say_unprotected(text: &str) {
    eprintln!("PANIC: unprotected error in call to Lua API ({text})");
}

/// The panic function of `luaL_newstate`.
///
/// # Safety
/// The contract of the crate.
unsafe extern "C-unwind" fn report_panic(l: L) -> c_int {
    let text = enter(l, |vm| {
        let v = crate::index::get(vm, -1);
        v.filter(|v| v.is_str() || v.is_number()).map_or("?".into(), |v| {
            let mut text = Vec::new();
            perilune_vm::stdlib::put_value(&mut text, v);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    say_unprotected(&text);
    0
}

/// `lua_close`
///
/// # Safety
/// The contract of the crate. The state is not used any more.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lua_close(l: L) {
    let link = (*l).link;
    let vm = (*link).current.get();
    // Finalizers may use the state.
    enter(l, |vm| {
        let main = vm.realm.main;
        if vm.cur != main {
            let _ = vm.enter_coroutine(main);
        }
        vm.close();
    });
    drop(Box::from_raw(vm));
}

plain! {
    /// `lua_atpanic`
    fn lua_atpanic(l => vm, f: Option<CFunction>) -> Option<CFunction> {
        core::mem::replace(&mut shared(vm).panic, f)
    }
    /// `lua_newthread`
    fn lua_newthread(l => vm) -> L {
        let co = vm.new_stack();
        crate::push::value(vm, Value::thread(co));
        crate::memory::collect(vm);
        co.as_ptr()
    }
}

/// `lua_version`
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub extern "C" fn lua_version(_: L) -> *const f64 {
    static VERSION: f64 = 501.0;
    &raw const VERSION
}
