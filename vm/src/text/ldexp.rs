//! Scaling of doubles by powers of 2.

/// 2^e, which is a normal number. The precision of `powi` is not specified; this is exact.
fn power_of_2(e: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&e));
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// x * 2^e
pub fn ldexp(x: f64, e: i32) -> f64 {
    let mut x = x;
    let mut e = e.clamp(-2200, 2200);
    while e > 1000 {
        x *= power_of_2(1000);
        e -= 1000;
    }
    while e < -1000 {
        x *= power_of_2(-1000);
        e += 1000;
    }
    x * power_of_2(e)
}
