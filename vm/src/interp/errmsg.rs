//! Messages of run-time errors: positions, and names of the values that caused them.
#![allow(unsafe_code, reason = "operands of the running instruction are slots of its frame")]

use super::frames::Level;
use crate::Vm;
use crate::bc::{Ins, Op};
use crate::error::{LuaError, LuaResult};
use crate::meta::to_number;
use crate::object::{Gc, Proto};
use crate::value::Value;

/// The name of a value in a function, if it has one: kind and name.
pub fn slot_name(p: Gc<Proto>, pc: usize, slot: usize) -> Option<(&'static str, Vec<u8>)> {
    let mut slot = slot;
    let mut limit = pc;
    'again: loop {
        if let Some(name) = p.local_name(slot as u32, limit)
            && name.first() != Some(&b'(')
        {
            return Some(("local", name.to_vec()));
        }
        let mut i = limit;
        while i > 1 {
            i -= 1;
            let ins = p.ins(i)?;
            let a = ins.a();
            match ins.op() {
                Op::KNIL if a <= slot && slot <= ins.d() => return None,
                Op::CALL | Op::CALLM | Op::ITERC | Op::ITERN | Op::VARG if slot >= a => return None,
                op if writes_a(op) && a == slot => match op {
                    Op::MOV => {
                        if ins.d() < a {
                            slot = ins.d();
                            limit = i;
                            continue 'again;
                        }
                        return None;
                    }
                    Op::GGET => return Some(("global", kstr(p, ins.d())?)),
                    Op::TGETS => {
                        let name = kstr(p, ins.c())?;
                        let next = p.ins(i - 1);
                        let method = next.is_some_and(|n| n.op() == Op::MOV && n.a() == a + 2 && n.d() == ins.b());
                        return Some((if method { "method" } else { "field" }, name));
                    }
                    Op::UGET => return Some(("upvalue", p.uv_names.get(ins.d())?.to_vec())),
                    _ => return None,
                },
                _ => {}
            }
        }
        return None;
    }
}

fn kstr(p: Gc<Proto>, i: usize) -> Option<Vec<u8>> {
    Some(p.kgc(i)?.as_str()?.bytes().to_vec())
}

/// Is A a destination of this instruction?
fn writes_a(op: Op) -> bool {
    Op::MODES[op as usize] & 7 == 1
}

