//! Tests of strings and tables.
#![allow(unsafe_code, reason = "tests look at raw parts of objects")]

use super::{Gc, Table, WatchedField};
use crate::Vm;
use crate::gc::tests::{Rng, scale, vm};
use crate::value::Value;
use std::collections::HashMap;

#[test]
fn equal_strings_are_one_object() {
    let mut vm = vm();
    let a = vm.new_str(b"abc");
    let b = vm.new_str(b"abcd");
    assert!(a != b);
    assert!(vm.new_str(b"abc") == a);
    assert_eq!(a.bytes(), b"abc");
    assert_eq!(vm.new_str(b"").bytes(), b"");
    // SAFETY: a NUL follows the bytes.
    assert_eq!(unsafe { *a.as_ptr().cast::<u8>().add(super::STR_DATA + 3) }, 0);
    let many: Vec<_> = (0..scale(20_000)).map(|i| vm.new_str(format!("k{i}").as_bytes())).collect();
    for (i, s) in many.iter().enumerate() {
        assert_eq!(s.bytes(), format!("k{i}").as_bytes());
        assert!(vm.new_str(format!("k{i}").as_bytes()) == *s);
    }
    vm.verify_heap();
}

#[test]
fn appended_strings_are_the_same() {
    let mut vm = vm();
    let text: Vec<u8> = (b'a'..=b'z').collect();
    for capacity in [0, 5, 64] {
        for len in 0..=text.len() {
            let mut out = Vec::with_capacity(capacity);
            vm.new_str(&text[..len]).append_to(&mut out);
            vm.new_str(b"|").append_to(&mut out);
            assert_eq!(out, [&text[..len], b"|"].concat());
        }
    }
}

#[test]
fn number_keys_have_one_form() {
    let mut vm = vm();
    let t = vm.new_table(0, 0);
    vm.table_set(t, Value::num(1.0), Value::TRUE).unwrap();
    assert_eq!(t.get(Value::int(1)), Value::TRUE);
    vm.table_set(t, Value::num(-0.0), Value::int(5)).unwrap();
    assert_eq!(t.get(Value::int(0)), Value::int(5));
    assert_eq!(t.get(Value::num(0.0)), Value::int(5));
    vm.table_set(t, Value::num(1e15), Value::int(6)).unwrap();
    assert_eq!(t.get(Value::num(1e15)), Value::int(6));
    assert!(t.get(Value::num(f64::NAN)).is_nil());
    assert!(t.get(Value::NIL).is_nil());
    assert!(vm.table_set(t, Value::num(f64::NAN), Value::TRUE).is_err());
    assert!(vm.table_set(t, Value::NIL, Value::TRUE).is_err());
}

/// The order of iteration, by `next` and by position, which must agree.
fn entries(t: Gc<Table>) -> Vec<(Value, Value)> {
    let mut all = Vec::new();
    let mut i = 0;
    while let Some((next, k, v)) = t.next_index(i) {
        assert!(next > i);
        all.push((k, v));
        i = next;
    }
    let mut key = Value::NIL;
    let mut n = 0;
    while let Some((k, v)) = t.next(key).unwrap() {
        assert_eq!((k, v), all[n]);
        n += 1;
        key = k;
    }
    assert_eq!(n, all.len());
    all
}

fn random_key(vm: &mut Vm, rng: &mut Rng, range: u32) -> Value {
    match rng.below(8) {
        0..=2 => Value::int(rng.below(range) as i32),
        3 => Value::int(rng.below(range) as i32 - range as i32 / 2),
        4 => Value::number(f64::from(rng.below(range)) / 4.0),
        5 => Value::bool(rng.below(2) == 0),
        6 => Value::lightud(u64::from(rng.below(range)) * 16),
        _ => Value::str(vm.new_str(format!("key {}", rng.below(range)).as_bytes())),
    }
}

fn check_border(t: Gc<Table>) {
    let n = t.len() as i32;
    assert!(n == 0 || !t.get_int(n).is_nil());
    assert!(t.get_int(n + 1).is_nil());
}

