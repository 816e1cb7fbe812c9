//! How long the program stood still for the collector.

use std::time::{Duration, Instant};

/// The stops of a program for steps of the collector. Collections that the program or the host has asked for are not counted.
#[derive(Copy, Clone, Default, Debug)]
pub struct Pauses {
    /// Their number.
    pub count: u64,
    /// The time that all of them took.
    pub total: Duration,
    /// The longest.
    pub longest: Duration,
    /// How many there were by length: entry `n` counts those of less than 2^n microseconds, and at least half of that.
    pub by_length: [u64; Pauses::LENGTHS],
}

impl Pauses {
    /// Number of lengths that are told apart: up to about a minute.
    pub const LENGTHS: usize = 27;

    /// Counts a stop that began at `start` and ends now.
    pub(super) fn note(&mut self, start: Instant) {
        self.add(start.elapsed());
    }
    fn add(&mut self, d: Duration) {
        self.count += 1;
        self.total += d;
        self.longest = self.longest.max(d);
        let micros = d.as_micros().min(u128::from(u64::MAX)) as u64;
        let length = (u64::BITS - micros.leading_zeros()) as usize;
        self.by_length[length.min(Self::LENGTHS - 1)] += 1;
    }
    /// How many were at least 2^`n` microseconds long.
    pub fn at_least(&self, n: usize) -> u64 {
        self.by_length.iter().skip(n + 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Pauses};

    #[test]
    fn stops_are_counted_by_their_length() {
        let mut p = Pauses::default();
        for micros in [0, 1, 3, 1023, 1024, 5000, u64::MAX] {
            p.add(Duration::from_micros(micros));
        }
        assert_eq!((p.count, p.longest), (7, Duration::from_micros(u64::MAX)));
        assert_eq!(p.by_length[..4], [1, 1, 1, 0]);
        assert_eq!([p.at_least(0), p.at_least(1), p.at_least(10), p.at_least(13)], [6, 5, 3, 1]);
    }
}
