//! Narrowing: keeps integers as ints where the recorder needs them (LuaJIT's `lj_opt_narrow`).
//!
//! Numbers are dual, so most of what LuaJIT narrows is an int from the start. Three cases remain: operands that must be ints although the
//! program has a num, the counter of a numeric loop, which cannot overflow, and indices of cdata, which have 64 bits.

use crate::abort::Abort;
use crate::ir::buffer::{Emit, IrBuffer};
use crate::ir::{Ins, IrRef, Op, Ty, conv};
use crate::opt::fold::convert::u32_source;
use crate::opt::fold::range;

/// A number as a num.
pub fn to_num(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.ty(r).is_int() { b.emit(Op::CONV, Ty::Num, r, IrRef(conv::NUM_INT)) } else { Ok(r) }
}

/// A number as an index: an int, or a num that must be integral.
pub fn to_index(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.ty(r).is_int() { Ok(r) } else { b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_INDEX)) }
}

/// The counter of a numeric loop in the next iteration: `idx + step`.
///
/// `idx` is not beyond `stop`, or this iteration would not run. So the sum fits if `stop + step` does. That is checked once, outside the
/// loop, unless the check would fail for the current values of both, `stop_now` and `step_now`.
pub fn next_index(b: &mut IrBuffer, idx: IrRef, (step, step_now): (IrRef, i32), (stop, stop_now): (IrRef, i32)) -> Emit {
    if !b.flags.narrow || stop_now.checked_add(step_now).is_none() {
        return b.emit(Op::ADDOV, Ty::Int, idx, step);
    }
    // The check vanishes where the range of `stop` is known, as that of a constant is.
    if !step.is_const() {
        let sum = b.emit(Op::ADDOV, Ty::Int, stop, step)?;
        if !sum.is_const() {
            // The check is needed, though the sum is not.
            b.emit_raw(Op::USE, Ty::Nil, sum, IrRef::NONE)?;
        }
    } else if step_now >= 0 {
        let most = b.kint(i32::MAX - step_now);
        b.emit(Op::LE, Ty::Int, stop, most)?;
    } else {
        let least = b.kint(i32::MIN - step_now);
        b.emit(Op::GE, Ty::Int, stop, least)?;
    }
    b.emit_ins(Ins { flags: 0, ..Ins::new(Op::ADDOV, Ty::Int, idx, step) })
}

/// Sums and products up to here are exact in nums, which have integers up to 2^53. The bounds that are compared with it are nums too, and a
/// sum or product of bounds is rounded by much less than what is left.
const EXACT: f64 = (1u64 << 50) as f64;
/// How deep sums and products of nums are taken apart: few indices have more than four terms.
const DEPTH: u32 = 6;
/// The most sums, differences and products of ints that an index is taken apart into, as in LuaJIT (`NARROW_MAX_BACKPROP`): it bounds the time, since
/// each is searched among the others. An unrolled sieve has sixteen; the programs in `benches/ffi` have up to six and take the same time as before.
const MOST_OPERATIONS: usize = 100;

/// An int as an index of cdata, in 64 bits (LuaJIT's `lj_opt_narrow_cindex`).
///
/// Sums, differences and products in it are computed in 64 bits. There they do not overflow, so that nothing is checked. Where an int
/// would have overflowed the interpreter computes with nums, which are exact up to `EXACT`.
pub fn int_index(b: &mut IrBuffer, r: IrRef) -> Emit {
    if b.flags.narrow { Operations::default().word(b, r) } else { extend(b, r) }
}

/// An int in 64 bits.
fn extend(b: &mut IrBuffer, r: IrRef) -> Emit {
    let how = if b.ty(r) == Ty::U32 { conv::pack(Ty::I64, Ty::U32, 0) } else { conv::I64_INT };
    b.emit(Op::CONV, Ty::I64, r, IrRef(how))
}

/// A num, now `n`, as an index of cdata, in 64 bits: truncated.
///
/// Where it is a sum with an int in it, the other term is checked to be an int, as it is now. In a loop that term often stays the same.
pub fn num_index(b: &mut IrBuffer, r: IrRef, n: f64) -> Emit {
    let is_int = n == n.trunc() && n.abs() < f64::from(i32::MAX);
    if b.flags.narrow && is_int && parts(b, r, DEPTH).is_some() {
        return word_of_num(b, r, DEPTH);
    }
    b.emit(Op::CONV, Ty::I64, r, IrRef(conv::I64_NUM_INDEX))
}

/// The operations on ints that an index is taken apart into.
#[derive(Default)]
struct Operations {
    /// By operation, which checks its result: a bound of the magnitude of the result without the check; `None` if it is not taken apart.
    bounds: Vec<(IrRef, Option<f64>)>,
    /// Those that have been emitted in 64 bits.
    words: Vec<(IrRef, IrRef)>,
}

