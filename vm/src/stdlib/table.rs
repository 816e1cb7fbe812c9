//! The table library, except sorting.

use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::interrupt::Poll;
use crate::object::{Gc, Node, Str, Table};
use crate::text::number::put_num;
use crate::text::{PIECE, put_int};
use crate::value::Value;
use core::cell::Cell;

/// Largest array part that `table.new` makes at once.
const MAX_ARRAY: u32 = 1 << 26;
/// Largest hash part that `table.new` makes at once, in bits.
const MAX_HASH_BITS: u32 = 24;
/// The largest sizes that LuaJIT accepts: more is an error.
const LUAJIT_ARRAY: u32 = 1 << 27;
const LUAJIT_HASH: u32 = 1 << 26;

/// `table.insert(t, [pos,] v)`
pub fn insert(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    vm.check_writable(t)?;
    let end = t.len() as i32 + 1;
    match vm.nargs() {
        2 => {
            let v = vm.arg(1);
            vm.try_table_set_int(t, end, v)?;
        }
        3 => {
            let pos = vm.check_int(1)?;
            let free = shift_up(vm, t, pos, end)?;
            let v = vm.arg(2);
            vm.try_table_set_int(t, free, v)?;
            if free != pos {
                // It stands further back than it should, and nothing is lost.
                return Err(vm.interrupted());
            }
        }
        _ => return Err(vm.rt_error("wrong number of arguments to 'insert'")),
    }
    Ok(0)
}

/// Moves `t[pos]` to `t[end - 1]` up by one, until an interrupt waits. The position that is free then. Values only move inside the table, to
/// where the collector has yet to come if it has not come to them, so no barrier is needed.
fn shift_up(vm: &mut Vm, t: Gc<Table>, pos: i32, end: i32) -> LuaResult<i32> {
    if pos >= 0
        && let Some(slots) = t.array_part().get(pos as usize..=end.max(0) as usize)
    {
        let mut free = slots.len().saturating_sub(1);
        while free > 0 {
            let from = free.saturating_sub(Poll::SLOTS);
            for pair in slots[from..=free].windows(2).rev() {
                pair[1].set(pair[0].get());
            }
            free = from;
            if vm.interrupt_waits().is_some() {
                break;
            }
        }
        return Ok(pos + free as i32);
    }
    for i in (pos..end).rev() {
        let v = t.get_int(i);
        vm.try_table_set_int(t, i + 1, v)?;
        if is_interrupted(vm, i) {
            return Ok(i);
        }
    }
    Ok(pos)
}

/// Moves `t[pos + 1]` to `t[end]` down by one, until an interrupt waits. The position that is free then.
fn shift_down(vm: &mut Vm, t: Gc<Table>, pos: i32, end: i32) -> i32 {
    if let Some(slots) = t.array_part().get(pos as usize..=end as usize) {
        vm.heap.slots_move_down(t, end as usize);
        let mut free = 0;
        while free + 1 < slots.len() {
            let to = (slots.len() - 1).min(free + Poll::SLOTS);
            for pair in slots[free..=to].windows(2) {
                pair[0].set(pair[1].get());
            }
            free = to;
            if vm.interrupt_waits().is_some() {
                break;
            }
        }
        return pos + free as i32;
    }
    for i in pos..end {
        let v = t.get_int(i + 1);
        vm.table_set_int(t, i, v);
        if is_interrupted(vm, i) {
            return i + 1;
        }
    }
    end
}

/// Round `i` of a loop that may take long: looks at interrupts now and then.
#[inline]
fn poll(vm: &mut Vm, i: i32) -> LuaResult<()> {
    if is_interrupted(vm, i) { vm.check_interrupt() } else { Ok(()) }
}

/// The same, where what was begun has to be completed before the error is raised.
#[inline]
fn is_interrupted(vm: &Vm, i: i32) -> bool {
    i & 0xfff == 0 && vm.interrupt_waits().is_some()
}

/// `table.remove(t [, pos])`
pub fn remove(vm: &mut Vm) -> LuaResult<u32> {
    vm.pad_args(1);
    let t = vm.check_table(0)?;
    let len = t.len() as i32;
    let pos = if vm.arg(1).is_nil() { len } else { vm.check_int(1)? };
    if pos < 1 || pos > len {
        return Ok(0);
    }
    vm.check_writable(t)?;
    let old = t.get_int(pos);
    let free = shift_down(vm, t, pos, len);
    if free != len {
        // What was to be removed stays.
        vm.table_set_int(t, free, old);
        return Err(vm.interrupted());
    }
    vm.table_set_int(t, len, Value::NIL);
    vm.ret1(old)
}

/// `table.concat(t [, sep [, i [, j]]])`
pub fn concat(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let sep = vm.opt_str(1)?;
    let first = vm.opt_int(2, 1)?;
    let last = if vm.arg(3).is_nil() { t.len() as i32 } else { vm.check_int(3)? };
    vm.with_buffer(|vm, out| {
        if let Some((texts, size)) = short_texts(&t, first, last, sep.map_or(0, |sep| sep.len())) {
            vm.room(out, size + PIECE)?;
            join(out, texts, sep);
            vm.check_alloc(out.len())?;
            return vm.ret_str(out);
        }
        for i in first..=last {
            poll(vm, i)?;
            let v = t.get_int(i);
            if let Some(s) = v.as_str() {
                vm.put_short(out, s.bytes())?;
            } else if v.is_int() {
                put_int(out, v.as_int_unchecked());
            } else if v.is_num() {
                put_num(out, v.as_num_unchecked());
            } else {
                return Err(bad_element(vm, v, i));
            }
            if i != last
                && let Some(sep) = sep
            {
                vm.put_short(out, sep.bytes())?;
            }
        }
        vm.check_alloc(out.len())?;
        vm.ret_str(out)
    })
}

