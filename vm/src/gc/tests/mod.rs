//! Tests of the collector: graphs of objects, phases, upvalues. Weak tables and memory have files of their own.
#![allow(unsafe_code, reason = "tests look at raw parts of objects")]

mod memory;
mod pauses;
#[cfg(feature = "asan")]
mod poison;
mod watch;
mod weak;

use super::Phase;
use crate::Vm;
use crate::object::{Func, Gc, Kind, Table};
use crate::value::Value;

/// A VM with only what every VM contains. [`Vm::top`] is at its base.
pub(crate) fn vm() -> Box<Vm> {
    Vm::new()
}

/// A small deterministic random generator.
pub(crate) struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % n
    }
}

/// Sizes are smaller under Miri.
pub(crate) fn scale(full: usize) -> usize {
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

#[test]
fn garbage_is_freed_and_the_rest_stays() {
    let mut vm = vm();
    let tables = count(&vm, Kind::Table);
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
    assert_eq!(count(&vm, Kind::Table), tables);
}

#[test]
fn a_deep_list_does_not_recurse() {
    // Deep enough to overflow the native stack; Miri, which has no such end, looks at the accesses only.
    let depth = if cfg!(miri) { 1_000 } else { 200_000 };
    let mut vm = vm();
    let mut head = Value::NIL;
    for _ in 0..depth {
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
    assert_eq!(n, depth);
}

/// Mutates a random graph of tables, functions, upvalues and strings, with a safepoint after each change. A model of the graph in plain
/// Rust says which objects must still exist.
fn random_graph(seed: u64, steps: usize, stress: bool) {
    const NODES: u32 = 40;
    let mut vm = vm();
    let mut rng = Rng(seed);
    vm.gc_set_stress(u32::from(stress));
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
    for seed in 1..if cfg!(miri) { 2 } else { 4 } {
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
fn strings_of_one_byte_come_and_go() {
    let mut vm = vm();
    vm.full_gc();
    let before = count(&vm, Kind::Str);
    for round in 0..3 {
        for byte in 0..=255 {
            let s = vm.new_str(&[byte]);
            assert_eq!(s.bytes(), [byte]);
            assert!(vm.new_str(&[byte]) == s);
        }
        assert!(count(&vm, Kind::Str) > before + 100, "round {round}");
        vm.full_gc();
        assert_eq!(count(&vm, Kind::Str), before);
        vm.verify_heap();
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
    // Runs until the strings are dead but not swept.
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
fn open_upvalues_outlive_their_coroutine() {
    let mut vm = vm();
    let threads = count(&vm, Kind::Thread);
    let co = vm.new_thread(20);
    let slot = co.stack.get();
    let text = vm.new_str(b"captured by a closure");
    // SAFETY: the first slots of a stack of 20.
    unsafe {
        *slot = Value::str(text);
        *slot.add(1) = Value::int(1);
    }
    co.top.set(slot.wrapping_add(2));
    // SAFETY: a slot of that stack.
    let kept = unsafe { vm.find_upval(co, slot) };
    // SAFETY: a slot of that stack.
    let dropped = unsafe { vm.find_upval(co, slot.wrapping_add(1)) };
    // SAFETY: as above.
    assert!(kept != dropped && unsafe { vm.find_upval(co, slot) } == kept);
    assert_eq!(co.open_upvals().count(), 2);
    let holder = holder_of(&mut vm, kept);
    vm.push(Value::func(holder));
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(count(&vm, Kind::Thread), threads);
    assert_eq!(count(&vm, Kind::UpVal), 1);
    let uv = holder.upvalues()[0].get();
    assert!(uv.is_closed());
    assert_eq!(uv.get().as_str().unwrap().bytes(), b"captured by a closure");
}

/// A prototype with a string constant, a child and `n` upvalues.
fn proto(vm: &mut Vm, n: usize) -> Gc<crate::object::Proto> {
    use crate::bc::{Ins, KGc, ProtoData, UvDesc};
    let mut d = ProtoData {
        bc: vec![Ins(0); 10],
        kgc: vec![KGc::Str(b"a constant".as_slice().into())],
        knum: Vec::new(),
        upvalues: vec![UvDesc { local: true, immutable: false, index: 0 }; n],
        num_params: 0,
        framesize: 4,
        is_vararg: false,
        has_children: false,
        first_line: 1,
        last_line: 2,
        lines: vec![1; 10],
        chunkname: b"@test".as_slice().into(),
        uv_names: Vec::new(),
        vars: Vec::new(),
    };
    d.kgc.push(KGc::Proto(Box::new(d.clone())));
    vm.heap.new_proto(&d)
}

/// A Lua function whose only upvalue is `uv`.
fn holder_of(vm: &mut Vm, uv: Gc<crate::object::UpVal>) -> Gc<Func> {
    let p = proto(vm, 1);
    let globals = vm.realm.globals;
    let f = vm.new_lua_func(p, globals);
    f.upvalues()[0].set(uv);
    f
}

#[test]
fn closing_upvalues_during_a_cycle_keeps_their_values() {
    for stop in (0..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let mut vm = vm();
        vm.full_gc();
        let slot = vm.top;
        vm.push(Value::NIL);
        let cur = vm.cur;
        // SAFETY: a slot of that stack.
        let uv = unsafe { vm.find_upval(cur, slot) };
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
    for stop in (0..40).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let mut vm = vm();
        vm.full_gc();
        let co = vm.new_thread(20);
        let slot = co.stack.get();
        co.top.set(slot.wrapping_add(1));
        // SAFETY: a slot of that stack.
        let uv = unsafe { vm.find_upval(co, slot) };
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
fn keys_stay_in_every_table_of_a_shape() {
    let mut vm = vm();
    let all = pushed_table(&mut vm);
    for i in 0..100 {
        // Nothing else holds the keys; some entries are removed, and some tables are dropped.
        let t = vm.new_table(0, 2);
        for k in 0..3 {
            let s = vm.new_str(format!("field {} of kind {}", k, i % 7).as_bytes());
            vm.table_set_str(t, s, if (i + k) % 5 == 0 { Value::NIL } else { Value::int(k) });
            if (i + k) % 3 == 0 {
                vm.table_set_str(t, s, Value::NIL);
            }
        }
        vm.table_set_int(all, i % 40, Value::table(t));
        if i % 9 == 0 {
            vm.gc_step(1);
            vm.verify_heap();
        }
    }
    vm.full_gc();
    vm.verify_heap();
    let tables = all.array_part().iter().chain(all.nodes().iter().map(|n| &n.val)).filter_map(|v| v.get().as_table());
    let keys = tables.flat_map(|t| t.nodes().iter().filter_map(|n| n.key.get().as_gc()).collect::<Vec<_>>());
    assert!(keys.map(|s| assert_eq!(s.kind(), Kind::Str)).count() > 0);
}

#[test]
fn prototypes_are_freed() {
    let mut vm = vm();
    vm.full_gc();
    let before = vm.gc_count();
    for _ in 0..10 {
        proto(&mut vm, 2);
    }
    assert!(vm.gc_count() > before);
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(count(&vm, Kind::Proto), 0);
    assert_eq!(vm.gc_count(), before);
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
            assert_eq!(vm.heap.phase(), Phase::Settle);
        }
    }
    assert!(cfg!(miri) || left > 3);
    vm.full_gc();
    vm.verify_heap();
}
