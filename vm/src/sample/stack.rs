//! The stack of a coroutine as a line of text.

use crate::Vm;
use crate::interp::frames::Level;
use crate::object::{Gc, Proto, Thread};

/// The frames of `thread` in the given format: of the innermost `depth`, the innermost first; if it is negative, of the innermost
/// `-depth`, the outermost of those first.
///
/// In the format `f` is the name of the function, or else where it is defined; `F` the same with its module; `l` the module and the
/// current line. Behind `p`, modules have their whole path. What follows a `Z` is left out behind the last frame. Anything else
/// stands for itself.
pub fn dump(vm: &Vm, thread: Gc<Thread>, format: &[u8], depth: i32) -> Vec<u8> {
    let mut levels = Vec::new();
    let mut next = Level::innermost(vm, thread);
    while let Some(l) = next.filter(|_| levels.len() < depth.unsigned_abs() as usize) {
        levels.push(l);
        next = l.below(vm);
    }
    if depth < 0 {
        levels.reverse();
    }
    let mut dump = Dump { vm, out: Vec::new(), whole_path: false, end: None };
    for l in &levels {
        for &c in format {
            dump.item(l, c);
        }
    }
    if let Some(end) = dump.end {
        dump.out.truncate(end);
    }
    dump.out
}

struct Dump<'a> {
    vm: &'a Vm,
    out: Vec<u8>,
    whole_path: bool,
    /// Where the last `Z` was.
    end: Option<usize>,
}

impl Dump<'_> {
    fn item(&mut self, l: &Level, c: u8) {
        match c {
            b'p' => self.whole_path = true,
            b'Z' => self.end = Some(self.out.len()),
            b'f' | b'F' => match l.name(self.vm) {
                Some((_, name)) => {
                    if let Some(p) = l.func.proto().filter(|_| c == b'F') {
                        self.module(p);
                        self.out.push(b':');
                    }
                    self.out.extend_from_slice(&name);
                }
                None => self.place(l, l.func.proto().map(|p| p.first_line)),
            },
            b'l' => self.place(l, l.line()),
            c => self.out.push(c),
        }
    }
    /// The module of a function.
    fn module(&mut self, p: Gc<Proto>) {
        match p.chunkname.bytes() {
            [b'=' | b'@', name @ ..] => {
                let base = name.iter().rposition(|c| matches!(c, b'/' | b'\\')).map_or(0, |i| i + 1);
                self.out.extend_from_slice(&name[if self.whole_path { 0 } else { base }..]);
            }
            _ => self.out.extend_from_slice(b"[string]"),
        }
    }
    /// The module of a function, and a line in it.
    fn place(&mut self, l: &Level, line: Option<u32>) {
        if let Some(p) = l.func.proto() {
            self.module(p);
            self.out.extend_from_slice(format!(":{}", line.unwrap_or(p.first_line)).as_bytes());
        } else if let Some(name) = crate::lib::written_in_lua(l.func) {
            self.out.extend_from_slice(format!("[builtin:{name}]").as_bytes());
        } else if l.func.ffid() > 1 {
            self.out.extend_from_slice(format!("[builtin#{}]", l.func.ffid()).as_bytes());
        } else {
            let address = l.func.native().map_or(0, |f| f as usize as u64);
            self.out.push(b'@');
            crate::text::format::put_address(&mut self.out, address);
        }
    }
}
