//! MOD of ints: the remainder of the floored quotient, which has the sign of the divisor.

use super::plan::Class;
use super::{Lower, Res};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::{Const, Ins, Op, Ty};

impl Lower<'_> {
    /// MOD of ints.
    pub(super) fn int_mod(&mut self, a: Value, ins: Ins) -> Res<Value> {
        if !ins.b.is_const() {
            let b = self.int(ins.b)?;
            if self.is_divided(ins) {
                let q = self.quotient_of_variables(ins)?;
                let p = self.pos.ins().imul(q, b);
                return Ok(self.pos.ins().isub(a, p));
            }
            return Ok(match self.cur.reciprocals.iter().find(|r| r.0 == ins.b) {
                Some(&(_, reciprocal)) if !self.is_compared_with_zero() => self.mod_invariant(a, b, reciprocal),
                _ => self.mod_variable(a, b),
            });
        }
        match self.konst(ins.b)? {
            Const::Int(0) => Err(self.bad("modulo by zero")),
            Const::Int(1 | -1) => Ok(self.k32(0)),
            Const::Int(k) if k > 0 && k & (k - 1) == 0 => {
                let mask = self.k32(k - 1);
                Ok(self.pos.ins().band(a, mask))
            }
            Const::Int(k) if k > 0 => Ok(self.mod_positive(a, k)),
            Const::Int(k) => Ok(self.mod_negative(a, k)),
            _ => Err(self.bad("the divisor is no int")),
        }
    }
    fn is_compared_with_zero(&self) -> bool {
        self.cur.plan.compared_with_zero[self.cur.emitting]
    }
    /// Computes, in front of a loop, the reciprocals of the divisors that do not change in it: two products take a third of the time of a division.
    pub(super) fn hoist_reciprocals(&mut self) -> Res<()> {
        let trace = self.cur.trace;
        let Some(at) = self.cur.plan.loop_at else { return Ok(()) };
        for (i, &ins) in trace.ins.iter().enumerate().skip(at) {
            let is_mod = ins.op == Op::MOD && ins.ty == Ty::Int && !ins.b.is_const() && ins.b.ins_index() < at;
            let is_carried = || trace.ins[at..].iter().any(|phi| phi.op == Op::PHI && phi.a == ins.b);
            if !is_mod
                || self.cur.plan.class[i] != Class::Hot
                || self.cur.plan.compared_with_zero[i]
                || self.cur.reciprocals.iter().any(|r| r.0 == ins.b)
                || self.is_divided(ins)
                || is_carried()
            {
                continue;
            }
            let divisor = self.int(ins.b)?;
            let divisor = self.pos.ins().uextend(types::I64, divisor);
            let all = self.k64(u64::MAX);
            let quotient = self.pos.ins().udiv(all, divisor);
            let reciprocal = self.pos.ins().iadd_imm_s(quotient, 1);
            self.cur.reciprocals.push((ins.b, reciprocal));
        }
        Ok(())
    }
    /// The divisor is positive, and the reciprocal is 2^64 / divisor, rounded up (0 for 1): the low half of its product with the dividend is the
    /// fraction of the quotient, and the divisor times that is the remainder. Both have 32 bits, for which 64 bits of the fraction are enough
    /// (Lemire, Kaser and Kurz, Faster remainder by direct computation, 2019).
    fn mod_invariant(&mut self, a: Value, b: Value, reciprocal: Value) -> Value {
        let sign = self.pos.ins().sshr_imm_u(a, 31);
        let dividend = self.pos.ins().bxor(a, sign);
        let dividend = self.pos.ins().uextend(types::I64, dividend);
        let fraction = self.pos.ins().imul(reciprocal, dividend);
        let wide = self.pos.ins().uextend(types::I64, b);
        let r = self.pos.ins().umulhi(fraction, wide);
        let r = self.pos.ins().ireduce(types::I32, r);
        self.with_sign(r, sign, b)
    }
    /// The remainder of a dividend that was `-1 - a` if the sign is negative.
    fn with_sign(&mut self, r: Value, sign: Value, b: Value) -> Value {
        let r = self.pos.ins().bxor(r, sign);
        let more = self.pos.ins().band(sign, b);
        self.pos.ins().iadd(r, more)
    }
    /// The divisor is positive, which a guard has checked. `-1 - a` of a negative dividend is not negative, and its remainder counts from the
    /// divisor down.
    fn mod_variable(&mut self, a: Value, b: Value) -> Value {
        if self.is_compared_with_zero() {
            let magnitude = self.pos.ins().iabs(a);
            return self.pos.ins().urem(magnitude, b);
        }
        let sign = self.pos.ins().sshr_imm_u(a, 31);
        let dividend = self.pos.ins().bxor(a, sign);
        let r = self.pos.ins().urem(dividend, b);
        self.with_sign(r, sign, b)
    }
    /// Is there the quotient of the same ints, too?
    fn is_divided(&self, ins: Ins) -> bool {
        self.cur.trace.ins.iter().any(|i| i.op == Op::DIV && i.ty == Ty::Int && (i.a, i.b) == (ins.a, ins.b))
    }
    /// The floored quotient of two ints, the second of which is positive. Remainder and quotient share one division where the first of them is
    /// computed in each iteration.
    pub(super) fn quotient_of_variables(&mut self, ins: Ins) -> Res<Value> {
        let known = self.cur.quotients.iter().find(|q| (q.0, q.1) == (ins.a, ins.b));
        if let Some(&(_, _, q)) = known {
            return Ok(q);
        }
        let (a, b) = (self.int(ins.a)?, self.int(ins.b)?);
        let sign = self.pos.ins().sshr_imm_u(a, 31);
        let dividend = self.pos.ins().bxor(a, sign);
        let q = self.pos.ins().udiv(dividend, b);
        let q = self.pos.ins().bxor(q, sign);
        if self.cur.plan.class[self.cur.emitting] == Class::Hot && !self.cur.rebuilding {
            self.cur.quotients.push((ins.a, ins.b, q));
        }
        Ok(q)
    }
    /// Modulo by a positive constant that is not a power of two.
    fn mod_positive(&mut self, a: Value, k: i32) -> Value {
        let q = self.quotient(a, k);
        let k = self.k32(k);
        let p = self.pos.ins().imul(q, k);
        self.pos.ins().isub(a, p)
    }
    /// Modulo by a constant below -1: where the remainder of the truncated quotient is positive, the divisor is added.
    fn mod_negative(&mut self, a: Value, k: i32) -> Value {
        let b = self.k32(k);
        let r = self.pos.ins().srem(a, b);
        let sum = self.pos.ins().iadd(r, b);
        let is_positive = self.is32(IntCC::SignedGreaterThan, r, 0);
        self.pos.ins().select(is_positive, sum, r)
    }
    /// The floored quotient by a positive constant that is not a power of two. With k * m = 2^shift + e, where 0 < e < k, the product
    /// a * m is a * e / k more than 2^shift quotients: too little to reach the next one if a is positive, and at most 2^31 - 1 too small
    /// for negative multiples of k, which is made up for.
    pub(super) fn quotient(&mut self, a: Value, k: i32) -> Value {
        let shift = 63 - i64::from(k.leading_zeros());
        let reciprocal = (1u64 << shift) / k as u64 + 1;
        let wide = self.pos.ins().sextend(types::I64, a);
        let m = self.k64(reciprocal);
        let product = self.pos.ins().imul(wide, m);
        let if_negative = self.pos.ins().ushr_imm_u(wide, 33);
        let product = self.pos.ins().iadd(product, if_negative);
        let q = self.pos.ins().sshr_imm_u(product, shift);
        self.pos.ins().ireduce(types::I32, q)
    }
}
