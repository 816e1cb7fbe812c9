//! Range analysis of ints, by the instructions that compute them.

use crate::abort::Abort;
use crate::ir::buffer::IrBuffer;
use crate::ir::{Ins, IrRef, Op, Ty};
use crate::opt::cse;
use perilune_vm::helper::Helper;
use perilune_vm::layout::Field;

/// An inclusive range.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
}

/// Something follows from a value being an int, or from its range: the checks that this relies on are kept, also if nothing uses the values
/// checked.
pub fn rely(b: &mut IrBuffer, r: IrRef) -> Result<(), Abort> {
    keep_checks(b, r, 2 * DEPTH)
}

/// A sum or product is computed, with its check, also if nothing else uses it.
fn keep(b: &mut IrBuffer, r: IrRef) -> Result<(), Abort> {
    let keeps = Ins::new(Op::USE, Ty::Nil, r, IrRef::NONE);
    if b.def(r).is_some_and(|i| i.is_removable()) && cse::find(b, keeps, IrRef::BASE).is_none() {
        b.append(keeps)?;
    }
    Ok(())
}

fn keep_checks(b: &mut IrBuffer, r: IrRef, depth: u32) -> Result<(), Abort> {
    let Some(ins) = b.def(r).filter(|_| depth > 0) else { return Ok(()) };
    if ins.is_guard() {
        return if matches!(ins.op, Op::ADDOV | Op::SUBOV | Op::MULOV) { keep(b, r) } else { Ok(()) };
    }
    let computes = (Op::BNOT..=Op::BROR).contains(&ins.op) || (Op::ADD..=Op::MULOV).contains(&ins.op) || ins.op == Op::CONV;
    if computes {
        for operand in ins.operands() {
            keep_checks(b, operand, depth - 1)?;
        }
    }
    Ok(())
}

const MIN: i64 = i32::MIN as i64;
const MAX: i64 = i32::MAX as i64;
/// Any int.
pub const FULL: Range = Range { lo: MIN, hi: MAX };

impl Range {
    const fn new(lo: i64, hi: i64) -> Range {
        Range { lo, hi }
    }
    /// Are all values ints?
    pub fn is_int(self) -> bool {
        self.lo >= MIN && self.hi <= MAX
    }
    /// Are all values in `lo ..= hi`?
    pub fn within(self, lo: i32, hi: i32) -> bool {
        self.lo >= i64::from(lo) && self.hi <= i64::from(hi)
    }
    /// Range of sums.
    #[allow(clippy::should_implement_trait, reason = "not an operator")]
    pub fn add(self, o: Range) -> Range {
        Range::new(self.lo + o.lo, self.hi + o.hi)
    }
    /// Range of differences.
    #[allow(clippy::should_implement_trait, reason = "not an operator")]
    pub fn sub(self, o: Range) -> Range {
        Range::new(self.lo - o.hi, self.hi - o.lo)
    }
    /// Range of products.
    #[allow(clippy::should_implement_trait, reason = "not an operator")]
    pub fn mul(self, o: Range) -> Range {
        let all = [self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi];
        all.iter().fold(Range::new(all[0], all[0]), |r, &p| Range::new(r.lo.min(p), r.hi.max(p)))
    }
    /// Is no product of the two a zero made by a negative factor (which would be -0)?
    pub fn product_is_not_minus_zero(self, o: Range) -> bool {
        let has_zero = |r: Range| r.lo <= 0 && r.hi >= 0;
        !(has_zero(self) && o.lo < 0 || has_zero(o) && self.lo < 0)
    }
    fn clip(self) -> Range {
        if self.is_int() { self } else { FULL }
    }
}

/// Is an int not negative by what computes it? Guards are not looked at, so that the answer is always the same for an instruction.
pub fn is_never_negative(b: &IrBuffer, r: IrRef) -> bool {
    let Some(ins) = b.def(r) else { return false };
    let is_positive = |r: IrRef| b.as_int(r).is_some_and(|k| k >= 0);
    match ins.op {
        _ if matches!(ins.ty, Ty::U8 | Ty::U16) => true,
        Op::BAND => is_positive(ins.a) || is_positive(ins.b),
        Op::BSHR => b.as_int(ins.b).is_some_and(|k| k & 31 != 0),
        Op::MOD => ins.ty == Ty::Int && b.as_int(ins.b).is_none_or(|k| k > 0),
        _ => false,
    }
}

const DEPTH: u32 = 4;

/// The range of an int reference.
pub fn of(b: &IrBuffer, r: IrRef) -> Range {
    range(b, r, DEPTH)
}

fn range(b: &IrBuffer, r: IrRef, depth: u32) -> Range {
    if let Some(k) = b.as_int(r) {
        return Range::new(i64::from(k), i64::from(k));
    }
    match b.def(r) {
        Some(ins) if depth > 0 && ins.ty.is_int() => by_guards(b, r, of_ins(b, ins, depth - 1), depth - 1),
        _ => FULL,
    }
}

/// The most guards of one kind that are searched, newest first.
const GUARDS: usize = 16;

/// A range, narrowed by earlier guards. (A guard on a value of the previous iteration holds in a loop's body, because its copy was
/// executed there.)
fn by_guards(b: &IrBuffer, r: IrRef, mut range_: Range, depth: u32) -> Range {
    for op in [Op::LE, Op::LT, Op::GE, Op::GT] {
        let mut g = b.newest(op);
        for _ in 0..GUARDS {
            if g <= r {
                break;
            }
            let ins = b.trace.ins[g.ins_index()];
            if ins.a == r && ins.ty == Ty::Int {
                let other = range(b, ins.b, depth);
                match op {
                    Op::LE => range_.hi = range_.hi.min(other.hi),
                    Op::LT => range_.hi = range_.hi.min(other.hi - 1),
                    Op::GE => range_.lo = range_.lo.max(other.lo),
                    _ => range_.lo = range_.lo.max(other.lo + 1),
                }
            }
            g = b.older(g);
        }
    }
    // After guards that contradict each other nothing is executed.
    if range_.lo > range_.hi { FULL } else { range_ }
}