#[test]
fn tables_agree_with_a_map() {
    for (seed, range) in [(1u64, 12), (2, 60), (3, 300), (4, 2000)] {
        let mut vm = vm();
        vm.gc_stop();
        let mut rng = Rng(seed * 0x1234_5678_9abc);
        let mut t = vm.new_table(0, 0);
        let mut model: HashMap<u64, Value> = HashMap::new();
        for step in 0..scale(20_000) {
            let key = random_key(&mut vm, &mut rng, range);
            let norm = super::table::normalize(key).bits();
            if rng.below(3) == 0 {
                vm.table_set(t, key, Value::NIL).unwrap();
                model.remove(&norm);
            } else {
                let v = Value::int(step as i32);
                vm.table_set(t, key, v).unwrap();
                model.insert(norm, v);
            }
            assert_eq!(t.get(key), model.get(&norm).copied().unwrap_or(Value::NIL));
            match rng.below(400) {
                0 => vm.table_resize(t, rng.below(40), rng.below(5)),
                1 => t = vm.dup_table(t),
                2 => vm.table_reserve_array(t, rng.below(100)),
                3 if range < 100 => {
                    vm.table_clear(t);
                    model.clear();
                }
                _ => {}
            }
            check_border(t);
            if step % 500 == 0 {
                vm.push(Value::table(t));
                vm.verify_heap();
                vm.top = vm.base;
                let all = entries(t);
                assert_eq!(all.len(), model.len());
                for (k, v) in all {
                    assert_eq!(model.get(&k.bits()), Some(&v));
                }
            }
        }
    }
}

#[test]
fn appending_fills_the_array_part() {
    let mut vm = vm();
    let t = vm.new_table(0, 0);
    for i in 1..=scale(10_000) as i32 {
        vm.table_set_int(t, i, Value::int(i));
        assert_eq!(t.len(), i as u32);
    }
    assert!(t.asize() as usize > scale(10_000));
    assert_eq!(t.num_nodes(), 0);
}

#[test]
fn array_sizes_are_luajits() {
    let mut vm = vm();
    let t = vm.new_table(0, 0);
    let mut sizes = Vec::new();
    for i in 1..=40 {
        vm.table_set_int(t, i, Value::TRUE);
        if sizes.last() != Some(&t.asize()) {
            sizes.push(t.asize());
        }
    }
    assert_eq!(sizes, [3, 5, 9, 17, 33, 65]);
}

#[test]
fn entries_may_be_removed_while_iterating() {
    let mut vm = vm();
    let t = vm.new_table(0, 0);
    for i in 0..100 {
        let s = vm.new_str(format!("n{i}").as_bytes());
        vm.table_set_str(t, s, Value::int(i));
        vm.table_set_int(t, i * 7, Value::int(i));
    }
    let mut key = Value::NIL;
    let mut n = 0;
    while let Some((k, _)) = t.next(key).unwrap() {
        vm.table_set(t, k, Value::NIL).unwrap();
        key = k;
        n += 1;
    }
    assert_eq!(n, 200);
    assert!(t.next(Value::int(123_456)).is_err());
    assert!(t.is_empty());
}

#[test]
fn a_new_string_key_resets_the_metamethod_cache() {
    let mut vm = vm();
    let t = vm.new_table(0, 2);
    let k = vm.new_str(b"__index");
    t.hdr.b0.set(0xff);
    vm.table_set_str(t, k, Value::TRUE);
    assert_eq!(t.hdr.b0.get(), 0);
    t.hdr.b0.set(0xff);
    vm.table_set(t, Value::str(k), Value::NIL).unwrap();
    assert_eq!(t.hdr.b0.get(), 0);
    t.hdr.b0.set(0xff);
    let k2 = vm.new_str(b"__newindex");
    let slot = vm.table_new_key(t, Value::str(k2));
    assert_eq!(t.hdr.b0.get(), 0);
    // SAFETY: the slot just made.
    unsafe { *slot = Value::TRUE };
    assert_eq!(t.get_str(k2), Value::TRUE);
    assert_eq!(t.node_of(slot).map(|i| t.nodes()[i as usize].key.get()), Some(Value::str(k2)));
    assert_eq!(t.find_str(k2), Some(slot));
}

#[test]
fn borders_in_sparse_tables() {
    let mut vm = vm();
    let t = vm.new_table(0, 0);
    assert_eq!(t.len(), 0);
    for i in [1, 2, 3, 5, 1000] {
        vm.table_set_int(t, i, Value::TRUE);
        check_border(t);
    }
    for i in (1..=64).rev() {
        vm.table_set_int(t, i, Value::TRUE);
        check_border(t);
    }
    assert_eq!(t.len(), 64);
}

