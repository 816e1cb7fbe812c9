//! No step takes long: large tables are traversed in slices, tables that were stored into and stacks again before the atomic phase.
#![allow(unsafe_code, reason = "values are put on stacks of coroutines that have room for them")]

use super::{Rng, pushed_table, scale, vm};
use crate::Vm;
use crate::gc::Phase;
use crate::object::{Gc, Table, Thread};
use crate::value::Value;

/// Slots of a table that is traversed in slices also under Miri.
const LARGE: u32 = if cfg!(miri) { 400 } else { 6000 };

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
    vm.note_running();
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
fn arrays_without_references_are_traversed_once() {
    for n in [100, LARGE as i32] {
        let mut vm = vm();
        let t = pushed_table(&mut vm);
        for i in 1..=n {
            vm.table_set_int(t, i, Value::int(i));
        }
        vm.full_gc();
        assert!(t.hdr.is_leaf(), "{n} numbers");
        step_to(&mut vm, Phase::Propagate, 1);
        step_to(&mut vm, Phase::Atomic, 1 << 20);
        assert!(t.hdr.is_black() && vm.heap.cycle.marker.slices.is_empty());
        vm.table_set_int(t, n, Value::num(0.5));
        assert!(t.hdr.is_leaf(), "a number was stored");
        let v = boxed(&mut vm, 77);
        vm.table_set_int(t, n, v);
        assert!(!t.hdr.is_leaf(), "an object was stored");
        vm.verify_heap();
        vm.full_gc();
        vm.verify_heap();
        assert!(!t.hdr.is_leaf() && unboxed(t.get_int(n)) == Some(77));
        vm.table_set_int(t, n, Value::NIL);
        vm.full_gc();
        assert!(t.hdr.is_leaf(), "the object is gone");
        let meta = vm.new_table(0, 0);
        vm.set_table_meta(t, Some(meta));
        vm.full_gc();
        assert!(!t.hdr.is_leaf() && !meta.hdr.is_leaf());
    }
}

#[test]
fn an_array_that_was_half_traversed_may_have_references() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    for i in 1..=LARGE as i32 {
        vm.table_set_int(t, i, Value::int(i));
    }
    let v = boxed(&mut vm, 77);
    vm.table_set_int(t, LARGE as i32, v);
    step_to(&mut vm, Phase::Propagate, 1);
    while vm.heap.cycle.marker.slices.done(t).is_none() {
        vm.one_step(1);
    }
    // Ends the marking, and begins anew.
    vm.full_gc();
    assert!(!t.hdr.is_leaf());
    vm.verify_heap();
    assert_eq!(unboxed(t.get_int(LARGE as i32)), Some(77));
}

#[test]
fn entries_that_move_to_where_the_marker_has_been_are_marked() {
    for (text, new_value) in [
        ("local t = ... table.remove(t, 1)", boxed as fn(&mut Vm, i32) -> Value),
        ("local t = ... table.sort(t)", |vm, i| Value::str(vm.new_str(format!("{:05}", 99_999 - i).as_bytes()))),
    ] {
        let mut vm = vm();
        vm.open_libs();
        let f = Value::func(vm.load_chunk(text.as_bytes(), b"=test", None).unwrap());
        vm.push(f);
        let t = pushed_table(&mut vm);
        for i in 1..=LARGE as i32 {
            let v = new_value(&mut vm, i);
            vm.table_set_int(t, i, v);
        }
        vm.full_gc();
        step_to(&mut vm, Phase::Propagate, 1);
        while vm.heap.cycle.marker.slices.done(t).is_none_or(|done| done < 2) {
            vm.one_step(1);
        }
        let half = vm.heap.cycle.marker.slices.done(t).unwrap();
        assert!(half < LARGE as usize && vm.heap.phase() == Phase::Propagate);
        vm.call1(f, &[Value::table(t)]).map_err(|_| text).unwrap();
        assert!(vm.heap.cycle.marker.slices.done(t).is_some(), "{text}: it is still being traversed");
        vm.verify_heap();
        vm.full_gc();
        vm.verify_heap();
        let all = (1..=t.len() as i32).map(|i| t.get_int(i));
        assert!(all.clone().all(|v| v.is_str() || unboxed(v).is_some()), "{text}");
    }
}

