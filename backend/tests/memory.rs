//! Addresses, loads and stores of objects, and the calls after some of them.

mod common;

use common::helpers::{ARGS, CALLS, RESULT, WHO};
use common::{Build, Machine, run, value_of};
use perilune_recorder::ir::{Const, IrRef, Op, Ty, VmRef};
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::layout::{Field, ofs};
use perilune_vm::object::table::{hash_int, hash_key};
use perilune_vm::value as v;

fn tab(address: u64) -> Value {
    value_of(v::TAG_TAB << v::PAYLOAD_BITS | address)
}

#[test]
fn array_slots() {
    let mut cells: Vec<Value> = (0..8).map(Value::int).collect();
    let mut t = Build::new();
    let s = t.slots(&[Ty::P64, Ty::Int]);
    let k3 = t.int(3);
    let at_index = t.emit(Op::AREF, Ty::P64, s[0], s[1]);
    let at_3 = t.emit(Op::AREF, Ty::P64, s[0], k3);
    let x = t.guarded(Op::ALOAD, Ty::Int, at_index, IrRef::NIL);
    let y = t.guarded(Op::ALOAD, Ty::Int, at_3, IrRef::NIL);
    t.emit(Op::ASTORE, Ty::Nil, at_3, IrRef::TRUE);
    t.emit(Op::ASTORE, Ty::Int, at_index, y);
    let trace = t.results(&[x, y]);
    let base = value_of(cells.as_mut_ptr() as u64);
    assert_eq!(run(&trace, &[base, Value::int(5)]).1[..2], [Value::int(5), Value::int(3)]);
    assert_eq!((cells[3], cells[5]), (Value::TRUE, Value::int(3)));
}

#[test]
fn stores_box_every_type() {
    let samples = [
        (Ty::Int, Value::int(-1)),
        (Ty::Num, Value::num(0.5)),
        (Ty::Tab, tab(0x4440)),
        (Ty::LightUd, Value::lightud(0x123)),
        (Ty::False, Value::FALSE),
        (Ty::U64, Value::TRUE),
    ];
    for op in [Op::ASTORE, Op::HSTORE, Op::USTORE] {
        for (ty, value) in samples {
            let mut cell = 0u64;
            let mut t = Build::new();
            let s = t.slots(&[Ty::P64, ty]);
            t.emit(op, ty, s[0], s[1]);
            assert_eq!(run(&t.results(&[]), &[value_of(&raw mut cell as u64), value]).0, 1);
            assert_eq!(value_of(cell), value, "{op:?} {ty:?}");
        }
    }
}

#[test]
fn hash_slots_are_guarded_by_their_key() {
    let key = value_of(v::TAG_STR << v::PAYLOAD_BITS | 0x6660);
    let nodes: [u64; 9] = [0, 0, 0, 0, 0, 0, Value::int(8).bits(), key.bits(), 0];
    for (node, ok) in [(2, true), (1, false)] {
        let mut t = Build::new();
        let s = t.slot(2, Ty::P64);
        let k = t.konst(Const::Gc(key));
        let k = t.konst(Const::Slot(k, node));
        let p = t.emit(Op::HREFK, Ty::P64, s, k);
        let x = t.guarded(Op::HLOAD, Ty::Int, p, IrRef::NIL);
        let (exit, out) = run(&t.results(&[x]), &[value_of(nodes.as_ptr() as u64)]);
        assert_eq!((exit == 1, out[0] == Value::int(8)), (ok, ok));
    }
}

#[test]
fn lookups_call_the_helper_for_the_key() {
    let cell = Value::int(31);
    let keys = [
        (Op::HREF, Ty::Int, Value::int(-7), -7i32 as u32 as u64, Helper::TabGetInt),
        (Op::HREF, Ty::Num, Value::num(1.5), 1.5f64.to_bits(), Helper::TabGet),
        (Op::HREF, Ty::True, Value::TRUE, Value::TRUE.bits(), Helper::TabGet),
        (Op::NEWREF, Ty::Int, Value::int(-7), Value::int(-7).bits(), Helper::TabNewKey),
    ];
    for (op, ty, key, arg, helper) in keys {
        let mut t = Build::new();
        let s = t.slots(&[Ty::Tab, ty]);
        let key_ref = if ty == Ty::True { IrRef::TRUE } else { s[1] };
        let p = t.emit(op, Ty::P64, s[0], key_ref);
        let x = t.guarded(Op::HLOAD, Ty::Int, p, IrRef::NIL);
        let trace = t.results(&[x]);
        let mut m = Machine::new();
        (*m.slot(2), *m.slot(3)) = (tab(0x770).bits(), key.bits());
        m.vm[RESULT] = &raw const cell as u64;
        assert_eq!(m.run(&trace), 1);
        assert_eq!(m.slot_value(10), cell);
        assert_eq!(m.vm[WHO], helper as u64);
        assert_eq!(m.vm[ARGS], 0x770);
        let mask = if helper == Helper::TabGetInt { 0xffff_ffff } else { !0 };
        assert_eq!(m.vm[ARGS + 1] & mask, arg);
    }
}

