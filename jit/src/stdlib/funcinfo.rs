//! `jit.util.funcinfo`, `funcbc`, `funck`, `funcuvname`.

use crate::view::names::location;
use perilune_vm::bc::Op;
use perilune_vm::object::{Gc, Proto, ProtoFlags, Table};
use perilune_vm::{LuaResult, Value, Vm};

/// A prototype, or the prototype of a Lua function.
fn proto_of(v: Value) -> Option<Gc<Proto>> {
    v.as_proto().or_else(|| v.as_func().and_then(|f| f.proto()))
}

fn check_proto(vm: &mut Vm) -> LuaResult<Gc<Proto>> {
    match proto_of(vm.arg(0)) {
        Some(p) => Ok(p),
        None => Err(vm.arg_type_error(0, "function")),
    }
}

fn put_int(vm: &mut Vm, t: Gc<Table>, name: &str, n: i64) {
    vm.set_field(t, name.as_bytes(), Value::integer(n));
}

/// `jit.util.funcinfo(f [, pc])`
pub fn funcinfo(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.new_table(0, 4);
    if let Some(p) = proto_of(vm.arg(0)) {
        let pc = vm.opt_int(1, 0)?;
        let inside = usize::try_from(pc).ok().filter(|pc| *pc < p.code_len());
        let line = match inside {
            Some(0) => p.first_line,
            Some(pc) => p.line(pc),
            None => 0,
        };
        put_int(vm, t, "linedefined", i64::from(p.first_line));
        put_int(vm, t, "lastlinedefined", i64::from(p.last_line));
        put_int(vm, t, "stackslots", i64::from(p.framesize()));
        put_int(vm, t, "params", i64::from(p.num_params()));
        put_int(vm, t, "bytecodes", p.code_len() as i64);
        put_int(vm, t, "gcconsts", i64::from(p.num_kgc));
        put_int(vm, t, "nconsts", p.num_knum() as i64);
        put_int(vm, t, "upvalues", p.upvalues.len() as i64);
        if inside.is_some() {
            put_int(vm, t, "currentline", i64::from(line));
        }
        vm.set_field(t, b"isvararg", Value::bool(p.is_vararg()));
        vm.set_field(t, b"children", Value::bool(p.flags.get() & ProtoFlags::CHILD != 0));
        vm.set_field(t, b"source", Value::str(p.chunkname));
        let loc = vm.new_str(&location(p, line));
        vm.set_field(t, b"loc", Value::str(loc));
        vm.set_field(t, b"proto", Value::proto(p));
    } else if let Some(f) = vm.arg(0).as_func() {
        if f.ffid() > 1 {
            put_int(vm, t, "ffid", i64::from(f.ffid()));
        }
        let address = f.native().map_or(0, |n| n as usize);
        vm.set_field(t, b"addr", Value::number(address as f64));
        put_int(vm, t, "upvalues", f.visible_upvalues() as i64);
    } else {
        return Err(vm.arg_type_error(0, "function"));
    }
    vm.ret1(Value::table(t))
}

/// `jit.util.funcbc(f, pc)`
pub fn funcbc(vm: &mut Vm) -> LuaResult<u32> {
    let p = check_proto(vm)?;
    let pc = vm.check_int(1)?;
    let Some(ins) = usize::try_from(pc).ok().and_then(|pc| p.ins(pc)) else { return Ok(0) };
    vm.push(Value::int(ins.0 as i32));
    vm.push(Value::int(i32::from(Op::MODES[ins.op() as usize])));
    Ok(2)
}

/// `jit.util.funck(f, idx)`
pub fn funck(vm: &mut Vm) -> LuaResult<u32> {
    let p = check_proto(vm)?;
    let i = vm.check_int(1)?;
    let k = if i >= 0 { p.knum(i as usize) } else { p.kgc(!i as usize) };
    match k {
        Some(k) => vm.ret1(k),
        None => Ok(0),
    }
}

/// `jit.util.funcuvname(f, i)`
pub fn funcuvname(vm: &mut Vm) -> LuaResult<u32> {
    let p = check_proto(vm)?;
    let i = vm.check_int(1)?;
    match usize::try_from(i).ok().and_then(|i| p.uv_names.get(i)) {
        Some(name) => vm.ret_str(name),
        None => Ok(0),
    }
}
