//! `jit.util.traceinfo` and the other functions by which LuaJIT describes traces.

use super::shared::{compiler, trace_id};
use crate::Jit;
use perilune_recorder::ir::{Const, IrRef, Link, Mode, Op, REF_BIAS, SnapSlot, Trace, Ty};
use perilune_vm::helper::Helper;
use perilune_vm::{LuaResult, TraceId, Value, Vm};
use std::rc::Rc;

/// The trace that the first argument names: finished, being recorded, or just aborted.
fn trace(vm: &mut Vm) -> LuaResult<Option<(TraceId, Rc<Trace>)>> {
    let n = trace_id(vm)?;
    let jit = compiler(vm)?;
    Ok(n.and_then(|n| Some((n, jit.trace(n)?))))
}

impl Jit {
    /// Trace `n`: finished, being recorded, or just aborted.
    pub fn trace(&self, n: TraceId) -> Option<Rc<Trace>> {
        if let Some(e) = self.registry.borrow().get(n) {
            return Some(Rc::clone(&e.trace));
        }
        if let Some(r) = &*self.recording.current.borrow()
            && r.number() == n
        {
            return Some(Rc::new(r.trace().clone()));
        }
        self.recording.aborted.borrow().as_ref().filter(|g| g.0 == n).map(|g| Rc::clone(&g.1))
    }
}

/// `jit.util.traceinfo(tr)`
pub fn traceinfo(vm: &mut Vm) -> LuaResult<u32> {
    let Some((n, t)) = trace(vm)? else { return Ok(0) };
    let link = match t.link {
        Link::Root(root) => root.get(),
        Link::Loop | Link::TailRec | Link::UpRec | Link::DownRec => n.get(),
        Link::None | Link::Interp | Link::Return | Link::Stitch => 0,
    };
    let info = vm.new_table(0, 3);
    let numbers = [("nins", t.ins.len() - 1), ("nk", t.consts.len()), ("link", link as usize), ("nexit", t.snaps.len())];
    for (name, v) in numbers {
        vm.set_field(info, name.as_bytes(), Value::int(v as i32));
    }
    let kind = vm.new_str(t.link.name().as_bytes());
    vm.set_field(info, b"linktype", Value::str(kind));
    vm.ret1(Value::table(info))
}

/// The mode word of an instruction, as LuaJIT packs it.
fn mode_word(op: Op) -> i32 {
    let mode = |m: Mode| match m {
        Mode::Ref => 0,
        Mode::Lit => 1,
        Mode::Cst => 2,
        Mode::None => 3,
    };
    let kind = match op.effect() {
        perilune_recorder::ir::Effect::Pure => 0,
        perilune_recorder::ir::Effect::Alloc => 0x20,
        perilune_recorder::ir::Effect::Load => 0x40,
        perilune_recorder::ir::Effect::Store => 0x60,
    };
    mode(op.mode_a()) | mode(op.mode_b()) << 2 | i32::from(op.is_commutative()) << 4 | kind
}

/// `jit.util.traceir(tr, ref)`
pub fn traceir(vm: &mut Vm) -> LuaResult<u32> {
    let Some((_, t)) = trace(vm)? else { return Ok(0) };
    let i = vm.check_int(1)?;
    let Some(ins) = usize::try_from(i).ok().and_then(|i| t.ins.get(i)) else { return Ok(0) };
    let operand = |m: Mode, r: IrRef| {
        if m == Mode::Ref && r != IrRef::NONE { i32::from(r.0) - i32::from(REF_BIAS) } else { i32::from(r.0) }
    };
    let word = i32::from(ins.op as u8) << 8 | i32::from(ins.ty as u8) | i32::from(ins.flags & 0xe0);
    let (a, b) = (operand(ins.op.mode_a(), ins.a), operand(ins.op.mode_b(), ins.b));
    // Registers are not known; LuaJIT's 254 stands for a sunk instruction.
    let place = if ins.is_sunk() { 0xfe } else { 0xff };
    for n in [mode_word(ins.op), word, a, b, place] {
        vm.push(Value::int(n));
    }
    Ok(5)
}

/// The value that stands for a constant.
fn constant(vm: &Vm, t: &Trace, k: Const) -> Value {
    match k {
        Const::Pri(Ty::False) => Value::FALSE,
        Const::Pri(Ty::True) => Value::TRUE,
        Const::Pri(_) => Value::NIL,
        Const::Int(i) => Value::int(i),
        Const::Num(n) => Value::num(f64::from_bits(n)),
        Const::Gc(v) => v,
        Const::Ptr(p) => Value::number(p as f64),
        Const::Word(k, Ty::I64) => Value::number(k as i64 as f64),
        Const::Word(k, _) => Value::number(k as f64),
        Const::Vm(field) => Value::number((core::ptr::from_ref(vm) as usize + field.offset()) as f64),
        Const::Null(_) => Value::int(0),
        Const::Slot(key, _) => t.konst(key).map_or(Value::NIL, |k| constant(vm, t, k)),
    }
}

