//! Loading and dumping chunks.
#![allow(unsafe_code, reason = "readers and writers are called as the manual says, and what a reader returns is copied at once")]
#![allow(unsafe_op_in_unsafe_fn, reason = "the contract of the crate covers the bodies of all exported functions")]

use crate::call::{caught, status};
use crate::index;
use crate::memory::collect;
use crate::push::{self, bytes, text};
use crate::state::{L, call_out};
use perilune_vm::object::{Func, Gc, Str};
use perilune_vm::{LuaResult, Value, Vm};
use std::ffi::{OsStr, c_char, c_int, c_void};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

/// `lua_Reader`
pub type Reader = unsafe extern "C" fn(L, *mut c_void, *mut usize) -> *const c_char;
/// `lua_Writer`
pub type Writer = unsafe extern "C" fn(L, *const c_void, usize, *mut c_void) -> c_int;

/// Pushes the function or the message.
fn push_loaded(vm: &mut Vm, loaded: Result<Gc<Func>, Gc<Str>>) -> c_int {
    let (v, result) = match loaded {
        Ok(f) => (Value::func(f), status::OK),
        Err(message) if message == vm.heap.no_memory() => (Value::str(message), status::MEMORY),
        Err(message) => (Value::str(message), status::SYNTAX),
    };
    push::value(vm, v);
    collect(vm);
    result
}

/// Loads a chunk that is there.
fn load(vm: &mut Vm, source: &[u8], name: &[u8], mode: Option<&[u8]>) -> c_int {
    let loaded = vm.load_chunk(source, name, mode);
    push_loaded(vm, loaded)
}

/// A text, or none for null.
///
/// # Safety
/// As for [`text`].
unsafe fn optional<'a>(s: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    if s.is_null() { None } else { Some(unsafe { text(s) }) }
}

/// Loads the pieces that a reader returns.
///
/// # Safety
/// The reader is one.
unsafe fn load_pieces(vm: &mut Vm, reader: Reader, data: *mut c_void, name: &[u8], mode: Option<&[u8]>) -> c_int {
    let mut next = |vm: &mut Vm| -> LuaResult<Option<Gc<Str>>> {
        let mut len = 0usize;
        let arguments = [data.expose_provenance() as u64, (&raw mut len).expose_provenance() as u64, 0];
        // SAFETY: the caller's promise; what the reader returns is copied before it is called again.
        unsafe {
            let piece = call_out(vm, reader as usize, arguments)?;
            let piece: *const c_char = core::ptr::with_exposed_provenance(piece as usize);
            if piece.is_null() || len == 0 {
                return Ok(None);
            }
            vm.checked_str(bytes(piece, len)).map(Some)
        }
    };
    match vm.load_pieces(&mut next, name, mode) {
        Ok(loaded) => push_loaded(vm, loaded),
        Err(_) => caught(vm),
    }
}

/// Loads a file, or standard input.
fn load_file(vm: &mut Vm, name: Option<&[u8]>, mode: Option<&[u8]>) -> c_int {
    let mut source = Vec::new();
    let read = match name {
        Some(name) => match std::fs::File::open(OsStr::from_bytes(name)) {
            Ok(mut file) => file.read_to_end(&mut source).map_err(|e| ("cannot read ", e)),
            Err(e) => Err(("cannot open ", e)),
        },
        None => std::io::stdin().read_to_end(&mut source).map_err(|e| ("cannot read ", e)),
    };
    let Err((what, e)) = read else {
        let chunk_name = name.map_or(b"=stdin".to_vec(), |name| [b"@", name].concat());
        return load(vm, &source, &chunk_name, mode);
    };
    let why = perilune_vm::stdlib::io::error_text(&e);
    let message = [what.as_bytes(), name.unwrap_or(b"stdin"), b": ", why.as_bytes()].concat();
    let message = vm.new_str(&message);
    push::value(vm, Value::str(message));
    status::FILE
}

plain! {
    /// `lua_load`
    fn lua_load(l => vm, reader: Reader, data: *mut c_void, name: *const c_char) -> c_int {
        load_pieces(vm, reader, data, optional(name).unwrap_or(b"?"), None)
    }
    /// `lua_loadx`
    fn lua_loadx(l => vm, reader: Reader, data: *mut c_void, name: *const c_char, mode: *const c_char) -> c_int {
        load_pieces(vm, reader, data, optional(name).unwrap_or(b"?"), optional(mode))
    }
    /// `luaL_loadbuffer`
    fn luaL_loadbuffer(l => vm, s: *const c_char, len: usize, name: *const c_char) -> c_int {
        load(vm, bytes(s, len), optional(name).unwrap_or(b"?"), None)
    }
    /// `luaL_loadbufferx`
    fn luaL_loadbufferx(l => vm, s: *const c_char, len: usize, name: *const c_char, mode: *const c_char) -> c_int {
        load(vm, bytes(s, len), optional(name).unwrap_or(b"?"), optional(mode))
    }
    /// `luaL_loadstring`
    fn luaL_loadstring(l => vm, s: *const c_char) -> c_int { load(vm, text(s), text(s), None) }
    /// `luaL_loadfile`
    fn luaL_loadfile(l => vm, name: *const c_char) -> c_int { load_file(vm, optional(name), None) }
    /// `luaL_loadfilex`
    fn luaL_loadfilex(l => vm, name: *const c_char, mode: *const c_char) -> c_int { load_file(vm, optional(name), optional(mode)) }
}

raising! {
    /// `lua_dump`
    fn lua_dump(l => vm, writer: Writer, data: *mut c_void) -> c_int {
        let Some(chunk) = index::value(vm, -1).as_func().and_then(|f| vm.dump(f, false)) else { return Ok(1) };
        let arguments = [chunk.as_ptr().expose_provenance() as u64, chunk.len() as u64, data.expose_provenance() as u64];
        call_out(vm, writer as usize, arguments).map(|status| status as c_int)
    }
}
