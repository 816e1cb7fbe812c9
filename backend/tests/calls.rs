//! Helper calls, barriers and collection steps.

mod common;

use common::helpers::{ARGS, CALLS, RESULT, WHO};
use common::{Build, Machine, exit_id, run, trace_id, value_of};
use perilune_recorder::ir::{IrRef, Op, Ty};
use perilune_vm::Value;
use perilune_vm::gc::color::{BARRIER, BLACK, LEAF};
use perilune_vm::helper::Helper;
use perilune_vm::layout::ofs;
use perilune_vm::value as v;

fn gc(tag: u64, address: u64) -> Value {
    value_of(tag << v::PAYLOAD_BITS | address)
}

#[test]
fn argument_chains_follow_the_helper_table() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Tab, Ty::Int, Ty::Str]);
    let a = t.emit(Op::CARG, Ty::Nil, s[0], s[1]);
    let a = t.emit(Op::CARG, Ty::Nil, a, s[2]);
    t.emit(Op::CALLS, Ty::Nil, a, IrRef(Helper::TabInsert as u16));
    let trace = t.results(&[]);
    let mut m = Machine::new();
    (*m.slot(2), *m.slot(3), *m.slot(4)) = (gc(v::TAG_TAB, 0x10).bits(), Value::int(4).bits(), gc(v::TAG_STR, 0x20).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!((m.vm[ARGS], m.vm[ARGS + 1] as u32, m.vm[ARGS + 2]), (0x10, 4, gc(v::TAG_STR, 0x20).bits()));
}

#[test]
fn results_have_the_type_of_the_instruction() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Num, Ty::Num]);
    let args = t.emit(Op::CARG, Ty::Nil, s[0], s[1]);
    let p = t.emit(Op::CALLN, Ty::Num, args, IrRef(Helper::Pow as u16));
    let l = t.emit(Op::CALLN, Ty::Num, s[0], IrRef(Helper::Log2 as u16));
    let b = t.emit(Op::CALLA, Ty::Str, IrRef::NIL, IrRef(Helper::BufStr as u16));
    let trace = t.results(&[p, l, b]);
    let mut m = Machine::new();
    m.vm[RESULT] = 0x777;
    (*m.slot(2), *m.slot(3)) = (Value::num(8.0).bits(), Value::num(2.0).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!([10, 11, 12].map(|i| m.slot_value(i)), [Value::num(64.0), Value::num(3.0), gc(v::TAG_STR, 0x777)]);
}

#[test]
fn too_few_arguments_are_refused() {
    let mut t = Build::new();
    let s = t.slot(2, Ty::Num);
    let p = t.emit(Op::CALLN, Ty::Num, s, IrRef(Helper::Pow as u16));
    let k = t.num(0.0);
    t.emit(Op::LT, Ty::Num, p, k);
    let trace = t.results(&[]);
    let error = Machine::new().compile(perilune_backend::TraceTree::single(&trace, trace_id(1), exit_id(0))).unwrap_err();
    assert_eq!(error.to_string(), "malformed trace at 0002: too few arguments");
}

#[test]
fn strings_and_tables_are_made_by_helpers() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::P64, Ty::Int, Ty::Num, Ty::Tab]);
    let r = [
        t.emit(Op::SNEW, Ty::Str, s[0], s[1]),
        t.emit(Op::TNEW, Ty::Tab, IrRef(3), IrRef(2)),
        t.emit(Op::TDUP, Ty::Tab, s[3], IrRef::NIL),
        t.emit(Op::TOSTR, Ty::Str, s[1], IrRef(0)),
    ];
    let trace = t.results(&r);
    let mut m = Machine::new();
    m.vm[RESULT] = 0x440;
    assert_eq!(m.run(&trace), 1);
    assert_eq!(m.vm[CALLS], 4);
    let (s, t) = (gc(v::TAG_STR, 0x440), gc(v::TAG_TAB, 0x440));
    assert_eq!([10, 11, 12, 13].map(|i| m.slot_value(i)), [s, t, t, s]);
}

#[test]
fn a_trace_is_left_where_no_key_is_inserted() {
    for (guarded, slot) in [(true, 0x440), (true, 0), (false, 0x440)] {
        let mut t = Build::new();
        let s = t.slots(&[Ty::Tab, Ty::Int]);
        t.snap(&[]);
        let r = if guarded { t.guarded(Op::NEWREF, Ty::P64, s[0], s[1]) } else { t.emit(Op::NEWREF, Ty::P64, s[0], s[1]) };
        let k = t.word(0x440);
        t.emit(Op::EQ, Ty::P64, r, k);
        let trace = t.results(&[s[1]]);
        let mut m = Machine::new();
        m.vm[RESULT] = slot;
        (*m.slot(2), *m.slot(3)) = (gc(v::TAG_TAB, 0x10).bits(), Value::int(4).bits());
        let exit = m.run(&trace);
        assert_eq!(m.vm[CALLS], 1);
        assert_eq!(exit == trace.last_exit().index() as u64, slot != 0, "{guarded} {slot}");
    }
}

