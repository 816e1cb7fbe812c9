//! Tests of the collector: graphs of objects, weak tables, finalizers, the limit.

use super::Phase;
use crate::Vm;
use crate::object::{Func, Gc, Kind, Table};
use crate::value::Value;
use std::cell::RefCell;
use std::rc::Rc;

fn vm() -> Box<Vm> {
    Vm::for_tests()
}

/// A small deterministic random generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % n
    }
}

fn scale(full: usize) -> usize {
    if cfg!(miri) { full / 20 } else { full }
}

fn count(vm: &Vm, kind: Kind) -> usize {
    let mut n = 0;
    vm.heap.for_each_object(|o| n += usize::from(o.kind() == kind));
    n
}

/// A new table that the stack keeps alive.
fn pushed_table(vm: &mut Vm) -> Gc<Table> {
    let t = vm.new_table(0, 0);
    vm.push(Value::table(t));
    t
}

fn meta_with(vm: &mut Vm, field: &str, v: Value) -> Gc<Table> {
    let m = vm.new_table(0, 0);
    let k = vm.new_str(field.as_bytes());
    vm.table_set_str(m, k, v);
    m
}

fn weak_table(vm: &mut Vm, mode: &str) -> Gc<Table> {
    let t = pushed_table(vm);
    let s = vm.new_str(mode.as_bytes());
    let m = meta_with(vm, "__mode", Value::str(s));
    t.meta.set(Some(m));
    t
}

#[test]
fn garbage_is_freed_and_the_rest_stays() {
    let mut vm = vm();
    let keep = pushed_table(&mut vm);
    for i in 0..scale(2000) as i32 {
        let t = vm.new_table(3, 1);
        let s = vm.new_str(format!("string {i}").as_bytes());
        vm.table_set_str(t, s, Value::int(i));
        if i % 10 == 0 {
            vm.table_set_int(keep, i / 10, Value::table(t));
        }
    }
    vm.verify_heap();
    let before = vm.gc_count();
    vm.full_gc();
    vm.verify_heap();
    assert!(vm.gc_count() < before / 3);
    for i in 0..scale(200) as i32 {
        let t = keep.get_int(i).as_table().unwrap();
        let s = vm.new_str(format!("string {}", i * 10).as_bytes());
        assert_eq!(t.get_str(s), Value::int(i * 10));
    }
    vm.top = vm.base;
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(count(&vm, Kind::Table), 2);
}

#[test]
fn a_deep_list_does_not_recurse() {
    let mut vm = vm();
    let mut head = Value::NIL;
    for _ in 0..scale(200_000) {
        let t = vm.new_table(2, 0);
        vm.table_set_int(t, 1, head);
        head = Value::table(t);
    }
    vm.push(head);
    vm.full_gc();
    let mut n = 0;
    while let Some(t) = head.as_table() {
        n += 1;
        head = t.get_int(1);
    }
    assert_eq!(n, scale(200_000));
}

