//! Traces made at random, run as machine code and by the evaluator: they leave by the same exit with the same slots. Each is compiled
//! for the other targets as well. The seeds are fixed; `GENERATED_TRACES` says how many (1,000 if it is not set).

mod common;

use common::{BASE, Build, EXIT_BASE, INT_OPS, Machine, TRACE, helpers, value_of};
use perilune_recorder::eval::{self, Outcome};
use perilune_recorder::ir::verify::verify;
use perilune_recorder::ir::{Const, FpMath, Ins, IrRef, Link, Op, Trace, Ty, conv};
use perilune_vm::{Value, Vm};

/// Slots that traces read: ints from 2 on, then nums.
const INTS: u16 = 3;
const NUMS: u16 = 3;
/// Slots that snapshots store.
const OUT: u16 = 10;
/// The first of four slots that raw loads and stores access.
const MEMORY: u16 = 30;
/// Iterations of a loop.
const MOST: i32 = 9;

const SOME_INTS: [i32; 8] = [0, 1, -1, 7, 31, 1000, i32::MAX, i32::MIN];
const SOME_WORDS: [u64; 8] = [0, 1, u64::MAX, 7, 1 << 31, 1 << 32, i64::MAX as u64, 1 << 63];
const SOME_NUMS: [f64; 10] = [0.0, -0.0, 1.0, -1.5, 2.5, 7.0, 1e300, f64::INFINITY, f64::NAN, 4294967295.0];

/// xorshift64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % n
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// Rather one of the last, so that values depend on one another.
    fn rather_new(&mut self, list: &[IrRef]) -> IrRef {
        let from = if self.one_in(2) { list.len().saturating_sub(3) } else { 0 };
        list[from + self.below(list.len() - from)]
    }
}

/// A trace being made up.
struct Maker {
    b: Build,
    rng: Rng,
    ints: Vec<IrRef>,
    nums: Vec<IrRef>,
    /// i64 or u64.
    words: Vec<IrRef>,
    /// The address of what raw loads and stores access.
    memory: IrRef,
}

impl Maker {
    fn int(&mut self) -> IrRef {
        if self.rng.one_in(4) {
            let k = self.rng.of(&SOME_INTS);
            return self.b.int(k);
        }
        self.rng.rather_new(&self.ints)
    }
    fn num(&mut self) -> IrRef {
        if self.rng.one_in(4) {
            let k = self.rng.of(&SOME_NUMS);
            return self.b.num(k);
        }
        self.rng.rather_new(&self.nums)
    }
    /// An operand that is no constant.
    fn variable(&mut self, ty: Ty) -> IrRef {
        let list = if ty == Ty::Int { &self.ints } else { &self.nums };
        list[self.rng.below(list.len())]
    }

