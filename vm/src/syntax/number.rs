//! Numbers in text: literals, and what `tonumber` accepts.

use crate::bc::{KCdata, KNum};
use crate::text::ldexp::ldexp;

/// A number in canonical form.
pub fn canonical(n: f64) -> KNum {
    let i = n as i32;
    if f64::from(i).to_bits() == n.to_bits() { KNum::Int(i) } else { KNum::Num(n) }
}

/// The number that a text denotes, with surrounding blanks allowed: decimal, hexadecimal (also with a binary exponent), or binary.
pub fn scan_number(bytes: &[u8]) -> Option<KNum> {
    let b = bytes.trim_ascii();
    let b = match b {
        [0x0b, ..] | [.., 0x0b] => {
            let is_space = |c: &u8| c.is_ascii_whitespace() || *c == 0x0b;
            let start = b.iter().position(|c| !is_space(c))?;
            let end = b.iter().rposition(|c| !is_space(c))?;
            &b[start..=end]
        }
        _ => b,
    };
    let (neg, b) = match b {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, b),
    };
    let n = match b {
        [b'0', b'x' | b'X', rest @ ..] => hex(rest)?,
        [b'0', b'b' | b'B', rest @ ..] => binary(rest)?,
        _ => decimal(b)?,
    };
    Some(canonical(if neg && !n.is_nan() { -n } else { n }))
}

/// The cdata that a text that is not a number denotes: a literal with the suffix `LL`, `ULL` or `i`.
pub fn scan_cdata(text: &[u8]) -> Option<KCdata> {
    let lower = text.to_ascii_lowercase();
    if let Some(rest) = lower.strip_suffix(b"i") {
        let im = match scan_number(rest)? {
            KNum::Int(i) => f64::from(i),
            KNum::Num(n) => n,
        };
        return Some(KCdata::Complex(0.0, im));
    }
    let suffixes = [(&b"ull"[..], true), (b"llu", true), (b"ll", false)];
    let (rest, unsigned) = suffixes.iter().find_map(|(suffix, unsigned)| Some((lower.strip_suffix(*suffix)?, *unsigned)))?;
    let (digits, radix) = match rest {
        [b'0', b'x', digits @ ..] => (digits, 16),
        [b'0', b'b', digits @ ..] => (digits, 2),
        digits => (digits, 10),
    };
    // The standard library would accept a sign.
    let digits = core::str::from_utf8(digits).ok().filter(|d| !d.starts_with('+'))?;
    let n = u64::from_str_radix(digits, radix).ok()?;
    Some(if unsigned { KCdata::Uint64(n) } else { KCdata::Int64(n as i64) })
}

/// Bytes of a decimal whose digits make an integer below 2^53.
const SHORT: usize = 15;
/// The powers of ten that are exact.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// The digits that a text begins with, without the point, and how many follow the point; then the length. `None` if there are none, or too many.
fn leading_digits(b: &[u8]) -> Option<(u64, usize, usize)> {
    let (mut n, mut point, mut len) = (0u64, None, 0);
    for c in b {
        match c {
            b'0'..=b'9' => n = n * 10 + u64::from(c - b'0'),
            b'.' if point.is_none() => point = Some(len + 1),
            _ => break,
        }
        len += 1;
        if len > SHORT {
            return None;
        }
    }
    let digits = len - usize::from(point.is_some());
    (digits > 0).then(|| (n, point.map_or(0, |at| len - at), len))
}

/// The decimal that a text begins with, and its length. It has so few digits that dividing them by a power of ten is exact but for the
/// rounding of the quotient (Clinger, *How to read floating point numbers accurately*, 1990): both are below 2^53. `None` if there is none, or
/// if it is longer.
pub fn leading_decimal(b: &[u8]) -> Option<(f64, usize)> {
    let (n, fraction, len) = leading_digits(b)?;
    Some((n as f64 / EXACT[fraction], len))
}

/// A text that is nothing but a short decimal, with an exponent or without, likewise.
fn short_decimal(b: &[u8]) -> Option<f64> {
    let (n, fraction, len) = leading_digits(b)?;
    let exponent = match &b[len..] {
        [] => return Some(n as f64 / EXACT[fraction]),
        [b'e' | b'E', rest @ ..] => short_exponent(rest)?,
        _ => return None,
    };
    let power = exponent - fraction as i32;
    let exact = EXACT.get(power.unsigned_abs() as usize)?;
    Some(if power < 0 { n as f64 / exact } else { n as f64 * exact })
}

/// An exponent of one or two digits.
fn short_exponent(b: &[u8]) -> Option<i32> {
    let (neg, digits) = match b {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, b),
    };
    let n = match digits {
        [x @ b'0'..=b'9'] => i32::from(x - b'0'),
        [x @ b'0'..=b'9', y @ b'0'..=b'9'] => i32::from(x - b'0') * 10 + i32::from(y - b'0'),
        _ => return None,
    };
    Some(if neg { -n } else { n })
}

