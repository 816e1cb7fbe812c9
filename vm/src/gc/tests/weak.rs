//! Tests of weak tables and finalizers.

use super::{count, pushed_table, scale, vm};
use crate::Vm;
use crate::gc::Phase;
use crate::interrupt::Cause;
use crate::object::{Func, Gc, Kind, Table};
use crate::value::Value;
use std::cell::RefCell;
use std::rc::Rc;

fn meta_with(vm: &mut Vm, field: &str, v: Value) -> Gc<Table> {
    let m = vm.new_table(0, 0);
    let k = vm.new_str(field.as_bytes());
    vm.table_set_str(m, k, v);
    m
}

/// Steps until the phase is `phase`.
fn step_to(vm: &mut Vm, phase: Phase) {
    vm.note_running();
    while vm.heap.phase() != phase {
        vm.one_step(1 << 20);
    }
}

fn weak_table(vm: &mut Vm, mode: &str) -> Gc<Table> {
    let t = pushed_table(vm);
    let s = vm.new_str(mode.as_bytes());
    let m = meta_with(vm, "__mode", Value::str(s));
    t.meta.set(Some(m));
    t
}

#[test]
fn weak_values_go_and_strings_stay() {
    let mut vm = vm();
    let t = weak_table(&mut vm, "v");
    let kept = pushed_table(&mut vm);
    for i in 1..=3 {
        let gone = vm.new_table(0, 0);
        vm.table_set_int(t, i, Value::table(gone));
    }
    vm.table_set_int(t, 2, Value::table(kept));
    let name = vm.new_str(b"name");
    let text = vm.new_str(b"text");
    vm.table_set_str(t, name, Value::str(text));
    let other = vm.new_str(b"other");
    let gone = vm.new_table(0, 0);
    vm.table_set_str(t, other, Value::table(gone));
    vm.full_gc();
    vm.verify_heap();
    let name = vm.new_str(b"name");
    let other = vm.new_str(b"other");
    assert!(t.get_int(1).is_nil() && t.get_int(3).is_nil() && t.get_str(other).is_nil());
    assert_eq!(t.get_int(2), Value::table(kept));
    assert_eq!(t.get_str(name).as_str().unwrap().bytes(), b"text");
}

#[test]
fn weak_keys_go_with_their_entries() {
    let mut vm = vm();
    let tables = count(&vm, Kind::Table);
    let t = weak_table(&mut vm, "k");
    let kept = pushed_table(&mut vm);
    for i in 0..20 {
        let key = vm.new_table(0, 0);
        let v = vm.new_table(0, 0);
        vm.table_set(t, Value::table(key), Value::table(v)).unwrap();
        vm.table_set_int(t, 100 * i, Value::int(i));
    }
    vm.table_set(t, Value::table(kept), Value::TRUE).unwrap();
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    let mut entries = 0;
    let mut i = 0;
    while let Some((next, k, _)) = t.next_index(i) {
        entries += 1;
        assert!(k.is_int() || k == Value::table(kept));
        i = next;
    }
    assert_eq!(entries, 21);
    // The table, its metatable, the kept key.
    assert_eq!(count(&vm, Kind::Table), tables + 3);
}

#[test]
fn weak_both_clears_either_side() {
    let mut vm = vm();
    let t = weak_table(&mut vm, "kv");
    let kept = Value::table(pushed_table(&mut vm));
    let (a, b) = (Value::table(vm.new_table(0, 0)), Value::table(vm.new_table(0, 0)));
    vm.table_set(t, a, kept).unwrap();
    vm.table_set(t, kept, b).unwrap();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(t.next(Value::NIL), Ok(None));
}

thread_local! {
    static CALLED: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
}

/// A finalizer that notes the number in its userdata.
fn note(vm: &mut Vm) -> Result<u32, crate::error::LuaError> {
    let u = vm.arg(0).as_udata().unwrap();
    let n = u.with(|n: &mut i32| *n).unwrap();
    CALLED.with(|c| c.borrow_mut().push(n));
    Ok(0)
}

fn called() -> Vec<i32> {
    CALLED.with(RefCell::take)
}