/// The elements of the array part from `first` to `last`, if all are strings and the result with separators is too short to be interrupted; and
/// its length.
#[inline]
fn short_texts(t: &Table, first: i32, last: i32, sep: usize) -> Option<(&[Cell<Value>], usize)> {
    if first < 1 || last < first {
        return None;
    }
    let texts = t.array_part().get(first as usize..=last as usize).filter(|texts| texts.len() <= Poll::SLOTS)?;
    let mut size = sep.saturating_mul(texts.len() - 1);
    for text in texts {
        size = size.saturating_add(text.get().as_str()?.len());
    }
    if size <= Poll::BYTES { Some((texts, size)) } else { None }
}

/// Makes `out`, which has room for it, the strings with a separator between them.
#[inline]
fn join(out: &mut Vec<u8>, texts: &[Cell<Value>], sep: Option<Gc<Str>>) {
    out.clear();
    for (i, text) in texts.iter().enumerate() {
        if i != 0
            && let Some(sep) = sep
        {
            sep.append_to(out);
        }
        if let Some(text) = text.get().as_str() {
            text.append_to(out);
        }
    }
}

#[cold]
fn bad_element(vm: &mut Vm, v: Value, i: i32) -> LuaError {
    vm.rt_error(&format!("invalid value ({}) at index {i} in table for 'concat'", v.type_name()))
}

/// `table.maxn(t)`: the greatest positive numeric key.
pub fn maxn(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    let mut end = t.array_part().len();
    let mut last = None;
    for part in t.array_part().rchunks(Poll::SLOTS) {
        vm.check_interrupt()?;
        end -= part.len();
        last = part.iter().rposition(|slot| !slot.get().is_nil());
        if last.is_some() {
            break;
        }
    }
    let mut max = (end + last.unwrap_or(0)) as f64;
    for (i, n) in t.nodes().iter().enumerate() {
        if i % Poll::SLOTS == 0 {
            vm.check_interrupt()?;
        }
        if !n.val.get().is_nil()
            && let Some(k) = n.key.get().as_number()
        {
            max = max.max(k);
        }
    }
    vm.ret1(Value::number(max))
}

/// `table.getn(t)`
pub fn getn(vm: &mut Vm) -> LuaResult<u32> {
    vm.pad_args(1);
    let t = vm.check_table(0)?;
    vm.ret1(Value::integer(i64::from(t.len())))
}

/// `table.move(a1, f, e, t [, a2])`: without metamethods, as in LuaJIT.
pub fn move_(vm: &mut Vm) -> LuaResult<u32> {
    vm.pad_args(4);
    let from = vm.check_table(0)?;
    let first = vm.check_int(1)?;
    let last = vm.check_int(2)?;
    let at = vm.check_int(3)?;
    let to = if vm.arg(4).is_nil() { from } else { vm.check_table(4)? };
    vm.check_writable(to)?;
    let place = |i: i32| i.wrapping_sub(first).wrapping_add(at);
    let one = |vm: &mut Vm, i: i32| vm.try_table_set_int(to, place(i), from.get_int(i));
    if at > last || at <= first || to != from {
        let mut i = i64::from(first);
        while i <= i64::from(last) {
            let next = i as i32;
            let (source, target) = slots_to_move((&from, next), (&to, place(next)), last);
            if source.is_empty() {
                one(vm, next)?;
                poll(vm, next)?;
                i += 1;
                continue;
            }
            for (source, target) in source.iter().zip(target) {
                let v = source.get();
                target.set(v);
                vm.barrier_store(to, Value::NIL, v);
            }
            i += source.len() as i64;
            vm.check_interrupt()?;
        }
    } else if last >= first {
        for i in (first..=last).rev() {
            poll(vm, i)?;
            one(vm, i)?;
        }
    }
    vm.ret1(Value::table(to))
}

/// What can be copied at once: slots of the array part of the first table from its index on, up to that of `last`, and as many of the second.
fn slots_to_move<'a>(from: (&'a Table, i32), to: (&'a Table, i32), last: i32) -> (&'a [Cell<Value>], &'a [Cell<Value>]) {
    let part = |(t, at): (&'a Table, i32)| usize::try_from(at).ok().and_then(|at| t.array_part().get(at..)).unwrap_or_default();
    let (source, target) = (part(from), part(to));
    let wanted = usize::try_from(i64::from(last) - i64::from(from.1) + 1).unwrap_or(0);
    let n = wanted.min(Poll::SLOTS).min(source.len()).min(target.len());
    (&source[..n], &target[..n])
}

/// `table.new(narray, nhash)`
pub fn new(vm: &mut Vm) -> LuaResult<u32> {
    // Negative sizes are too large.
    let narray = vm.check_int(0)? as u32;
    let nhash = vm.check_int(1)? as u32;
    if narray > LUAJIT_ARRAY || nhash > LUAJIT_HASH {
        return Err(vm.operation_error("table overflow"));
    }
    // Slot 0 is part of the array.
    let asize = if narray == 0 { 0 } else { narray.min(MAX_ARRAY) + 1 };
    let hbits = crate::object::hbits_for(nhash).min(MAX_HASH_BITS);
    vm.check_alloc(asize as usize * size_of::<Value>() + (size_of::<Node>() << hbits))?;
    let t = vm.try_new_table(asize, hbits)?;
    vm.ret1(Value::table(t))
}

/// `table.clear(t)`
pub fn clear(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    vm.check_writable(t)?;
    vm.table_clear(t);
    Ok(0)
}
