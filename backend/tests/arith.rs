//! Arithmetic, comparisons and conversions, run natively.

mod common;

use common::{Build, INT_OPS, binary, exit_id, run, value_of};
use perilune_recorder::ir::{FpMath, IrRef, Op, Ty, conv};
use perilune_vm::Value;

const INTS: [i32; 12] = [0, 1, -1, 2, -2, 3, 7, -7, 1000, -1001, i32::MAX, i32::MIN];
const NUMS: [f64; 12] = [0.0, -0.0, 1.0, -1.5, 2.5, -7.0, 3.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 4294967295.0];

fn int2(op: Op, a: i32, b: i32) -> Option<Value> {
    binary(op, Ty::Int, [Ty::Int; 2], Value::int(a), Value::int(b))
}
fn num2(op: Op, a: f64, b: f64) -> Option<Value> {
    binary(op, Ty::Num, [Ty::Num; 2], Value::num(a), Value::num(b))
}
fn same(got: Option<Value>, want: f64, what: &str) {
    let got = got.expect(what).as_num_unchecked();
    assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{what}: {got} is not {want}");
}

/// One trace of all given operations on two inputs, run on many pairs.
fn table<T: Copy + core::fmt::Debug>(ops: &[Op], ty: Ty, inputs: &[T], boxed: fn(T) -> Value, check: impl Fn(Op, T, T, Value)) {
    for chunk in ops.chunks(4) {
        let mut t = Build::new();
        let s = t.slots(&[ty; 2]);
        let r: Vec<IrRef> = chunk.iter().map(|&op| t.emit(op, ty, s[0], s[1])).collect();
        let trace = t.results(&r);
        let mut m = common::Machine::new();
        m.install(&trace, common::TRACE, exit_id(0));
        for &a in inputs {
            for &b in inputs {
                (*m.slot(2), *m.slot(3)) = (boxed(a).bits(), boxed(b).bits());
                assert_eq!(m.enter(common::TRACE), (1, 0));
                for (i, &op) in chunk.iter().enumerate() {
                    check(op, a, b, m.slot_value(10 + i));
                }
            }
        }
    }
}

#[test]
fn integer_arithmetic_wraps() {
    table(&INT_OPS, Ty::Int, &INTS, Value::int, |op, a, b, got| {
        let want = match op {
            Op::ADD => a.wrapping_add(b),
            Op::SUB => a.wrapping_sub(b),
            Op::MUL => a.wrapping_mul(b),
            Op::MIN => a.min(b),
            Op::MAX => a.max(b),
            Op::BAND => a & b,
            Op::BOR => a | b,
            Op::BXOR => a ^ b,
            Op::BSHL => a.wrapping_shl(b as u32),
            Op::BSHR => (a as u32).wrapping_shr(b as u32) as i32,
            Op::BSAR => a.wrapping_shr(b as u32),
            Op::BROL => a.rotate_left(b as u32 & 31),
            _ => a.rotate_right(b as u32 & 31),
        };
        assert_eq!(got, Value::int(want), "{op:?} {a} {b}");
    });
}

#[test]
fn number_arithmetic_is_ieee() {
    let ops = [Op::ADD, Op::SUB, Op::MUL, Op::DIV, Op::MOD, Op::POW, Op::MIN, Op::MAX];
    table(&ops, Ty::Num, &NUMS, Value::num, |op, a, b, got| {
        let want = match op {
            Op::ADD => a + b,
            Op::SUB => a - b,
            Op::MUL => a * b,
            Op::DIV => a / b,
            Op::MOD => a - (a / b).floor() * b,
            Op::POW => a.powf(b),
            Op::MIN => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            _ => {
                if b > a {
                    b
                } else {
                    a
                }
            }
        };
        same(Some(got), want, &format!("{op:?} {a} {b}"));
    });
}

#[test]
fn integer_modulo_floors() {
    let floored = |a: i32, b: i32| (i64::from(a) - (f64::from(a) / f64::from(b)).floor() as i64 * i64::from(b)) as i32;
    for b in INTS.into_iter().filter(|&b| b != 0) {
        let mut t = Build::new();
        let s = t.slots(&[Ty::Int; 2]);
        let k = t.int(b);
        let by_const = t.emit(Op::MOD, Ty::Int, s[0], k);
        // A variable divisor is positive.
        let by_slot = if b > 0 { t.emit(Op::MOD, Ty::Int, s[0], s[1]) } else { by_const };
        let trace = t.results(&[by_const, by_slot]);
        let mut m = common::Machine::new();
        m.install(&trace, common::TRACE, exit_id(0));
        for a in INTS.into_iter().chain(-100..100).chain([i32::MIN + 1, i32::MAX - 1]) {
            (*m.slot(2), *m.slot(3)) = (Value::int(a).bits(), Value::int(b).bits());
            m.enter(common::TRACE);
            let want = Value::int(floored(a, b));
            assert_eq!((m.slot_value(10), m.slot_value(11)), (want, want), "{a} % {b}");
        }
    }
}