/// Which border is found depends on the contents of the table, not on earlier queries.
#[test]
fn borders_do_not_depend_on_the_last_one() {
    let mut vm = vm();
    let mut rng = Rng(0x1234_5678_9abc_def1);
    for size in [2, 3, 5, 6, 9, 17, 33, 65] {
        let t = vm.new_table(size, 0);
        for _ in 0..scale(4000) {
            let key = 1 + rng.below(size - 1) as i32;
            // Changes at the border, as when lists grow and shrink, or anywhere.
            let (at, v) = match rng.below(5) {
                0 | 1 => (t.len() as i32 + 1, Value::TRUE),
                2 => (t.len() as i32, Value::NIL),
                3 => (key, Value::TRUE),
                _ => (key, Value::NIL),
            };
            if (1..size as i32).contains(&at) {
                vm.table_set_int(t, at, v);
            }
            let fresh = vm.new_table(size, 0);
            for i in 1..size as i32 {
                vm.table_set_int(fresh, i, t.get_int(i));
            }
            assert_eq!((t.len(), t.asize()), (fresh.len(), fresh.asize()));
            check_border(t);
        }
    }
}

#[test]
fn prototypes_hold_their_constants() {
    use crate::bc::{Ins, KGc, KNum, KVal, ProtoData, TableTemplate};
    let mut vm = vm();
    let key = |s: &str| KVal::Str(s.as_bytes().into());
    let template = TableTemplate {
        array: vec![KVal::Nil, KVal::Int(10), KVal::Num(f64::NAN)],
        hash: vec![(key("x"), KVal::Nil), (key("y"), KVal::Bool(true)), (key("z"), KVal::Nil), (KVal::Num(2.5), key("text"))],
    };
    let d = ProtoData {
        bc: vec![Ins(7), Ins(8)],
        kgc: vec![KGc::Str(b"first".as_slice().into()), KGc::Table(template)],
        knum: vec![KNum::Int(1), KNum::Num(0.5)],
        upvalues: Vec::new(),
        num_params: 2,
        framesize: 9,
        is_vararg: true,
        has_children: false,
        first_line: 0,
        last_line: 5,
        lines: vec![3, 4],
        chunkname: b"=chunk".as_slice().into(),
        uv_names: vec![b"up".as_slice().into()],
        vars: Vec::new(),
    };
    let p = vm.heap.new_proto(&d);
    assert_eq!((p.framesize(), p.num_params(), p.is_vararg(), p.code_len()), (9, 2, true, 2));
    // SAFETY: within the constants.
    let k = |i: isize| unsafe { *p.k.get().offset(i) };
    assert_eq!((k(0), k(1)), (Value::int(1), Value::num(0.5)));
    assert_eq!((p.knum(1), p.knum(2)), (Some(Value::num(0.5)), None));
    assert_eq!(k(-2).as_str().unwrap().bytes(), b"first");
    assert_eq!(p.kgc(1), Some(k(-3)));
    let template = k(-3).as_table().unwrap();
    let t = vm.dup_table(template);
    assert_eq!((t.asize(), t.num_nodes()), (3, 4));
    assert_eq!(t.get_int(1), Value::int(10));
    for name in ["x", "y", "z"] {
        let s = vm.new_str(name.as_bytes());
        let slot = t.find_str(s).expect("the key has a node");
        // SAFETY: a slot of the table.
        assert_eq!(unsafe { *slot }, if name == "y" { Value::TRUE } else { Value::NIL });
    }
    assert_eq!(t.get(Value::num(2.5)).as_str().unwrap().bytes(), b"text");
    vm.push(Value::proto(p));
    vm.full_gc();
    vm.verify_heap();
    assert_eq!(p.chunkname.bytes(), b"=chunk");
}

/// Tables of one shape have the same keys in the same nodes, after any operations.
#[test]
fn shapes_determine_keys() {
    let mut vm = vm();
    let mut rng = Rng(0x2545_f491_4f6c_dd1d);
    let keys: Vec<_> = (0..12).map(|i| vm.new_str(format!("key{i}").as_bytes())).collect();
    let mut seen: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut met_again = 0;
    for _ in 0..scale(3000) {
        let mut t = vm.new_table(0, rng.below(4));
        for _ in 0..rng.below(12) {
            let key = keys[(rng.below(4) * rng.below(4)) as usize];
            match rng.below(12) {
                0 => vm.table_set_str(t, key, Value::NIL),
                1 => t = vm.dup_table(t),
                2 if rng.below(8) == 0 => vm.table_clear(t),
                3 if rng.below(8) == 0 => vm.table_set_int(t, 1000, Value::TRUE),
                _ => vm.table_set_str(t, key, Value::TRUE),
            }
        }
        let shape = t.shape.get();
        if shape.is_some() {
            let now: Vec<u64> = t.nodes().iter().map(|n| n.key.get().bits()).collect();
            match seen.get(&shape.number()) {
                Some(before) => {
                    assert_eq!(*before, now);
                    met_again += 1;
                }
                None => drop(seen.insert(shape.number(), now)),
            }
        }
    }
    assert!(met_again > if cfg!(miri) { 0 } else { 1000 });
}

