//! Random programs on slots and tables, and an interpreter of them: what a trace must not differ from.

use perilune_vm::object::{Gc, Table};
use perilune_vm::{Value, Vm};

/// A small random generator.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// An operand: a slot or a constant.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Operand {
    Slot(usize),
    K(Value),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Bit {
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Sar,
    Rol,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Cmp {
    Lt,
    Le,
    Eq,
}

/// A statement. Slots are numbered from 2, as in traces.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Stmt {
    Move(usize, Operand),
    Arith(Arith, usize, Operand, Operand),
    Neg(usize, usize),
    Floor(usize, usize),
    Bit(Bit, usize, Operand, Operand),
    Not(usize, usize),
    /// If the comparison has this outcome, skip so many statements. Of what is no number, only equality.
    Skip(Cmp, Operand, Operand, bool, usize),
    Get(usize, usize, Operand),
    Set(usize, Operand, Operand),
    New(usize),
    Dup(usize, usize),
    Len(usize, usize),
    Sub(usize, usize, i32, i32),
    Concat(usize, usize, usize),
    StrLen(usize, usize),
}

/// A loop: its statements, the slots of counter and limit, and what may be duplicated.
pub struct Program {
    pub body: Vec<Stmt>,
    pub counter: usize,
    pub limit: usize,
    pub templates: Vec<Gc<Table>>,
}

/// First and last slot of a program's variables.
pub const FIRST: usize = 2;
pub const SLOTS: usize = 12;

/// Longest string that programs make.
pub const MAX_LEN: usize = 64;

/// Something an operation is not defined for; the program stops there.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stop;

/// The bit library's view of a number.
pub fn to_bit(v: Value) -> Option<i32> {
    if let Some(i) = v.as_int() {
        return Some(i);
    }
    v.as_number().map(|n| (n + 6_755_399_441_055_744.0).to_bits() as i32)
}

pub fn arith(op: Arith, x: Value, y: Value) -> Option<Value> {
    if let (Some(a), Some(b)) = (x.as_int(), y.as_int()) {
        let exact = match op {
            Arith::Add => a.checked_add(b),
            Arith::Sub => a.checked_sub(b),
            Arith::Mul => a.checked_mul(b).filter(|&v| v != 0 || (a | b) >= 0),
            Arith::Mod if b != 0 => {
                let r = a.wrapping_rem(b);
                Some(if r != 0 && (r ^ b) < 0 { r + b } else { r })
            }
            Arith::Min => Some(a.min(b)),
            Arith::Max => Some(a.max(b)),
            _ => None,
        };
        if let Some(v) = exact {
            return Some(Value::int(v));
        }
    }
    let (a, b) = (x.as_number()?, y.as_number()?);
    Some(Value::num(match op {
        Arith::Add => a + b,
        Arith::Sub => a - b,
        Arith::Mul => a * b,
        Arith::Div => a / b,
        Arith::Mod => a - (a / b).floor() * b,
        Arith::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        Arith::Max => {
            if b > a {
                b
            } else {
                a
            }
        }
    }))
}

pub fn bit(op: Bit, x: i32, y: i32) -> i32 {
    let n = y as u32 & 31;
    match op {
        Bit::And => x & y,
        Bit::Or => x | y,
        Bit::Xor => x ^ y,
        Bit::Shl => x << n,
        Bit::Shr => (x as u32 >> n) as i32,
        Bit::Sar => x >> n,
        Bit::Rol => x.rotate_left(n),
    }
}

pub fn compare(op: Cmp, x: Value, y: Value) -> Option<bool> {
    match op {
        Cmp::Eq => Some(x.raw_equals(y)),
        Cmp::Lt => Some(x.as_number()? < y.as_number()?),
        Cmp::Le => Some(x.as_number()? <= y.as_number()?),
    }
}

/// A frame: slot `n` is at `base + n - 2`.
pub struct Machine<'a> {
    pub vm: &'a mut Vm,
    pub base: *mut Value,
}

