//! Tests of blocks, raw memory, accounting, pacing and the limit.
#![allow(unsafe_code, reason = "tests look at raw parts of objects")]

use super::{Rng, pushed_table, scale, vm};
use crate::Vm;
use crate::gc::Phase;
use crate::value::Value;

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
    let closure = vm.new_native(|_| Ok(0), 1, &[Value::NIL; 100]);
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

/// The memory that a buffer owns is counted while it lives, and the objects that it refers to live as long.
#[test]
fn buffers_are_counted() {
    let mut vm = vm();
    vm.open_libs();
    vm.gc_stop();
    let text = b"local buffer = require 'string.buffer'
        local dict, meta = {}, {}
        for i = 1, 50 do dict[i] = 'key' .. i end
        local kept = buffer.new(4000, { dict = dict, metatable = { meta } })
        local sources = {}
        for i = 1, 40 do
          buffer.new(100000):put('x')
          sources[i] = buffer.new():set('source' .. i)
          kept:reset():encode({ key7 = i, ['key' .. i] = setmetatable({}, meta) })
        end
        dict, meta = nil
        return function()
          for i = 1, 40 do assert(sources[i]:tostring() == 'source' .. i) end
          kept:put(('y'):rep(50000)):skip(60)
          local t = kept:reset():encode({ key7 = 1, key40 = 2 }):decode()
          assert(t.key7 == 1 and t.key40 == 2)
          sources[1]:free()
          sources[2]:put('more')
          return #kept
        end";
    let f = vm.load_chunk(text, b"=buffers", None).expect("it compiles");
    let check = vm.call1(Value::func(f), &[]).expect("it runs");
    vm.push(check);
    let before = vm.gc_count();
    assert!(before > 4_000_000, "the garbage is counted as well");
    vm.gc_restart();
    vm.full_gc();
    vm.full_gc();
    vm.verify_heap();
    check_sizes(&mut vm);
    assert!(vm.gc_count() < before / 2);
    let n = vm.call1(check, &[]).expect("it runs");
    assert_eq!(n.as_int(), Some(0));
    vm.verify_heap();
    check_sizes(&mut vm);
}

#[test]
fn the_limit_is_an_error_and_leaves_the_state_usable() {
    let mut vm = vm();
    vm.set_memory_limit(Some(scale(1 << 20)));
    let t = pushed_table(&mut vm);
    let mut n = 0;
    let failed = loop {
        let s = vm.new_str(format!("{n:0100}").as_bytes());
        vm.table_set_int(t, n, Value::str(s));
        n += 1;
        if vm.safepoint().is_err() {
            break vm.errors.value;
        }
    };
    assert!(n as usize > scale(1000));
    assert_eq!(failed.as_str().unwrap().bytes(), b"not enough memory");
    assert!(vm.check_alloc(scale(1 << 20)).is_err());
    vm.errors.value = Value::NIL;
    vm.top = vm.base;
    assert!(vm.check_alloc(scale(1 << 18)).is_ok());
    // Garbage alone does not reach the limit.
    for i in 0..scale(100_000) {
        vm.new_str(format!("{i:0100}").as_bytes());
        vm.safepoint().unwrap();
    }
}

/// Source text needs room that is free again when it is compiled, so many calls of `load` find too little. The collections that they cause must
/// not be as many.
#[test]
fn a_program_near_the_limit_does_not_collect_all_the_time() {
    let mut vm = vm();
    let limit = if cfg!(miri) { 1 << 20 } else { 4 << 20 };
    vm.set_memory_limit(Some(limit));
    let t = pushed_table(&mut vm);
    let (mut n, mut phases) = (0, 0);
    while vm.has_room_for_source(2000) {
        let s = vm.new_str(format!("{n:0100}").as_bytes());
        vm.table_set_int(t, n, Value::str(s));
        n += 1;
        phases = vm.heap.counts.steps[Phase::Atomic as usize];
    }
    assert!(vm.gc_count() > limit / 64 * 60, "the limit is not used: {}", vm.gc_count());
    assert!(phases < 40, "{phases} collections for {n} strings");
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
fn stacks_grow_with_their_open_upvalues() {
    let mut vm = vm();
    let co = vm.new_thread(10);
    vm.push(Value::thread(co));
    let slot = co.stack.get().wrapping_add(3);
    // SAFETY: a slot of the stack.
    unsafe { *slot = Value::int(42) };
    co.top.set(slot.wrapping_add(1));
    // SAFETY: a slot of that stack.
    let uv = unsafe { vm.find_upval(co, slot) };
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
