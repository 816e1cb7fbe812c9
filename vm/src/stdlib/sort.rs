//! `table.sort`: quicksort with the same comparisons as Lua's, so that equal elements end up in the same order.
//!
//! Arrays of numbers or of strings, where the order of equal elements is not visible, are sorted by Rust's standard library.

use crate::Vm;
use crate::error::{LuaError, LuaResult};
use crate::object::{Gc, Table};
use crate::value::Value;
use core::cell::Cell;
use core::cmp::Ordering;

/// `table.sort(t [, less])`
pub fn sort(vm: &mut Vm) -> LuaResult<u32> {
    let t = vm.check_table(0)?;
    vm.check_writable(t)?;
    let n = t.len() as i32;
    let by_function = !vm.arg(1).is_nil();
    if by_function {
        vm.check_func(1)?;
    } else if sort_plain(vm, t, n as usize)? {
        return Ok(0);
    }
    // Slots for the table, the function, and the values that the sort uses while Lua code runs.
    vm.set_nargs(SLOTS);
    let mut sorter = Sorter { vm, t, by_function };
    sorter.run(1, n)?;
    Ok(0)
}

/// Elements that are sorted between two looks at interrupts: in about a millisecond.
const RUN: usize = 1 << 14;

/// Sorts elements that are all numbers (none of them a NaN) or all strings. False if they are not.
fn sort_plain(vm: &mut Vm, t: Gc<Table>, n: usize) -> LuaResult<bool> {
    let Some(slots) = t.array_part().get(1..=n) else { return Ok(false) };
    let Some(first) = slots.first() else { return Ok(true) };
    if first.get().is_number() {
        let ordinary = |v: Value| v.is_int() || (v.is_num() && !v.as_num_unchecked().is_nan());
        if !slots.iter().all(|s| ordinary(s.get())) {
            return Ok(false);
        }
        let key = |v: Value| v.as_number().unwrap_or(0.0);
        sort_slots(vm, slots, |a, b| key(a).total_cmp(&key(b)))?;
        return Ok(true);
    }
    if !slots.iter().all(|s| s.get().is_str()) {
        return Ok(false);
    }
    vm.heap.entries_moved(t);
    sort_slots(vm, slots, |a, b| match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => crate::text::compare(a.bytes(), b.bytes()),
        _ => Ordering::Equal,
    })?;
    Ok(true)
}

/// Sorts slots of a table. The values stay the same, so no barrier is needed, if the marker comes to them again. Many are sorted in runs that are then merged,
/// from the copy to the slots and back, if the program may be interrupted: then slots may have values twice and lack others.
fn sort_slots(vm: &mut Vm, slots: &[Cell<Value>], order: impl Fn(Value, Value) -> Ordering) -> LuaResult<()> {
    let mut values: Vec<Value> = slots.iter().map(Cell::get).collect();
    let run = if vm.is_interruptible() { RUN } else { usize::MAX };
    for part in values.chunks_mut(run) {
        part.sort_unstable_by(|a, b| order(*a, *b));
        vm.check_interrupt()?;
    }
    let copy = Cell::from_mut(&mut values[..]).as_slice_of_cells();
    let (mut from, mut to) = (copy, slots);
    let mut sorted = run;
    while sorted < slots.len() {
        for (from, to) in from.chunks(2 * sorted).zip(to.chunks(2 * sorted)) {
            merge(vm, from.split_at(sorted.min(from.len())), to, &order)?;
        }
        (from, to) = (to, from);
        sorted *= 2;
    }
    for (slot, v) in slots.iter().zip(from) {
        slot.set(v.get());
    }
    Ok(())
}

/// Merges two sorted runs.
fn merge(
    vm: &mut Vm,
    (mut a, mut b): (&[Cell<Value>], &[Cell<Value>]),
    to: &[Cell<Value>],
    order: impl Fn(Value, Value) -> Ordering,
) -> LuaResult<()> {
    for to in to.chunks(RUN) {
        for slot in to {
            let first = match (a.first(), b.first()) {
                (Some(x), Some(y)) if order(x.get(), y.get()).is_gt() => &mut b,
                (Some(_), _) => &mut a,
                (None, _) => &mut b,
            };
            if let Some((v, rest)) = first.split_first() {
                slot.set(v.get());
                *first = rest;
            }
        }
        vm.check_interrupt()?;
    }
    Ok(())
}