impl Machine<'_> {
    pub fn get(&self, slot: usize) -> Value {
        // SAFETY: the stack of a test has all slots of a program.
        unsafe { *self.base.add(slot - 2) }
    }
    pub fn set(&mut self, slot: usize, v: Value) {
        // SAFETY: as above.
        unsafe { *self.base.add(slot - 2) = v }
    }
    pub fn operand(&self, o: Operand) -> Value {
        match o {
            Operand::Slot(s) => self.get(s),
            Operand::K(v) => v,
        }
    }

    /// Is the statement defined for the values it meets? Otherwise it does nothing.
    pub fn defined(&self, stmt: Stmt) -> bool {
        let s = |slot| self.get(slot);
        let string_len = |slot: usize| s(slot).as_str().map(|x| x.len());
        match stmt {
            Stmt::Arith(op, _, x, y) => arith(op, self.operand(x), self.operand(y)).is_some(),
            Stmt::Neg(_, x) | Stmt::Floor(_, x) => s(x).as_number().is_some(),
            Stmt::Bit(_, _, x, y) => to_bit(self.operand(x)).is_some() && to_bit(self.operand(y)).is_some(),
            Stmt::Not(_, x) => to_bit(s(x)).is_some(),
            Stmt::Skip(op, x, y, ..) => compare(op, self.operand(x), self.operand(y)).is_some(),
            Stmt::Len(_, t) => s(t).is_table(),
            Stmt::Get(_, t, k) | Stmt::Set(t, k, _) => {
                let k = self.operand(k);
                // The order of tables that are keys depends on their addresses.
                s(t).is_table() && !k.is_table() && !k.is_nil() && !k.as_number().is_some_and(f64::is_nan)
            }
            Stmt::Sub(_, x, i, n) => string_len(x).is_some_and(|len| len >= (i + n) as usize),
            Stmt::Concat(_, x, y) => string_len(x).is_some_and(|a| string_len(y).is_some_and(|b| a + b <= MAX_LEN)),
            Stmt::StrLen(_, x) => s(x).is_str(),
            Stmt::Move(..) | Stmt::New(_) | Stmt::Dup(..) => true,
        }
    }

    /// Executes the statement at `pc`; where to go on.
    pub fn step(&mut self, p: &Program, pc: usize) -> Result<usize, Stop> {
        let Some(&stmt) = p.body.get(pc) else { return self.next_iteration(p) };
        if !self.defined(stmt) {
            return Ok(pc + 1);
        }
        match stmt {
            Stmt::Move(d, x) => self.set(d, self.operand(x)),
            Stmt::Arith(op, d, x, y) => {
                let v = arith(op, self.operand(x), self.operand(y)).ok_or(Stop)?;
                self.set(d, v);
            }
            Stmt::Neg(d, x) => {
                let v = match self.get(x) {
                    v if v.as_int().is_some_and(|i| i != 0 && i != i32::MIN) => Value::int(-v.as_int_unchecked()),
                    v => Value::num(-v.as_number().ok_or(Stop)?),
                };
                self.set(d, v);
            }
            Stmt::Floor(d, x) => {
                let v = self.get(x);
                let v = if v.is_int() { v } else { Value::num(v.as_number().ok_or(Stop)?.floor()) };
                self.set(d, v);
            }
            Stmt::Bit(op, d, x, y) => {
                let (x, y) = (to_bit(self.operand(x)).ok_or(Stop)?, to_bit(self.operand(y)).ok_or(Stop)?);
                self.set(d, Value::int(bit(op, x, y)));
            }
            Stmt::Not(d, x) => {
                let x = to_bit(self.get(x)).ok_or(Stop)?;
                self.set(d, Value::int(!x));
            }
            Stmt::Skip(op, x, y, when, n) => {
                if compare(op, self.operand(x), self.operand(y)).ok_or(Stop)? == when {
                    return Ok((pc + 1 + n).min(p.body.len()));
                }
            }
            Stmt::Get(d, t, k) => {
                let t = self.get(t).as_table().ok_or(Stop)?;
                let v = t.get(self.operand(k));
                self.set(d, v);
            }
            Stmt::Set(t, k, v) => {
                let (t, k, v) = (self.get(t).as_table().ok_or(Stop)?, self.operand(k), self.operand(v));
                self.set_index(t, k, v)?;
            }
            Stmt::New(d) => {
                let t = self.vm.new_table(0, 0);
                self.set(d, Value::table(t));
            }
            Stmt::Dup(d, n) => {
                let t = self.vm.dup_table(p.templates[n]);
                self.set(d, Value::table(t));
            }
            Stmt::Len(d, t) => {
                let t = self.get(t).as_table().ok_or(Stop)?;
                self.set(d, Value::int(t.len() as i32));
            }
            _ => self.string_step(stmt)?,
        }
        Ok(pc + 1)
    }

    fn string_step(&mut self, stmt: Stmt) -> Result<(), Stop> {
        match stmt {
            Stmt::Sub(d, s, i, n) => {
                let s = self.get(s).as_str().ok_or(Stop)?;
                let bytes = s.bytes().get(i as usize..(i + n) as usize).ok_or(Stop)?.to_vec();
                let v = Value::str(self.vm.new_str(&bytes));
                self.set(d, v);
            }
            Stmt::Concat(d, x, y) => {
                let (x, y) = (self.get(x).as_str().ok_or(Stop)?, self.get(y).as_str().ok_or(Stop)?);
                let bytes = [x.bytes(), y.bytes()].concat();
                let v = Value::str(self.vm.new_str(&bytes));
                self.set(d, v);
            }
            Stmt::StrLen(d, s) => {
                let s = self.get(s).as_str().ok_or(Stop)?;
                self.set(d, Value::int(s.len() as i32));
            }
            _ => unreachable!(),
        }
        Ok(())
    }

    pub fn set_index(&mut self, t: Gc<Table>, k: Value, v: Value) -> Result<(), Stop> {
        if k.is_nil() || k.is_num() && k.as_num_unchecked().is_nan() {
            return Err(Stop);
        }
        let slot = match t.find(k) {
            Some(slot) => slot,
            None if v.is_nil() => return Ok(()),
            None => self.vm.table_new_key(t, k),
        };
        // SAFETY: a slot of the table, just found or made.
        unsafe { *slot = v };
        Ok(())
    }

    /// The end of the loop's body: the counter against the limit.
    fn next_iteration(&mut self, p: &Program) -> Result<usize, Stop> {
        let (Some(i), Some(limit)) = (self.get(p.counter).as_int(), self.get(p.limit).as_int()) else { return Err(Stop) };
        let i = i.checked_add(1).ok_or(Stop)?;
        if i > limit {
            return Err(Stop);
        }
        self.set(p.counter, Value::int(i));
        Ok(0)
    }
}

