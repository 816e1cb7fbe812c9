//! Scalars of C: how they are in memory, and their values as numbers.
#![allow(unsafe_code, reason = "scalars are read from and written to the addresses that C types and pointers give")]

use super::ctype::Info;
use super::int64;

/// A scalar as it is in memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `int8_t`
    I8,
    /// `uint8_t`
    U8,
    /// `int16_t`
    I16,
    /// `uint16_t`
    U16,
    /// `int32_t`
    I32,
    /// `uint32_t`
    U32,
    /// `int64_t`
    I64,
    /// `uint64_t`
    U64,
    /// `float`
    F32,
    /// `double`
    F64,
    /// A pointer or reference.
    Pointer,
}

/// The value of a scalar.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Number {
    /// Of a signed integer.
    Signed(i64),
    /// Of an unsigned integer, a boolean or an address.
    Unsigned(u64),
    /// Of a floating-point number.
    Float(f64),
}

impl Number {
    /// Converted to `int64_t`.
    pub fn to_i64(self) -> i64 {
        match self {
            Number::Signed(i) => i,
            Number::Unsigned(u) => u as i64,
            Number::Float(n) => int64::from_num(n),
        }
    }
    /// Converted to `uint64_t`.
    pub fn to_u64(self) -> u64 {
        match self {
            Number::Signed(i) => i as u64,
            Number::Unsigned(u) => u,
            Number::Float(n) => int64::unsigned_from_num(n),
        }
    }
    /// Converted to `double`.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Signed(i) => i as f64,
            Number::Unsigned(u) => u as f64,
            Number::Float(n) => n,
        }
    }
}

impl Scalar {
    /// The scalar that a type is, from its word and size; none for aggregates, and for numbers of more than 64 bits.
    pub const fn of(info: Info, size: u32) -> Option<Scalar> {
        if info.is_ptr() {
            return Some(Scalar::Pointer);
        }
        if info.is_enum() {
            return Some(Scalar::U32);
        }
        if !info.is_num() {
            return None;
        }
        Some(match (size, info.has(Info::UNSIGNED)) {
            (4, _) if info.is_fp() => Scalar::F32,
            (8, _) if info.is_fp() => Scalar::F64,
            _ if info.is_fp() => return None,
            (1, _) if info.has(Info::BOOL) => Scalar::Bool,
            (1, false) => Scalar::I8,
            (1, true) => Scalar::U8,
            (2, false) => Scalar::I16,
            (2, true) => Scalar::U16,
            (4, false) => Scalar::I32,
            (4, true) => Scalar::U32,
            (8, false) => Scalar::I64,
            (8, true) => Scalar::U64,
            _ => return None,
        })
    }
    /// Size in bytes.
    pub const fn size(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 | Scalar::Pointer => 8,
        }
    }
    /// Reads it.
    ///
    /// # Safety
    /// The address is readable for its size. It need not be aligned.
    pub unsafe fn read(self, at: *const u8) -> Number {
        macro_rules! read {
            ($ty:ty) => {{
                // SAFETY: the contract of this function.
                unsafe { at.cast::<$ty>().read_unaligned() }
            }};
        }
        match self {
            Scalar::Bool => Number::Unsigned(u64::from(read!(u8) != 0)),
            Scalar::I8 => Number::Signed(read!(i8).into()),
            Scalar::U8 => Number::Unsigned(read!(u8).into()),
            Scalar::I16 => Number::Signed(read!(i16).into()),
            Scalar::U16 => Number::Unsigned(read!(u16).into()),
            Scalar::I32 => Number::Signed(read!(i32).into()),
            Scalar::U32 => Number::Unsigned(read!(u32).into()),
            Scalar::I64 => Number::Signed(read!(i64)),
            Scalar::U64 | Scalar::Pointer => Number::Unsigned(read!(u64)),
            Scalar::F32 => Number::Float(read!(f32).into()),
            Scalar::F64 => Number::Float(read!(f64)),
        }
    }
}