impl Vm {
    /// The running Lua function's prototype, the index of its current instruction, and its base.
    fn running(&self) -> Option<(Gc<Proto>, usize, *mut Value)> {
        let level = Level::running(self)?;
        Some((level.func.proto()?, level.pc?, level.base))
    }
    /// "chunk:line: " of the running function, if it is a Lua function; of the calling one for a builtin called from Lua.
    pub(crate) fn position_prefix(&self) -> Vec<u8> {
        let Some(mut level) = Level::running(self) else { return Vec::new() };
        if !level.func.is_lua() {
            match level.below() {
                Some(l) => level = l,
                None => return Vec::new(),
            }
        }
        level.position()
    }
    pub(crate) fn position_of_caller(&self) -> Vec<u8> {
        self.position_prefix()
    }
    /// Raises an error with a position.
    #[cold]
    pub fn rt_error(&mut self, msg: &str) -> LuaError {
        self.rt_error_bytes(msg.as_bytes())
    }
    /// Raises an error with a position.
    #[cold]
    pub fn rt_error_bytes(&mut self, msg: &[u8]) -> LuaError {
        let mut text = self.position_prefix();
        text.extend_from_slice(msg);
        let s = self.new_str(&text);
        self.throw(Value::str(s))
    }
    /// Refuses what a finalizer must not do: it may run at any allocation.
    pub fn check_not_finalizing(&mut self) -> LuaResult<()> {
        if self.heap.is_finalizing() { Err(self.rt_error("bad action while in __gc metamethod")) } else { Ok(()) }
    }
    /// Raises the error of too deep calls or a too large stack. In the handler of an error, it has no position and no handler.
    #[cold]
    pub(crate) fn overflow_error(&mut self, msg: &str) -> LuaError {
        if self.cur.in_handler.get() {
            return self.handler_overflow(msg);
        }
        let e = self.rt_error(msg);
        self.errors.overflow = self.errors.value;
        e
    }
    /// Raises the error of a handler that has too deep calls or needs a too large stack.
    #[cold]
    pub(crate) fn handler_overflow(&mut self, msg: &str) -> LuaError {
        let e = self.plain_error(msg.as_bytes());
        self.errors.overflow = self.errors.value;
        self.errors.handled = true;
        e
    }
    /// Raises an error of an operation: with a position only if a Lua function executes it, and not a builtin.
    #[cold]
    pub(crate) fn operation_error(&mut self, msg: impl AsRef<[u8]>) -> LuaError {
        let mut text = Level::running(self).filter(|l| l.func.is_lua()).map_or_else(Vec::new, |l| l.position());
        text.extend_from_slice(msg.as_ref());
        self.plain_error(&text)
    }
    /// "bad argument #i to 'f' (msg)"
    #[cold]
    pub fn arg_error(&mut self, arg: usize, msg: &str) -> LuaError {
        self.numbered_arg_error(arg as i64 + 1, msg.as_bytes())
    }
    /// The same for an argument counted from 1, or a number that is none of an argument.
    #[cold]
    pub fn numbered_arg_error(&mut self, arg: i64, msg: &[u8]) -> LuaError {
        let name = Level::running(self).and_then(|l| l.name());
        let mut n = arg;
        let text = match name {
            Some(("method", name)) => {
                n -= 1;
                if n == 0 {
                    [b"calling '", &name[..], b"' on bad self"].concat()
                } else {
                    [format!("bad argument #{n} to '").as_bytes(), &name, b"'"].concat()
                }
            }
            Some((_, name)) => [format!("bad argument #{n} to '").as_bytes(), &name, b"'"].concat(),
            None => format!("bad argument #{n} to '?'").into_bytes(),
        };
        self.rt_error_bytes(&[&text[..], b" (", msg, b")"].concat())
    }
    /// "attempt to WHAT local 'x' (a nil value)": the value is an operand of the current instruction.
    #[cold]
    pub fn operand_error(&mut self, v: Value, what: &str) -> LuaError {
        let name = self.blame(v);
        self.named_error(v, what, name)
    }
    fn named_error(&mut self, v: Value, what: &str, name: Option<(&'static str, Vec<u8>)>) -> LuaError {
        let ty = v.type_name();
        let text = match name {
            Some((kind, name)) => {
                [format!("attempt to {what} {kind} '").as_bytes(), &name, format!("' (a {ty} value)").as_bytes()].concat()
            }
            None => format!("attempt to {what} a {ty} value").into_bytes(),
        };
        self.operation_error(text)
    }
    /// The name of the operand of the current instruction that holds `v`.
    fn blame(&self, v: Value) -> Option<(&'static str, Vec<u8>)> {
        let (p, pc, base) = self.running()?;
        let ins: Ins = p.ins(pc)?;
        let modes = Op::MODES[ins.op() as usize];
        let at = |slot: usize| {
            // SAFETY: operands of the current instruction are slots of its frame.
            unsafe { *base.add(slot) }
        };
        let (a, b, cd) = (modes & 7, modes >> 3 & 15, modes >> 7 & 15);
        if b == 3 && at(ins.b()) == v {
            return slot_name(p, pc, ins.b());
        }
        if cd == 3 {
            let slot = if b != 0 { ins.c() } else { ins.d() };
            if at(slot) == v {
                return slot_name(p, pc, slot);
            }
        }
        if a == 3 && at(ins.a()) == v {
            return slot_name(p, pc, ins.a());
        }
        None
    }
    /// The error of indexing a value that cannot be indexed.
    #[cold]
    pub fn index_error(&mut self, o: Value, _key: Value) -> LuaError {
        if let Some((p, pc, base)) = self.running()
            && let Some(ins) = p.ins(pc)
            && Op::MODES[ins.op() as usize] >> 3 & 15 == 3
        {
            // Only the object operand is named, not an equal key.
            // SAFETY: an operand slot of the current instruction.
            let held = unsafe { *base.add(ins.b()) };
            let name = if held == o { slot_name(p, pc, ins.b()) } else { None };
            return self.named_error(o, "index", name);
        }
        self.operand_error(o, "index")
    }
    /// The error of arithmetic on a value that is not a number.
    #[cold]
    pub fn arith_error(&mut self, a: Value, b: Value) -> LuaError {
        let v = if to_number(a).is_some() { b } else { a };
        self.operand_error(v, "perform arithmetic on")
    }
    /// The error of concatenating a value that is neither string nor number, in `slot` or the next one of the running function.
    #[cold]
    pub fn concat_error(&mut self, a: Value, b: Value, slot: usize) -> LuaError {
        let (v, slot) = if a.is_str() || a.is_number() { (b, slot + 1) } else { (a, slot) };
        let name = self.running().and_then(|(p, pc, _)| slot_name(p, pc, slot));
        self.named_error(v, "concatenate", name)
    }
    /// The error of comparing values that have no order.
    #[cold]
    pub fn compare_error(&mut self, a: Value, b: Value) -> LuaError {
        let (x, y) = (a.type_name(), b.type_name());
        if x == y {
            self.operation_error(format!("attempt to compare two {x} values"))
        } else {
            self.operation_error(format!("attempt to compare {x} with {y}"))
        }
    }
    /// The error of calling a value that is not a function, in slot `func`.
    #[cold]
    pub fn call_error(&mut self, v: Value, func: *mut Value) -> LuaError {
        let mut name = None;
        if let Some((p, pc, base)) = self.running() {
            let slot = (func as usize).wrapping_sub(base as usize) / 8;
            let is_call = p.ins(pc).is_some_and(|i| matches!(i.op(), Op::CALL | Op::CALLM | Op::CALLT | Op::CALLMT));
            if is_call && slot < 256 {
                name = slot_name(p, pc, slot);
            }
        }
        self.named_error(v, "call", name)
    }
}