const KEYS: [&str; 4] = ["x", "y", "zz", "n"];

/// A random program and the values to start with.
pub fn generate(vm: &mut Vm, rng: &mut Rng) -> (Program, Vec<Value>) {
    let mut slots = vec![Value::NIL; SLOTS + 1];
    let shared = new_table(vm, rng);
    for (i, slot) in slots.iter_mut().enumerate().skip(FIRST) {
        *slot = match (i, rng.below(10)) {
            (2, _) => Value::int(0),
            (3, _) => Value::int(30),
            (4, _) => Value::table(new_table(vm, rng)),
            (5, _) => {
                if rng.below(3) == 0 {
                    Value::table(shared)
                } else {
                    Value::table(new_table(vm, rng))
                }
            }
            (6, _) => Value::str(vm.new_str(b"hello")),
            (_, 0..4) => Value::int(rng.below(7) as i32 - 3),
            (_, 4..7) => Value::num(rng.below(9) as f64 * 0.5 - 1.0),
            (_, 7) => Value::bool(rng.below(2) == 0),
            (_, 8) => Value::table(shared),
            _ => Value::int(rng.pick(&[i32::MAX, i32::MIN, 1000])),
        };
    }
    let templates = (0..2).map(|_| new_table(vm, rng)).collect();
    let n = 2 + rng.below(14);
    let mut g = Gen { vm, rng };
    let mut body = Vec::new();
    while body.len() < n {
        if g.rng.below(8) == 0 { g.idiom(&mut body) } else { body.push(g.statement()) }
    }
    (Program { body, counter: 2, limit: 3, templates }, slots)
}

