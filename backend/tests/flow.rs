//! Loops, links, frames, exits, trees.

mod common;

use common::{BASE, Build, DELTA, EXIT_BASE, Machine, TRACE, exit_id, trace_id, value_of};
use perilune_backend::exit_abi::{ExitArg, exit_args};
use perilune_backend::unboxed::unboxed;
use perilune_backend::{BackendError, TraceTree};
use perilune_recorder::ir::{Const, Ins, IrRef, Link, Op, SlotIdx, SnapId, SnapSlot, Trace, Ty, sload};
use perilune_vm::Value;
use perilune_vm::layout::ofs;

/// `for i = i, limit do sum = sum + i end` with slots 2 (i), 3 (limit), 4 (sum, a num): the first round is peeled.
fn sum_loop() -> Trace {
    let mut t = Build::new();
    let check = IrRef(sload::TYPECHECK);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), check);
    let limit = t.guarded(Op::SLOAD, Ty::Int, IrRef(3), check);
    let sum = t.guarded(Op::SLOAD, Ty::Num, IrRef(4), check);
    let one = t.int(1);
    let round = |t: &mut Build, i, sum| {
        let x = t.emit(Op::CONV, Ty::Num, i, IrRef(perilune_recorder::ir::conv::NUM_INT));
        let sum2 = t.emit(Op::ADD, Ty::Num, sum, x);
        let i2 = t.emit(Op::ADD, Ty::Int, i, one);
        t.snap(&[(2, i2), (4, sum2)]);
        t.emit(Op::LE, Ty::Int, i2, limit);
        (i2, sum2)
    };
    let (i2, sum2) = round(&mut t, i, sum);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[(2, i2), (4, sum2)]);
    let (i3, sum3) = round(&mut t, i2, sum2);
    t.emit(Op::PHI, Ty::Int, i2, i3);
    t.emit(Op::PHI, Ty::Num, sum2, sum3);
    t.t.link = Link::Loop;
    t.t
}

#[test]
fn loops_carry_their_phis() {
    for n in [1, 2, 3, 1000] {
        let mut m = Machine::new();
        (*m.slot(2), *m.slot(3), *m.slot(4)) = (Value::int(1).bits(), Value::int(n).bits(), Value::int(0).bits());
        let exit = m.run(&sum_loop());
        assert_eq!(exit, if n == 1 { 1 } else { 3 });
        assert_eq!((m.slot_value(2), m.slot_value(4)), (Value::int(n + 1), Value::num(f64::from(n) * f64::from(n + 1) / 2.0)));
    }
}

#[test]
fn the_loop_has_an_offset() {
    let code = Machine::new().install(&sum_loop(), TRACE, exit_id(0));
    assert!(code.loop_offset.is_some_and(|o| o > 0 && (o as usize) < code.size));
}

#[test]
fn phis_may_swap_and_be_constant() {
    // a, b, c = b, a, 7 until n rounds have passed.
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int; 4]);
    let (one, seven) = (t.int(1), t.int(7));
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    let n = t.emit(Op::SUB, Ty::Int, s[3], one);
    t.snap(&[(10, s[0]), (11, s[1]), (12, s[2])]);
    let zero = t.int(0);
    t.emit(Op::GT, Ty::Int, n, zero);
    for (a, b) in [(s[0], s[1]), (s[1], s[0]), (s[2], seven), (s[3], n)] {
        t.emit(Op::PHI, Ty::Int, a, b);
    }
    t.t.link = Link::Loop;
    for (n, want) in [(1, [1, 2, 3]), (2, [2, 1, 7]), (5, [1, 2, 7])] {
        let (_, out) = common::run(&t.t, &[1, 2, 3, n].map(Value::int));
        assert_eq!(out[..3], want.map(Value::int));
    }
}

#[test]
fn exits_after_the_loop_see_the_value_before_it() {
    // `entry` is computed in front of the loop from a value that the loop changes.
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int; 2]);
    let (one, hundred) = (t.int(1), t.int(100));
    let entry = t.emit(Op::ADD, Ty::Int, s[0], hundred);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    let next = t.emit(Op::ADD, Ty::Int, s[0], one);
    t.snap(&[(10, entry), (11, next)]);
    t.emit(Op::LT, Ty::Int, next, s[1]);
    t.emit(Op::PHI, Ty::Int, s[0], next);
    t.t.link = Link::Loop;
    let (_, out) = common::run(&t.t, &[Value::int(3), Value::int(20)]);
    assert_eq!(out[..2], [Value::int(103), Value::int(20)]);
}