/// Mutates a random graph of tables, functions, upvalues and strings, with a safepoint after each change; a mirror of the
/// graph in plain Rust says what must still be there.
fn random_graph(seed: u64, steps: usize, stress: bool) {
    const NODES: u32 = 40;
    let mut vm = vm();
    let mut rng = Rng(seed);
    vm.gc_set_stress(stress);
    let root = pushed_table(&mut vm);
    let mut mirror: Vec<Vec<u32>> = vec![Vec::new(); NODES as usize];
    for i in 0..NODES {
        let t = vm.new_table(0, 0);
        vm.table_set_int(root, i as i32, Value::table(t));
    }
    for step in 0..steps {
        let (i, j) = (rng.below(NODES), rng.below(NODES));
        let a = root.get_int(i as i32).as_table().unwrap();
        let edges = &mut mirror[i as usize];
        match rng.below(8) {
            0 => {
                // A node is replaced by a new one.
                let t = vm.new_table(rng.below(5), rng.below(3));
                vm.table_set_int(root, i as i32, Value::table(t));
                edges.clear();
            }
            1..=4 => {
                // An edge is added: a table of its own that holds the number of the target.
                let t = vm.new_table(0, 1);
                let key = vm.new_str(format!("target {j}").as_bytes());
                vm.table_set_str(t, key, Value::int(j as i32));
                edges.push(j);
                vm.table_set_int(a, edges.len() as i32, Value::table(t));
            }
            5 => {
                if edges.pop().is_some() {
                    vm.table_set_int(a, edges.len() as i32 + 1, Value::NIL);
                }
            }
            6 => {
                let b = root.get_int(j as i32);
                let key = vm.new_str(b"other");
                vm.table_set_str(a, key, b);
            }
            _ => {
                let uv = vm.new_upval_closed(Value::table(a));
                let s = vm.new_str(&step.to_le_bytes());
                vm.barrier_forward(uv.header(), Value::str(s));
            }
        }
        vm.safepoint().unwrap();
        if step % 64 == 0 {
            vm.verify_heap();
        }
    }
    for (i, edges) in mirror.iter().enumerate() {
        let a = root.get_int(i as i32).as_table().unwrap();
        assert_eq!(a.len() as usize, edges.len());
        for (n, j) in edges.iter().enumerate() {
            let t = a.get_int(n as i32 + 1).as_table().unwrap();
            let key = vm.new_str(format!("target {j}").as_bytes());
            assert_eq!(t.get_str(key), Value::int(*j as i32));
        }
    }
    vm.full_gc();
    vm.verify_heap();
}

#[test]
fn random_graphs_survive_incremental_collection() {
    for seed in 1..4 {
        random_graph(seed * 0x9e37_79b9, scale(30_000), false);
    }
}

#[test]
fn random_graphs_survive_a_collection_at_every_safepoint() {
    random_graph(77, scale(2_000), true);
}

#[test]
fn every_phase_boundary_is_consistent() {
    let mut vm = vm();
    let root = pushed_table(&mut vm);
    vm.gc_set_stepmul(1);
    let mut cycles = 0;
    let mut i = 0;
    while cycles < 3 {
        let t = vm.new_table(0, 0);
        let s = vm.new_str(format!("s{}", i % 50).as_bytes());
        vm.table_set_str(root, s, Value::table(t));
        vm.table_set_str(t, s, Value::table(root));
        cycles += usize::from(vm.gc_step(1));
        if i % 8 == 0 {
            vm.verify_heap();
        }
        i += 1;
    }
}

#[test]
fn a_dead_string_is_revived_by_lookup() {
    let mut vm = vm();
    for i in 0..100 {
        vm.new_str(format!("transient {i}").as_bytes());
    }
    vm.full_gc();
    for i in 0..100 {
        vm.new_str(format!("transient {i}").as_bytes());
    }
    // Walk to the point where the strings are dead but not swept.
    vm.gc_set_stepmul(1);
    while vm.heap.phase() != Phase::Sweep {
        vm.gc_step(0);
    }
    let t = pushed_table(&mut vm);
    for i in 0..100 {
        let s = vm.new_str(format!("transient {i}").as_bytes());
        assert!(!vm.heap.is_dead(&s.hdr));
        vm.table_set_int(t, i, Value::str(s));
    }
    while vm.heap.phase() == Phase::Sweep {
        vm.gc_step(0);
    }
    vm.verify_heap();
    for i in 0..100 {
        assert_eq!(t.get_int(i).as_str().unwrap().bytes(), format!("transient {i}").as_bytes());
    }
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
    // Globals, registry, the table, its metatable, the kept key.
    assert_eq!(count(&vm, Kind::Table), 5);
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
    let g = vm.globals;
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
    assert_eq!(called(), [2, 1, 0]);
    let k = vm.new_str(b"back");
    assert!(vm.globals.get_str(k).is_udata());
    assert_eq!(count(&vm, Kind::Udata), 1);
}

