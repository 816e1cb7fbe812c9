//! Conversions from numbers to 64-bit integers, and arithmetic on these, as LuaJIT defines them: the interpreter, the optimiser, the
//! evaluator and compiled code agree on every operand, also where C leaves the result undefined.

/// 2^63 as a number, the least that no `i64` can hold.
pub const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;
/// 2^64 as a number.
pub const TWO_POW_64: f64 = 2.0 * TWO_POW_63;
/// The result of a division by zero.
const BY_ZERO: u64 = 1 << 63;

/// A number as `int64_t`, truncated. NaN and numbers out of range give the least value, as the instruction of x86 does.
pub fn from_num(n: f64) -> i64 {
    if n < TWO_POW_63 { n as i64 } else { i64::MIN }
}

/// A number as an index, truncated. NaN, which is no index, gives 0, so that compiled code need not look for it.
pub fn index_from_num(n: f64) -> i64 {
    if n.is_nan() { 0 } else { from_num(n) }
}

/// A number as `uint64_t`, truncated. Negative numbers wrap.
pub fn unsigned_from_num(n: f64) -> u64 {
    match from_num(n) {
        i64::MIN => from_num(n - TWO_POW_64) as u64,
        i => i as u64,
    }
}

/// `a / b` on `int64_t`.
pub fn div(a: i64, b: i64) -> i64 {
    a.checked_div(b).unwrap_or(BY_ZERO as i64)
}
/// `a / b` on `uint64_t`.
pub fn unsigned_div(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(BY_ZERO)
}
/// `a % b` on `int64_t`, with the sign of the dividend as in C.
pub fn rem(a: i64, b: i64) -> i64 {
    if b == 0 { BY_ZERO as i64 } else { a.wrapping_rem(b) }
}
/// `a % b` on `uint64_t`.
pub fn unsigned_rem(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(BY_ZERO)
}
/// `x ^ k` on `uint64_t`, modulo 2^64.
pub fn unsigned_pow(x: u64, k: u64) -> u64 {
    let (mut x, mut k, mut power) = (x, k, 1u64);
    while k != 0 {
        if k & 1 != 0 {
            power = power.wrapping_mul(x);
        }
        x = x.wrapping_mul(x);
        k >>= 1;
    }
    power
}
/// `x ^ k` on `int64_t`. A negative power of 0 gives the greatest value.
pub fn pow(x: i64, k: i64) -> i64 {
    match (x, k) {
        (_, 0..) => unsigned_pow(x as u64, k as u64) as i64,
        (0, _) => i64::MAX,
        (1, _) => 1,
        (-1, _) if k & 1 == 0 => 1,
        (-1, _) => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range() {
        let cases = [
            (-1.0, -1, u64::MAX),
            (-1.9, -1, u64::MAX),
            (9.223_372_036_854_776e18, i64::MIN, 1 << 63),
            (1.8e19, i64::MIN, 18_000_000_000_000_000_000),
            (-9.3e18, i64::MIN, 1 << 63),
            (f64::NAN, i64::MIN, 1 << 63),
            (f64::INFINITY, i64::MIN, 1 << 63),
            (f64::NEG_INFINITY, i64::MIN, 1 << 63),
        ];
        for (n, signed, unsigned) in cases {
            assert_eq!(from_num(n), signed, "{n}");
            assert_eq!(unsigned_from_num(n), unsigned, "{n}");
        }
    }

    #[test]
    fn division_and_powers_at_their_edges() {
        assert_eq!([div(-7, 2), div(5, 0), div(i64::MIN, -1)], [-3, i64::MIN, i64::MIN]);
        assert_eq!([rem(-7, 2), rem(5, 0), rem(i64::MIN, -1)], [-1, i64::MIN, 0]);
        assert_eq!([unsigned_div(7, 2), unsigned_div(7, 0), unsigned_rem(7, 2), unsigned_rem(7, 0)], [3, 1 << 63, 1, 1 << 63]);
        assert_eq!(
            [pow(2, 63), pow(-3, 3), pow(0, -1), pow(1, -5), pow(-1, -5), pow(-1, -4), pow(7, -1)],
            [i64::MIN, -27, i64::MAX, 1, -1, 1, 0]
        );
        assert_eq!([unsigned_pow(3, 4), unsigned_pow(0, 0), unsigned_pow(2, 64)], [81, 1, 0]);
    }
}
