//! No step takes long: large tables are traversed in slices, tables that were stored into and stacks again before the atomic phase.

use super::{Rng, pushed_table, scale, vm};
use crate::Vm;
use crate::gc::Phase;
use crate::object::{Gc, Table};
use crate::value::Value;

/// Slots of a table that is traversed in slices also under Miri.
const LARGE: u32 = 6000;

/// A new table with `n` in its slot 1.
fn boxed(vm: &mut Vm, n: i32) -> Value {
    let t = vm.new_table(2, 0);
    vm.table_set_int(t, 1, Value::int(n));
    Value::table(t)
}
fn unboxed(v: Value) -> Option<i32> {
    v.as_table()?.get_int(1).as_int()
}
/// A table with an array and a hash part of this size, filled with tables.
fn filled(vm: &mut Vm, size: u32) -> Gc<Table> {
    let t = pushed_table(vm);
    vm.table_reserve_array(t, size);
    for i in 0..size as i32 {
        let v = boxed(vm, i);
        vm.table_set_int(t, i, v);
        let (key, v) = (vm.new_str(format!("key {i}").as_bytes()), boxed(vm, -i));
        vm.table_set_str(t, key, v);
    }
    t
}
/// Steps of this much work until the phase is `phase`.
fn step_to(vm: &mut Vm, phase: Phase, work: usize) {
    while vm.heap.phase() != phase {
        vm.one_step(work);
    }
}

#[test]
fn a_large_table_is_traversed_in_many_steps_of_bounded_work() {
    let mut vm = vm();
    filled(&mut vm, LARGE);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    let mut steps = 0;
    while vm.heap.phase() == Phase::Propagate {
        assert!(vm.one_step(1) <= 20_000);
        steps += 1;
    }
    // One for each table, and one for each slice.
    assert!(steps >= LARGE * 2);
}

#[test]
fn what_is_stored_into_a_large_table_is_marked_without_traversing_it_again() {
    let mut vm = vm();
    let t = filled(&mut vm, LARGE);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    step_to(&mut vm, Phase::Atomic, 1 << 20);
    let (v, w) = (boxed(&mut vm, 77), boxed(&mut vm, 78));
    let key = boxed(&mut vm, 79);
    vm.table_set_int(t, 100, v);
    assert!(t.hdr.is_black());
    vm.table_set(t, key, w).unwrap();
    assert!(t.hdr.is_black());
    assert!(vm.one_step(1 << 20) < 20_000, "the atomic phase has traversed a large table");
    vm.verify_heap();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!((unboxed(t.get_int(100)), unboxed(t.get(key))), (Some(77), Some(78)));
}

#[test]
fn many_small_tables_are_traversed_again_before_the_atomic_phase() {
    let mut vm = vm();
    let all = filled(&mut vm, LARGE);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    step_to(&mut vm, Phase::Atomic, 1 << 20);
    vm.heap.cycle.phase = Phase::Propagate;
    for i in 0..LARGE as i32 {
        let (small, v) = (all.get_int(i).as_table().unwrap(), boxed(&mut vm, 5));
        vm.table_set_int(small, 1, v);
    }
    step_to(&mut vm, Phase::Atomic, 1000);
    assert!(vm.one_step(1) < 40_000, "the atomic phase has traversed all tables");
    vm.verify_heap();
    vm.full_gc();
    assert!((0..LARGE as i32).all(|i| unboxed(all.get_int(i).as_table().unwrap().get_int(1)) == Some(5)));
}

#[test]
fn what_only_a_stack_refers_to_is_marked_before_the_atomic_phase() {
    let mut vm = vm();
    filled(&mut vm, LARGE);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    let new = filled(&mut vm, 2 * LARGE);
    vm.note_running();
    step_to(&mut vm, Phase::Atomic, 1000);
    assert!(vm.one_step(1) < 40_000, "the atomic phase has traversed what is new");
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(unboxed(new.get_int(LARGE as i32)), Some(LARGE as i32));
}

/// All kinds of changes to a large table between small steps of the collector, compared with a model.
#[test]
fn a_large_table_that_changes_while_it_is_traversed_loses_nothing() {
    let mut vm = vm();
    let mut rng = Rng(0x51ce5);
    let t = filled(&mut vm, LARGE);
    let mut model: std::collections::HashMap<i32, i32> = (0..LARGE as i32).map(|i| (i, i)).collect();
    vm.gc_set_stress(3000);
    let mut next = 0;
    for step in 0..scale(60_000) {
        let n = rng.below(1 << 20) as i32;
        let key = match rng.below(4) {
            // It is appended to, or goes to the hash part, whose entries move.
            0 => {
                next += 1;
                LARGE as i32 + next
            }
            1 => 10 * LARGE as i32 + rng.below(3 * LARGE) as i32,
            _ => rng.below(LARGE) as i32,
        };
        if rng.below(8) == 0 {
            vm.table_set_int(t, key, Value::NIL);
            model.remove(&key);
        } else {
            let v = boxed(&mut vm, n);
            vm.table_set_int(t, key, v);
            model.insert(key, n);
        }
        if rng.below(500) == 0 {
            let hbits = t.num_nodes().ilog2();
            vm.table_resize(t, LARGE / (1 + rng.below(3)), hbits);
        }
        if rng.below(4) == 0 {
            vm.safepoint().unwrap();
        }
        if step % scale(20_000) == 0 {
            vm.verify_heap();
        }
    }
    vm.gc_set_stress(0);
    vm.full_gc();
    vm.verify_heap();
    assert!(model.iter().all(|(k, n)| unboxed(t.get_int(*k)) == Some(*n)));
    let mut key = Value::NIL;
    let mut n = 0;
    while let Some((k, _)) = t.next(key).unwrap() {
        n += usize::from(k.as_int().is_some());
        key = k;
    }
    assert_eq!(n, model.len());
}

#[test]
fn the_intern_table_grows_while_strings_come_and_go() {
    let mut vm = vm();
    let keep = pushed_table(&mut vm);
    let n = scale(20_000) as i32;
    for i in 0..n {
        let s = vm.new_str(format!("string {i}").as_bytes());
        if i % 3 == 0 {
            vm.table_set_int(keep, i / 3, Value::str(s));
        }
        if i % (n / 50) == 0 {
            vm.full_gc();
            vm.verify_heap();
        }
        let old = format!("string {}", i / 6 * 3);
        assert_eq!(vm.new_str(old.as_bytes()), keep.get_int(i / 6).as_str().unwrap());
    }
}

#[test]
fn memory_goes_back_to_the_system_little_by_little() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    for i in 0..scale(200_000) as i32 {
        let v = boxed(&mut vm, i);
        vm.table_set_int(t, i, v);
    }
    let before = vm.heap.cells.blocks.segments();
    vm.top = vm.base;
    vm.full_gc();
    let after = vm.heap.cells.blocks.segments();
    assert!(after <= before / 2 + 2, "{after} of {before} segments are left");
    assert!(cfg!(miri) || before - after > 8, "{before} {after}");
    vm.verify_heap();
}

#[test]
fn stops_are_counted() {
    let mut vm = vm();
    vm.full_gc();
    assert_eq!(vm.heap.pauses().count, 0, "a collection that was asked for counts as a stop");
    for _ in 0..scale(200_000) {
        vm.new_table(4, 0);
        vm.safepoint().unwrap();
    }
    let p = vm.heap.pauses();
    assert!(p.count > 0 && p.total >= p.longest && p.by_length.iter().sum::<u64>() == p.count);
}