fn of_ins(b: &IrBuffer, ins: Ins, depth: u32) -> Range {
    let by_type = match ins.ty {
        Ty::U8 => Range::new(0, 255),
        Ty::I8 => Range::new(-128, 127),
        Ty::U16 => Range::new(0, 65535),
        Ty::I16 => Range::new(-32768, 32767),
        Ty::Int => FULL,
        // Not ints if interpreted as signed.
        _ => return FULL,
    };
    match ins.op {
        Op::FLOAD if [Field::StrLen, Field::TabAsize, Field::TabHmask, Field::TabShape].iter().any(|&f| f as u16 == ins.b.0) => {
            Range::new(0, MAX)
        }
        Op::ALEN => Range::new(0, MAX),
        Op::BAND => {
            // If one operand is not negative, the result is not negative and not greater than that operand.
            let (x, y) = (range(b, ins.a, depth), range(b, ins.b, depth));
            match (x.lo >= 0, y.lo >= 0) {
                (true, true) => Range::new(0, x.hi.min(y.hi)),
                (true, false) => Range::new(0, x.hi),
                (false, true) => Range::new(0, y.hi),
                _ => FULL,
            }
        }
        Op::BSHR => match b.as_int(ins.b).map(|k| k & 31) {
            Some(k) if k > 0 => Range::new(0, i64::from(u32::MAX >> k)),
            _ => FULL,
        },
        Op::MOD => match b.as_int(ins.b) {
            Some(k) if k > 0 => Range::new(0, i64::from(k) - 1),
            Some(k) => Range::new(i64::from(k) + 1, 0),
            None => Range::new(0, range(b, ins.b, depth).hi.max(1) - 1),
        },
        Op::DIV => match b.as_int(ins.b).map(i64::from) {
            Some(k) if k > 0 => {
                let x = range(b, ins.a, depth);
                Range::new(x.lo.div_euclid(k), x.hi.div_euclid(k))
            }
            _ => FULL,
        },
        Op::ADD => range(b, ins.a, depth).add(range(b, ins.b, depth)).clip(),
        Op::SUB => range(b, ins.a, depth).sub(range(b, ins.b, depth)).clip(),
        Op::MUL => range(b, ins.a, depth).mul(range(b, ins.b, depth)).clip(),
        Op::ADDOV => cut(range(b, ins.a, depth).add(range(b, ins.b, depth))),
        Op::SUBOV => cut(range(b, ins.a, depth).sub(range(b, ins.b, depth))),
        Op::MIN => {
            let (x, y) = (range(b, ins.a, depth), range(b, ins.b, depth));
            Range::new(x.lo.min(y.lo), x.hi.min(y.hi))
        }
        Op::MAX => {
            let (x, y) = (range(b, ins.a, depth), range(b, ins.b, depth));
            // An int or its negative, whichever is greater, is its magnitude.
            let is_magnitude = b.is_op(ins.b, Op::SUBOV).is_some_and(|i| b.as_int(i.a) == Some(0) && i.b == ins.a);
            Range::new(x.lo.max(y.lo).max(if is_magnitude { 0 } else { MIN }), x.hi.max(y.hi))
        }
        Op::CALLN if ins.b.0 == Helper::StrCmp as u16 => Range::new(-1, 1),
        Op::CALLN if ins.b.0 == Helper::StrFind as u16 => Range::new(-1, MAX),
        _ => by_type,
    }
}

/// A bound of the magnitude of a num that is computed from integers of C and constants; none if there is none, or if it may be NaN. It
/// holds for all iterations: what a loop may compute with nums instead of ints ([`crate::opt::widen`]) is not looked at.
pub fn num_bound(b: &IrBuffer, r: IrRef) -> Option<f64> {
    bound(b, r, 2 * DEPTH)
}

fn bound(b: &IrBuffer, r: IrRef, depth: u32) -> Option<f64> {
    if let Some(k) = b.as_num(r) {
        return k.is_finite().then(|| k.abs());
    }
    let ins = b.def(r).filter(|i| depth > 0 && i.ty == Ty::Num)?;
    let part = |r: IrRef| bound(b, r, depth - 1);
    let bound = match ins.op {
        Op::CONV => {
            let int = b.int_source(r).and_then(|x| b.def(x)).filter(|i| !matches!(i.op, Op::ADDOV | Op::SUBOV | Op::MULOV))?;
            let range = of_ins(b, int, 0);
            range.lo.unsigned_abs().max(range.hi.unsigned_abs()) as f64
        }
        Op::ADD | Op::SUB => part(ins.a)? + part(ins.b)?,
        Op::MUL => part(ins.a)? * part(ins.b)?,
        Op::DIV => part(ins.a)? / b.as_num(ins.b).filter(|k| *k != 0.0)?.abs(),
        Op::NEG | Op::ABS => part(ins.a)?,
        _ => return None,
    };
    bound.is_finite().then_some(bound)
}

/// A range without the values that would have overflowed.
fn cut(r: Range) -> Range {
    Range::new(r.lo.clamp(MIN, MAX), r.hi.clamp(MIN, MAX))
}