#[test]
fn a_remainder_that_is_only_compared_with_zero_is_that_of_magnitudes() {
    for (op, is_multiple) in [(Op::EQ, true), (Op::NE, false)] {
        for b in INTS.into_iter().filter(|&b| b > 0) {
            for a in INTS.into_iter().chain(-60..60).chain([b, -b, b.wrapping_mul(7), i32::MIN + b]) {
                let mut t = Build::new();
                let s = t.slots(&[Ty::Int; 2]);
                let r = t.emit(Op::MOD, Ty::Int, s[0], s[1]);
                let zero = t.int(0);
                t.emit(op, Ty::Int, r, zero);
                let (exit, _) = run(&t.results(&[s[0]]), &[Value::int(a), Value::int(b)]);
                assert_eq!(exit == 1, (a % b == 0) == is_multiple, "{a} % {b}");
            }
        }
    }
}

#[test]
fn quotients_and_remainders_of_constants_are_those_of_division() {
    for k in [1, 2, 3, 5, 6, 7, 9, 10, 100, 641, 1000, 65535, 65536, 1_000_003, 1 << 30, 1 << 30 | 1, i32::MAX - 1, i32::MAX] {
        let mut t = Build::new();
        let s = t.slot(2, Ty::Int);
        let kr = t.int(k);
        let r = [t.emit(Op::MOD, Ty::Int, s, kr), t.emit(Op::DIV, Ty::Int, s, kr)];
        let trace = t.results(&r);
        let mut m = common::Machine::new();
        m.install(&trace, common::TRACE, exit_id(0));
        let mut check = |a: i32| {
            *m.slot(2) = Value::int(a).bits();
            m.enter(common::TRACE);
            assert_eq!(m.slot_value(10), Value::int(a.rem_euclid(k)), "{a} % {k}");
            assert_eq!(m.slot_value(11), Value::int(a.div_euclid(k)), "{a} / {k}");
        };
        let mut x = 12345u32;
        for i in 0..3000 {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            check(x as i32);
            check((x as i32).wrapping_div(k).wrapping_mul(k).wrapping_add(i % 3 - 1));
        }
        INTS.into_iter().for_each(&mut check);
    }
}

#[test]
fn unary_operations() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Num]);
    let r = [
        t.emit(Op::NEG, Ty::Int, s[0], IrRef::NIL),
        t.emit(Op::NEG, Ty::Num, s[1], IrRef::NIL),
        t.emit(Op::ABS, Ty::Num, s[1], IrRef::NIL),
        t.emit(Op::LDEXP, Ty::Num, s[1], s[0]),
    ];
    let (_, out) = run(&t.results(&r), &[Value::int(3), Value::num(-2.5)]);
    assert_eq!(out, [Value::int(-3), Value::num(2.5), Value::num(2.5), Value::num(-20.0)]);

    let mut t = Build::new();
    let s = t.slots(&[Ty::Int, Ty::Num]);
    let r = [t.emit(Op::BNOT, Ty::Int, s[0], IrRef::NIL), t.emit(Op::BSWAP, Ty::Int, s[0], IrRef::NIL)];
    let (_, out) = run(&t.results(&r), &[Value::int(0x1234_5678), Value::num(0.0)]);
    assert_eq!(out[..2], [Value::int(!0x1234_5678), Value::int(0x7856_3412)]);
}

#[test]
fn math_functions() {
    type Row = (FpMath, fn(f64) -> f64);
    let rows: [Row; 7] = [
        (FpMath::Floor, f64::floor),
        (FpMath::Ceil, f64::ceil),
        (FpMath::Trunc, f64::trunc),
        (FpMath::Sqrt, f64::sqrt),
        (FpMath::Log, f64::ln),
        (FpMath::Log2, f64::log2),
        (FpMath::Exp, f64::exp),
    ];
    for (f, want) in rows {
        let mut t = Build::new();
        let s = t.slot(2, Ty::Num);
        let r = t.emit(Op::FPMATH, Ty::Num, s, IrRef(f as u16));
        let trace = t.results(&[r]);
        for x in [0.5, -0.5, 2.0, -3.25, -0.0, 1e18] {
            same(Some(run(&trace, &[Value::num(x)]).1[0]), want(x), &format!("{f:?} {x}"));
        }
    }
}