#[test]
fn open_upvalues_outlive_their_coroutine() {
    let mut vm = vm();
    let co = vm.new_thread(20);
    let slot = co.stack.get();
    let text = vm.new_str(b"captured by a closure");
    // SAFETY: the first slots of a stack of 20.
    unsafe {
        *slot = Value::str(text);
        *slot.add(1) = Value::int(1);
    }
    co.top.set(slot.wrapping_add(2));
    let kept = vm.find_upval(co, slot);
    let dropped = vm.find_upval(co, slot.wrapping_add(1));
    assert!(kept != dropped && vm.find_upval(co, slot) == kept);
    assert_eq!(co.open_upvals().count(), 2);
    // Held by a builtin would be the wrong kind: a closed upvalue chain stands for the closure.
    let holder = holder_of(&mut vm, kept);
    vm.push(Value::func(holder));
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(count(&vm, Kind::Thread), 1);
    assert_eq!(count(&vm, Kind::UpVal), 1);
    let uv = holder.upvalues()[0].get();
    assert!(uv.is_closed());
    assert_eq!(uv.get().as_str().unwrap().bytes(), b"captured by a closure");
}

/// A Lua function whose only upvalue is `uv`.
fn holder_of(vm: &mut Vm, uv: Gc<crate::object::UpVal>) -> Gc<Func> {
    let p = vm.proto_for_tests(1);
    let globals = vm.globals;
    let f = vm.new_lua_func(p, globals);
    f.upvalues()[0].set(uv);
    f
}

#[test]
fn closing_upvalues_during_a_cycle_keeps_their_values() {
    for stop in 0..40 {
        let mut vm = vm();
        vm.full_gc();
        let slot = vm.top;
        vm.push(Value::NIL);
        let cur = vm.cur;
        let uv = vm.find_upval(cur, slot);
        let holder = holder_of(&mut vm, uv);
        vm.push(Value::func(holder));
        vm.gc_set_stepmul(1);
        for _ in 0..stop {
            vm.gc_step(0);
        }
        let t = vm.new_table(0, 0);
        // SAFETY: a slot of the running stack.
        unsafe { *slot = Value::table(t) };
        vm.close_upvals(slot);
        // SAFETY: as above.
        unsafe { *slot = Value::NIL };
        while !vm.gc_step(0) {}
        vm.verify_heap();
        assert_eq!(holder.upvalues()[0].get().get().as_table(), Some(t));
        assert_eq!(t.hdr.kind(), Kind::Table);
    }
}

#[test]
fn a_slot_of_an_unreachable_coroutine_may_change_before_the_cycle_ends() {
    for stop in 0..40 {
        let mut vm = vm();
        vm.full_gc();
        let co = vm.new_thread(20);
        let slot = co.stack.get();
        co.top.set(slot.wrapping_add(1));
        let uv = vm.find_upval(co, slot);
        let holder = holder_of(&mut vm, uv);
        vm.push(Value::func(holder));
        vm.gc_set_stepmul(1);
        for _ in 0..stop {
            if vm.gc_step(0) {
                return;
            }
        }
        let t = vm.new_table(0, 0);
        if !holder.upvalues()[0].get().is_closed() {
            // SAFETY: a slot of a coroutine that is not freed yet.
            unsafe { *slot = Value::table(t) };
            while !vm.gc_step(0) {}
            vm.verify_heap();
            assert_eq!(holder.upvalues()[0].get().get(), Value::table(t));
        }
    }
}

#[test]
fn removed_string_keys_stay_until_the_rehash() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    for i in 0..64 {
        let s = vm.new_str(format!("a key to remove {i}").as_bytes());
        vm.table_set_str(t, s, Value::TRUE);
        vm.table_set_str(t, s, Value::NIL);
    }
    vm.full_gc();
    let keys = t.nodes().iter().filter_map(|n| n.key.get().as_str());
    assert!(keys.filter(|s| s.hdr.kind() == Kind::Str).count() > 0);
    assert_eq!(t.nodes().iter().filter(|n| n.key.get().as_str().is_some_and(|s| s.hdr.kind() != Kind::Str)).count(), 0);
}

