//! Stack and value loads with their type checks, and boxing on the way out.

mod common;

use common::{Build, Machine, exit_id, run, value_of};
use perilune_recorder::ir::{Const, Ins, IrRef, Link, Op, Ty, VmRef, sload};
use perilune_vm::Value;
use perilune_vm::value as v;

fn tagged(tag: u64, payload: u64) -> Value {
    value_of(tag << v::PAYLOAD_BITS | payload)
}

/// A value of each type, with the type that a load observes.
fn samples() -> Vec<(Ty, Value)> {
    vec![
        (Ty::Nil, Value::NIL),
        (Ty::False, Value::FALSE),
        (Ty::True, Value::TRUE),
        (Ty::LightUd, Value::lightud(0x7fff_ffff_ffff)),
        (Ty::LightUd, Value::lightud(0)),
        (Ty::Str, tagged(v::TAG_STR, 0x7f12_3456_7890)),
        (Ty::Thread, tagged(v::TAG_THREAD, 0x1230)),
        (Ty::Proto, tagged(v::TAG_PROTO, 0x1230)),
        (Ty::Func, tagged(v::TAG_FUNC, 0x1230)),
        (Ty::Tab, tagged(v::TAG_TAB, 0x1230)),
        (Ty::Udata, tagged(v::TAG_UDATA, 0x1230)),
        (Ty::Int, Value::int(-5)),
        (Ty::Int, Value::int(i32::MAX)),
        (Ty::Num, Value::num(-1.5)),
        (Ty::Num, Value::num(f64::NEG_INFINITY)),
        (Ty::Num, value_of(0xfff8_0000_0000_0000)),
    ]
}

#[test]
fn guarded_loads_take_their_type_only_and_box_it_again() {
    let mut tys: Vec<Ty> = samples().iter().map(|s| s.0).collect();
    tys.dedup();
    for ty in tys {
        let mut t = Build::new();
        let a = t.guarded(Op::SLOAD, ty, IrRef(2), IrRef(sload::TYPECHECK));
        let trace = t.results(&[a]);
        let mut m = Machine::new();
        m.install(&trace, common::TRACE, exit_id(0));
        for (actual, value) in samples() {
            *m.slot(2) = value.bits();
            *m.slot(10) = 0;
            let (exit, _) = m.enter(common::TRACE);
            let accepted = actual == ty || (ty, actual) == (Ty::Num, Ty::Int);
            assert_eq!(exit == 1, accepted, "{ty:?} {value:?}");
            if actual == ty {
                assert_eq!(m.slot_value(10), value, "{ty:?}");
            } else if accepted {
                assert_eq!(m.slot_value(10), Value::num(f64::from(value.as_int_unchecked())));
            }
        }
    }
}

#[test]
fn unguarded_loads_trust_their_type() {
    for (ty, value) in samples() {
        let mut t = Build::new();
        let a = t.emit(Op::SLOAD, ty, IrRef(2), IrRef(sload::PARENT));
        assert_eq!(run(&t.results(&[a]), &[value]), (1, [value, Value::NIL, Value::NIL, Value::NIL]), "{ty:?}");
    }
}

#[test]
fn converting_loads_take_the_other_number() {
    let load = |ty, flags, guard, value| {
        let mut t = Build::new();
        let ins = Ins::new(Op::SLOAD, ty, IrRef(2), IrRef(flags));
        t.t.ins.push(if guard { ins.guarded() } else { ins });
        let a = IrRef::of_ins(t.t.ins.len() - 1);
        let (exit, out) = run(&t.results(&[a]), &[value]);
        (exit == 1).then_some(out[0])
    };
    assert_eq!(load(Ty::Num, sload::CONVERT, false, Value::int(7)), Some(Value::num(7.0)));
    assert_eq!(load(Ty::Num, sload::CONVERT, false, Value::num(7.5)), Some(Value::num(7.5)));
    assert_eq!(load(Ty::Num, 0, false, Value::num(7.5)), Some(Value::num(7.5)));
    let int = |value| load(Ty::Int, sload::CONVERT | sload::TYPECHECK, true, value);
    assert_eq!(int(Value::int(7)), Some(Value::int(7)));
    assert_eq!(int(Value::num(7.0)), Some(Value::int(7)));
    assert_eq!(int(Value::num(7.5)), None);
    assert_eq!(int(Value::num(-0.0)), None);
    assert_eq!(int(Value::NIL), None);
}

