//! Arithmetic, bit operations, comparisons.

use super::{Lower, Res};
use crate::BackendError;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use perilune_recorder::ir::{Const, Ins, IrRef, Op, Ty};
use perilune_vm::helper::Helper;

/// The condition of a comparison of nums: the U forms are true with NaN.
fn float_cc(op: Op) -> Option<FloatCC> {
    Some(match op {
        Op::LT => FloatCC::LessThan,
        Op::GE => FloatCC::GreaterThanOrEqual,
        Op::LE => FloatCC::LessThanOrEqual,
        Op::GT => FloatCC::GreaterThan,
        Op::ULT => FloatCC::UnorderedOrLessThan,
        Op::UGE => FloatCC::UnorderedOrGreaterThanOrEqual,
        Op::ULE => FloatCC::UnorderedOrLessThanOrEqual,
        Op::UGT => FloatCC::UnorderedOrGreaterThan,
        Op::EQ => FloatCC::Equal,
        Op::NE => FloatCC::NotEqual,
        _ => return None,
    })
}

/// The condition of a comparison of integers; pointers and words compare unsigned.
fn int_cc(op: Op, signed: bool) -> Option<IntCC> {
    Some(match (op, signed) {
        (Op::LT, true) => IntCC::SignedLessThan,
        (Op::GE, true) => IntCC::SignedGreaterThanOrEqual,
        (Op::LE, true) => IntCC::SignedLessThanOrEqual,
        (Op::GT, true) => IntCC::SignedGreaterThan,
        (Op::LT | Op::ULT, _) => IntCC::UnsignedLessThan,
        (Op::GE | Op::UGE, _) => IntCC::UnsignedGreaterThanOrEqual,
        (Op::LE | Op::ULE, _) => IntCC::UnsignedLessThanOrEqual,
        (Op::GT | Op::UGT, _) => IntCC::UnsignedGreaterThan,
        (Op::EQ, _) => IntCC::Equal,
        (Op::NE, _) => IntCC::NotEqual,
        _ => return None,
    })
}

