//! The running functions by level, for `error`, `getfenv` and the debug library.
//!
//! Level 0 is the function running now (for the running coroutine: the builtin that is called), level 1 its caller, and so on.

use crate::Vm;
use crate::interp::frames;
use crate::object::{Func, Gc, Thread};
use crate::text::chunk::chunk_id;
use crate::value::Value;

/// One running function.
pub struct Level {
    /// The function.
    pub func: Gc<Func>,
    /// Its current line, if it is a Lua function with lines.
    pub line: Option<u32>,
}

/// "chunk:line: " of the function running at a level; empty if it has no line.
pub fn position(vm: &mut Vm, level: usize) -> Vec<u8> {
    let thread = vm.cur;
    let Some(l) = at(vm, thread, level) else { return Vec::new() };
    match (l.func.proto(), l.line) {
        (Some(p), Some(line)) => {
            let mut text = chunk_id(p.chunkname.bytes());
            text.extend_from_slice(format!(":{line}: ").as_bytes());
            text
        }
        _ => Vec::new(),
    }
}

/// The function running at a level.
pub fn function_at(vm: &mut Vm, level: usize) -> Option<Gc<Func>> {
    let thread = vm.cur;
    at(vm, thread, level).map(|l| l.func)
}

/// The function that runs at a level.
pub fn at(vm: &mut Vm, thread: Gc<Thread>, level: usize) -> Option<Level> {
    let l = frames::level(vm, thread, level)?;
    Some(Level { func: l.func, line: l.line() })
}

/// The kind of name that the function at a level was called by, and the name.
pub fn name(vm: &mut Vm, thread: Gc<Thread>, level: usize) -> Option<(&'static str, Vec<u8>)> {
    frames::level(vm, thread, level)?.name()
}

/// A local variable of the function at a level: name and value. Negative numbers are variable arguments.
pub fn local(vm: &mut Vm, thread: Gc<Thread>, level: usize, n: i32) -> Option<(Vec<u8>, Value)> {
    let (name, v) = frames::level(vm, thread, level)?.local(n)?;
    vm.slot_was_seen(v);
    Some((name, v))
}

/// Sets a local variable of the function at a level; its name.
pub fn set_local(vm: &mut Vm, thread: Gc<Thread>, level: usize, n: i32, v: Value) -> Option<Vec<u8>> {
    let (name, slot) = frames::level(vm, thread, level)?.set_local(n, v)?;
    vm.local_was_set(thread, slot);
    Some(name)
}

impl Vm {
    /// The local variable in a slot was set by other means than an assignment of its function.
    pub fn local_was_set(&mut self, thread: Gc<Thread>, slot: *mut Value) {
        thread.stack_changed();
        // Compiled code that calls a function in C has the local in a register: it is left after the call.
        self.compiled.invalidations = self.compiled.invalidations.wrapping_add(1);
        let captured = thread.open_upvals().find(|uv| uv.v.get() == slot);
        if let Some(uv) = captured {
            self.upvalue_changes(uv);
        }
    }
}

/// Number of levels, in one walk.
pub fn depth(vm: &Vm, thread: Gc<Thread>) -> usize {
    let mut n = 0;
    let mut level = frames::Level::innermost(vm, thread);
    while let Some(l) = level {
        n += 1;
        level = l.below();
    }
    n
}