fn finalizer_meta(vm: &mut Vm, f: fn(&mut Vm) -> Result<u32, crate::error::LuaError>) -> Gc<Table> {
    let f: Gc<Func> = vm.new_native(f, 1, &[]);
    let meta = meta_with(vm, "__gc", Value::func(f));
    vm.push(Value::table(meta));
    meta
}

#[test]
fn finalizers_run_once_newest_first() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, note);
    for i in 0..5 {
        let u = vm.new_udata(Box::new(i), Some(meta));
        if i == 2 {
            vm.push(Value::udata(u));
        }
    }
    called();
    vm.full_gc();
    assert_eq!(called(), [4, 3, 1, 0]);
    assert_eq!(count(&vm, Kind::Udata), 5);
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(called(), []);
    assert_eq!(count(&vm, Kind::Udata), 1);
    vm.run_all_finalizers();
    assert_eq!(called(), [2]);
}

/// Userdata are searched before the atomic phase. They may be new, become unreachable, or get their finalizer after that.
#[test]
fn finalizers_are_found_whatever_changes_after_the_search() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, note);
    let (gets_gc, gc) = (pushed_table(&mut vm), vm.new_str(b"__gc"));
    let f = meta.get_str(gc);
    vm.full_gc();
    let n = scale(2000) as i32;
    let mut without = Vec::new();
    for i in 0..n {
        let of = [Some(meta), Some(gets_gc), None][i as usize % 3];
        let u = vm.new_udata(Box::new(i), of);
        if of.is_none() {
            without.push(u);
        }
    }
    step_to(&mut vm, Phase::Atomic);
    vm.table_set_str(gets_gc, gc, f);
    without.into_iter().for_each(|u| vm.set_udata_meta(u, Some(meta)));
    for i in n..n + 5 {
        vm.new_udata(Box::new(i), Some(meta));
    }
    called();
    step_to(&mut vm, Phase::Pause);
    let mut all = called();
    assert_eq!(all[..5], [n + 4, n + 3, n + 2, n + 1, n]);
    all.sort_unstable();
    assert_eq!(all, (0..n + 5).collect::<Vec<_>>());
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!((count(&vm, Kind::Udata), called().len()), (0, 0));
}

#[test]
fn lists_lose_the_dead_while_the_program_adds_to_them() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, note);
    let keep = pushed_table(&mut vm);
    let n = scale(5000) as i32;
    let add = |vm: &mut Vm, i: i32| {
        let u = vm.new_udata(Box::new(i), Some(meta));
        if i % 2 == 0 {
            vm.table_set_int(keep, i / 2, Value::udata(u));
        }
    };
    (0..n).for_each(|i| add(&mut vm, i));
    vm.full_gc();
    vm.full_gc();
    called();
    let mut next = n;
    for _ in 0..3 {
        loop {
            vm.one_step(1);
            add(&mut vm, next);
            next += 1;
            if vm.heap.phase() == Phase::Pause {
                break;
            }
        }
        vm.verify_heap();
    }
    vm.full_gc();
    vm.full_gc();
    let listed: Vec<i32> = vm.heap.lists.udatas.iter().map(|u| u.with(|n: &mut i32| *n).unwrap()).collect();
    assert!(listed.is_sorted());
    assert_eq!(listed, (0..next).filter(|i| i % 2 == 0).collect::<Vec<_>>());
    called();
    vm.run_all_finalizers();
    assert!(called().into_iter().eq((0..next).rev().filter(|i| i % 2 == 0)));
}

#[test]
fn payloads_are_dropped() {
    let flag = Rc::new(());
    let mut vm = vm();
    for _ in 0..10 {
        vm.new_udata(Box::new(flag.clone()), None);
    }
    let u = vm.new_udata(Box::new(flag.clone()), None);
    vm.push(Value::udata(u));
    assert_eq!(Rc::strong_count(&flag), 12);
    vm.full_gc();
    assert_eq!(Rc::strong_count(&flag), 2);
    drop(vm);
    assert_eq!(Rc::strong_count(&flag), 1);
}

#[test]
fn finalized_userdata_leave_weak_values_first_and_weak_keys_later() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, note);
    let (keys, values) = (weak_table(&mut vm, "k"), weak_table(&mut vm, "v"));
    let u = Value::udata(vm.new_udata(Box::new(7), Some(meta)));
    vm.table_set(keys, u, Value::TRUE).unwrap();
    vm.table_set_int(values, 1, u);
    called();
    vm.full_gc();
    assert_eq!(called(), [7]);
    assert!(values.get_int(1).is_nil());
    assert_ne!(keys.next(Value::NIL), Ok(None));
    vm.full_gc();
    assert_eq!(keys.next(Value::NIL), Ok(None));
}