#[test]
fn exits_move_the_base_and_skip_unrestored_slots() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Int]);
    let link = t.word(0xabcd);
    t.snap(&[(3, s[0]), (7, link), (8, s[1])]);
    t.t.snaps[1].base_slot = SlotIdx::new(8);
    t.t.snaps[1].slots[0].flags = SnapSlot::NORESTORE;
    t.t.snaps[1].slots[1].flags = SnapSlot::FRAME;
    t.emit(Op::LT, Ty::Int, s[0], s[1]);
    let trace = t.end(&[], Link::Interp);
    let mut m = Machine::new();
    (*m.slot(2), *m.slot(3)) = (Value::int(9).bits(), Value::int(5).bits());
    m.install(&trace, TRACE, EXIT_BASE);
    assert_eq!(m.enter(TRACE), (u64::from(EXIT_BASE.get()) + 1, 6));
    assert_eq!((m.slot_value(3), *m.slot(7), m.slot_value(8)), (Value::int(5), 0xabcd, Value::int(5)));
}

#[test]
fn frames_that_do_not_fit_leave_at_once() {
    let mut t = Build::new();
    let zero = t.int(0);
    t.t.top_slot = 12;
    let trace = t.end(&[(10, zero)], Link::Interp);
    let mut m = Machine::new();
    for (room, exit) in [(10, 1), (9, 0)] {
        *m.slot(10) = 0;
        let limit = m.stack[BASE..].as_ptr() as u64 + room * 8;
        m.set(ofs::VM_CODE_STACK_LIMIT, limit);
        assert_eq!(m.run(&trace), exit);
        assert_eq!(*m.slot(10) != 0, exit == 1);
    }
}

/// Counts slot 2 down to 0 by coming back to the start, moving the base by `up`.
fn recursion(link: Link, up: u16) -> Trace {
    let mut t = Build::new();
    let n = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::TYPECHECK));
    let (zero, one) = (t.int(0), t.int(1));
    t.emit(Op::GT, Ty::Int, n, zero);
    let n2 = t.emit(Op::SUB, Ty::Int, n, one);
    t.t.top_slot = 8;
    let mut trace = t.end(&[(2 + up, n2)], link);
    trace.snaps[1].base_slot = SlotIdx::BASE + usize::from(up);
    trace
}

#[test]
fn recursion_comes_back_to_the_start() {
    for (link, up) in [(Link::UpRec, 3), (Link::TailRec, 0), (Link::Loop, 0), (Link::DownRec, 3)] {
        let mut m = Machine::new();
        *m.slot(2) = Value::int(8).bits();
        m.install(&recursion(link, up), TRACE, EXIT_BASE);
        assert_eq!(m.enter(TRACE), (u64::from(EXIT_BASE.get()), 8 * up as isize));
    }
}

#[test]
fn up_recursion_checks_the_stack_each_time() {
    let mut m = Machine::new();
    *m.slot(2) = Value::int(1000).bits();
    m.install(&recursion(Link::UpRec, 3), TRACE, EXIT_BASE);
    let (exit, base) = m.enter(TRACE);
    assert_eq!((exit, base), (u64::from(EXIT_BASE.get()), 45));
    // The state is that of the function's entry: the argument is there.
    assert_eq!(value_of(m.stack[BASE + 45]), Value::int(1000 - 15));
}

#[test]
fn returns_to_lower_frames_check_the_link() {
    let mut t = Build::new();
    let inner = t.slot(2, Ty::Int);
    let (pc, proto) = (t.word(0x4242), t.word(0x6000));
    t.emit(Op::RETF, Ty::Proto, proto, pc);
    t.snap(&[(10, inner)]);
    let outer = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::TYPECHECK));
    let trace = t.end(&[(11, inner), (12, outer)], Link::Return);
    let mut m = Machine::new();
    m.install(&trace, TRACE, exit_id(0));
    let down = DELTA as usize;
    *m.slot(2) = Value::int(5).bits();
    m.stack[BASE - down] = Value::int(6).bits();
    *m.slot(1) = 0x4242;
    assert_eq!(m.enter(TRACE), (2, -(down as isize)));
    assert_eq!((m.stack[BASE - down + 9], m.stack[BASE - down + 10]), (Value::int(5).bits(), Value::int(6).bits()));
    m.stack[BASE - down] = Value::NIL.bits();
    assert_eq!(m.enter(TRACE), (1, -(down as isize)));
    assert_eq!(m.stack[BASE - down + 8], Value::int(5).bits());
    *m.slot(1) = 0x4243;
    assert_eq!(m.enter(TRACE), (0, 0));
}