#[test]
fn loop_control_indices_and_frame_slots_are_raw() {
    let mut t = Build::new();
    let key = t.emit(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::KEYINDEX));
    let link = t.emit(Op::SLOAD, Ty::P64, IrRef(1), IrRef(sload::FRAME));
    let func = t.emit(Op::SLOAD, Ty::Func, IrRef(0), IrRef(sload::FRAME));
    let trace = t.results(&[key, link, func]);
    let mut m = Machine::new();
    *m.slot(2) = 42;
    *m.slot(1) = 0x1234_5678_9abc;
    *m.slot(0) = tagged(v::TAG_FUNC, 0x5550).bits();
    assert_eq!(m.run(&trace), 1);
    assert_eq!(m.slot_value(10), Value::int(42));
    assert_eq!((*m.slot(11), m.slot_value(12)), (0x1234_5678_9abc, tagged(v::TAG_FUNC, 0x5550)));
}

#[test]
fn value_loads_check_like_stack_loads() {
    for (op, b) in [(Op::ALOAD, 0), (Op::HLOAD, 0), (Op::ULOAD, 0), (Op::VLOAD, 1)] {
        for (ty, value) in samples() {
            let cells = [value.bits(), value.bits()];
            let wrong = [Value::NIL.bits(), if ty == Ty::Nil { 0 } else { !0 }];
            for (cells, ok) in [(&cells, true), (&wrong, false)] {
                let mut t = Build::new();
                let p = t.slot(2, Ty::P64);
                let r = t.guarded(op, ty, p, IrRef(b));
                let at = if ok { cells.as_ptr() } else { cells[1..].as_ptr() };
                let at = if op == Op::VLOAD && !ok { cells.as_ptr() } else { at };
                let (exit, out) = run(&t.results(&[r]), &[value_of(at as u64)]);
                assert_eq!(exit == 1, ok, "{op:?} {ty:?}");
                assert!(!ok || out[0] == value);
            }
        }
    }
}

#[test]
fn constants_are_boxed_in_snapshots() {
    let all = [
        (Const::Int(-9), Value::int(-9)),
        (Const::Num(2.5f64.to_bits()), Value::num(2.5)),
        (Const::Gc(tagged(v::TAG_STR, 0x7770)), tagged(v::TAG_STR, 0x7770)),
        (Const::Ptr(0x1234_5678_9abc), value_of(0x1234_5678_9abc)),
    ];
    let mut t = Build::new();
    let refs = all.map(|(k, _)| t.konst(k));
    assert_eq!(run(&t.results(&refs), &[]).1, all.map(|a| a.1));
    let t = Build::new();
    let (_, out) = run(&t.results(&[IrRef::NIL, IrRef::FALSE, IrRef::TRUE]), &[]);
    assert_eq!(out[..3], [Value::NIL, Value::FALSE, Value::TRUE]);
}

#[test]
fn addresses_inside_the_vm() {
    let mut t = Build::new();
    let nil = t.konst(Const::Vm(VmRef::NilSlot));
    let scratch = t.konst(Const::Vm(VmRef::Scratch));
    t.guarded(Op::HLOAD, Ty::Nil, nil, IrRef::NIL);
    let s = t.guarded(Op::VLOAD, Ty::Int, scratch, IrRef(2));
    let trace = t.results(&[s]);
    let mut m = Machine::new();
    m.set(perilune_vm::layout::ofs::VM_SCRATCH + 16, Value::int(77).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!(m.slot_value(10), Value::int(77));
}

#[test]
fn values_that_only_exits_need_are_computed_in_exits() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Int]);
    let sum = t.emit(Op::ADD, Ty::Int, s[0], s[1]);
    let k = t.int(100);
    let twice = t.emit(Op::MUL, Ty::Int, sum, k);
    t.snap(&[(10, twice), (11, sum)]);
    t.emit(Op::LT, Ty::Int, s[0], s[1]);
    t.emit(Op::NE, Ty::Int, s[0], k);
    let trace = t.end(&[(10, sum)], Link::Interp);
    assert_eq!(run(&trace, &[Value::int(5), Value::int(3)]), (1, [Value::int(800), Value::int(8), Value::NIL, Value::NIL]));
    assert_eq!(run(&trace, &[Value::int(3), Value::int(5)]).0, 2);
}