/// Without SSE4.1, rounding calls a routine: the only relocations there are.
#[cfg(target_arch = "x86_64")]
#[test]
fn rounding_on_old_processors() {
    let mut t = Build::new();
    let s = t.slots(&[Ty::Num, Ty::Num]);
    let r = [FpMath::Floor, FpMath::Ceil, FpMath::Trunc].map(|f| t.emit(Op::FPMATH, Ty::Num, s[0], IrRef(f as u16)));
    let m = t.emit(Op::MOD, Ty::Num, s[0], s[1]);
    let trace = t.results(&[r[0], r[1], r[2], m]);
    let mut m = common::Machine::new();
    let isa = perilune_backend::isa::foreign("x86_64-unknown-linux-gnu", &[]).unwrap();
    let config = perilune_backend::Config { code_size: 1 << 16, helper: common::helpers::address };
    m.backend = perilune_backend::Backend::with_isa(isa, &config).unwrap();
    m.exits.fill(m.backend.exit_stub());
    (*m.slot(2), *m.slot(3)) = (Value::num(-2.5).bits(), Value::num(2.0).bits());
    assert_eq!(m.run(&trace), 1);
    assert_eq!([10, 11, 12, 13].map(|i| m.slot_value(i)), [-3.0, -2.0, -2.0, 1.5].map(Value::num));
}

#[test]
fn overflow_leaves() {
    for a in INTS {
        for b in INTS {
            assert_eq!(int2(Op::ADDOV, a, b), a.checked_add(b).map(Value::int), "{a} + {b}");
            assert_eq!(int2(Op::SUBOV, a, b), a.checked_sub(b).map(Value::int), "{a} - {b}");
            let minus_zero = (a == 0 && b < 0) || (b == 0 && a < 0);
            let want = a.checked_mul(b).filter(|_| !minus_zero).map(Value::int);
            assert_eq!(int2(Op::MULOV, a, b), want, "{a} * {b}");
        }
    }
}

#[test]
fn multiplication_by_a_constant_still_leaves_on_minus_zero() {
    for (k, a, leaves) in [(3, 0, false), (3, -5, false), (-3, 0, true), (0, -5, true), (0, 5, false), (1 << 20, 1 << 20, true)] {
        let mut t = Build::new();
        let s = t.slot(2, Ty::Int);
        let kr = t.int(k);
        let r = t.emit(Op::MULOV, Ty::Int, s, kr);
        let (exit, _) = run(&t.results(&[r]), &[Value::int(a)]);
        assert_eq!(exit == 0, leaves, "{a} * {k}");
    }
}

#[test]
fn comparisons_of_integers() {
    for a in INTS {
        for b in [0, 1, -1, 7, i32::MIN] {
            let (ua, ub) = (a as u32, b as u32);
            let want = [
                (Op::LT, a < b),
                (Op::GE, a >= b),
                (Op::LE, a <= b),
                (Op::GT, a > b),
                (Op::ULT, ua < ub),
                (Op::UGE, ua >= ub),
                (Op::ULE, ua <= ub),
                (Op::UGT, ua > ub),
                (Op::EQ, a == b),
                (Op::NE, a != b),
                (Op::ABC, ub < ua),
            ];
            for (op, want) in want {
                assert_eq!(int2(op, a, b).is_some(), want, "{op:?} {a} {b}");
            }
        }
    }
}

#[test]
fn comparisons_of_numbers_know_nan() {
    for a in [0.0, -0.0, 1.5, f64::NAN, f64::INFINITY] {
        for b in [0.0, 2.5, f64::NAN] {
            let want = [(Op::LT, a < b), (Op::GE, a >= b), (Op::LE, a <= b), (Op::GT, a > b), (Op::EQ, a == b), (Op::NE, a != b)];
            for (op, want) in want {
                assert_eq!(num2(op, a, b).is_some(), want, "{op:?} {a} {b}");
            }
            // The unordered forms are the negations.
            for (op, unordered) in [(Op::LT, Op::UGE), (Op::GE, Op::ULT), (Op::LE, Op::UGT), (Op::GT, Op::ULE)] {
                assert_ne!(num2(op, a, b).is_some(), num2(unordered, a, b).is_some(), "{op:?} {a} {b}");
            }
        }
    }
}

#[test]
fn comparisons_of_words_and_primitives() {
    let word = |op, a, b| binary(op, Ty::P64, [Ty::P64; 2], value_of(a), value_of(b)).is_some();
    assert!(word(Op::EQ, 1 << 40, 1 << 40) && !word(Op::EQ, 1 << 40, 0) && word(Op::NE, 1 << 40, 0));
    assert!(word(Op::LT, 1, !0) && !word(Op::GT, 1, !0));
    for (a, ok) in [(IrRef::NIL, true), (IrRef::TRUE, false)] {
        let mut t = Build::new();
        t.emit(Op::EQ, Ty::Nil, IrRef::NIL, a);
        assert_eq!(run(&t.results(&[]), &[]).0 == 1, ok);
    }
}

