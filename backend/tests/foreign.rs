//! Calls of C functions: arguments of all types in registers and on the stack, and narrow results.

mod common;

use common::{BASE, Build, EXIT_BASE, Machine, TRACE, helpers};
use perilune_recorder::eval;
use perilune_recorder::ir::verify::verify;
use perilune_recorder::ir::{Const, IrRef, Op, Trace, Ty, conv};
use perilune_vm::{Value, Vm};

extern "C" fn many(a: i32, b: i64, c: u8, d: i16, e: i32, f: i64, g: i64, h: i32) -> i64 {
    i64::from(a) + 10 * b + 100 * i64::from(c) + 1000 * i64::from(d) + 10_000 * i64::from(e) + 100_000 * f + 1_000_000 * g
        - i64::from(h)
}
extern "C" fn mixed(a: f64, n: i32, b: f32, c: f64, k: i64) -> f64 {
    a + f64::from(n) * f64::from(b) - c + k as f64
}
extern "C" fn half(x: f32) -> f32 {
    x / 2.0
}
extern "C" fn low(x: i64) -> i64 {
    x
}

/// Emits a call with its arguments.
fn call(b: &mut Build, function: usize, ty: Ty, args: &[IrRef]) -> IrRef {
    let mut chain = args.first().copied().unwrap_or(IrRef::NIL);
    for &arg in &args[1..] {
        chain = b.emit(Op::CARG, Ty::Nil, chain, arg);
    }
    let function = b.word(function as u64);
    b.emit(Op::CALLXS, ty, chain, function)
}

/// The first results of a trace on two slots, by machine code and by the evaluator.
fn results(trace: &Trace, slots: [Value; 2]) -> [Value; 2] {
    verify(trace).unwrap_or_else(|e| panic!("{e}\n{trace}"));
    let mut m = Machine::new();
    let fill = |m: &mut Machine| (*m.slot(2), *m.slot(3)) = (slots[0].bits(), slots[1].bits());
    fill(&mut m);
    m.install(trace, TRACE, EXIT_BASE);
    assert_eq!(m.enter(TRACE).0, u64::from(EXIT_BASE.get()) + 1);
    let native = [m.slot_value(10), m.slot_value(11)];
    fill(&mut m);
    let config = eval::Config { helper: helpers::address, ..eval::Config::default() };
    let (vm, at) = (m.vm.as_mut_ptr().cast::<Vm>(), m.stack[BASE..].as_mut_ptr());
    // SAFETY: the trace was made for this VM and this stack.
    unsafe { eval::run_with(&config, trace, vm, at.cast()) };
    assert_eq!([m.slot_value(10), m.slot_value(11)], native, "the evaluator differs");
    native
}

#[test]
fn arguments_in_registers_and_on_the_stack() {
    let mut b = Build::new();
    let x = b.slot(2, Ty::Int);
    let y = b.slot(3, Ty::Int);
    let wide = b.emit(Op::CONV, Ty::I64, x, IrRef(conv::I64_INT));
    let byte = b.emit(Op::CONV, Ty::U8, y, IrRef(conv::pack(Ty::U8, Ty::Int, 0)));
    let short = b.emit(Op::CONV, Ty::I16, y, IrRef(conv::pack(Ty::I16, Ty::Int, 0)));
    let r = call(&mut b, many as *const () as usize, Ty::I64, &[x, wide, byte, short, y, wide, wide, y]);
    let n = b.emit(Op::CONV, Ty::Num, r, IrRef(conv::pack(Ty::Num, Ty::I64, 0)));
    let trace = b.results(&[n, x]);
    let want = many(-3, -3, 254, -2, -2, -3, -3, -2) as f64;
    assert_eq!(results(&trace, [Value::int(-3), Value::int(-2)]), [Value::num(want), Value::int(-3)]);
}

#[test]
fn floating_point_arguments_and_results() {
    let mut b = Build::new();
    let x = b.slot(2, Ty::Num);
    let n = b.slot(3, Ty::Int);
    let float = b.emit(Op::CONV, Ty::Float, x, IrRef(conv::pack(Ty::Float, Ty::Num, 0)));
    let k = b.konst(Const::Word(5, Ty::I64));
    let r = call(&mut b, mixed as *const () as usize, Ty::Num, &[x, n, float, x, k]);
    let h = call(&mut b, half as *const () as usize, Ty::Float, &[float]);
    let h = b.emit(Op::CONV, Ty::Num, h, IrRef(conv::pack(Ty::Num, Ty::Float, 0)));
    let trace = b.results(&[r, h]);
    assert_eq!(results(&trace, [Value::num(1.5), Value::int(7)]), [Value::num(15.5), Value::num(0.75)]);
}

#[test]
fn bits_above_a_narrow_result_are_not_looked_at() {
    for (ty, want) in [(Ty::U8, 0xfe), (Ty::I8, -2), (Ty::U16, 0xfffe), (Ty::I16, -2), (Ty::Int, 0x7fff_fffe)] {
        let mut b = Build::new();
        let x = b.konst(Const::Word(0x1234_5678_7fff_fffe, Ty::I64));
        let r = call(&mut b, low as *const () as usize, ty, &[x]);
        let trace = b.results(&[r, r]);
        assert_eq!(results(&trace, [Value::NIL; 2])[0], Value::int(want), "{ty:?}");
    }
}
