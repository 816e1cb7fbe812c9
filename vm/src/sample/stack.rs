//! The stack of a coroutine as a line of text.

use crate::Vm;
use crate::interp::frames::{Level, name_of_callee};
use crate::object::{Func, Gc, Proto, Thread};

/// A function on a stack.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A Lua function.
    Lua(Gc<Proto>),
    /// A builtin.
    Builtin(Gc<Func>),
}

impl Callee {
    /// Describes a function.
    pub fn of(f: Gc<Func>) -> Callee {
        f.proto().map_or(Callee::Builtin(f), Callee::Lua)
    }
    fn proto(self) -> Option<Gc<Proto>> {
        match self {
            Callee::Lua(p) => Some(p),
            Callee::Builtin(_) => None,
        }
    }
}

/// A frame of a stack at a sample.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StackFrame {
    /// The function.
    pub callee: Callee,
    /// Index of the current instruction of a Lua function.
    pub pc: Option<usize>,
}

/// The frames of `thread` in the given format: the innermost `depth` frames, the innermost first; if `depth` is negative, the innermost
/// `-depth` frames, the outermost first.
///
/// In the format `f` is the name of the function, or else where it is defined; `F` is the same with its module; `l` is the module and the
/// current line. After `p`, modules have their whole path. Text after a `Z` is omitted after the last frame. All other characters are
/// copied.
pub fn dump(vm: &Vm, thread: Gc<Thread>, format: &[u8], depth: i32) -> Vec<u8> {
    // The name of the last function is in its caller.
    let wanted = (depth.unsigned_abs() as usize).saturating_add(1);
    dump_frames(&frames(vm, thread, wanted), format, depth)
}

/// The frames of `thread`, the innermost first; no more than `most`.
pub fn frames(vm: &Vm, thread: Gc<Thread>, most: usize) -> Vec<StackFrame> {
    let levels = core::iter::successors(Level::innermost(vm, thread), |l| l.below()).take(most);
    levels.map(|l| StackFrame { callee: Callee::of(l.func), pc: l.pc }).collect()
}

/// The same for a stack whose frames are known, the innermost first.
pub fn dump_frames(frames: &[StackFrame], format: &[u8], depth: i32) -> Vec<u8> {
    let shown = frames.len().min(depth.unsigned_abs() as usize);
    let mut dump = Dump { out: Vec::new(), whole_path: false, end: None };
    for i in 0..shown {
        let i = if depth < 0 { shown - 1 - i } else { i };
        for &c in format {
            dump.item(frames[i], frames.get(i + 1), c);
        }
    }
    if let Some(end) = dump.end {
        dump.out.truncate(end);
    }
    dump.out
}

struct Dump {
    out: Vec<u8>,
    whole_path: bool,
    /// The position of the last `Z`.
    end: Option<usize>,
}

impl Dump {
    fn item(&mut self, frame: StackFrame, caller: Option<&StackFrame>, c: u8) {
        match c {
            b'p' => self.whole_path = true,
            b'Z' => self.end = Some(self.out.len()),
            b'f' | b'F' => match caller.and_then(|c| name_of_callee(c.callee.proto()?, c.pc?)) {
                Some((_, name)) => {
                    if let Some(p) = frame.callee.proto().filter(|_| c == b'F') {
                        self.module(p);
                        self.out.push(b':');
                    }
                    self.out.extend_from_slice(&name);
                }
                None => self.place(frame.callee, frame.callee.proto().map(|p| p.first_line)),
            },
            b'l' => self.place(frame.callee, frame.callee.proto().and_then(|p| Some(p.line(frame.pc?)))),
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
    fn place(&mut self, callee: Callee, line: Option<u32>) {
        match callee {
            Callee::Lua(p) => {
                self.module(p);
                self.out.extend_from_slice(format!(":{}", line.unwrap_or(p.first_line)).as_bytes());
            }
            Callee::Builtin(f) => self.builtin(f),
        }
    }
    fn builtin(&mut self, f: Gc<Func>) {
        if let Some(name) = crate::stdlib::written_in_lua(f) {
            self.out.extend_from_slice(format!("[builtin:{name}]").as_bytes());
        } else if f.ffid() > 1 {
            self.out.extend_from_slice(format!("[builtin#{}]", f.ffid()).as_bytes());
        } else {
            let address = f.native().map_or(0, |f| f as usize as u64);
            self.out.push(b'@');
            crate::text::format::put_address(&mut self.out, address);
        }
    }
}