/// Argument slot of the pivot.
const PIVOT: usize = 2;
/// Argument slot of the element from the left.
const LEFT: usize = 3;
/// Argument slot of the element from the right.
const RIGHT: usize = 4;
/// Number of argument slots.
const SLOTS: usize = 5;

struct Sorter<'a> {
    vm: &'a mut Vm,
    t: Gc<Table>,
    by_function: bool,
}

impl Sorter<'_> {
    #[inline]
    fn get(&self, i: i32) -> Value {
        self.t.get_int(i)
    }
    #[inline]
    fn set(&mut self, i: i32, v: Value) {
        self.vm.table_set_int(self.t, i, v);
    }
    /// Loads an element into a slot.
    #[inline]
    fn load(&mut self, slot: usize, i: i32) {
        let v = self.get(i);
        self.vm.set_arg(slot, v);
    }
    /// Is the value in slot `a` less than that in slot `b`?
    #[inline]
    fn less(&mut self, a: usize, b: usize) -> LuaResult<bool> {
        let (a, b) = (self.vm.arg(a), self.vm.arg(b));
        if self.by_function {
            let f = self.vm.arg(1);
            return Ok(self.vm.call1(f, &[a, b])?.truthy());
        }
        self.vm.check_interrupt()?;
        self.vm.less_than(a, b)
    }
    /// Puts `t[i]` and `t[j]`, `i < j`, in order. `LEFT` and `RIGHT` are free.
    fn order(&mut self, i: i32, j: i32) -> LuaResult<()> {
        self.load(LEFT, i);
        self.load(RIGHT, j);
        if self.less(RIGHT, LEFT)? {
            self.swap_loaded(i, j);
        }
        Ok(())
    }
    /// Stores the element from the left at `j` and that from the right at `i`.
    #[inline]
    fn swap_loaded(&mut self, i: i32, j: i32) {
        let (left, right) = (self.vm.arg(LEFT), self.vm.arg(RIGHT));
        self.set(i, right);
        self.set(j, left);
    }
    fn swap(&mut self, i: i32, j: i32) {
        let (a, b) = (self.get(i), self.get(j));
        self.set(i, b);
        self.set(j, a);
    }
    /// Sorts `t[l]` to `t[u]`; recurses into the smaller part.
    fn run(&mut self, mut l: i32, mut u: i32) -> LuaResult<()> {
        while l < u {
            self.order(l, u)?;
            if u - l == 1 {
                return Ok(());
            }
            let m = i32::midpoint(l, u);
            // Compares the middle element with both ends.
            self.load(LEFT, l);
            self.load(RIGHT, m);
            if self.less(RIGHT, LEFT)? {
                self.swap_loaded(l, m);
            } else {
                self.order(m, u)?;
            }
            if u - l == 2 {
                return Ok(());
            }
            let i = self.partition(l, u, m)?;
            if i - l < u - i {
                self.run(l, i - 1)?;
                l = i + 1;
            } else {
                self.run(i + 1, u)?;
                u = i - 1;
            }
        }
        Ok(())
    }
    /// Partitions around the element at `m`; returns its final index.
    fn partition(&mut self, l: i32, u: i32, m: i32) -> LuaResult<i32> {
        self.load(PIVOT, m);
        self.swap(m, u - 1);
        let (mut i, mut j) = (l, u - 1);
        loop {
            i += 1;
            self.load(LEFT, i);
            while self.less(LEFT, PIVOT)? {
                if i >= u {
                    return Err(self.invalid());
                }
                i += 1;
                self.load(LEFT, i);
            }
            j -= 1;
            self.load(RIGHT, j);
            while self.less(PIVOT, RIGHT)? {
                if j <= l {
                    return Err(self.invalid());
                }
                j -= 1;
                self.load(RIGHT, j);
            }
            if j < i {
                break;
            }
            self.swap_loaded(i, j);
        }
        self.swap(u - 1, i);
        Ok(i)
    }
    #[cold]
    fn invalid(&mut self) -> LuaError {
        self.vm.rt_error("invalid order function for sorting")
    }
}