    fn int_op(&mut self) {
        let x = self.variable(Ty::Int);
        let r = match self.rng.below(8) {
            0 => {
                let op = self.rng.of(&[Op::BNOT, Op::BSWAP, Op::NEG]);
                self.b.emit(op, Ty::Int, x, IrRef::NONE)
            }
            1 => {
                let k = self.rng.of(&[1, -1, 2, 8, 10, -7, i32::MAX, i32::MIN]);
                // A quotient needs a positive divisor.
                let op = if k > 0 { self.rng.of(&[Op::MOD, Op::DIV]) } else { Op::MOD };
                let k = self.b.int(k);
                self.b.emit(op, Ty::Int, x, k)
            }
            2 | 3 => {
                let (op, y) = (self.rng.of(&[Op::ADDOV, Op::SUBOV, Op::MULOV]), self.int());
                self.b.emit(op, Ty::Int, x, y)
            }
            _ => {
                let (op, y) = (self.rng.of(&INT_OPS), self.int());
                self.b.emit(op, Ty::Int, x, y)
            }
        };
        self.ints.push(r);
    }
    fn num_op(&mut self) {
        let x = self.variable(Ty::Num);
        let r = match self.rng.below(4) {
            0 => {
                let op = self.rng.of(&[Op::NEG, Op::ABS]);
                self.b.emit(op, Ty::Num, x, IrRef::NONE)
            }
            1 => {
                let f = self.rng.of(&[FpMath::Floor, FpMath::Ceil, FpMath::Trunc, FpMath::Sqrt]);
                self.b.emit(Op::FPMATH, Ty::Num, x, IrRef(f as u16))
            }
            _ => {
                let op = self.rng.of(&[Op::ADD, Op::SUB, Op::MUL, Op::DIV, Op::MIN, Op::MAX]);
                let y = self.num();
                self.b.emit(op, Ty::Num, x, y)
            }
        };
        self.nums.push(r);
    }
    fn conversion(&mut self) {
        if self.rng.one_in(2) {
            let x = self.variable(Ty::Int);
            let r = self.b.emit(Op::CONV, Ty::Num, x, IrRef(conv::NUM_INT));
            return self.nums.push(r);
        }
        let x = self.variable(Ty::Num);
        let r = match self.rng.below(3) {
            0 => self.b.emit(Op::TOBIT, Ty::Int, x, IrRef::NIL),
            1 => self.b.guarded(Op::CONV, Ty::Int, x, IrRef(conv::INT_NUM_INDEX)),
            _ => self.b.guarded(Op::CONV, Ty::Int, x, IrRef(conv::INT_NUM_CHECK)),
        };
        self.ints.push(r);
    }
    fn word(&mut self) -> IrRef {
        if self.rng.one_in(4) || self.words.is_empty() {
            let k = self.rng.of(&SOME_WORDS);
            return self.b.konst(Const::Word(k, Ty::I64));
        }
        self.rng.rather_new(&self.words)
    }
    fn word_op(&mut self) {
        const OPS: [Op; 9] = [Op::ADD, Op::SUB, Op::MUL, Op::DIV, Op::MOD, Op::POW, Op::BAND, Op::BOR, Op::BXOR];
        let (ty, x) = (self.rng.of(&[Ty::I64, Ty::U64]), self.word());
        let r = match self.rng.below(4) {
            0 => {
                let op = self.rng.of(&[Op::BNOT, Op::BSWAP, Op::NEG]);
                self.b.emit(op, ty, x, IrRef::NONE)
            }
            1 => {
                let (op, n) = (self.rng.of(&[Op::BSHL, Op::BSHR, Op::BSAR, Op::BROL, Op::BROR]), self.int());
                self.b.emit(op, ty, x, n)
            }
            _ => {
                let (op, y) = (self.rng.of(&OPS), self.word());
                self.b.emit(op, ty, x, y)
            }
        };
        self.words.push(r);
    }
    fn word_conversion(&mut self) {
        const NARROW: [Ty; 6] = [Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::Int, Ty::U32];
        let (wide, narrow) = (self.rng.of(&[Ty::I64, Ty::U64]), self.rng.of(&NARROW));
        match self.rng.below(8) {
            0 | 1 => {
                let (x, sign) = (self.variable(Ty::Int), self.rng.of(&[0, conv::SEXT]));
                let r = self.b.emit(Op::CONV, wide, x, IrRef(conv::pack(wide, Ty::Int, sign)));
                self.words.push(r);
            }
            2 => {
                let x = self.variable(Ty::Num);
                let r = self.b.emit(Op::CONV, wide, x, IrRef(conv::pack(wide, Ty::Num, 0)));
                self.words.push(r);
            }
            3 => {
                let x = self.word();
                let r = self.b.emit(Op::CONV, narrow, x, IrRef(conv::pack(narrow, wide, 0)));
                self.ints.push(r);
            }
            4 => {
                let x = self.variable(Ty::Int);
                let r = self.b.emit(Op::CONV, narrow, x, IrRef(conv::pack(narrow, Ty::Int, 0)));
                self.ints.push(r);
            }
            5 => {
                let x = self.variable(Ty::Num);
                let narrow = if narrow == Ty::Int { Ty::U32 } else { narrow };
                let r = self.b.emit(Op::CONV, narrow, x, IrRef(conv::pack(narrow, Ty::Num, 0)));
                self.ints.push(r);
            }
            6 => {
                let x = self.word();
                let r = self.b.emit(Op::CONV, Ty::Num, x, IrRef(conv::pack(Ty::Num, wide, 0)));
                self.nums.push(r);
            }
            _ => {
                // To a float from any number, and back.
                let (x, ty) = match self.rng.below(4) {
                    0 => (self.variable(Ty::Num), Ty::Num),
                    1 => (self.word(), wide),
                    _ => (self.variable(Ty::Int), self.rng.of(&[Ty::Int, Ty::U32])),
                };
                let float = self.b.emit(Op::CONV, Ty::Float, x, IrRef(conv::pack(Ty::Float, ty, 0)));
                let r = self.b.emit(Op::CONV, Ty::Num, float, IrRef(conv::pack(Ty::Num, Ty::Float, 0)));
                self.nums.push(r);
            }
        }
    }
    /// A load from raw memory, or a store to it. Floating-point numbers have a part of it, so that the bits of a NaN are not looked at.
    fn raw_access(&mut self) {
        const TYPES: [Ty; 8] = [Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::Int, Ty::U32, Ty::I64, Ty::U64];
        let ty = if self.rng.one_in(4) { self.rng.of(&[Ty::Num, Ty::Float]) } else { self.rng.of(&TYPES) };
        let part = match ty {
            Ty::Num => 16,
            Ty::Float => 24,
            _ => 0,
        };
        let at = part + self.rng.below(if part == 0 { 9 } else { 1 }) as u64;
        let at = self.b.konst(Const::Word(at, Ty::I64));
        let address = self.b.emit(Op::ADD, Ty::P64, self.memory, at);
        let float = conv::pack(Ty::Float, Ty::Num, 0);
        if self.rng.one_in(2) {
            let value = match ty {
                Ty::Num => self.variable(Ty::Num),
                Ty::Float => {
                    let x = self.variable(Ty::Num);
                    self.b.emit(Op::CONV, Ty::Float, x, IrRef(float))
                }
                Ty::I64 | Ty::U64 => self.word(),
                _ => self.int(),
            };
            self.b.emit(Op::XSTORE, ty, address, value);
            return;
        }
        let r = self.b.emit(Op::XLOAD, ty, address, IrRef(0));
        match ty {
            Ty::Num => self.nums.push(r),
            Ty::Float => {
                let r = self.b.emit(Op::CONV, Ty::Num, r, IrRef(conv::pack(Ty::Num, Ty::Float, 0)));
                self.nums.push(r);
            }
            Ty::I64 | Ty::U64 => self.words.push(r),
            _ => self.ints.push(r),
        }
    }
    fn comparison(&mut self) {
        const OPS: [Op; 10] = [Op::LT, Op::GE, Op::LE, Op::GT, Op::ULT, Op::UGE, Op::ULE, Op::UGT, Op::EQ, Op::NE];
        let op = self.rng.of(&OPS);
        let (ty, x, y) = if self.rng.one_in(3) {
            (self.rng.of(&[Ty::I64, Ty::U64]), self.word(), self.word())
        } else if self.rng.one_in(2) {
            (Ty::Int, self.variable(Ty::Int), self.int())
        } else {
            (Ty::Num, self.variable(Ty::Num), self.num())
        };
        self.b.emit(op, ty, x, y);
    }
    fn snapshot(&mut self) {
        let mut slots = Vec::new();
        for slot in OUT..OUT + 8 {
            if self.rng.one_in(2) {
                let r = if self.rng.one_in(2) { self.int() } else { self.num() };
                slots.push((slot, r));
            }
        }
        self.b.snap(&slots);
    }
    fn instructions(&mut self, n: usize) {
        for _ in 0..n {
            match self.rng.below(18) {
                10..13 => self.word_op(),
                13..16 => self.word_conversion(),
                16 | 17 => self.raw_access(),
                0..4 => self.int_op(),
                4..7 => self.num_op(),
                7 => self.conversion(),
                8 => self.comparison(),
                _ => self.snapshot(),
            }
        }
    }