#[test]
fn string_keys_are_looked_for_along_the_chain() {
    // The hash is in the upper half of the object's first word.
    let strings: [[u64; 3]; 3] = core::array::from_fn(|_| [1 << 32, 0, 0]);
    let keys = core::array::from_fn(|i| value_of(v::TAG_STR << v::PAYLOAD_BITS | strings[i].as_ptr() as u64));
    for constant in [false, true] {
        looks_along_the_chain(Ty::Str, keys, constant);
    }
}

#[test]
fn keys_that_are_objects_are_looked_for_along_the_chain() {
    // Addresses decide where they are looked for first: three with the same place.
    let mut keys = (1..).map(|i| tab(i * 16)).filter(|key| hash_key(*key) & 3 == 1);
    let keys = core::array::from_fn(|_| keys.next().unwrap_or(Value::NIL));
    looks_along_the_chain(Ty::Tab, keys, false);
}

#[test]
fn ints_that_are_no_index_are_looked_for_along_the_chain() {
    let mut keys = (-50_i32..).filter(|key| hash_int(*key) & 3 == 1).map(Value::int);
    let keys: [Value; 3] = core::array::from_fn(|_| keys.next().unwrap_or(Value::NIL));
    for constant in [false, true] {
        looks_along_the_chain(Ty::Int, keys, constant);
    }
}

/// The first key is the second of a chain of two that starts at node 1 of 4, the last one is absent. The hashes of all lead there.
fn looks_along_the_chain(ty: Ty, [key, other, absent]: [Value; 3], constant: bool) {
    let mut nodes = [0; 12];
    (nodes[4], nodes[3]) = (other.bits(), Value::int(1).bits());
    (nodes[10], nodes[9]) = (key.bits(), Value::int(2).bits());
    nodes[5] = &raw const nodes[9] as u64;
    let table = [0, 0, 0, nodes.as_ptr() as u64, 3, 0];
    for (wanted, check, expected) in [
        (other, Op::NE, Some(1)),
        (key, Op::NE, Some(2)),
        (absent, Op::NE, None),
        (absent, Op::EQ, Some(0)),
        (key, Op::EQ, None),
        (key, Op::NOP, Some(2)),
    ] {
        let mut t = Build::new();
        let s = t.slots(&[Ty::Tab, ty]);
        let k = match wanted.as_int() {
            Some(i) if constant => t.konst(Const::Int(i)),
            None if constant => t.konst(Const::Gc(wanted)),
            _ => s[1],
        };
        if ty == Ty::Int {
            // No index of the array part, which is empty.
            let size = t.emit(Op::FLOAD, Ty::Int, s[0], IrRef(Field::TabAsize as u16));
            t.emit(Op::ULE, Ty::Int, size, k);
        }
        let p = t.emit(Op::HREF, Ty::P64, s[0], k);
        if check != Op::NOP {
            let nil = t.konst(Const::Vm(VmRef::NilSlot));
            t.emit(check, Ty::P64, p, nil);
        }
        let x = if check == Op::EQ { t.konst(Const::Int(0)) } else { t.guarded(Op::HLOAD, Ty::Int, p, IrRef::NIL) };
        let (exit, out) = run(&t.results(&[x]), &[tab(table.as_ptr() as u64), wanted]);
        assert_eq!((exit == 1).then(|| out[0]), expected.map(Value::int), "{check:?} {constant}");
    }
}

#[test]
fn upvalues_open_and_closed() {
    for closed in [false, true] {
        let stack_slot = Value::int(1);
        // An upvalue: header with the closed byte, address of the value, the closed value.
        let upvalue = [u64::from(closed) << 16, &raw const stack_slot as u64, Value::int(2).bits(), 0];
        let function = [0, 0, 0, 0, 0, upvalue.as_ptr() as u64];
        for op in [Op::UREFO, Op::UREFC] {
            let mut t = Build::new();
            let s = t.slot(2, Ty::P64);
            let p = t.emit(op, Ty::P64, s, IrRef(1 << 8));
            let x = t.guarded(Op::ULOAD, Ty::Int, p, IrRef::NIL);
            let (exit, out) = run(&t.results(&[x]), &[value_of(function.as_ptr() as u64)]);
            assert_eq!(exit == 1, closed == (op == Op::UREFC));
            assert!(exit == 0 || out[0] == Value::int(1 + i32::from(closed)));
        }
    }
}

