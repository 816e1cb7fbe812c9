//! Modules in C: shared libraries of the system. A state may load them if its host has said so ([`crate::host::HostState::c_function`]).
#![allow(unsafe_code, reason = "the program that allows modules in C answers for what they do")]

use super::shared_object::{Binding, SharedObject};
use crate::Vm;
use crate::bc::dump::{MAGIC, VERSION, flag};
use crate::object::{Func, Gc};
use std::ffi::c_void;

/// How functions that open modules are named, and constants with the bytecode of modules.
const OPENER: &[u8] = b"luaopen_";
const BYTECODE: &[u8] = b"luaJIT_BC_";

/// Why nothing was loaded: the message, and which part failed.
pub(super) struct Failure {
    pub message: Vec<u8>,
    pub part: &'static [u8],
}

/// The library could not be loaded.
const OPEN: &[u8] = b"open";
/// It has no such function.
const INIT: &[u8] = b"init";

impl Failure {
    fn of(part: &'static [u8]) -> impl Fn(Vec<u8>) -> Failure {
        move |message| Failure { message, part }
    }
    /// Is there a library, but no such function in it?
    pub fn is_of_function(&self) -> bool {
        self.part == INIT
    }
}

/// Name of the symbol of a module: what is before a mark does not count, and dots become underscores.
fn symbol_of(prefix: &[u8], module: &[u8]) -> Vec<u8> {
    let name = module.iter().position(|c| *c == b'-').map_or(module, |mark| &module[mark + 1..]);
    prefix.iter().copied().chain(name.iter().map(|c| if *c == b'.' { b'_' } else { *c })).collect()
}

/// The function in C of this name in a library; none if the library was only to be loaded, with the name `*`.
pub(super) fn function(vm: &mut Vm, path: &[u8], name: &[u8]) -> Result<Option<Gc<Func>>, Failure> {
    let only_loads = name.first() == Some(&b'*');
    let library = SharedObject::open(path, Binding::Now, only_loads).map_err(Failure::of(OPEN))?;
    if only_loads {
        return Ok(None);
    }
    let symbol = library.symbol(name).map_err(Failure::of(INIT))?;
    Ok(new_function(vm, symbol))
}

/// The function that opens a module from a library: in C, or in the bytecode that the library has as data.
pub(super) fn opener(vm: &mut Vm, path: &[u8], module: &[u8]) -> Result<Option<Gc<Func>>, Failure> {
    let library = SharedObject::open(path, Binding::Now, false).map_err(Failure::of(OPEN))?;
    let failure = match library.symbol(&symbol_of(OPENER, module)) {
        Ok(symbol) => return Ok(new_function(vm, symbol)),
        Err(message) => Failure::of(INIT)(message),
    };
    let Ok(chunk) = library.symbol(&symbol_of(BYTECODE, module)) else { return Err(failure) };
    // SAFETY: the data of this name is a binary chunk, and libraries are not unloaded.
    unsafe { load_bytecode(vm, chunk, module) }.map(Some)
}

/// The function that opens a module whose bytecode the program has as data; none if it has no such data.
pub(super) fn linked_in(vm: &mut Vm, module: &[u8]) -> Option<Gc<Func>> {
    let chunk = SharedObject::PROGRAM.symbol(&symbol_of(BYTECODE, module)).ok()?;
    // SAFETY: the data of this name is a binary chunk of the program.
    unsafe { load_bytecode(vm, chunk, module) }.ok()
}

/// Bytes of the binary chunk at an address, of which only this is looked at: where its parts end.
///
/// # Safety
/// A binary chunk is there. Of anything else, four bytes may be read.
unsafe fn length_in_memory(start: *const u8) -> usize {
    let mut at = 0;
    let byte = |at: &mut usize| {
        *at += 1;
        // SAFETY: the chunk's end was not reached: what was read before says that more follows.
        unsafe { start.add(*at - 1).read() }
    };
    let number = |at: &mut usize| {
        let (mut n, mut shift) = (0usize, 0);
        loop {
            let b = byte(at);
            n |= usize::from(b & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if b & 0x80 == 0 {
                return n;
            }
        }
    };
    for expected in [MAGIC[0], MAGIC[1], MAGIC[2], VERSION] {
        if byte(&mut at) != expected {
            return at;
        }
    }
    if number(&mut at) as u32 & flag::STRIP == 0 {
        at += number(&mut at);
    }
    loop {
        let prototype = number(&mut at);
        if prototype == 0 {
            return at;
        }
        at += prototype;
    }
}

/// Loads a binary chunk in memory.
///
/// # Safety
/// A binary chunk is there, and stays while the program runs.
unsafe fn load_bytecode(vm: &mut Vm, chunk: *mut c_void, module: &[u8]) -> Result<Gc<Func>, Failure> {
    let start: *const u8 = chunk.cast_const().cast();
    // SAFETY: by the contract; the chunk is as long as it says.
    let bytes = unsafe { core::slice::from_raw_parts(start, length_in_memory(start)) };
    vm.load_chunk(bytes, module, Some(b"b")).map_err(|message| Failure::of(OPEN)(message.bytes().to_vec()))
}

fn new_function(vm: &mut Vm, symbol: *mut c_void) -> Option<Gc<Func>> {
    let native = vm.host.c_function?;
    let f = vm.new_c_function(native, symbol.expose_provenance(), &[]);
    // That of the function that loads it.
    f.env.set(vm.callee().env.get());
    Some(f)
}
