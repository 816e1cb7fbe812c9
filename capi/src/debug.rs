//! Running functions, their variables, and hooks.
#![allow(unsafe_code, reason = "an activation record was filled by this library, and its function still runs")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index;
use crate::push::{self, text};
use crate::stack::pop;
use crate::state::{L, call_out, enter, shared};
use perilune_vm::interp::frames::Level;
use perilune_vm::interp::hook;
use perilune_vm::object::{Func, Gc, NativeFn};
use perilune_vm::stdlib::Definition;
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{c_char, c_int, c_void};

/// `lua_Hook`
pub type HookFunction = unsafe extern "C" fn(L, *mut Record);

/// Bytes of `short_src`.
const SHORT: usize = 60;

/// `lua_Debug`
#[repr(C)]
pub struct Record {
    event: c_int,
    name: *const c_char,
    kind_of_name: *const c_char,
    what: *const c_char,
    source: *const c_char,
    current_line: c_int,
    upvalues: c_int,
    first_line: c_int,
    last_line: c_int,
    short_source: [c_char; SHORT],
    /// Slots from the start of the stack to the base of the frame.
    frame: c_int,
}
const _: () = assert!(size_of::<Record>() == 120);

impl Record {
    fn new() -> Record {
        let none = core::ptr::null();
        Record {
            event: 0,
            name: none,
            kind_of_name: none,
            what: none,
            source: none,
            current_line: 0,
            upvalues: 0,
            first_line: 0,
            last_line: 0,
            short_source: [0; SHORT],
            frame: 0,
        }
    }
}

/// The number of a frame in a record.
fn frame_number(level: &Level) -> c_int {
    ((level.base as usize - level.thread.stack.get() as usize) / size_of::<Value>()) as c_int
}

/// The running function at a level. The hook in C is not one, only what it was called for.
fn level_at(vm: &mut Vm, n: usize) -> Option<Level> {
    let mut level = Level::running(vm)?;
    if level.func.native().is_some_and(|f| core::ptr::fn_addr_eq(f, run_hook as NativeFn)) {
        level = level.below()?;
    }
    for _ in 0..n {
        level = level.below()?;
    }
    Some(level)
}

/// The position of the function at a level, with a colon after it, for messages.
pub fn position(vm: &mut Vm, n: usize) -> Vec<u8> {
    level_at(vm, n).map_or_else(Vec::new, |l| l.position())
}

/// The running function of a record.
fn level_of(vm: &Vm, frame: c_int) -> Option<Level> {
    let mut level = Level::running(vm);
    while let Some(l) = level {
        if frame_number(&l) == frame {
            return Some(l);
        }
        level = l.below();
    }
    None
}

/// A text that C code may keep: names are few, and stay as long as the state.
fn lasting(vm: &mut Vm, s: &[u8]) -> *const c_char {
    vm.new_fixed_str(s).bytes_with_nul().as_ptr().cast()
}

/// Fills the fields that say where a function was defined.
fn fill_source(vm: &mut Vm, record: &mut Record, f: Gc<Func>) {
    let d = Definition::of(f);
    record.source = match f.proto() {
        // As long as the function lives.
        Some(p) => p.chunkname.bytes_with_nul().as_ptr().cast(),
        None => lasting(vm, &d.source),
    };
    record.short_source = [0; SHORT];
    for (to, from) in record.short_source[..SHORT - 1].iter_mut().zip(&d.short_src) {
        *to = *from as c_char;
    }
    record.what = lasting(vm, d.what.as_bytes());
    (record.first_line, record.last_line) = (d.first_line as c_int, d.last_line as c_int);
}

/// Fills what is asked for. False if something is that does not exist.
fn fill(vm: &mut Vm, record: &mut Record, what: &[u8], f: Gc<Func>, level: Option<&Level>) -> bool {
    let (mut known, mut function, mut lines) = (true, false, false);
    for c in what {
        match c {
            b'S' => fill_source(vm, record, f),
            b'l' => record.current_line = level.and_then(Level::line).map_or(-1, |line| line as c_int),
            b'u' => record.upvalues = f.visible_upvalues() as c_int,
            b'n' => {
                (record.name, record.kind_of_name) = match level.and_then(Level::name) {
                    Some((kind, name)) => (lasting(vm, &name), lasting(vm, kind.as_bytes())),
                    None => (core::ptr::null(), c"".as_ptr()),
                };
            }
            b'f' => function = true,
            b'L' => lines = true,
            _ => known = false,
        }
    }
    if function {
        push::value(vm, Value::func(f));
    }
    if lines {
        let lines = vm.active_lines(f).map_or(Value::NIL, Value::table);
        push::value(vm, lines);
    }
    known
}