#[test]
fn links_that_were_checked_before_are_not_checked_again() {
    let mut t = Build::new();
    let inner = t.slot(2, Ty::Int);
    let (pc, proto) = (t.word(0x4242), t.word(0x6000));
    t.emit(Op::RETF, Ty::Proto, proto, pc);
    t.t.ins.last_mut().unwrap().flags = 0;
    let trace = t.end(&[(11, inner)], Link::Return);
    let mut m = Machine::new();
    m.install(&trace, TRACE, exit_id(0));
    *m.slot(2) = Value::int(5).bits();
    *m.slot(1) = 0x4243;
    assert_eq!(m.enter(TRACE), (1, -(DELTA as isize)));
    assert_eq!(m.stack[BASE - DELTA as usize + 9], Value::int(5).bits());
}

#[test]
fn links_enter_other_traces() {
    let mut m = Machine::new();
    let mut t = Build::new();
    let s = t.slot(2, Ty::Int);
    let ten = t.int(10);
    let sum = t.emit(Op::ADD, Ty::Int, s, ten);
    m.install(&t.end(&[(3, sum)], Link::Interp), trace_id(1), exit_id(20));
    let mut t = Build::new();
    let k = t.int(5);
    let mut trace = t.end(&[(6, k)], Link::Root(trace_id(1)));
    trace.snaps[1].base_slot = SlotIdx::new(6);
    m.install(&trace, trace_id(2), exit_id(30));
    assert_eq!(m.enter(trace_id(2)), (21, 4));
    assert_eq!((m.slot_value(6), m.slot_value(7)), (Value::int(5), Value::int(15)));
    // A side trace at an exit: one entry of the exit table.
    let mut t = Build::new();
    let s = t.slot(2, Ty::Int);
    let big = t.int(100);
    t.emit(Op::GT, Ty::Int, s, big);
    m.install(&t.end(&[], Link::Interp), trace_id(3), exit_id(40));
    m.exits[40] = m.codes[1];
    *m.slot(2) = Value::int(1).bits();
    assert_eq!(m.enter(trace_id(3)), (21, 0));
    assert_eq!(m.slot_value(3), Value::int(11));
}

/// A side trace for the end of the limit of `sum_loop` that adds 1000 and goes on up to a higher limit.
fn higher_limit() -> Trace {
    let mut t = Build::new();
    let i = t.emit(Op::SLOAD, Ty::Int, IrRef(2), IrRef(sload::PARENT));
    let limit = t.guarded(Op::SLOAD, Ty::Int, IrRef(3), IrRef(sload::TYPECHECK));
    let sum = t.emit(Op::SLOAD, Ty::Num, IrRef(4), IrRef(sload::PARENT | sload::CONVERT));
    let (ten, twenty, k) = (t.int(10), t.int(20), t.num(1000.0));
    t.snap(&[]);
    t.emit(Op::LT, Ty::Int, i, twenty);
    let limit2 = t.emit(Op::ADD, Ty::Int, limit, ten);
    let sum2 = t.emit(Op::ADD, Ty::Num, sum, k);
    t.end(&[(3, limit2), (4, sum2)], Link::Root(TRACE))
}

/// The tree of both, with the limit 5.
fn tree_of_two(m: &mut Machine) {
    let (root, side) = (sum_loop(), higher_limit());
    let sides = vec![(SnapId::new(3), TraceTree::single(&side, trace_id(4), exit_id(50)))];
    (*m.slot(2), *m.slot(3), *m.slot(4)) = (Value::int(1).bits(), Value::int(5).bits(), Value::int(0).bits());
    m.codes[TRACE.index()] = m.compile(TraceTree { sides, ..TraceTree::single(&root, TRACE, EXIT_BASE) }).unwrap().entry;
}

#[test]
fn side_traces_compiled_into_the_tree() {
    let mut m = Machine::new();
    tree_of_two(&mut m);
    assert_eq!(m.enter(TRACE), (51, 0));
    assert_eq!((m.slot_value(2), m.slot_value(3)), (Value::int(26), Value::int(25)));
    assert_eq!(m.slot_value(4), Value::num(25.0 * 26.0 / 2.0 + 2000.0));
}

#[test]
fn trees_are_left_on_request() {
    let mut m = Machine::new();
    m.interruptible = true;
    tree_of_two(&mut m);
    m.set_byte(ofs::VM_EXIT_REQUESTED, 1);
    // The link to the root trace is not taken, and its snapshot is complete.
    assert_eq!(m.enter(TRACE), (52, 0));
    assert_eq!((m.slot_value(2), m.slot_value(3)), (Value::int(6), Value::int(15)));
    assert_eq!(m.slot_value(4), Value::num(1015.0));
}

