//! The random generator of `math.random`: a combined Tausworthe generator with a period of 2^223 and the same sequence on every
//! platform.

use std::hash::{BuildHasher, Hasher, RandomState};

/// State of the generator.
#[derive(Copy, Clone, Debug)]
pub struct Prng([u64; 4]);

/// Parameters of the four generators: k, q, s.
const PARAMS: [(u32, u32, u32); 4] = [(63, 31, 18), (58, 19, 28), (55, 24, 7), (47, 21, 8)];
/// Steps discarded after seeding.
const WARM_UP: usize = 10;

impl Default for Prng {
    /// The state before any seeding.
    fn default() -> Prng {
        Prng([0xa0d2_7757_0a34_5b8c, 0x764a_296c_5d4a_a64f, 0x5122_0704_070a_deaa, 0x2a27_17b5_a7b7_b927])
    }
}

impl Prng {
    /// The generator for a seed.
    pub fn seeded(seed: f64) -> Prng {
        let mut d = seed;
        let state = PARAMS.map(|(k, _, _)| {
            d = d * std::f64::consts::PI + std::f64::consts::E;
            conditioned(d.to_bits(), k)
        });
        let mut rng = Prng(state);
        for _ in 0..WARM_UP {
            rng.next();
        }
        rng
    }
    /// A generator with an unpredictable seed.
    pub fn from_entropy() -> Prng {
        let mut rng = Prng(PARAMS.map(|(k, _, _)| conditioned(RandomState::new().build_hasher().finish(), k)));
        rng.next();
        rng
    }
    /// The next 64 bits.
    #[inline]
    fn next(&mut self) -> u64 {
        let mut r = 0;
        for (z, (k, q, s)) in self.0.iter_mut().zip(PARAMS) {
            *z = (((*z << q) ^ *z) >> (k - s)) ^ ((*z & (u64::MAX << (64 - k))) << s);
            r ^= *z;
        }
        r
    }
    /// The next number in [0, 1), of 52 random bits.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        f64::from_bits(self.next() & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000) - 1.0
    }
}

/// Makes sure that the upper `k` bits are not all zero.
fn conditioned(u: u64, k: u32) -> u64 {
    let m = 1 << (64 - k);
    if u < m { u + m } else { u }
}

#[cfg(test)]
mod tests {
    use super::Prng;

    fn text(mut r: Prng, n: usize) -> Vec<String> {
        (0..n).map(|_| String::from_utf8_lossy(&crate::text::NumText::num(r.next_f64())).into_owned()).collect()
    }

    #[test]
    fn known_sequences() {
        assert_eq!(text(Prng::seeded(42.0), 3), ["0.95607928791821", "0.0089557217859255", "0.53860053951484"]);
        assert_eq!(text(Prng::seeded(0.0), 1), ["0.79420629243124"]);
        assert_eq!(text(Prng::seeded(-1.5), 1), ["0.35025644543951"]);
        assert_eq!(text(Prng::default(), 1), ["0.79420629243124"]);
    }
}
