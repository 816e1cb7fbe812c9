//! Tracebacks.

use super::levels;
use crate::Vm;
use crate::object::{Gc, Thread};
use crate::text::chunk::chunk_id;

/// Innermost levels that a long traceback counts, including those before the level that it begins at.
const TOP: usize = 12;
/// Levels shown at its end.
const END: usize = 10;

/// The traceback of a coroutine from a level on, after a message if there is one.
pub fn traceback(vm: &mut Vm, thread: Gc<Thread>, message: Option<&[u8]>, first: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(m) = message {
        out.extend_from_slice(m);
        out.push(b'\n');
    }
    put_levels(vm, &mut out, thread, first, TOP);
    out
}

/// The traceback of all levels, shortened as if it were made by the innermost function.
pub fn host_traceback(vm: &mut Vm, thread: Gc<Thread>) -> Vec<u8> {
    let mut out = Vec::new();
    put_levels(vm, &mut out, thread, 0, TOP - 1);
    out
}

fn put_levels(vm: &mut Vm, out: &mut Vec<u8>, thread: Gc<Thread>, first: usize, top: usize) {
    out.extend_from_slice(b"stack traceback:");
    let end = levels::depth(vm, thread);
    let mut level = first;
    while level < end {
        if level == top && end - level > END + 1 {
            out.extend_from_slice(b"\n\t...");
            level = end - END;
        }
        put_level(vm, out, thread, level);
        level += 1;
    }
}

/// Appends the line of one level.
fn put_level(vm: &mut Vm, out: &mut Vec<u8>, thread: Gc<Thread>, level: usize) {
    let Some(l) = levels::at(vm, thread, level) else { return };
    let name = levels::name(vm, thread, level);
    let proto = l.func.proto();
    let source = match proto {
        Some(p) => chunk_id(p.chunkname.bytes()),
        None if l.func.ffid() > 1 && name.is_none() => format!("[builtin#{}]", l.func.ffid()).into_bytes(),
        None => super::written_in_lua(l.func).map_or_else(|| b"[C]".to_vec(), |n| format!("[builtin:{n}]").into_bytes()),
    };
    out.extend_from_slice(b"\n\t");
    out.extend_from_slice(&source);
    out.push(b':');
    if let Some(line) = l.line.filter(|line| *line > 0) {
        out.extend_from_slice(format!("{line}:").as_bytes());
    }
    match (name, proto) {
        (Some((_, name)), _) => {
            out.extend_from_slice(b" in function '");
            out.extend_from_slice(&name);
            out.push(b'\'');
        }
        (None, Some(p)) if p.is_main() => out.extend_from_slice(b" in main chunk"),
        (None, Some(p)) => {
            out.extend_from_slice(b" in function <");
            out.extend_from_slice(&source);
            out.extend_from_slice(format!(":{}>", p.first_line).as_bytes());
        }
        (None, None) => {
            out.extend_from_slice(b" at ");
            let address = l.func.native().map_or(0, |f| f as usize as u64);
            crate::text::format::put_address(out, address);
        }
    }
}