#[test]
fn runs_of_side_traces_are_counted_down() {
    let mut m = Machine::new();
    m.counts_runs = true;
    let mut countdown = [7, 1];
    m.set(ofs::VM_SIDE_COUNTDOWN, (&raw mut countdown).expose_provenance() as u64);
    let mut t = Build::new();
    let k = t.int(5);
    m.install(&t.end(&[(3, k)], Link::Interp), trace_id(1), exit_id(20));
    // A side trace at its first exit is no reason not to leave.
    let elsewhere = m.install(&Build::new().results(&[]), trace_id(2), exit_id(30));
    m.exits[20] = elsewhere.entry;
    for (exit, slot) in [(21, Value::int(5)), (20, Value::NIL)] {
        *m.slot(3) = Value::NIL.bits();
        assert_eq!(m.enter(trace_id(1)), (exit, 0));
        assert_eq!(m.slot_value(3), slot);
    }
    assert_eq!(countdown, [7, -1]);
}

#[test]
fn unsupported_traces_are_an_error() {
    let compile = |t: &Trace| Machine::new().compile(TraceTree::single(t, trace_id(1), exit_id(0))).unwrap_err();
    let mut t = Build::new();
    t.emit(Op::HIOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    assert_eq!(compile(&t.results(&[])), BackendError::Unsupported(Op::HIOP));
    let mut t = Build::new();
    t.t.link = Link::None;
    assert!(matches!(compile(&t.t), BackendError::Malformed(1, _)));
    let mut t = Build::new();
    let s = t.slot(2, Ty::Int);
    let x = t.konst(Const::Num(0));
    t.t.ins.push(Ins::new(Op::ADD, Ty::Int, s, x));
    let sum = IrRef::of_ins(2);
    assert!(matches!(compile(&t.results(&[sum])), BackendError::Malformed(..)));
}

#[test]
fn a_full_arena_is_an_error_until_it_is_reset() {
    let mut m = Machine::new();
    let trace = sum_loop();
    let before = m.backend.code_memory().0;
    let full = (0..10_000).find_map(|_| m.compile(TraceTree::single(&trace, trace_id(1), exit_id(0))).err());
    assert_eq!(full, Some(BackendError::ArenaFull));
    m.backend.reset();
    assert_eq!(m.backend.code_memory().0, before);
    assert!(m.compile(TraceTree::single(&trace, trace_id(1), exit_id(0))).is_ok());
}

#[test]
fn side_traces_box_the_slots_that_their_exit_left_unboxed() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Tab, Ty::Num]);
    let k = t.int(7);
    t.snap(&[(10, s[0]), (11, s[1]), (12, s[2]), (13, k)]);
    t.emit(Op::LT, Ty::Int, s[0], k);
    let root = t.results(&[]);
    let side = Build::new().results(&[]);
    let mut m = Machine::new();
    m.unboxed = true;
    let values =
        [Value::int(9), value_of(perilune_vm::value::TAG_TAB << perilune_vm::value::PAYLOAD_BITS | 0x770), Value::num(0.5)];
    for (i, v) in values.iter().enumerate() {
        *m.slot(2 + i) = v.bits();
    }
    let entry = m.install(&root, trace_id(1), exit_id(0));
    m.left = unboxed(&root, SnapId::new(1));
    let code = m.install(&side, trace_id(2), exit_id(50));
    assert_ne!(entry.entry, code.entry);
    m.exits[1] = code.entry;
    // The side trace ends at once.
    assert_eq!(m.enter(trace_id(1)), (51, 0));
    assert_eq!([10, 11, 12, 13].map(|i| m.slot_value(i)), [values[0], values[1], values[2], Value::int(7)]);
}

fn passed(slot: usize, ty: Ty) -> ExitArg {
    ExitArg { slot: slot as i32 - 2, ty }
}