fn new_table(vm: &mut Vm, rng: &mut Rng) -> Gc<Table> {
    let t = vm.new_table(rng.below(6) as u32, rng.below(3) as u32);
    for i in 1..=rng.below(6) {
        let v = if rng.below(3) == 0 { Value::num(i as f64 + 0.5) } else { Value::int(i as i32) };
        vm.table_set_int(t, i as i32, v);
    }
    for key in KEYS {
        if rng.below(2) == 0 {
            let key = vm.new_str(key.as_bytes());
            let v = Value::int(rng.below(5) as i32);
            vm.table_set_str(t, key, v);
        }
    }
    t
}

struct Gen<'a> {
    vm: &'a mut Vm,
    rng: &'a mut Rng,
}

impl Gen<'_> {
    /// A slot to write: a number's mostly.
    fn dest(&mut self) -> usize {
        if self.rng.below(12) == 0 { self.rng.pick(&[4, 5, 6]) } else { 7 + self.rng.below(SLOTS - 6) }
    }
    fn number_slot(&mut self) -> usize {
        if self.rng.below(4) == 0 { 2 } else { 7 + self.rng.below(SLOTS - 6) }
    }
    fn table_slot(&mut self) -> usize {
        if self.rng.below(6) == 0 { 7 + self.rng.below(SLOTS - 6) } else { self.rng.pick(&[4, 4, 5]) }
    }
    fn number(&mut self) -> Operand {
        let ints = [0, 1, 2, -1, 3, 8, -2, 7, 31, 100_000, i32::MAX];
        match self.rng.below(8) {
            0..4 => Operand::Slot(self.number_slot()),
            4..7 => Operand::K(Value::int(self.rng.pick(&ints))),
            _ => Operand::K(Value::num(self.rng.pick(&[0.5, -0.0, 2.0, 1.0, -1.0, 1e10, 0.0, f64::INFINITY]))),
        }
    }
    fn key(&mut self) -> Operand {
        match self.rng.below(10) {
            0..4 => {
                let key = self.rng.pick(&KEYS);
                Operand::K(Value::str(self.vm.new_str(key.as_bytes())))
            }
            4..7 => Operand::K(Value::int(self.rng.below(6) as i32)),
            7 => Operand::Slot(2),
            _ => Operand::Slot(self.number_slot()),
        }
    }
    fn value(&mut self) -> Operand {
        match self.rng.below(10) {
            0 => Operand::K(Value::NIL),
            1 => Operand::K(Value::TRUE),
            2 => Operand::Slot(self.rng.pick(&[4, 5, 6])),
            _ => self.number(),
        }
    }
    /// What programs do and chance seldom does.
    fn idiom(&mut self, out: &mut Vec<Stmt>) {
        let t = self.rng.pick(&[4, 5]);
        let x = Operand::K(Value::str(self.vm.new_str(b"x")));
        let y = Operand::K(Value::str(self.vm.new_str(b"y")));
        match self.rng.below(6) {
            // A new key in every iteration, between accesses of others.
            0 => {
                let factor = self.rng.pick(&[Value::int(-3), Value::int(1000), Value::num(0.25)]);
                out.extend([
                    Stmt::Set(t, x, Operand::Slot(2)),
                    Stmt::Arith(Arith::Mul, 7, Operand::Slot(2), Operand::K(factor)),
                    Stmt::Get(8, t, x),
                    Stmt::Set(t, Operand::Slot(7), Operand::Slot(2)),
                    Stmt::Get(9, t, x),
                    Stmt::Arith(Arith::Add, 10, Operand::Slot(9), Operand::Slot(8)),
                ]);
            }
            // Append.
            1 => out.extend([
                Stmt::Len(7, t),
                Stmt::Arith(Arith::Add, 7, Operand::Slot(7), Operand::K(Value::int(1))),
                Stmt::Set(t, Operand::Slot(7), Operand::Slot(2)),
            ]),
            // A field counted up, the value seen elsewhere.
            2 => out.extend([
                Stmt::Get(7, t, x),
                Stmt::Arith(Arith::Add, 7, Operand::Slot(7), Operand::K(Value::int(1))),
                Stmt::Set(t, x, Operand::Slot(7)),
                Stmt::Get(8, self.rng.pick(&[4, 5]), self.rng.pick(&[x, y])),
            ]),
            // A new object, its fields read, kept.
            3 => out.extend([
                Stmt::New(8),
                Stmt::Set(8, x, Operand::Slot(2)),
                Stmt::Set(8, y, Operand::K(Value::int(3))),
                Stmt::Get(9, 8, self.rng.pick(&[x, y])),
                Stmt::Set(self.rng.pick(&[4, 5, 8]), self.rng.pick(&[x, y]), Operand::Slot(self.rng.pick(&[8, 9, 10]))),
                Stmt::Get(10, 8, x),
            ]),
            // A neighbour in an array.
            4 => out.extend([
                Stmt::Arith(Arith::Mod, 7, Operand::Slot(2), Operand::K(Value::int(4))),
                Stmt::Arith(Arith::Add, 8, Operand::Slot(7), Operand::K(Value::int(1))),
                Stmt::Get(9, t, Operand::Slot(7)),
                Stmt::Set(t, Operand::Slot(8), Operand::Slot(9)),
                Stmt::Arith(Arith::Sub, 8, Operand::Slot(8), Operand::K(Value::int(1))),
                Stmt::Get(10, self.rng.pick(&[4, 5]), Operand::Slot(8)),
            ]),
            // A chain of objects.
            _ => out.extend([
                Stmt::New(8),
                Stmt::Set(8, x, Operand::Slot(9)),
                Stmt::Get(10, 8, x),
                Stmt::Move(9, Operand::Slot(8)),
                Stmt::Set(9, y, Operand::Slot(2)),
            ]),
        }
    }
    fn statement(&mut self) -> Stmt {
        let arith = [Arith::Add, Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Mod, Arith::Min, Arith::Max];
        let bits = [Bit::And, Bit::Or, Bit::Xor, Bit::Shl, Bit::Shr, Bit::Sar, Bit::Rol];
        match self.rng.below(40) {
            0..3 => Stmt::Move(self.dest(), self.value()),
            3..12 => Stmt::Arith(self.rng.pick(&arith), self.dest(), self.number(), self.number()),
            12 => Stmt::Neg(self.dest(), self.number_slot()),
            13 => Stmt::Floor(self.dest(), self.number_slot()),
            14..18 => Stmt::Bit(self.rng.pick(&bits), self.dest(), self.number(), self.number()),
            18 => Stmt::Not(self.dest(), self.number_slot()),
            19..22 => {
                let op = self.rng.pick(&[Cmp::Lt, Cmp::Le, Cmp::Eq]);
                Stmt::Skip(op, self.number(), self.number(), self.rng.below(2) == 0, 1 + self.rng.below(3))
            }
            22..28 => Stmt::Get(self.dest(), self.table_slot(), self.key()),
            28..35 => Stmt::Set(self.table_slot(), self.key(), self.value()),
            35 => Stmt::New(self.rng.pick(&[4, 5, 4, 8])),
            36 => Stmt::Dup(self.rng.pick(&[4, 5, 9]), self.rng.below(2)),
            37 => Stmt::Len(self.dest(), self.table_slot()),
            38 => match self.rng.below(3) {
                0 => Stmt::Sub(self.rng.pick(&[6, 10]), 6, self.rng.below(2) as i32, self.rng.below(4) as i32),
                1 => Stmt::Concat(self.rng.pick(&[6, 10]), 6, 6),
                _ => Stmt::StrLen(self.dest(), 6),
            },
            _ => {
                let k = Operand::K(Value::str(self.vm.new_str(b"h")));
                Stmt::Skip(Cmp::Eq, Operand::Slot(self.rng.pick(&[6, 10])), k, self.rng.below(2) == 0, 1)
            }
        }
    }
}
