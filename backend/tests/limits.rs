//! What limits cost in compiled code: the fuel that traces take, and counted loops in chunks.

mod common;

use common::{Build, EXIT_BASE, Machine, TRACE, exit_id, trace_id};
use perilune_backend::TraceTree;
use perilune_recorder::ir::{IrRef, Link, Op, SlotIdx, SnapId, SnapSlot, Trace, Ty, sload};
use perilune_vm::Value;
use perilune_vm::layout::ofs;

/// What a snapshot says about fuel.
fn executed(t: &mut Build, units: u32) {
    t.t.snaps.last_mut().expect("a snapshot").fuel = units;
}
fn fuel(t: &mut Build, begin: u16, end: u16) {
    t.emit(Op::FUEL, Ty::Nil, IrRef(begin), IrRef(end));
}

/// `for i = i, stop, step do end` with slots 2 to 4: an iteration is four instructions, of which three run before the test. Where the slots of
/// the loop are kept, snapshots say that memory has the end of the loop; and the counter is known to move.
fn counting(up: bool, limits: &[Op], kept: bool) -> Trace {
    let mut t = Build::new();
    let checked = IrRef(sload::TYPECHECK);
    let [i, stop, step] = [2, 3, 4].map(|slot| t.guarded(Op::SLOAD, Ty::Int, IrRef(slot), checked));
    if kept {
        let zero = t.int(0);
        t.emit(if up { Op::GT } else { Op::LT }, Ty::Int, step, zero);
    }
    let round = |t: &mut Build, i| {
        if limits.contains(&Op::FUEL) {
            fuel(t, 0, 4);
        }
        if limits.contains(&Op::PROF) {
            t.emit(Op::PROF, Ty::Nil, IrRef::NONE, IrRef::NONE);
        }
        let next = t.emit(Op::ADD, Ty::Int, i, step);
        t.snap(&[(2, next)]);
        executed(t, 3);
        t.emit(if up { Op::LE } else { Op::GE }, Ty::Int, next, stop);
        next
    };
    let second = round(&mut t, i);
    t.snap(&[(2, second)]);
    executed(&mut t, 4);
    t.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
    let next = round(&mut t, second);
    t.emit(Op::PHI, Ty::Int, second, next);
    t.t.link = Link::Loop;
    if kept {
        for snap in &mut t.t.snaps {
            snap.slots.push(SnapSlot { slot: SlotIdx::new(3), flags: SnapSlot::NORESTORE, value: stop });
        }
    }
    t.t
}

/// Runs such a loop: the exit, the counter there, and the fuel left.
fn count(trace: &Trace, [first, stop, step]: [i32; 3], left: u64, waits: bool) -> (u64, Value, u64) {
    let mut m = Machine::new();
    for (slot, value) in [(2, first), (3, stop), (4, step)] {
        *m.slot(slot) = Value::int(value).bits();
    }
    m.set(ofs::VM_FUEL, left);
    m.set_byte(ofs::VM_EXIT_REQUESTED, waits.into());
    let exit = m.run(trace);
    (exit, m.slot_value(2), m.get(ofs::VM_FUEL))
}

#[test]
fn exits_take_what_has_run() {
    let trace = counting(true, &[Op::FUEL], false);
    // One iteration, then three instructions of the second; the loop is left in its third iteration.
    assert_eq!(count(&trace, [1, 1, 1], 1000, false), (1, Value::int(2), 997));
    assert_eq!(count(&trace, [1, 2, 1], 1000, false), (3, Value::int(3), 1000 - 7));
    assert_eq!(count(&trace, [1, 100, 1], 1000, false), (3, Value::int(101), 1000 - 399));
    // There is not enough for another iteration: at the start of the trace, at that of the loop, in the loop.
    assert_eq!(count(&trace, [1, 100, 1], 3, false), (0, Value::int(1), 3));
    assert_eq!(count(&trace, [1, 100, 1], 7, false), (2, Value::int(2), 3));
    assert_eq!(count(&trace, [1, 100, 1], 11, false), (2, Value::int(3), 3));
}