impl Lower<'_> {
    /// LT to NE.
    pub(super) fn compare(&mut self, ins: Ins) -> Res<()> {
        if ins.ty.is_pri() {
            // A comparison of values of a primitive type: the types are the operands.
            let same = self.ty(ins.a)? == self.ty(ins.b)?;
            let ok = self.k32(i32::from(same == (ins.op == Op::EQ)));
            return self.guard(ok);
        }
        let (a, b) = (self.val(ins.a)?, self.val(ins.b)?);
        let (ta, tb) = (self.pos.func.dfg.value_type(a), self.pos.func.dfg.value_type(b));
        if ta != tb {
            return Err(self.bad("comparison of different types"));
        }
        let unsupported = BackendError::Unsupported(ins.op);
        let cond = if ta == types::F64 {
            let cc = float_cc(ins.op).ok_or(unsupported)?;
            self.pos.ins().fcmp(cc, a, b)
        } else {
            let signed = matches!(ins.ty, Ty::Int | Ty::I8 | Ty::I16 | Ty::I64);
            let cc = int_cc(ins.op, signed).ok_or(unsupported)?;
            if self.ends_chunk(cc, a)? {
                return Ok(());
            }
            self.pos.ins().icmp(cc, a, b)
        };
        self.guard(cond)
    }

    /// ABC: the index is below the size, unsigned.
    pub(super) fn bounds_check(&mut self, ins: Ins) -> Res<()> {
        let (size, index) = (self.int(ins.a)?, self.int(ins.b)?);
        let ok = self.pos.ins().icmp(IntCC::UnsignedLessThan, index, size);
        self.guard(ok)
    }

    /// BNOT to BROR.
    pub(super) fn bits(&mut self, ins: Ins) -> Res<Value> {
        let a = if ins.ty.is_word() { self.word(ins.a)? } else { self.int(ins.a)? };
        match ins.op {
            Op::BNOT => return Ok(self.pos.ins().bnot(a)),
            Op::BSWAP => return Ok(self.pos.ins().bswap(a)),
            _ => {}
        }
        let is_logic = matches!(ins.op, Op::BAND | Op::BOR | Op::BXOR);
        let b = if ins.ty.is_word() && is_logic { self.word(ins.b)? } else { self.int(ins.b)? };
        let i = self.pos.ins();
        // Cranelift masks shift counts to the operand's width.
        Ok(match ins.op {
            Op::BAND => i.band(a, b),
            Op::BOR => i.bor(a, b),
            Op::BXOR => i.bxor(a, b),
            Op::BSHL => i.ishl(a, b),
            Op::BSHR => i.ushr(a, b),
            Op::BSAR => i.sshr(a, b),
            Op::BROL => i.rotl(a, b),
            Op::BROR => i.rotr(a, b),
            _ => return Err(BackendError::Unsupported(ins.op)),
        })
    }

    /// ADD to MAX on nums.
    pub(super) fn num_arith(&mut self, ins: Ins) -> Res<Value> {
        let a = self.num(ins.a)?;
        match ins.op {
            Op::NEG => return Ok(self.pos.ins().fneg(a)),
            Op::ABS => return Ok(self.pos.ins().fabs(a)),
            Op::LDEXP => {
                let b = self.int(ins.b)?;
                return self.call_num(Helper::Ldexp, &[a, b]);
            }
            _ => {}
        }
        let b = self.num(ins.b)?;
        Ok(match ins.op {
            Op::ADD => self.pos.ins().fadd(a, b),
            Op::SUB => self.pos.ins().fsub(a, b),
            Op::MUL => self.pos.ins().fmul(a, b),
            Op::DIV => self.pos.ins().fdiv(a, b),
            // a - floor(a / b) * b
            Op::MOD => {
                let q = match self.reciprocal(ins.b)? {
                    Some(r) => {
                        let r = self.pos.ins().f64const(r);
                        self.pos.ins().fmul(a, r)
                    }
                    None => self.pos.ins().fdiv(a, b),
                };
                let q = self.pos.ins().floor(q);
                let p = self.pos.ins().fmul(q, b);
                self.pos.ins().fsub(a, p)
            }
            Op::POW => return self.call_num(Helper::Pow, &[a, b]),
            Op::MIN | Op::MAX => {
                // Only in this form they become `minsd` and `maxsd`, without a branch.
                let (less, more) = if ins.op == Op::MIN { (b, a) } else { (a, b) };
                let other = self.pos.ins().fcmp(FloatCC::LessThan, less, more);
                self.pos.ins().select(other, b, a)
            }
            _ => return Err(BackendError::Unsupported(ins.op)),
        })
    }

    /// One over a constant where that is exact, so that a product with it is the quotient.
    fn reciprocal(&self, r: IrRef) -> Res<Option<f64>> {
        let Some(Const::Num(bits)) = (if r.is_const() { Some(self.konst(r)?) } else { None }) else { return Ok(None) };
        let (k, power) = (f64::from_bits(bits), bits << 12 == 0);
        Ok((power && k.is_normal() && (1.0 / k).is_normal()).then_some(1.0 / k))
    }

    /// ADD to MAX on ints.
    pub(super) fn int_arith(&mut self, ins: Ins) -> Res<Value> {
        let a = self.int(ins.a)?;
        match ins.op {
            Op::NEG => return Ok(self.pos.ins().ineg(a)),
            Op::ABS => return Ok(self.pos.ins().iabs(a)),
            Op::MOD => return self.int_mod(a, ins),
            Op::DIV => return self.int_div(a, ins),
            _ => {}
        }
        let b = self.int(ins.b)?;
        Ok(match ins.op {
            Op::ADD => self.pos.ins().iadd(a, b),
            Op::SUB => self.pos.ins().isub(a, b),
            Op::MUL => self.pos.ins().imul(a, b),
            Op::MIN => self.pos.ins().smin(a, b),
            Op::MAX => self.pos.ins().smax(a, b),
            _ => return Err(BackendError::Unsupported(ins.op)),
        })
    }

    /// ADD to NEG on 64-bit words: integers and addresses.
    pub(super) fn word_arith(&mut self, ins: Ins) -> Res<Value> {
        let a = self.word(ins.a)?;
        match ins.op {
            Op::NEG => return Ok(self.pos.ins().ineg(a)),
            Op::DIV | Op::MOD | Op::POW => return self.word_quotient(ins, a),
            _ => {}
        }
        let b = self.val(ins.b)?;
        let b = if self.pos.func.dfg.value_type(b) == types::I32 { self.pos.ins().sextend(types::I64, b) } else { b };
        Ok(match ins.op {
            Op::ADD => self.pos.ins().iadd(a, b),
            Op::SUB => self.pos.ins().isub(a, b),
            Op::MUL => self.pos.ins().imul(a, b),
            _ => return Err(BackendError::Unsupported(ins.op)),
        })
    }

    /// DIV, MOD, POW on 64-bit integers: instructions where the divisor is a constant that they divide by in all cases, helpers otherwise.
    fn word_quotient(&mut self, ins: Ins, a: Value) -> Res<Value> {
        let (signed, b) = (ins.ty == Ty::I64, self.word(ins.b)?);
        let divisor = if ins.b.is_const() { self.konst(ins.b)? } else { Const::Pri(Ty::Nil) };
        let plain = matches!(divisor, Const::Word(k, _) | Const::Ptr(k) if k != 0 && k != u64::MAX);
        let i = self.pos.ins();
        let helper = match (ins.op, signed) {
            (Op::DIV, true) if plain => return Ok(i.sdiv(a, b)),
            (Op::DIV, false) if plain => return Ok(i.udiv(a, b)),
            (Op::MOD, true) if plain => return Ok(i.srem(a, b)),
            (Op::MOD, false) if plain => return Ok(i.urem(a, b)),
            (Op::DIV, true) => Helper::I64Div,
            (Op::DIV, false) => Helper::U64Div,
            (Op::MOD, true) => Helper::I64Rem,
            (Op::MOD, false) => Helper::U64Rem,
            (_, true) => Helper::I64Pow,
            (_, false) => Helper::U64Pow,
        };
        self.call_word(helper, &[a, b])
    }

    /// The floored quotient; the divisor is positive.
    fn int_div(&mut self, a: Value, ins: Ins) -> Res<Value> {
        if !ins.b.is_const() {
            return self.quotient_of_variables(ins);
        }
        match self.konst(ins.b)? {
            Const::Int(k) if k > 0 && k & (k - 1) == 0 => Ok(self.pos.ins().sshr_imm_u(a, i64::from(k.trailing_zeros()))),
            Const::Int(k) if k > 0 => Ok(self.quotient(a, k)),
            _ => Err(self.bad("an integer is divided by what is not positive")),
        }
    }
    /// ADDOV, SUBOV, MULOV.
    pub(super) fn overflow_arith(&mut self, ins: Ins) -> Res<Value> {
        if !ins.is_guard() {
            let op = match ins.op {
                Op::ADDOV => Op::ADD,
                Op::SUBOV => Op::SUB,
                _ => Op::MUL,
            };
            return self.int_arith(Ins { op, ..ins });
        }
        if ins.op != Op::MULOV && (self.cur.plan.wide[self.cur.emitting] || ins.operands().any(|r| self.is_wide(r))) {
            return self.long_sum(ins);
        }
        if ins.op == Op::ADDOV
            && ins.b.is_const()
            && let Const::Int(k) = self.konst(ins.b)?
        {
            return self.add_constant(ins.a, k);
        }
        if ins.op == Op::MULOV
            && ins.b.is_const()
            && let Const::Int(k) = self.konst(ins.b)?
            && k > 1
            && !self.cur.plan.wide[self.cur.emitting]
        {
            return self.multiply_by_constant(ins.a, k);
        }
        let (a, b) = (self.int(ins.a)?, self.int(ins.b)?);
        let (value, over) = match ins.op {
            Op::ADDOV => self.pos.ins().sadd_overflow(a, b),
            Op::SUBOV => self.pos.ins().ssub_overflow(a, b),
            Op::MULOV => return self.product(ins, a, b),
            _ => return Err(BackendError::Unsupported(ins.op)),
        };
        self.guard_not(over)?;
        Ok(value)
    }
    /// MULOV: a product in 64 bits, which x86-64 computes in any register, where `smul_overflow` takes two particular ones.
    fn product(&mut self, ins: Ins, a: Value, b: Value) -> Res<Value> {
        let (x, y) = (self.pos.ins().sextend(types::I64, a), self.pos.ins().sextend(types::I64, b));
        let product = self.pos.ins().imul(x, y);
        if self.cur.plan.wide[self.cur.emitting] {
            return Ok(product);
        }
        let value = self.narrowed(product)?;
        self.guard_not_minus_zero(ins, value, a, b)?;
        Ok(value)
    }
    /// The lower half of a word, which must be all of it.
    fn narrowed(&mut self, word: Value) -> Res<Value> {
        let value = self.pos.ins().ireduce(types::I32, word);
        let same = self.pos.ins().sextend(types::I64, value);
        let ok = self.pos.ins().icmp(IntCC::Equal, word, same);
        self.guard(ok)?;
        Ok(value)
    }

    fn is_wide(&self, r: IrRef) -> bool {
        !r.is_const() && self.cur.plan.wide[r.ins_index()]
    }
    /// An ADDOV or SUBOV that is a term of another sum, or has such terms: only the overflow of the final sum is checked.
    fn long_sum(&mut self, ins: Ins) -> Res<Value> {
        let (a, b) = (self.term(ins.a)?, self.term(ins.b)?);
        let sum = if ins.op == Op::ADDOV { self.pos.ins().iadd(a, b) } else { self.pos.ins().isub(a, b) };
        if self.cur.plan.wide[self.cur.emitting] {
            return Ok(sum);
        }
        self.narrowed(sum)
    }
    /// An operand of a sum, in 64 bits.
    fn term(&mut self, r: IrRef) -> Res<Value> {
        if r.is_const()
            && let Const::Int(k) = self.konst(r)?
        {
            return Ok(self.k64(i64::from(k) as u64));
        }
        if self.is_wide(r) {
            return self.word(r);
        }
        let value = self.int(r)?;
        Ok(self.pos.ins().sextend(types::I64, value))
    }

    /// ADDOV of a constant: compares the operand with the least value that overflows, which is cheaper than to test the overflow flag.
    fn add_constant(&mut self, a: IrRef, k: i32) -> Res<Value> {
        let a = self.int(a)?;
        let ok = if k >= 0 {
            self.is32(IntCC::SignedLessThanOrEqual, a, i32::MAX - k)
        } else {
            self.is32(IntCC::SignedGreaterThanOrEqual, a, i32::MIN - k)
        };
        self.guard(ok)?;
        let k = self.k32(k);
        Ok(self.pos.ins().iadd(a, k))
    }

    /// MULOV by a positive constant: compares the operand with the bounds beyond which the product overflows. It is no -0.
    fn multiply_by_constant(&mut self, a: IrRef, k: i32) -> Res<Value> {
        let a = self.int(a)?;
        let (least, most) = (i32::MIN / k, i32::MAX / k);
        let above = self.pos.ins().iadd_imm_s(a, -i64::from(least));
        let ok = self.is32(IntCC::UnsignedLessThanOrEqual, above, most - least);
        self.guard(ok)?;
        if k & (k - 1) == 0 {
            return Ok(self.pos.ins().ishl_imm_u(a, i64::from(k.trailing_zeros())));
        }
        let k = self.k32(k);
        Ok(self.pos.ins().imul(a, k))
    }

    /// Leaves where a product is zero and an operand is negative: the result is -0, which is not an int.
    fn guard_not_minus_zero(&mut self, ins: Ins, value: Value, a: Value, b: Value) -> Res<()> {
        let constant = |r: IrRef| if r.is_const() { self.konst(r).ok() } else { None };
        match (constant(ins.a), constant(ins.b)) {
            _ if ins.a == ins.b => return Ok(()),
            (Some(Const::Int(k)), _) if k > 0 => {}
            (_, Some(Const::Int(k))) if k > 0 => {}
            _ => {
                let zero = self.is32(IntCC::NotEqual, value, 0);
                let (next, cold) = self.split_cold(zero);
                self.enter(cold);
                let signs = self.pos.ins().bor(a, b);
                let ok = self.is32(IntCC::SignedGreaterThanOrEqual, signs, 0);
                let exit = self.exit()?;
                self.pos.ins().brif(ok, next, &[], exit, &[]);
                self.enter(next);
            }
        }
        Ok(())
    }
}
