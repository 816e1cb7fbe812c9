//! What the passes save that work while a trace is recorded, and so cannot be seen on text: `abc` and `narrow`. The same program
//! is recorded with the pass and without it; the result is the same, and the loop is shorter. (For the others see
//! `tests/ir/savings`.)

mod common;

use common::World;
use common::program::{Arith, FIRST, Machine, Operand, Program, SLOTS, Stmt};
use common::recorder::Recorder;
use perilune_recorder::eval::{self, Config, Exit, Outcome};
use perilune_recorder::ir::verify::verify;
use perilune_recorder::ir::{Op, Trace};
use perilune_recorder::opt;
use perilune_recorder::params::Limits;
use perilune_recorder::params::OptFlags;
use perilune_vm::Value;

const I: usize = 2;
const LIMIT: usize = 3;
const LIST: usize = 4;
const SUM: usize = 5;
const ITEM: usize = 6;

/// Slots of the test's stack below the base.
const BELOW: usize = 8;

/// `for i = 1, 100 do <body> end` with a list of 100 integers in [`LIST`]: its trace, the run of it, and what [`SUM`] is then.
fn run(body: &[Stmt], flags: OptFlags) -> (Trace, Exit, Value) {
    let mut world = World::new();
    let list = world.vm.new_table(101, 0);
    for i in 1..=100 {
        world.vm.table_set_int(list, i, Value::int(i * 3));
    }
    let program = Program { body: body.to_vec(), counter: I, limit: LIMIT, templates: Vec::new() };
    let mut stack = vec![Value::NIL; BELOW + SLOTS + 8];
    let mut slots = [(I, Value::int(1)), (LIMIT, Value::int(100)), (LIST, Value::table(list)), (SUM, Value::int(0))].into_iter();
    slots.all(|(slot, v)| {
        stack[BELOW + slot - FIRST] = v;
        true
    });
    let base = stack.as_mut_ptr().wrapping_add(BELOW);
    let mut m = Machine { vm: &mut world.vm, base };
    let mut r = Recorder::new(opt::buffer(flags, Limits::default()), &program, false);
    r.snapshot(0).expect("room");
    let mut pc = 0;
    loop {
        r.statement(&m, pc).expect("recorded");
        let next = m.step(&program, pc).unwrap_or_else(|_| panic!("the program stops"));
        if next == 0 && pc >= program.body.len() {
            break;
        }
        pc = next;
    }
    r.close().expect("recorded");
    opt::finish(&mut r.b, true).expect("a loop");
    let trace = r.b.trace;
    verify(&trace).unwrap_or_else(|e| panic!("{e}\n{trace}"));
    // SAFETY: the trace was made for this VM and this stack.
    let exit = unsafe { eval::run_with(&Config { fuel: 100_000, ..Config::default() }, &trace, &raw mut *world.vm, base) };
    assert!(matches!(exit.outcome, Outcome::Exit(_)), "{exit:?}\n{trace}");
    assert!(exit.iterations > 90, "left early\n{trace}");
    (trace, exit, stack[BELOW + SUM - FIRST])
}

/// Checks that `pass` makes the iteration shorter, and by how much per iteration.
#[track_caller]
fn saves(pass: &str, body: &[Stmt], per_iteration: u64) -> (Trace, Trace) {
    let mut flags = OptFlags::ALL;
    assert!(flags.set(pass, false));
    let (with, on, result) = run(body, OptFlags::ALL);
    let (without, off, expected) = run(body, flags);
    assert_eq!(result, expected, "another result\n{with}\n{without}");
    assert_eq!(on.iterations, off.iterations);
    assert_eq!(off.in_loop / off.iterations - on.in_loop / on.iterations, per_iteration, "with:\n{with}\nwithout:\n{without}");
    assert!(on.executed < off.executed);
    (with, without)
}

/// Instructions of this kind after LOOP.
fn in_loop(t: &Trace, op: Op) -> usize {
    t.ins.iter().skip_while(|i| i.op != Op::LOOP).filter(|i| i.op == op).count()
}

fn slot(s: usize) -> Operand {
    Operand::Slot(s)
}

/// `sum = sum + list[i]`: the index is in bounds in all iterations.
#[test]
fn abc_moves_the_check_of_a_counter_out_of_the_loop() {
    let body = [Stmt::Get(ITEM, LIST, slot(I)), Stmt::Arith(Arith::Add, SUM, slot(SUM), slot(ITEM))];
    let (with, without) = saves("abc", &body, 1);
    assert_eq!((in_loop(&with, Op::ABC), in_loop(&without, Op::ABC)), (0, 1), "{with}\n{without}");
}

/// `list[i] = i`
#[test]
fn abc_of_a_store() {
    let body = [Stmt::Set(LIST, slot(I), slot(I)), Stmt::Arith(Arith::Add, SUM, slot(SUM), slot(I))];
    let (with, without) = saves("abc", &body, 1);
    assert_eq!((in_loop(&with, Op::ABC), in_loop(&without, Op::ABC)), (0, 1), "{with}\n{without}");
}

/// The counter's addition needs no check for overflow: a kind of instruction, not their number.
#[test]
fn narrow_makes_the_counter_an_addition_without_a_check() {
    let body = [Stmt::Move(SUM, slot(I))];
    let (with, _, result) = run(&body, OptFlags::ALL);
    let (without, _, expected) = run(&body, OptFlags { narrow: false, ..OptFlags::ALL });
    assert_eq!(result, expected);
    assert_eq!((in_loop(&with, Op::ADDOV), in_loop(&with, Op::ADD)), (0, 1), "{with}");
    assert_eq!((in_loop(&without, Op::ADDOV), in_loop(&without, Op::ADD)), (1, 0), "{without}");
    let guards = |t: &Trace| t.ins.iter().skip_while(|i| i.op != Op::LOOP).filter(|i| i.is_guard()).count();
    assert!(guards(&with) < guards(&without), "{with}\n{without}");
}

/// `sum = sum + (i + 1)`: the program's own sum and the counter's next value are one instruction where both are checked. With the
/// pass on they are two, a checked and an unchecked one, and that is all that it may cost.
#[test]
fn narrow_costs_an_addition_at_most() {
    let k = Operand::K(Value::int(1));
    let body = [Stmt::Arith(Arith::Add, ITEM, slot(I), k), Stmt::Arith(Arith::Add, SUM, slot(SUM), slot(ITEM))];
    let (with, on, result) = run(&body, OptFlags::ALL);
    let (without, off, expected) = run(&body, OptFlags { narrow: false, ..OptFlags::ALL });
    assert_eq!(result, expected, "{with}\n{without}");
    assert!(on.in_loop / on.iterations <= off.in_loop / off.iterations + 1, "{with}\n{without}");
}
