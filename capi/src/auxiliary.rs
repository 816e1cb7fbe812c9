//! Modules, metafields, texts, results of system calls, positions and tracebacks.
#![allow(unsafe_code, reason = "texts of C end with a NUL; lists of functions with an empty entry")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::index::{self, GLOBALS};
use crate::memory::collect;
use crate::push::{self, text};
use crate::stack::pop;
use crate::state::{CFunction, L};
use perilune_vm::object::{Gc, Table, hbits_for};
use perilune_vm::stdlib::{LOADED, traceback};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{CStr, c_char, c_int};

/// `luaL_Reg`
#[derive(Debug)]
#[repr(C)]
pub struct Registration {
    name: *const c_char,
    function: Option<CFunction>,
}

/// The functions of a list.
///
/// # Safety
/// The list ends with an entry without a name.
unsafe fn entries(list: *const Registration) -> impl Iterator<Item = (&'static [u8], Option<CFunction>)> {
    let mut at = list;
    core::iter::from_fn(move || {
        // SAFETY: the end of the list was not reached.
        unsafe {
            if at.is_null() || (*at).name.is_null() {
                return None;
            }
            let entry = (text((*at).name), (*at).function);
            at = at.add(1);
            Some(entry)
        }
    })
}

/// A field of the metatable of a value.
pub fn metafield(vm: &mut Vm, v: Value, name: &[u8]) -> Option<Value> {
    let meta = vm.metatable_of(v)?;
    Some(vm.field(meta, name)).filter(|v| !v.is_nil())
}

/// The table at the end of a dotted name, below a table; tables that are missing are made, the last with room for so many fields. The error
/// is the offset of the part of the name that has another value.
fn find_table(vm: &mut Vm, from: Gc<Table>, name: &[u8], size: u32) -> LuaResult<Result<Gc<Table>, usize>> {
    let (mut t, mut offset) = (from, 0);
    let parts: Vec<&[u8]> = name.split(|c| *c == b'.').collect();
    for (i, part) in parts.iter().enumerate() {
        let v = vm.field(t, part);
        let next = if v.is_nil() {
            let fields = if i + 1 < parts.len() { 1 } else { size };
            let new = vm.new_table(0, if fields == 0 { 0 } else { hbits_for(fields) });
            let key = Value::str(vm.new_str(part));
            // By metamethods, as an assignment.
            push::value(vm, Value::table(new));
            vm.set_index(Value::table(t), key, Value::table(new))?;
            pop(vm, 1);
            new
        } else if let Some(next) = v.as_table() {
            next
        } else {
            return Ok(Err(offset));
        };
        t = next;
        offset += part.len() + 1;
    }
    Ok(Ok(t))
}

/// Pushes the table of a module, which is among the loaded ones.
fn push_module(vm: &mut Vm, name: &[u8], size: u32) -> LuaResult<()> {
    let loaded = vm.registry_table(LOADED);
    if let Some(t) = vm.field(loaded, name).as_table() {
        push::value(vm, Value::table(t));
        return Ok(());
    }
    let Some(globals) = index::table(vm, GLOBALS) else { return Ok(()) };
    match find_table(vm, globals, name, size)? {
        Ok(t) => {
            push::value(vm, Value::table(t));
            let key = Value::str(vm.new_str(name));
            vm.set_index(Value::table(loaded), key, Value::table(t))
        }
        Err(_) => Err(vm.rt_error_bytes(&[b"name conflict for module '", name, b"'"].concat())),
    }
}

/// Sets fields of the table below the topmost `n` values to functions with these as upvalues, which are removed.
///
/// # Safety
/// As for [`entries`].
unsafe fn set_functions(vm: &mut Vm, list: *const Registration, n: usize) -> LuaResult<()> {
    vm.reserve(n + 2)?;
    let Some(t) = index::get(vm, -(n as c_int) - 1) else { return Ok(()) };
    // SAFETY: the caller's promise.
    for (name, f) in unsafe { entries(list) } {
        let upvalues = vm.args()[vm.nargs() - n..].to_vec();
        upvalues.into_iter().for_each(|v| vm.push(v));
        let f = match f {
            Some(f) => push::closure(vm, f, n),
            None => {
                pop(vm, n);
                Value::FALSE
            }
        };
        vm.push(f);
        crate::table::set_field(vm, t, name)?;
    }
    pop(vm, n);
    collect(vm);
    Ok(())
}

/// The message of an error number of the system.
fn system_error(number: c_int) -> &'static [u8] {
    // SAFETY: `strerror` returns a text.
    unsafe { CStr::from_ptr(libc::strerror(number)) }.to_bytes()
}

