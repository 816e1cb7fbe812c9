//! Bit operations on 64 bits: of `bit.*`, and of the bit operators, if an operand is cdata.
#![allow(unsafe_code, reason = "the number of a cdata is read with its type")]

use super::conversion::{Rules, conversion, value_type};
use super::convert::{execute, number, target};
use super::ctype::{CTypeId, Info};
use crate::Vm;
use crate::error::LuaResult;
use crate::meta::tobit;
use crate::object::{Cdata, Gc};
use crate::value::Value;

/// The type of an operation on 64 bits. `uint64_t` wins over `int64_t`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wide {
    /// `int64_t`
    Signed,
    /// `uint64_t`
    Unsigned,
}

impl Wide {
    fn id(self) -> CTypeId {
        match self {
            Wide::Signed => CTypeId::INT64,
            Wide::Unsigned => CTypeId::UINT64,
        }
    }
}

/// An operation on 64 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shift {
    /// To the left.
    Left,
    /// To the right, with zeros.
    Right,
    /// To the right, with the sign.
    Arithmetic,
    /// Rotation to the left.
    RotateLeft,
    /// Rotation to the right.
    RotateRight,
}

impl Shift {
    /// Of the number of bits to shift by, the lower six count.
    pub(crate) fn apply(self, x: u64, n: i32) -> u64 {
        let n = n as u32 & 63;
        match self {
            Shift::Left => x << n,
            Shift::Right => x >> n,
            Shift::Arithmetic => (x as i64 >> n) as u64,
            Shift::RotateLeft => x.rotate_left(n),
            Shift::RotateRight => x.rotate_right(n),
        }
    }
}

impl Vm {
    /// The type that an operation on a cdata has.
    fn wide_type(&mut self, c: Gc<Cdata>) -> LuaResult<Wide> {
        self.count_ffi_operation();
        let types = self.ctypes()?;
        let (_, id) = target(types, c);
        let ct = types.get(value_type(types, id));
        let unsigned = ct.info.is_integer() && ct.info.has(Info::UNSIGNED) && ct.size == 8;
        Ok(if unsigned { Wide::Unsigned } else { Wide::Signed })
    }
    /// The 64 bits of a cdata that is a number. `argument` is for errors: the number of an argument, or none for an operand.
    fn cdata_bits(&mut self, c: Gc<Cdata>, to: Wide, argument: Option<usize>) -> LuaResult<u64> {
        let types = self.ctypes()?;
        let (at, id) = target(types, c);
        let mut word = 0u64;
        match conversion(types, to.id(), id, Rules::default()) {
            Some(conversion) => {
                // SAFETY: there is a value of the type `id` at the address, and room for 8 bytes.
                unsafe { execute(conversion, (&raw mut word).cast(), at) };
                Ok(word)
            }
            None => {
                let (to, from) = (self.ctype_text(to.id()), self.ctype_text(id));
                let message = [b"cannot convert '", &from[..], b"' to '", &to[..], b"'"].concat();
                Err(match argument {
                    Some(i) => self.numbered_arg_error(i as i64 + 1, &message),
                    None => self.rt_error_bytes(&message),
                })
            }
        }
    }
    /// The first argument of a bit function as 64 bits, if it is cdata.
    pub(crate) fn wide_arg(&mut self) -> LuaResult<Option<(u64, Wide)>> {
        let Some(c) = self.arg(0).as_cdata() else { return Ok(None) };
        let wide = self.wide_type(c)?;
        Ok(Some((self.cdata_bits(c, wide, Some(0))?, wide)))
    }
    /// A number of bits to shift by; it may be cdata.
    pub(crate) fn shift_arg(&mut self, i: usize) -> LuaResult<i32> {
        match self.arg(i).as_cdata() {
            Some(c) => {
                let wide = self.wide_type(c)?;
                Ok(self.cdata_bits(c, wide, Some(i))? as i32)
            }
            None => {
                let v = self.check_number(i)?;
                Ok(v.as_int().unwrap_or_else(|| tobit(v.as_num_unchecked())))
            }
        }
    }
    /// All arguments of a bit function combined on 64 bits, if one is cdata.
    pub(crate) fn wide_fold(&mut self, op: fn(u64, u64) -> u64) -> LuaResult<Option<Value>> {
        let mut wide: Option<Wide> = None;
        for i in 0..self.nargs() {
            if let Some(c) = self.arg(i).as_cdata() {
                wide = wide.max(Some(self.wide_type(c)?));
            } else if wide.is_some() {
                self.check_number(i)?;
            }
        }
        let Some(wide) = wide else { return Ok(None) };
        let mut result = None;
        for i in 0..self.nargs() {
            let x = match self.arg(i).as_cdata() {
                Some(c) => self.cdata_bits(c, wide, Some(i))?,
                None => wide_number(self.check_number(i)?, wide),
            };
            result = Some(result.map_or(x, |y| op(y, x)));
        }
        Ok(Some(self.wide_value(result.unwrap_or(0), wide)))
    }
    /// The boxed result of an operation.
    pub(crate) fn wide_value(&mut self, bits: u64, wide: Wide) -> Value {
        Value::cdata(self.heap.new_int64(wide.id(), bits))
    }
    /// The result of a bit operator of which an operand is cdata; for `~x`, `x` is both. None if another operand is no number.
    pub(crate) fn wide_operator(&mut self, op: crate::bc::Op, a: Value, b: Value) -> LuaResult<Option<Value>> {
        use crate::bc::Op;
        let shift = match op {
            Op::BSHL => Some(Shift::Left),
            Op::BSHR => Some(Shift::Right),
            Op::BSAR => Some(Shift::Arithmetic),
            _ => None,
        };
        // The type of what is shifted is that of the result.
        let mut wide: Option<Wide> = None;
        for v in [Some(a), Some(b).filter(|_| shift.is_none())].into_iter().flatten() {
            if let Some(c) = v.as_cdata() {
                wide = wide.max(Some(self.wide_type(c)?));
            }
        }
        let mut bits = [0; 2];
        for (v, x) in [a, b].into_iter().zip(&mut bits) {
            *x = match v.as_cdata() {
                Some(c) => self.cdata_bits(c, wide.unwrap_or(Wide::Signed), None)?,
                None if !v.is_number() => return Ok(None),
                None => match wide {
                    Some(wide) => wide_number(v, wide),
                    None => v.as_int().unwrap_or_else(|| tobit(v.as_number().unwrap_or(0.0))) as u64,
                },
            };
        }
        let [x, y] = bits;
        let result = match (op, shift, wide) {
            (_, Some(shift), Some(_)) => shift.apply(x, y as i32),
            (Op::BSHL, ..) => (x as u32).wrapping_shl(y as u32).into(),
            (Op::BSHR, ..) => (x as u32).wrapping_shr(y as u32).into(),
            (Op::BSAR, ..) => (x as i32).wrapping_shr(y as u32) as u64,
            (Op::BNOT, ..) => !x,
            (Op::BAND, ..) => x & y,
            (Op::BOR, ..) => x | y,
            _ => x ^ y,
        };
        Ok(Some(match wide {
            Some(wide) => self.wide_value(result, wide),
            None => Value::int(result as i32),
        }))
    }
}

/// A number of Lua converted to 64 bits.
fn wide_number(v: Value, wide: Wide) -> u64 {
    let n = number(v).unwrap_or(super::scalar::Number::Unsigned(0));
    match wide {
        Wide::Signed => n.to_i64() as u64,
        Wide::Unsigned => n.to_u64(),
    }
}
