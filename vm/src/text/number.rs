//! Numbers as `tostring` prints them: integers in decimal, doubles like C's `%.14g`.

use super::float;
use super::spec::{Conv, Spec};
use core::fmt;
use core::ops::Deref;

/// Significant digits of a double.
const DIGITS: u32 = 14;
/// Integral doubles of a smaller magnitude print without an exponent.
const PLAIN_LIMIT: f64 = 1e14;

/// The text of one number, kept in place.
#[derive(Copy, Clone)]
pub struct NumText {
    bytes: [u8; 24],
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

static PAIRS: [[u8; 2]; 100] = {
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
    fn decimal(mut u: u64, negative: bool) -> NumText {
        let mut bytes = [0; 24];
        let mut at = bytes.len();
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
        NumText { bytes, start: at as u8, end: 24 }
    }
    fn copied(s: &[u8]) -> NumText {
        let mut bytes = [0; 24];
        bytes[..s.len()].copy_from_slice(s);
        NumText { bytes, start: 0, end: s.len() as u8 }
    }
    /// An integer.
    #[inline]
    pub fn int(i: i32) -> NumText {
        NumText::decimal(u64::from(i.unsigned_abs()), i < 0)
    }
    /// A 64-bit integer.
    pub fn int64(i: i64) -> NumText {
        NumText::decimal(i.unsigned_abs(), i < 0)
    }
    /// A double. NaN has no sign.
    pub fn num(n: f64) -> NumText {
        let magnitude = n.abs();
        if magnitude < PLAIN_LIMIT {
            let whole = magnitude as u64;
            if whole as f64 == magnitude {
                return NumText::decimal(whole, n.is_sign_negative());
            }
        } else if !n.is_finite() {
            return NumText::copied(if n.is_nan() {
                b"nan"
            } else if n > 0.0 {
                b"inf"
            } else {
                b"-inf"
            });
        }
        match scaled(magnitude) {
            Some((digits, exp)) => NumText::layout(digits, exp, n < 0.0),
            None => {
                let spec = Spec { prec: Some(DIGITS as u8), ..Spec::new(Conv::General) };
                NumText::copied(&float::text(&spec, n))
            }
        }
    }
    /// Lays out `digits` (exactly [`DIGITS`] of them) `* 10^(exp - 13)` like `%g` does.
    fn layout(mut digits: u64, exp: i32, negative: bool) -> NumText {
        let mut count = DIGITS as i32;
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
static POWERS: [u64; 20] = {
    let mut t = [1; 20];
    let mut i = 1;
    while i < 20 {
        t[i] = t[i - 1] * 10;
        i += 1;
    }
    t
};

/// The [`DIGITS`] significant digits of a number and its decimal exponent, correctly rounded (ties to even). Only for magnitudes
/// where the arithmetic is exact in 128 bits.
fn scaled(n: f64) -> Option<(u64, i32)> {
    if !(1e-5..PLAIN_LIMIT).contains(&n) {
        return None;
    }
    const LOW: u64 = 10u64.pow(DIGITS - 1);
    let bits = n.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // n = mantissa / 2^shift, and shift is 6 ..= 69 here.
    let shift = 1075 - (bits >> 52) as i32;
    debug_assert!((1..=70).contains(&shift));
    // An estimate of the decimal exponent, never too big, at most one too small.
    let mut exp = (((bits >> 52) as i32 - 1023) * 1233) >> 12;
    loop {
        let product = u128::from(mantissa) * u128::from(POWERS[(DIGITS as i32 - 1 - exp) as usize]);
        let whole = (product >> shift) as u64;
        if whole >= LOW * 10 {
            exp += 1;
            continue;
        }
        let rest = product & ((1 << shift) - 1);
        let half = 1u128 << (shift - 1);
        let up = rest > half || (rest == half && whole & 1 != 0);
        let digits = whole + u64::from(up);
        let (digits, exp) = if digits == LOW * 10 { (LOW, exp + 1) } else { (digits, exp) };
        return if exp < DIGITS as i32 { Some((digits, exp)) } else { None };
    }
}

/// Appends an integer.
#[inline]
pub fn put_int(out: &mut Vec<u8>, i: i32) {
    out.extend_from_slice(&NumText::int(i));
}

/// Appends a double like `tostring`.
#[inline]
pub fn put_num(out: &mut Vec<u8>, n: f64) {
    out.extend_from_slice(&NumText::num(n));
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
