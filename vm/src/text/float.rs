//! Doubles like C's `%e`, `%f`, `%g` and `%a`, correctly rounded (ties to even). Infinities and NaNs are padded with spaces, and
//! a NaN has no sign.

use super::format::pad;
use super::number::{self, NumText};
use super::spec::{Conv, Spec};
use core::fmt::Write;
use core::ops::Deref;

/// The longest text: the largest double with 99 decimals and a sign.
const CAPACITY: usize = 448;

/// A short text without allocation.
pub struct Text {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    fn new() -> Text {
        Text { bytes: [0; CAPACITY], len: 0 }
    }
    fn put(&mut self, s: &[u8]) {
        self.bytes[self.len..self.len + s.len()].copy_from_slice(s);
        self.len += s.len();
    }
    fn insert(&mut self, at: usize, byte: u8) {
        self.bytes.copy_within(at..self.len, at + 1);
        self.bytes[at] = byte;
        self.len += 1;
    }
    /// Removes trailing zeros of a number with a decimal point, and the point if nothing follows.
    fn trim_fraction(&mut self) {
        if !self.contains(&b'.') {
            return;
        }
        while self.ends_with(b"0") {
            self.len -= 1;
        }
        if self.ends_with(b".") {
            self.len -= 1;
        }
    }
    fn put_exponent(&mut self, letter: u8, exp: i32, min_digits: usize) {
        let sign = if exp < 0 { '-' } else { '+' };
        // Writing to a text never returns an error: it panics when the text is full.
        let _ = write!(self, "{}{sign}{:0min_digits$}", letter as char, exp.unsigned_abs());
    }
}
impl Write for Text {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        self.put(s.as_bytes());
        Ok(())
    }
}
impl Deref for Text {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The number without padding, but with its sign.
pub fn text(spec: &Spec, n: f64) -> Text {
    let mut out = Text::new();
    let sign = if n.is_nan() { Spec { plus: false, ..*spec }.sign(false) } else { spec.sign(n.is_sign_negative()) };
    out.put(sign);
    body(&mut out, spec, n.abs());
    out
}

fn body(out: &mut Text, spec: &Spec, n: f64) {
    if !n.is_finite() {
        let s: &[u8] = match (n.is_nan(), spec.upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        };
        return out.put(s);
    }
    let prec = spec.prec.map_or(6, usize::from);
    match spec.conv {
        Conv::HexFloat => hex(out, spec, n),
        Conv::Fixed => fixed(out, spec, n, prec),
        Conv::General => general(out, spec, n, prec.max(1)),
        _ => {
            let exp = scientific(out, n, prec);
            if prec == 0 && spec.alt {
                out.put(b".");
            }
            out.put_exponent(if spec.upper { b'E' } else { b'e' }, exp, 2);
        }
    }
}

fn fixed(out: &mut Text, spec: &Spec, n: f64, prec: usize) {
    if let Some(units) = number::units(n, prec) {
        // At least one digit in front of the point.
        let digits = NumText::padded(units, prec + 1);
        let (whole, fraction) = digits.split_at(digits.len() - prec);
        out.put(whole);
        if prec > 0 {
            out.put(b".");
            out.put(fraction);
        }
    } else {
        let _ = write!(out, "{n:.prec$}");
    }
    if prec == 0 && spec.alt {
        out.put(b".");
    }
}

/// Writes the mantissa with `prec` decimals and returns the decimal exponent.
fn scientific(out: &mut Text, n: f64, prec: usize) -> i32 {
    let start = out.len;
    let _ = write!(out, "{n:.prec$e}");
    let e = out[start..].iter().rposition(|c| *c == b'e').map_or(out.len, |e| start + e);
    let exp = core::str::from_utf8(&out[(e + 1).min(out.len)..]).ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    out.len = e;
    exp
}

/// `%g`: scientific where the exponent is below -4 or not below the precision.
fn general(out: &mut Text, spec: &Spec, n: f64, prec: usize) {
    if !spec.alt
        && !spec.upper
        && let Some(text) = NumText::general(n, prec as u32)
    {
        return out.put(&text);
    }
    let start = out.len;
    let exp = scientific(out, n, prec - 1);
    if exp >= -4 && exp < prec as i32 {
        out.len = start;
        fixed(out, spec, n, (prec as i32 - 1 - exp) as usize);
        if !spec.alt {
            out.trim_fraction();
        }
        return;
    }
    if !spec.alt {
        out.trim_fraction();
    } else if prec == 1 {
        out.put(b".");
    }
    out.put_exponent(if spec.upper { b'E' } else { b'e' }, exp, 2);
}

/// `%a`. Rounding to fewer digits is away from zero at ties and does not carry into the exponent: the leading digit may be 2.
fn hex(out: &mut Text, spec: &Spec, n: f64) {
    const MANTISSA: u32 = 52;
    let bits = n.to_bits();
    let mut m = bits & ((1 << MANTISSA) - 1);
    let mut exp = (bits >> MANTISSA) as i32;
    if exp != 0 {
        m |= 1 << MANTISSA;
        exp -= 1023;
    } else if m != 0 {
        let shift = m.leading_zeros() - (63 - MANTISSA);
        m <<= shift;
        exp = -1022 - shift as i32;
    }
    let prec = match spec.prec {
        None => (MANTISSA - m.trailing_zeros().min(MANTISSA)).div_ceil(4),
        Some(p) if p < 13 => {
            m += 1 << (MANTISSA - 1 - u32::from(p) * 4);
            u32::from(p)
        }
        Some(p) => u32::from(p),
    };
    out.put(if spec.upper { b"0X" } else { b"0x" });
    let _ = write!(out, "{}", m >> MANTISSA);
    if prec > 0 || spec.alt {
        out.put(b".");
    }
    let digits = if spec.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    for i in 1..=prec {
        let digit = if i > 13 { 0 } else { m >> (MANTISSA - 4 * i) & 15 };
        out.put(&[digits[digit as usize]]);
    }
    out.put_exponent(if spec.upper { b'P' } else { b'p' }, exp, 1);
}

/// The number without sign and padding, if that can be computed quickly.
fn short_body(spec: &Spec, n: f64) -> Option<Body> {
    let prec = spec.prec.map_or(6, usize::from);
    if spec.alt || spec.upper {
        return None;
    }
    let mut body = Body { bytes: [0; SHORT], len: 0 };
    match spec.conv {
        Conv::Fixed => {
            // At least one digit in front of the point.
            body.put_digits(&NumText::padded(number::units(n, prec)?, prec + 1), prec);
        }
        Conv::General => body.put(&NumText::general(n, prec.max(1) as u32)?),
        Conv::Exp if n != 0.0 => {
            let (digits, exp) = number::scaled(n, prec as u32 + 1)?;
            body.put_digits(&NumText::padded(digits, prec + 1), prec);
            body.put(if exp < 0 { b"e-" } else { b"e+" });
            body.put(&NumText::padded(u64::from(exp.unsigned_abs()), 2));
        }
        _ => return None,
    }
    Some(body)
}

/// Bytes of the longest text of [`short_body`]: the digits of an u64, a point, and an exponent.
const SHORT: usize = 32;

struct Body {
    bytes: [u8; SHORT],
    len: usize,
}

impl Body {
    fn put(&mut self, text: &[u8]) {
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text);
        self.len += text.len();
    }
    /// Digits, `decimals` of them after a point.
    fn put_digits(&mut self, digits: &[u8], decimals: usize) {
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        self.put(whole);
        if decimals > 0 {
            self.put(b".");
            self.put(fraction);
        }
    }
}
impl Deref for Body {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Appends a sign and digits in the width.
fn put_padded(out: &mut Vec<u8>, spec: &Spec, sign: &[u8], digits: &[u8]) {
    let len = sign.len() + digits.len();
    let padding = usize::from(spec.width).saturating_sub(len);
    out.reserve(len + padding);
    let zeros = spec.zero && !spec.left;
    if !spec.left && !zeros {
        pad(out, padding, b' ');
    }
    out.extend_from_slice(sign);
    if zeros {
        pad(out, padding, b'0');
    }
    out.extend_from_slice(digits);
    if spec.left {
        pad(out, padding, b' ');
    }
}

/// Appends a double in the given format.
pub fn put_float(out: &mut Vec<u8>, spec: &Spec, n: f64) {
    if n.is_finite()
        && let Some(body) = short_body(spec, n.abs())
    {
        return put_padded(out, spec, spec.sign(n.is_sign_negative()), &body);
    }
    let mut t = text(spec, n);
    let width = usize::from(spec.width);
    if spec.left || t.len() >= width {
        out.extend_from_slice(&t);
        let len = t.len();
        out.extend(core::iter::repeat_n(b' ', width.saturating_sub(len)));
    } else if spec.zero && n.is_finite() {
        let sign = usize::from(matches!(t[0], b'-' | b'+' | b' '));
        let at = if spec.conv == Conv::HexFloat { sign + 2 } else { sign };
        while t.len() < width {
            t.insert(at, b'0');
        }
        out.extend_from_slice(&t);
    } else {
        out.extend(core::iter::repeat_n(b' ', width - t.len()));
        out.extend_from_slice(&t);
    }
}