#[test]
fn empty_blocks_change_their_class() {
    let mut vm = vm();
    for round in 0..6 {
        let mark = vm.top;
        let t = pushed_table(&mut vm);
        for i in 0..scale(3000) as i32 {
            let s = vm.new_str(&vec![b'a' + round as u8; 40 * (1 + round) + i as usize % 7]);
            let x = vm.new_table(1 + 4 * (round as u32 % 3), 0);
            vm.table_set_int(x, 0, Value::str(s));
            vm.table_set_int(t, i, Value::table(x));
            if i % 1000 == 0 {
                vm.verify_heap();
            }
        }
        vm.verify_heap();
        vm.top = mark;
        vm.full_gc();
        vm.verify_heap();
    }
}

#[test]
fn raw_memory_does_not_overlap() {
    let mut vm = vm();
    let mut rng = Rng(99);
    let before = vm.gc_count();
    let mut held: Vec<(*mut u8, usize, u8)> = Vec::new();
    let full = |p: *mut u8, n: usize, b: u8| {
        // SAFETY: memory of at least `n` bytes that was filled.
        assert!((0..n).all(|i| unsafe { *p.add(i) } == b));
    };
    for step in 0..scale(40_000) {
        let grow = (step / scale(8_000)).is_multiple_of(2);
        let b = step as u8;
        if held.is_empty() || rng.below(8) < if grow { 6 } else { 2 } {
            let n = 1 + rng.below([64, 600, 3000, 40][step / 50 % 4]) as usize;
            let p = vm.heap.alloc_raw(n);
            // SAFETY: just allocated.
            unsafe { p.write_bytes(b, n) };
            held.push((p, n, b));
        } else {
            let (p, n, b) = held.swap_remove(rng.below(held.len() as u32) as usize);
            full(p, n, b);
            if rng.below(4) == 0 {
                let m = 1 + rng.below(4000) as usize;
                // SAFETY: allocated above with this size.
                let q = unsafe { vm.heap.realloc_raw(p, n, m) };
                full(q, n.min(m), b);
                // SAFETY: just allocated.
                unsafe { q.write_bytes(b, m) };
                held.push((q, m, b));
            } else {
                // SAFETY: allocated above with this size.
                unsafe { vm.heap.free_raw(p, n) };
            }
        }
    }
    for (p, n, b) in held {
        full(p, n, b);
        // SAFETY: allocated above with this size.
        unsafe { vm.heap.free_raw(p, n) };
    }
    assert_eq!(vm.gc_count(), before);
    vm.verify_heap();
}

#[test]
fn prototypes_are_freed() {
    let mut vm = vm();
    vm.full_gc();
    let before = vm.gc_count();
    for _ in 0..10 {
        vm.proto_for_tests(2);
    }
    assert!(vm.gc_count() > before);
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(count(&vm, Kind::Proto), 0);
    assert_eq!(vm.gc_count(), before);
}

#[test]
fn all_memory_is_counted() {
    let mut vm = vm();
    vm.full_gc();
    let before = vm.gc_count();
    let mark = vm.top;
    let t = pushed_table(&mut vm);
    let n = scale(5000);
    for i in 0..n as i32 {
        vm.table_set_int(t, i, Value::int(i));
        vm.table_set(t, Value::number(f64::from(i) + 0.5), Value::TRUE).unwrap();
    }
    vm.new_thread(1000);
    let big = vec![b'x'; 100_000];
    for n in [300, 3000, 30_000, 100_000] {
        let s = vm.new_str(&big[..n]);
        vm.push(Value::str(s));
    }
    let closure = vm.new_native(note, 1, &[Value::NIL; 100]);
    vm.push(Value::func(closure));
    vm.table_resize(t, 10, 1);
    vm.table_resize(t, 0, 0);
    assert!(vm.gc_count() > before + n * 8);
    check_sizes(&mut vm);
    vm.top = mark;
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(vm.gc_count(), before);
    check_sizes(&mut vm);
}