#[test]
fn fields_are_loaded_and_stored_raw() {
    let mut table = [0u64; 6];
    table[0] = 0x0000_0007_00ff_0000;
    table[2] = 0x5550;
    table[4] = 15;
    let mut t = Build::new();
    let s = t.slot(2, Ty::Tab);
    let field = |f: Field| IrRef(f as u16);
    let asize = t.emit(Op::FLOAD, Ty::Int, s, field(Field::TabAsize));
    let nomm = t.emit(Op::FLOAD, Ty::U8, s, field(Field::TabNomm));
    let hmask = t.emit(Op::FLOAD, Ty::Int, s, field(Field::TabHmask));
    let meta = t.emit(Op::FLOAD, Ty::Tab, s, field(Field::TabMeta));
    let null = t.konst(Const::Null(Ty::Tab));
    t.emit(Op::NE, Ty::Tab, meta, null);
    let nomm_at = t.emit(Op::FREF, Ty::P64, s, field(Field::TabNomm));
    let zero = t.int(0);
    t.emit(Op::FSTORE, Ty::U8, nomm_at, zero);
    let meta_at = t.emit(Op::FREF, Ty::P64, s, field(Field::TabMeta));
    t.emit(Op::FSTORE, Ty::Tab, meta_at, null);
    let trace = t.results(&[asize, nomm, hmask, meta]);
    let (exit, out) = run(&trace, &[tab(table.as_mut_ptr() as u64)]);
    assert_eq!((exit, out), (1, [Value::int(7), Value::int(255), Value::int(15), tab(0x5550)]));
    assert_eq!((table[0], table[2]), (0x0000_0007_0000_0000, 0));
    assert_eq!(run(&trace, &[tab(table.as_mut_ptr() as u64)]).0, 0);
}

#[test]
fn raw_loads_and_stores_of_every_width() {
    let mut bytes = [0u8; 64];
    bytes[24..28].copy_from_slice(&[0xfe, 0xff, 0x01, 0x02]);
    let mut t = Build::new();
    let s = t.slots(&[Ty::Str, Ty::Int]);
    let p = t.emit(Op::STRREF, Ty::P64, s[0], s[1]);
    let r = [Ty::U8, Ty::I8, Ty::U16, Ty::I16].map(|ty| t.emit(Op::XLOAD, ty, p, IrRef(1)));
    let k = t.int(8);
    let q = t.emit(Op::STRREF, Ty::P64, s[0], k);
    t.emit(Op::XSTORE, Ty::U16, q, r[1]);
    let trace = t.results(&r);
    let string = value_of(v::TAG_STR << v::PAYLOAD_BITS | bytes.as_mut_ptr() as u64);
    let (_, out) = run(&trace, &[string, Value::int(0)]);
    assert_eq!(out, [254, -2, 65534, -2].map(Value::int));
    assert_eq!(bytes[32..36], [0xfe, 0xff, 0, 0]);
}

#[test]
fn the_running_coroutine_and_table_lengths() {
    let mut t = Build::new();
    let thread = t.emit(Op::LREF, Ty::Thread, IrRef::NONE, IrRef::NONE);
    let s = t.slot(2, Ty::Tab);
    let len = t.emit(Op::ALEN, Ty::Int, s, IrRef::NIL);
    let trace = t.results(&[thread, len]);
    let mut m = Machine::new();
    m.set(ofs::VM_CUR, 0x9990);
    m.vm[RESULT] = 12;
    *m.slot(2) = tab(0x100).bits();
    assert_eq!(m.run(&trace), 1);
    assert_eq!(m.slot_value(10), value_of(v::TAG_THREAD << v::PAYLOAD_BITS | 0x9990));
    assert_eq!((m.slot_value(11), m.vm[CALLS]), (Value::int(12), 1));
}

#[test]
fn unused_pure_instructions_are_not_emitted() {
    let mut t = Build::new();
    let s = t.slot(2, Ty::Tab);
    t.emit(Op::ALEN, Ty::Int, s, IrRef::NIL);
    t.emit(Op::TNEW, Ty::Tab, IrRef(1), IrRef(1));
    let trace = t.results(&[]);
    let mut m = Machine::new();
    m.run(&trace);
    assert_eq!(m.vm[CALLS], 0);
}