    /// A loop whose counter is in slot 2 at first, and which carries a few values.
    fn body(&mut self, counter: IrRef) {
        let (ints, nums, words) = (self.ints.len(), self.nums.len(), self.words.len());
        self.b.emit(Op::LOOP, Ty::Nil, IrRef::NONE, IrRef::NONE);
        self.snapshot();
        let (one, most) = (self.b.int(1), self.b.int(MOST));
        let next = self.b.emit(Op::ADD, Ty::Int, counter, one);
        self.b.emit(Op::LT, Ty::Int, next, most);
        let n = 4 + self.rng.below(12);
        self.instructions(n);
        let mut phis = vec![(counter, next, Ty::Int)];
        for _ in 0..self.rng.below(4) {
            let (ty, list, before) = match self.rng.below(3) {
                0 => (Ty::Int, &self.ints, ints),
                1 => (Ty::Num, &self.nums, nums),
                _ => (Ty::I64, &self.words, words),
            };
            if list.len() == before || before == 0 {
                continue;
            }
            let (left, right) = (list[self.rng.below(before)], list[before + self.rng.below(list.len() - before)]);
            if phis.iter().all(|p| p.0 != left && p.1 != right) {
                phis.push((left, right, ty));
            }
        }
        self.snapshot();
        for (left, right, ty) in phis {
            for r in [left, right] {
                self.b.t.ins[r.ins_index()].flags |= Ins::PHI;
            }
            self.b.emit(Op::PHI, ty, left, right);
        }
        self.b.t.link = Link::Loop;
    }
}