/// A finalizer that brings its userdata back, collects, and makes garbage.
fn resurrect(vm: &mut Vm) -> Result<u32, crate::error::LuaError> {
    let u = vm.arg(0);
    let g = vm.realm.globals;
    let k = vm.new_str(b"back");
    vm.table_set_str(g, k, u);
    vm.full_gc();
    note(vm)
}

#[test]
fn a_finalizer_may_resurrect_and_collect() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, resurrect);
    for i in 0..3 {
        vm.new_udata(Box::new(i), Some(meta));
    }
    called();
    vm.full_gc();
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    // Each runs the next one in its collection, and is noted after that.
    assert_eq!(called(), [0, 1, 2]);
    let k = vm.new_str(b"back");
    assert!(vm.realm.globals.get_str(k).is_udata());
    assert_eq!(count(&vm, Kind::Udata), 1);
}

/// A finalizer that loses the error it found, and collects.
fn lose_error(vm: &mut Vm) -> Result<u32, crate::error::LuaError> {
    vm.errors.value = Value::NIL;
    vm.full_gc();
    note(vm)
}

#[test]
fn an_error_survives_a_finalizer_that_collects() {
    let mut vm = vm();
    let meta = finalizer_meta(&mut vm, lose_error);
    vm.new_udata(Box::new(1), Some(meta));
    let t = vm.new_table(0, 0);
    vm.errors.value = Value::table(t);
    called();
    vm.full_gc();
    assert_eq!(called(), [1]);
    vm.errors.value = Value::table(t);
    vm.verify_heap();
    assert_eq!(t.hdr.kind(), Kind::Table);
}

#[test]
fn an_interrupt_ends_the_cycle_and_nothing_is_freed() {
    let mut vm = vm();
    // One that is traversed in slices, and one that is not.
    for n in [scale(4_000), 8] {
        for mode in ["k", "v"] {
            let t = weak_table(&mut vm, mode);
            let kept = pushed_table(&mut vm);
            for i in 0..n {
                let (k, v) = (vm.new_table(0, 0), vm.new_table(0, 0));
                vm.table_set(t, Value::table(k), Value::table(v)).unwrap();
                vm.table_set_int(kept, i as i32, Value::table(if (mode == "k") == (i % 2 == 0) { k } else { v }));
            }
            let live = |t: Gc<Table>| t.nodes().iter().filter(|n| !n.val.get().is_nil()).count();
            let before = (live(t), count(&vm, Kind::Table));
            step_to(&mut vm, Phase::Atomic);
            vm.interrupts.flag.set(Cause::Host);
            vm.one_step(1 << 20);
            assert_eq!(vm.heap.phase(), Phase::Sweep);
            step_to(&mut vm, Phase::Pause);
            assert_eq!((live(t), count(&vm, Kind::Table)), before);
            vm.forget_interrupt();
            vm.verify_heap();
            vm.full_gc();
            vm.verify_heap();
            assert_eq!(live(t), n / 2, "{mode}");
        }
    }
}

#[test]
fn a_weak_table_that_is_its_own_metatable_remains_weak_when_it_grows_while_it_is_marked() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    let (name, mode) = (vm.new_str(b"__mode"), vm.new_str(b"kv"));
    vm.table_set_str(t, name, Value::str(mode));
    t.meta.set(Some(t));
    let add = |vm: &mut Vm, n: usize| {
        for _ in 0..n {
            let k = vm.new_table(0, 0);
            vm.table_set(t, Value::table(k), Value::TRUE).unwrap();
        }
    };
    add(&mut vm, scale(4_000));
    vm.note_running();
    step_to(&mut vm, Phase::Pause);
    while vm.heap.cycle.marker.slices.done(t).is_none() {
        vm.one_step(1);
    }
    // All moves to new nodes, in whatever order.
    add(&mut vm, scale(8_000));
    vm.verify_heap();
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(t.nodes().iter().filter(|n| !n.val.get().is_nil()).count(), 1, "all but the mode is gone");
}
