//! Integers, characters, strings, quoted strings and addresses in `string.format`.

use super::append::put_int;
use super::number::NumText;
use super::spec::{Conv, Spec};
use core::ops::Range;

/// Appends a byte `n` times.
#[inline]
pub(super) fn pad(out: &mut Vec<u8>, n: usize, byte: u8) {
    out.resize(out.len() + n, byte);
}

/// Appends an integer (`%d %u %x %o`); `k` holds the bits of a signed integer for `%d`.
pub fn put_integer(out: &mut Vec<u8>, spec: &Spec, k: u64) {
    if spec.conv == Conv::Int
        && spec.is_plain()
        && let Ok(i) = i32::try_from(k as i64)
    {
        return put_int(out, i);
    }
    // 22 octal digits, and a zero before them.
    let mut digits = [0u8; 23];
    let mut at = digits.len();
    let mut put = |digit: u8| {
        at -= 1;
        digits[at] = digit;
    };
    let negative = spec.conv == Conv::Int && (k as i64) < 0;
    let mut prefix = if spec.conv == Conv::Int { spec.sign(negative) } else { b"" };
    let u = if negative { k.wrapping_neg() } else { k };
    let radix = match spec.conv {
        Conv::Hex => 16,
        Conv::Oct => 8,
        _ => 10,
    };
    if u == 0 {
        if spec.prec != Some(0) || (spec.alt && radix == 8) {
            put(b'0');
        }
    } else {
        let table = if spec.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        // Constants, so that no division is left.
        match radix {
            16 => put_digits::<16>(u, table, &mut put),
            8 => put_digits::<8>(u, table, &mut put),
            _ => put_digits::<10>(u, table, &mut put),
        }
        match (spec.alt, radix) {
            (true, 8) => put(b'0'),
            (true, 16) => prefix = if spec.upper { b"0X" } else { b"0x" },
            _ => {}
        }
    }
    let digits = &digits[at..];
    let leading = usize::from(spec.prec.unwrap_or(0)).saturating_sub(digits.len());
    let len = prefix.len() + leading + digits.len();
    let padding = usize::from(spec.width).saturating_sub(len);
    let zeros = spec.zero && !spec.left && spec.prec.is_none();
    if !spec.left && !zeros {
        pad(out, padding, b' ');
    }
    out.extend_from_slice(prefix);
    if zeros {
        pad(out, padding, b'0');
    }
    pad(out, leading, b'0');
    out.extend_from_slice(digits);
    if spec.left {
        pad(out, padding, b' ');
    }
}

/// The digits of a number, the last one first.
#[inline(always)]
fn put_digits<const RADIX: u64>(mut u: u64, table: &[u8; 16], mut put: impl FnMut(u8)) {
    while u != 0 {
        put(table[(u % RADIX) as usize]);
        u /= RADIX;
    }
}

/// Appends a string, cut to the precision and padded to the width.
pub fn put_str(out: &mut Vec<u8>, spec: &Spec, s: &[u8]) {
    let s = match spec.prec {
        Some(p) if usize::from(p) < s.len() => &s[..usize::from(p)],
        _ => s,
    };
    put_padded(out, spec, s);
}

fn put_padded(out: &mut Vec<u8>, spec: &Spec, s: &[u8]) {
    let padding = usize::from(spec.width).saturating_sub(s.len());
    if !spec.left {
        pad(out, padding, b' ');
    }
    out.extend_from_slice(s);
    if spec.left {
        pad(out, padding, b' ');
    }
}

/// Appends a character.
pub fn put_char(out: &mut Vec<u8>, spec: &Spec, c: u8) {
    put_padded(out, spec, &[c]);
}

/// Appends a string as a literal that Lua reads back.
pub fn put_quoted(out: &mut Vec<u8>, s: &[u8]) {
    out.push(b'"');
    put_escaped(out, s, 0..s.len());
    out.push(b'"');
}

/// Appends a part of a string as it stands in such a literal, between the quotes.
pub fn put_escaped(out: &mut Vec<u8>, s: &[u8], part: Range<usize>) {
    for i in part {
        let c = s[i];
        match c {
            b'"' | b'\\' | b'\n' => out.extend_from_slice(&[b'\\', c]),
            0..=31 | 127 => {
                out.push(b'\\');
                let digits = NumText::int(i32::from(c));
                // Three digits where a digit follows.
                if s.get(i + 1).is_some_and(u8::is_ascii_digit) {
                    pad(out, 3 - digits.len(), b'0');
                }
                out.extend_from_slice(&digits);
            }
            _ => out.push(c),
        }
    }
}

/// Appends an address: `NULL`, or hexadecimal digits, at least eight and an even number of them.
pub fn put_address(out: &mut Vec<u8>, address: u64) {
    if address == 0 {
        return out.extend_from_slice(b"NULL");
    }
    let bytes = (u64::BITS - address.leading_zeros()).div_ceil(8).max(4);
    let mut text = *b"0x0000000000000000";
    let end = 2 + bytes as usize * 2;
    let mut rest = address;
    for digit in text[2..end].iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
    }
    out.extend_from_slice(&text[..end]);
}