/// Makes the function that calls the hook in C at an address, or the one that the program has set before.
fn hook_function(vm: &mut Vm, address: usize) -> Value {
    if address == call_hook_of_program as *const () as usize {
        let registry = vm.realm.registry;
        return vm.field(registry, hook::FUNCTION);
    }
    shared(vm).hook = address;
    Value::func(vm.new_native(run_hook, 1, &[]))
}

/// What `lua_gethook` returns where the program has set the hook. A hook in C may call it.
///
/// # Safety
/// The contract of the crate; the record is that of a hook.
unsafe extern "C" fn call_hook_of_program(l: L, record: *mut Record) {
    const NAMES: [&[u8]; 4] = [b"call", b"return", b"line", b"count"];
    let (event, line) = ((*record).event as usize, (*record).current_line);
    enter(l, |vm| {
        let registry = vm.realm.registry;
        let (f, event) =
            (vm.field(registry, hook::FUNCTION), NAMES.get(event).map_or(Value::NIL, |name| Value::str(vm.new_str(name))));
        for v in [f, event, if line < 0 { Value::NIL } else { Value::int(line) }] {
            push::value(vm, v);
        }
    });
    // An error leaves this function without returning to it: nothing here is to be dropped.
    crate::call::lua_call(l, 2, 0);
}

/// The hook function of the VM while the hook is one in C: `(event, line)`.
fn run_hook(vm: &mut Vm) -> LuaResult<u32> {
    let f = shared(vm).hook;
    if f == 0 {
        return Ok(0);
    }
    let mut record = Record::new();
    record.event = match vm.arg(0).as_str().as_ref().map_or(&b""[..], |s| s.bytes()) {
        b"call" => 0,
        b"return" => 1,
        b"line" => 2,
        _ => 3,
    };
    record.current_line = vm.arg(1).as_int().unwrap_or(-1);
    record.frame = level_at(vm, 0).map_or(0, |l| frame_number(&l));
    // SAFETY: a hook in C, which gets a record that lives during the call.
    unsafe { call_out(vm, f, [(&raw mut record).expose_provenance() as u64, 0, 0])? };
    Ok(0)
}

/// The upvalue of a function: its name and the value.
fn upvalue(f: Gc<Func>, n: c_int) -> Option<(Vec<u8>, Value)> {
    let i = usize::try_from(n).ok()?.checked_sub(1).filter(|i| *i < f.visible_upvalues())?;
    Some(match f.proto() {
        Some(p) => (p.uv_names.get(i).map(|n| n.to_vec()).unwrap_or_default(), f.upvalues()[i].get().get()),
        None => (Vec::new(), f.native_upvalues()[i].get()),
    })
}

/// Pushes a local variable; its name.
fn push_local(vm: &mut Vm, frame: c_int, n: c_int) -> Option<*const c_char> {
    let (name, v) = level_of(vm, frame)?.local(n)?;
    vm.slot_was_seen(v);
    push::value(vm, v);
    Some(lasting(vm, &name))
}

/// Sets a local variable to the topmost value; its name.
fn set_local(vm: &mut Vm, frame: c_int, n: c_int) -> Option<*const c_char> {
    let v = index::value(vm, -1);
    let level = level_of(vm, frame)?;
    let (name, slot) = level.set_local(n, v)?;
    vm.local_was_set(level.thread, slot);
    Some(lasting(vm, &name))
}

