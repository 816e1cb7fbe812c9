//! What LuaJIT does not report: what traces cost, why and how often they are left, and aborts by site.

use super::guards::NO_NAMES;
use super::shared::{compiler, trace_id};
use crate::Jit;
use crate::view::counters;
use crate::view::names::location;
use perilune_vm::bc::Op as Bc;
use perilune_vm::object::{BcPos, Gc, Table};
use perilune_vm::{LuaResult, TraceId, Value, Vm};
use std::rc::Rc;

fn put_number(vm: &mut Vm, t: Gc<Table>, name: &str, n: f64) {
    vm.set_field(t, name.as_bytes(), Value::number(n));
}

fn put_text(vm: &mut Vm, t: Gc<Table>, name: &str, text: &[u8]) {
    let text = Value::str(vm.new_str(text));
    vm.set_field(t, name.as_bytes(), text);
}

/// `jit.util.counters([own])`: counts of what the compiler has done in the process; in this VM alone if `own` is true. See
/// [`crate::view::counters::Counters`].
pub fn counters(vm: &mut Vm) -> LuaResult<u32> {
    let jit = compiler(vm)?;
    jit.settle_exits();
    jit.publish();
    let counts = if vm.arg(0).truthy() { jit.counts() } else { counters::of_process() };
    let t = vm.new_table(0, 5);
    for (name, n) in counts.list() {
        put_number(vm, t, name, n as f64);
    }
    vm.ret1(Value::table(t))
}

/// `jit.util.bytecounts([on])`: with true, counts the bytecodes that are interpreted from now on; with false, does not any more. Returns what was
/// counted before: a table with the number of each, and one with that of each pair which stands one behind the other.
pub fn bytecounts(vm: &mut Vm) -> LuaResult<u32> {
    let on = (vm.nargs() > 0).then(|| vm.arg(0).truthy());
    let (single, both) = (vm.new_table(0, 5), vm.new_table(0, 8));
    vm.push(Value::table(single));
    vm.push(Value::table(both));
    for (name, n) in vm.counted_bytecodes() {
        put_number(vm, single, name, n as f64);
    }
    for (first, second, n) in vm.counted_pairs() {
        put_number(vm, both, &format!("{first} {second}"), n as f64);
    }
    if let Some(on) = on {
        vm.count_bytecodes(on);
    }
    Ok(2)
}

/// `jit.util.tracestats(tr)`: what a trace has cost, and how it is used. Returns nothing if there is no such trace.
pub fn tracestats(vm: &mut Vm) -> LuaResult<u32> {
    let Some((n, jit)) = finished(vm)? else { return Ok(0) };
    jit.settle_exits();
    let registry = jit.registry.borrow();
    let Some(e) = registry.get(n) else { return Ok(0) };
    let t = vm.new_table(0, 4);
    put_number(vm, t, "entries", registry.entries_of(n) as f64);
    let exits = vm.subtable(t, b"exits");
    for (k, x) in e.exits.iter().enumerate() {
        vm.table_set_int(exits, k as i32, Value::number(f64::from(x.taken)));
    }
    let passes = vm.subtable(t, b"passes");
    for (i, p) in e.cost.passes.iter().enumerate() {
        let pass = vm.new_table(0, 2);
        vm.table_set_int(passes, i as i32 + 1, Value::table(pass));
        put_text(vm, pass, "name", p.name.as_bytes());
        put_number(vm, pass, "before", p.before as f64);
        put_number(vm, pass, "after", p.after as f64);
    }
    put_number(vm, t, "instructions", e.trace.executed() as f64);
    put_number(vm, t, "mcode", e.code.size as f64);
    let microseconds = |d: core::time::Duration| d.as_nanos() as f64 / 1000.0;
    put_number(vm, t, "record_us", microseconds(e.cost.record));
    put_number(vm, t, "optimise_us", microseconds(e.cost.optimise));
    put_number(vm, t, "lower_us", microseconds(e.cost.lower));
    put_number(vm, t, "root", f64::from(e.root.get()));
    put_number(vm, t, "sides", f64::from(e.sides));
    vm.ret1(Value::table(t))
}

/// The trace whose number is the first argument, if it is finished.
fn finished(vm: &mut Vm) -> LuaResult<Option<(TraceId, Rc<Jit>)>> {
    let n = trace_id(vm)?;
    let jit = compiler(vm)?;
    let n = n.filter(|n| jit.registry.borrow().get(*n).is_some());
    Ok(n.map(|n| (n, jit)))
}

/// Adds the position of a bytecode instruction to a table.
fn put_position(vm: &mut Vm, t: Gc<Table>, pos: BcPos) {
    let line = pos.line();
    put_text(vm, t, "loc", &location(pos.proto, line));
    put_number(vm, t, "line", f64::from(line));
    put_number(vm, t, "pc", f64::from(pos.index));
    if let Some(ins) = pos.ins() {
        put_text(vm, t, "bytecode", Bc::NAMES[ins.op() as usize].as_bytes());
    }
}

/// `jit.util.exitinfo(tr, exitno)`: the position that an exit resumes at, how often it was taken, and what its guards check. Returns
/// nothing if there is no such exit.
pub fn exitinfo(vm: &mut Vm) -> LuaResult<u32> {
    let found = finished(vm)?;
    let exit = vm.check_int(1)?;
    let Some((n, jit)) = found else { return Ok(0) };
    jit.settle_exits();
    let registry = jit.registry.borrow();
    let Some(e) = registry.get(n) else { return Ok(0) };
    let Some(exit) = usize::try_from(exit).ok().filter(|k| *k < e.exits.len()) else { return Ok(0) };
    let t = vm.new_table(0, 4);
    if let Some(pos) = e.resumes_at(exit) {
        put_position(vm, t, pos);
    }
    put_number(vm, t, "taken", f64::from(e.exits[exit].taken));
    put_number(vm, t, "link", f64::from(e.exits[exit].side.map_or(0, TraceId::get)));
    let list = vm.subtable(t, b"guards");
    let guards = e.guards_at(exit, NO_NAMES);
    for (i, guard) in guards.iter().enumerate() {
        let g = vm.new_table(0, 4);
        vm.table_set_int(list, i as i32 + 1, Value::table(g));
        put_number(vm, g, "ref", guard.index as f64);
        if let Some(pos) = guard.pos {
            put_position(vm, g, pos);
        }
        if let Some(ty) = guard.asks_type {
            put_text(vm, g, "type", ty.as_bytes());
        }
        put_text(vm, g, "condition", guard.condition.as_bytes());
    }
    let all: Vec<&str> = guards.iter().map(|g| &*g.condition).collect();
    put_text(vm, t, "condition", all.join(", and ").as_bytes());
    vm.ret1(Value::table(t))
}

/// `jit.util.aborts()`: reasons and sites of aborts since the last flush, with counts: a list, the most frequent first.
pub fn aborts(vm: &mut Vm) -> LuaResult<u32> {
    let jit = compiler(vm)?;
    let list = vm.new_table(4, 0);
    for (i, (place, count)) in jit.abort_sites().into_iter().enumerate() {
        let t = vm.new_table(0, 3);
        vm.table_set_int(list, i as i32 + 1, Value::table(t));
        put_text(vm, t, "reason", place.reason.as_bytes());
        put_text(vm, t, "loc", place.location.as_bytes());
        put_number(vm, t, "line", f64::from(place.line));
        put_text(vm, t, "bytecode", place.bytecode.as_bytes());
        put_number(vm, t, "count", f64::from(count));
    }
    vm.ret1(Value::table(list))
}
