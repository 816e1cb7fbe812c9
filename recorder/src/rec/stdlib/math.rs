//! The math library.

use super::{Args, Results, one};
use crate::ir::{FpMath, IrRef, Op, Ty, conv};
use crate::rec::{Rec, Recorder};
use perilune_vm::Value;
use perilune_vm::helper::Helper;
use perilune_vm::stdlib::{Builtin, DEGREES, RADIANS, math_result};

impl Recorder {
    /// An argument as num, with its value.
    fn num_arg(&mut self, args: &Args<'_>, i: usize) -> Rec<(IrRef, f64)> {
        let (r, v) = args.get(i);
        let (r, v) = self.number(r, v)?;
        Ok((self.to_num(r)?, v.as_number().unwrap_or(0.0)))
    }

    pub(super) fn lib_math(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        if args.len() == 0 && b != Builtin::MathRandom {
            return Ok(None);
        }
        let helper = match b {
            Builtin::MathFloor => return self.round(args, FpMath::Floor),
            Builtin::MathCeil => return self.round(args, FpMath::Ceil),
            Builtin::MathAbs => return self.abs(args),
            Builtin::MathSqrt => return self.fpmath(b, args, FpMath::Sqrt),
            Builtin::MathExp => return self.fpmath(b, args, FpMath::Exp),
            Builtin::MathLog if args.len() == 1 => return self.fpmath(b, args, FpMath::Log),
            Builtin::MathLog => return self.log_to_base(b, args),
            Builtin::MathModf => {
                let x = self.num_arg(args, 0)?.0;
                let whole = self.round(args, FpMath::Trunc)?;
                let fraction = self.b.call(Helper::ModfFraction, &[x])?;
                return Ok(whole.map(|whole| vec![whole[0], fraction]));
            }
            Builtin::MathFrexp => {
                let x = self.num_arg(args, 0)?.0;
                let mantissa = self.b.call(Helper::FrexpMantissa, &[x])?;
                return Ok(Some(vec![mantissa, self.b.call(Helper::FrexpExponent, &[x])?]));
            }
            Builtin::MathLdexp if args.len() >= 2 && self.ty(args.get(1).0).is_int() => {
                let ((x, now), (e, by)) = (self.num_arg(args, 0)?, args.get(1));
                let scaled = self.b.call(Helper::Ldexp, &[x, e])?;
                return one(self.integer_if_now(scaled, math_result(b, now, Some(f64::from(by.as_int_unchecked()))))?);
            }
            Builtin::MathMin => return self.extreme(args, Op::MIN),
            Builtin::MathMax => return self.extreme(args, Op::MAX),
            Builtin::MathPow if args.len() >= 2 => {
                let ((x, now), (y, to)) = (self.num_arg(args, 0)?, self.num_arg(args, 1)?);
                let power = self.b.emit(Op::POW, Ty::Num, x, y)?;
                return one(self.integer_if_now(power, math_result(b, now, Some(to)))?);
            }
            Builtin::MathFmod if args.len() >= 2 => {
                let ints = (0..2).all(|i| self.ty(args.get(i).0).is_int());
                let ((x, a), (y, b)) = (self.num_arg(args, 0)?, self.num_arg(args, 1)?);
                let r = self.b.call(Helper::CFmod, &[x, y])?;
                // The result for an integer is an integer, or -0.
                if !ints || !Value::number(a % b).is_int() {
                    return one(r);
                }
                return one(self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK))?);
            }
            Builtin::MathAtan2 if args.len() >= 2 => {
                let ((y, now), (x, to)) = (self.num_arg(args, 0)?, self.num_arg(args, 1)?);
                let angle = self.b.call(Helper::Atan2, &[y, x])?;
                return one(self.integer_if_now(angle, math_result(b, now, Some(to)))?);
            }
            Builtin::MathDeg | Builtin::MathRad => {
                let (x, now) = self.num_arg(args, 0)?;
                let k = self.b.knum(if b == Builtin::MathDeg { DEGREES } else { RADIANS });
                let angle = self.b.emit(Op::MUL, Ty::Num, x, k)?;
                return one(self.integer_if_now(angle, math_result(b, now, None))?);
            }
            Builtin::MathRandom => return self.random(args),
            Builtin::MathSin => Helper::Sin,
            Builtin::MathCos => Helper::Cos,
            Builtin::MathTan => Helper::Tan,
            Builtin::MathAsin => Helper::Asin,
            Builtin::MathAcos => Helper::Acos,
            Builtin::MathAtan => Helper::Atan,
            Builtin::MathSinh => Helper::Sinh,
            Builtin::MathCosh => Helper::Cosh,
            Builtin::MathTanh => Helper::Tanh,
            Builtin::MathLog10 => Helper::Log10,
            _ => return Ok(None),
        };
        let (x, now) = self.num_arg(args, 0)?;
        let r = self.b.call(helper, &[x])?;
        one(self.integer_if_now(r, math_result(b, now, None))?)
    }

    /// A result as an integer if it is one now, unless other numbers have been met here: a sum of such results remains an integer in the
    /// interpreter.
    fn integer_if_now(&mut self, r: IrRef, now: Option<Value>) -> Rec<IrRef> {
        match now.map(|now| self.feedback.load_type(now)) {
            Some(Ty::Int) => self.b.guard(Op::CONV, Ty::Int, r, IrRef(conv::INT_NUM_CHECK)),
            _ => Ok(r),
        }
    }

    fn fpmath(&mut self, b: Builtin, args: &Args<'_>, f: FpMath) -> Results {
        let (x, now) = self.num_arg(args, 0)?;
        let r = self.b.emit(Op::FPMATH, Ty::Num, x, IrRef(f as u16))?;
        one(self.integer_if_now(r, math_result(b, now, None))?)
    }
    /// A product of binary logarithms, as the builtin computes it.
    fn log_to_base(&mut self, b: Builtin, args: &Args<'_>) -> Results {
        let ((x, now), (base, to)) = (self.num_arg(args, 0)?, self.num_arg(args, 1)?);
        let log2 = IrRef(FpMath::Log2 as u16);
        let (x, base) = (self.b.emit(Op::FPMATH, Ty::Num, x, log2)?, self.b.emit(Op::FPMATH, Ty::Num, base, log2)?);
        let one_over = self.b.knum(1.0);
        let factor = self.b.emit(Op::DIV, Ty::Num, one_over, base)?;
        let r = self.b.emit(Op::MUL, Ty::Num, x, factor)?;
        one(self.integer_if_now(r, math_result(b, now, Some(to)))?)
    }
    /// Rounds the first argument; the result is an integer where it is one now.
    fn round(&mut self, args: &Args<'_>, f: FpMath) -> Results {
        let (r, v) = args.get(0);
        let (r, v) = self.number(r, v)?;
        if self.ty(r).is_int() {
            return one(r);
        }
        let n = v.as_number().unwrap_or(0.0);
        let rounded = self.b.emit(Op::FPMATH, Ty::Num, r, IrRef(f as u16))?;
        let fits = Value::number(match f {
            FpMath::Floor => n.floor(),
            FpMath::Ceil => n.ceil(),
            _ => n.trunc(),
        });
        if !fits.is_int() {
            return one(rounded);
        }
        one(self.b.guard(Op::CONV, Ty::Int, rounded, IrRef(conv::INT_NUM_CHECK))?)
    }
    fn abs(&mut self, args: &Args<'_>) -> Results {
        let (r, v) = args.get(0);
        let (r, v) = self.number(r, v)?;
        if let Some(i) = v.as_int()
            && self.ty(r).is_int()
            && i != i32::MIN
        {
            let zero = self.b.kint(0);
            let negative = self.b.emit(Op::SUBOV, Ty::Int, zero, r)?;
            return one(self.b.emit(Op::MAX, Ty::Int, r, negative)?);
        }
        let n = self.to_num(r)?;
        one(self.b.emit(Op::ABS, Ty::Num, n, IrRef::NONE)?)
    }
    /// `math.min` keeps the first of two arguments if it is less (`math.max`: greater). The IR instruction's result is the first operand
    /// unless the second one is less.
    fn extreme(&mut self, args: &Args<'_>, op: Op) -> Results {
        let (r, v) = args.get(0);
        let mut best = self.number(r, v)?.0;
        for i in 1..args.len() {
            let (r, v) = args.get(i);
            let r = self.number(r, v)?.0;
            if self.ty(best).is_int() && self.ty(r).is_int() {
                best = self.b.emit(op, Ty::Int, best, r)?;
                continue;
            }
            // A NaN is replaced by the argument after it, and replaces the one before it: the IR instruction does the same with its
            // operands swapped.
            let (x, y) = (self.to_num(best)?, self.to_num(r)?);
            best = self.b.emit(op, Ty::Num, y, x)?;
        }
        one(best)
    }
    fn random(&mut self, args: &Args<'_>) -> Results {
        let list = &args.list[..args.len().min(2)];
        if !list.iter().all(|a| self.ty(a.0).is_int()) {
            return Ok(None);
        }
        let mut r = self.b.call(Helper::Random, &[])?;
        self.snaps.needed = true;
        if let [.., high] = list {
            // The result for integers is always an integer. Its type cannot be checked by a guard, since the generator has advanced and an
            // exit could not undo that.
            let low = if list.len() == 2 { self.to_num(list[0].0)? } else { self.b.knum(1.0) };
            let mut range = self.to_num(high.0)?;
            if list.len() == 2 {
                let (difference, k) = (self.b.emit(Op::SUB, Ty::Num, range, low)?, self.b.knum(1.0));
                range = self.b.emit(Op::ADD, Ty::Num, difference, k)?;
            }
            r = self.b.emit(Op::MUL, Ty::Num, r, range)?;
            r = self.b.emit(Op::FPMATH, Ty::Num, r, IrRef(FpMath::Floor as u16))?;
            r = self.b.emit(Op::ADD, Ty::Num, r, low)?;
            // No TOBIT, which sums take for a bit pattern.
            r = self.b.emit(Op::CONV, Ty::Int, r, IrRef(conv::pack(Ty::Int, Ty::Num, conv::NONE)))?;
        }
        one(r)
    }
}