/// Is a constant the link of a frame in some snapshot?
fn is_link(t: &Trace, k: IrRef) -> bool {
    let frame = |s: &SnapSlot| s.value == k && s.flags & SnapSlot::FRAME != 0;
    matches!(t.konst(k), Some(Const::Ptr(_))) && t.snaps.iter().flat_map(|s| &s.slots).any(frame)
}

/// `jit.util.tracek(tr, ref)`
pub fn tracek(vm: &mut Vm) -> LuaResult<u32> {
    let Some((_, t)) = trace(vm)? else { return Ok(0) };
    let i = vm.check_int(1)?;
    let Some(k) = usize::try_from(-1 - i64::from(i)).ok().and_then(|i| t.consts.get(i).copied()) else { return Ok(0) };
    let v = constant(vm, &t, k);
    vm.push(v);
    if let Const::Slot(key, slot) = k {
        vm.push(Value::int(t.ty(key) as i32));
        vm.push(Value::int(slot as i32));
        return Ok(3);
    }
    // The link of a frame is shown as a link where the type is that of a number.
    let ty = if is_link(&t, IrRef::of_const((-1 - i) as usize)) { Ty::Num } else { k.ty() };
    vm.push(Value::int(ty as i32));
    Ok(2)
}

/// The flags of slots that LuaJIT has as well.
const TOLD: u8 = SnapSlot::FRAME | SnapSlot::CONT | SnapSlot::NORESTORE;

/// `jit.util.tracesnap(tr, sn [, getpos])`
pub fn tracesnap(vm: &mut Vm) -> LuaResult<u32> {
    let Some((n, t)) = trace(vm)? else { return Ok(0) };
    let i = vm.check_int(1)?;
    let Some(snap) = usize::try_from(i).ok().and_then(|i| t.snaps.get(i)) else { return Ok(0) };
    let wants_position = vm.arg(2).truthy();
    let list = vm.new_table(0, 4);
    vm.table_set_int(list, 0, Value::int(snap.at.ins_index() as i32));
    vm.table_set_int(list, 1, Value::int(snap.nslots.index() as i32));
    for (i, s) in snap.slots.iter().enumerate() {
        let word = (s.slot.index() as u32) << 24 | u32::from(s.flags & TOLD) << 16 | u32::from(s.value.0);
        vm.table_set_int(list, i as i32 + 2, Value::int(word as i32));
    }
    vm.table_set_int(list, snap.slots.len() as i32 + 2, Value::int(0xff00_0000_u32 as i32));
    vm.push(Value::table(list));
    if !wants_position {
        return Ok(1);
    }
    // The position has an index only in the prototype that it lies in.
    let pos = compiler(vm)?.registry.borrow().get(n).and_then(|e| e.position_of(snap.pc));
    vm.push(pos.map_or(Value::NIL, |pos| Value::int(pos.index as i32)));
    Ok(2)
}

/// `jit.util.tracemc(tr)`
pub fn tracemc(vm: &mut Vm) -> LuaResult<u32> {
    let n = trace_id(vm)?;
    let jit = compiler(vm)?;
    let code = n.and_then(|n| jit.registry.borrow().get(n).map(|e| (e.code, e.map.text as usize)));
    let Some((code, text)) = code else { return Ok(0) };
    let Some(bytes) = jit.machine.borrow().bytes(code) else { return Ok(0) };
    // The constants after the instructions are left out: they would be disassembled as instructions.
    let text = vm.new_str(&bytes[..text.min(bytes.len())]);
    vm.push(Value::str(text));
    vm.push(Value::number(code.address as f64));
    vm.push(Value::int(code.loop_offset as i32));
    Ok(3)
}

/// `jit.util.traceexitstub(tr, exitno)`: the address of the code of an exit, or of the exit stub for exits without code of their own.
/// Returns nothing if there is only one argument: exits belong to traces.
pub fn traceexitstub(vm: &mut Vm) -> LuaResult<u32> {
    let n = trace_id(vm)?;
    if vm.nargs() < 2 {
        return Ok(0);
    }
    let exit = vm.check_int(1)?;
    let jit = compiler(vm)?;
    let registry = jit.registry.borrow();
    let Some(e) = n.and_then(|n| registry.get(n)) else { return Ok(0) };
    if usize::try_from(exit).map_or(true, |k| k >= e.exits.len()) {
        return Ok(0);
    }
    let address = match e.map.exits.get(exit as usize) {
        Some(&at) if at != 0 => e.code.address + at as usize,
        _ => jit.machine.borrow().exit_stub(),
    };
    vm.ret1(Value::number(address as f64))
}

/// `jit.util.ircalladdr(idx)`
pub fn ircalladdr(vm: &mut Vm) -> LuaResult<u32> {
    let i = vm.check_int(0)?;
    match usize::try_from(i).ok().and_then(|i| Helper::ALL.get(i)) {
        Some(h) => vm.ret1(Value::number(h.address() as f64)),
        None => Ok(0),
    }
}