#[test]
fn records_have_shapes_and_dictionaries_have_none() {
    let mut vm = vm();
    let names = ["x", "y", "z"].map(|s| vm.new_str(s.as_bytes()));
    let mut record = |order: [usize; 3]| {
        let t = vm.new_table(0, 2);
        for i in order {
            vm.table_set_str(t, names[i], Value::TRUE);
        }
        t.shape.get()
    };
    let first = record([0, 1, 2]);
    assert!(first.is_some());
    assert_eq!(first, record([0, 1, 2]));
    assert_ne!(first, record([0, 2, 1]));
    let t = vm.new_table(0, 2);
    vm.table_set_int(t, -5, Value::TRUE);
    assert!(!t.shape.get().is_some());
    let many = vm.new_table(0, 0);
    for i in 0..100 {
        let s = vm.new_str(format!("word{i}").as_bytes());
        vm.table_set_str(many, s, Value::TRUE);
    }
    assert!(!many.shape.get().is_some());
    // Each table's first key is a different one: at some point such keys are data.
    let last = (0..5000).map(|i| {
        let t = vm.new_table(0, 1);
        let s = vm.new_str(format!("first{i}").as_bytes());
        vm.table_set_str(t, s, Value::TRUE);
        t.shape.get()
    });
    assert!(!last.last().unwrap().is_some());
}

#[test]
fn watchpoints_wear_out() {
    let mut vm = vm();
    let (t, key, other) = (vm.new_table(0, 2), vm.new_str(b"method"), vm.new_str(b"data"));
    vm.table_set_str(t, key, Value::TRUE);
    let field = WatchedField { table: t, key: Some(key) };
    assert!(vm.heap.watch_field(field));
    assert!(t.is_watched() && key.is_watched() && !other.is_watched());
    vm.heap.use_watched(field);
    // First a store to another key, then to this one, which fires, permanently.
    vm.table_set_str(t, other, Value::TRUE);
    assert!(vm.heap.watch_field(field));
    vm.table_set_str(t, key, Value::FALSE);
    assert!(!vm.heap.watch_field(field));
    // A key that compiled code stores under without a check gets no watchpoints.
    assert!(vm.heap.note_stored_key(other));
    assert!(!vm.heap.watch_field(WatchedField { table: t, key: Some(other) }));
    assert!(!vm.heap.note_stored_key(key));
    // A table that changes again and again.
    for i in 0..4 {
        let s = vm.new_str(format!("method{i}").as_bytes());
        let _ = vm.heap.watch_field(WatchedField { table: t, key: Some(s) });
        vm.table_set_str(t, s, Value::TRUE);
    }
    let s = vm.new_str(b"one more");
    assert!(!vm.heap.watch_field(WatchedField { table: t, key: Some(s) }));
    assert!(!t.is_watched());
    // Metatables, and all keys at once.
    let c = vm.new_table(0, 0);
    assert!(vm.heap.watch_field(WatchedField { table: c, key: None }));
    vm.set_table_meta(c, Some(t));
    assert!(!vm.heap.watch_field(WatchedField { table: c, key: None }));
    assert!(vm.heap.watch_field(WatchedField { table: c, key: Some(key) }));
    vm.table_clear(c);
    assert!(!vm.heap.watch_field(WatchedField { table: c, key: Some(key) }));
}

#[test]
fn hashes_of_doubles_spread() {
    const NODES: u32 = 4096;
    type Set = (&'static str, fn(f64) -> f64);
    let sets: [Set; 6] = [
        ("halves", |i| i + 0.5),
        ("large", |i| i * 1_099_511_627_776.0),
        ("fractions", |i| i / 8192.0),
        ("thirds", |i| i / 3.0 + 1e10),
        ("negative", |i| -i - 0.25),
        ("powers", |i| (i - 2048.0) * 2f64.powf(i % 64.0)),
    ];
    for (name, key) in sets {
        let keys: std::collections::HashSet<u64> = (1..=NODES).map(|i| key(f64::from(i)).to_bits()).collect();
        let mut chains = vec![0; NODES as usize];
        for bits in keys {
            let hash = super::table::hash_key(super::table::normalize(Value::num(f64::from_bits(bits))));
            chains[(hash % NODES) as usize] += 1;
        }
        // As many keys as nodes: by chance the longest chain has seven or eight.
        let longest = *chains.iter().max().expect("nodes");
        assert!(longest <= 12, "{name}: {longest}");
    }
}
