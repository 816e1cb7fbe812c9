//! What happened when: counts by equal parts of the running time.

use super::answer::{Moment, Timeline};
use std::time::{Duration, Instant};

/// Parts that are kept. When there would be more, two become one.
const PARTS: usize = 200;
/// How long a part is at first.
const FIRST: Duration = Duration::from_millis(5);

/// Counts events as they come.
#[derive(Clone)]
pub struct Clock {
    began: Instant,
    part: Duration,
    moments: Vec<Moment>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { began: Instant::now(), part: FIRST, moments: Vec::new() }
    }
}

impl Clock {
    /// The counts of now.
    pub fn now(&mut self) -> &mut Moment {
        self.at(self.began.elapsed())
    }
    fn at(&mut self, since: Duration) -> &mut Moment {
        while since.as_nanos() / self.part.as_nanos() >= PARTS as u128 {
            self.part *= 2;
            self.moments = self.moments.chunks(2).map(|two| two.iter().fold(Moment::default(), |sum, m| sum.plus(m))).collect();
        }
        let i = (since.as_nanos() / self.part.as_nanos()) as usize;
        if self.moments.len() <= i {
            self.moments.resize(i + 1, Moment::default());
        }
        &mut self.moments[i]
    }
    /// For the report.
    pub fn report(mut self) -> Timeline {
        self.now();
        Timeline { part_ms: self.part.as_secs_f64() * 1e3, moments: self.moments }
    }
}

impl Moment {
    fn plus(mut self, other: &Moment) -> Moment {
        self.compiled += other.compiled;
        self.aborted += other.aborted;
        self.exits += other.exits;
        self.flushes += other.flushes;
        self.collections += other.collections;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_longer() {
        let mut clock = Clock::default();
        for ms in 0..4000 {
            clock.at(Duration::from_millis(ms)).exits += 1;
        }
        let Timeline { part_ms, moments } = clock.report();
        assert_eq!((part_ms, moments.len()), (20.0, 200));
        assert!(moments.iter().all(|m| m.exits == 20), "{moments:?}");
    }
}
