//! Walking the frames of a coroutine: for error positions, tracebacks and the debug library.
#![allow(
    unsafe_code,
    reason = "a link leads from the base of a frame to that of the frame below, down to the lowest of the stack"
)]

use super::errmsg::slot_name;
use super::frame::{self, below, kind, link_of};
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::object::{Func, Gc, Proto, Thread, ThreadStatus};
use crate::value::Value;

/// One running function.
#[derive(Copy, Clone)]
pub struct Level {
    /// The coroutine.
    pub thread: Gc<Thread>,
    /// Its frame.
    pub base: *mut Value,
    /// The function.
    pub func: Gc<Func>,
    /// Index of the current instruction of a Lua function.
    pub pc: Option<usize>,
    /// End of the frame: the next frame's function slot, or the top.
    pub end: *mut Value,
}

/// Address of the lowest base that a frame of a coroutine has.
fn lowest(thread: Gc<Thread>) -> usize {
    thread.stack.get() as usize + 2 * size_of::<Value>()
}

impl Level {
    /// The innermost function of the running coroutine.
    pub fn running(vm: &Vm) -> Option<Level> {
        // SAFETY: the frame of the running function.
        unsafe { Level::make(vm.cur, vm.base, vm.pc, vm.top) }
    }
    /// The innermost function of a coroutine.
    pub fn innermost(vm: &Vm, thread: Gc<Thread>) -> Option<Level> {
        if thread == vm.cur {
            return Level::running(vm);
        }
        if thread.status.get() == ThreadStatus::Fresh {
            return None;
        }
        // SAFETY: a coroutine that has run and does not run now keeps the base of its innermost frame.
        unsafe { Level::make(thread, thread.base.get(), thread.pc.get(), thread.top.get()) }
    }
    /// The function of the frame at `base`, or the nearest below that has one; `pc` is after its current instruction.
    ///
    /// # Safety
    /// `base` is the base of a frame of `thread`, or below its lowest.
    pub(crate) unsafe fn make(thread: Gc<Thread>, base: *mut Value, pc: *const Ins, end: *mut Value) -> Option<Level> {
        if (base as usize) < lowest(thread) {
            return None;
        }
        // SAFETY: `base` is a frame base of this coroutine.
        let v = unsafe { *base.sub(2) };
        // The frame of a value that could not be called has no function.
        // SAFETY: as above.
        let Some(func) = v.as_func() else { return unsafe { Level::under(thread, base) } };
        // `pc` points after the current instruction.
        let pc = func.proto().and_then(|p| p.pc_of(pc.wrapping_sub(1)));
        Some(Level { thread, base, func, pc, end })
    }
    /// The function that called this one.
    pub fn below(&self) -> Option<Level> {
        // SAFETY: the base of a frame.
        unsafe { Level::under(self.thread, self.base) }
    }
    /// The function below the frame at `base`.
    ///
    /// # Safety
    /// As for [`Level::make`].
    pub(crate) unsafe fn under(thread: Gc<Thread>, mut base: *mut Value) -> Option<Level> {
        // SAFETY: links are valid on live frames; the lowest frame ends the walk.
        unsafe {
            loop {
                if base as usize <= lowest(thread) {
                    return None;
                }
                let l = link_of(base);
                let (pc, end): (*const Ins, _) = match kind(l) {
                    frame::LUA => (core::ptr::with_exposed_provenance(l as usize), base.sub(2)),
                    frame::CONT => (core::ptr::with_exposed_provenance((*base.sub(3)).bits() as usize), base.sub(4)),
                    frame::C => (core::ptr::with_exposed_provenance((*base.sub(3)).bits() as usize), base.sub(3)),
                    frame::COR => return None,
                    frame::VARG => {
                        base = below(base);
                        continue;
                    }
                    _ => (core::ptr::null(), base.sub(2)),
                };
                return Level::make(thread, below(base), pc, end);
            }
        }
    }
    /// Is it the frame that stands for the host?
    pub fn is_host(&self) -> bool {
        // SAFETY: the base of a live frame.
        unsafe { link_of(self.base) == frame::link(0, frame::C).bits() }
    }
    /// The current line of the function; 0 if it was stripped, or stands for a function that LuaJIT has in Lua.
    pub fn line(&self) -> Option<u32> {
        match self.func.proto() {
            Some(p) => Some(p.line(self.pc?)),
            None => crate::stdlib::written_in_lua(self.func).map(|_| 0),
        }
    }
    /// "chunk:line: ", or nothing for a function without lines.
    pub fn position(&self) -> Vec<u8> {
        let (Some(p), Some(line)) = (self.func.proto(), self.line()) else { return Vec::new() };
        let mut text = crate::text::chunk::chunk_id(p.chunkname.bytes());
        text.extend_from_slice(format!(":{line}: ").as_bytes());
        text
    }
    /// The kind of name that the function was called by, and the name, according to the caller's instruction. It is wrong for a finalizer
    /// or a hook that ran at that instruction.
    pub fn name(&self) -> Option<(&'static str, Vec<u8>)> {
        let caller = self.below()?;
        name_of_callee(caller.func.proto()?, caller.pc?)
    }
    /// Name and value of local variable `n` (from 1; negative: variable arguments).
    pub fn local(&self, n: i32) -> Option<(Vec<u8>, Value)> {
        let (name, slot) = self.find_local(n)?;
        // SAFETY: the slot is in the frame, or one of its variable arguments.
        Some((name, unsafe { *slot }))
    }
    /// Sets local variable `n`; its name and the address of its slot.
    pub fn set_local(&self, n: i32, v: Value) -> Option<(Vec<u8>, *mut Value)> {
        let (name, slot) = self.find_local(n)?;
        // SAFETY: as in `local`.
        unsafe { *slot = v };
        Some((name, slot))
    }
    /// Name and slot of local variable `n`.
    fn find_local(&self, n: i32) -> Option<(Vec<u8>, *mut Value)> {
        if n < 0 {
            // SAFETY: a vararg function's arguments lie between the frame below and this one.
            unsafe {
                let l = link_of(self.base);
                if kind(l) != frame::VARG {
                    return None;
                }
                let delta = (l >> 3) as usize;
                let p = self.func.proto()?;
                let i = p.num_params() as usize + (-n) as usize - 1;
                if i >= delta - 2 {
                    return None;
                }
                return Some((b"(*vararg)".to_vec(), self.base.sub(delta).add(i)));
            }
        }
        if n == 0 {
            return None;
        }
        let slot = self.base.wrapping_add(n as usize - 1);
        if let (Some(p), Some(pc)) = (self.func.proto(), self.pc)
            && let Some(name) = p.local_name(n as u32 - 1, pc)
        {
            return Some((name.to_vec(), slot));
        }
        if slot < self.end { Some((b"(*temporary)".to_vec(), slot)) } else { None }
    }
}

/// What kind of name the function has that the instruction at `pc` calls, and the name.
pub fn name_of_callee(caller: Gc<Proto>, pc: usize) -> Option<(&'static str, Vec<u8>)> {
    let ins = caller.ins(pc)?;
    match ins.op() {
        Op::CALL | Op::CALLM | Op::CALLT | Op::CALLMT => slot_name(caller, pc, ins.a()),
        Op::ITERC | Op::ITERN => Some(("local", b"(for generator)".to_vec())),
        op => {
            let name = crate::meta::MM::NAMES.get(usize::from(Op::MODES[op as usize] >> 11))?;
            Some(("metamethod", name.as_bytes().to_vec()))
        }
    }
}

/// The function at a level of a coroutine: 0 is the innermost.
pub fn level(vm: &Vm, thread: Gc<Thread>, n: usize) -> Option<Level> {
    let mut l = Level::innermost(vm, thread)?;
    for _ in 0..n {
        l = l.below()?;
    }
    Some(l)
}
