//! Functions and positions as people read them.

use crate::stdlib::names;
use perilune_vm::object::{Func, Gc, Proto};

/// The location of a function as people read it: source and line.
pub fn location(p: Gc<Proto>, line: u32) -> Vec<u8> {
    let name = p.chunkname.bytes();
    let at = format!(":{line}");
    match name {
        [b'@', file @ ..] => {
            let from = file.iter().rposition(|c| matches!(c, b'/' | b'\\')).map_or(0, |i| i + 1);
            [&file[from..], at.as_bytes()].concat()
        }
        long if long.len() > 40 => format!("0x{:012x}{at}", p.code_ptr() as usize).into_bytes(),
        [b'=', name @ ..] => [name, at.as_bytes()].concat(),
        text => [b"\"", text, b"\"", at.as_bytes()].concat(),
    }
}

/// The name of a builtin, or the location of a Lua function.
pub fn function_name(f: Gc<Func>) -> String {
    match f.proto() {
        Some(p) => String::from_utf8_lossy(&location(p, p.first_line)).into_owned(),
        None if f.ffid() > 1 => names().nth(f.ffid() as usize).unwrap_or_default().to_owned(),
        None => format!("C:{:x}", f.native().map_or(0, |n| n as usize)),
    }
}
