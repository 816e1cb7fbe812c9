//! Conversions between numbers.

use super::value::repr;
use super::{Lower, Res};
use crate::BackendError;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use perilune_recorder::ir::{FpMath, Ins, Op, Ty, conv};
use perilune_vm::ffi::int64;
use perilune_vm::helper::Helper;

/// Adding this leaves the low 32 bits of an integral double in the low half of the sum's bits.
const TOBIT_BIAS: f64 = 6755399441055744.0;

impl Lower<'_> {
    /// CONV.
    pub(super) fn conv(&mut self, ins: Ins) -> Res<Value> {
        let (src, dst) = (Ty::ALL.get(usize::from(ins.b.0 & 31)), Ty::ALL.get(usize::from(ins.b.0 >> 5 & 31)));
        let (Some(&src), Some(&dst)) = (src, dst) else { return Err(self.bad("unknown type in a conversion")) };
        let value = self.val(ins.a)?;
        if repr(src) != Some(self.pos.func.dfg.value_type(value)) {
            return Err(self.bad("operand of a conversion has another type"));
        }
        match (src, dst) {
            (_, Ty::Num | Ty::Float) => return self.float_of(value, src, dst),
            (Ty::Num, _) => return self.num_to_int(ins, value, dst),
            (Ty::Float, _) => {
                let num = self.pos.ins().fpromote(types::F64, value);
                return self.num_to_int(ins, num, dst);
            }
            _ => {}
        }
        let sext = ins.b.0 & conv::SEXT != 0;
        Ok(match (repr(src) == Some(types::I32), repr(dst) == Some(types::I32)) {
            (true, false) if sext => self.pos.ins().sextend(types::I64, value),
            (true, false) => self.pos.ins().uextend(types::I64, value),
            (false, true) => {
                let low = self.pos.ins().ireduce(types::I32, value);
                self.narrow(low, dst)
            }
            (true, true) => self.narrow(value, dst),
            (false, false) => value,
        })
    }

    /// A number as num or float.
    fn float_of(&mut self, value: Value, src: Ty, dst: Ty) -> Res<Value> {
        let to = if dst == Ty::Num { types::F64 } else { types::F32 };
        match src {
            Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 | Ty::Int | Ty::I64 => Ok(self.pos.ins().fcvt_from_sint(to, value)),
            Ty::U32 | Ty::U64 | Ty::P64 => Ok(self.pos.ins().fcvt_from_uint(to, value)),
            Ty::Num | Ty::Float if src == dst => Ok(value),
            Ty::Num => Ok(self.pos.ins().fdemote(to, value)),
            Ty::Float => Ok(self.pos.ins().fpromote(to, value)),
            _ => Err(BackendError::Unsupported(Op::CONV)),
        }
    }

    fn num_to_int(&mut self, ins: Ins, value: Value, dst: Ty) -> Res<Value> {
        let mode = ins.b.0 & conv::MODE;
        if mode == conv::BITS {
            return self.exact_bits(value);
        }
        if dst == Ty::Int && ins.is_guard() {
            let (int, ok) = self.exact_int(value, mode == conv::CHECK);
            self.guard(ok)?;
            return Ok(int);
        }
        Ok(match dst {
            Ty::Int => self.pos.ins().fcvt_to_sint_sat(types::I32, value),
            Ty::I64 if mode == conv::INDEX => self.num_to_low(value),
            Ty::I64 | Ty::P64 => self.num_to_word(value),
            Ty::U64 => self.num_to_unsigned(value),
            Ty::U32 | Ty::I8 | Ty::U8 | Ty::I16 | Ty::U16 => {
                let wide = self.num_to_low(value);
                let low = self.pos.ins().ireduce(types::I32, wide);
                self.narrow(low, dst)
            }
            _ => return Err(BackendError::Unsupported(Op::CONV)),
        })
    }

    /// A num as i64, as [`int64::from_num`] has it.
    fn num_to_word(&mut self, value: Value) -> Value {
        let end = self.pos.ins().f64const(int64::TWO_POW_63);
        let fits = self.pos.ins().fcmp(FloatCC::LessThan, value, end);
        let word = self.pos.ins().fcvt_to_sint_sat(types::I64, value);
        let least = self.k64(1 << 63);
        self.pos.ins().select(fits, word, least)
    }
    /// A num as i64, as [`int64::index_from_num`] has it: NaN is 0 here. The low 32 bits are those of [`int64::from_num`].
    fn num_to_low(&mut self, value: Value) -> Value {
        let word = self.pos.ins().fcvt_to_sint_sat(types::I64, value);
        // The greatest i64 stands for all nums that are too large, for no other num is converted to it. The next one has only zeros below.
        let next = self.pos.ins().iadd_imm_s(word, 1);
        let over = self.pos.ins().icmp(IntCC::SignedGreaterThan, word, next);
        self.pos.ins().select(over, next, word)
    }
    /// A num as u64, as [`int64::unsigned_from_num`] has it.
    fn num_to_unsigned(&mut self, value: Value) -> Value {
        let word = self.num_to_word(value);
        let in_range = self.pos.ins().icmp_imm_s(IntCC::NotEqual, word, i64::MIN);
        let (next, cold) = (self.block(), self.cold_block());
        let result = self.block_param(next, types::I64);
        self.pos.ins().brif(in_range, next, &[word.into()], cold, &[]);
        self.enter(cold);
        let more = self.pos.ins().f64const(int64::TWO_POW_64);
        let less = self.pos.ins().fsub(value, more);
        let high = self.num_to_word(less);
        self.jump(next, &[high]);
        self.enter(next);
        result
    }

    /// Truncates to a narrow type and extends again.
    pub(super) fn narrow(&mut self, value: Value, ty: Ty) -> Value {
        match ty {
            Ty::U8 => self.pos.ins().band_imm_u(value, 0xff),
            Ty::U16 => self.pos.ins().band_imm_u(value, 0xffff),
            Ty::I8 | Ty::I16 => {
                let bits = if ty == Ty::I8 { 24 } else { 16 };
                let high = self.pos.ins().ishl_imm_u(value, bits);
                self.pos.ins().sshr_imm_u(high, bits)
            }
            _ => value,
        }
    }

    /// TOBIT.
    pub(super) fn tobit(&mut self, ins: Ins) -> Res<Value> {
        let num = self.num(ins.a)?;
        let bias = self.pos.ins().f64const(TOBIT_BIAS);
        let sum = self.pos.ins().fadd(num, bias);
        let bits = self.pos.ins().bitcast(types::I64, MemFlagsData::new(), sum);
        Ok(self.pos.ins().ireduce(types::I32, bits))
    }
    /// The low bits of a num that is checked to be integral and not too large. The sum with the bias has the bits of the bias plus the num, rounded
    /// to an integer; its range says whether the num is in range, and that it has not changed says whether the num is integral.
    fn exact_bits(&mut self, num: Value) -> Res<Value> {
        let bias = self.pos.ins().f64const(TOBIT_BIAS);
        let sum = self.pos.ins().fadd(num, bias);
        let back = self.pos.ins().fsub(sum, bias);
        let is_integral = self.pos.ins().fcmp(FloatCC::Equal, back, num);
        self.guard(is_integral)?;
        let bits = self.pos.ins().bitcast(types::I64, MemFlagsData::new(), sum);
        let most = conv::MOST as i64;
        let least = self.k64((TOBIT_BIAS.to_bits() as i64 - most) as u64);
        let above = self.pos.ins().isub(bits, least);
        let in_range = self.pos.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, above, 2 * most);
        self.guard(in_range)?;
        Ok(self.pos.ins().ireduce(types::I32, bits))
    }

    /// FPMATH.
    pub(super) fn fp_math(&mut self, ins: Ins) -> Res<Value> {
        let x = self.num(ins.a)?;
        let is = |f: FpMath| ins.b.0 == f as u16;
        if is(FpMath::Floor) {
            Ok(self.pos.ins().floor(x))
        } else if is(FpMath::Ceil) {
            Ok(self.pos.ins().ceil(x))
        } else if is(FpMath::Trunc) {
            Ok(self.pos.ins().trunc(x))
        } else if is(FpMath::Sqrt) {
            Ok(self.pos.ins().sqrt(x))
        } else if is(FpMath::Log) {
            self.call_num(Helper::Log, &[x])
        } else if is(FpMath::Log2) {
            self.call_num(Helper::Log2, &[x])
        } else if is(FpMath::Exp) {
            self.call_num(Helper::Exp, &[x])
        } else {
            Err(self.bad("unknown math function"))
        }
    }
}
