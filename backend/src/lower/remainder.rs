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
            return Ok(self.mod_variable(a, b));
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
    /// The divisor is positive, which a guard has checked. `-1 - a` of a negative dividend is not negative, and its remainder counts from the
    /// divisor down.
    fn mod_variable(&mut self, a: Value, b: Value) -> Value {
        if self.cur.plan.compared_with_zero[self.cur.emitting] {
            let magnitude = self.pos.ins().iabs(a);
            return self.pos.ins().urem(magnitude, b);
        }
        let sign = self.pos.ins().sshr_imm_u(a, 31);
        let dividend = self.pos.ins().bxor(a, sign);
        let r = self.pos.ins().urem(dividend, b);
        let r = self.pos.ins().bxor(r, sign);
        let more = self.pos.ins().band(sign, b);
        self.pos.ins().iadd(r, more)
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