#[test]
fn large_tables_wait_gray_for_one_another() {
    const TABLES: i32 = 5;
    let mut vm = vm();
    let all = pushed_table(&mut vm);
    let list: Vec<Gc<Table>> = (1..=TABLES)
        .map(|i| {
            let t = vm.new_table(0, 0);
            vm.table_set_int(all, i, Value::table(t));
            for k in 1..=LARGE as i32 {
                vm.table_set_int(t, k, Value::int(k));
            }
            // A table of numbers alone is not traversed again.
            let v = boxed(&mut vm, i);
            vm.table_set_int(t, LARGE as i32, v);
            t
        })
        .collect();
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    let begun = |vm: &Vm| list.iter().filter(|t| vm.heap.cycle.marker.slices.done(**t).is_some()).count();
    let (mut seen, mut stored) = (0, 0);
    while vm.heap.phase() == Phase::Propagate {
        // What is stored into one that waits is reached by the traversal, what is stored into the others by the barrier.
        if begun(&vm) > 0 && stored < 3 {
            stored += 1;
            for t in &list {
                let v = boxed(&mut vm, 7);
                vm.table_set_int(*t, stored, v);
            }
        }
        assert!(begun(&vm) <= 1, "a lookup of the tables being traversed takes as long as there are many");
        seen += begun(&vm) as i32;
        vm.one_step(1);
    }
    assert!(seen > TABLES, "they were traversed in slices");
    vm.verify_heap();
    vm.full_gc();
    vm.verify_heap();
    assert!(list.iter().all(|t| unboxed(t.get_int(1)) == Some(7)));
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

/// Many suspended coroutines, each with a table on its stack, in a table that the stack keeps.
fn coroutines(vm: &mut Vm, n: i32) -> Vec<Gc<Thread>> {
    let keep = pushed_table(vm);
    let all = (0..n).map(|i| {
        let co = vm.new_stack();
        vm.table_set_int(keep, i, Value::thread(co));
        let v = boxed(vm, i);
        put(co, v);
        co
    });
    all.collect()
}
/// Puts a value on top of the stack of a coroutine that does not run, which then has this value only.
fn put(co: Gc<Thread>, v: Value) {
    co.top.set(co.base.get().wrapping_add(1));
    // SAFETY: a new stack has room for many values.
    unsafe { *co.base.get() = v };
}
fn top_of(co: Gc<Thread>) -> Option<i32> {
    // SAFETY: `put` has put a value there.
    unboxed(unsafe { *co.base.get() })
}

#[test]
fn only_stacks_that_have_changed_are_visited_in_the_atomic_phase() {
    let mut vm = vm();
    let all = coroutines(&mut vm, scale(20_000) as i32);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    step_to(&mut vm, Phase::Atomic, 1000);
    for co in all.iter().step_by(all.len() / 10) {
        // It runs, and waits again.
        let outer = vm.enter_coroutine(*co);
        vm.leave_coroutine(outer);
        let v = boxed(&mut vm, -77);
        put(*co, v);
    }
    vm.verify_heap();
    assert!(vm.one_step(1) < 40_000 + all.len() * 20, "the atomic phase has visited all stacks");
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(all.iter().filter(|co| top_of(**co) == Some(-77)).count(), 10);
    assert!(all.iter().all(|co| top_of(*co).is_some()));
}

#[test]
fn coroutines_that_run_while_stacks_are_marked_are_visited_again_before_the_atomic_phase() {
    let mut vm = vm();
    let all = coroutines(&mut vm, scale(20_000) as i32);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    while vm.heap.cycle.marker.stacks.marked().count() < all.len() {
        vm.one_step(1);
    }
    for co in &all {
        let outer = vm.enter_coroutine(*co);
        vm.leave_coroutine(outer);
        let v = boxed(&mut vm, 78);
        put(*co, v);
    }
    step_to(&mut vm, Phase::Atomic, 1000);
    vm.verify_heap();
    assert!(vm.one_step(1) < 40_000 + all.len() * 20, "the atomic phase has visited all stacks");
    vm.full_gc();
    vm.verify_heap();
    assert!(all.iter().all(|co| top_of(*co) == Some(78)));
}

#[test]
fn a_variable_on_a_marked_stack_that_a_closure_changes_is_marked() {
    let mut vm = vm();
    let co = coroutines(&mut vm, 1)[0];
    // SAFETY: the slot below the top; the upvalue is closed below.
    let uv = unsafe { vm.find_upval(co, co.base.get()) };
    vm.host.roots.add(Value::upval(uv));
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    step_to(&mut vm, Phase::Atomic, 1000);
    let v = boxed(&mut vm, 79);
    uv.set(v);
    vm.verify_heap();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(top_of(co), Some(79));
    vm.close_upvals_of(co, co.base.get());
    assert_eq!(unboxed(uv.get()), Some(79));
}

#[test]
fn a_dead_open_upvalue_is_used_again_until_it_leaves_the_list() {
    let mut vm = vm();
    let co = coroutines(&mut vm, 1)[0];
    // SAFETY: the slot below the top; the upvalue is closed below.
    let uv = unsafe { vm.find_upval(co, co.base.get()) };
    step_to(&mut vm, Phase::Pause, 1 << 20);
    step_to(&mut vm, Phase::Settle, 1 << 20);
    assert!(vm.heap.is_dead(&uv.hdr));
    // SAFETY: as above.
    let again = unsafe { vm.find_upval(co, co.base.get()) };
    vm.host.roots.add(Value::upval(again));
    vm.verify_heap();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(co.open_upvals().collect::<Vec<_>>(), [again]);
    vm.close_upvals_of(co, co.base.get());
    assert_eq!(unboxed(again.get()), Some(0));
}

/// A step of the collector pays for a third of what the program changes meanwhile.
#[test]
fn a_program_that_stores_faster_than_the_collector_marks_leaves_little_to_the_atomic_phase() {
    let mut vm = vm();
    let mut rng = Rng(0xfa57);
    let n = if cfg!(miri) { LARGE } else { 40_000 };
    let all = filled(&mut vm, n);
    vm.full_gc();
    step_to(&mut vm, Phase::Propagate, 1);
    while vm.heap.phase() == Phase::Propagate {
        for _ in 0..20 {
            let i = rng.below(n) as i32;
            let (small, v) = (all.get_int(i).as_table().unwrap(), boxed(&mut vm, i));
            vm.table_set_int(small, 1, v);
        }
        vm.one_step(1000);
    }
    vm.verify_heap();
    assert!(vm.one_step(1) < 1_000_000, "the atomic phase has traversed most tables");
    vm.full_gc();
    vm.verify_heap();
    let unboxed_twice = |i| unboxed(all.get_int(i)).or_else(|| unboxed(all.get_int(i).as_table()?.get_int(1)));
    assert!((0..n as i32).all(|i| unboxed_twice(i) == Some(i)));
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
    let steps = if cfg!(miri) { 600 } else { 60_000 };
    for step in 0..steps {
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
        if step % (steps / 3) == 0 {
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
fn chains_of_the_intern_table_are_split_when_strings_are_looked_up() {
    let mut vm = vm();
    let mut n = 0;
    while !vm.heap.strings.is_splitting() {
        n += 1;
        vm.new_str(format!("string {n}").as_bytes());
    }
    let count = vm.heap.strings.count();
    let first = vm.new_str(b"string 1");
    for _ in 0..count {
        assert_eq!(vm.new_str(b"string 1"), first);
    }
    assert!(!vm.heap.strings.is_splitting(), "a table that gets no more strings stays between two sizes");
    assert_eq!(vm.heap.strings.count(), count);
    vm.verify_heap();
}

#[test]
fn memory_goes_back_to_the_system_little_by_little() {
    let mut vm = vm();
    let empty = vm.heap.cells.blocks.segments();
    let t = pushed_table(&mut vm);
    for i in 0..scale(200_000) as i32 {
        let v = boxed(&mut vm, i);
        vm.table_set_int(t, i, v);
    }
    let before = vm.heap.cells.blocks.segments();
    vm.top = vm.base;
    vm.full_gc();
    let after = vm.heap.cells.blocks.segments();
    assert!(after - empty <= (before - empty) / 2 + 2, "{after} of {before} segments are left, {empty} were there before");
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
