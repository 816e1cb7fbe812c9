//! Tracebacks.

use super::levels;
use crate::Vm;
use crate::object::{Gc, Thread};
use crate::text::chunk::chunk_id;

/// Levels shown at the top of a long traceback.
const TOP: usize = 12;
/// Levels shown at its end.
const END: usize = 10;

/// The traceback of a coroutine from a level on, behind a message if there is one.
pub fn traceback(vm: &mut Vm, thread: Gc<Thread>, message: Option<&[u8]>, first: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(m) = message {
        out.extend_from_slice(m);
        out.push(b'\n');
    }
    out.extend_from_slice(b"stack traceback:");
    let end = levels::depth(vm, thread);
    let mut level = first;
    while level < end {
        if level == TOP && end - level > END {
            out.extend_from_slice(b"\n\t...");
            level = end - END;
        }
        put_level(vm, &mut out, thread, level);
        level += 1;
    }
    out
}

/// Appends the line of one level.
fn put_level(vm: &mut Vm, out: &mut Vec<u8>, thread: Gc<Thread>, level: usize) {
    let Some(l) = levels::at(vm, thread, level) else { return };
    let name = levels::name(vm, thread, level);
    let proto = l.func.proto();
    let source = match proto {
        Some(p) => chunk_id(p.chunkname.bytes()),
        None if l.func.ffid() > 1 && name.is_none() => format!("[builtin#{}]", l.func.ffid()).into_bytes(),
        None => b"[C]".to_vec(),
    };
    out.extend_from_slice(b"\n\t");
    out.extend_from_slice(&source);
    out.push(b':');
    if let Some(line) = l.line {
        out.extend_from_slice(format!("{line}:").as_bytes());
    }
    match (name, proto) {
        (Some((_, name)), _) => {
            out.extend_from_slice(b" in function '");
            out.extend_from_slice(&name);
            out.push(b'\'');
        }
        (None, Some(p)) if p.first_line == 0 => out.extend_from_slice(b" in main chunk"),
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