fn decimal(b: &[u8]) -> Option<f64> {
    if let Some(n) = short_decimal(b) {
        return Some(n);
    }
    // Most texts that are no numbers differ in the first byte.
    if !matches!(b.first(), Some(b'0'..=b'9' | b'.' | b'i' | b'I' | b'n' | b'N')) {
        return None;
    }
    let text = core::str::from_utf8(b).ok()?;
    if text.eq_ignore_ascii_case("inf") || text.eq_ignore_ascii_case("infinity") {
        return Some(f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    let first = *b.first()?;
    if !first.is_ascii_digit() && first != b'.' || b == b"." {
        return None;
    }
    if !b.iter().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    if let Some(e) = b.iter().position(|c| matches!(c, b'e' | b'E')) {
        let exponent = exponent(&b[e + 1..])?;
        if exponent.unsigned_abs() >= LARGE_EXPONENT {
            return far(&text[..e], exponent);
        }
    }
    text.parse::<f64>().ok()
}

/// Rust's standard library misreads exponents from about here on.
const LARGE_EXPONENT: u32 = 1 << 16;
/// Powers of ten from here on are infinite, and 0 if they are negative.
const FAR: i64 = 400;

/// A number with a large exponent, which as many zeros before or after the point may compensate.
fn far(mantissa: &str, exponent: i32) -> Option<f64> {
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|c| c.is_ascii_digit()) {
        return None;
    }
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0.0);
    }
    // The number is 0.significant * 10^power.
    let power = whole.len() as i64 - (digits.len() - significant.len()) as i64 + i64::from(exponent);
    if power.abs() >= FAR {
        return Some(if power > 0 { f64::INFINITY } else { 0.0 });
    }
    format!("0.{significant}e{power}").parse().ok()
}

/// The exponent after `e` or `p`, within the range that numbers accept.
fn exponent(b: &[u8]) -> Option<i32> {
    let e: i32 = core::str::from_utf8(b).ok()?.parse().ok()?;
    (e.unsigned_abs() < 1 << 20).then_some(e)
}

fn binary(b: &[u8]) -> Option<f64> {
    if b.is_empty() {
        return None;
    }
    let mut n = 0u64;
    for c in b {
        match c {
            b'0' | b'1' if n >> 63 == 0 => n = n << 1 | u64::from(c - b'0'),
            _ => return None,
        }
    }
    Some(n as f64)
}

fn hex(b: &[u8]) -> Option<f64> {
    let (mut m, mut exp, mut digits, mut point, mut sticky) = (0u64, 0i32, false, false, false);
    let mut i = 0;
    while i < b.len() {
        let c = b[i];
        if c == b'.' && !point {
            point = true;
        } else if let Some(d) = (c as char).to_digit(16) {
            digits = true;
            if m >> 59 == 0 {
                m = m << 4 | u64::from(d);
                exp = exp.saturating_sub(if point { 4 } else { 0 });
            } else {
                sticky |= d != 0;
                exp = exp.saturating_add(if point { 0 } else { 4 });
            }
        } else {
            break;
        }
        i += 1;
    }
    if !digits {
        return None;
    }
    if i < b.len() {
        if !matches!(b[i], b'p' | b'P') {
            return None;
        }
        exp = exp.saturating_add(exponent(&b[i + 1..])?);
    }
    Some(scale(m | u64::from(sticky), exp))
}

