//! Numbers as `tostring` prints them: integers in decimal, doubles like C's `%.14g`.

use super::append::{put_int, short_int};
use super::float;
use super::spec::{Conv, Spec};
use core::fmt;
use core::ops::Deref;

/// Significant digits of a double.
const DIGITS: u32 = 14;

/// Bytes of the longest text of a number.
pub const LONGEST: usize = 24;

/// The text of one number, without allocation.
#[derive(Copy, Clone)]
pub struct NumText {
    bytes: [u8; LONGEST],
    start: u8,
    end: u8,
}

impl Deref for NumText {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start as usize..self.end as usize]
    }
}
impl fmt::Debug for NumText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self))
    }
}

pub(super) static PAIRS: [[u8; 2]; 100] = {
    let mut t = [[0; 2]; 100];
    let mut i = 0;
    while i < 100 {
        t[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    t
};

impl NumText {
    /// The decimal digits of `u`, right-aligned, with a sign.
    #[inline]
    fn decimal(u: u64, negative: bool) -> NumText {
        NumText { bytes: [0; 24], start: 24, end: 24 }.preceded(u, negative)
    }
    /// The same in front of the text.
    #[inline]
    fn preceded(self, mut u: u64, negative: bool) -> NumText {
        let NumText { mut bytes, start, end } = self;
        let mut at = usize::from(start);
        while u >= 100 {
            at -= 2;
            bytes[at..at + 2].copy_from_slice(&PAIRS[(u % 100) as usize]);
            u /= 100;
        }
        if u >= 10 {
            at -= 2;
            bytes[at..at + 2].copy_from_slice(&PAIRS[u as usize]);
        } else {
            at -= 1;
            bytes[at] = b'0' + u as u8;
        }
        if negative {
            at -= 1;
            bytes[at] = b'-';
        }
        NumText { bytes, start: at as u8, end }
    }
    /// A magnitude below `limit / 1000` with at most three decimals: it is the double next to the quotient of two integers, so that rounding it to
    /// as many digits as `limit` has zeros, at most [`DIGITS`], gives that quotient, without the zeros at its end.
    #[inline]
    fn short_decimal(magnitude: f64, limit: f64, negative: bool) -> Option<NumText> {
        let thousandths = magnitude * 1000.0;
        let units = thousandths as u64;
        if thousandths >= limit || units as f64 != thousandths || thousandths / 1000.0 != magnitude {
            return None;
        }
        let (whole, rest) = (units / 1000, (units % 1000) as usize);
        let [tens, ones] = PAIRS[rest % 100];
        let decimals = [b'.', b'0' + (rest / 100) as u8, tens, ones];
        let len = if ones != b'0' {
            4
        } else if tens != b'0' {
            3
        } else {
            2
        };
        let mut bytes = [0; 24];
        bytes[20..].copy_from_slice(&decimals);
        Some(NumText { bytes, start: 20, end: 20 + len }.preceded(whole, negative))
    }
    /// At least `width` (at most 20) decimal digits of `u`.
    pub fn padded(u: u64, width: usize) -> NumText {
        let mut text = NumText::decimal(u, false);
        let start = usize::from(text.start).min(24 - width);
        text.bytes[start..usize::from(text.start)].fill(b'0');
        text.start = start as u8;
        text
    }
    fn copied(s: &[u8]) -> NumText {
        let mut bytes = [0; 24];
        bytes[..s.len()].copy_from_slice(s);
        NumText { bytes, start: 0, end: s.len() as u8 }
    }
    /// An integer.
    #[inline]
    pub fn int(i: i32) -> NumText {
        if let Some((text, len)) = short_int(i) {
            let mut bytes = [0; 24];
            bytes[..16].copy_from_slice(&text.to_le_bytes());
            return NumText { bytes, start: 0, end: len as u8 };
        }
        NumText::decimal(u64::from(i.unsigned_abs()), i < 0)
    }
    /// A 64-bit integer.
    pub fn int64(i: i64) -> NumText {
        NumText::decimal(i.unsigned_abs(), i < 0)
    }
    /// A double. NaN has no sign.
    pub fn num(n: f64) -> NumText {
        if let Some(i) = written_as_int(n) {
            return NumText::int(i);
        }
        if !n.is_finite() {
            return NumText::copied(if n.is_nan() {
                b"nan"
            } else if n > 0.0 {
                b"inf"
            } else {
                b"-inf"
            });
        }
        NumText::general(n, DIGITS).unwrap_or_else(|| {
            let spec = Spec { prec: Some(DIGITS as u8), ..Spec::new(Conv::General) };
            NumText::copied(&float::text(&spec, n))
        })
    }
    /// A double like C's `%.{digits}g`, if that can be computed quickly: magnitudes around 1, at most `DIGITS` digits.
    #[inline]
    pub fn general(n: f64, digits: u32) -> Option<NumText> {
        let magnitude = n.abs();
        let limit = *POWERS.get(digits as usize)?;
        if magnitude < limit as f64 {
            let whole = magnitude as u64;
            if whole as f64 == magnitude {
                return Some(NumText::decimal(whole, n.is_sign_negative()));
            }
        }
        if digits <= DIGITS
            && let Some(text) = NumText::short_decimal(magnitude, limit as f64, n < 0.0)
        {
            return Some(text);
        }
        let (mantissa, exp) = scaled(magnitude, digits)?;
        Some(NumText::layout(mantissa, digits, exp, n < 0.0))
    }
    /// Formats `digits` (exactly `count` of them) `* 10^(exp - count + 1)` like `%g` does.
    fn layout(mut digits: u64, count: u32, exp: i32, negative: bool) -> NumText {
        let mut count = count as i32;
        while digits.is_multiple_of(10) {
            digits /= 10;
            count -= 1;
        }
        let text = NumText::decimal(digits, false);
        let mut bytes = [0; 24];
        let mut at = 0;
        let mut put = |s: &[u8]| {
            bytes[at..at + s.len()].copy_from_slice(s);
            at += s.len();
        };
        if negative {
            put(b"-");
        }
        if exp < -4 {
            put(&text[..1]);
            if count > 1 {
                put(b".");
                put(&text[1..]);
            }
            put(b"e-");
            put(&PAIRS[-exp as usize]);
        } else if exp < 0 {
            put(&b"0.000"[..(1 - exp) as usize]);
            put(&text);
        } else {
            let whole = (exp + 1).min(count) as usize;
            put(&text[..whole]);
            for _ in count..=exp {
                put(b"0");
            }
            if whole < text.len() {
                put(b".");
                put(&text[whole..]);
            }
        }
        NumText { bytes, start: 0, end: at as u8 }
    }
}

/// Powers of ten.
pub(crate) static POWERS: [u64; 20] = {
    let mut t = [1; 20];
    let mut i = 1;
    while i < 20 {
        t[i] = t[i - 1] * 10;
        i += 1;
    }
    t
};

/// `count` significant digits of a number and its decimal exponent, correctly rounded (ties to even). Only for at most [`DIGITS`]
/// of them, and magnitudes where the arithmetic is exact in 128 bits.
pub(super) fn scaled(n: f64, count: u32) -> Option<(u64, i32)> {
    if count == 0 || count > DIGITS || !(1e-5..POWERS[count as usize] as f64).contains(&n) {
        return None;
    }
    let low = POWERS[count as usize - 1];
    let bits = n.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // n = mantissa / 2^shift, and shift is 6 ..= 69 here.
    let shift = 1075 - (bits >> 52) as i32;
    debug_assert!((1..=70).contains(&shift));
    // An estimate of the decimal exponent, never too big, at most one too small.
    let mut exp = (((bits >> 52) as i32 - 1023) * 1233) >> 12;
    loop {
        let product = u128::from(mantissa) * u128::from(POWERS[(count as i32 - 1 - exp) as usize]);
        let whole = (product >> shift) as u64;
        if whole >= low * 10 {
            exp += 1;
            continue;
        }
        let digits = rounded(product, shift) as u64;
        let (digits, exp) = if digits == low * 10 { (low, exp + 1) } else { (digits, exp) };
        return if exp < count as i32 { Some((digits, exp)) } else { None };
    }
}

/// `n * 10^decimals` as an integer, correctly rounded (ties to even), for `n` that is not negative. Only where the arithmetic is
/// exact in 128 bits and the result fits 64.
pub fn units(n: f64, decimals: usize) -> Option<u64> {
    let power = *POWERS.get(decimals)?;
    let bits = n.to_bits();
    let shift = 1075 - (bits >> 52) as i32;
    if !(1..=120).contains(&shift) {
        return if n == 0.0 { Some(0) } else { None };
    }
    let product = u128::from(bits & ((1 << 52) - 1) | 1 << 52) * u128::from(power);
    rounded(product, shift).try_into().ok()
}
/// `n / 2^shift`, rounded (ties to even).
#[inline]
fn rounded(n: u128, shift: i32) -> u128 {
    let (whole, rest, half) = (n >> shift, n & ((1 << shift) - 1), 1u128 << (shift - 1));
    whole + u128::from(rest > half || (rest == half && whole & 1 != 0))
}

/// Appends a double like `tostring`.
#[inline]
pub fn put_num(out: &mut Vec<u8>, n: f64) {
    match written_as_int(n) {
        Some(i) => put_int(out, i),
        None => out.extend_from_slice(&NumText::num(n)),
    }
}

/// A number that is written as an integer, if an `i32` holds it.
#[inline(always)]
pub fn written_as_int(n: f64) -> Option<i32> {
    let i = n as i32;
    (f64::from(i) == n && (i != 0 || n.is_sign_positive())).then_some(i)
}

/// A double as an `i32`, as C does it on x64: truncated; anything out of range is the smallest integer.
#[inline]
pub fn to_i32(n: f64) -> i32 {
    let t = n.trunc();
    if (-2147483648.0..=2147483647.0).contains(&t) { t as i32 } else { i32::MIN }
}

/// The first number that no `i64` holds.
const TWO_63: f64 = (1u64 << 63) as f64;

/// A double as an `i64`, as C does it on x64.
#[inline]
pub fn to_i64(n: f64) -> i64 {
    if (-TWO_63..TWO_63).contains(&n) { n as i64 } else { i64::MIN }
}

/// A double as a `u64`: negative numbers wrap, too big ones lose `2^64`.
#[inline]
pub fn to_u64(n: f64) -> u64 {
    if n < TWO_63 { to_i64(n) as u64 } else { to_i64(n - 2.0 * TWO_63) as u64 }
}