#[test]
fn loops_in_chunks_end_where_they_should() {
    for (limits, kept) in [(&[Op::PROF][..], false), (&[Op::PROF], true), (&[Op::PROF, Op::FUEL], false)] {
        let (up, down) = (counting(true, limits, kept), counting(false, limits, kept));
        // The sum of the last value and the step is an int: the recorder makes sure of that.
        let cases = [
            (&up, [1, 10, 1], 11),
            (&up, [1, 1_000_000, 1], 1_000_001),
            (&up, [1, 1_000_000, 7], 1_000_007),
            (&up, [i32::MAX - 10, i32::MAX - 2, 2], i32::MAX),
            (&up, [i32::MIN, -2_000_000_000, 3], -1_999_999_997),
            (&up, [0, 1_000_000_000, 1_000_000_000], 2_000_000_000),
            (&down, [1_000_000, 1, -1], 0),
            (&down, [i32::MIN + 10, i32::MIN + 2, -2], i32::MIN),
            (&down, [i32::MAX, -1_000_000_000, -1_000_000_000], -1_852_516_353),
        ];
        for (trace, loop_, end) in cases {
            let iterations = (i64::from(end) - i64::from(loop_[0])) / i64::from(loop_[2]);
            let taken = if limits.contains(&Op::FUEL) { 4 * iterations as u64 - 1 } else { 0 };
            let (_, counter, left) = count(trace, loop_, 1 << 40, false);
            assert_eq!((counter, left), (Value::int(end), (1 << 40) - taken), "{loop_:?}");
        }
    }
}

/// A chunk does not follow another one while something waits. The state is that of an iteration whose counter has not been changed yet: the
/// loop is continued from there.
#[test]
fn chunks_do_not_follow_while_something_waits() {
    for (up, [first, stop, step]) in [(true, [1, 1_000_000, 1]), (true, [1, 1_000_000, 3]), (false, [1_000_000, 1, -1])] {
        let trace = counting(up, &[Op::PROF], step == 1);
        let (exit, counter, _) = count(&trace, [first, stop, step], 0, true);
        let at = counter.as_int().expect("an integer");
        let iterations = (at - first) / step;
        assert!(exit == 2 && (at - first) % step == 0 && (1000..1 << 18).contains(&iterations), "{exit} {at}");
        let rest = count(&trace, [at, stop, step], 0, false);
        assert_eq!(rest, count(&trace, [first, stop, step], 0, false));
    }
    // Loops that do not end.
    for (up, loop_) in [(true, [1, 1000, 0]), (false, [1000, 1, 0])] {
        assert_eq!(count(&counting(up, &[Op::PROF], false), loop_, 0, true), (2, Value::int(loop_[0]), 0));
    }
}

/// A root trace of five instructions whose side trace, of three more, comes back to its start: the fuel is taken once, at the end.
#[test]
fn trees_take_fuel_once() {
    let checked = IrRef(sload::TYPECHECK);
    let mut t = Build::new();
    fuel(&mut t, 0, 5);
    let i = t.guarded(Op::SLOAD, Ty::Int, IrRef(2), checked);
    let ten = t.int(10);
    t.snap(&[]);
    executed(&mut t, 2);
    t.emit(Op::LE, Ty::Int, i, ten);
    let mut root = t.end(&[], Link::Interp);
    root.snaps.last_mut().expect("a snapshot").fuel = 5;
    let mut t = Build::new();
    fuel(&mut t, 0, 3);
    let i = t.emit(Op::SLOAD, Ty::Int, IrRef(2), checked);
    t.snap(&[]);
    let one = t.int(1);
    let i2 = t.emit(Op::SUB, Ty::Int, i, one);
    let mut side = t.end(&[(2, i2)], Link::Root(TRACE));
    side.snaps.last_mut().expect("a snapshot").fuel = 3;
    let mut m = Machine::new();
    *m.slot(2) = Value::int(110).bits();
    m.set(ofs::VM_FUEL, 1000);
    let sides = vec![(SnapId::new(1), TraceTree::single(&side, trace_id(4), exit_id(50)))];
    m.codes[TRACE.index()] = m.compile(TraceTree { sides, ..TraceTree::single(&root, TRACE, EXIT_BASE) }).expect("code").entry;
    assert_eq!(m.enter(TRACE).0, u64::from(EXIT_BASE.get()) + 2);
    assert_eq!((m.slot_value(2), m.get(ofs::VM_FUEL)), (Value::int(10), 1000 - 100 * 5 - 5));
    // Not enough for the side trace: two instructions of the root trace have run.
    *m.slot(2) = Value::int(110).bits();
    m.set(ofs::VM_FUEL, 9);
    assert_eq!((m.enter(TRACE).0, m.get(ofs::VM_FUEL)), (u64::from(EXIT_BASE.get()), 4));
    m.set(ofs::VM_FUEL, 4);
    assert_eq!((m.enter(TRACE).0, m.get(ofs::VM_FUEL)), (u64::from(EXIT_BASE.get()), 4));
}