plain! {
    /// `lua_getstack`
    fn lua_getstack(l => vm, level: c_int, record: *mut Record) -> c_int {
        let Some(level) = usize::try_from(level).ok().and_then(|n| level_at(vm, n)) else { return 0 };
        (*record).frame = frame_number(&level);
        1
    }
    /// `lua_getinfo`
    fn lua_getinfo(l => vm, what: *const c_char, record: *mut Record) -> c_int {
        let what = text(what);
        if let Some(what) = what.strip_prefix(b">") {
            let f = index::value(vm, -1).as_func();
            pop(vm, 1);
            let Some(f) = f else { return 0 };
            return c_int::from(fill(vm, &mut *record, what, f, None));
        }
        let Some(level) = level_of(vm, (*record).frame) else { return 0 };
        c_int::from(fill(vm, &mut *record, what, level.func, Some(&level)))
    }
    /// `lua_getlocal`
    fn lua_getlocal(l => vm, record: *const Record, n: c_int) -> *const c_char {
        if record.is_null() {
            // The parameters of a function that does not run.
            let f = index::value(vm, -1).as_func();
            let slot = u32::try_from(n).ok().and_then(|n| n.checked_sub(1));
            let name = f.and_then(|f| f.proto()).and_then(|p| Some(p.local_name(slot?, 0)?.to_vec()));
            return name.map_or(core::ptr::null(), |name| lasting(vm, &name));
        }
        push_local(vm, (*record).frame, n).unwrap_or(core::ptr::null())
    }
    /// `lua_setlocal`
    fn lua_setlocal(l => vm, record: *const Record, n: c_int) -> *const c_char {
        let name = set_local(vm, (*record).frame, n);
        pop(vm, 1);
        name.unwrap_or(core::ptr::null())
    }
    /// `lua_getupvalue`
    fn lua_getupvalue(l => vm, i: c_int, n: c_int) -> *const c_char {
        let Some((name, v)) = index::value(vm, i).as_func().and_then(|f| upvalue(f, n)) else { return core::ptr::null() };
        push::value(vm, v);
        lasting(vm, &name)
    }
    /// `lua_setupvalue`
    fn lua_setupvalue(l => vm, i: c_int, n: c_int) -> *const c_char {
        let Some(f) = index::value(vm, i).as_func() else { return core::ptr::null() };
        let Some((name, _)) = upvalue(f, n) else { return core::ptr::null() };
        let v = index::value(vm, -1);
        vm.set_upvalue(f, n as usize - 1, v);
        pop(vm, 1);
        lasting(vm, &name)
    }
    /// `lua_upvalueid`
    fn lua_upvalueid(l => vm, i: c_int, n: c_int) -> *mut c_void {
        let Some(f) = index::value(vm, i).as_func().filter(|f| upvalue(*f, n).is_some()) else { return core::ptr::null_mut() };
        let i = n as usize - 1;
        if f.is_lua() { f.upvalues()[i].get().as_ptr().cast() } else { f.native_upvalues()[i].as_ptr().cast() }
    }
    /// `lua_upvaluejoin`
    fn lua_upvaluejoin(l => vm, i: c_int, n: c_int, j: c_int, m: c_int) {
        let lua_function = |v: Value, n: c_int| v.as_func().filter(|f| f.is_lua() && upvalue(*f, n).is_some());
        let (f, g) = (lua_function(index::value(vm, i), n), lua_function(index::value(vm, j), m));
        if let (Some(f), Some(g)) = (f, g) {
            vm.join_upvalues(f, n as usize - 1, g, m as usize - 1);
        }
    }
    /// `lua_gethook`
    fn lua_gethook(l => vm) -> Option<HookFunction> {
        vm.set_asked_hook();
        match (vm.interp.hook.mask, vm.interp.hook.of_host) {
            (0, _) => None,
            // It was one when it was set.
            (_, true) => core::mem::transmute::<usize, Option<HookFunction>>(shared(vm).hook),
            _ => Some(call_hook_of_program as HookFunction),
        }
    }
    /// `lua_gethookmask`
    fn lua_gethookmask(l => vm) -> c_int {
        vm.set_asked_hook();
        c_int::from(vm.interp.hook.mask)
    }
    /// `lua_gethookcount`
    fn lua_gethookcount(l => vm) -> c_int {
        vm.set_asked_hook();
        vm.interp.hook.count
    }
}

/// `lua_sethook`. Signal handlers and other threads call it, to stop a program: what it sets takes effect before the next instruction.
///
/// # Safety
/// `l` is a coroutine of an open state.
// SAFETY: the name is that of the C API, which nothing else in a program defines.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn lua_sethook(l: L, f: Option<HookFunction>, mask: c_int, count: c_int) -> c_int {
    const EVENTS: u8 = hook::CALL | hook::RETURN | hook::LINE | hook::COUNT;
    let mask = if f.is_some() { mask as u8 & EVENTS } else { 0 };
    let vm = crate::state::vm_of(l);
    (&raw mut (*vm).host.hook_function).write_volatile(Some(hook_function));
    Vm::ask_for_hook(vm, f.map_or(0, |f| f as usize), mask, count.max(0));
    1
}