#[test]
fn conversions_between_numbers() {
    let convert = |kind: u16, from: Ty, to: Ty, v: Value, guard: bool| {
        let mut t = Build::new();
        let s = t.slot(2, from);
        let r = if guard { t.guarded(Op::CONV, to, s, IrRef(kind)) } else { t.emit(Op::CONV, to, s, IrRef(kind)) };
        let (exit, out) = run(&t.results(&[r]), &[v]);
        (exit == 1).then_some(out[0])
    };
    assert_eq!(convert(conv::NUM_INT, Ty::Int, Ty::Num, Value::int(-3), false), Some(Value::num(-3.0)));
    for x in [0.0, -0.0, 5.0, -7.0, 0.5, f64::NAN, 2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0, f64::INFINITY] {
        let exact = f64::from(x as i32) == x;
        let index = convert(conv::INT_NUM_INDEX, Ty::Num, Ty::Int, Value::num(x), true);
        assert_eq!(index, exact.then_some(Value::int(x as i32)), "index {x}");
        let check = convert(conv::INT_NUM_CHECK, Ty::Num, Ty::Int, Value::num(x), true);
        assert_eq!(check, (exact && x.to_bits() != (-0.0f64).to_bits()).then_some(Value::int(x as i32)), "check {x}");
    }
    let wide = |mode| conv::pack(Ty::I64, Ty::Int, mode);
    assert_eq!(convert(wide(conv::SEXT), Ty::Int, Ty::I64, Value::int(-2), false), Some(value_of(-2i64 as u64)));
    assert_eq!(convert(wide(0), Ty::Int, Ty::I64, Value::int(-2), false), Some(value_of(0xffff_fffe)));
    let pack = |to, from| conv::pack(to, from, 0);
    assert_eq!(convert(pack(Ty::Int, Ty::I64), Ty::I64, Ty::Int, value_of(!4), false), Some(Value::int(-5)));
    assert_eq!(convert(pack(Ty::Num, Ty::U32), Ty::U32, Ty::Num, Value::int(-1), false), Some(Value::num(4294967295.0)));
    assert_eq!(convert(pack(Ty::I8, Ty::Int), Ty::Int, Ty::I8, Value::int(0x1ff), false), Some(Value::int(-1)));
    assert_eq!(convert(pack(Ty::U16, Ty::Int), Ty::Int, Ty::U16, Value::int(-1), false), Some(Value::int(0xffff)));
    assert_eq!(convert(pack(Ty::Int, Ty::Num), Ty::Num, Ty::Int, Value::num(-3.9), false), Some(Value::int(-3)));
}

#[test]
fn tobit_takes_numbers_modulo_2_32() {
    for (x, want) in [(0.0, 0), (-1.0, -1), (4294967295.0, -1), (2147483648.0, i32::MIN), (1.5, 2), (1e15, 1e15 as i64 as i32)] {
        let mut t = Build::new();
        let s = t.slot(2, Ty::Num);
        let r = t.emit(Op::TOBIT, Ty::Int, s, IrRef::NIL);
        assert_eq!(run(&t.results(&[r]), &[Value::num(x)]).1[0], Value::int(want), "{x}");
    }
}

#[test]
fn only_the_final_sum_is_checked_for_overflow() {
    // (a + b) - c with one exit; with a snapshot in between, or one that has the part, each part is checked.
    let sum = |apart: bool, seen: bool| {
        let mut t = Build::new();
        let s = t.slots(&[Ty::Int; 3]);
        let part = t.emit(Op::ADDOV, Ty::Int, s[0], s[1]);
        if apart {
            t.snap(&[]);
        }
        let whole = t.emit(Op::SUBOV, Ty::Int, part, s[2]);
        let mut seen_too = vec![whole];
        seen_too.extend(seen.then_some(part));
        t.results(&seen_too)
    };
    let run = |trace: &perilune_recorder::ir::Trace, values: [i32; 3]| {
        let mut m = common::Machine::new();
        for (i, v) in values.into_iter().enumerate() {
            *m.slot(2 + i) = Value::int(v).bits();
        }
        (m.run(trace), m.slot_value(10))
    };
    let (min, max) = (i32::MIN, i32::MAX);
    assert_eq!(run(&sum(false, false), [max, 5, 6]), (1, Value::int(max - 1)));
    assert_eq!(run(&sum(false, false), [min, -5, -6]), (1, Value::int(min + 1)));
    assert_eq!(run(&sum(false, false), [max, 5, 4]).0, 0);
    assert_eq!(run(&sum(false, false), [min, 0, 1]).0, 0);
    assert_eq!(run(&sum(true, false), [max, 5, 6]).0, 0);
    assert_eq!(run(&sum(false, true), [max, 5, 6]).0, 0);
}