/// Pushes what functions return after a failed system call.
fn push_failure(vm: &mut Vm, number: c_int, name: Option<&[u8]>) -> c_int {
    push::value(vm, Value::NIL);
    let message = match name {
        Some(name) => [name, b": ", system_error(number)].concat(),
        None => system_error(number).to_vec(),
    };
    let message = vm.new_str(&message);
    push::value(vm, Value::str(message));
    push::value(vm, Value::int(number));
    3
}

plain! {
    /// `luaL_getmetafield`
    fn luaL_getmetafield(l => vm, i: c_int, name: *const c_char) -> c_int {
        let v = index::value(vm, i);
        match metafield(vm, v, text(name)) {
            Some(field) => {
                push::value(vm, field);
                1
            }
            None => 0,
        }
    }
    /// `luaL_fileresult`
    fn luaL_fileresult(l => vm, succeeded: c_int, name: *const c_char) -> c_int {
        let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        if succeeded != 0 {
            push::value(vm, Value::TRUE);
            return 1;
        }
        let name = if name.is_null() { None } else { Some(text(name)) };
        push_failure(vm, number, name)
    }
    /// `luaL_execresult`
    fn luaL_execresult(l => vm, status: c_int) -> c_int {
        let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        if status == -1 {
            return push_failure(vm, number, None);
        }
        let (what, code, succeeded) = if libc::WIFSIGNALED(status) {
            (&b"signal"[..], libc::WTERMSIG(status), false)
        } else {
            let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { status };
            (&b"exit"[..], code, code == 0)
        };
        push::value(vm, if succeeded { Value::TRUE } else { Value::NIL });
        let what = vm.new_str(what);
        push::value(vm, Value::str(what));
        push::value(vm, Value::int(code));
        3
    }
}

raising! {
    /// `luaL_findtable`
    fn luaL_findtable(l => vm, i: c_int, name: *const c_char, size: c_int) -> *const c_char {
        let Some(t) = index::table(vm, i) else { return Ok(name) };
        match find_table(vm, t, text(name), size.max(0) as u32)? {
            Ok(t) => {
                push::value(vm, Value::table(t));
                Ok(core::ptr::null())
            }
            Err(offset) => Ok(name.add(offset)),
        }
    }
    /// `luaL_pushmodule`
    fn luaL_pushmodule(l => vm, name: *const c_char, size: c_int) -> () { push_module(vm, text(name), size.max(0) as u32) }
    /// `luaL_setfuncs`
    fn luaL_setfuncs(l => vm, list: *const Registration, n: c_int) -> () { set_functions(vm, list, n.max(0) as usize) }
    /// `luaL_openlib`
    fn luaL_openlib(l => vm, name: *const c_char, list: *const Registration, n: c_int) -> () {
        let n = n.max(0) as usize;
        if !name.is_null() {
            let size = entries(list).count() as u32;
            push_module(vm, text(name), size)?;
            let first = vm.nargs() - 1 - n;
            let module = index::value(vm, -1);
            // The module goes below the upvalues.
            let mut values = vm.args()[first..first + n].to_vec();
            pop(vm, n + 1);
            values.insert(0, module);
            values.into_iter().for_each(|v| vm.push(v));
        }
        if list.is_null() {
            pop(vm, n);
            return Ok(());
        }
        set_functions(vm, list, n)
    }
    /// `luaL_register`
    fn luaL_register(l => vm, name: *const c_char, list: *const Registration) -> () {
        if !name.is_null() {
            let size = entries(list).count() as u32;
            push_module(vm, text(name), size)?;
        }
        set_functions(vm, list, 0)
    }
    /// `luaL_gsub`
    fn luaL_gsub(l => vm, s: *const c_char, what: *const c_char, by: *const c_char) -> *const c_char {
        let (mut rest, what, by) = (text(s), text(what), text(by));
        let mut out = Vec::new();
        while let Some(at) = perilune_vm::text::find_plain(rest, what).filter(|_| !what.is_empty()) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(by);
            rest = &rest[at + what.len()..];
        }
        out.extend_from_slice(rest);
        push::string(vm, &out)
    }
    /// `luaL_where`
    fn luaL_where(l => vm, level: c_int) -> () {
        let position = usize::try_from(level).map_or_else(|_| Vec::new(), |level| crate::debug::position(vm, level));
        push::string(vm, &position).map(|_| ())
    }
    /// `luaL_traceback`
    fn luaL_traceback(l => vm, of: L, message: *const c_char, level: c_int) -> () {
        let message = if message.is_null() { None } else { Some(text(message)) };
        let text = traceback(vm, Gc::from_ptr(of), message, level.max(0) as usize);
        push::string(vm, &text).map(|_| ())
    }
}