fn make(seed: u64) -> Trace {
    let rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut m = Maker { b: Build::new(), rng, ints: Vec::new(), nums: Vec::new(), words: Vec::new(), memory: IrRef::NONE };
    m.memory = m.b.emit(Op::SREF, Ty::P64, IrRef(MEMORY), IrRef::NONE);
    for slot in 2..2 + INTS + NUMS {
        let ty = if slot < 2 + INTS { Ty::Int } else { Ty::Num };
        let r = m.b.guarded(Op::SLOAD, ty, IrRef(slot), IrRef(0));
        if ty == Ty::Int { &mut m.ints } else { &mut m.nums }.push(r);
    }
    let counter = m.ints[0];
    let n = 2 + m.rng.below(20);
    m.instructions(n);
    if m.rng.one_in(2) {
        m.body(counter);
    } else {
        m.snapshot();
    }
    m.b.t
}

/// Values with one NaN.
fn slots(stack: &[u64]) -> Vec<u64> {
    let one = |&word: &u64| if value_of(word).as_number().is_some_and(f64::is_nan) { f64::NAN.to_bits() } else { word };
    stack.iter().map(one).collect()
}

#[test]
fn machine_code_and_the_evaluator_agree() {
    let count = std::env::var("GENERATED_TRACES").map_or(1000, |text| text.parse().expect("a number"));
    let mut m = Machine::new();
    let (mut left_early, mut ended) = (0, 0);
    for seed in 1..=count {
        let trace = make(seed);
        if let Err(e) = verify(&trace) {
            panic!("seed {seed}: {e}\n{trace}");
        }
        m.backend.reset();
        m.install(&trace, TRACE, EXIT_BASE);
        let mut rng = Rng(seed << 20 | 1);
        for _ in 0..8 {
            let mut stack = vec![Value::NIL.bits(); m.stack.len()];
            for slot in 0..INTS + NUMS {
                let small = rng.below(10) as i32 - 2;
                // The first counts iterations.
                let v = match (slot < INTS, slot == 0 || rng.one_in(2)) {
                    (true, true) => Value::int(small),
                    (true, false) => Value::int(rng.of(&SOME_INTS)),
                    // A num may come as an int.
                    (false, true) if rng.one_in(2) => Value::int(small),
                    (false, true) => Value::num(f64::from(small) / 2.0),
                    (false, false) => Value::num(rng.of(&SOME_NUMS)),
                };
                stack[BASE + usize::from(slot)] = v.bits();
            }
            m.stack.copy_from_slice(&stack);
            let (exit, base) = m.enter(TRACE);
            let native = (exit - u64::from(EXIT_BASE.get()), base, slots(&m.stack));

            m.stack.copy_from_slice(&stack);
            let config = eval::Config { helper: helpers::address, fuel: 100_000, ..eval::Config::default() };
            let (vm, at) = (m.vm.as_mut_ptr().cast::<Vm>(), m.stack[BASE..].as_mut_ptr());
            // SAFETY: the trace was made for this VM and this stack.
            let end = unsafe { eval::run_with(&config, &trace, vm, at.cast()) };
            let Outcome::Exit(exit) = end.outcome else { panic!("seed {seed}: {:?}\n{trace}", end.outcome) };
            let moved = (end.base as isize - at as isize) / 8;
            let evaluated = (u64::from(exit.number()), moved, slots(&m.stack));
            assert_eq!(native, evaluated, "seed {seed}: machine code, then the evaluator\n{trace}");
            if exit.next().index() == trace.snaps.len() { ended += 1 } else { left_early += 1 }
        }
    }
    assert!(left_early > 0 && ended > 0, "the traces are all of a kind: {left_early} runs left early, {ended} did not");
}
