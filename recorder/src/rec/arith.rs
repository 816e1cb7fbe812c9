//! Arithmetic: two integers stay integers with a guard against overflow, everything else is done in doubles.

use super::{Rec, Recorder};
use crate::ir::{IrRef, Op, Ty, conv};
use crate::opt::fold::range;
use perilune_vm::Value;
use perilune_vm::meta::{self, MM};

/// Ints above this are assumed to be bit patterns, not counts: few programs count that far.
const WIDE: i32 = 1 << 24;
/// A sum of a bit pattern and a number below this rarely overflows: once in thousands of times.
const SMALL: i32 = 1 << 18;

impl Recorder {
    /// `x op y` on numbers, or on strings that denote numbers.
    pub(super) fn arith(&mut self, mm: MM, x: (IrRef, Value), y: (IrRef, Value)) -> Rec<IrRef> {
        let (rx, vx) = self.number(x.0, x.1)?;
        let (ry, vy) = self.number(y.0, y.1)?;
        let [(rx, vx), (ry, vy)] = match mm {
            MM::Mod => self.integral_operands([(rx, vx), (ry, vy)])?,
            _ => [(rx, vx), (ry, vy)],
        };
        let ints = self.ty(rx).is_int() && self.ty(ry).is_int();
        let is_int = ints && meta::arith(mm, vx, vy).is_int();
        if ints && !is_int && matches!(mm, MM::Add | MM::Sub | MM::Mul) {
            self.feedback.note_overflow();
        }
        let overflows = self.feedback.site.overflows || matches!(mm, MM::Add | MM::Sub) && self.is_wide_sum(rx, ry);
        if is_int && !overflows {
            self.feedback.note_specialized();
            match mm {
                MM::Add => return self.b.emit(Op::ADDOV, Ty::Int, rx, ry),
                MM::Sub => return self.b.emit(Op::SUBOV, Ty::Int, rx, ry),
                MM::Mul => return self.b.emit(Op::MULOV, Ty::Int, rx, ry),
                MM::Mod => return self.int_mod(rx, ry, vy.as_int().is_some_and(|k| k < 0)),
                _ => {}
            }
        }
        let op = match mm {
            MM::Add => Op::ADD,
            MM::Sub => Op::SUB,
            MM::Mul => Op::MUL,
            MM::Div => Op::DIV,
            MM::Mod => Op::MOD,
            _ => Op::POW,
        };
        let (rx, ry) = (self.to_num(rx)?, self.to_num(ry)?);
        self.b.emit(op, Ty::Num, rx, ry)
    }

    /// The operands of a modulo as ints, if they have been integral here so far: then so is the result, as for the interpreter.
    fn integral_operands(&mut self, operands: [(IrRef, Value); 2]) -> Rec<[(IrRef, Value); 2]> {
        let [x, y] = operands.map(|(_, v)| v.as_number().map(Value::number).filter(|v| v.is_int()));
        let (Some(x), Some(y)) = (x, y) else {
            // A guard that they are integral has failed here.
            if self.feedback.at_exit {
                self.feedback.note_overflow();
            }
            return Ok(operands);
        };
        if self.feedback.site.overflows || y == Value::int(0) {
            return Ok(operands);
        }
        Ok([(self.integral(operands[0].0)?, x), (self.integral(operands[1].0)?, y)])
    }
    fn integral(&mut self, r: IrRef) -> Rec<IrRef> {
        if self.ty(r).is_int() { Ok(r) } else { self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK)) }
    }

    /// `x % y` of ints. The sign of the divisor is checked rather than that it is not zero: it hardly ever changes, the check leaves a loop where
    /// the divisor grows, and the remainder has a known sign.
    fn int_mod(&mut self, x: IrRef, y: IrRef, is_negative: bool) -> Rec<IrRef> {
        if self.b.as_int(y).is_some_and(|k| k != 0) {
            return self.b.emit(Op::MOD, Ty::Int, x, y);
        }
        let zero = self.b.kint(0);
        if !is_negative {
            self.b.emit(Op::GT, Ty::Int, y, zero)?;
            return self.b.emit(Op::MOD, Ty::Int, x, y);
        }
        // x % y = -(-x % -y)
        let min = self.b.kint(i32::MIN);
        self.b.emit(Op::LT, Ty::Int, y, zero)?;
        self.b.emit(Op::NE, Ty::Int, y, min)?;
        let y = self.b.emit(Op::NEG, Ty::Int, y, IrRef::NONE)?;
        let x = self.b.emit(Op::SUBOV, Ty::Int, zero, x)?;
        let r = self.b.emit(Op::MOD, Ty::Int, x, y)?;
        self.b.emit(Op::SUB, Ty::Int, zero, r)
    }

    /// Is it a sum as in hash functions, of a bit pattern and a number that is not small? Such sums overflow half of the time.
    fn is_wide_sum(&self, x: IrRef, y: IrRef) -> bool {
        let spreads = |x, y| self.is_wide(x) && !self.is_small(y) && !self.is_carried(y, 8);
        spreads(x, y) || spreads(y, x)
    }
    /// May any bit of an int be set, judging by the instruction that computes it?
    fn is_wide(&self, r: IrRef) -> bool {
        if let Some(k) = self.b.as_int(r) {
            return k.unsigned_abs() >= WIDE as u32;
        }
        let bits = [Op::BNOT, Op::BAND, Op::BOR, Op::BXOR, Op::BSHL, Op::BROL, Op::BROR, Op::BSWAP, Op::TOBIT];
        self.b.def(r).is_some_and(|i| bits.contains(&i.op)) && !range::of(&self.b, r).within(-WIDE, WIDE)
    }
    /// Does an int come from a slot, or is it a sum of such ints? If a loop assigns the sum to the slot, an iteration would begin with an
    /// int and end with a num. For such sums, feedback says whether they overflow.
    fn is_carried(&self, r: IrRef, depth: u32) -> bool {
        self.b.def(r).is_some_and(|i| match i.op {
            Op::SLOAD => true,
            Op::ADDOV | Op::SUBOV => depth == 0 || self.is_carried(i.a, depth - 1) || self.is_carried(i.b, depth - 1),
            _ => false,
        })
    }
    fn is_small(&self, r: IrRef) -> bool {
        range::of(&self.b, r).within(-SMALL, SMALL)
    }

    /// `-x`.
    pub(super) fn unm(&mut self, x: (IrRef, Value)) -> Rec<IrRef> {
        let (r, v) = self.number(x.0, x.1)?;
        let is_int = self.ty(r).is_int() && v.as_int().is_some_and(|i| i != 0 && i != i32::MIN);
        // That 0 becomes -0 now and then is left to a side trace: nums from here on would meet ints at every other use.
        if self.ty(r).is_int() && !is_int && v.as_int() != Some(0) {
            self.feedback.note_overflow();
        }
        if is_int && !self.feedback.site.overflows {
            self.feedback.note_specialized();
            for k in [0, i32::MIN] {
                let k = self.b.kint(k);
                self.b.emit(Op::NE, Ty::Int, r, k)?;
            }
            return self.b.emit(Op::NEG, Ty::Int, r, IrRef::NONE);
        }
        let n = self.to_num(r)?;
        self.b.emit(Op::NEG, Ty::Num, n, IrRef::NONE)
    }
}