#[test]
fn side_traces_take_exit_arguments() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Num, Ty::U64]);
    let k = t.int(7);
    t.snap(&[(10, s[0]), (11, s[1]), (12, s[2]), (13, k)]);
    t.emit(Op::LT, Ty::Int, s[0], k);
    let root = t.results(&[]);
    let mut t = Build::new();
    let from_parent = IrRef(sload::PARENT);
    let loaded = [(10, Ty::Int), (11, Ty::Num), (12, Ty::U64)].map(|(slot, ty)| t.emit(Op::SLOAD, ty, IrRef(slot), from_parent));
    let side = t.end(&[(15, loaded[0]), (16, loaded[1]), (17, loaded[2])], Link::Interp);
    let values = [Value::int(9), Value::num(0.5), Value::int(3)];
    let run = |exit_args: Vec<ExitArg>| {
        let mut m = Machine::new();
        for (i, v) in values.iter().enumerate() {
            *m.slot(2 + i) = v.bits();
        }
        m.install(&root, trace_id(1), exit_id(0));
        m.exit_args = exit_args;
        m.exits[1] = m.install(&side, trace_id(2), exit_id(50)).entry;
        assert_eq!(m.enter(trace_id(1)), (51, 0));
        [15, 16, 17].map(|i| m.slot_value(i))
    };
    let all = exit_args(&root, SnapId::new(1), &side);
    assert_eq!(all, [passed(10, Ty::Int), passed(11, Ty::Num), passed(12, Ty::U64)]);
    assert_eq!(run(all), values);
    assert_eq!(run(Vec::new()), values);
    // They are really taken from registers: called by the name of another slot, the third is what goes for the first.
    let mut other = run(vec![passed(20, Ty::Int), passed(11, Ty::Num), passed(10, Ty::Int)]);
    assert_eq!(core::mem::replace(&mut other[0], values[2]), values[2]);
    // A trace that does not rely on its parent may be entered from elsewhere.
    assert_eq!(exit_args(&root, SnapId::new(1), &Build::new().results(&[])), []);
}

#[test]
fn exits_that_store_many_slots_pass_no_arguments() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int; 7]);
    let zero = t.int(0);
    let slots: Vec<(u16, IrRef)> = s.iter().enumerate().map(|(i, &r)| (10 + i as u16, r)).collect();
    t.snap(&slots);
    t.emit(Op::LT, Ty::Int, s[0], zero);
    t.snap(&slots[..4]);
    t.emit(Op::GT, Ty::Int, s[0], zero);
    let root = t.results(&[]);
    let mut t = Build::new();
    t.emit(Op::SLOAD, Ty::Int, IrRef(10), IrRef(sload::PARENT));
    let side = t.results(&[]);
    assert_eq!(exit_args(&root, SnapId::new(1), &side), []);
    // As many as there are registers for.
    assert_eq!(exit_args(&root, SnapId::new(2), &side), [passed(10, Ty::Int), passed(11, Ty::Int), passed(12, Ty::Int)]);
    // Where helpers are called, exits share code.
    let mut calls = root;
    calls.ins.push(Ins::new(Op::TNEW, Ty::Tab, IrRef(0), IrRef(0)));
    assert_eq!(exit_args(&calls, SnapId::new(2), &side), []);
}

/// Fills array slots from the second on with the sum of the two before: addresses of the last iteration are used in the next.
#[test]
fn addresses_are_computed_from_loop_carried_values() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::P64, Ty::Int, Ty::Int]);
    let (array, limit, one) = (s[0], s[2], t.int(1));
    let next = |t: &mut Build, i| t.emit(Op::ADD, Ty::Int, i, one);
    let i1 = next(&mut t, s[1]);
    let i2 = next(&mut t, i1);
    let (p0, p1) = (t.emit(Op::AREF, Ty::P64, array, s[1]), t.emit(Op::AREF, Ty::P64, array, i1));
    let p2 = t.emit(Op::AREF, Ty::P64, array, i2);
    let fill = |t: &mut Build, p: [IrRef; 3]| {
        let x = t.emit(Op::ALOAD, Ty::Int, p[0], IrRef::NIL);
        let y = t.emit(Op::ALOAD, Ty::Int, p[1], IrRef::NIL);
        let sum = t.emit(Op::ADD, Ty::Int, x, y);
        t.emit(Op::ASTORE, Ty::Int, p[2], sum);
    };
    fill(&mut t, [p0, p1, p2]);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    t.snap(&[]);
    t.emit(Op::LT, Ty::Int, i2, limit);
    let i3 = next(&mut t, i2);
    let p3 = t.emit(Op::AREF, Ty::P64, array, i3);
    fill(&mut t, [p1, p2, p3]);
    for (left, right) in [(i1, i2), (i2, i3)] {
        t.emit(Op::PHI, Ty::Int, left, right);
    }
    for (left, right) in [(p1, p2), (p2, p3)] {
        t.emit(Op::PHI, Ty::P64, left, right);
    }
    t.t.link = Link::Loop;
    let mut m = Machine::new();
    let mut numbers = [Value::int(1).bits(); 10];
    (*m.slot(2), *m.slot(3), *m.slot(4)) = (numbers.as_mut_ptr() as u64, Value::int(0).bits(), Value::int(9).bits());
    assert_eq!(m.run(&t.t), 1);
    assert_eq!(numbers.map(|n| value_of(n).as_int_unchecked()), [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]);
}