/// m * 2^exp, rounded once.
fn scale(m: u64, exp: i32) -> f64 {
    if m == 0 {
        return 0.0;
    }
    // Normalise so that the leading bit is bit 63, then round to the bits the result has.
    let shift = m.leading_zeros() as i32;
    let m = m << shift;
    let e = exp.saturating_sub(shift).saturating_add(63);
    if e > 1023 {
        return f64::INFINITY;
    }
    if e < -1075 {
        return 0.0;
    }
    let keep = if e >= -1022 { 53 } else { 53 - (-1022 - e) };
    let drop = 64 - keep;
    let (mut q, rest, half) =
        if drop >= 64 { (0, m, 1u64 << 63) } else { (m >> drop, m & ((1 << drop) - 1), 1u64 << (drop - 1)) };
    if rest > half || rest == half && q & 1 == 1 {
        q += 1;
    }
    ldexp(q as f64, e - 63 + drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted() {
        let cases: [(&str, f64); 30] = [
            ("0x.8", 0.5),
            ("0x8.", 8.0),
            ("3.", 3.0),
            (".5", 0.5),
            ("0x1.8p1", 3.0),
            (" inf\t", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("+5", 5.0),
            ("1e5000", f64::INFINITY),
            ("0x1p5000", f64::INFINITY),
            ("0x1p-5000", 0.0),
            ("0b11", 3.0),
            (" 5\x0b", 5.0),
            ("0x1.fffffffffffff8p0", 2.0),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x20000000000001", 9007199254740992.0),
            ("0x20000000000003", 9007199254740996.0),
            ("0xffffffffffffffffffffff", 77371252455336267181195264.0 * 4.0),
            ("-0", -0.0),
            ("-0x0", -0.0),
            ("0x1P4", 16.0),
            ("-0B1", -1.0),
            ("1e65536", f64::INFINITY),
            ("0e65536", 0.0),
            ("0x0p99999", 0.0),
            ("1e0000000000000005", 1e5),
            ("0x1p1023", 8.98846567431158e307),
            ("2147483648", 2147483648.0),
        ];
        for (text, n) in cases {
            assert_eq!(scan_number(text.as_bytes()), Some(canonical(n)), "{text}");
        }
        let digits = |n: usize| ["0b", &"1".repeat(n)].concat();
        assert_eq!(scan_number(digits(64).as_bytes()), Some(KNum::Num(18446744073709551616.0)));
        assert_eq!(scan_number(digits(65).as_bytes()), None);
        let zeros = |before: &str, n: usize, after: &str| scan_number([before, &"0".repeat(n), after].concat().as_bytes());
        assert_eq!(zeros("0.", 999_999, "1e1000000"), Some(KNum::Int(1)));
        assert_eq!(zeros("1", 655_370, "e-655370"), Some(KNum::Int(1)));
        assert_eq!(zeros("-25", 655_370, ".5e-655371"), Some(KNum::Num(-2.5)));
        assert_eq!(zeros("0.", 1_000_000, "12e1000000"), Some(KNum::Num(0.12)));
        assert_eq!(zeros("", 1_000_000, "e1000000"), Some(KNum::Int(0)));
        assert_eq!(zeros(".", 70_000, "1e70310"), Some(KNum::Num(f64::INFINITY)));
        assert_eq!(zeros("1", 70_000, "e-70330"), Some(KNum::Int(0)));
        assert_eq!(zeros("1", 70_000, ".0.0e-70000"), None);
        let tiny = ["0x0.", &"0".repeat(39), "1p160"].concat();
        assert_eq!(scan_number(tiny.as_bytes()), Some(KNum::Int(1)));
        for text in ["nan", "-NaN"] {
            assert!(matches!(scan_number(text.as_bytes()), Some(KNum::Num(n)) if n.to_bits() == f64::NAN.to_bits()));
        }
        assert_eq!(scan_number(b"-2147483648"), Some(KNum::Int(i32::MIN)));
        assert!(matches!(scan_number(b"-0"), Some(KNum::Num(_))));
    }

    #[test]
    fn refused() {
        for text in [
            "",
            " ",
            "-",
            "0x",
            "1e",
            "1e+",
            "0x1p",
            "0b",
            "0b102",
            "..",
            ".",
            ".e1",
            "- 5",
            "--5",
            "0b1.1",
            "0b1e1",
            "1_0",
            "0x1p+-3",
            "1e+-3",
            "\x005",
            "5\x00",
            "1L",
            "1LL",
            "1ULL",
            "1i",
            "infi",
            "in",
            "nan(1)",
            "0x1.8p",
            "0x-1",
            "1e1048576",
            "1e-9999999",
            "0x1p1048577",
            "0x.",
            "0x.p1",
            "3..2",
            "1e1.5",
            "0xinf",
            "1\u{e9}",
            "0x1.2.3",
        ] {
            assert_eq!(scan_number(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn short_decimals_are_those_of_the_standard_library() {
        let mut x = 88_172_645_463_325_252_u64;
        for _ in 0..200_000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let len = 1 + (x >> 8) as usize % 15;
            let mut text: Vec<u8> = format!("{:015}", x % 1_000_000_000_000_000).into_bytes();
            text.truncate(len);
            if x & 1 == 0 {
                text[(x >> 20) as usize % len] = b'.';
            }
            let whole = core::str::from_utf8(&text).unwrap().parse::<f64>().ok();
            assert_eq!(super::short_decimal(&text).map(f64::to_bits), whole.map(f64::to_bits), "{text:?}");
        }
        for digits in ["1", "9007199254740", "123456.78", "0.00125", "-"] {
            for exponent in -99i32..100 {
                let text = format!("{digits}e{exponent}");
                let whole = text.parse::<f64>().ok();
                if let Some(n) = super::short_decimal(text.as_bytes()) {
                    assert_eq!(Some(n.to_bits()), whole.map(f64::to_bits), "{text}");
                } else {
                    assert!(whole.is_none() || exponent.abs() > 16, "{text}");
                }
            }
        }
        for no in ["", ".", "1e", "1e+", "1e100", "1.2.3", "-1", "1234567890123456", " 1", "0x1", "inf"] {
            assert_eq!(super::short_decimal(no.as_bytes()), None, "{no}");
        }
    }
}