#[test]
fn string_buffers_are_filled_in_order() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Str, Ty::Str]);
    let null = t.konst(perilune_recorder::ir::Const::Null(Ty::P64));
    let h = t.emit(Op::BUFHDR, Ty::P64, null, IrRef(0));
    let a = t.emit(Op::BUFPUT, Ty::P64, h, s[0]);
    let b = t.emit(Op::BUFPUT, Ty::P64, a, s[1]);
    let r = t.emit(Op::BUFSTR, Ty::Str, b, h);
    let trace = t.results(&[r]);
    let mut m = Machine::new();
    m.vm[RESULT] = 0x440;
    (*m.slot(2), *m.slot(3)) = (gc(v::TAG_STR, 7).bits(), gc(v::TAG_STR, 8).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!((m.vm[ARGS], m.slot_value(10)), (127_283, gc(v::TAG_STR, 0x440)));
}

#[test]
fn numbers_are_put_into_string_buffers_as_they_are() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Num]);
    let null = t.konst(perilune_recorder::ir::Const::Null(Ty::P64));
    let h = t.emit(Op::BUFHDR, Ty::P64, null, IrRef(0));
    let a = t.emit(Op::BUFNUM, Ty::P64, h, s[0]);
    let b = t.emit(Op::BUFNUM, Ty::P64, a, s[1]);
    let r = t.emit(Op::BUFSTR, Ty::Str, b, h);
    let trace = t.results(&[r]);
    let mut m = Machine::new();
    m.vm[RESULT] = 0x440;
    (*m.slot(2), *m.slot(3)) = (Value::int(7).bits(), Value::num(8.0).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!((m.vm[ARGS], m.slot_value(10)), (147_483, gc(v::TAG_STR, 0x440)));
}

#[test]
fn strings_that_are_no_numbers_leave() {
    let mut t = Build::new();
    let s = t.slot(2, Ty::Str);
    let n = t.emit(Op::STRTO, Ty::Num, s, IrRef::NIL);
    let trace = t.results(&[n]);
    assert_eq!(run(&trace, &[gc(v::TAG_STR, 0x1000)]), (1, [Value::num(2.5), Value::NIL, Value::NIL, Value::NIL]));
    assert_eq!(run(&trace, &[gc(v::TAG_STR, 0x2000)]).0, 0);
}

/// Loads of many values before `cold` runs and all of them in the results after it.
fn with_live_values(m: &mut Machine, cold: impl FnOnce(&mut Build)) -> u64 {
    let mut t = Build::new();
    let mut live = Vec::new();
    for i in 0..10u16 {
        *m.slot(20 + usize::from(i)) = Value::num(f64::from(i) + 0.5).bits();
        *m.slot(30 + usize::from(i)) = Value::int(i32::from(i)).bits();
        live.push((30 + i, t.slot(20 + i, Ty::Num)));
        live.push((20 + i, t.slot(30 + i, Ty::Int)));
    }
    cold(&mut t);
    let trace = t.end(&live, perilune_recorder::ir::Link::Interp);
    let exit = m.run(&trace);
    for i in 0..10 {
        let want = (Value::int(i as i32), Value::num(i as f64 + 0.5));
        if exit == 1 {
            assert_eq!((m.slot_value(20 + i), m.slot_value(30 + i)), want);
        }
    }
    exit
}

#[test]
fn table_barriers_run_for_black_tables_and_leaves_and_preserve_everything() {
    for marked in [0, BLACK, LEAF, BARRIER, !BARRIER, 0xff] {
        let table = [u64::from(marked) << 8; 6];
        let mut m = Machine::new();
        *m.slot(2) = gc(v::TAG_TAB, table.as_ptr() as u64).bits();
        let exit = with_live_values(&mut m, |t| {
            let s = t.slot(2, Ty::Tab);
            t.emit(Op::TBAR, Ty::Nil, s, IrRef::NIL);
        });
        assert_eq!((exit, m.vm[CALLS]), (1, u64::from(marked & BARRIER != 0)));
        if marked & BARRIER != 0 {
            assert_eq!((m.vm[WHO], m.vm[ARGS]), (Helper::BarrierTable as u64, table.as_ptr() as u64));
        }
    }
}

#[test]
fn upvalue_barriers_run_for_black_upvalues() {
    for marked in [0, BLACK, LEAF] {
        let upvalue = [u64::from(marked) << 8, 0, 0, 0];
        let string = [0u64; 3];
        let at = upvalue.as_ptr() as u64 + ofs::UPVAL_TV as u64;
        let mut m = Machine::new();
        (*m.slot(2), *m.slot(3)) = (at, gc(v::TAG_STR, string.as_ptr() as u64).bits());
        let value = *m.slot(3);
        let exit = with_live_values(&mut m, |t| {
            let s = t.slots(&[Ty::P64, Ty::Str]);
            t.emit(Op::OBAR, Ty::Nil, s[0], s[1]);
        });
        assert_eq!((exit, m.vm[CALLS]), (1, u64::from(marked == BLACK)));
        if marked == BLACK {
            assert_eq!((m.vm[WHO], m.vm[ARGS], m.vm[ARGS + 1]), (Helper::BarrierUpval as u64, at, value));
        }
    }
}

#[test]
fn collection_steps_run_when_due_and_may_leave() {
    for (total, result, calls, exit) in [(9, 0, 0, 1), (10, 0, 1, 1), (10, 1, 1, 0)] {
        let mut m = Machine::new();
        m.set(ofs::VM_GC_TOTAL, total);
        m.set(ofs::VM_GC_THRESHOLD, 10);
        m.vm[RESULT] = result;
        let got = with_live_values(&mut m, |t| {
            t.emit(Op::GCSTEP, Ty::Nil, IrRef::NONE, IrRef::NONE);
        });
        assert_eq!((got, m.vm[CALLS]), (exit, calls));
    }
}