impl Operations {
    /// A bound of the magnitude of an int.
    fn bound(&mut self, b: &IrBuffer, r: IrRef) -> f64 {
        if let Some((_, bound)) = self.unchecked(b, r) {
            return bound;
        }
        let range = range::of(b, r);
        range.lo.unsigned_abs().max(range.hi.unsigned_abs()) as f64
    }
    /// The operation of an int without the check of its result, and a bound of the magnitude of that, if it can be taken apart.
    fn unchecked(&mut self, b: &IrBuffer, r: IrRef) -> Option<(Ins, f64)> {
        let i = b.def(r).filter(|i| i.ty == Ty::Int)?;
        let op = match i.op {
            Op::ADDOV => Op::ADD,
            Op::SUBOV => Op::SUB,
            Op::MULOV => Op::MUL,
            _ => return None,
        };
        let known = self.bounds.iter().find(|(of, _)| *of == r).map(|(_, bound)| *bound);
        let bound = match known {
            Some(bound) => bound?,
            None if self.bounds.len() >= MOST_OPERATIONS => return None,
            None => {
                let at = self.bounds.len();
                self.bounds.push((r, None));
                let (x, y) = (self.bound(b, i.a), self.bound(b, i.b));
                let bound = if op == Op::MUL { x * y } else { x + y };
                self.bounds[at].1 = (bound <= EXACT).then_some(bound);
                self.bounds[at].1?
            }
        };
        Some((Ins { op, ..i }, bound))
    }
    /// The int in 64 bits.
    fn word(&mut self, b: &mut IrBuffer, r: IrRef) -> Emit {
        if let Some((_, word)) = self.words.iter().find(|(of, _)| *of == r) {
            return Ok(*word);
        }
        let Some((i, _)) = self.unchecked(b, r) else { return extend(b, r) };
        let (x, y) = (self.word(b, i.a)?, self.word(b, i.b)?);
        let word = b.emit(i.op, Ty::I64, x, y)?;
        self.words.push((r, word));
        Ok(word)
    }
}

/// A bound of the magnitude of a num that is a sum, difference or product with an int in it, or an int itself, where at most one term has to
/// be checked. The number of such terms comes with it.
fn parts(b: &IrBuffer, r: IrRef, depth: u32) -> Option<(f64, u32)> {
    if let Some(int) = b.int_source(r) {
        return Some((Operations::default().bound(b, int), 0));
    }
    if let Some(k) = b.as_num(r) {
        return (k == k.trunc() && k.abs() < f64::from(i32::MAX)).then(|| (k.abs(), 0));
    }
    let i = b.def(r).filter(|i| depth > 0 && i.ty == Ty::Num && matches!(i.op, Op::ADD | Op::SUB | Op::MUL))?;
    let other = Some((f64::from(i32::MAX) + 1.0, 1));
    let (x, y) = (parts(b, i.a, depth - 1), parts(b, i.b, depth - 1));
    // A product with a fraction is no integer in general.
    let (x, y) = if i.op == Op::MUL {
        (x?, y?)
    } else if x.is_none() && y.is_none() {
        return None;
    } else {
        (x.or(other)?, y.or(other)?)
    };
    let bound = if i.op == Op::MUL { x.0 * y.0 } else { x.0 + y.0 };
    (bound <= EXACT && x.1 + y.1 <= 1).then_some((bound, x.1 + y.1))
}

fn word_of_num(b: &mut IrBuffer, r: IrRef, depth: u32) -> Emit {
    if let Some(int) = b.int_source(r) {
        return Operations::default().word(b, int);
    }
    if let Some(k) = b.as_num(r) {
        return Ok(b.kword(k as i64 as u64, Ty::I64));
    }
    match b.def(r) {
        Some(i) if parts(b, r, depth).is_some() => {
            let (x, y) = (word_of_num(b, i.a, depth - 1)?, word_of_num(b, i.b, depth - 1)?);
            b.emit(i.op, Ty::I64, x, y)
        }
        _ => {
            let int = to_index(b, r)?;
            extend(b, int)
        }
    }
}

/// The low bits of a num, now `n`, that is a sum with an int in it where one term, which is loaded, need not be integral. That term is checked
/// to be integral, as it is now: then the bits are added as ints, and the next operation on bits need not wait for doubles. Constants of hash
/// functions are such terms. `None` for other nums.
pub fn bits_of_sum(b: &mut IrBuffer, r: IrRef, n: f64) -> Result<Option<IrRef>, Abort> {
    let is_integral = n == n.trunc() && n.abs() <= conv::MOST;
    if !b.flags.narrow || !b.flags.fold || !is_integral {
        return Ok(None);
    }
    match terms_of_bits(b, r, DEPTH) {
        Some((_, loaded, true)) if loaded.is_some() => add_bits(b, r).map(Some),
        _ => Ok(None),
    }
}
/// A num as a sum whose bits can be added: a bound of its magnitude, the term that has to be checked, and whether an int that is no constant is
/// in it.
fn terms_of_bits(b: &IrBuffer, r: IrRef, depth: u32) -> Option<(f64, Option<IrRef>, bool)> {
    if let Some(k) = b.as_num(r) {
        return (k == k.trunc() && k.abs() <= conv::MOST).then(|| (k.abs(), None, false));
    }
    if b.int_source(r).is_some() {
        return Some((-f64::from(i32::MIN), None, true));
    }
    if u32_source(b, r).is_some() {
        return Some((f64::from(u32::MAX), None, true));
    }
    let i = b.def(r).filter(|i| depth > 0 && i.ty == Ty::Num)?;
    match i.op {
        Op::ADD | Op::SUB => {
            let (x, y) = (terms_of_bits(b, i.a, depth - 1)?, terms_of_bits(b, i.b, depth - 1)?);
            let differ = x.1.is_some() && y.1.is_some() && x.1 != y.1;
            (!differ && x.0 + y.0 <= EXACT).then(|| (x.0 + y.0, x.1.or(y.1), x.2 || y.2))
        }
        Op::ALOAD | Op::HLOAD | Op::ULOAD | Op::SLOAD | Op::VLOAD => Some((conv::MOST, Some(r), false)),
        _ => None,
    }
}
fn add_bits(b: &mut IrBuffer, r: IrRef) -> Emit {
    match b.def(r) {
        Some(i @ Ins { op: Op::ADD | Op::SUB, ty: Ty::Num, .. }) => {
            let (x, y) = (add_bits(b, i.a)?, add_bits(b, i.b)?);
            let sum = b.emit(i.op, Ty::Int, x, y)?;
            b.set_low_bits(r, sum);
            Ok(sum)
        }
        // Of constants and converted ints nothing is left to check.
        _ => b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_BITS)),
    }
}