/// The sizes of all objects add up to the total.
fn check_sizes(vm: &mut Vm) {
    vm.full_gc();
    let mut sum = 0;
    vm.heap.for_each_object(|o| sum += vm.heap.object_size(o));
    assert_eq!(sum, vm.gc_count());
}

#[test]
fn the_limit_is_an_error_and_leaves_the_state_usable() {
    let mut vm = vm();
    vm.set_memory_limit(Some(1 << 20));
    let t = pushed_table(&mut vm);
    let mut n = 0;
    let failed = loop {
        let s = vm.new_str(format!("{n:0100}").as_bytes());
        vm.table_set_int(t, n, Value::str(s));
        n += 1;
        if vm.safepoint().is_err() {
            break vm.error;
        }
    };
    assert!(n > 1000);
    assert_eq!(failed.as_str().unwrap().bytes(), b"not enough memory");
    assert!(vm.check_alloc(1 << 20).is_err());
    vm.error = Value::NIL;
    vm.top = vm.base;
    assert!(vm.check_alloc(1 << 18).is_ok());
    // Garbage alone never reaches the limit.
    for i in 0..scale(100_000) {
        vm.new_str(format!("{i:0100}").as_bytes());
        vm.safepoint().unwrap();
    }
}

#[test]
fn a_stopped_collector_does_not_collect() {
    let mut vm = vm();
    vm.gc_stop();
    assert!(!vm.gc_is_running());
    for i in 0..scale(20_000) {
        vm.new_str(format!("{i:060}").as_bytes());
        vm.safepoint().unwrap();
    }
    assert!(vm.gc_count() >= scale(20_000) * 96);
    vm.gc_restart();
    for _ in 0..scale(20_000) {
        vm.new_table(4, 0);
        vm.safepoint().unwrap();
    }
    assert!(cfg!(miri) || vm.gc_count() < 20_000 * 96);
}

#[test]
fn the_heap_stays_near_twice_what_lives() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    for i in 0..scale(10_000) as i32 {
        let x = vm.new_table(3, 0);
        vm.table_set_int(t, i, Value::table(x));
    }
    vm.full_gc();
    let live = vm.gc_count();
    let mut peak = 0;
    for _ in 0..scale(200_000) {
        vm.new_table(3, 0);
        vm.safepoint().unwrap();
        peak = peak.max(vm.gc_count());
    }
    assert!(peak < live * 3 + (512 << 10), "{peak} against {live}");
}

#[test]
fn steps_on_a_trace_leave_the_atomic_phase_to_the_interpreter() {
    let mut vm = vm();
    let t = pushed_table(&mut vm);
    let mut left = 0;
    for i in 0..scale(100_000) as i32 {
        let x = vm.new_table(3, 0);
        vm.table_set_int(t, i % 500, Value::table(x));
        if vm.heap.gc_due() && vm.gc_step_on_trace() {
            assert!(matches!(vm.heap.phase(), Phase::Atomic | Phase::Finalize));
            left += 1;
            vm.safepoint().unwrap();
            assert_eq!(vm.heap.phase(), Phase::Sweep);
        }
    }
    assert!(cfg!(miri) || left > 3);
    vm.full_gc();
    vm.verify_heap();
}

#[test]
fn stacks_grow_with_their_open_upvalues() {
    let mut vm = vm();
    let co = vm.new_thread(10);
    vm.push(Value::thread(co));
    let slot = co.stack.get().wrapping_add(3);
    // SAFETY: a slot of the stack.
    unsafe { *slot = Value::int(42) };
    co.top.set(slot.wrapping_add(1));
    let uv = vm.find_upval(co, slot);
    vm.heap.resize_stack(co, 5000);
    assert_eq!(co.size.get(), 5000);
    assert_eq!(uv.get(), Value::int(42));
    assert_eq!(uv.v.get(), co.stack.get().wrapping_add(3));
    vm.full_gc();
    vm.close_upvals_of(co, co.stack.get());
    assert_eq!(co.open_upvals().count(), 0);
    vm.full_gc();
    vm.verify_heap();
}
